"""The success of the zCDP baselines by formulas: what their simulations are held against, and share no code with."""

from math import exp, log

import numpy as np
from scipy.special import log_ndtr, logsumexp

from tcdp_sim.core.arrays import Ints, Weights
from tcdp_sim.interior.level_profile import LevelProfile


def search_success(profile: LevelProfile, scale: float) -> float:
    """P[the binary search ends at an interior point]: at each node it goes left if F(middle) + N(0, scale^2) >= n / 2.

    It misses iff it leaves the path to the smallest point on the left of it, or that to the largest on its right; on
    those paths F(middle) is known from where the data part. Elements beyond k - 1 count as k - 1. In O(depth + points).
    """
    gaps, last = profile.points.gaps, len(profile.points.gaps)
    lost = _missed(profile, 0, True, gaps, profile.weight, scale)
    if profile.points.to_end[last] > 0:  # the largest point is not k - 1
        lost += _missed(profile, last, False, gaps[::-1], profile.weight[::-1], scale)
    return max(1 - lost, 0.0)


def _missed(profile: LevelProfile, end: int, is_first: bool, gaps: Ints, weight: Weights, scale: float) -> float:
    """P[the search leaves the path to the first or the last point on the side where no data are].

    Where the path turns inwards the outer child is empty, and the search leaves if noise exceeds half of the data;
    elsewhere it stays if the noisy weight of the outer child, which holds the point, is at least half.
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
    """The probability that the exponential mechanism over the domain, with depth as quality, gives an interior point.

    From the odds of the elements outside the data, which have depth 0, against those at and between the points. The
    profile must know its values.
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
