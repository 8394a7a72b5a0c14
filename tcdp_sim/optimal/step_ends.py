"""The least quantile of the largest error against the number of errors: a staircase, and where some of its steps end.

The quantile of the best noise is a multiple of 1/2, so it rises with the number of errors by steps. Where a step ends
takes one search for a tail; the quantile for a given number of errors takes several.
"""

from math import inf, log, log1p
from typing import NamedTuple

import numpy as np

from tcdp_sim.core.errors import real, whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise.objectives import LargestError
from tcdp_sim.optimal.best_noise import least_tail, quantile_of_a_noise
from tcdp_sim.privacy import Guarantee

_LOW, _HIGH = 0.9, 0.93  # of the quantile of the noise from which the search starts: about the best noise's
_ROUNDING = 1e-15  # relative: two logarithms and a quotient


class StepEnd(NamedTuple):
    """Up to so many `errors` there is noise whose quantile of the largest is at most `quantile`; of more there is none.

    quantile: in counts, a multiple of 1/2; errors: how many, a real number.
    """

    quantile: float
    errors: Bounds


def step_ends(
    guarantee: Guarantee, fewest: float, most: float, steps: int, *, level: float = 0.95, coordinates: int = 1
) -> list[StepEnd]:
    """The ends of up to `steps` steps, evenly over quantiles from about that of `fewest` errors to that of `most`.

    Up to errors.lower errors some noise with the guarantee keeps the `level`-quantile of the largest at `quantile` or
    below; of more than errors.upper every noise has it above (inf where the tail there is too small to be bounded from
    below). 1 <= fewest < 1e100; fewest <= most <= 1e100; 0 < level < 1; steps >= 1; guarantee, coordinates as in
    `optimal_noise`, which raises ValueError where a search would take too long, or a tail is no float.
    """
    fewest = real("fewest", fewest, 1, 1e100, closed=True)
    most = real("most", most, fewest, 1e100, closed=True, finite=False)
    steps, coordinates = whole("steps", steps, 1, 1000), whole("coordinates", coordinates, 1, 10**6)
    tails = [LargestError(count, level).tail for count in (fewest, most)]
    first, last = (by * quantile_of_a_noise(guarantee, tail, coordinates) for by, tail in zip((_LOW, _HIGH), tails))
    halves = np.unique(np.floor(2 * np.linspace(first, last, steps)).astype(int)).tolist()
    return [StepEnd(each / 2, _errors(least_tail(guarantee, each, coordinates).bounds, level)) for each in halves]


def _errors(tail: Bounds, level: float) -> Bounds:
    """How many errors, each beyond a quantile with chance `tail`, keep their largest one below it with that level."""
    lower, estimate, upper = (log(level) / log1p(-chance) if chance > 0 else inf for chance in reversed(tail))
    return Bounds(lower * (1 - _ROUNDING), estimate, upper * (1 + _ROUNDING))
