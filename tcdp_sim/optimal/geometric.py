"""The best noise on one lattice under pure DP and (epsilon, delta)-DP of a shift by one: in closed form.

Under pure DP no ratio of neighbours exceeds e^epsilon: probabilities that fall by just that are the smallest far out,
so that every cost that does not fall with the error is least. Under (epsilon, delta) the sum of what neighbours exceed
each other by beyond the factor e^epsilon may be delta: against errors beyond t it is best spent at once, on the step
from the last point inside to the first one outside. Spent further inside it lowers the first point outside by less, and
raises the others; spent further outside it lowers fewer points.
"""

from math import exp, expm1, log

import numpy as np

from tcdp_sim.noise.lattice import LatticeNoise

_MOST_POINTS = 10**6
_NEVER = 690.0  # a fall after which probabilities are no floats


def geometric(epsilon: float, offset: float) -> LatticeNoise:
    """P[Z = x] proportional to e^(-epsilon |x|) on offset + integers: epsilon-DP of a shift by one."""
    return LatticeNoise(offset, (0.0, -epsilon), epsilon)


def geometric_with_step(epsilon: float, delta: float, offset: float, last: int) -> LatticeNoise:
    """Probabilities that fall by e^epsilon, but by delta more from the point offset + last to the next one out.

    Where the last point has no more than delta, the ones beyond it get none (e^-690 of it).
    """
    if last > _MOST_POINTS:
        raise ValueError(
            f"beyond = {last + offset:g} is not valid here: the noise would take more than {_MOST_POINTS:g} points; "
            "valid: a smaller error"
        )
    inside = np.exp(-epsilon * np.arange(last + 1))
    weights = np.where(np.arange(last + 1) + offset > 0, 2.0, 1.0)
    beyond = 2 * exp(-epsilon) / -expm1(-epsilon)  # mass beyond the last point, over what it keeps after the step
    first = (1 + beyond * delta) / float(weights @ inside + beyond * inside[-1])
    kept = first * inside[-1] - delta
    if kept <= 0:
        return LatticeNoise(offset, tuple(np.log(inside).tolist()), _NEVER)
    log_mass = [*np.log(first * inside).tolist(), log(kept) - epsilon]
    return LatticeNoise(offset, tuple(log_mass), epsilon)
