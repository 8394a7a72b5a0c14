"""The best noise on one lattice under (epsilon, delta)-DP of a shift by one, for costs that rise outwards.

Let p_0, p_1, ... be the probabilities of x_i = offset + i, with the same for mirror images. w_i is the number of points
that share p_i, and c_i their cost. Let s_i >= 0 be the excess of p_(i-1) over e^epsilon p_i. All s_i together may be
delta. This linear program has the dual

    maximise mu - lambda delta,  y_(i+1) >= e^epsilon y_i + w_i (mu - c_i),  0 <= y_i <= lambda,  y_0 = 0.

In the noise p_i falls by e^epsilon a point up to p_(n-1). The last point n has the rest, and there is none beyond it,
so delta is spent on the last two steps. With W the weight of the points before n and g = e^(-epsilon (n-1)) we have

    p_0 = (e^epsilon - 1 + 2 delta) / D,  p_n = (g - delta W) / D,  D = W (e^epsilon - 1) + 2 g,

where n is the last one with p_n >= 0. It is the best for all such costs. Take y_i from equality up to y_n, and
lambda = y_n = y_(n+1) from there on. Then mu follows, and both programs have the same value. For pure DP see
`geometric`.
"""

from math import expm1, log

import numpy as np

from tcdp_sim.calibration.optimal.stored_promise import kept
from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.noise.objectives import MeanCost

_NEVER = 690.0  # a fall after which probabilities are no floats
_MOST_POINTS = 10**6
_ROUNDING = 1e-11  # relative, of sums of terms of one sign


def truncated_geometric(epsilon: float, delta: float, offset: float, slack: float = 0.0) -> LatticeNoise:
    """Return the (epsilon, delta)-DP noise with the least mean of every cost that rises with the size of errors.

    With the slack of `stored_promise` the masses keep the guarantee exactly as they are stored.
    """
    epsilon, delta = kept(epsilon, delta, slack)
    weights, mass = _before_last(epsilon, delta, offset)
    divisor = float(weights @ mass) * expm1(epsilon) + 2 * mass[-1]
    last = (mass[-1] - delta * float(weights @ mass)) / divisor
    log_mass = (log((expm1(epsilon) + 2 * delta) / divisor) - epsilon * np.arange(len(mass))).tolist()
    log_mass.append(log(last) if last > 0 else log_mass[-1] - _NEVER)
    return LatticeNoise(offset, tuple(log_mass), _NEVER)


def depth_of_truncated(epsilon: float, delta: float) -> float:
    """Return a bound on minus the log of the masses of `truncated_geometric`, except for its last one."""
    points = number_of_points(epsilon, delta)
    return epsilon * points + log(2 * points + 2)


def least_cost(epsilon: float, delta: float, offset: float, objective: MeanCost) -> float:
    """Return a lower bound on the cost of every noise on the lattice, from a solution of the dual program."""
    weights, mass = _before_last(epsilon, delta, offset)
    n = len(mass)
    costs = objective.cost(np.arange(n + 1.0) + offset)
    grown = weights * mass[::-1]  # growth of a term of y_(i+1) until y_n
    a, b = float(grown.sum()), float(grown @ costs[:-1])
    mu = (2 * float(costs[-1]) + expm1(epsilon) * b) / (2 + expm1(epsilon) * a) * (1 - _ROUNDING)
    dual = mu - delta * (a * mu - b) - _ROUNDING * delta * (a * mu + b)
    return max(dual, float(costs[0]))


def _before_last(epsilon: float, delta: float, offset: float) -> tuple[Floats, Floats]:
    """Return the number of points that share each probability before the last one, and these relative to the first."""
    first = 1.0 if offset == 0 else 2.0
    if delta * first >= 1:  # all mass on the first points
        return np.array([first]), np.ones(1)
    i = np.arange(number_of_points(epsilon, delta))
    weights, mass = np.where(i + offset > 0, 2.0, 1.0), np.exp(-epsilon * i)
    n = int((mass >= delta * np.cumsum(weights * mass)).sum())
    return weights[:n], mass[:n]


def number_of_points(epsilon: float, delta: float) -> int:
    """Return a bound on the number of points on one side of the noise. Raises ValueError for more than a million."""
    most = 1 / (2 * delta) if epsilon == 0 else min(1 / (2 * delta), log(1 / delta) / epsilon)
    if most > _MOST_POINTS:
        raise ValueError(
            f"epsilon = {epsilon:g} with delta = {delta:g} is not valid here: the noise would take {most:.3g} points, "
            f"more than {_MOST_POINTS:g}; valid: a larger epsilon or delta"
        )
    return int(most) + 2
