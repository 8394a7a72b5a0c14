"""The methods to find an interior point, by name: the records that they need and their parameters as plain data."""

from dataclasses import asdict, dataclass
from functools import lru_cache
from math import ceil, inf
from typing import Any, cast

from tcdp_sim.interior import budget, records_needed, stability_histogram
from tcdp_sim.interior.binary_search import comparison_scale
from tcdp_sim.interior.ledger import Step, exponential_epsilon
from tcdp_sim.interior.records_needed import Parts
from tcdp_sim.interior.recursive_release import RecursivePlan, plan_recursion
from tcdp_sim.interior.release import Recipe
from tcdp_sim.privacy import ApproxDP

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

    Parameters
    ----------
    rho : float
        The rho of the guarantee, in nats.
    omega : float, optional
        The omega of the guarantee; None for rho-zCDP.
    family, calibration : str, optional
        The family and calibration of the noise on nodes; None for methods without.
    accounting : str
        The accounting of the exponential mechanisms.
    split : tuple of three floats, optional
        The shares of (level, node, end); None for the method's own.
    beta : float
        The failure probability, in (0, 1).
    delta : float
        The delta at which the weaker guarantee of the stability histogram is derived.
    """

    rho: float
    omega: float | None = None
    family: str | None = None
    calibration: str | None = None
    accounting: str = "tight"
    split: tuple[float, ...] | None = None
    beta: float = records_needed.BETA
    delta: float = stability_histogram.DELTA

    @property
    def target(self) -> dict[str, float]:
        """The guarantee as plain data."""
        return {"rho": self.rho} if self.omega is None else {"rho": self.rho, "omega": self.omega}


def is_tree(method: str) -> bool:
    """Return True if the method adds noise of a chosen family to the nodes of a tree."""
    return method not in (*BASELINES, WEAKER)


def weaker_promise(available: Budget) -> ApproxDP:
    """Return the guarantee of the stability histogram: the (epsilon, delta)-DP that the target implies."""
    return stability_histogram.implied(available.rho, _omega(available), available.delta)


def required_n(method: str, available: Budget, log2_k: float) -> int:
    """Return the least n at which the method is proved to succeed with probability 1 - beta.

    For a baseline this is the n at which its worst data set succeeds with just that probability. For Algorithms 21 and
    22 it is the n that their thresholds ask for, which is not proved to suffice.
    """
    if method == "exponential":
        epsilon = exponential_epsilon(available.rho, available.accounting)
        return ceil(records_needed.exponential_required_n(epsilon, log2_k, available.beta))
    if method == "binary_search":
        return ceil(records_needed.binary_search_required_n(available.rho, log2_k, available.beta))
    if method == WEAKER:
        return stability_histogram.required_n(weaker_promise(available), log2_k, available.beta)
    if method in RECURSIONS:
        return _recursion(method, available, log2_k).required_n()
    return records_needed.required_n(_bought(method, available, log2_k), log2_k, available.beta, ONE_TREE[method][1])


def described(method: str, available: Budget, log2_k: float, n: int) -> dict[str, Any]:
    """Return the parameters of the method on n records, as plain data."""
    if method == "exponential":
        return {"scale": exponential_epsilon(available.rho, available.accounting)}
    if method == "binary_search":
        return {"scale": comparison_scale(available.rho, log2_k)}
    if method == WEAKER:
        recipes: tuple[Recipe, ...] = (
            stability_histogram.recipe(weaker_promise(available), log2_k, n, available.beta),
        )
    elif method in RECURSIONS:
        recipes = _recursion(method, available, log2_k).recipes(n)
    else:
        selection, variant = ONE_TREE[method]
        bought = _bought(method, available, log2_k)
        recipes = (budget.recipe(bought, log2_k, n, available.beta, variant, selection),)
    return {"recipes": [_plain(recipe) for recipe in recipes]}


def ledger(method: str, available: Budget, log2_k: float) -> tuple[Step, ...]:
    """Return the ledger of a method with trees."""
    if method == WEAKER:
        return stability_histogram.ledger(weaker_promise(available))
    if method in RECURSIONS:
        return _recursion(method, available, log2_k).ledger()
    bought = _bought(method, available, log2_k)
    split = available.split or _default_split(available, log2_k)
    how = available.calibration or available.accounting
    selection = ONE_TREE[method][0]
    return budget.ledger(bought, available.rho, available.omega or inf, split, available.accounting, how, selection)


def _default_split(available: Budget, log2_k: float) -> tuple[float, float, float]:
    how = available.calibration or available.accounting
    return budget.default_split(
        available.rho, _omega(available), float(log2_k), _family(available), available.accounting, how
    )


def _bought(method: str, available: Budget, log2_k: float) -> Parts:
    return budget.parts(
        available.rho,
        _omega(available),
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
        available.rho,
        _omega(available),
        log2_k,
        depth,
        family=_family(available),
        accounting=available.accounting,
        calibration=available.calibration,
        beta=available.beta,
        variant=variant,
    )


def _family(available: Budget) -> str:
    """Return the family of noise. Raises ValueError if there is none, because every method with trees needs one."""
    if available.family is None:
        raise ValueError("family = None is not valid; valid: a family of noise")
    return available.family


def _omega(available: Budget) -> float:
    return inf if available.omega is None else available.omega


def _plain(recipe: Recipe) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: getattr(recipe, name) for name in ("epsilon_level", "epsilon_end", "lower", "upper", "selection")
    }
    parameters = asdict(cast(Any, recipe.noise))  # noises are dataclasses
    fields |= {} if recipe.floor is None else {"floor": recipe.floor}
    return fields | {"candidates": recipe.candidates, "noise": recipe.noise.family, "parameters": parameters}
