"""The least quantile of the largest error as a staircase over the number of errors, with the ends of some of its steps.

The quantile of the best noise is a multiple of 1/2, so it rises with the number of errors by steps. The end of a step
needs one search for a tail. The quantile for a given number of errors needs several.
"""

from math import inf, log, log1p
from typing import NamedTuple

import numpy as np

from tcdp_sim.calibration.optimal.best_noise import least_tail, quantile_of_a_noise
from tcdp_sim.core.errors import real, whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise.objectives import LargestError
from tcdp_sim.privacy import Guarantee

_LOW, _HIGH = 0.9, 0.93  # the best noise's quantile relative to the starting noise's, about
_ROUNDING = 1e-15  # relative: two logarithms and a quotient


class StepEnd(NamedTuple):
    """The largest number of errors (real) for which some noise keeps the quantile of the largest at `quantile`.

    `quantile` is in counts, a multiple of 1/2. For more than errors.upper errors no noise keeps the quantile.
    """

    quantile: float
    errors: Bounds


def step_ends(
    guarantee: Guarantee, fewest: float, most: float, steps: int, *, level: float = 0.95, coordinates: int = 1
) -> list[StepEnd]:
    """Return the ends of up to `steps` steps of the least quantile of the largest error, in ascending order.

    The steps are evenly spaced over quantiles, from about the one of `fewest` errors to the one of `most`, with 1 <=
    fewest <= most <= 1e100 and at most 1000 steps. For up to errors.lower errors some noise with the guarantee keeps
    the `level`-quantile of the largest at `quantile` or below. For more than errors.upper errors every noise has it
    above; errors.upper is inf if the tail there is too small for a lower bound. `coordinates` is the number of counts
    that change by exactly one each, from 1 to 10^6. Raise ValueError if a search would take too long, or a tail is no
    float.
    """
    fewest = real("fewest", fewest, 1, 1e100, closed=True)
    most = real("most", most, fewest, 1e100, closed=True, finite=False)
    steps, coordinates = whole("steps", steps, 1, 1000), whole("coordinates", coordinates, 1, 10**6)
    tails = [LargestError(count, level).tail for count in (fewest, most)]
    first, last = (by * quantile_of_a_noise(guarantee, tail, coordinates) for by, tail in zip((_LOW, _HIGH), tails))
    halves = np.unique(np.floor(2 * np.linspace(first, last, steps)).astype(int)).tolist()
    return [StepEnd(each / 2, _errors(least_tail(guarantee, each, coordinates).bounds, level)) for each in halves]


def _errors(tail: Bounds, level: float) -> Bounds:
    """Return the number of errors whose largest is below a quantile at that level, if each exceeds it with `tail`."""
    lower, estimate, upper = (log(level) / log1p(-chance) if chance > 0 else inf for chance in reversed(tail))
    return Bounds(lower * (1 - _ROUNDING), estimate, upper * (1 + _ROUNDING))
