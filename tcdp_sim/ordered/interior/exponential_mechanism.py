"""The exponential mechanism over the whole domain, which is the end of the recursion and a baseline."""

from itertools import pairwise
from math import log

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats, Ints, Weights
from tcdp_sim.ordered.interior.level_profile import LevelProfile


def stretches(profile: LevelProfile) -> tuple[Floats, Floats]:
    """Return the log-size and the depth of the 2 m + 1 stretches that m points make of the domain.

    Stretches are, left to right, the elements before, at, between or after the points. The depth
    min(F(j), total - F(j - 1)) is constant in each. The profile must know its values.
    """
    values, before, total = profile.points.known_values, profile.before, profile.total
    m = len(profile.weight)
    depth = np.zeros(2 * m + 1)
    depth[1::2] = np.minimum(before[1:], total - before[:-1])
    depth[2::2] = np.minimum(before[1:], total - before[1:])
    ends = [-1, *values[:m], values[-1] + 1]
    between = [right - left - 1 for left, right in pairwise(ends)]
    size = np.zeros(2 * m + 1)
    size[::2] = [log(count) if count else -np.inf for count in between]
    return size, depth


def pair_of_laws(profile: LevelProfile, epsilon: float) -> tuple[Floats, Floats]:
    """Return the log-probabilities of the stretches that are not empty, on the data and on a neighbour.

    On the neighbour a record has gone from the least value to the greatest one, which lowers every rank in between.
    """
    size, depth = stretches(profile)
    before = np.asarray(profile.before, dtype=np.float64)
    before[1:-1] -= 1
    other = np.zeros(len(depth))
    other[1::2] = np.minimum(before[1:], before[-1] - before[:-1])
    other[2::2] = np.minimum(before[1:], before[-1] - before[1:])
    weights = (size[size > -np.inf] + 0.5 * epsilon * each[size > -np.inf] for each in (depth, other))
    one, two = (weight - logsumexp(weight) for weight in weights)
    return one, two


def sample_depths(profile: LevelProfile, epsilon: float, trials: int, *, rng: np.random.Generator) -> Weights:
    """Return the depths of the outputs of independent trials, on a domain of any size."""
    _, depth, chosen = _choose(profile, epsilon, trials, rng)
    return depth[chosen]


def sample_elements(profile: LevelProfile, epsilon: float, trials: int, *, rng: np.random.Generator) -> Ints:
    """Return the outputs of independent trials as int64, for domains of at most 2^62 elements."""
    *_, chosen = _choose(profile, epsilon, trials, rng)
    values, m = profile.points.known_values, len(profile.weight)
    first, last = np.empty(2 * m + 1, dtype=np.int64), np.empty(2 * m + 1, dtype=np.int64)
    first[1::2] = last[1::2] = values[:m]
    first[::2] = [0, *(x + 1 for x in values[:m])]
    last[::2] = [*(x - 1 for x in values[:m]), values[-1]]
    return rng.integers(first[chosen], last[chosen] + 1)


def _choose(
    profile: LevelProfile, epsilon: float, trials: int, rng: np.random.Generator
) -> tuple[Weights, Weights, Ints]:
    size, depth = stretches(profile)
    weight = size + 0.5 * epsilon * depth
    edges = np.cumsum(np.exp(weight - weight.max()))
    chosen = np.searchsorted(edges, edges[-1] * rng.random(trials), side="right")
    return size, depth, np.minimum(chosen, len(edges) - 1)
