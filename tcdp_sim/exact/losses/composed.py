"""Many releases: epsilon and delta of composed privacy losses, numerically and between certified ends.

The loss of one release becomes atoms on a grid, once so that they tell more than the truth and once less; the sum of T
of them is one Fourier transform. It is taken of the law tilted by e^(theta loss), so that the rounding of the transform
and what wraps around its ends count relative to the answer, and a delta of 1e-30 costs what 1e-3 costs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.atoms import DENSITY, Atoms, Cells, cells
from tcdp_sim.exact.losses.sums import LossSum, dot, ever, less, more, summed, window
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.exact.work import Exceeded, spend, within

Saddle = Callable[[Atoms, int], tuple[float, float, float]]  # atoms, releases -> theta, epsilon, log delta
LONGEST = 2**22  # points of a transform
MOST_POINTS = 25_000_000  # of all transforms of an answer: some eight seconds
MOST_RELEASES = 10**7
_ROUNDS = 12
_STALLED = 0.9  # of the width before: then not the step is too wide, but the tilt is wrong
_AIM = 0.7  # of the width that is allowed: widths go with the square of the step, or nearly so
_FINER = (1 / 16, 0.7)  # of the step before
_STEEPNESS = np.array([1e-4, 60.0])  # of tilts, over losses: steeper ones than 40, over one's spread, are of no use
_FLATTER = (0.6, 0.75, 0.87, 0.94)
_CLOSE, _SMALL = 1e-3, 1e-6  # of an epsilon: the width of its bounds, relative below 1; below that absolute again
_NEGLIGIBLE = 1e-8  # of delta: what so large losses may add together, that they count as infinite or are cut down
_LEAST = 1e-306  # and no less than this in one release: floats end
_ROUNDING = 1e-14  # of sums of equal losses, relative
_LEAST_SPREAD = 1e-6
_SPARE = 15.0  # e^15 times delta, times what is outside of the window, is little beside delta


@within(MOST_POINTS, "valid: fewer releases")
def composed_epsilon(
    pairs: Iterable[DominatingPair], releases: int, delta: float, tolerance: float | None = None
) -> Bounds:
    """Return the least epsilon >= 0 (nats) of the (epsilon, delta) guarantee of `releases` draws from a pair.

    pairs: of `dominating_pairs`; the answer is that of the worst. 0 < delta < 1. tolerance: the largest distance of the
    ends, in nats; None: 0.1% of the upper one, and at most 0.001. They lie further apart only where the tolerance would
    take a transform of more than 2^22 points, or 25 million in all. The truth lies between them in any case: they count
    discretisation, what wraps around, and rounding (of densities good to 4e-12, and of their logarithms to 4e-15 of
    1 + their size).
    (inf, inf, inf) where an infinite loss has a probability above delta; upper = inf where it may, by rounding, or
    where floats end (`releases` times 1e-306 is not small beside delta).
    Raises ValueError for arguments out of range.
    """
    delta = scalar("delta", delta, 0, 1)
    allowed = _allowed(tolerance)

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

    query = _Query(at_once, saddle, again, room, lambda law, end: law.epsilon(delta, end), allowed)
    return _worst(pairs, releases, query)


def _allowed(tolerance: float | None) -> Callable[[float], float]:
    """Return the map from the upper end of an epsilon to the largest distance of its ends."""
    if tolerance is None:
        return lambda high: _CLOSE * min(max(high, _SMALL), 1.0)
    width = scalar("tolerance", tolerance, 0)
    return lambda _: width


@within(MOST_POINTS, "valid: fewer releases")
def composed_profile(pairs: Iterable[DominatingPair], releases: int, epsilon: float, tolerance: float = 0.01) -> Bounds:
    """delta(epsilon) of `releases` draws from a pair; epsilon >= 0, nats. As `composed_epsilon`.

    tolerance: of the ends' distance, relative to the upper one.
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    share = scalar("tolerance", tolerance, 0)

    def saddle(atoms: Atoms, t: int) -> tuple[float, float, float]:
        theta, exponent = _least(lambda theta: t * atoms.log_moment(theta) - theta * epsilon, atoms, t)
        return theta, epsilon, exponent

    def of_one(atoms: Atoms, t: int) -> float:  # of one release alone: of several it is no smaller
        return atoms.lost + dot(atoms.mass, np.maximum(-np.expm1(np.minimum(epsilon - atoms.loss, 0.0)), 0.0))

    def at_once(lost: tuple[float, float], most: float) -> tuple[float, float]:
        return lost[0], lost[1] if epsilon >= most else 1.0

    query = _Query(
        at_once, saddle, lambda _: saddle, of_one, lambda law, end: law.delta(epsilon)[end], lambda high: share * high
    )
    return _worst(pairs, releases, query)


@dataclass(frozen=True)
class _Query:
    """What is asked of the composed law.

    at_once: (probability of an infinite loss, from below and above; the largest finite sum) -> what they say already,
    (lower, upper); saddle: (atoms, releases) -> (theta, epsilon, log of what finite sums add to delta) by Chernoff's
    bound; again: the upper end found -> a saddle that knows it; room: (atoms, releases) -> a delta beside which other
    ones are small; find: (law, end) -> the answer from laws that tell less (end 0) or more (1); allowed: the upper
    end -> how far below it the lower one may be.
    """

    at_once: Callable[[tuple[float, float], float], tuple[float, float]]
    saddle: Saddle
    again: Callable[[float], Saddle]
    room: Callable[[Atoms, int], float]
    find: Callable[[LossSum, int], float]
    allowed: Callable[[float], float]

    def close(self, low: float, high: float) -> bool:
        """Whether the ends are close enough."""
        return high - low <= self.allowed(high)


def _worst(pairs: Iterable[DominatingPair], releases: int, query: _Query) -> Bounds:
    if releases != int(scalar("releases", releases, 1, MOST_RELEASES, closed=True, finite=False)):
        raise ValueError(f"releases = {releases} is not valid; valid: 1, 2, ..., {MOST_RELEASES:,}")
    pairs = tuple(pairs) if isinstance(pairs, Iterable) else ()
    if not pairs or not all(isinstance(pair, DominatingPair) for pair in pairs):
        raise ValueError("pairs are not valid; valid: one or more DominatingPair, such as dominating_pairs gives")
    low = high = -np.inf
    for pair in pairs:
        found = _bracket(pair, int(releases), query, low)
        low, high = max(low, found[0]), max(high, found[1])
    return Bounds(float(low), float(0.5 * (low + high)), float(high))


def _bracket(pair: DominatingPair, releases: int, query: _Query, known: float) -> tuple[float, float]:
    """(lower, upper) of one pair. known: what the answer is no less than, by other pairs: below it ends may be far."""
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
            step *= 2 if np.isfinite(done) else 4  # wide bounds are better than none
            if step >= done:
                break
            continue
        try:
            spend(sum(lengths))
        except Exceeded:
            break
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
    """What the step is multiplied by, if it gave ends so far apart."""
    if not (np.isfinite(width) and allowed > 0):
        return 0.5
    return float(np.clip(np.sqrt(_AIM * allowed / width), *_FINER))


def _at_once(lost: float, ends: Atoms, releases: int, query: _Query) -> tuple[float, float]:
    """What the infinite losses and the largest finite one say, without any sum. ends: atoms that tell more."""
    infinite = ever(lost, releases) * (1 - DENSITY), min(ever(ends.lost, releases) * (1 + DENSITY), 1.0)
    most = releases * ends.loss.max(initial=-np.inf)
    return query.at_once(infinite, max(most * (1 - _ROUNDING), most * (1 + _ROUNDING)))


def _tilt(atoms: Atoms, releases: int, saddle: Saddle) -> float:
    """The flattest tilt under which what is outside of a window is still nothing beside delta.

    Chernoff's best tilt has windows that are much longer, where losses have heavy tails.
    """
    best, epsilon, log_delta = saddle(atoms, releases)
    for share in _FLATTER:
        theta = share * best
        if releases * atoms.log_moment(theta) - theta * epsilon - log_delta < _SPARE:
            return theta
    return best


def _least(f: Callable[[float], float], atoms: Atoms, releases: int) -> tuple[float, float]:
    """(theta, value) where a function that is unimodal in theta > 0 is least, among tilts that fit the atoms.

    The flattest are flat over the mean of the sum, too: of an epsilon far below it delta is nearly 1.
    """
    spread = _spread(atoms)
    ends = np.log(_STEEPNESS) - np.log([spread + releases * abs(dot(atoms.mass, atoms.loss)), spread])
    minimum = minimize_scalar(lambda x: f(np.exp(x)), bounds=ends, method="bounded")
    return float(np.exp(minimum.x)), float(minimum.fun)


def _spread(atoms: Atoms) -> float:
    """Their standard deviation; of losses that are all but the same, for which any tilt will do, a part of the mean."""
    mean = dot(atoms.mass, atoms.loss)
    return max(float(np.sqrt(dot(atoms.mass, (atoms.loss - mean) ** 2))), _LEAST_SPREAD * abs(mean))


def _anchors(coarse: Cells) -> tuple[float, float]:
    """A point of the grid, and the distance to another: losses that have a probability of their own must be on it."""
    flat = coarse.flat()
    apart = np.abs(flat - flat[:1]) > 1e-6 * np.abs(flat[:1])  # a loss that levels off is flat in many cells
    if coarse.symmetric or not apart.any():
        return 0.0, (abs(float(flat[0])) if coarse.symmetric and len(flat) else 0.0)
    return float(flat[0]), abs(float(flat[apart][0] - flat[0]))
