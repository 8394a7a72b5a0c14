"""The split of a budget over the three steps of a release, and the public parameters that the budget pays for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tcdp_sim.calibration import calibrate
from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError, choice
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.interior.ledger import (
    ACCOUNTINGS,
    Step,
    exponential_epsilon,
    exponential_step,
    noise_step,
    rho_and_omega,
)
from tcdp_sim.ordered.interior.records_needed import FAILURE, BudgetSplit, required_records, surrogate_floor, thresholds
from tcdp_sim.ordered.interior.release import ReleaseParameters
from tcdp_sim.privacy import TCDP, Guarantee
from tcdp_sim.samplers.log_extremes import isf_log

# Good splits (level, node, end) up to this log2 k, which minimise the proven n. They are public and leak nothing.
SPLITS = (
    (8, (0.35, 0.30, 0.35)),
    (64, (0.40, 0.25, 0.35)),
    (1024, (0.45, 0.30, 0.25)),
    (np.inf, (0.50, 0.25, 0.25)),
)
# The number of shifts and the size of each when one record is substituted.
# - Histogram: two weights move by one.
# - Surrogate, above half of the records: at most one node has an excess. If the neighbour has another such node, the
#   two excesses are at most 1 together.
# - Algorithm 21: likewise, the two gaps are at most 2 together.
#   Both cases are one shift of that sum: divergences of log-concave noise are convex in the shift, so superadditive,
#   and all noise that is calibrated here is log-concave.
# - Low surrogate: two excesses move by one.
# - Algorithm 22: half of the gap moves by one (Lemma 23).
CHARGES = {
    "histogram": (2, 1.0),
    "surrogate": (1, 1.0),
    "surrogate_low": (2, 1.0),
    "algorithm_21": (1, 2.0),
    "algorithm_22": (1, 1.0),
}
TOGETHER = ("surrogate", "algorithm_21")  # several numbers move by this shift together
SHARES = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)


@dataclass(frozen=True)
class NodeMargin:
    """An objective of calibration: the lower threshold that the noise needs for 100 records (see `needs`)."""

    log2_k: float
    ends: float
    failure: float = FAILURE / 3

    def __call__(self, noise: Noise) -> float:
        """Return the threshold for a noise, in records."""
        low, log_k = np.log(self.failure / 4), self.log2_k * np.log(2)
        among_all = isf_log(noise, np.log(self.failure / 2) - log_k)
        among_full = isf_log(noise, low - min(np.log(100), log_k))
        return float(isf_log(noise, low) + max(among_all, self.ends + among_full))


def recommended_split(log2_k: float) -> tuple[float, float, float]:
    """Return good shares of rho for the level, the node and the end step.

    The shares (level, node, end) depend on the size of the domain alone, so they leak nothing. They come from
    minimising the number of records in the proof.

    >>> recommended_split(10)
    (0.4, 0.25, 0.35)
    """
    return next(split for most, split in SPLITS if log2_k <= most)


def split_budget(
    guarantee: Guarantee,
    log2_k: float,
    *,
    split: Sequence[float] | None = None,
    family: str = "sinh_normal",
    accounting: str = "tight",
    calibration: str | None = None,
    selection: str = "histogram",
) -> BudgetSplit:
    """Return the noise levels of the three steps that a guarantee pays for, on a domain of 2^log2_k elements.

    Neighbours substitute one record.

    Source: Bun et al. (2018), Section 5.3 [BDRS18]; Harrison and Manurangsi (2025) [HM25] (bounded range).

    Parameters
    ----------
    guarantee : TCDP or ZCDP
        The guarantee of the whole release.
    log2_k : float
        Logarithm of the domain size to base 2, positive.
    split : sequence of three floats, optional
        Positive shares (level, node, end) of rho with the sum 1. The default is a good split for this domain.
    family : str
        The family of the noise on the nodes of a level.
    accounting : str
        "tight" charges an exponential mechanism the least rho of bounded range; "paper" charges epsilon^2 / 2.
    calibration : str, optional
        The calibration of the noise: "tight" by quadrature, "paper" by the theorem of its family. By default it is
        "paper" if that theorem is nearly sharp, else equal to the accounting.
    selection : str
        The selection of the node, a key of `CHARGES`. It decides the sensitivity that the noise is calibrated to.

    Returns
    -------
    BudgetSplit
        The epsilons of the level and end steps, and the noise of the node step.

    Raises
    ------
    UserError
        If the family is not known, or the budget cannot be split in this way.
    ValueError
        If another argument is not valid, or the noise cannot be calibrated.

    Examples
    --------
    >>> split_budget(TCDP(0.5, 20.0), 10, split=(0.4, 0.3, 0.3), family="gaussian", accounting="paper").noise
    Gaussian(scale=2.581988897471611)
    """
    choice("accounting", accounting, ACCOUNTINGS)
    rho, omega = rho_and_omega(guarantee)
    how = calibration or ("paper" if registry.noise(family).theorem_is_nearly_sharp else accounting)
    level, node, end = checked_split(split or default_split(guarantee, float(log2_k), family, accounting, how))
    epsilon_end = exponential_epsilon(end * rho, accounting)
    objective = NodeMargin(float(log2_k), 2 / epsilon_end * np.log(6 / FAILURE))
    queries, shift = CHARGES[choice("selection", selection, CHARGES)]
    target = TCDP(node * rho, omega)
    noise = calibrate(family, target, shift, how, coordinates=queries, objective=objective).noise
    return BudgetSplit(exponential_epsilon(level * rho, accounting), noise, epsilon_end)


def release_parameters(
    budget_split: BudgetSplit,
    log2_k: float,
    n: float,
    failure: float = FAILURE,
    variant: str = "default",
    selection: str = "histogram",
) -> ReleaseParameters:
    """Return the public parameters of the release on n records.

    `variant`: "default" takes the thresholds of the proof. "paper" takes the paper's: n/5, 2n/5 and two candidates.
    `selection`: the selection of the node. Selections other than "histogram" look for one heavy node, so they need
    thresholds above half of the records. "surrogate_low" counts weights from a low floor on.
    """
    floor = None
    if selection == "surrogate_low":
        variant, selection, floor = "low", "surrogate", surrogate_floor(budget_split, log2_k, n, failure)
    elif selection != "histogram":
        variant = "heavy"
    lower, upper = thresholds(budget_split, log2_k, n, failure, variant)
    candidates = 2 if variant == "paper" else 3
    levels = budget_split.epsilon_level, budget_split.noise, budget_split.epsilon_end
    return ReleaseParameters(*levels, lower, upper, selection, candidates, floor)


def ledger(
    budget_split: BudgetSplit,
    guarantee: Guarantee,
    split: Sequence[float],
    accounting: str,
    calibration: str,
    selection: str = "histogram",
) -> tuple[Step, ...]:
    """Return the lines of a release that `split_budget` has paid for with these arguments.

    The lines rest on these sensitivities. Level: every node's weight moves by at most one, so the heaviest weights and
    the quality do too. Node: given the level, a substitution moves two nodes by one, and the winner is a function of
    the noisy weights. End: F(j) and n - F(j - 1) move by at most one, so the depth does too. The thresholds are
    functions of public numbers.
    """
    rho, omega = rho_and_omega(guarantee)
    source = {"tight": "the quadrature's bracket", "paper": "the theorem"}[calibration]
    queries, shift = CHARGES[choice("selection", selection, CHARGES)]
    return (
        exponential_step("level", budget_split.epsilon_level, accounting),
        noise_step(
            *("node", budget_split.noise, shift, queries, checked_split(split)[1] * rho, omega, source),
            together=selection in TOGETHER,
        ),
        exponential_step("end", budget_split.epsilon_end, accounting),
    )


def default_split(
    guarantee: Guarantee, log2_k: float, family: str, accounting: str, calibration: str
) -> tuple[float, float, float]:
    """Return `recommended_split` if calibration is slow, else `best_split`. Both depend on public numbers alone."""
    if calibration == "tight" and len(registry.noise(family).parameters()) > 1:  # a search over several is slow
        return recommended_split(log2_k)
    return best_split(guarantee, log2_k, family, accounting, calibration)


@lru_cache(maxsize=1024)
def best_split(
    guarantee: Guarantee,
    log2_k: float,
    family: str = "sinh_normal",
    accounting: str = "tight",
    calibration: str = "tight",
) -> tuple[float, float, float]:
    """Return the split with the smallest `required_records`, among all splits in steps of 1/20."""

    def cost(split: tuple[float, float, float]) -> int:
        how = {"family": family, "accounting": accounting, "calibration": calibration}
        return required_records(split_budget(guarantee, log2_k, split=split, **how), log2_k)

    return min(((a, b, round(1 - a - b, 2)) for a in SHARES for b in SHARES if 1 - a - b > 0.1), key=cost)


def checked_split(split: Sequence[float]) -> tuple[float, float, float]:
    """Return three positive shares whose sum is one. Raises UserError for anything else."""
    try:
        shares = tuple(float(share) for share in split)
    except (TypeError, ValueError):
        shares = ()
    if len(shares) != 3 or not all(share > 0 for share in shares) or abs(sum(shares) - 1) > 1e-9:
        raise UserError(f"split = {split} is not valid; valid: three positive shares (level, node, end) that sum to 1")
    level, node, end = shares
    return level, node, end
