"""The profile of several bounded-range releases whose worst pairs are chosen adaptively, as one dominating pair.

A release of range epsilon has the losses t and t - epsilon with probabilities p_t = (e^epsilon - e^t) / (e^epsilon - 1)
and 1 - p_t at the worst; the adversary chooses t after the earlier answers. With a = e^e the profile of the best
adversary is B_0(a) = (1 - a)+ and

    B_(n+1)(a) = max over t of p_t B_n(a e^-t) + (1 - p_t) B_n(a e^(epsilon - t)).

B_n is convex in a. The values are kept on a grid of log a, of which epsilon is a multiple. Chords between them lie
above B_n. On a cell of the grid the maximised expression is c0 + c1 e^t + c2 e^-t, whose maximum is known. So the
values are upper bounds, and they are the profile of a pair with losses on the grid.
"""

from functools import lru_cache

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_STEPS = 40  # of the grid in epsilon
_DEEP = 18.0  # standard deviations, at least, to each end of the grid
_ROUNDING = 1e-15


@lru_cache(maxsize=32)
def block_loss(epsilon: float, releases: int) -> AtomicLoss:
    """Return the law of the loss of a block of releases of this range."""
    step = epsilon / _STEPS
    reach = _STEPS * min(releases, int(np.ceil(_DEEP * np.sqrt(releases) / 2)) + releases * epsilon / 4 + 2)
    place: Floats = step * np.arange(-np.ceil(reach), np.ceil(reach) + 1)
    a = np.exp(place)
    height = np.maximum(-np.expm1(place), 0.0)
    for _ in range(releases):
        height = _next(height, a, place, epsilon)
    return _law(height, a, place, step, releases)


def _next(height: Floats, a: Floats, place: Floats, epsilon: float) -> Floats:
    """Return the profile with one more release."""
    step = epsilon / _STEPS
    n = len(a)
    slope = np.diff(height) / np.diff(a)
    level = height[:-1] - slope * a[:-1]
    # beyond the grid the profile is at most 1 - a plus its excess at the lowest point, and its value at the highest
    excess = height[0] - (1 - a[0])
    slope = np.concatenate([np.full(_STEPS, -1.0), slope, np.zeros(_STEPS)])
    level = np.concatenate([np.full(_STEPS, 1.0 + excess), level, np.full(_STEPS, height[-1])])
    best = height
    top, scale = np.exp(epsilon), 1 / np.expm1(epsilon)
    index = np.arange(n)
    for j in range(_STEPS):  # t in [j, j + 1] steps
        down = index + _STEPS - 1 - j  # cell of a e^-t, counted with the cells added below
        up = index + 2 * _STEPS - 1 - j  # cell of a e^(epsilon - t)
        c0 = top * slope[up] * a - slope[down] * a + top * level[down] - level[up]
        c1, c2 = level[up] - level[down], top * a * (slope[down] - slope[up])
        for t in (j * step, (j + 1) * step):
            best = np.maximum(best, scale * (c0 + c1 * np.exp(t) + c2 * np.exp(-t)))
        with np.errstate(all="ignore"):
            inside = (c1 < 0) & (c2 < 0) & (np.abs(np.log(c2 / c1) / 2 - (j + 0.5) * step) < 0.5 * step)
            best = np.where(inside, np.maximum(best, scale * (c0 - 2 * np.sqrt(np.abs(c1 * c2)))), best)
    return np.minimum(best * (1 + _ROUNDING), 1.0)


def _law(height: Floats, a: Floats, place: Floats, step: float, releases: int) -> AtomicLoss:
    """Return the pair whose profile goes through the heights, with a margin for rounding."""
    slope = np.diff(height) / np.diff(a)
    slope = np.concatenate([[-1.0], slope, [0.0]])
    mass = np.maximum(np.diff(slope), 0.0) * a
    lost = height[-1] + TINY
    profile = lost + _profile(place, mass)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(height > 1e-290, height / profile, 1.0)
    mass = mass * max(float(ratio.max()), 1.0)
    kept = mass > 0
    return AtomicLoss(place[kept], mass[kept], (0.0, lost), step, 1e-13 * releases, 4e-15 * (1 + place[-1]))


def _profile(place: Floats, mass: Floats) -> Floats:
    """Return sum of mass (1 - e^(place - loss)) over losses above each place."""
    q = mass * np.exp(-place)
    above_p, above_q = (np.cumsum(part[::-1])[::-1] - part for part in (mass, q))
    return np.maximum(above_p - np.exp(place) * above_q, 0.0)
