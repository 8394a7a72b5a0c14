"""A zCDP baseline: binary search by noisy comparisons with the middle rank, on domains of any size.

A trial is followed down the tree from one place where the data part to the next. In between, all comparisons see one of
two ranks, and `first_above` draws the first comparison that goes wrong. Once the search is among elements without data,
its further course does not matter, because all of them have the same depth. So a trial costs a few numbers, however
large the domain is.
"""

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints, Weights
from tcdp_sim.noise import Gaussian, Noise
from tcdp_sim.ordered.interior.level_profile import LevelProfile
from tcdp_sim.samplers.extremes import first_above

LEFT, STAYS, RIGHT = -1, 0, 1


def comparison_scale(rho: float, depth: float) -> float:
    """Return the standard deviation of the noise with which `depth` counts of sensitivity one are rho-zCDP together."""
    return float(np.sqrt(depth / (2 * rho)))


def sample_depths(profile: LevelProfile, scale: float, trials: int, *, rng: np.random.Generator) -> Weights:
    """Return the depths min(F(j), n - F(j - 1)) of the outputs j of independent trials, in records.

    A depth is positive iff j is an interior point. At each node the search goes left if
    F(middle) + N(0, scale^2) >= n / 2. Elements beyond k - 1 count as k - 1.
    """
    noise, before, weight = Gaussian(scale), profile.before, profile.weight
    out = np.empty(trials, dtype=weight.dtype)
    todo = [(0, len(weight) - 1, profile.depth, np.arange(trials))]  # first and last point, level, trials
    while todo:
        first, last, level, here = todo.pop()
        gaps = profile.points.gaps[first:last]
        parting = int(gaps.max()) if len(gaps) else 0
        turn = _first_turn(profile, first, last, np.arange(level - 1, parting - 1, -1), noise, len(here), rng)
        out[here[turn == LEFT]] = _depth_between(profile, first)
        out[here[turn == RIGHT]] = _depth_between(profile, last + 1)
        here = here[turn == STAYS]
        if first == last:
            out[here] = min(before[last + 1], profile.total - before[first])
        elif len(here):
            split = first + 1 + int(gaps.argmax())
            goes_left = before[split] + noise.sample(size=len(here), rng=rng) >= profile.total / 2
            todo.append((split, last, parting - 1, here[~goes_left]))
            todo.append((first, split - 1, parting - 1, here[goes_left]))
    return out


def _first_turn(
    profile: LevelProfile, first: int, last: int, positions: Ints, noise: Noise, trials: int, rng: np.random.Generator
) -> Ints:
    """Return the side on which each trial leaves points that part below these bits: LEFT, RIGHT, or STAYS for neither.

    A bit of 1 means that the points lie in the right child: the search should find less than half up to the middle. A
    bit of 0 means that they lie in the left child: it should find at least half.
    """
    bits = profile.points.bit(np.full(len(positions), first), positions)
    half = profile.total / 2
    left = _place(np.flatnonzero(bits), first_above(noise, half - profile.before[first], trials, rng=rng))
    right = _place(np.flatnonzero(~bits), first_above(noise, profile.before[last + 1] - half, trials, rng=rng))
    return np.where(left < right, LEFT, np.where(right < left, RIGHT, STAYS))


def _place(places: Ints, index: Floats) -> Floats:
    """Return places[index], or inf for an index beyond their end."""
    return np.append(places, np.inf)[np.minimum(index, len(places)).astype(np.int64)]


def _depth_between(profile: LevelProfile, right: int) -> float:
    """Return the depth of the elements between the points right - 1 and right of the data."""
    if right == len(profile.weight) and profile.points.to_end[right - 1] == 0:
        return profile.weight[-1]  # they lie beyond k - 1, which is the last point
    return min(profile.before[right], profile.total - profile.before[right])
