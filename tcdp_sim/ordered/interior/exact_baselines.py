"""Exact success probabilities of the zCDP baselines. Their simulations are compared with them and share no code."""

from math import exp, log

import numpy as np
from scipy.special import log_ndtr, logsumexp

from tcdp_sim.core.arrays import Ints, Weights
from tcdp_sim.ordered.interior.level_profile import LevelProfile


def search_success(profile: LevelProfile, scale: float) -> float:
    """Return the probability that the binary search ends at an interior point.

    At each node the search goes left if F(middle) + N(0, scale^2) >= n / 2. It fails iff it leaves the path to the
    smallest point on its left, or the path to the largest point on its right. On these paths F(middle) follows from the
    levels where the data part. Elements beyond k - 1 count as k - 1. The cost is O(depth + points).
    """
    gaps, last = profile.points.gaps, len(profile.points.gaps)
    lost = _missed(profile, 0, True, gaps, profile.weight, scale)
    if profile.points.to_end[last] > 0:  # the largest point is not k - 1
        lost += _missed(profile, last, False, gaps[::-1], profile.weight[::-1], scale)
    return max(1 - lost, 0.0)


def _missed(profile: LevelProfile, end: int, is_first: bool, gaps: Ints, weight: Weights, scale: float) -> float:
    """Return the probability that the search leaves the path to the first or last point on the side without data.

    If the path turns inwards, the outer child is empty, and the search leaves if noise exceeds half of the data.
    Elsewhere it stays if the noisy weight of the outer child, which holds the point, is at least half.
    """
    positions = np.arange(profile.depth - 1, -1, -1)
    bits = profile.points.bit(np.full(profile.depth, end), positions)
    turns = bits if is_first else ~bits
    meets = np.maximum.accumulate(np.concatenate([[0], gaps]))  # the level at which each point meets this one
    outer = np.cumsum(weight)[np.searchsorted(meets, positions, side="right") - 1]
    half = 0.5 * float(profile.total)
    log_stay = log_ndtr(np.where(turns, half, outer - half) / scale)
    reached = np.concatenate([[0.0], np.cumsum(log_stay)[:-1]])
    return float(np.exp(reached[turns] + log_ndtr(-half / scale)).sum())


def exponential_success(profile: LevelProfile, epsilon: float) -> float:
    """Return the probability that the exponential mechanism over the domain gives an interior point.

    The quality is the depth, which is 0 for the elements outside the data. The probability follows from their odds
    against the elements at and between the points. The profile must know its values.
    """
    values, total = profile.points.values, float(profile.total)
    if values is None:
        raise ValueError("the data are known by bit lengths alone; valid: a profile of values")
    *places, end = values
    outside = places[0] + end - places[-1]
    if not outside:
        return 1.0
    inside, below = [], 0.0
    for place, following, weight in zip(places, [*places[1:], None], map(float, profile.weight)):
        upto = below + weight
        inside.append(0.5 * epsilon * min(upto, total - below))
        if following is not None and following - place > 1:
            inside.append(log(following - place - 1) + 0.5 * epsilon * min(upto, total - upto))
        below = upto
    return 1 / (1 + exp(min(log(outside) - float(logsumexp(inside)), 700.0)))
