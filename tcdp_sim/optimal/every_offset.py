"""A lower bound on the mean square of every noise under a bound on Renyi divergences, on whatever lattices it lies.

A noise is a mixture of noises on the lattices u + integers, and the mean over them of H_a is bounded. So with any
multipliers the least Lagrangian over all lattices is a lower bound: no lattice needs to keep the guarantee alone. Let
L(u) be the least Lagrangian on u + integers. It is even in u, and has period 1. With p fixed on the integers i the mean
of (i + u)^2 - u^2 is linear in u, and the divergences do not depend on u; so L(u) - u^2 is a least value of linear
functions, hence concave, and on an interval of u it is at least its chord. Intervals are halved where the bound is
least, until it is near the least L found. The multipliers are those of the best noise on the integers, where L was
least in every case tried.
"""

from itertools import pairwise

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.optimal.certificate import Costs, Lagrangian, costs_of
from tcdp_sim.optimal.lattice_problem import LatticeProblem

_CLOSE = 1e-4  # of the cost: how near the bound comes to the least L found
_MOST_OFFSETS = 200
_SHARE = 1 / 8  # of u^2, about which L(u) rises from L(0) at most: as near as it is searched


def least_square_of_all(problem: LatticeProblem, multipliers: Floats, cost: float) -> float:
    """Return a number that no noise with the problem's guarantee has a smaller mean square than, on whatever lattices.

    problem: of the integers; multipliers: >= 0, of its orders; cost: that of the best noise found there. -inf if no
    bound is found.
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
    """A lower bound on L(u), given one on L(0): L(u) is about that at least, and at most about u^2 more."""
    points = np.arange(1.0, problem.size)
    costs = Costs(u * u, ((points + u) ** 2, (points - u) ** 2))
    low = at_zero + lagrangian.price
    if not lagrangian.holds(costs, low):
        return lagrangian.least(costs, at_zero)
    kappa = lagrangian.last_that_holds(costs, low, low + u * u, max(close / 4, _SHARE * u * u))
    return lagrangian.value(kappa)


def _least_between(a: float, b: float, values: dict[float, float]) -> float:
    """The least value on [a, b] of u^2 plus the chord of what remains at both ends."""
    low, high = values[a] - a * a, values[b] - b * b
    slope = (high - low) / (b - a)
    u = min(max(-slope / 2, a), b)
    return low + slope * (u - a) + u * u
