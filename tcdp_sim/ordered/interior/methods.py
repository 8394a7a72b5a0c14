"""The methods to find an interior point, by name: the records that they need and their parameters as plain data."""

from dataclasses import asdict, dataclass
from functools import lru_cache
from math import ceil
from typing import Any, cast

from tcdp_sim.ordered.interior import budget, records_needed, stability_histogram
from tcdp_sim.ordered.interior.binary_search import comparison_scale
from tcdp_sim.ordered.interior.ledger import Step, exponential_epsilon
from tcdp_sim.ordered.interior.records_needed import BudgetSplit
from tcdp_sim.ordered.interior.recursive_release import RecursivePlan, plan_recursion
from tcdp_sim.ordered.interior.release import ReleaseParameters
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP

# Name -> (selection of the node, variant of the thresholds), for the methods with one tree.
ONE_TREE = {
    "one_level": ("histogram", "default"),
    "paper_constants": ("histogram", "paper"),
    "surrogate": ("surrogate", "heavy"),
    "surrogate_low": ("surrogate_low", "low"),
    "algorithm_21": ("algorithm_21", "heavy"),
    "algorithm_22": ("algorithm_22", "heavy"),
}
RECURSIONS = {  # name -> (depth, variant)
    "recursion_2": (2, "default"),
    "recursion_3": (3, "default"),
    "paper_recursion_2": (2, "paper"),
}
BASELINES = ("exponential", "binary_search")
WEAKER = "stability"  # (epsilon, delta)-DP only
UNPROVED = ("algorithm_21", "algorithm_22")  # no number of records is proved to suffice for them
METHODS = (*ONE_TREE, *RECURSIONS, *BASELINES, WEAKER)


@dataclass(frozen=True)
class Budget:
    """The budget and options of a method.

    `family`, `calibration`: the family and calibration of the noise on nodes; None for methods without. `split`: the
    shares of (level, node, end); None for the method's own. `delta`: the delta at which the weaker guarantee of the
    stability histogram is derived.
    """

    guarantee: TCDP | ZCDP
    family: str | None = None
    calibration: str | None = None
    accounting: str = "tight"
    split: tuple[float, ...] | None = None
    failure: float = records_needed.FAILURE
    delta: float = stability_histogram.DELTA

    @property
    def target(self) -> dict[str, float]:
        """The guarantee as plain data."""
        return asdict(self.guarantee) if isinstance(self.guarantee, TCDP) else {"rho": self.guarantee.rho}


def is_tree(method: str) -> bool:
    """Return True if the method adds noise of a chosen family to the nodes of a tree."""
    return method not in (*BASELINES, WEAKER)


def weaker_guarantee(available: Budget) -> ApproxDP:
    """Return the guarantee of the stability histogram: the (epsilon, delta)-DP that the target implies."""
    return stability_histogram.implied(available.guarantee, available.delta)


def required_records(method: str, available: Budget, log2_k: float) -> int:
    """Return the least n at which the method is proved to succeed with probability 1 - failure.

    For a baseline this is the n at which its worst data set succeeds with just that probability. For Algorithms 21 and
    22 it is the n that their thresholds ask for, which is not proved to suffice.
    """
    if method == "exponential":
        epsilon = exponential_epsilon(available.guarantee.rho, available.accounting)
        return ceil(records_needed.exponential_required_records(epsilon, log2_k, available.failure))
    if method == "binary_search":
        return ceil(records_needed.binary_search_required_records(available.guarantee.rho, log2_k, available.failure))
    if method == WEAKER:
        return stability_histogram.required_records(weaker_guarantee(available), log2_k, available.failure)
    if method in RECURSIONS:
        return _recursion(method, available, log2_k).required_records()
    return records_needed.required_records(
        _budget_split(method, available, log2_k), log2_k, available.failure, ONE_TREE[method][1]
    )


def described(method: str, available: Budget, log2_k: float, n: int) -> dict[str, Any]:
    """Return the parameters of the method on n records, as plain data."""
    if method == "exponential":
        return {"scale": exponential_epsilon(available.guarantee.rho, available.accounting)}
    if method == "binary_search":
        return {"scale": comparison_scale(available.guarantee.rho, log2_k)}
    if method == WEAKER:
        trees: tuple[ReleaseParameters, ...] = (
            stability_histogram.release_parameters(weaker_guarantee(available), log2_k, n, available.failure),
        )
    elif method in RECURSIONS:
        trees = _recursion(method, available, log2_k).parameters(n)
    else:
        selection, variant = ONE_TREE[method]
        budget_split = _budget_split(method, available, log2_k)
        trees = (budget.release_parameters(budget_split, log2_k, n, available.failure, variant, selection),)
    return {"recipes": [_plain(tree) for tree in trees]}


def ledger(method: str, available: Budget, log2_k: float) -> tuple[Step, ...]:
    """Return the ledger of a method with trees."""
    if method == WEAKER:
        return stability_histogram.ledger(weaker_guarantee(available))
    if method in RECURSIONS:
        return _recursion(method, available, log2_k).ledger()
    budget_split = _budget_split(method, available, log2_k)
    split = available.split or _default_split(available, log2_k)
    how = available.calibration or available.accounting
    selection = ONE_TREE[method][0]
    return budget.ledger(budget_split, available.guarantee, split, available.accounting, how, selection)


def _default_split(available: Budget, log2_k: float) -> tuple[float, float, float]:
    how = available.calibration or available.accounting
    return budget.default_split(available.guarantee, float(log2_k), _family(available), available.accounting, how)


def _budget_split(method: str, available: Budget, log2_k: float) -> BudgetSplit:
    return budget.split_budget(
        available.guarantee,
        log2_k,
        split=available.split,
        family=_family(available),
        accounting=available.accounting,
        calibration=available.calibration,
        selection=ONE_TREE[method][0],
    )


@lru_cache(maxsize=256)
def _recursion(method: str, available: Budget, log2_k: float) -> RecursivePlan:
    depth, variant = RECURSIONS[method]
    return plan_recursion(
        available.guarantee,
        log2_k,
        depth,
        family=_family(available),
        accounting=available.accounting,
        calibration=available.calibration,
        failure=available.failure,
        variant=variant,
    )


def _family(available: Budget) -> str:
    """Return the family of noise. Raises ValueError if there is none, because every method with trees needs one."""
    if available.family is None:
        raise ValueError("family = None is not valid; valid: a family of noise")
    return available.family


def _plain(release: ReleaseParameters) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: getattr(release, name) for name in ("epsilon_level", "epsilon_end", "lower", "upper", "selection")
    }
    parameters = asdict(cast(Any, release.noise))  # noises are dataclasses
    fields |= {} if release.floor is None else {"floor": release.floor}
    return fields | {"candidates": release.candidates, "noise": release.noise.family, "parameters": parameters}
