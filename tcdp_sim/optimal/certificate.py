"""A lower bound on the cost of every noise on a lattice, from multipliers of the orders alone: the dual problem.

Let G_i be the derivative of cost + sum of lambda_a H_a with respect to the mass of the point x_i. H_a is the mean of
E[e^((a-1) L)] - 1 over a move up and a move down; it is convex and homogeneous, so that for every noise p that meets
the guarantee, and whatever the reference in which G is taken,

    cost(p) >= cost(p) + sum of lambda_a (H_a(p) - limit_a) >= min over i of G_i - sum of lambda_a limit_a.

The middle is at least the right-hand side for every noise, whether it meets the guarantee or not: the bound is one on
the Lagrangian. The reference is given by its falls d_i = log(p_(i-1) / p_i) on each arm of the lattice, from the
outside inwards: first a constant fall with G = kappa (costs do not decrease outwards, so G >= kappa there), then each
d_i from G_i = kappa. That is stable, as each d_i is below d_(i+1). What is left is G_0 >= kappa at the centre, where
both arms meet; G_0 - kappa falls with kappa, and its zero gives the best bound. With s = a - 1 a pair of fall d adds,
where nothing cancels,

    to G of its inner point  1/2 sum of lambda_a (a (e^(sd) - 1) + s (1 - e^(-ad))),
    to G of its outer point -1/2 sum of lambda_a (s (e^(ad) - 1) + a (1 - e^(-sd))),

both divided by s at order 1.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from tcdp_sim.core.arrays import Floats
from tcdp_sim.optimal.lattice_problem import LatticeProblem, lift

_LARGEST = 690.0  # of a logarithm
_CLOSE = 1e-15  # of falls
_CLOSE_COST = 1e-5  # relative: how near the bound comes to the best one of these multipliers
_ROUNDING = 1e-9  # relative, of what the bound is the difference of
_SHARES = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9)  # of the cost, by which the bound is looked for below it


class Costs(NamedTuple):
    """The costs of a lattice's points: `centre` of its central one, and `arms` outwards from there, not decreasing.

    Beyond its end an arm costs as much as its last point. The half-integers have one arm: the fall between the points
    -1/2 and 1/2 is zero, and the other arm is the same.
    """

    centre: float
    arms: tuple[Floats, ...]


def costs_of(problem: LatticeProblem) -> Costs:
    """Return the costs of the integers or half-integers, without the points from which on they stay the same."""
    arm = problem.cost[1 : 2 + int(np.flatnonzero(np.diff(problem.cost))[-1])]
    return Costs(float(problem.cost[0]), (arm, arm) if problem.offset == 0 else (arm,))


def lower_bound(problem: LatticeProblem, multipliers: Floats, cost: float) -> float:
    """Return a number that no noise on the problem's lattice costs less than; -inf where none is found near `cost`.

    multipliers: >= 0, one for each order of the problem, whatever they are. cost: that of the best noise found.
    """
    return Lagrangian(problem, multipliers).least(costs_of(problem), cost)


class Lagrangian:
    """cost + sum of multiplier (H_a - limit_a), whose least value over all noises on a lattice is bounded from below.

    kappa is such a value plus the sum of multiplier limit_a, the price.
    """

    def __init__(self, problem: LatticeProblem, multipliers: Floats) -> None:
        self.price = float(multipliers @ problem.limits)
        self._pairs = _Pairs(problem, multipliers)

    def least(self, costs: Costs, guess: float) -> float:
        """Return a lower bound that is near the least value, which is about `guess` or less; -inf if none is found."""
        high = guess + self.price
        for share in _SHARES:
            low = guess * (1 - share) + self.price
            if self.holds(costs, low):
                return self.value(self.last_that_holds(costs, low, high, _CLOSE_COST * guess))
            high = low
        return -np.inf

    def last_that_holds(self, costs: Costs, low: float, high: float, close: float) -> float:
        """Return the last kappa below high that holds, or one that is smaller by at most `close`; low must hold."""
        while high - low > close:
            middle = (low + high) / 2
            low, high = (middle, high) if self.holds(costs, middle) else (low, middle)
        return low

    def holds(self, costs: Costs, kappa: float) -> bool:
        """Whether the reference shows that the Lagrangian plus the price is at least kappa for every noise."""
        first = _inwards(self._pairs, costs.arms[0], kappa)
        others = (first if arm is costs.arms[0] else _inwards(self._pairs, arm, kappa) for arm in costs.arms[1:])
        return costs.centre + (first + sum(others)) - kappa >= 0

    def value(self, kappa: float) -> float:
        """Return the lower bound that kappa gives, with the rounding of a difference."""
        return kappa - self.price - _ROUNDING * (self.price + abs(kappa))


class _Pairs:
    """What a pair of neighbours adds to G, by its fall d: summed over the orders, with their multipliers."""

    def __init__(self, problem: LatticeProblem, multipliers: Floats) -> None:
        above = problem.orders > 1
        self._orders = problem.orders[above]
        self._at_one = float(multipliers[~above].sum()) / 2
        with np.errstate(divide="ignore"):
            self._log_weight = np.log(multipliers[above] / 2) - lift(self._orders, problem.rho)
        self._weight = np.exp(self._log_weight)

    @cached_property
    def largest(self) -> float:
        """The largest fall whose terms are floats."""
        return float(((_LARGEST - self._log_weight) / self._orders).min(initial=_LARGEST))

    def inner(self, d: float) -> float:
        """To G of the inner point; rises with d."""
        a, s = self._orders, self._orders - 1
        above = a @ self._raised(s * d) - s @ (self._weight * np.expm1(-a * d))
        return float(above + self._at_one * (d - np.expm1(-d)))

    def outer(self, d: float) -> float:
        """To G of the outer point; falls with d."""
        a, s = self._orders, self._orders - 1
        above = s @ self._raised(a * d) - a @ (self._weight * np.expm1(-s * d))
        return float(-above - self._at_one * (np.expm1(d) + d))

    def _raised(self, t: Floats) -> Floats:
        """e^t - 1 times the weights."""
        large = np.exp(np.maximum(t, 1.0) + self._log_weight) - self._weight
        return np.where(t < 1, self._weight * np.expm1(np.minimum(t, 1.0)), large)


def _inwards(pairs: _Pairs, costs: Floats, kappa: float) -> float:
    """What an arm adds to G at the centre where its own G are all at least kappa; NaN where no reference gives that."""
    d = _root(lambda d: pairs.outer(d) + pairs.inner(d) + float(costs[-1]) - kappa, 0.0, pairs.largest)
    for cost in costs[-2::-1]:
        rest = kappa - float(cost) - pairs.inner(d)
        d = _root(lambda z: pairs.outer(z) - rest, 0.0, d)  # noqa: B023
    return pairs.inner(d) if np.isfinite(d) else np.nan


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is zero; `high` where rounding leaves it positive there, NaN where there is no root."""
    if not np.isfinite(high) or not falling(low) >= 0:
        return np.nan
    return high if falling(high) >= 0 else float(brentq(falling, low, high, xtol=_CLOSE))
