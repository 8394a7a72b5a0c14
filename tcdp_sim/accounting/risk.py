"""The risk of attacks, from the privacy profile: trade-offs, guesses, posteriors.

The neighbouring relation is symmetric, so the profile H of the worse direction at e < 0 follows from that at -e:
H(e) = 1 - e^e (1 - H(-e)). Convexity of H in e^e gives bounds between the places where it is known.
"""

from collections.abc import Callable, Iterable
from math import exp, expm1, inf, log, log1p

import numpy as np

from tcdp_sim.core.numerics import Bounds, root

Profile = Callable[[float], Bounds]  # epsilon >= 0 -> delta
_BESIDE = (-2.0, -0.7, -0.25, -0.08, 0.0, 0.08, 0.25, 0.7, 2.0)  # places around an optimum, in sizes of the loss
_NEAR = 0.006  # distance of the ends of a chord, in sizes of the loss
_SEARCHES = 40
_REFINED, _NARROW = 12, 2e-5  # places that are added at most, and the aim for the distance of the ends
_SHARE, _FINEST = 5e-4, 1e-13  # the aim relative to the smaller of both rates, and the least one
_NEAR_PLACES = 1e-6  # distance of places, in sizes of the loss, at which chords have no digits left
_ROUNDING = 4e-16
_FARTHEST, _LAST = 745.0, 700.0


def attack(profile: Profile, prior: float) -> Bounds:
    """Return the Bayes success (1 - m) + m H(log((1 - m) / m)) with m = min(prior, 1 - prior), in both directions."""
    rare = min(prior, 1 - prior)
    return ((1 - rare) + rare * profile(max(log1p(-rare) - log(rare), 0.0))).clipped(1 - rare, 1.0)


def tradeoff(profile: Profile, rough: Profile, size: float, lost: Bounds, alpha: float) -> Bounds:
    """Return f(alpha) = sup over e of 1 - H(e) - e^e alpha.

    Every e gives a lower end. For the upper end, chords of H through neighbouring places bound H from below. The first
    places are chosen by the rough profile and the usual size of the loss, and others where the bound is largest.

    lost: the probability of an infinite loss, which H is at least. It decides alone at alpha = 0.
    """
    if alpha == 1:
        return Bounds(0.0, 0.0, 0.0)
    if alpha == 0:
        return 1 - lost
    known, near = _Known(profile), _Known(rough)
    best = _largest(lambda e: 1 - near(e).estimate - exp(e) * alpha)
    places = _finite(best + size * step for step in _BESIDE)
    for _ in range(_REFINED):
        lower = max(_down(known.rest(e).lower - exp(e) * alpha) for e in places)
        upper, place = _upper(known, places, lost.lower, alpha)
        rare = min(max(lower, 0.0), 1 - upper)  # the smaller of both rates
        narrow = min(_NARROW, max(_SHARE * rare, _FINEST))
        if upper - max(lower, 0.0) <= narrow or min(abs(place - e) for e in places) < _NEAR_PLACES * size:
            break
        places = _finite([*places, min(max(place, places[0] - 2 * size), places[-1] + 2 * size)])
    middle = max(known.rest(e).estimate - exp(e) * alpha for e in places)
    return Bounds(max(lower, 0.0), middle, max(upper, lower, 0.0)).clipped(0.0, 1 - alpha)


def posterior(profile: Profile, size: float, prior: float, chance: float) -> Bounds:
    """Return the posterior that is reached with the given chance: logit = logit of the prior + a quantile of L."""
    known = _Known(profile)

    def quantile(end: int) -> float:
        return _crossing(lambda e: _tail(known, e, _NEAR * size)[end] - chance, size)

    odds = log(prior) - log1p(-prior)
    return Bounds(*sorted(_logistic(odds + quantile(end)) for end in range(3)))


class _Known:
    """The profile at any e, with the values kept. A profile that answers at e < 0 itself is asked there."""

    def __init__(self, profile: Profile) -> None:
        self._profile, self._values = profile, dict[float, Bounds]()

    def __call__(self, e: float) -> Bounds:
        if e not in self._values:
            value = self._profile(abs(e))
            self._values[e] = value if e >= 0 else (1 - exp(e) * (1 - value)).clipped(-expm1(e), 1.0)
        return self._values[e]

    def rest(self, e: float) -> Bounds:
        """Return 1 - H(e), with the rounding of its computation in the ends. At e < 0 it has all its digits."""
        if e < 0:
            value = exp(e) * (1 - self(-e))
            return Bounds(value.lower - 4 * _ROUNDING * exp(e), value.estimate, value.upper + 4 * _ROUNDING * exp(e))
        value = 1 - self(e)
        return Bounds(value.lower - _ROUNDING, value.estimate, value.upper + _ROUNDING)


def _finite(places: Iterable[float]) -> list[float]:
    """Return places in ascending order, moved to where e^e is a float with all its digits."""
    return sorted({float(min(max(place, -_LAST), _LAST)) for place in places})


@np.errstate(over="ignore", invalid="ignore")  # lines that are not finite are left out
def _upper(known: _Known, places: list[float], lost: float, alpha: float) -> tuple[float, float]:
    """Return an upper bound of C(a) - a alpha over all a = e^e, with C = 1 - H, and the e of its maximum.

    C is concave and rises. So it lies below chords through neighbouring places, extended beyond them.
    """
    a = np.exp(places)
    low, high = (np.array([known.rest(e)[end] for e in places]) for end in (0, 2))
    # C lies below the chord through (a[i], low) and (a[i + 1], high) extended to the right, and likewise to the left
    right = [(a[i + 1], high[i + 1], (high[i + 1] - low[i]) / (a[i + 1] - a[i])) for i in range(len(a) - 1)]
    left = [(a[i], high[i], (low[i + 1] - high[i]) / (a[i + 1] - a[i])) for i in range(len(a) - 1)]
    best = (-inf, 0.0)
    edges = [0.0, *a.tolist(), inf]
    for i in range(len(edges) - 1):
        lines = right[max(i - 2, 0) : max(i - 1, 0)] + left[i : i + 1]  # the nearest on each side
        lines += [(0.0, 0.0, 1.0), (0.0, 1 - lost, 0.0)]  # C <= a and C <= 1 - lost
        best = max(best, _highest(lines, edges[i], edges[i + 1], alpha))
    return best[0] + 4 * _ROUNDING, log(best[1]) if best[1] > 0 else -_FARTHEST


def _highest(lines: list[tuple[float, float, float]], start: float, end: float, alpha: float) -> tuple[float, float]:
    """Return the maximum over [start, end] of the least of the lines (a, height, slope) - a alpha, and its place."""
    levels = [(float(height - slope * a), float(slope)) for a, height, slope in lines]
    levels = [line for line in levels if np.isfinite(line).all()]
    places = {start} | ({end} if end < inf else set())
    for i, (level, slope) in enumerate(levels):
        for other, steeper in levels[:i]:
            if slope != steeper:
                meet = (other - level) / (slope - steeper)
                places |= {meet} if start < meet < end else set()
    return max((float(min(level + slope * a for level, slope in levels) - a * alpha), float(a)) for a in places)


def _tail(known: _Known, e: float, width: float) -> Bounds:
    """Return the bracket of P[L >= e] = H(e) + e^e Q[L >= e], with Q between the slopes of chords beside e."""
    left, here, right = (known(e + step) for step in (-width, 0.0, width))
    before, after = exp(e) * -expm1(-width), exp(e) * expm1(width)
    high = here.upper + exp(e) * max(left.upper - here.lower, 0.0) / before
    low = here.lower + exp(e) * max(here.lower - right.upper, 0.0) / after
    middle = here.estimate + exp(e) * (left.estimate - right.estimate) / (before + after)
    return Bounds(min(low, 1.0), middle, max(min(high, 1.0), min(low, 1.0)))


def _largest(height: Callable[[float], float]) -> float:
    """Return the place of the maximum of a function that rises and then falls, by golden section over arsinh."""
    golden = 0.5 * (5**0.5 - 1)
    low, high = -np.arcsinh(50.0), np.arcsinh(50.0)
    a, b = high - golden * (high - low), low + golden * (high - low)
    values = height(float(np.sinh(a))), height(float(np.sinh(b)))
    for _ in range(_SEARCHES):
        if high - low < 5e-4:
            break
        if values[0] >= values[1]:
            high, b, a = b, a, b - golden * (b - low)
            values = height(float(np.sinh(a))), values[0]
        else:
            low, a, b = a, b, a + golden * (high - a)
            values = values[1], height(float(np.sinh(b)))
    return float(np.sinh(0.5 * (low + high)))


def _crossing(excess: Callable[[float], float], size: float) -> float:
    """Return the place where a falling function changes its sign, or an infinity if it does not within 64 sizes."""
    low, high = -size, size
    while excess(low) < 0:
        low, high = 2 * low, low
        if low < -64 * size:
            return -inf
    while excess(high) > 0:
        low, high = high, 2 * high
        if high > 64 * size:
            return inf
    return root(excess, low, high, 1e-5 * size, 1e-9)


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -_FARTHEST else 0.0


def _down(value: float) -> float:
    return value - 2 * _ROUNDING
