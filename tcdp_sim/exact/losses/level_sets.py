"""The sets where a privacy loss exceeds a level, as unions of intervals whose ends bisection finds to the last bit.

Between its turning points the loss is monotone. A search for them uses a grid that resolves every noise from the centre
to tails of 1e-307 and goes on far beyond. They are then refined, so that no peak between two points is lost.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Ints, Real, RealFunction
from tcdp_sim.core.numerics import ArrayBounds, Bounds, integrate
from tcdp_sim.exact.losses.many_integrals import Integrand, integrate_each
from tcdp_sim.exact.resolution import graded, with_kinks
from tcdp_sim.noise import Noise

_TAILS = np.concatenate([np.linspace(0.499, 0.05, 60), 10.0 ** -np.geomspace(1.31, 307, 240)])
_FAR = 2.0 ** np.arange(1, 61)
_PANELS = np.concatenate([np.linspace(0.45, 0.05, 9), 10.0 ** -np.geomspace(2, 307, 40)])
_BISECTIONS = 200
_AT_ONCE = 64  # number of levels whose integrals share panels; more would not fit the processor's cache
_NARROW = 1e-3  # an interval with a smaller share of its tail is integrated, because the difference cancels


def landmarks(noise: Noise, centres: ArrayLike, tails: Floats = _TAILS, far: ArrayLike = _FAR) -> Floats:
    """Return points around each centre, ascending: the centre, the upper and lower `tails`, the kinks of the density.

    If the support has no end, the outermost tail's point times each number of `far` follows.
    """
    arm = noise.isf(tails)
    if np.isinf(noise.isf(0.0)):
        with np.errstate(over="ignore"):
            arm = np.concatenate([arm, arm[-1] * np.asarray(far)])
    arm = with_kinks(noise, arm[arm < 1e300])
    arm = arm if noise.log_concave else graded(arm)
    return np.unique(np.add.outer(np.concatenate([-arm, arm]), np.atleast_1d(centres)))


def panels(noise: Noise, centres: ArrayLike, far: ArrayLike = (2.0,)) -> Floats:
    """Return landmarks at which panels of a quadrature end. They resolve every peak and include the kinks."""
    return landmarks(noise, centres, _PANELS, far)


class LevelSets:
    """The sets {loss > level} of a vectorised `loss` that is monotone between finitely many turning points.

    The search for turning points uses `points`. A change of the loss at x by at most floor(x) is rounding and no
    turning point. Panels of integrals end at `edges`. The attributes x and value are the points, including the turning
    points, and the loss there. `falls` says of each piece if the loss falls.
    """

    def __init__(self, loss: RealFunction, points: Floats, floor: RealFunction, edges: Floats) -> None:
        self.loss, self.edges = loss, edges
        x, value = self._known(points)
        turns, signs = _turns(value, floor(x))
        if len(turns):
            better = refined(loss, x[turns - 1], x[turns], x[turns + 1], signs[:-1])
            x, value = self._known(np.concatenate([x, better]))
            turns = np.maximum.accumulate(np.searchsorted(x, better))  # rounding may change their order
        self.x, self.value = x, value
        self._first = np.concatenate([[0], turns])
        self._last = np.concatenate([turns, [len(x) - 1]])
        self.falls = signs < 0

    @property
    def monotone(self) -> bool:
        """True if the loss falls from the first point to the last, so that {loss > level} is one half-line."""
        return bool(len(self.falls) == 1 and self.falls[0])

    def above(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return left and right ends of {loss > level}, each (pieces, levels). An empty interval has equal ends."""
        crossing, falls = self._crossings(levels), self.falls[:, None]
        return (
            np.where(falls, self.x[self._first][:, None], crossing),
            np.where(falls, crossing, self.x[self._last][:, None]),
        )

    def below(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return left and right ends of {loss <= level}, each (pieces, levels). An empty interval has equal ends."""
        crossing, falls = self._crossings(levels), self.falls[:, None]
        return (
            np.where(falls, crossing, self.x[self._first][:, None]),
            np.where(falls, self.x[self._last][:, None], crossing),
        )

    def integrate_above(self, levels: Floats, f: Integrand) -> ArrayBounds:
        """Return for every level the integral of f(level, x) over {loss > level}, to about 1e-10 relative.

        The levels have shape (n,). f broadcasts and treats every x separately, so panels that lie wholly inside the
        sets of many levels are evaluated for all of them at once.
        """
        left, right = self.above(levels)
        integrals = np.zeros((3, len(levels)))
        for a, b in zip(left, right):
            filled = np.flatnonzero(a < b)
            for some in np.array_split(filled, len(filled) // _AT_ONCE + 1):
                integrals[:, some] += integrate_each(f, levels[some], a[some], b[some], self.edges)
        return Bounds(*integrals)

    def _known(self, points: Floats) -> tuple[Floats, Floats]:
        x = np.unique(points)
        with np.errstate(all="ignore"):
            value = self.loss(x)
        known = ~np.isnan(value)
        return x[known], value[known]

    def _crossings(self, levels: Floats) -> Floats:
        """Return on each piece the end of {loss > level}, the first point from there where it no longer holds."""
        over, under = (np.empty((len(self.falls), len(levels))) for _ in range(2))
        for i, (first, last, falls) in enumerate(zip(self._first, self._last, self.falls)):
            x, value = (row[first : last + 1] for row in (self.x, self.value))
            if not falls:
                x, value = x[::-1], value[::-1]
            count = np.searchsorted(-np.minimum.accumulate(value), -levels)  # of those above the level
            over[i], under[i] = x[np.maximum(count - 1, 0)], x[np.minimum(count, len(x) - 1)]
        for _ in range(_BISECTIONS):
            middle = 0.5 * (over + under)
            if ((middle == over) | (middle == under)).all():
                break
            with np.errstate(all="ignore"):
                holds = self.loss(middle) > levels
            over, under = np.where(holds, middle, over), np.where(holds, under, middle)
        return under


@lru_cache(maxsize=16)
def loss_sets(noise: Noise, shift: float) -> LevelSets:
    """Return the level sets of the privacy loss of a noise against itself shifted by `shift`.

    They are cached, because they need a thousand quantiles and a search for an epsilon repeats them.
    """
    far: ArrayLike = _FAR if noise.gives_loss else ()  # far out the difference of log densities is meaningless
    return LevelSets(
        lambda x: noise.privacy_loss(x, shift),
        landmarks(noise, [0.0, shift], far=far),
        lambda x: 1e-15 * (_size(noise.logpdf(x)) + _size(noise.logpdf(x - shift))),
        panels(noise, [0.0, shift]),
    )


def log_mass(noise: Noise, left: Floats, right: Floats) -> Floats:
    """Return log P[Z in one of the disjoint intervals left < Z <= right], along the first axis.

    The ends are in counts, shape (pieces, levels), and empty intervals have equal ends. The result is <= 0, shape
    (levels,).
    """
    parts = _log_mass_of_each(noise, left.ravel(), right.ravel()).reshape(left.shape)
    with np.errstate(divide="ignore", under="ignore"):
        return np.minimum(np.logaddexp.reduce(parts, axis=0), 0.0)


def _log_mass_of_each(noise: Noise, left: Floats, right: Floats) -> Floats:
    turn = left + right < 0  # mirror them, so that the nearer end is on the left and tails are upper ones
    left, right = np.where(turn, -right, left), np.where(turn, -left, right)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        outer = np.where(left < right, noise.logsf(right), 0.0)
        start: Floats = noise.logsf(left)
        upper = start + np.log(-np.expm1(np.minimum(outer - start, 0.0)))
        centre = np.log1p(-np.minimum(noise.cdf(left) + noise.sf(right), 1.0))
        log_mass_between = np.where(left >= 0, upper, centre)
    log_mass_between = np.where((left < right) & ~np.isnan(log_mass_between), log_mass_between, -np.inf)
    near = np.where(left >= 0, start, np.log(0.5))
    for i in np.flatnonzero((left < right) & (log_mass_between < near + np.log(_NARROW)) & (near > -650)):
        edges = [left[i], right[i]] if left[i] >= 0 else [left[i], 0.0, right[i]]
        with np.errstate(divide="ignore"):
            log_mass_between[i] = np.log(integrate(noise.pdf, edges).estimate)
    return log_mass_between


def _size(log_density: Floats) -> Floats:
    return np.where(np.isfinite(log_density), np.abs(log_density), 0.0)


def _turns(value: Floats, floor: Floats) -> tuple[Ints, Floats]:
    """Return indices where the loss turns, and the sign of its slope on each piece (negative if constant)."""
    with np.errstate(invalid="ignore"):
        step = np.diff(value)
        smallest = 1e-12 * np.maximum(np.abs(value[1:]), np.abs(value[:-1])) + np.maximum(floor[1:], floor[:-1])
        sign = np.where(np.isinf(step) | (np.abs(step) > smallest), np.sign(step), 0)
    slopes = np.flatnonzero(np.nan_to_num(sign))
    if not len(slopes):
        return np.array([], int), np.array([-1.0])
    change = np.flatnonzero(sign[slopes[1:]] != sign[slopes[:-1]])
    return slopes[change + 1], np.append(sign[slopes[change]], sign[slopes[-1]])


def refined(f: RealFunction, left: Floats, middle: Floats, right: Floats, sign: Real, rounds: int = 120) -> Floats:
    """Return the points where sign * f is largest, by ternary search, or `middle` if none is larger."""
    start = middle
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            third = (right - left) / 3
            a, b = left + third, right - third
            lower = sign * f(a) < sign * f(b)
            left, right = np.where(lower, a, left), np.where(lower, right, b)
        best = 0.5 * (left + right)
        return np.where(sign * f(best) > sign * f(start), best, start)
