"""A lower bound on the cost of every noise on a lattice, from multipliers of the orders alone: the dual problem.

Let G_i be the derivative of cost + sum of lambda_a H_a with respect to the mass of the points +-x_i. H_a is convex and
homogeneous, so that for every noise p that meets the guarantee, and whatever the reference in which G is taken,

    cost(p) >= cost(p) + sum of lambda_a (H_a(p) - limit_a) >= min over i of G_i - sum of lambda_a limit_a.

The reference is given by its falls d_i = log(p_(i-1) / p_i), from the outside inwards: first a constant fall with
G = kappa (costs do not decrease outwards, so G >= kappa there), then each d_i from G_i = kappa. That is stable, as each
d_i is below d_(i+1). What is left is G_0 = kappa, an equation for kappa.
"""

from collections.abc import Callable

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
    """G_0 - kappa where all other G are at least kappa: falls with kappa. NaN where no reference gives that."""

    def later(d: float) -> float:
        """What a pair adds to G of its outer point."""
        _, slope = _weighted(problem, multipliers, d)
        return -0.5 * slope * float(np.exp(d))

    def nearer(d: float) -> float:
        """What a pair adds to G of its inner point."""
        h, slope = _weighted(problem, multipliers, d)
        return 0.5 * (h + slope)

    costs = problem.cost[: 2 + int(np.flatnonzero(np.diff(problem.cost))[-1])]  # beyond, they stay as they are
    most = float((_LARGEST / np.maximum(problem.orders - 1, 1.0) + problem.orders * problem.rho).min())
    d = _root(lambda d: later(d) + nearer(d) + float(costs[-1]) - kappa, 0.0, most)
    for cost in costs[-2:0:-1]:
        rest = kappa - float(cost) - nearer(d)
        d = _root(lambda z: later(z) - rest, -1.0, d)  # noqa: B023
    double = 2.0 if problem.offset == 0 else 1.0  # of 0 both pairs are of the one point
    return float(problem.cost[0]) + double * nearer(d) - kappa if np.isfinite(d) else np.nan


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is zero; `high` where rounding leaves it positive there, NaN where there is no root."""
    if not np.isfinite(high) or not falling(low) >= 0:
        return np.nan
    return high if falling(high) >= 0 else float(brentq(falling, low, high, xtol=_CLOSE))


def _weighted(problem: LatticeProblem, multipliers: Floats, d: float) -> tuple[float, float]:
    h, slope, _ = pair_terms(problem.orders, np.array([d]), problem.rho)
    return float(multipliers @ h[:, 0]), float(multipliers @ slope[:, 0])
