"""The least quantile of the largest error against the number of errors: a staircase, and where some of its steps end.

The quantile of the best noise is a multiple of 1/2, so it rises with the number of errors by steps. Where a step ends
takes one search for a tail; the quantile for a given number of errors takes several.
"""

from functools import lru_cache
from math import inf, log, log1p
from typing import NamedTuple

import numpy as np

from tcdp_sim.errors import real, whole
from tcdp_sim.numerics import Bounds
from tcdp_sim.optimal.best_noise import optimal_noise
from tcdp_sim.optimal.objectives import LargestErrorQuantile, Tail
from tcdp_sim.optimal.start import quantile_at_start
from tcdp_sim.privacy import TCDP

_LOW, _HIGH = 0.9, 0.93  # of the quantile of the noise from which the search starts: about the best noise's


class StepEnd(NamedTuple):
    """Up to so many `errors` there is noise whose quantile of the largest is at most `quantile`; of more there is none.

    quantile: in counts, a multiple of 1/2; errors: how many, a real number.
    """

    quantile: float
    errors: Bounds


def step_ends(
    guarantee: TCDP, fewest: float, most: float, steps: int, *, level: float = 0.95, coordinates: int = 1
) -> list[StepEnd]:
    """The ends of up to `steps` steps, evenly over quantiles from about that of `fewest` errors to that of `most`.

    Up to errors.lower errors some noise with the guarantee keeps the `level`-quantile of the largest at `quantile` or
    below; of more than errors.upper every noise has it above. 1 <= fewest < 1e100; fewest <= most <= 1e100; steps >= 1;
    level, coordinates as in `optimal_noise`, which raises ValueError where a search would take too long.
    """
    fewest = real("fewest", fewest, 1, 1e100, closed=True)
    most = real("most", most, fewest, 1e100, closed=True, finite=False)
    steps = whole("steps", steps, 1, 1000)
    rho = guarantee.rho / coordinates
    tails = [LargestErrorQuantile(count, level).tail for count in (fewest, most)]
    first, last = (by * quantile_at_start(rho, guarantee.omega, tail) for by, tail in zip((_LOW, _HIGH), tails))
    quantiles = np.unique(np.floor(2 * np.linspace(first, last, steps))) / 2
    return [StepEnd(quantile, _errors(guarantee, quantile, level, coordinates)) for quantile in quantiles.tolist()]


@lru_cache(maxsize=1024)
def _errors(guarantee: TCDP, quantile: float, level: float, coordinates: int) -> Bounds:
    """How many errors keep their largest one at or below `quantile` with probability `level`, under the best noise."""
    tail = optimal_noise(guarantee, Tail(quantile), coordinates)[1]
    return Bounds(*(log(level) / log1p(-chance) if chance > 0 else inf for chance in reversed(tail)))
