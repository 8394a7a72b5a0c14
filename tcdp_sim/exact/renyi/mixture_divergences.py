"""Renyi and hockey-stick divergences between mixtures of one noise.

A discrete noise has sums (`lattice_mixtures.py`). Any other noise has quadratures from its log density and loss.

With L = log(p / q) and s = a - 1, E_q[e^L] = 1 turns E_q[e^(aL)] - 1 into the mean of the non-negative e^(aL) - 1 - a
(e^L - 1). It is divided by s, so that the digits stay near order 1. Its limit there is the Kullback-Leibler divergence.
The hockey-stick divergence is the integral of (p - e^eps q) where it is positive. No digits are lost, however close p
and q are, if L is known to the last digits near zero. So L is computed from the weights in which they differ.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import TINY, Bounds, integrate
from tcdp_sim.exact.losses.level_sets import LevelSets, landmarks, panels, refined
from tcdp_sim.exact.mixtures import Mixture, SharedShifts
from tcdp_sim.exact.renyi.kernels import (
    SURE,
    divergence_of_mean,
    excess_over_q,
    lost_over_q,
    max_order,
    share_above,
)
from tcdp_sim.exact.renyi.lattice_mixtures import LatticePair
from tcdp_sim.exact.resolution import ROUNDING, argument_error, graded, loss_error, resolved, sign_changes
from tcdp_sim.exact.work import MOST_POINTS, spend, within

_NEGLIGIBLE = 60.0  # an integrand e^-60 below its peak adds less than the rounding of the peak
_BEYOND = np.geomspace(1.02, 1e6, 300)  # multiples of the point with a tail of 1e-307, where high orders peak
_AROUND = 2.0 ** -np.arange(1, 24)
_FARTHEST = 1e12  # quantiles of 1/4 between the peaks of a noise that is not log-concave
_ROUNDS, _NEAR = 12, 4.0  # of the search of a peak between two points; quantiles of 1/4 for which they suffice
_HIGHEST = 1e6  # order whose peak the panels reach
_RULES = 2  # of a round of `integrate`: each asks once for its points on all panels
_Known = Callable[[Floats], tuple[Floats, Floats]]  # points -> loss and log q there


@within(MOST_POINTS, "valid: fewer orders, or shifts that are less far apart")
def renyi_divergence_between(p: Mixture, q: Mixture, order: ArrayLike) -> Bounds[Any]:
    """Return the Renyi divergence D_order(p || q) between two mixtures of the same noise.

    Source: Mironov (2017) [Mir17].

    `order`: the order or orders, >= 1. Order 1 is the Kullback-Leibler divergence and inf the max-divergence.
    """
    flat = np.ravel(real("order", order, 1, closed=True, finite=False))
    if p.noise.is_discrete:
        lattice = LatticePair(p, q)
        return _shaped(np.array([lattice.renyi(each) for each in flat]), order).clipped(0.0)
    pair = _pair(p, q)
    pair.need_near_peaks()
    rows = np.array([_renyi(pair, each) for each in flat])
    return _shaped(rows, order).clipped(0.0)


@within(MOST_POINTS, "valid: fewer epsilons, or shifts that are less far apart")
def hockey_stick_between(p: Mixture, q: Mixture, epsilon: ArrayLike) -> Bounds[Any]:
    """Return H_eps(p || q), the supremum over events of p - e^epsilon q, for two mixtures of the same noise.

    Source: Balle et al. (2018) [BBG18].
    """
    flat = np.ravel(real("epsilon", epsilon, -np.inf))
    if p.noise.is_discrete:
        return _shaped(LatticePair(p, q).profile(flat), epsilon)
    pair = _Pair(p, q)
    if not pair.noise.gives_loss:
        return _shaped(_between_errors(pair, flat), epsilon).clipped(0.0, 1.0)

    def integrand(each: float, x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            share = share_above(each, pair.loss(x))
        return np.where(np.isnan(share), 0.0, p.pdf(x) * share)  # where neither has density

    sets = pair.sets()
    low, middle, high = sets.integrate_above(flat, integrand)
    slack = max(1e-12, pair.far_error()) * middle
    outside = float(p.cdf(sets.x[0]) + p.sf(sets.x[-1])) + TINY
    rows = np.array([low - slack, middle, high + slack + outside]).T
    return _shaped(rows, epsilon).clipped(0.0, 1.0)


def _between_errors(pair: "_Pair", epsilons: Floats) -> Floats:
    """Return rows of (lower, estimate, upper), the ends with the loss moved down and up by its error."""
    edges, sets = _resolving(pair.p, pair.q)
    outside = float(pair.p.cdf(edges[0]) + pair.p.sf(edges[-1])) + TINY
    rows = []
    for epsilon in epsilons:
        kinks = [end.ravel() for end in sets.above(np.array([epsilon]))]  # also of a peak between two edges
        cut = np.concatenate([edges, *kinks, sign_changes(pair.loss, epsilon, edges)])
        cut = cut[(cut >= edges[0]) & (cut <= edges[-1])]
        gained = _gains(pair, float(epsilon))
        low, middle, high = (integrate(partial(gained, sign), cut) for sign in (-1, 0, 1))
        slack = max(1e-11, pair.far_error()) * high.upper  # of the density
        rows.append((low.lower - slack, middle.estimate, high.upper + slack + outside))
    return np.array(rows)


@lru_cache(maxsize=4)
def _resolving(p: Mixture, q: Mixture) -> tuple[Floats, LevelSets]:
    """Return panels that resolve the noise around every shift, and the level sets. They are cached for searches."""
    pair = _Pair(p, q)
    arm = resolved(pair.noise, panels(pair.noise, [0.0]))
    return np.unique(np.add.outer(pair.shifts, arm)), pair.sets()


def _gains(pair: "_Pair", epsilon: float) -> Callable[[int, Floats], Floats]:
    """Return the function of (sign, x) that gives the integrand at x with the loss moved by sign times its error.

    The three integrals, with the signs -1, 0 and 1, begin on the same panels, so values there are kept.
    """
    known: dict[bytes, tuple[Floats, Floats, Floats]] = {}

    def gained(sign: int, x: Floats) -> Floats:
        key = x.tobytes()
        spend(x.size * pair.noise.density_cost)
        if key not in known:
            known[key] = pair.loss(x), pair.error(x), pair.p.pdf(x)
        loss, error, density = known[key][0], sign * known[key][1], known[key][2]
        with np.errstate(all="ignore"):
            share = share_above(epsilon - loss, error)
        return np.where(np.isnan(share), 0.0, density * (1 + error) * share)

    return gained


def _shaped(rows: Floats, like: ArrayLike) -> Bounds[Any]:
    """Return rows of (lower, estimate, upper) as Bounds of the argument's shape, with scalars for a scalar."""
    parts = (column.reshape(np.shape(like)) for column in np.asarray(rows, dtype=float).reshape(-1, 3).T)
    return Bounds(*(part if np.ndim(like) else float(part) for part in parts))


class _Pair(SharedShifts):
    """Two mixtures of one noise with a density, and the panels of a quadrature over it."""

    def need_near_peaks(self) -> None:
        """Raise ValueError if outputs near one peak, as floats, are too coarse to resolve another that is far away."""
        most = _FARTHEST * float(self.noise.isf(0.25))
        if not self.noise.log_concave and np.ptp(self.shifts) > most:
            far = f"shifts that are {np.ptp(self.shifts):g} apart are not valid for {self.noise!r}"
            raise ValueError(f"{far}: floats do not resolve both peaks; valid: at most {most:.4g} apart")

    def far_error(self) -> float:
        """Return the relative error of the density where outputs near a far shift are rounded to floats."""
        ulp = float(np.spacing(np.abs(self.shifts).max()))
        ends = landmarks(self.noise, 0.0, far=())
        x = 0.5 * (ends[:-1] + ends[1:])  # between the kinks
        with np.errstate(all="ignore"):
            change = np.abs(self.noise.logpdf(x + ulp) - self.noise.logpdf(x - ulp))
        return float(np.nanmax(np.where(np.isfinite(change), change, 0.0), initial=0.0))

    def loss(self, x: Floats) -> Floats:
        """Return log(p / q) at x: +inf or -inf where only one has density, NaN where neither has."""
        with np.errstate(all="ignore"):
            y, shifts = np.ravel(x) - self.shifts[:, None], self.shifts[:, None]
            density = self.noise.logpdf(y)
            nearest = self.shifts[density.argmax(axis=0)]  # ratios to the largest keep their digits
            logs = np.where(shifts == nearest, 0.0, self.noise.privacy_loss(y, nearest - shifts))
            return np.where(density.max(axis=0) > -np.inf, self.loss_of(logs), np.nan).reshape(np.shape(x))

    def sets(self) -> LevelSets:
        """Return the sets in which the loss exceeds a level."""
        # Far out the difference of log densities is meaningless for a noise without a loss of its own.
        points = (
            landmarks(self.noise, self.shifts) if self.noise.gives_loss else landmarks(self.noise, self.shifts, far=())
        )
        return LevelSets(self.loss, points, self._floor, self.panels())

    @cached_property
    def far_panels(self) -> Floats:
        """Panels that go on to where high orders peak."""
        return self.panels(_BEYOND)

    def panels(self, far: ArrayLike = (2.0,)) -> Floats:
        """Return the ends of the panels of a quadrature."""
        edges = panels(self.noise, self.shifts, far)
        return edges if self.noise.log_concave else graded(edges)

    def error(self, x: Floats) -> Floats:
        """Return the largest change of the loss at x by rounding."""
        if self.noise.gives_loss:
            loss = np.abs(self.loss(x))
            known = ROUNDING * np.where(np.isfinite(loss), loss, 0.0)
            return known if self.noise.log_concave else known + self._of_arguments(x)
        span = self.shifts[-1] - self.shifts[0]  # the two outermost; all others are nearer
        return np.max([loss_error(self.noise, x - m, d) for m in self.shifts for d in (-span, span)], axis=0)

    def _of_arguments(self, x: Floats) -> Floats:
        return np.max([argument_error(self.noise, x - m) for m in self.shifts], axis=0)

    def max_order(self) -> float:
        """Return the order from which on the Renyi divergence is infinite, from the overhang of p beyond q."""
        overhang = max(self.q.shifts[0] - self.p.shifts[0], self.p.shifts[-1] - self.q.shifts[-1])
        first = max_order(self.noise, overhang) if overhang > 0 else np.inf
        end = self.noise.isf(0.0)
        if np.isfinite(end):  # p may also have mass in a gap between the supports of q
            ends = np.unique(np.concatenate([self.shifts - end, self.shifts + end]))
            between = 0.5 * (ends[1:] + ends[:-1])
            first = 1.0 if (self.q.pdf(between) == 0)[self.p.pdf(between) > 0].any() else first
        return first

    def _floor(self, x: Floats) -> Floats:
        """Return the rounding of the loss beyond its own digits, which is 0 if the noise gives its loss."""
        return np.zeros_like(x) if self.noise.gives_loss else self.error(x)


@lru_cache(maxsize=8)
def _pair(p: Mixture, q: Mixture) -> "_Pair":
    """Return the pair, which keeps its panels for further orders."""
    return _Pair(p, q)


@lru_cache(maxsize=512)
def renyi_of_pair(p: Mixture, q: Mixture, order: float) -> Bounds:
    """Return D_order(p || q), kept for the directions and cases of a list that ask for it again."""
    return renyi_divergence_between(p, q, order)


def _renyi(pair: "_Pair", order: float) -> tuple[float, float, float]:
    if pair.p == pair.q:
        return 0.0, 0.0, 0.0
    if np.isinf(order):
        return _max_divergence(pair)
    largest = pair.max_order()
    if order >= largest * (1 - SURE) and not order == 1 < largest:
        just_below = max(largest * (1 - 2 * SURE), 1.0)
        low = _renyi(pair, just_below)[0] if largest > 1 and order < largest * (1 + SURE) else np.inf
        return low, np.inf, np.inf
    if order > _HIGHEST:
        return _renyi(pair, _HIGHEST)[0], *_max_divergence(pair)[1:]  # it rises with the order
    edges, cut, top = _reach(pair, order)
    known = _remembered(pair)
    mean = integrate(lambda x: _excess(known, order - 1, x, top), edges, 1e-11)
    lost = integrate(lambda x: _lost(pair, known, order - 1, x, top), edges, 1e-2).upper
    slack = (2e-12 + 4e-16 * top) * mean.estimate + lost  # the rounding of the integrand
    means = (max(mean.lower - slack - TINY, 0.0), mean.estimate, mean.upper + slack + TINY)
    low, middle, high = (divergence_of_mean(mean, order, top) for mean in means)
    return (low, np.inf, np.inf) if cut else (low, middle, high)


def _remembered(pair: "_Pair") -> _Known:
    """Return loss and log q at points, kept for the first round of an integral: another one begins on its panels."""
    kept: dict[bytes, tuple[Floats, Floats]] = {}

    def known(x: Floats) -> tuple[Floats, Floats]:
        key = x.tobytes()
        if key in kept:
            return kept[key]
        spend(x.size * pair.noise.density_cost)
        with np.errstate(all="ignore"):
            values = pair.loss(x), pair.q.logpdf(x)
        if len(kept) < _RULES:
            kept[key] = values
        return values

    return known


def _max_divergence(pair: "_Pair") -> tuple[float, float, float]:
    """Return the supremum of L. It is infinite if L goes on growing as far as floats are followed."""
    sets = pair.sets()
    top = sets.value.max()
    if np.isposinf(top):
        return np.inf, np.inf, np.inf
    never = np.isneginf(sets.value)  # p has no density there, which is exact
    error = np.where(never, 0.0, pair.error(sets.x) + 1e-11 * np.abs(sets.value))
    ends = [(0, 10), (-1, -11)]  # the outermost point, and one a thousand times nearer
    low = (sets.value - error).max()
    with np.errstate(invalid="ignore"):  # -inf at both
        rise = [sets.value[far] - sets.value[near] - 1e-9 * abs(sets.value[near]) for far, near in ends]
    if any(up > error[far] and sets.value[far] + error[far] >= low for up, (far, _) in zip(rise, ends)):
        return (np.inf if pair.noise.gives_loss else low), np.inf, np.inf
    return low, top, (sets.value + error).max() if pair.noise.gives_loss else np.inf  # unknown beyond the tails


def _reach(pair: "_Pair", order: float) -> tuple[Floats, bool, float]:
    """Return panel edges over all x where the integrand matters, whether it is cut off, and the log of its scale."""

    def height(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            log_p, log_q = pair.p.logpdf(x), pair.q.logpdf(x)
            at_p = log_p if order == 1 else np.fmax(order * log_p + (1 - order) * log_q, log_p)
            value = np.fmax(at_p, log_q)
        return np.where(np.isnan(value) | (log_q == -np.inf), -np.inf, value)

    x = pair.far_panels
    heights = height(x)
    tops = 1 + np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:]))
    steps = np.maximum(x[tops + 1] - x[tops], x[tops] - x[tops - 1])
    near = _NEAR * float(pair.noise.isf(0.25))
    rounds = _ROUNDS + int(np.log(max(steps.max(initial=0.0) / near, 1.0)) / np.log(1.5))  # each leaves 2/3 of a step
    peaks = refined(height, x[tops - 1], x[tops], x[tops + 1], 1.0, rounds)
    around = np.multiply.outer(np.concatenate([-_AROUND, [0.0], _AROUND]), steps) + peaks
    x = np.unique(np.concatenate([x, around.ravel()]))
    heights = height(x)
    top = max(heights.max() - 600, 0.0)
    # Far below the heights where p hardly differs from q, and then far out.
    excess = _excess(_remembered(pair), order - 1, x, top)
    matters = (heights >= heights.max() - _NEGLIGIBLE) | (excess > excess.max() * np.exp(-_NEGLIGIBLE))
    first, last = np.flatnonzero(matters)[[0, -1]]
    cut = np.isinf(pair.noise.isf(0.0)) and (matters[0] or matters[-1])
    return x[max(first - 1, 0) : last + 2], cut, top


def _lost(pair: "_Pair", known: _Known, s: float, x: Floats, top: float) -> Floats:
    """Return the amount that rounding of the loss and of q may add to `excess_over_q`."""
    with np.errstate(all="ignore"):
        loss, log_q = known(x)
        log_q, error = log_q - top, pair.error(x)
        of_density = ROUNDING * (1 + np.abs(log_q + top)) * np.abs(_excess(known, s, x, top))
        value = lost_over_q(s, loss, log_q, error) + of_density
    return np.where(np.isfinite(value), value, 0.0)


def _excess(known: _Known, s: float, x: Floats, top: float) -> Floats:
    """Return `excess_over_q` of the pair at x, times q(x) e^-top; 0 where neither has density."""
    with np.errstate(all="ignore"):
        loss, log_q = known(x)
        value = excess_over_q(s, loss, log_q - top)
    return np.where(np.isfinite(value), value, 0.0)
