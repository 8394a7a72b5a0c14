"""The best noise on one lattice under pure DP and (epsilon, delta)-DP of a shift by one: in closed form.

Under pure DP no ratio of neighbours exceeds e^epsilon: probabilities that fall by just that are the smallest far out,
so that every cost that does not fall with the error is least. Under (epsilon, delta) the sum of what neighbours exceed
each other by beyond the factor e^epsilon may be delta: against errors beyond t it is best spent at once, on the step
from the last point inside to the first one outside. Spent further inside it lowers the first point outside by less, and
raises the others; spent further outside it lowers fewer points.

With `slack` 0 the masses are those of the closed form, which tell the least cost. With the slack of `stored_promise`
the masses keep the promise exactly, as they are stored. Beyond the table the fall is stored as it is: epsilon.
"""

from math import exp, expm1, log

import numpy as np

from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.optimal.stored_promise import kept

_MOST_POINTS = 10**6
_NEVER = 690.0  # a fall after which probabilities are no floats


def geometric(epsilon: float, offset: float, slack: float = 0.0) -> LatticeNoise:
    """Return the noise with P[Z = x] proportional to e^(-epsilon |x|): epsilon-DP of a shift by one."""
    return LatticeNoise(offset, (0.0, -kept(epsilon, 0.0, slack)[0]), epsilon)


def depth_of_geometric(epsilon: float, points: int) -> float:
    """Return a bound on minus the log of the masses of so many points, of either function here."""
    return epsilon * (points + 1) + log(points + 1 + 2 / epsilon)


def geometric_with_step(epsilon: float, delta: float, offset: float, last: int, slack: float = 0.0) -> LatticeNoise:
    """Return noise whose probabilities fall by e^epsilon, but by delta more from the point offset + last outwards.

    Where the last point has no more than delta, the ones beyond it get none (e^-690 of it). Raises ValueError for more
    than a million points.
    """
    if last > _MOST_POINTS:
        raise ValueError(
            f"beyond = {last + offset:g} is not valid here: the noise would take more than {_MOST_POINTS:g} points; "
            "valid: a smaller error"
        )
    fall, delta = kept(epsilon, delta, slack)
    inside = np.exp(-fall * np.arange(last + 1))
    weights = np.where(np.arange(last + 1) + offset > 0, 2.0, 1.0)
    beyond = 2 * exp(-fall) / -expm1(-epsilon)  # mass beyond the last point, over what it keeps after the step
    first = (1 + beyond * delta) / float(weights @ inside + beyond * inside[-1])
    left = first * inside[-1] - delta
    if left <= 0:
        return LatticeNoise(offset, tuple((-fall * np.arange(last + 1)).tolist()), _NEVER)
    log_mass = [*(log(first) - fall * np.arange(last + 1)).tolist(), log(left) - fall]
    return LatticeNoise(offset, tuple(log_mass), epsilon)
