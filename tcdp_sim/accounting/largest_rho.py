"""The largest D_a / a over a range of orders, from above.

(a - 1) D_a is convex in a and 0 at a = 1. So chords between orders bound D_a between them, and orders are added where
the bound is not yet close.
"""

from collections.abc import Callable
from math import inf, sqrt

from tcdp_sim.privacy.spending import raised

_NEAREST = 1e-4  # above 1: the lowest order that is tried
_HIGHEST = 1e4
_CLOSE = 1e-4  # relative
_MOST = 400


def largest_rho(divergence: Callable[[float], float], omega: float) -> float:
    """Return an upper bound of D_a / a over 1 < a < omega.

    `divergence`: upper ends of D_a as a function of the order a, also at inf if omega is inf. `omega`: the end of the
    range, above 1; may be inf.
    """
    last = min(omega, _HIGHEST)
    beyond = divergence(inf) / last if omega > last else 0.0
    if beyond == inf:
        return inf
    first = 1 + min(_NEAREST, 0.5 * (last - 1))
    cells = [(first, (first - 1) * divergence(first), last, (last - 1) * divergence(last))]
    best = max(beyond, cells[0][1] / (first - 1))  # D_a <= D_first below, and a >= 1
    known = max(best, cells[0][3] / (last - 1) / last)
    if known == inf:
        return inf
    for _ in range(_MOST):
        place = max(range(len(cells)), key=lambda i: _over(*cells[i]))
        if _over(*cells[place]) <= known * (1 + _CLOSE):
            break
        a, at_a, b, at_b = cells.pop(place)
        middle = 1 + sqrt((a - 1) * (b - 1))
        at_middle = (middle - 1) * divergence(middle)
        known = max(known, at_middle / (middle - 1) / middle)
        cells += [(a, at_a, middle, at_middle), (middle, at_middle, b, at_b)]
    return raised(max([known, *(_over(*cell) for cell in cells)]))


def _over(a: float, at_a: float, b: float, at_b: float) -> float:
    """Return the maximum over a <= x <= b of the chord over x (x - 1), which is -low / x + start / (x - 1)."""
    slope = (at_b - at_a) / (b - a)
    low = at_a - slope * a  # of the chord at 0
    start = low + slope  # of the chord at 1
    places = [a, b]
    if low < 0 and 0 < start / low < 1:
        inner = 1 / (1 - sqrt(start / low))
        places += [inner] if a < inner < b else []
    return max(-low / x + start / (x - 1) for x in places)
