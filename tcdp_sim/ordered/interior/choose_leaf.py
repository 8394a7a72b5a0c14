"""The last step of a release: the choice of one of a node's few public candidates by their depth in the data.

The depth of a leaf j is min(F(j), total - F(j - 1)), where F(j) is the weight up to and including j. It is positive iff
j is an interior point. The candidates of a node [j1, j2] are j1, the last leaf m of its left child, and j2.
"""

import numpy as np

from tcdp_sim.core.arrays import Ints, Weights
from tcdp_sim.ordered.interior.level_profile import LevelProfile, Segments


def occupied_depths(profile: LevelProfile, segments: Segments, index: Ints, levels: Ints) -> Weights:
    """Return the depths of (j1, m, j2) of occupied nodes, shape (trials, 3), given the index of each trial's node."""
    points, before, weight, total = profile.points, profile.before, profile.weight, profile.total
    first, last = segments.first[index], segments.last[index]
    left, right = before[first], before[last + 1]
    at_end = points.to_end[last] <= levels  # k - 1 may cut short the last node of a level
    ends_at_last = points.to_end[last] == 0
    at_j1 = np.where(points.zeros[first] >= levels, weight[first], 0)
    at_j2 = np.where(np.where(at_end, ends_at_last, points.ones[last] >= levels), weight[last], 0)
    split = _split(profile, segments, index, levels, first, last)
    inner = np.maximum(split - 1, first)  # the last point of the left child, if it has one
    below = np.maximum(levels - 1, 0)
    cut_short = at_end & ~points.bit(np.full(len(levels), len(weight)), below)  # k - 1 lies in the left child
    is_m = np.where(cut_short, ends_at_last, points.ones[inner] >= below) & (split > first)
    at_m = np.where(is_m, weight[inner], 0)
    depths = np.empty((len(levels), 3), dtype=weight.dtype)
    depths[:, 0] = np.minimum(left + at_j1, total - left)
    depths[:, 1] = np.minimum(before[split], total - before[split] + at_m)
    depths[:, 2] = np.minimum(right, total - right + at_j2)
    leaf = levels == 0  # all three candidates of a leaf are equal
    depths[leaf, 1] = depths[leaf, 0]
    return depths


def _split(profile: LevelProfile, segments: Segments, index: Ints, levels: Ints, first: Ints, last: Ints) -> Ints:
    """Return the first point in the right child of each node; last + 1 where there is none."""
    split = np.where(levels == segments.parting, segments.split[index], -1)
    together = np.flatnonzero((split < 0) & (levels > 0))
    goes_right = profile.points.bit(first[together], levels[together] - 1)
    split[together] = np.where(goes_right, first[together], last[together] + 1)
    return np.where(split < 0, last + 1, split)


def empty_nodes(
    profile: LevelProfile, segments: Segments, levels: Ints, rng: np.random.Generator
) -> tuple[Ints, Weights]:
    """Return an empty node, chosen uniformly, for each of `levels`: (its position, the weight to its left).

    The position is the node's index at level max(level, points.cut). Below the cut, where an index has no room in 64
    bits, the leading 62 bits decide, so that probabilities are off by at most n / 2^61.
    """
    points, trials = profile.points, len(levels)
    position, left = np.empty(trials, dtype=np.int64), np.empty(trials, dtype=profile.weight.dtype)
    shifts = np.clip(levels - points.cut, 0, None)
    for shift in np.unique(shifts):
        here = np.flatnonzero(shifts == shift)
        heads = points.head[segments.first] >> shift
        whole = levels[here[0]] >= points.cut
        taken = np.arange(len(heads)) if whole else 0
        draw = rng.integers(0, (points.head[-1] >> shift) + 1 - (len(heads) if whole else 0), len(here))
        passed = np.searchsorted(heads - taken, draw, side="right")
        position[here] = draw + (passed if whole else 0)
        left[here] = profile.before[np.append(segments.first, len(profile.weight))[passed]]
    return position, left


def choose(depths: Weights, epsilon: float, rng: np.random.Generator) -> Ints:
    """Return the column that the exponential mechanism chooses in each row of depths of the data's sensitivity."""
    weight = np.exp(0.5 * epsilon * (depths - depths.max(axis=1, keepdims=True)))
    edges = np.cumsum(weight, axis=1)
    return (edges < edges[:, -1:] * rng.random((len(depths), 1))).sum(axis=1)
