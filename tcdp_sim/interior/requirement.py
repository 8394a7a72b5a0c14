"""How many records an interior point takes: Theorem 2 of the worked-out recursion, and what no release can do without.

The utility proof in one paragraph. With probability 1 - beta / 3 the level chosen has positive quality, so that some
node of it weighs more than `lower` and no node one level down `upper` or more; at most `depth` levels are worse. With
probability 1 - beta / 3 the heaviest node's noise is at least -z, that of every empty node at most t_all and that of
every occupied one at most t_full; then an occupied node of weight >= h wins if lower >= z + max(t_all, h + t_full). Of
its candidates (j1, m, j2) one has depth >= h if n - upper >= 2 h: else j2 (or j1) has it. With probability 1 - beta / 3
the exponential mechanism with h = (2 / epsilon) log(6 / beta) does not choose a candidate of depth zero.
"""

from dataclasses import dataclass
from math import ceil, exp, expm1, inf, log, log1p, sqrt

from scipy.special import ndtri

from tcdp_sim.errors import choice, real
from tcdp_sim.interior.maxima import isf_log
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import TCDP, to_approx_dp

VARIANTS = ("default", "paper", "heavy")
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


def needs(parts: Parts, log2_k: float, n: float, beta: float = BETA) -> Needs:
    """The margins with which the release on n records of a domain of k = 2^log2_k elements fails with at most beta.

    log2_k: real, > 0, up to 1e300; n >= 1; 0 < beta < 1, a third of it for each step.
    """
    real("log2_k", log2_k, 0)
    real("n", n, 1, closed=True)
    each = real("beta", beta, 0, 1) / 3
    depth = max(ceil(log2_k), 2) if log2_k < 1e15 else log2_k
    h = 2 / parts.epsilon_end * log(2 / each)
    noise, log_each = parts.noise, log(each)
    least = float(isf_log(noise, log_each - log(4)))
    among_all = float(isf_log(noise, log_each - log(2) - log2_k * log(2)))
    among_full = float(isf_log(noise, log_each - log(4) - min(log(n), log2_k * log(2))))
    return Needs(4 / parts.epsilon_level * log(depth / each), least + max(among_all, h + among_full), 2 * h)


def required_n(parts: Parts, log2_k: float, beta: float = BETA, variant: str = "default") -> int:
    """The least n for which an interior point is proved to come out with probability >= 1 - beta on every data set.

    variant: "default" (Theorem 2), or "paper": thresholds n/5 and 2n/5, two candidates, 5 times the largest margin;
    "heavy": thresholds above n/2, twice the margins (proved for the thresholded surrogate, whose noise they are of).
    """
    choice("variant", variant, VARIANTS)
    n = 1
    while True:
        found = needs(parts, log2_k, n, beta)
        least = _least(found, variant)
        if ceil(least) <= n:
            return n
        n = ceil(least)


def thresholds(parts: Parts, log2_k: float, n: float, beta: float = BETA, variant: str = "default"):
    """(lower, upper) for n records: the proof's, stretched or shrunk in proportion where n is not the proof's."""
    if choice("variant", variant, VARIANTS) == "paper":
        return n / 5, 2 * n / 5
    found = needs(parts, log2_k, n, beta)
    scale = n / _least(found, variant)
    return (n / 2 if variant == "heavy" else 0) + found.node * scale, n - found.ends * scale


def _least(found: Needs, variant: str) -> float:
    if variant == "paper":
        return 5 * max(found.gap, found.node, found.ends)
    return found.total * (2 if variant == "heavy" else 1)


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


def stability_required_n(rho: float, omega: float, delta: float, log2_k: float, beta: float = BETA) -> tuple:
    """(epsilon, n) of the same skeleton with a stability histogram, (epsilon, delta)-DP: a WEAKER guarantee.

    epsilon: what (rho, omega)-tCDP implies at this delta (Lemma 6), a third for each step. Only the level step
    depends on k, by log log k.
    """
    epsilon = to_approx_dp(TCDP(rho, omega), delta, method="paper").epsilon
    share, depth, each = epsilon / 3, max(ceil(log2_k), 2) if log2_k < 1e15 else log2_k, beta / 3
    node = 1 + 2 / share * (log(1 / delta) + log(1 / each))
    return epsilon, 4 / share * log(depth / each) + node + 4 / share * log(2 / each)


def _information(log2_k, beta):
    return max((1 - real("beta", beta, 0, 1)) * real("log2_k", log2_k, 0) * log(2) - log(2), 0.0)
