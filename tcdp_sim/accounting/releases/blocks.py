"""The profile of several bounded-range releases whose worst pairs are chosen adaptively, as one dominating pair.

A release of range epsilon has the losses t and t - epsilon with probabilities p_t = (e^epsilon - e^t) / (e^epsilon - 1)
and 1 - p_t at the worst; the adversary chooses t after the earlier answers. With a = e^e the profile of the best
adversary is B_0(a) = (1 - a)+ and

    B_(n+1)(a) = max over t of f(t), f(t) = p_t B_n(a e^-t) + (1 - p_t) B_n(a e^(epsilon - t)).

B_n is convex in a, and the class is closed under exchange of the pair, so B_n(a) = 1 - a + a B_n(1/a). The values are
kept at e = 0, step, 2 step, ..., where epsilon is a multiple of the step. Chords between them lie above B_n. On a cell
of the grid f becomes c0 + c1 e^t + c2 e^-t with c1, c2 <= 0, which lies below its chord plus a parabola of its largest
curvature. All terms are positive, so small values are as exact as large ones. The values are upper bounds, and they are
the profile of a pair with losses on the grid.
"""

from functools import lru_cache

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_STEPS = 40  # of the grid in epsilon
_DEEP = 18.0  # standard deviations, at least, to the end of the grid
_ROUNDING = 2e-15


@lru_cache(maxsize=32)
def block_loss(epsilon: float, releases: int) -> AtomicLoss:
    """Return the law of the loss of a block of releases of this range."""
    step = epsilon / _STEPS
    reach = _STEPS * min(releases, int(np.ceil(_DEEP * np.sqrt(releases) / 2)) + releases * epsilon / 4 + 2)
    place: Floats = step * np.arange(np.ceil(reach) + 1)
    height = np.zeros(len(place))
    for _ in range(releases):
        height = _next(height, place, epsilon)
    return _law(height, place, step, releases)


def _next(height: Floats, place: Floats, epsilon: float) -> Floats:
    """Return the profile with one more release, at the same places."""
    step, n = epsilon / _STEPS, len(place)
    t = step * np.arange(_STEPS + 1)
    # the places from -epsilon on; beyond the last one the profile is at most its value there
    wide = np.concatenate([-t[:0:-1], place, place[-1] + t[1:]])
    mirrored = -np.expm1(-t[:0:-1]) + np.exp(-t[:0:-1]) * height[_STEPS:0:-1]
    known = np.concatenate([mirrored, height, np.full(_STEPS, height[-1])])
    a = np.exp(wide)
    slope = np.diff(known) / np.diff(a)
    level = known[:-1] - slope * a[:-1]
    below = np.expm1(t) / np.expm1(epsilon)  # 1 - p_t
    start = np.arange(n) + _STEPS  # of the place itself
    ends = [(1 - share) * known[start - j] + share * known[start + _STEPS - j] for j, share in enumerate(below)]
    best = np.maximum.reduce(ends)
    for j in range(_STEPS):  # t from j to j + 1 steps
        down, up = start - j - 1, start + _STEPS - j - 1  # the cells of a e^-t and of a e^(epsilon - t)
        bend = (level[down] - level[up]) * np.exp(t[j + 1])
        bend += np.exp(epsilon - t[j]) * a[start] * (slope[up] - slope[down])
        bend = np.maximum(bend, 0.0) * (0.5 * step * step / np.expm1(epsilon))
        rise = np.abs(ends[j + 1] - ends[j])
        with np.errstate(divide="ignore", invalid="ignore"):
            bulge = np.where(rise < bend, 0.25 * (bend + rise * rise / bend), 0.5 * rise)
        best = np.maximum(best, 0.5 * (ends[j] + ends[j + 1]) + bulge)
    return np.minimum(best * (1 + _ROUNDING), 1.0)


def _law(height: Floats, place: Floats, step: float, releases: int) -> AtomicLoss:
    """Return the pair whose profile goes through the heights, with a margin for rounding. Its losses are symmetric."""
    a = np.exp(place)
    slope = np.append(np.diff(height) / np.diff(a), 0.0)
    mass = np.maximum(np.diff(slope), 0.0) * a[1:]
    lost = height[-1] + TINY
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(height > 1e-290, height / (lost + _profile(place, mass)), 1.0)
    mass = mass * max(float(ratio.max()), 1.0)
    image = mass * np.exp(-place[1:])
    rest = max(1 - lost - float(mass.sum()) - float(image.sum()), 0.0)
    loss, mass = np.concatenate([-place[:0:-1], place]), np.concatenate([image[::-1], [rest], mass])
    kept = mass > 0
    return AtomicLoss(loss[kept], mass[kept], (0.0, lost), step, 1e-13 * releases, 4e-15 * (1 + place[-1]))


def _profile(place: Floats, mass: Floats) -> Floats:
    """Return sum of mass (1 - e^(place - loss)) over losses above each place; the masses begin at the second place."""
    p, q = (np.append(0.0, part) for part in (mass, mass * np.exp(-place[1:])))
    above_p, above_q = (np.cumsum(part[::-1])[::-1] - part for part in (p, q))
    return np.maximum(above_p - np.exp(place) * above_q, 0.0)
