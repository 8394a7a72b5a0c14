"""From errors to noise, and to the least budget or to the best split of a given one."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import ceil, floor, inf, isfinite
from typing import Any

from tcdp_sim.accounting.least_factor import CLOSE, least_factor
from tcdp_sim.accounting.planning.costs import RHO, class_of, errors_are_convex, least_rho
from tcdp_sim.accounting.planning.measures import NOTIONS, Measured, guarantee_of, least_of, measured_by
from tcdp_sim.accounting.planning.result import CERTIFIED, BudgetPlan, PlannedRelease
from tcdp_sim.accounting.planning.separable import Objective, best_split
from tcdp_sim.accounting.planning.targets import Target
from tcdp_sim.accounting.planning.unequal import gaussian_budget, renyi_split, split_of
from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.privacy import ApproxDP, Guarantee
from tcdp_sim.privacy.magnitudes import need_moderate

OBJECTIVES = {"ratio": 1, "error": 1, "variance": 2}  # with the power of the scale
MOST_TARGETS = 10_000
_LATTICE = "stationary, not certified (noise on a lattice)"
_STEPS = 60
_LARGE = 1e3  # ratio at which errors on a lattice are nearly proportional to the scale
_MOST_JUMPS = 1000  # of the error of a target, to be listed
_BESIDE_JUMP = 1e-12  # relative distance of ratios that rounding may exchange
_NEAR = 2e-5  # relative distance of a common factor and the least one, where no lower bound is known


def plan_budget(
    targets: Iterable[Target],
    budget: Guarantee | None = None,
    notion: str | None = None,
    *,
    delta: float = 1e-6,
    omega: float = inf,
    objective: str = "ratio",
) -> BudgetPlan:
    """Return the noise for errors that one can bear, with the least budget or the best split of a given one.

    Without a budget, each release gets the most noise that its error allows. This is the least budget, because less
    noise never protects more. With a budget, the split minimises an objective.

    Parameters
    ----------
    targets : iterable of Target
        The errors: CountTarget, DeviationTarget, SelectionTarget and QuantileTarget.
    budget : Guarantee, optional
        The budget of all releases together: ZCDP, TCDP, ApproxDP or PureDP.
    notion : {"zcdp", "tcdp", "approx_dp", "pure_dp"}, optional
        The notion of the least budget, "zcdp" by default. It must not be given with a budget.
    delta : float
        The delta of "approx_dp", and of the epsilon that every plan reports, in (0, 1).
    omega : float
        The omega of "tcdp", above 1. All releases of a plan have the same least rho for every omega.
    objective : {"ratio", "error", "variance"}
        With a budget: the largest ratio of error and bound, or the weighted sum of errors or of variances.

    Returns
    -------
    BudgetPlan
        The releases with their noise, the budget, and a lower bound on the objective where one is proved.

    Raises
    ------
    ValueError
        If an argument is out of range, a bound is missing, or the noise cannot meet the notion.

    Notes
    -----
    With weights w and sensitivities d, Gaussian noise and a budget rho, the least weighted sum of variances is
    (sum d sqrt(w))^2 / (2 rho), with shares in proportion to d sqrt(w). Weighted sums of errors c / sqrt(rho) have
    shares in proportion to c^(2/3).

    Sums of errors and variances are convex functions of the shares for zCDP, tCDP and pure DP, and for Gaussian noise
    under (epsilon, delta)-DP. The Lagrangian dual then proves a lower bound. For other noise under (epsilon, delta)-DP
    the split is the best one by Renyi divergences of one order. Its noise is then reduced by a common factor until
    exact accounting spends the whole budget, and the plan says that it is not certified.

    Examples
    --------
    >>> from tcdp_sim.accounting import DeviationTarget, plan_budget
    >>> from tcdp_sim.privacy import ZCDP
    >>> plan = plan_budget([DeviationTarget(weight=w) for w in (1, 2, 5)], ZCDP(0.5), objective="variance")
    >>> [round(row.rho, 5) for row in plan.rows], round(plan.value, 5), plan.certificate
    ([0.10752, 0.15206, 0.24042], 21.62512, 'certified')
    """
    found = _checked(targets)
    delta, omega = scalar("delta", delta, 0, 1), scalar("omega", omega, 1, finite=False)
    choice("objective", objective, tuple(OBJECTIVES))
    if budget is None:
        chosen = choice("notion", notion or NOTIONS[0], NOTIONS)
        return _least_budget(found, chosen, delta, omega)
    if notion is not None:
        raise ValueError(f"notion = {notion!r} is given with the budget {budget}; valid: one of the two")
    need_moderate(budget)
    delta = budget.delta if isinstance(budget, ApproxDP) else delta
    measured = measured_by(budget)
    _need_finite(found, measured)
    split = _equal_ratios if objective == "ratio" else partial(_least_sum, objective=objective)
    scales, value, lower, words = split(found, budget, measured)
    return _plan(found, scales, budget, objective, value, lower, words, delta)


def _checked(targets: Iterable[Target]) -> tuple[Target, ...]:
    found = tuple(targets) if isinstance(targets, Iterable) else ()
    for target in found:
        if not isinstance(target, Target):
            raise ValueError(f"{target!r} is no target; valid: CountTarget, DeviationTarget, SelectionTarget, ...")
    if not 1 <= len(found) <= MOST_TARGETS:
        raise ValueError(f"targets = {len(found)} targets is not valid; valid: from 1 to {MOST_TARGETS:,}")
    return found


def _bounds(targets: Sequence[Target]) -> list[float]:
    """Return the bounds of the errors. Raises ValueError if one is missing."""
    for target in targets:
        if target.error is None:
            raise ValueError(
                f"{target!r} has no bound of its error; valid: a bound, or a budget and objective = 'error'"
            )
    return [float(target.error) for target in targets if target.error is not None]


def _need_finite(targets: Sequence[Target], measured: Measured) -> None:
    if measured.order is not None and not isfinite(measured.of(targets, [1.0] * len(targets), 1e-3).upper):
        raise ValueError("the noise of a target has unbounded privacy loss; valid for pure DP: laplace, or a selection")


def _least_budget(targets: tuple[Target, ...], notion: str, delta: float, omega: float) -> BudgetPlan:
    """Return the plan with the largest scale that each error allows."""
    scales = [target.scale_for(error) for target, error in zip(targets, _bounds(targets))]
    spent = least_of(notion, targets, scales, delta, omega)
    if not isfinite(spent.upper):
        raise ValueError(f"no finite budget of notion = {notion!r} covers these releases; valid: another notion")
    words = CERTIFIED if _monotone(targets, concentrated=notion in NOTIONS[:2]) else _LATTICE
    lower = spent.lower if words == CERTIFIED else None
    guarantee = guarantee_of(notion, spent.upper, delta, omega)
    return _plan(targets, scales, guarantee, "budget", spent.upper, lower, words, delta)


def _monotone(targets: Sequence[Target], concentrated: bool) -> bool:
    """Return True if it is proved that less noise never protects more, for all releases."""
    classes = [class_of(target) for target in targets]
    return all(
        each is None or target.is_smooth or (concentrated and each.linear_in_order)
        for target, each in zip(targets, classes)
    )


Answer = tuple[list[float], float, float | None, str]


def _equal_ratios(targets: Sequence[Target], budget: Guarantee, measured: Measured) -> Answer:
    """Return the split with the least ratio of error and bound, which is the same for all smooth errors."""
    errors = _bounds(targets)

    def scales_at(ratio: float) -> list[float]:
        return [target.scale_for(ratio * error) for target, error in zip(targets, errors)]

    def at(ratio: float, tolerance: float) -> Bounds:
        return measured.of(targets, scales_at(ratio), tolerance)

    if not all(target.is_smooth for target in targets):
        return _ratios_on_lattices(targets, errors, budget, measured)
    found = least_factor(at, measured.allowed, guess=_guess(targets, scales_at, measured))
    scales = scales_at(found.factor)
    value = max(target.error_at(scale) / error for target, scale, error in zip(targets, scales, errors))
    proved = found.below.lower > measured.allowed
    return scales, value, value * (1 - 3e-6) if proved else None, CERTIFIED if proved else "stationary, not certified"


def _guess(
    targets: Sequence[Target], scales_at: Callable[[float], list[float]], measured: Measured
) -> Callable[[float], float] | None:
    estimate = measured.guess
    return None if estimate is None else lambda factor: estimate(targets, scales_at(factor))


def _ratios_on_lattices(
    targets: Sequence[Target], errors: Sequence[float], budget: Guarantee, measured: Measured
) -> Answer:
    """Return the split by bisection over the ratio. Errors on a lattice jump, so the budget may not be used up."""

    def fits(ratio: float) -> list[float] | None:
        try:
            scales = [target.scale_for(ratio * error) for target, error in zip(targets, errors)]
        except ValueError:  # an error below the step of a lattice
            return None
        return scales if measured.of(targets, scales, 1e-4).upper <= measured.allowed else None

    low = high = _rough_ratio(targets, errors, measured)
    close = 1e-3 if measured.order is None else 1e-7
    step = 1.01
    while (scales := fits(high)) is None:
        high, step = high * step, step**2
        if high > 1e15:
            raise ValueError(f"no noise meets {budget}; valid: a larger budget, or fewer releases")
    step = 1.01
    while fits(low) is not None:
        low, step = low / step, step**2
    for _ in range(_STEPS):
        jumps = _jumps(targets, errors, low, high)
        middle = 0.5 * (low + high) if jumps is None else jumps[len(jumps) // 2] if jumps else high
        if high - low < close * high or not low < middle < high:
            break
        tried = fits(middle)
        low, high, scales = (low, middle, tried) if tried is not None else (middle, high, scales)
    value = max(target.error_at(scale) / error for target, scale, error in zip(targets, scales, errors))
    proved = measured.order == RHO and _monotone(targets, True)
    none_between = _jumps(targets, errors, low, high) == []
    lower = min(value * (1 - 2 * _BESIDE_JUMP) if none_between else low, value)
    return scales, value, lower if proved else None, CERTIFIED if proved else _LATTICE


def _jumps(targets: Sequence[Target], errors: Sequence[float], low: float, high: float) -> list[float] | None:
    """Return the ratios between two others at which an error jumps, ascending.

    It is None if the error of a target does not jump, or if there are too many jumps to list.
    """
    found: list[float] = []
    for target, error in zip(targets, errors):
        steps = target.jump
        if steps is None or (high - low) * error > _MOST_JUMPS * steps:
            return None
        places = range(floor(low * error / steps), ceil(high * error / steps) + 1)
        found += [place * steps / error * (1 + _BESIDE_JUMP) for place in places]
    return sorted(ratio for ratio in found if low * (1 + _BESIDE_JUMP) < ratio < high * (1 - _BESIDE_JUMP))


def _rough_ratio(targets: Sequence[Target], errors: Sequence[float], measured: Measured) -> float:
    """Return the ratio at which noise without a lattice would meet the budget, and 1 if none is found."""
    unit = [target.scale_for(_LARGE * error) / _LARGE for target, error in zip(targets, errors)]

    def at(ratio: float, tolerance: float) -> Bounds:
        scales = [ratio * each for each in unit]
        return measured.of(targets, scales, tolerance) if guess is None else Bounds(*3 * (guess(targets, scales),))

    guess = measured.guess
    try:
        return least_factor(at, measured.allowed, close=_NEAR).factor
    except ValueError:
        return 1.0


def _least_sum(targets: Sequence[Target], budget: Guarantee, measured: Measured, objective: str) -> Answer:
    """Return the split with the least weighted sum of errors or variances."""
    goal = Objective(objective, OBJECTIVES[objective])
    for target in targets:
        if objective == "variance" and target.variance_at(1.0) is None:
            raise ValueError(f"{target!r} has no variance; valid: objective = 'error' or 'ratio'")
    allowed, order = measured.allowed, measured.order
    reduced = gaussian_budget(targets, budget) if order is None else None
    if reduced is not None:
        split = best_split(targets, reduced[1], goal, RHO)
    elif order is None:
        split = renyi_split(targets, budget, goal)
    else:
        split = split_of(targets, allowed, goal, order)

    def scales_at(factor: float) -> list[float]:
        return [factor * scale for scale in split.scales]

    fitted = least_factor(
        lambda factor, tolerance: measured.of(targets, scales_at(factor), tolerance),
        allowed,
        close=CLOSE if order is not None or reduced is not None else _NEAR,
        guess=_guess(targets, scales_at, measured),
    )
    scales = [fitted.factor * scale for scale in split.scales]
    value = sum(goal.of(target, scale) for target, scale in zip(targets, scales))
    convex = all(each is None or errors_are_convex(each) for each in map(class_of, targets))
    if convex and (order is not None or reduced is not None):
        return scales, value, min(split.lower, value), CERTIFIED
    reason = "noise on a lattice" if order is not None else "not convex under (epsilon, delta)-DP"
    return scales, value, None, f"stationary, not certified ({reason})"


def _plan(targets: Sequence[Target], scales: Sequence[float], budget: Guarantee, *rest: Any) -> BudgetPlan:
    releases = [target.release_at(scale) for target, scale in zip(targets, scales)]
    rhos = [times * _rho(release) for release, times in releases]
    total = sum(rhos)
    rows = tuple(
        PlannedRelease(
            target=target,
            name=target.name or f"{i + 1}: {target.words}",
            release=release,
            times=times,
            scale=scale,
            error=target.error_at(scale),
            deviation=None if (variance := target.variance_at(scale)) is None else variance**0.5,
            rho=rho,
            share=rho / total if isfinite(total) else float("nan"),
        )
        for i, (target, scale, (release, times), rho) in enumerate(zip(targets, scales, releases, rhos))
    )
    objective, value, lower, words, delta = rest
    return BudgetPlan(rows, budget, objective, value, lower, words, delta)


def _rho(release: Any) -> float:
    return float(least_rho(release).upper)
