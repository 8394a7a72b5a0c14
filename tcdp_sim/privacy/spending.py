"""Budgets that adaptively chosen releases are paid from: limits, costs, and their exact sums.

Costs and limits are whole multiples of 2^-1074. Every float is such a multiple, so sums of any length have no rounding
error. Costs that are no such multiple are rounded up, and limits are rounded down.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, log1p, nextafter, tanh
from operator import add, le
from typing import Any

from tcdp_sim.core.errors import real
from tcdp_sim.privacy.definitions import (
    RDP,
    ApproxDP,
    Guarantee,
    MeanConcentratedDP,
    PureDP,
    simplest,
)
from tcdp_sim.privacy.renyi import RenyiBound, renyi_bound

_BITS = 1074
INFINITE = 1 << 8192  # above every finite sum
_ROUNDING = 4e-15  # relative error of an elementary function of floats, with a margin
Costs = tuple[int, ...]


def units(number: Any, upwards: bool) -> int:
    """Return a number, float or rational, as a multiple of 2^-1074."""
    if number == inf:
        return INFINITE
    numerator, denominator = number.as_integer_ratio()
    whole, rest = divmod(numerator << _BITS, denominator)
    return int(whole + (upwards and rest > 0))


def float_units(number: float) -> int:
    """Return a finite float as a multiple of 2^-1074, which it is."""
    numerator, denominator = number.as_integer_ratio()
    return numerator << (_BITS + 1 - denominator.bit_length())


def as_float(count: int, upwards: bool) -> float:
    """Return a multiple of 2^-1074 as the nearest float that is not below it, or not above it."""
    try:
        number = count / (1 << _BITS)
    except OverflowError:
        return inf
    exact = units(number, upwards)
    if exact != count and (exact < count) == upwards:
        return nextafter(number, inf if upwards else -inf)
    return number


def raised(value: float) -> float:
    """Return an upper end for a computed value that has a few rounding errors."""
    return nextafter(value * (1 + _ROUNDING), inf)


@dataclass(frozen=True)
class Terms:
    """The limits of a filter: on the divergence at each `order`, or without orders on rho, for all below omega.

    `omega` is inf for zCDP. Limits are multiples of 2^-1074. If `needs_all`, the sums must respect the limits at all
    orders; otherwise one order suffices.
    """

    order: tuple[float, ...]
    omega: float
    limits: Costs
    needs_all: bool = True

    def cost(self, guarantee: Guarantee) -> Costs:
        """Return the cost of a release of which this guarantee is known."""
        if not self.order:
            return (units(_rho(guarantee, self.omega), upwards=True),)
        bound = _bound(guarantee)
        return tuple(units(_divergence(guarantee, bound, order), upwards=True) for order in self.order)


def terms(budget: Any, order: Any = None) -> Terms:
    """Return the terms of a budget, at orders fixed in advance if they are given. Raises ValueError."""
    if order is None:
        return _of_notion(budget)
    chosen = orders(order)
    if isinstance(budget, ApproxDP):
        limits = [_share(budget, each, len(chosen)) for each in chosen]
        return Terms(chosen, max(chosen), tuple(units(limit, upwards=False) for limit in limits), needs_all=False)
    if not isinstance(budget, Guarantee | RenyiBound):
        raise ValueError(f"budget = {budget!r} is not valid; valid: a guarantee or a RenyiBound")
    bound = budget if isinstance(budget, RenyiBound) else _bound(budget)
    if max(chosen) > bound.highest:
        raise ValueError(f"order = {max(chosen):g} is not valid for {budget}; valid: order <= {bound.highest:g}")
    return Terms(chosen, max(chosen), tuple(_limit(budget, bound, each) for each in chosen))


def orders(order: Any) -> tuple[float, ...]:
    """Return orders above 1 as a tuple. Raises ValueError for others and for repeated ones."""
    chosen = real("order", order, 1)
    found = (chosen,) if isinstance(chosen, float) else tuple(chosen.ravel().tolist())
    if not found or len({*found}) < len(found):
        raise ValueError(f"order = {order!r} is not valid; valid: one order or different ones, all above 1")
    return found


def _limit(budget: Any, bound: RenyiBound, order: float) -> int:
    """Return the divergence of an order that a budget allows, rounded down."""
    if isinstance(budget, RenyiBound):
        return units(bound(order), upwards=False)
    limit = _divergence(budget, bound, order)
    return units(limit if isinstance(limit, Fraction) else limit * (1 - 3 * _ROUNDING), upwards=False)


def _of_notion(budget: Any) -> Terms:
    if isinstance(budget, Guarantee) and budget.rho_omega is not None:
        rho, omega = budget.rho_omega
        return Terms((), omega, (units(rho, upwards=False),))
    if isinstance(budget, PureDP | RDP):
        order = inf if isinstance(budget, PureDP) else budget.order
        return Terms((order,), order, (units(budget.epsilon, upwards=False),))
    if isinstance(budget, ApproxDP | RenyiBound):
        ways = "expected=[releases] for ApproxDP, or order=8.0 or several"
        raise ValueError(f"budget = {budget} needs orders that are fixed in advance; valid: {ways}")
    valid = "PureDP, ZCDP, TCDP, RDP, or ApproxDP with expected= or order="
    raise ValueError(f"budget = {budget!r} is not valid; valid: {valid}")


def _share(budget: ApproxDP, order: float, count: int) -> float:
    """Return the largest divergence of an order that implies (epsilon, delta / count)-DP, rounded down."""
    parts = (budget.epsilon, -log1p(-1 / order), (log(budget.delta / count) + log(order)) / (order - 1))
    limit = sum(parts) - _ROUNDING * (sum(map(abs, parts)) + (abs(log(budget.delta / count)) + 1) / (order - 1))
    if not 0 < limit < inf:
        least = budget.epsilon - limit
        raise ValueError(f"order = {order:g} leaves nothing of {budget}; valid: orders at which epsilon > {least:.4g}")
    return limit


def _bound(guarantee: Guarantee) -> RenyiBound:
    try:
        return renyi_bound(guarantee)
    except ValueError:
        valid = "guarantees that bound Renyi divergences"
        raise ValueError(f"{guarantee!r} cannot be paid from a budget of Renyi divergences; valid: {valid}") from None


def _divergence(guarantee: Guarantee, bound: RenyiBound, order: float) -> Any:
    """Return the divergence of an order, exactly or rounded up."""
    notion = simplest(guarantee)
    if order > bound.highest:
        return inf
    if order == inf:
        return Fraction(notion.epsilon) if isinstance(notion, PureDP) else inf
    line = notion.renyi_line
    return raised(bound(order)) if line is None else Fraction(line.rho) * Fraction(order) + Fraction(line.xi)


def _rho(guarantee: Guarantee, omega: float) -> Any:
    """Return rho with D_a <= rho a at all orders 1 < a < omega, exactly or rounded up."""
    bound = _bound(guarantee)
    if bound.highest < omega:
        return inf
    simple = simplest(guarantee)
    if simple.renyi_line is not None:
        return Fraction(simple.renyi_line.rho) + Fraction(simple.renyi_line.xi)
    match simple:
        case PureDP(epsilon=epsilon):
            return raised(epsilon * tanh(epsilon / 2))
        case MeanConcentratedDP(tau=tau):  # the bound min(mu, tau^2 / 2) + (a - 1) tau^2 / 2 is at most this times a
            return raised(tau * tau / 2)
    raise ValueError(f"{guarantee!r} has no known rho; valid: PureDP, ZCDP, TCDP, RDP or MeanConcentratedDP")


class Spending:
    """Exact sums of the costs of admitted releases, below the limits of a filter, in multiples of 2^-1074.

    If `needs_all`, all sums must stay within their limits; otherwise one suffices.
    """

    __slots__ = ("_enough", "limits", "needs_all", "totals")

    def __init__(self, limits: Costs, needs_all: bool) -> None:
        self.limits, self.needs_all, self.totals = limits, needs_all, (0,) * len(limits)
        self._enough = all if needs_all else any

    def admit(self, costs: Costs, times: int = 1) -> bool:
        """Add the costs and return True, or change nothing and return False if that would exceed the limits."""
        if len(costs) == 1:
            new = self.totals[0] + costs[0] * times
            if new > self.limits[0]:
                return False
            self.totals = (new,)
            return True
        added = costs if times == 1 else tuple(cost * times for cost in costs)
        totals = tuple(map(add, self.totals, added))
        if not self._enough(map(le, totals, self.limits)):
            return False
        self.totals = totals
        return True

    @property
    def spent(self) -> tuple[float, ...]:
        """The sums, rounded up."""
        return tuple(as_float(total, upwards=True) for total in self.totals)

    @property
    def remaining(self) -> tuple[float, ...]:
        """The limits less the sums, rounded down, and 0 where a sum exceeds its limit."""
        rest = (max(limit - total, 0) for limit, total in zip(self.limits, self.totals))
        return tuple(as_float(each, upwards=False) for each in rest)
