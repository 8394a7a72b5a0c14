"""The best noise on one lattice under pure DP and (epsilon, delta)-DP of a shift by one, in closed form.

Under pure DP no ratio of neighbours exceeds e^epsilon. Probabilities that fall by exactly that factor are the smallest
far out, so they minimise every cost that does not fall with the error. Under (epsilon, delta)-DP the excesses of
neighbours over the factor e^epsilon may add up to delta. Against errors beyond t it is best to spend all of delta on
the step from the last point inside to the first one outside. Spent further inside, it lowers the first point outside
by less and raises the others. Spent further outside, it lowers fewer points.

With `slack` 0 the masses are given by the closed form. With the slack of `stored_promise` the masses keep the guarantee
exactly as they are stored. Beyond the table the stored fall is epsilon itself.
"""

from math import exp, expm1, log

import numpy as np

from tcdp_sim.calibration.optimal.stored_promise import kept
from tcdp_sim.noise.lattice import LatticeNoise

_MOST_POINTS = 10**6
_NEVER = 690.0  # a fall after which probabilities are no floats
_ROUNDING = 1e-11  # relative, of sums of terms of one sign


def geometric(epsilon: float, offset: float, slack: float = 0.0) -> LatticeNoise:
    """Return the noise with P[Z = x] proportional to e^(-epsilon |x|): epsilon-DP of a shift by one."""
    return LatticeNoise(offset, (0.0, -kept(epsilon, 0.0, slack)[0]), epsilon)


def depth_of_geometric(epsilon: float, points: int) -> float:
    """Return a bound on minus the log of the masses of the given number of points, for either function here."""
    return epsilon * (points + 1) + log(points + 1 + 2 / epsilon)


def geometric_with_step(epsilon: float, delta: float, offset: float, last: int, slack: float = 0.0) -> LatticeNoise:
    """Return noise whose probabilities fall by e^epsilon, and by delta more from the point offset + last outwards.

    If the last point has no more than delta, the points beyond it get none (e^-690 of it). Raises ValueError for more
    than a million points.
    """
    fall, delta = kept(epsilon, delta, slack)
    inside, mass, beyond = _inside(epsilon, fall, offset, last)
    divisor = mass + beyond * inside
    left = (inside - delta * mass) / divisor  # rest of the last point's probability after the step
    falling = -fall * np.arange(last + 1)
    if left <= 0:
        return LatticeNoise(offset, tuple(falling.tolist()), _NEVER)
    log_mass = (log((1 + beyond * delta) / divisor) + falling).tolist()
    unprotected = slack if fall == 0 else 0.0  # equal masses leave no room for the rounding of the step
    log_mass.append(min(log(left) - fall + unprotected, log_mass[-1]))
    return LatticeNoise(offset, tuple(log_mass), epsilon)


def least_tail_with_step(epsilon: float, delta: float, offset: float, last: int) -> float:
    """Return a lower bound on P[|Z| > offset + last] for every noise on the lattice."""
    inside, mass, beyond = _inside(epsilon, epsilon, offset, last)
    left = inside * (1 - _ROUNDING) - delta * mass * (1 + _ROUNDING)
    return max(left, 0.0) * beyond / (mass + beyond * inside) * (1 - _ROUNDING)


def _inside(epsilon: float, fall: float, offset: float, last: int) -> tuple[float, float, float]:
    """Return the probabilities of the last point inside, of all points inside and of all points beyond.

    The first two are relative to the probability of the first point. The third one is relative to the rest that the
    step leaves of the last point's probability.
    """
    if last > _MOST_POINTS:
        raise ValueError(
            f"beyond = {last + offset:g} is not valid here: the noise would take more than {_MOST_POINTS:g} points; "
            "valid: a smaller error"
        )
    inside = np.exp(-fall * np.arange(last + 1))
    weights = np.where(np.arange(last + 1) + offset > 0, 2.0, 1.0)
    return float(inside[-1]), float(weights @ inside), 2 * exp(-fall) / -expm1(-epsilon)
