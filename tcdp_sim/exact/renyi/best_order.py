"""The supremum of D_order / order over all orders, in bounds: the zCDP of a divergence curve.

psi(s) = s D_(1+s) is the log moment generating function of the privacy loss. It is convex, and zero at 0. If the loss
is bounded by P, its third and fourth derivatives are at most 2 P and 4 P^2 times its second one (the moments of a
variable on [-P, P]). These bounds limit the error of a cubic through values and slopes at the ends of an interval.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Bools, Floats
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.renyi.kernels import Curve
from tcdp_sim.exact.work import Exceeded

_RATIO = 3.0  # of the orders less one that are looked at first
_FIRST = 1e-10  # the least of them, relative to 1 / (1 + P)
_NEAREST = 1e-300  # the least of them, relative to the last: beyond, their ratio is no float
_PARTS = 4  # an interval is cut into, where it may hold the supremum
_HUGE = 1e300  # a largest loss of which no multiple is sure to be a float
_ROUNDS = 12
_MOST = 400  # intervals in a round
_TOLERANCE = 1e-10
_SLOPE_ERROR = 1e-10


class _Interval(NamedTuple):
    """Intervals of s with their ends and psi there, in bounds with estimate and slope, all of shape (m,)."""

    left: Floats
    right: Floats
    at_left: Curve
    at_right: Curve


def best_ratio(curve: Callable[[Floats], Curve], at_one: Bounds, largest: float, omega: float) -> Bounds:
    """Return the supremum of D_order / order over 1 < order < omega, in nats.

    `curve` maps s to s D_(1+s), `at_one` is D_1, and `largest` is the largest loss, at least D_inf. omega > 1 may be
    inf if `largest` is finite. If the largest loss is infinite, the bounds are as close as a dozen rounds of halving
    make them, or fewer rounds if the budget of work ends. If D_1 is too small for a float, only D_omega bounds the
    supremum from above.
    """
    if at_one.upper == 0:
        return Bounds(0.0, 0.0, 0.0)
    if at_one.lower <= 0:
        return Bounds(0.0, at_one.estimate, _largest_divergence(curve, largest, omega))
    last = min(omega - 1, largest / at_one.lower)  # beyond, D / order is below D_1, as D is at most the largest loss
    first = min(_FIRST / (1 + largest) if largest < np.inf else _FIRST, last / 2)
    first = max(first, last * _NEAREST)
    s = np.geomspace(first, last, 2 + int(np.log(last / first) / np.log(_RATIO)))
    intervals = _between(s, curve(s))
    start = float(intervals.at_left.upper[0] / first)  # D does not fall, so nothing below the first order exceeds this
    best, estimate, upper = at_one.lower, at_one.estimate, max(start, at_one.upper)
    for _ in range(_ROUNDS):
        low, middle, high = _ratios(intervals, largest)
        best, estimate = max(best, float(low.max())), max(estimate, float(middle.max()))
        open_ = high > best * (1 + _TOLERANCE)
        upper_now = max(upper, float(high.max(initial=0.0)))
        settled = high - np.maximum(low, best) <= _TOLERANCE * best
        if not (open_ & ~settled).any() or open_.sum() * _PARTS > _MOST:
            break
        upper = max(upper, float(high[~(open_ & ~settled)].max(initial=0.0)))
        try:
            intervals = _cut(intervals, open_ & ~settled, curve)
        except Exceeded:
            break
    return Bounds(best, estimate, upper_now)


def _largest_divergence(curve: Callable[[Floats], Curve], largest: float, omega: float) -> float:
    """Return an upper bound of D_order over the orders below omega: it does not fall with the order."""
    return largest if omega == np.inf else min(float(curve(np.array([omega - 1])).upper[0]) / (omega - 1), largest)


def _between(s: Floats, values: Curve) -> _Interval:
    return _Interval(s[:-1], s[1:], Curve(*(v[:-1] for v in values)), Curve(*(v[1:] for v in values)))


def _cut(intervals: _Interval, chosen: Bools, curve: Callable[[Floats], Curve]) -> _Interval:
    """Return the chosen intervals, each cut into parts."""
    left, right = intervals.left[chosen], intervals.right[chosen]
    shares = np.arange(1, _PARTS) / _PARTS
    inner = left[:, None] * (right / left)[:, None] ** shares
    new = Curve(*(part.reshape(inner.shape) for part in curve(inner.ravel())))
    ends = (Curve(*(part[chosen][:, None] for part in at)) for at in (intervals.at_left, intervals.at_right))
    at_left, at_right = ends
    s = np.concatenate([left[:, None], inner, right[:, None]], axis=1)
    values = [np.concatenate(parts, axis=1) for parts in zip(at_left, new, at_right)]
    flat = [(v[:, :-1].ravel(), v[:, 1:].ravel()) for v in (s, *values)]
    return _Interval(*flat[0], Curve(*(v[0] for v in flat[1:])), Curve(*(v[1] for v in flat[1:])))


def _ratios(intervals: _Interval, largest: float) -> tuple[Floats, Floats, Floats]:
    """Return a lower bound, an estimate and an upper bound of the largest D / order of every interval."""
    u, v = intervals.left, intervals.right
    a, b = intervals.at_left, intervals.at_right
    ends = np.maximum(a.lower / (u * (1 + u)), b.lower / (v * (1 + v)))
    simple = np.minimum(b.upper / v, largest) / (1 + u)  # D does not fall with the order
    if largest >= _HUGE:  # nothing is known of the derivatives of psi, or they are no floats
        return ends, ends, simple
    top = _largest_of_cubic(intervals)
    with np.errstate(over="ignore"):
        error = _error_of_cubic(intervals, largest) / (u * (1 + u))
    return np.maximum(ends, top - error), np.minimum(top, simple), np.minimum(top + error, simple)


def _error_of_cubic(intervals: _Interval, largest: float) -> Floats:
    """Return the largest difference of psi and the cubic, from the fourth derivative and the errors at the ends."""
    step = intervals.right - intervals.left
    a, b = intervals.at_left, intervals.at_right
    slopes = _SLOPE_ERROR * np.abs(b.slope)
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.square(largest)
        second = (np.maximum(b.slope - a.slope, 0.0) + slopes) / step  # its mean; it may grow e^(2 P step) times
        second = np.minimum(second * np.exp(np.minimum(2 * largest * step, 700.0)), square)
        curved = step**4 / 384 * 4 * square * second
    ends = np.maximum(np.maximum(a.upper - a.estimate, b.upper - b.estimate), np.maximum(a.estimate - a.lower, 0.0))
    ends = np.maximum(ends, b.estimate - b.lower)
    return np.where(np.isfinite(curved), curved, np.inf) + ends + step * slopes


def _largest_of_cubic(intervals: _Interval) -> Floats:
    """Return the largest c(s) / (s (1 + s)) of the cubics c, at an end or where c' s (1 + s) = c (1 + 2 s)."""
    u, step = intervals.left, intervals.right - intervals.left
    a, b = intervals.at_left, intervals.at_right
    rise = b.estimate - a.estimate
    one = step * a.slope  # c = zero + one x + two x^2 + three x^3, s = u + step x
    two, three = 3 * rise - 2 * one - step * b.slope, one + step * b.slope - 2 * rise
    c = np.stack([a.estimate, one, two, three])
    d = np.stack([u * (1 + u), step * (1 + 2 * u), step * step])
    x = np.concatenate([np.zeros((1, len(u))), np.ones((1, len(u))), _turns(c, d)])
    values = (c[0] + x * (c[1] + x * (c[2] + x * c[3]))) / (d[0] + x * (d[1] + x * d[2]))
    return np.asarray(values.max(axis=0))


def _turns(c: Floats, d: Floats) -> Floats:
    """Return the places in (0, 1) where c'd = c d' for cubics c and quadratics d of x, or 0 elsewhere, shape (4, m)."""
    p = np.stack(
        [
            c[1] * d[0] - c[0] * d[1],
            2 * (c[2] * d[0] - c[0] * d[2]),
            3 * c[3] * d[0] + c[2] * d[1] - c[1] * d[2],
            2 * c[3] * d[1],
            c[3] * d[2],
        ]
    )
    size = np.abs(p).max(axis=0)
    p = p / np.where(size > 0, size, 1.0)
    lead = np.where(np.abs(p[4]) > 1e-14, p[4], 1e-14)  # of a polynomial of lower degree: one more root, far off
    companion = np.zeros((p.shape[1], 4, 4))
    companion[:, [1, 2, 3], [0, 1, 2]] = 1.0
    companion[:, :, 3] = -(p[:4] / lead).T
    roots = np.linalg.eigvals(companion).T
    inside = (np.abs(roots.imag) < 1e-6) & (roots.real > 0) & (roots.real < 1)
    return np.where(inside, roots.real, 0.0)
