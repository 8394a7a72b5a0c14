"""How many records an interior point takes: Theorem 2 of the worked-out recursion, and what no release can do without.

The utility proof in one paragraph. With probability 1 - beta / 3 the level chosen has positive quality, so that some
node of it weighs more than `lower` and no node one level down `upper` or more; at most `depth` levels are worse. With
probability 1 - beta / 3 the heaviest node's noise is at least -z, that of every empty node at most t_all and that of
every occupied one at most t_full; then an occupied node of weight >= h wins if lower >= z + max(t_all, h + t_full). Of
its candidates (j1, m, j2) one has depth >= h if n - upper >= 2 h: else j2 (or j1) has it. With probability 1 - beta / 3
the exponential mechanism with h = (2 / epsilon) log(6 / beta) does not choose a candidate of depth zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, expm1, inf, log, log1p, sqrt

import numpy as np
from scipy.special import ndtri

from tcdp_sim.core.errors import choice, real
from tcdp_sim.noise import Noise
from tcdp_sim.samplers.log_extremes import isf_log

VARIANTS = ("default", "paper", "heavy", "low")
BETA = 0.05


@dataclass(frozen=True)
class Needs:
    """Three margins in records: `gap` between the thresholds, `node` the lower one, `ends` left above the upper one."""

    gap: float
    node: float
    ends: float

    @property
    def total(self) -> float:
        """The n for which the thresholds fit between them."""
        return self.gap + self.node + self.ends


@dataclass(frozen=True)
class Parts:
    """What a budget buys: epsilon of the level and the end step, noise of the node step."""

    epsilon_level: float
    noise: Noise
    epsilon_end: float


@dataclass(frozen=True)
class Luck:
    """How far the noise strays, in records, with probability 1 - beta: see the proof above.

    gap: of the level's quality; depth: h, below which no candidate is chosen while one has it; heaviest, others,
    occupied: of the nodes, z, t_all and t_full.
    """

    gap: float
    depth: float
    heaviest: float
    others: float
    occupied: float


def luck(parts: Parts, log2_k: float, n: float, beta: float = BETA) -> Luck:
    """On n records of a domain of k = 2^log2_k elements, with a third of beta for each step; arguments as `needs`."""
    real("log2_k", log2_k, 0)
    real("n", n, 1, closed=True)
    each = real("beta", beta, 0, 1) / 3
    depth = max(ceil(log2_k), 2) if log2_k < 1e15 else log2_k
    h = 2 / parts.epsilon_end * log(2 / each)
    log_p = log(each) + np.array([-log(4), -log(2) - log2_k * log(2), -log(4) - min(log(n), log2_k * log(2))])
    return Luck(4 / parts.epsilon_level * log(depth / each), h, *map(float, isf_log(parts.noise, log_p)))


def needs(parts: Parts, log2_k: float, n: float, beta: float = BETA, variant: str = "default") -> Needs:
    """The margins with which the release on n records of a domain of k = 2^log2_k elements fails with at most beta.

    log2_k: real, > 0, up to 1e300; n >= 1; 0 < beta < 1, a third of it for each step. variant "low": for the surrogate
    that counts weights from h on only: the winner has more than h if lower >= h + z + t_all.
    """
    margins = luck(parts, log2_k, n, beta)
    beyond = (
        margins.depth + margins.others if variant == "low" else max(margins.others, margins.depth + margins.occupied)
    )
    return Needs(margins.gap, margins.heaviest + beyond, 2 * margins.depth)


def required_n(parts: Parts, log2_k: float, beta: float = BETA, variant: str = "default") -> int:
    """The least n for which an interior point is proved to come out with probability >= 1 - beta on every data set.

    variant: "default" (Theorem 2), or "paper": thresholds n/5 and 2n/5, two candidates, 5 times the largest margin;
    "heavy": thresholds above n/2, twice the margins (proved for the thresholded surrogate, whose noise they are of);
    "low": for the surrogate with a low threshold.
    """
    choice("variant", variant, VARIANTS)
    return smallest(lambda n: _least(needs(parts, log2_k, n, beta, variant), variant))


def smallest(least: Callable[[int], float]) -> int:
    """The smallest n >= 1 with n >= least(n), for a nondecreasing `least` that grows more slowly than n."""
    n = 1
    while (needed := ceil(least(n))) > n:
        n = needed
    return n


def thresholds(
    parts: Parts, log2_k: float, n: float, beta: float = BETA, variant: str = "default"
) -> tuple[float, float]:
    """(lower, upper) for n records: the proof's, stretched or shrunk in proportion where n is not the proof's."""
    if choice("variant", variant, VARIANTS) == "paper":
        return n / 5, 2 * n / 5
    margins = needs(parts, log2_k, n, beta, variant)
    scale = n / _least(margins, variant)
    return (n / 2 if variant == "heavy" else 0) + margins.node * scale, n - margins.ends * scale


def surrogate_floor(parts: Parts, log2_k: float, n: float, beta: float = BETA) -> float:
    """From where on weights count for variant "low": h, stretched as `thresholds` are."""
    margins = needs(parts, log2_k, n, beta, "low")
    return 0.5 * margins.ends * n / margins.total


def _least(margins: Needs, variant: str) -> float:
    if variant == "paper":
        return 5 * max(margins.gap, margins.node, margins.ends)
    return margins.total * (2 if variant == "heavy" else 1)


def zcdp_least_n(rho: float, log2_k: float, beta: float = BETA) -> float:
    """The n (records) below which no rho-zCDP algorithm finds interior points with probability 1 - beta.

    Packing with k data sets of n equal records: (1 - beta) log k - log 2 <= I <= rho n^2 (Bun-Steinke 2016, Lemma 35).
    """
    return sqrt(_information(log2_k, beta) / real("rho", rho, 0))


def tcdp_least_n(rho: float, omega: float, log2_k: float, beta: float = BETA) -> float:
    """The same for (rho, omega)-tCDP: I <= ((omega / (omega - 1))^n - 1) (omega - 1) omega rho (Proposition 9)."""
    real("rho", rho, 0)
    real("omega", omega, 1, finite=False)
    if omega == inf:
        return zcdp_least_n(rho, log2_k, beta)
    return log1p(_information(log2_k, beta) / ((omega - 1) * omega * rho)) / log1p(1 / (omega - 1))


def exponential_required_n(epsilon: float, log2_k: float, beta: float = BETA) -> float:
    """n at which the exponential mechanism over the whole domain finds an interior point with probability 1 - beta.

    Exact for its two worst cases: n equal records, one good element of depth n against k - 1 of depth 0, and halves at
    two adjacent elements, two of depth n / 2 against k - 2 (by the means, two or more good elements always weigh
    2 e^(epsilon n / 4) or more). log2_k >= 1.
    """
    log_k = real("log2_k", log2_k, 1, closed=True) * log(2)
    odds = log(1 / real("beta", beta, 0, 1) - 1)
    equal = 2 / epsilon * (log_k + log1p(-exp(-log_k)) + odds)
    if log2_k == 1:
        return equal
    return max(equal, 4 / epsilon * (log_k + log1p(-2 * exp(-log_k)) - log(2) + odds))


def binary_search_required_n(rho: float, log2_k: float, beta: float = BETA) -> float:
    """n at which a binary search by noisy comparisons, rho-zCDP, succeeds with probability 1 - beta on its worst data.

    If 0 < F(middle) < n both children hold an interior point; else a wrong turn takes noise beyond n / 2. So success is
    at least (1 - Phi(-n / (2 scale)))^depth, with equality for n equal records.
    """
    depth = max(ceil(log2_k), 1) if log2_k < 1e15 else log2_k
    scale = sqrt(depth / (2 * real("rho", rho, 0)))
    return 2 * scale * -float(ndtri(-expm1(log1p(-real("beta", beta, 0, 1)) / depth)))


def _information(log2_k: float, beta: float) -> float:
    return max((1 - real("beta", beta, 0, 1)) * real("log2_k", log2_k, 0) * log(2) - log(2), 0.0)
