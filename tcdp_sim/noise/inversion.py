"""Quantiles by bisection, for noises whose tail is known and has no known inverse."""

from collections.abc import Callable

import numpy as np

from tcdp_sim.core.arrays import Floats

_HALVINGS = 110  # enough for the last digit in an interval of length 1e6


def rising_root(f: Callable[[Floats], Floats], goal: Floats, low: float, high: float) -> Floats:
    """Return the v in [low, high] with f(v) = goal, for a vectorised non-decreasing f.

    The answer is the nearer end of the interval where there is no such v.
    """
    left, right = np.full(goal.shape, low), np.full(goal.shape, high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (left + right)
        below = f(middle) < goal
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    return 0.5 * (left + right)
