"""delta of a matrix mechanism from draws, with an interval that holds with confidence.

A draw is the value of stretched means, which lies between 0 and B. If one of b means is responsible for large losses,
they are larger by log b than the best stretch for B assumes, and most draws from it are 0. So half of the draws have a
larger stretch, which a pilot chooses. Each value is then at most 2 B.

The upper end is an empirical Bernstein bound for draws in [0, 2 B]. For the lower end, values above a cap are cut,
which only lowers their mean. The pilot, whose draws are not used again, decides the cap.
"""

from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.estimates import Estimate
from tcdp_sim.exact.correlated.draws import LossDraws
from tcdp_sim.exact.training.moments import Moments, bernstein, merged
from tcdp_sim.exact.training.stretched_means import DIRECTIONS, best_stretch, shift_factor, values

METHOD = "stretched means, empirical Bernstein"
_BATCH = 2**20  # numbers that are drawn at once
_FURTHER = (0.0, 1.0, 2.0, 3.0, 4.5, 6.5)  # nats that are added to epsilon for the second stretch
_LEAST_PILOT, _PILOTS = 50, 100  # draws of a pilot, and the trials for one of its draws
_ABOVE = 2.0  # the cap over the largest value of the pilot


class Proposal(NamedTuple):
    """The factors of the means from which draws are taken, and the largest value of a draw."""

    direction: str
    epsilon: float
    factors: Floats
    bound: float


def proposal(draws: LossDraws, epsilon: float, direction: str, further: float) -> Proposal:
    """Return the proposal with the best stretch for epsilon, and with that for a larger epsilon."""
    ways = [best_stretch(draws.kappa, epsilon + more) for more in ((0.0, further) if further else (0.0,))]
    factors = np.array([shift_factor(way.alpha, direction) for way in ways])
    return Proposal(direction, epsilon, factors, len(ways) * ways[0].bound)  # above 1, too, with two ways


def drawn(draws: LossDraws, by: Proposal, trials: int, rng: Any) -> Floats:
    """Return values in [0, bound] whose mean is delta in one direction."""
    record, log_proposal = draws.draw(by.factors, trials, rng)
    forward = by.direction == DIRECTIONS[0]
    loss, weight = (record, record - log_proposal) if forward else (-record, -log_proposal)
    return np.asarray(values(loss, weight, by.epsilon, by.bound))


def one_way(draws: LossDraws, epsilon: float, direction: str, trials: int, level: float, rng: Any) -> Estimate:
    """Return delta in one direction, from a pilot and `trials` draws."""
    by, cap = _piloted(draws, epsilon, direction, max(_LEAST_PILOT, trials // _PILOTS), rng)
    batch, full, capped = max(min(_BATCH // draws.size, trials), 1), [], []
    for done in range(0, trials, batch):
        found = drawn(draws, by, min(batch, trials - done), rng)
        full.append(Moments.of(found))
        capped.append(Moments.of(np.minimum(found, cap)))
    high, low = (bernstein(merged(parts), bound, level, METHOD) for parts, bound in ((full, by.bound), (capped, cap)))
    return Estimate(low.lower, high.estimate, min(high.upper, 1.0), level, METHOD, trials, high.effective)


def _piloted(draws: LossDraws, epsilon: float, direction: str, trials: int, rng: Any) -> tuple[Proposal, float]:
    """Return the proposal with the largest effective sample size in a pilot, and the cap for lower ends."""
    tried = [proposal(draws, epsilon, direction, further) for further in _FURTHER]
    found = [drawn(draws, by, trials, rng) for by in tried]
    best = max(range(len(tried)), key=lambda i: Moments.of(found[i]).effective)
    largest = float(found[best].max())
    return tried[best], min(_ABOVE * largest, tried[best].bound) if largest > 0 else tried[best].bound


def simulated(draws: LossDraws, epsilon: float, trials: int, level: float, rng: Any) -> Estimate:
    """Return delta, the larger one of both directions, from `trials` draws of each.

    Both intervals hold together with probability `level`, so that the larger ends enclose the larger delta.
    """
    each = 0.5 + 0.5 * level
    one, other = (one_way(draws, epsilon, direction, trials, each, rng) for direction in DIRECTIONS)
    worse = max(one, other, key=lambda found: found.estimate)
    low, high = max(one.lower, other.lower), max(one.upper, other.upper)
    return Estimate(low, worse.estimate, high, level, METHOD, trials, worse.effective)
