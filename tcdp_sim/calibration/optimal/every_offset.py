"""A lower bound on the mean square of every noise under a bound on Renyi divergences, on any lattices.

A noise is a mixture of noises on the lattices u + integers, and the mean over them of H_a is bounded. So with any
multipliers the least Lagrangian over all lattices is a lower bound. No lattice needs to keep the guarantee alone. Let
L(u) be the least Lagrangian on u + integers. It is even in u and has period 1. With p fixed on the integers i the mean
of (i + u)^2 - u^2 is linear in u, and the divergences do not depend on u. So L(u) - u^2 is a least value of linear
functions. Hence it is concave, and on an interval of u it is at least its chord. Intervals are halved where the bound
is least, until it is near the least L found. The multipliers are those of the best noise on the integers, where L was
least in every case tried.
"""

from itertools import pairwise

import numpy as np

from tcdp_sim.calibration.optimal.certificate import Costs, Lagrangian, costs_of
from tcdp_sim.calibration.optimal.lattice_problem import LatticeProblem
from tcdp_sim.core.arrays import Floats

_CLOSE = 1e-4  # distance of the bound from the least L found, relative to the cost
_MOST_OFFSETS = 200
_SHARE = 1 / 8  # accuracy of the search relative to u^2, by about which L(u) exceeds L(0) at most


def least_square_of_all(problem: LatticeProblem, multipliers: Floats, cost: float) -> float:
    """Return a lower bound on the mean square of every noise with the problem's guarantee, on any lattices.

    The problem is the one on the integers. The multipliers are >= 0, one for each of its orders. `cost` is the cost of
    the best noise found there. The result is -inf if no bound is found.
    """
    lagrangian = Lagrangian(problem, multipliers)
    least = lagrangian.least(costs_of(problem), cost)
    if least == -np.inf:
        return least
    close = _CLOSE * cost
    values = {0.0: least, 0.5: _at(lagrangian, problem, 0.5, least, close)}
    for _ in range(_MOST_OFFSETS):
        bound, middle = min((_least_between(a, b, values), (a + b) / 2) for a, b in pairwise(sorted(values)))
        if bound >= min(values.values()) - close:
            break
        values[middle] = _at(lagrangian, problem, middle, least, close)
    return bound


def _at(lagrangian: Lagrangian, problem: LatticeProblem, u: float, at_zero: float, close: float) -> float:
    """Return a lower bound on L(u), given one on L(0). L(u) lies at least about there and at most about u^2 above."""
    points = np.arange(1.0, problem.size)
    costs = Costs(u * u, ((points + u) ** 2, (points - u) ** 2))
    low = at_zero + lagrangian.price
    if not lagrangian.holds(costs, low):
        return lagrangian.least(costs, at_zero)
    kappa = lagrangian.last_that_holds(costs, low, low + u * u, max(close / 4, _SHARE * u * u))
    return lagrangian.value(kappa)


def _least_between(a: float, b: float, values: dict[float, float]) -> float:
    """Return the least value on [a, b] of u^2 plus the chord of L(u) - u^2."""
    low, high = values[a] - a * a, values[b] - b * b
    slope = (high - low) / (b - a)
    u = min(max(-slope / 2, a), b)
    return low + slope * (u - a) + u * u
