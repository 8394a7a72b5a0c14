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

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.grid_law import AtomicLoss

_STEPS, _MORE, _MOST = 40, 1600, 400  # of the grid in epsilon: at least, for all releases together, at most
_ROUNDING = 2e-15
_TINY_HEIGHT = 1e-290


@dataclass(frozen=True)
class BlockLoss(AtomicLoss):
    """Finitely many losses of a pair, and the supremum of the losses of its class, which may have no mass in floats."""

    largest_loss: float = 0.0

    def lost(self) -> tuple[float, float]:
        """Return 0, because every loss of the class is finite."""
        return 0.0, 0.0

    def largest(self) -> tuple[float, float]:
        """Return the supremum of the losses of the class."""
        return self.largest_loss - self.slack, self.largest_loss + self.slack

    def peak(self) -> tuple[float, float]:
        """Return the largest loss that has a mass, and its probability."""
        return float(self.loss[-1]) - self.slack, float(self.mass[-1]) * (1 - self.relative)


@lru_cache(maxsize=32)
def block_loss(epsilon: float, releases: int) -> BlockLoss:
    """Return the law of the loss of a block of releases of this range."""
    steps = _steps(releases)
    step = epsilon / steps
    place: Floats = step * np.arange(steps * releases + 1.0)
    height: Floats = np.zeros(len(place))
    for _ in range(releases):
        height = _next(height, place, epsilon, steps)
    return _law(height, place, step, releases)


@lru_cache(maxsize=32)
def attained_block(epsilon: float, releases: int) -> BlockLoss:
    """Return the law of the loss of a pair below the best adversary's profile, at every epsilon.

    If t is a multiple of the step, the recursion needs the profile at places of the grid alone. So an adversary attains
    the values of this recursion exactly. The tangent of the profile of that adversary lies below the best profile at
    all other places. The pair has the least convex profile above these tangents.
    """
    steps = _steps(releases)
    step = epsilon / steps
    t: Floats = step * np.arange(steps + 1.0)
    place: Floats = step * np.arange(steps * releases + 1.0)
    height, slope = np.zeros(len(place)), np.zeros(len(place))
    below = np.expm1(t) / np.expm1(epsilon)  # 1 - p_t
    for _ in range(releases):
        known = _extended(height, t)
        mirrored = -1 + height[steps:0:-1] - np.exp(t[:0:-1]) * slope[steps:0:-1]
        falls = np.concatenate([mirrored, slope, np.zeros(steps)])
        start = np.arange(len(place)) + steps
        height, slope = np.zeros(len(place)), np.zeros(len(place))
        for j, share in enumerate(below):
            value = (1 - share) * known[start - j] + share * known[start + steps - j]
            fall = (1 - share) * np.exp(-t[j]) * falls[start - j]
            fall += share * np.exp(epsilon - t[j]) * falls[start + steps - j]
            height, slope = np.where(value > height, value, height), np.where(value > height, fall, slope)
    return _below(height, slope, place, releases)


def _extended(height: Floats, t: Floats) -> Floats:
    """Return the profile at places from -epsilon on, and beyond the last one, where it is at most its value there."""
    steps = len(t) - 1
    mirrored = -np.expm1(-t[:0:-1]) + np.exp(-t[:0:-1]) * height[steps:0:-1]
    return np.concatenate([mirrored, height, np.full(steps, height[-1])])


def _steps(releases: int) -> int:
    return min(max(_STEPS, _MORE // releases), _MOST)


def _next(height: Floats, place: Floats, epsilon: float, steps: int) -> Floats:
    """Return the profile with one more release, at the same places."""
    step, n = epsilon / steps, len(place)
    t: Floats = step * np.arange(steps + 1.0)
    wide = np.concatenate([-t[:0:-1], place, place[-1] + t[1:]])
    known = _extended(height, t)
    a = np.exp(wide)
    slope = np.diff(known) / np.diff(a)
    level = known[:-1] - slope * a[:-1]
    below = np.expm1(t) / np.expm1(epsilon)  # 1 - p_t
    start = np.arange(n) + steps  # of the place itself
    ends = [(1 - share) * known[start - j] + share * known[start + steps - j] for j, share in enumerate(below)]
    best = np.maximum.reduce(ends)
    for j in range(steps):  # t from j to j + 1 steps
        down, up = start - j - 1, start + steps - j - 1  # the cells of a e^-t and of a e^(epsilon - t)
        bend = (level[down] - level[up]) * np.exp(t[j + 1])
        bend += np.exp(epsilon - t[j]) * a[start] * (slope[up] - slope[down])
        bend = np.maximum(bend, 0.0) * (0.5 * step * step / np.expm1(epsilon))
        rise = np.abs(ends[j + 1] - ends[j])
        with np.errstate(divide="ignore", invalid="ignore"):
            bulge = np.where(rise < bend, 0.25 * (bend + rise * rise / bend), 0.5 * rise)
        best = np.maximum(best, 0.5 * (ends[j] + ends[j + 1]) + bulge)
    return np.minimum(best * (1 + _ROUNDING), 1.0)


def _law(height: Floats, place: Floats, step: float, releases: int) -> BlockLoss:
    """Return the pair whose profile goes through the heights, with a margin for rounding. Its losses are symmetric."""
    a = np.exp(place)
    slope = np.append(np.diff(height) / np.diff(a), 0.0)
    mass = np.maximum(np.diff(slope), 0.0) * a[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(height > _TINY_HEIGHT, height / _profile(place, place[1:], mass), 1.0)
    return _symmetric(place[1:], mass * max(float(ratio.max()), 1.0), float(place[-1]), step, releases)


def _below(height: Floats, slope: Floats, place: Floats, releases: int) -> BlockLoss:
    """Return the pair whose profile has these tangents, with a margin for rounding."""
    a = np.exp(place)
    bend = np.maximum(np.diff(slope), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # the tangents at the ends of a cell meet inside of it
        meet = a[:-1] + (height[:-1] - height[1:] + slope[1:] * np.diff(a)) / bend
    meet = np.clip(np.where(np.isfinite(meet), meet, a[1:]), a[:-1], a[1:])
    mass = meet * bend
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _profile(place, np.log(meet), mass)
        ratio = np.where(found > _TINY_HEIGHT, height / found, 1.0)
    return _symmetric(np.log(meet), mass * min(float(ratio.min()), 1.0), float(place[-1]), None, releases)


def _symmetric(loss: Floats, mass: Floats, top: float, step: float | None, releases: int) -> BlockLoss:
    """Return the law of losses above 0 with these masses, their mirror images, and the rest at 0."""
    image = mass * np.exp(-loss)
    rest = max(1 - float(mass.sum()) - float(image.sum()), 0.0)
    slack = 4e-15 * (1 + top)
    loss, mass = np.concatenate([-loss[::-1], [0.0], loss]), np.concatenate([image[::-1], [rest], mass])
    kept = mass > 0
    return BlockLoss(loss[kept], mass[kept], (0.0, TINY * releases), step, 1e-13 * releases, slack, largest_loss=top)


def _profile(place: Floats, loss: Floats, mass: Floats) -> Floats:
    """Return sum of mass (1 - e^(place - loss)) over the losses, each of them in the cell below its place."""
    p, q = (np.append(0.0, part) for part in (mass, mass * np.exp(-loss)))
    above_p, above_q = (np.cumsum(part[::-1])[::-1] - part for part in (p, q))
    return np.maximum(above_p - np.exp(place) * above_q, 0.0)
