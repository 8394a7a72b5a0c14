"""Simulations of one number: how many draws, and which interval.

For a target, a pilot chooses the number of draws, and none of its draws is in the estimate. So the number is fixed
before the first draw of the estimate, and the interval keeps its level, however often the pilot has looked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError, scalar, whole
from tcdp_sim.core.estimates import Estimate
from tcdp_sim.exact.training import moments
from tcdp_sim.exact.training.moments import Moments, merged

MOST_DRAWS = 10**9
_PILOT, _GROWTH = 1000, 4  # draws of the first pilot, and its growth
_COARSE, _EFFECTIVE = 0.2, 50.0  # relative error and effective sample size with which a pilot ends
_MARGIN = 1.2  # times the draws that the pilot asks for
_TILE = 2**17  # numbers drawn at a time

Draw = Callable[[int, np.random.Generator], Floats]


@dataclass(frozen=True)
class Simulation:
    """A way to draw values >= 0 whose mean is the number.

    `draw(size, rng)` returns values of shape (size,). `bound` is their least upper bound that is known, or None.
    `width`: the random numbers of a draw. `method`: the draws in words.
    """

    draw: Draw
    bound: float | None
    width: int
    method: str

    def moments(self, trials: int, rng: np.random.Generator) -> Moments:
        """Return the moments of so many draws, a tile at a time."""
        rows = max(_TILE // self.width, 1)
        return merged([Moments.of(self.draw(min(rows, trials - start), rng)) for start in range(0, trials, rows)])

    def interval(self, found: Moments, level: float) -> Estimate:
        """Return the interval of draws whose number did not depend on them. Raises UserError if it is not to trust."""
        if self.bound is None:
            return moments.normal(found, level, self.method)
        return moments.bernstein(found, self.bound, level, self.method)

    def needed(self, found: Moments, level: float, target: float) -> float:
        """Return the number of draws whose interval has half the width target times the mean, inf if none is seen."""
        if self.bound is not None:
            return moments.draws_for(found, self.bound, level, target)
        z = NormalDist().inv_cdf(0.5 + 0.5 * level)
        return found.draws * (z * found.relative_error / target) ** 2


def estimated(
    simulation: Simulation, trials: int | None, target: float | None, most: int, level: float, rng: np.random.Generator
) -> Estimate:
    """Return the estimate of `trials` draws, or of the number that a target needs, at most `most` with the pilot's.

    `target`: half the width of the interval over the mean, at most 0.2. An interval that needs more than `most` draws
    is wider than its target.
    """
    level = scalar("level", level, 0, 1)
    if (trials is None) == (target is None):
        raise UserError(f"trials = {trials} and target = {target} are not valid; valid: one of them")
    if trials is not None:
        return simulation.interval(simulation.moments(whole("trials", trials, 2, MOST_DRAWS), rng), level)
    most = whole("most", most, 4 * _PILOT, MOST_DRAWS)
    goal = scalar("target", target, 0, moments.LARGEST_ERROR, finite=False)
    pilot = _pilot(simulation, most // 4, rng)
    left = most - pilot.draws
    draws = ceil(min(max(_MARGIN * simulation.needed(pilot, level, goal), _PILOT), left))
    return simulation.interval(simulation.moments(draws, rng), level)


def _pilot(simulation: Simulation, most: int, rng: np.random.Generator) -> Moments:
    """Return the moments of a pilot that grows until its mean is roughly known."""
    found = simulation.moments(_PILOT, rng)
    while found.draws < most and (found.relative_error > _COARSE or found.effective < _EFFECTIVE):
        more = min((_GROWTH - 1) * found.draws, most - found.draws)
        found = found + simulation.moments(more, rng)
    return found
