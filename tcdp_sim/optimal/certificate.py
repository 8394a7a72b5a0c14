"""A lower bound on the cost of every noise on a lattice, from multipliers of the orders alone: the dual problem.

Let G_i be the derivative of cost + sum of lambda_a H_a with respect to the mass of the points +-x_i. H_a is convex and
homogeneous, so that for every noise p that meets the guarantee, and whatever the reference in which G is taken,

    cost(p) >= cost(p) + sum of lambda_a (H_a(p) - limit_a) >= min over i of G_i - sum of lambda_a limit_a.

The reference is given by its falls d_i = log(p_(i-1) / p_i), from the outside inwards: first a constant fall with
G = kappa (costs do not decrease outwards, so G >= kappa there), then each d_i from G_i = kappa. That is stable, as each
d_i is below d_(i+1). What is left is G_0 >= kappa; G_0 - kappa falls with kappa, and its zero gives the best bound.
With s = a - 1 a pair of fall d adds, where nothing cancels,

    to G of its inner point  1/2 sum of lambda_a (a (e^(sd) - 1) + s (1 - e^(-ad))),
    to G of its outer point -1/2 sum of lambda_a (s (e^(ad) - 1) + a (1 - e^(-sd))),

both divided by s at order 1.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from tcdp_sim.arrays import Floats
from tcdp_sim.optimal.lattice_problem import LatticeProblem, lift

_LARGEST = 690.0  # of a logarithm
_CLOSE = 1e-15  # of falls
_CLOSE_COST = 1e-5  # relative: how near the bound comes to the best one of these multipliers
_ROUNDING = 1e-9  # relative, of what the bound is the difference of
_SHARES = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9)  # of the cost, by which the bound is looked for below it


def lower_bound(problem: LatticeProblem, multipliers: Floats, cost: float) -> float:
    """No noise on the lattice costs less. `cost` is that of the best one found; -inf where no bound is near it."""
    price = float(multipliers @ problem.limits)
    pairs = _Pairs(problem, multipliers)
    high = cost + price
    for share in _SHARES:
        low = cost * (1 - share) + price
        if _missing(problem, pairs, low) >= 0:
            kappa = _last_before_zero(lambda kappa: _missing(problem, pairs, kappa), low, high, _CLOSE_COST * cost)
            return float(kappa - price - _ROUNDING * (price + abs(kappa)))
        high = low
    return -np.inf


def _last_before_zero(falling: Callable[[float], float], low: float, high: float, close: float) -> float:
    """A place where a function that falls, and is >= 0 at low, is still >= 0: the last one but for `close`."""
    while high - low > close:
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) >= 0 else (low, middle)
    return low


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


def _missing(problem: LatticeProblem, pairs: _Pairs, kappa: float) -> float:
    """G_0 - kappa where all other G are at least kappa: falls with kappa. NaN where no reference gives that."""
    costs = problem.cost[: 2 + int(np.flatnonzero(np.diff(problem.cost))[-1])]  # beyond, they stay as they are
    d = _root(lambda d: pairs.outer(d) + pairs.inner(d) + float(costs[-1]) - kappa, 0.0, pairs.largest)
    for cost in costs[-2:0:-1]:
        rest = kappa - float(cost) - pairs.inner(d)
        d = _root(lambda z: pairs.outer(z) - rest, 0.0, d)  # noqa: B023
    double = 2.0 if problem.offset == 0 else 1.0  # of 0 both pairs are of the one point
    return float(problem.cost[0]) + double * pairs.inner(d) - kappa if np.isfinite(d) else np.nan


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is zero; `high` where rounding leaves it positive there, NaN where there is no root."""
    if not np.isfinite(high) or not falling(low) >= 0:
        return np.nan
    return high if falling(high) >= 0 else float(brentq(falling, low, high, xtol=_CLOSE))
