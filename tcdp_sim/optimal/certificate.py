"""A lower bound on the cost of every noise on a lattice, from multipliers of the orders alone: the dual problem, solved.

Let G_i be the derivative of cost + sum of lambda_a H_a with respect to the mass of the points +-x_i. H_a is convex and
homogeneous, so that for every noise p that meets the guarantee, and whatever the reference in which G is taken,

    cost(p) >= cost(p) + sum of lambda_a (H_a(p) - limit_a) >= min over i of G_i - sum of lambda_a limit_a.

The reference is given by its falls d_i = log(p_(i-1) / p_i), from the outside inwards: at last d with G = kappa in a tail of
constant fall (costs do not decrease outwards, so G >= kappa there), then each d_i from G_i = kappa. That is stable, as
each d_i is below d_(i+1). What is left is G_0 = kappa, an equation for kappa.
"""

import numpy as np
from scipy.optimize import brentq

from tcdp_sim.arrays import Floats
from tcdp_sim.optimal.lattice_problem import LatticeProblem, pair_terms

_LARGEST = 690.0  # of order times fall
_CLOSE = 1e-15
_ROUNDING = 1e-12  # relative, of what the bound is the difference of
_WIDTHS = tuple(10.0**-k for k in range(6, 0, -1))


def lower_bound(problem: LatticeProblem, multipliers: Floats, cost: float) -> float:
    """No noise on the lattice costs less. `cost` is that of the best one found; -inf where the equation has no root."""
    price = float(multipliers @ problem.limits)
    centre = cost + price
    for width in _WIDTHS:
        low, high = centre * (1 - width), centre * (1 + width)
        if _missing(problem, multipliers, low) >= 0 >= _missing(problem, multipliers, high):
            kappa = brentq(lambda kappa: _missing(problem, multipliers, kappa), low, high, xtol=_CLOSE * centre)
            least = min(kappa, kappa + _missing(problem, multipliers, kappa))
            return float(least - price - _ROUNDING * (price + abs(least)))
    return -np.inf


def _missing(problem: LatticeProblem, multipliers: Floats, kappa: float) -> float:
    """G_0 - kappa where all other G are at least kappa: falls with kappa."""

    def later(d: float) -> float:
        """What a pair adds to G of its outer point."""
        _, slope = _weighted(problem.orders, multipliers, d)
        return -0.5 * slope * float(np.exp(d))

    def nearer(d: float) -> float:
        """What a pair adds to G of its inner point."""
        h, slope = _weighted(problem.orders, multipliers, d)
        return 0.5 * (h + slope)

    most = _LARGEST / float(problem.orders.max())
    rest = kappa - float(problem.cost[-1])
    if later(most) + nearer(most) > rest or later(0.0) + nearer(0.0) < rest:
        return np.nan
    d = brentq(lambda d: later(d) + nearer(d) - rest, 0.0, most, xtol=_CLOSE)
    for cost in problem.cost[-2:0:-1]:
        rest = kappa - float(cost) - nearer(d)
        if later(d) > rest:
            return np.nan
        d = brentq(lambda z: later(z) - rest, -1.0, d, xtol=_CLOSE) if later(-1.0) > rest else -1.0  # noqa: B023
    double = 2.0 if problem.offset == 0 else 1.0  # of 0 both pairs are of the one point
    return float(problem.cost[0]) + double * nearer(d) - kappa


def _weighted(orders: Floats, multipliers: Floats, d: float) -> tuple[float, float]:
    h, slope, _ = pair_terms(orders, np.array([d]))
    return float(multipliers @ h[:, 0]), float(multipliers @ slope[:, 0])
