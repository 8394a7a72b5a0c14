"""The epsilon and delta of many releases of any pair, whose loss may neither rise nor fall with the output.

The loss of one release becomes atoms on a grid, once so that they reveal more than the truth and once less. The sum of
T of them is one Fourier transform. It is taken of the law tilted by e^(theta loss). So the rounding of the transform
and the wrapped ends are relative to the answer, and a delta of 1e-30 costs as much as one of 1e-3.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.search import minimize_scalar
from tcdp_sim.exact.losses.atoms import DENSITY, Atoms, Cells, cells
from tcdp_sim.exact.losses.sums import LossSum, dot, ever, less, more, summed, window
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.exact.work import Exceeded, spend

Saddle = Callable[[Atoms, int], tuple[float, float, float]]  # atoms, releases -> theta, epsilon, log delta
LONGEST = 2**22  # points of a transform
_ROUNDS = 12
_STALLED = 0.9  # relative to the width before; above it the tilt is wrong, not the step
_AIM = 0.7  # relative to the allowed width; widths grow about as the square of the step
_FINER = (1 / 16, 0.7)  # range of the factor from one step to the next
_STEEPNESS = np.array([1e-4, 60.0])  # of tilts, over losses: steeper ones than 40, over one's spread, are of no use
_FLATTER = (0.6, 0.75, 0.87, 0.94)
_NEGLIGIBLE = 1e-8  # of delta: what so large losses may add together, that they count as infinite or are cut down
_LEAST = 1e-306  # and no less than this in one release: floats end
_ROUNDING = 1e-14  # relative error of a sum of equal losses
_LEAST_SPREAD = 1e-6
_SPARE = 15.0  # e^15 times delta times the mass outside the window is small beside delta


@dataclass(frozen=True)
class Query:
    """A query of the composed law.

    at_once maps the probability of an infinite loss (from below and above) and the largest finite sum to the bounds
    that follow from them alone. saddle maps atoms and releases to theta, epsilon and the log of what finite sums add to
    delta, by Chernoff's bound. again maps the upper end found to a saddle that uses it. room maps atoms and releases to
    a delta beside which others are small. find maps a law that reveals less (end 0) or more (end 1) to the answer.
    allowed maps the upper end to the largest distance of the lower one.
    """

    at_once: Callable[[tuple[float, float], float], tuple[float, float]]
    saddle: Saddle
    again: Callable[[float], Saddle]
    room: Callable[[Atoms, int], float]
    find: Callable[[LossSum, int], float]
    allowed: Callable[[float], float]

    def close(self, low: float, high: float) -> bool:
        """Return True if the ends are close enough."""
        return high - low <= self.allowed(high)


def epsilon_query(delta: float, allowed: Callable[[float], float]) -> Query:
    """Return the query for the least epsilon >= 0 at a delta in (0, 1)."""

    def room(atoms: Atoms, t: int) -> float:
        return max(delta - ever(atoms.lost, t), 1e-14 * delta)

    def saddle(atoms: Atoms, t: int) -> tuple[float, float, float]:
        log_room = np.log(room(atoms, t))
        theta, exponent = _least(lambda theta: (t * atoms.log_moment(theta) - log_room) / theta, atoms, t)
        return theta, exponent, log_room

    def again(high: float) -> Saddle:
        # Chernoff's bound on epsilon, far off where delta is large, gives way to the upper end found
        def saddle(atoms: Atoms, t: int) -> tuple[float, float, float]:
            theta, _ = _least(lambda theta: t * atoms.log_moment(theta) - theta * high, atoms, t)
            return theta, high, np.log(room(atoms, t))

        return saddle

    def at_once(lost: tuple[float, float], most: float) -> tuple[float, float]:
        return (np.inf, np.inf) if delta < lost[0] else (0.0, max(most, 0.0) if lost[1] <= delta else np.inf)

    return Query(at_once, saddle, again, room, lambda law, end: law.epsilon(delta, end), allowed)


def delta_query(epsilon: float, allowed: Callable[[float], float]) -> Query:
    """Return the query for delta at an epsilon >= 0."""

    def saddle(atoms: Atoms, t: int) -> tuple[float, float, float]:
        theta, exponent = _least(lambda theta: t * atoms.log_moment(theta) - theta * epsilon, atoms, t)
        return theta, epsilon, exponent

    def of_one(atoms: Atoms, t: int) -> float:  # one release alone, a lower bound for several
        return atoms.lost + dot(atoms.mass, np.maximum(-np.expm1(np.minimum(epsilon - atoms.loss, 0.0)), 0.0))

    def at_once(lost: tuple[float, float], most: float) -> tuple[float, float]:
        return lost[0], lost[1] if epsilon >= most else 1.0

    return Query(at_once, saddle, lambda _: saddle, of_one, lambda law, end: law.delta(epsilon)[end], allowed)


def any_bracket(pair: DominatingPair, releases: int, query: Query, known: float) -> tuple[float, float]:
    """Return the lower and upper end for one pair.

    Ends below `known`, a lower bound by other pairs, may be far apart.
    """
    coarse = cells(pair, 1.0, None)
    guide = coarse.at_nodes()
    low, high = _at_once(coarse.lost, coarse.at_ends(), releases, query)
    if low == high or query.close(low, high) or not len(guide.loss):
        return low, high
    rare = max(_NEGLIGIBLE * query.room(guide, releases) / releases, _LEAST)
    top, pair = guide.top(rare), pair.without_rare(rare)
    guide = guide.without(top)
    theta = _tilt(guide, releases, query.saddle)
    offset, gap = _anchors(coarse)
    step = min(np.sqrt(2e-3 / (releases * (theta + 1))), 0.3 * _spread(guide))
    width = done = np.inf
    with suppress(Exceeded):  # wide bounds are better than none
        for _ in range(_ROUNDS):
            step = gap / np.ceil(gap / step) if gap else step
            cut = cells(pair, theta, step, offset)
            ends = cut.at_ends()
            at_least, at_most = _at_once(cut.lost, ends, releases, query)
            low, high = max(low, at_least), min(high, at_most)
            if query.close(low, high) or high <= known:
                break
            uppers = more(ends.without(top), offset, step)
            lowers, missing = less(cut.merged(offset, step).capped(top), offset, step, theta, releases)
            spans = [window(atoms, releases, theta) for atoms in (uppers, lowers)]
            lengths = [int((last - first) / step) for first, last in spans]
            if max(lengths) > LONGEST:
                step *= 2 if np.isfinite(done) else 4
                if step >= done:
                    break
                continue
            spend(sum(lengths))
            high = min(high, query.find(summed(uppers, offset, step, theta, releases, spans[0], 0.0), 1))
            if high <= known:
                break
            low = max(low, query.find(summed(lowers, offset, step, theta, releases, spans[1], missing), 0))
            if query.close(low, high):
                break
            if high - low > _STALLED * width:
                theta = _tilt(guide, releases, query.again(high))
            width, done = high - low, step
            step *= _finer(width, query.allowed(high))
    return low, high


def _finer(width: float, allowed: float) -> float:
    """Return the factor for the step after it gave ends this far apart."""
    if not (np.isfinite(width) and allowed > 0):
        return 0.5
    return float(np.clip(np.sqrt(_AIM * allowed / width), *_FINER))


def _at_once(lost: float, ends: Atoms, releases: int, query: Query) -> tuple[float, float]:
    """Return the bounds from the infinite losses and the largest finite one, without a sum.

    The atoms must reveal more.
    """
    infinite = ever(lost, releases) * (1 - DENSITY), min(ever(ends.lost, releases) * (1 + DENSITY), 1.0)
    most = releases * ends.loss.max(initial=-np.inf)
    return query.at_once(infinite, max(most * (1 - _ROUNDING), most * (1 + _ROUNDING)))


def _tilt(atoms: Atoms, releases: int, saddle: Saddle) -> float:
    """Return the flattest tilt under which the mass outside a window is still negligible against delta.

    Chernoff's best tilt has windows that are much longer if losses have heavy tails.
    """
    best, epsilon, log_delta = saddle(atoms, releases)
    for share in _FLATTER:
        theta = share * best
        if releases * atoms.log_moment(theta) - theta * epsilon - log_delta < _SPARE:
            return theta
    return best


def _least(f: Callable[[float], float], atoms: Atoms, releases: int) -> tuple[float, float]:
    """Return (theta, value) where a function that is unimodal in theta > 0 is least, among tilts that fit the atoms.

    The flattest tilts are flat over the mean of the sum too, because delta is nearly 1 for an epsilon far below it.
    """
    spread = _spread(atoms)
    ends = np.log(_STEEPNESS) - np.log([spread + releases * abs(dot(atoms.mass, atoms.loss)), spread])
    minimum = minimize_scalar(lambda x: f(np.exp(x)), bounds=ends, method="bounded")
    return float(np.exp(minimum.x)), float(minimum.fun)


def _spread(atoms: Atoms) -> float:
    """Return the standard deviation of the atoms, or a part of the mean if all losses are almost equal."""
    mean = dot(atoms.mass, atoms.loss)
    return max(float(np.sqrt(dot(atoms.mass, (atoms.loss - mean) ** 2))), _LEAST_SPREAD * abs(mean))


def _anchors(coarse: Cells) -> tuple[float, float]:
    """Return a point of the grid and the distance to another.

    Losses with a probability of their own must be on the grid.
    """
    flat = coarse.flat()
    apart = np.abs(flat - flat[:1]) > 1e-6 * np.abs(flat[:1])  # a loss that levels off is flat in many cells
    if coarse.symmetric or not apart.any():
        return 0.0, (abs(float(flat[0])) if coarse.symmetric and len(flat) else 0.0)
    return float(flat[0]), abs(float(flat[apart][0] - flat[0]))
