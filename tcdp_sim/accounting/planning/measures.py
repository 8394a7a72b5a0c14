"""The share of a budget that planned releases spend, by the notion of the budget."""

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from tcdp_sim.accounting.joined import joined
from tcdp_sim.accounting.ledger import Ledger
from tcdp_sim.accounting.planning.costs import RHO, at_order_one, cost, least_rho
from tcdp_sim.accounting.planning.rough import rough_delta
from tcdp_sim.accounting.planning.targets import Target
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

NOTIONS = ("zcdp", "tcdp", "approx_dp", "pure_dp")
_ROUNDING, _MARGIN = 1e-13, 1e-9


class Measured(NamedTuple):
    """A measure of planned releases: its value at given scales, its bound, and the order whose costs add up to it.

    The order is None for (epsilon, delta), whose costs do not add up. There is then a cheap estimate for a search.
    """

    of: Callable[[Sequence[Target], Sequence[float], float], Bounds]
    allowed: float
    order: float | None
    guess: Callable[[Sequence[Target], Sequence[float]], float] | None = None


def measured_by(budget: Guarantee) -> Measured:
    """Return the measure of a budget. Raises ValueError for a guarantee of another kind."""
    match budget:
        case ApproxDP(epsilon=epsilon, delta=delta):
            scalar("delta", delta, 0, 1)
            scalar("epsilon", epsilon, 0, closed=True)
            return Measured(
                lambda targets, scales, share: exact_delta(short_ledger(targets, scales), epsilon, share),
                delta,
                None,
                lambda targets, scales: rough_delta(targets, scales, epsilon),
            )
        case PureDP(epsilon=epsilon):
            return Measured(_largest_loss, scalar("epsilon", epsilon, 0), inf)
        case ZCDP(rho=rho, xi=0) | TCDP(rho=rho):
            return Measured(_rho, scalar("rho", rho, 0), RHO)
    raise ValueError(f"budget = {budget!r} is not valid; valid: ZCDP, TCDP, ApproxDP or PureDP")


def short_ledger(targets: Sequence[Target], scales: Sequence[float]) -> Ledger:
    """Return a ledger equivalent to the planned releases, with few entries."""
    return Ledger(joined(target.release_at(scale) for target, scale in zip(targets, scales)))


def exact_delta(ledger: Ledger, epsilon: float, share: float) -> Bounds:
    """Return a bracket of delta, by the closed form if there is one for a single release."""
    return ledger.delta(epsilon, share)


def _rho(targets: Sequence[Target], scales: Sequence[float], tolerance: float) -> Bounds:
    """Return a bracket of the least rho, with a margin beyond the rounding of each release's own bracket."""
    ends = [0.0, 0.0, 0.0]
    for target, scale in zip(targets, scales):
        noise = target.noise_at(scale)
        if noise is None or at_order_one(type(noise)):
            value = cost(target, scale, RHO)
            single = [value * (1 - _MARGIN), value, value * (1 + _MARGIN)]
        else:
            release, times = target.release_at(scale)
            single = [times * end for end in least_rho(release)]
        ends = [total + end for total, end in zip(ends, single)]
    return Bounds(ends[0] * (1 - _ROUNDING), ends[1], ends[2] * (1 + _ROUNDING))


def _largest_loss(targets: Sequence[Target], scales: Sequence[float], tolerance: float) -> Bounds:
    value = sum(cost(target, scale, inf) for target, scale in zip(targets, scales))
    return Bounds(value * (1 - _ROUNDING), value, value * (1 + _ROUNDING))


def least_of(notion: str, targets: Sequence[Target], scales: Sequence[float], delta: float, omega: float) -> Bounds:
    """Return a bracket of the least rho or epsilon of a notion that the planned releases meet."""
    if notion == "approx_dp":
        return short_ledger(targets, scales).epsilon(delta)
    return (_largest_loss if notion == "pure_dp" else _rho)(targets, scales, 0.0)


def guarantee_of(notion: str, value: float, delta: float, omega: float) -> Guarantee:
    """Return the guarantee of a notion with a given rho or epsilon."""
    if notion == "approx_dp":
        return ApproxDP(value, delta)
    if notion == "pure_dp":
        return PureDP(value)
    return TCDP(value, omega) if notion == "tcdp" else ZCDP(value)
