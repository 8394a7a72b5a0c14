"""A lower bound on the cost of every noise on a lattice, from multipliers of the orders alone (the dual problem).

Let G_i be the derivative of cost + sum of lambda_a H_a with respect to the mass of the point x_i. H_a is the mean of
E[e^((a-1) L)] - 1 over a move up and a move down. It is convex and homogeneous. So for every noise p with the
guarantee, and for every reference in which G is taken,

    cost(p) >= cost(p) + sum of lambda_a (H_a(p) - limit_a) >= min over i of G_i - sum of lambda_a limit_a.

The second inequality holds for every noise, with or without the guarantee, so the right-hand side bounds the
Lagrangian. The reference is given by its falls d_i = log(p_(i-1) / p_i) on each arm of the lattice, from the outside
inwards. It begins with a constant fall with G = kappa. Costs do not decrease outwards, so G >= kappa there. Then each
d_i follows from G_i = kappa. That is stable, as each d_i is below d_(i+1). At the centre, where both arms meet, G_0 >=
kappa has to hold. G_0 - kappa falls with kappa, and its zero gives the best bound. With s = a - 1 a pair of fall d
contributes

    to G of its inner point  1/2 sum of lambda_a (a (e^(sd) - 1) + s (1 - e^(-ad))),
    to G of its outer point -1/2 sum of lambda_a (s (e^(ad) - 1) + a (1 - e^(-sd))),

both divided by s at order 1. Nothing cancels in these sums.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tcdp_sim.calibration.optimal.lattice_problem import LatticeProblem, lift
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.search import brentq

_LARGEST = 690.0  # log of the largest usable float
_CLOSE = 1e-15  # accuracy of a fall
_CLOSE_COST = 1e-5  # relative distance of the bound from the best one of these multipliers
_ROUNDING = 1e-9  # relative to the two terms whose difference is the bound
_SHARES = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9)  # relative distances below the cost at which a bound is tried


class Costs(NamedTuple):
    """The costs of a lattice's central point (`centre`) and of its `arms`, which do not decrease outwards.

    Beyond its end an arm costs as much as its last point. The half-integers have one arm: the fall between the points
    -1/2 and 1/2 is zero, and the other arm is the same.
    """

    centre: float
    arms: tuple[Floats, ...]


def costs_of(problem: LatticeProblem) -> Costs:
    """Return the costs of the integers or half-integers, up to the point from which on they stay the same."""
    arm = problem.cost[1 : 2 + int(np.flatnonzero(np.diff(problem.cost))[-1])]
    return Costs(float(problem.cost[0]), (arm, arm) if problem.offset == 0 else (arm,))


def lower_bound(problem: LatticeProblem, multipliers: Floats, cost: float) -> float:
    """Return a lower bound on the cost of every noise on the problem's lattice, or -inf if none is found near `cost`.

    The multipliers are >= 0, one for each order of the problem. Any such multipliers give a valid bound. `cost` is the
    cost of the best noise found.
    """
    return Lagrangian(problem, multipliers).least(costs_of(problem), cost)


class Lagrangian:
    """The function cost + sum of multiplier (H_a - limit_a) of noises on a lattice, bounded from below.

    The price is the sum of multiplier limit_a. kappa is a lower bound plus the price.
    """

    def __init__(self, problem: LatticeProblem, multipliers: Floats) -> None:
        self.price = float(multipliers @ problem.limits)
        self._pairs = _Pairs(problem, multipliers)

    def least(self, costs: Costs, guess: float) -> float:
        """Return a lower bound near the least value, which is about `guess` or less, or -inf if none is found."""
        high = guess + self.price
        for share in _SHARES:
            low = guess * (1 - share) + self.price
            if self.holds(costs, low):
                return self.value(self.last_that_holds(costs, low, high, _CLOSE_COST * guess))
            high = low
        return -np.inf

    def last_that_holds(self, costs: Costs, low: float, high: float, close: float) -> float:
        """Return the last kappa below high that holds, or a kappa that is smaller by at most `close`. low must hold."""
        while high - low > close:
            middle = (low + high) / 2
            low, high = (middle, high) if self.holds(costs, middle) else (low, middle)
        return low

    def holds(self, costs: Costs, kappa: float) -> bool:
        """Return True if the reference shows that the Lagrangian plus the price is at least kappa for every noise."""
        first = _inwards(self._pairs, costs.arms[0], kappa)
        others = (first if arm is costs.arms[0] else _inwards(self._pairs, arm, kappa) for arm in costs.arms[1:])
        return costs.centre + (first + sum(others)) - kappa >= 0

    def value(self, kappa: float) -> float:
        """Return the lower bound that kappa gives, minus the rounding of the difference."""
        return kappa - self.price - _ROUNDING * (self.price + abs(kappa))


class _Pairs:
    """The contribution of a pair of neighbours to G as a function of its fall d, summed over the orders."""

    def __init__(self, problem: LatticeProblem, multipliers: Floats) -> None:
        above = problem.orders > 1
        self._orders = problem.orders[above]
        self._at_one = float(multipliers[~above].sum()) / 2
        with np.errstate(divide="ignore"):
            self._log_weight = np.log(multipliers[above] / 2) - lift(self._orders, problem.rho)
        self._weight = np.exp(self._log_weight)

    @cached_property
    def largest(self) -> float:
        """The largest fall whose terms are finite floats."""
        return float(((_LARGEST - self._log_weight) / self._orders).min(initial=_LARGEST))

    def inner(self, d: float) -> float:
        """Return the contribution of a pair with fall d to G at its inner point. It increases with d."""
        a, s = self._orders, self._orders - 1
        above = a @ self._raised(s * d) - s @ (self._weight * np.expm1(-a * d))
        return float(above + self._at_one * (d - np.expm1(-d)))

    def outer(self, d: float) -> float:
        """Return the contribution of a pair with fall d to G at its outer point. It decreases with d."""
        a, s = self._orders, self._orders - 1
        above = s @ self._raised(a * d) - a @ (self._weight * np.expm1(-s * d))
        return float(-above - self._at_one * (np.expm1(d) + d))

    def _raised(self, t: Floats) -> Floats:
        """Return e^t - 1 times the weights."""
        large = np.exp(np.maximum(t, 1.0) + self._log_weight) - self._weight
        return np.where(t < 1, self._weight * np.expm1(np.minimum(t, 1.0)), large)


def _inwards(pairs: _Pairs, costs: Floats, kappa: float) -> float:
    """Return the contribution of an arm to G at the centre if its own G are all at least kappa, else NaN."""
    d = _root(lambda d: pairs.outer(d) + pairs.inner(d) + float(costs[-1]) - kappa, 0.0, pairs.largest)
    for cost in costs[-2::-1]:
        rest = kappa - float(cost) - pairs.inner(d)
        d = _root(lambda z: pairs.outer(z) - rest, 0.0, d)  # noqa: B023
    return pairs.inner(d) if np.isfinite(d) else np.nan


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a falling function, `high` if rounding leaves it positive there, or NaN without a root."""
    if not np.isfinite(high):
        return np.nan
    ends = {low: falling(low), high: falling(high)}
    if not ends[low] >= 0:
        return np.nan
    if ends[high] >= 0:
        return high
    return float(brentq(lambda d: ends[d] if d in ends else falling(d), low, high, xtol=_CLOSE))
