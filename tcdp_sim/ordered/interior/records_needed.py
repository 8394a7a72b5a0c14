"""The number of records that suffices for an interior point.

Theorem 2 of the recursion with constants has this proof. Let b be the failure probability. With probability 1 - b / 3
the level chosen has positive quality, so that some node of it weighs more than `lower` and no node one level down
`upper` or more; at most `depth` levels are worse. With probability 1 - b / 3 the heaviest node's noise is at least -z,
the noise of every empty node at most t_all, and the noise of every occupied one at most t_full; then an occupied node
of weight >= h wins if lower >= z + max(t_all, h + t_full). One of its candidates (j1, m, j2) has depth >= h if n -
upper >= 2 h: else j2 (or j1) has it. With probability 1 - b / 3 the exponential mechanism with h = (2 / epsilon) log(6
/ b) does not choose a candidate of depth zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, expm1, log, log1p, sqrt

import numpy as np
from scipy.special import ndtri

from tcdp_sim.core.errors import choice, real
from tcdp_sim.noise import Noise
from tcdp_sim.samplers.log_extremes import isf_log

VARIANTS = ("default", "paper", "heavy", "low")
FAILURE = 0.05


@dataclass(frozen=True)
class Needs:
    """Margins in records: `gap` between the thresholds, `node` below the lower one, `ends` above the upper one."""

    gap: float
    node: float
    ends: float

    @property
    def total(self) -> float:
        """The n for which the thresholds fit between the margins."""
        return self.gap + self.node + self.ends


@dataclass(frozen=True)
class BudgetSplit:
    """The noise levels of the three steps of a release, which its budget pays for.

    `epsilon_level`: the epsilon of the exponential mechanism that chooses the level, positive. `epsilon_end`: the
    epsilon of the exponential mechanism that chooses the candidate, positive.
    """

    epsilon_level: float
    noise: Noise
    epsilon_end: float


@dataclass(frozen=True)
class Luck:
    """Bounds on the noise, in records, that hold together with probability 1 - failure.

    The proof is in the module's head.

    `gap`: the bound for the level's quality. `depth`: h: a candidate of depth zero is not chosen while one has depth h.
    `heaviest`, `others`, `occupied`: the bounds z, t_all and t_full for the nodes.
    """

    gap: float
    depth: float
    heaviest: float
    others: float
    occupied: float


def luck(budget_split: BudgetSplit, log2_k: float, n: float, failure: float = FAILURE) -> Luck:
    """Return the bounds for n records of a domain of 2^log2_k elements.

    Each step has a third of the failure probability.
    """
    real("log2_k", log2_k, 0)
    real("n", n, 1, closed=True)
    each = real("failure", failure, 0, 1) / 3
    depth = max(ceil(log2_k), 2) if log2_k < 1e15 else log2_k
    h = 2 / budget_split.epsilon_end * log(2 / each)
    log_p = log(each) + np.array([-log(4), -log(2) - log2_k * log(2), -log(4) - min(log(n), log2_k * log(2))])
    return Luck(4 / budget_split.epsilon_level * log(depth / each), h, *map(float, isf_log(budget_split.noise, log_p)))


def needs(
    budget_split: BudgetSplit, log2_k: float, n: float, failure: float = FAILURE, variant: str = "default"
) -> Needs:
    """Return the margins with which the release fails with at most this probability.

    The release is on n >= 1 records of a domain of 2^log2_k elements, with log2_k real, positive and up to 1e300. Each
    step fails with probability at most failure / 3, 0 < failure < 1. The variant "low" is for the surrogate that counts
    weights from h on only: the winner has more than h if lower >= h + z + t_all.
    """
    margins = luck(budget_split, log2_k, n, failure)
    beyond = (
        margins.depth + margins.others if variant == "low" else max(margins.others, margins.depth + margins.occupied)
    )
    return Needs(margins.gap, margins.heaviest + beyond, 2 * margins.depth)


def required_records(
    budget_split: BudgetSplit, log2_k: float, failure: float = FAILURE, variant: str = "default"
) -> int:
    """Return the least n at which success with probability 1 - failure is proved for every data set.

    Source: Bun et al. (2018), Theorem 25 [BDRS18].

    Parameters
    ----------
    budget_split : BudgetSplit
        The noise levels, as `interior.split_budget` returns them.
    log2_k : float
        Logarithm of the domain size to base 2, positive.
    failure : float
        The failure probability, in (0, 1).
    variant : str
        The thresholds: "default" (Theorem 2), "paper" (n/5, 2n/5 and two candidates: 5 times the largest margin),
        "heavy" (above n/2, twice the margins; proved for the surrogate, whose noise they use) or "low" (for the
        surrogate with a low threshold).

    Returns
    -------
    int
        Number of records.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> required_records(BudgetSplit(0.63, Gaussian(2.6), 0.55), 10)
    110
    """
    choice("variant", variant, VARIANTS)
    return smallest(lambda n: _least(needs(budget_split, log2_k, n, failure, variant), variant))


def smallest(least: Callable[[int], float]) -> int:
    """Return the smallest n >= 1 with n >= least(n), for a nondecreasing `least` that grows more slowly than n."""
    n = 1
    while (needed := ceil(least(n))) > n:
        n = needed
    return n


def thresholds(
    budget_split: BudgetSplit, log2_k: float, n: float, failure: float = FAILURE, variant: str = "default"
) -> tuple[float, float]:
    """Return the thresholds (lower, upper) of the level's quality for n records.

    They are the thresholds of the proof, stretched or shrunk in proportion if n is not the number of the proof.
    """
    if choice("variant", variant, VARIANTS) == "paper":
        return n / 5, 2 * n / 5
    margins = needs(budget_split, log2_k, n, failure, variant)
    scale = n / _least(margins, variant)
    return (n / 2 if variant == "heavy" else 0) + margins.node * scale, n - margins.ends * scale


def surrogate_floor(budget_split: BudgetSplit, log2_k: float, n: float, failure: float = FAILURE) -> float:
    """Return the least weight that counts for variant "low": h, stretched like the `thresholds`."""
    margins = needs(budget_split, log2_k, n, failure, "low")
    return 0.5 * margins.ends * n / margins.total


def _least(margins: Needs, variant: str) -> float:
    if variant == "paper":
        return 5 * max(margins.gap, margins.node, margins.ends)
    return margins.total * (2 if variant == "heavy" else 1)


def exponential_required_records(epsilon: float, log2_k: float, failure: float = FAILURE) -> float:
    """Return the n at which the exponential mechanism succeeds with probability 1 - failure on its worst data.

    The mechanism chooses among the 2^log2_k elements of the domain, log2_k >= 1. The result is exact for its two worst
    cases:

    - n equal records: one good element of depth n against k - 1 elements of depth 0,
    - halves at two adjacent elements: two elements of depth n / 2 against k - 2.

    By the means, two or more good elements always weigh at least 2 e^(epsilon n / 4).
    """
    log_k = real("log2_k", log2_k, 1, closed=True) * log(2)
    odds = log(1 / real("failure", failure, 0, 1) - 1)
    equal = 2 / epsilon * (log_k + log1p(-exp(-log_k)) + odds)
    if log2_k == 1:
        return equal
    return max(equal, 4 / epsilon * (log_k + log1p(-2 * exp(-log_k)) - log(2) + odds))


def binary_search_required_records(rho: float, log2_k: float, failure: float = FAILURE) -> float:
    """Return the n at which a rho-zCDP binary search succeeds with probability 1 - failure on its worst data.

    If 0 < F(middle) < n, both children hold an interior point; else a wrong turn takes noise beyond n / 2. So success
    has probability at least (1 - Phi(-n / (2 scale)))^depth, with equality for n equal records.
    """
    depth = max(ceil(log2_k), 1) if log2_k < 1e15 else log2_k
    scale = sqrt(depth / (2 * real("rho", rho, 0)))
    return 2 * scale * -float(ndtri(-expm1(log1p(-real("failure", failure, 0, 1)) / depth)))
