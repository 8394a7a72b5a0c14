"""The least value of a function of one variable, by parabolas and golden section (Brent 1973, chapter 5)."""

from collections.abc import Callable
from math import inf, sqrt

Point = tuple[float, float]  # a place and the value there

_GOLDEN = (3 - sqrt(5)) / 2
_MOST = 200  # evaluations


def least(
    f: Callable[[float], float], low: float, high: float, tolerance: float, known: tuple[Point, ...] = ()
) -> tuple[float, float]:
    """Return (least value found in [low, high], its place) of a function with one minimum there; values may be inf.

    With several minima, one of them is found. `tolerance` is the distance of the place from the minimum. The value is
    nearer than that, since f is flat there. `known` has three points of the interval, the least between the other two.
    """
    step = before = 0.0
    if known:
        (best, at_best), (second, at_second), (third, at_third) = sorted(known, key=lambda point: point[1])
        step = before = high - low
    else:
        best = second = third = low + _GOLDEN * (high - low)
        at_best = at_second = at_third = f(best)
    for _ in range(_MOST):
        middle = 0.5 * (low + high)
        if abs(best - middle) <= 2 * tolerance - 0.5 * (high - low):
            break
        vertex = _vertex((best, at_best), (second, at_second), (third, at_third))
        if abs(vertex - best) < 0.5 * abs(before) and low < vertex < high:
            before, step = step, vertex - best
            if min(vertex - low, high - vertex) < 2 * tolerance:
                step = tolerance if best < middle else -tolerance
        else:
            before = (high if best < middle else low) - best
            step = _GOLDEN * before
        tried = best + (step if abs(step) >= tolerance else (tolerance if step > 0 else -tolerance))
        value = f(tried)
        if value <= at_best:
            low, high = (best, high) if tried >= best else (low, best)
            third, at_third, second, at_second, best, at_best = second, at_second, best, at_best, tried, value
            continue
        low, high = (tried, high) if tried < best else (low, tried)
        if value <= at_second or second == best:
            third, at_third, second, at_second = second, at_second, tried, value
        elif value <= at_third or third in (best, second):
            third, at_third = tried, value
    return at_best, best


def _vertex(one: tuple[float, float], two: tuple[float, float], three: tuple[float, float]) -> float:
    """Return the place of the least value of the parabola through three points; inf if there is none."""
    (x, at_x), (y, at_y), (z, at_z) = one, two, three
    r, q = (x - y) * (at_x - at_z), (x - z) * (at_x - at_y)
    bend = 2 * (q - r)
    if not 0 < abs(bend) < inf:
        return inf
    return x - ((x - z) * q - (x - y) * r) / bend
