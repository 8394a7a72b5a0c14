"""Questions about tests between the two laws of a composed pair: powers, errors, and quantiles of the loss.

With a = e^e let H(a) be the profile of a direction (P, Q), which is convex and falls. The most powerful test with the
type I error alpha rejects Q with the probability inf over a of H(a) + a alpha under P. A test that does so with a
probability beta needs a type I error of at least sup over a of (beta - H(a)) / a. Chords of H give the slopes -H'(a) =
Q[L > e], and so the tails P[L > e] = H(a) + a Q[L > e].
"""

from collections.abc import Callable
from math import exp, log
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.losses.convolved import LossSum
from tcdp_sim.exact.losses.questions import Ends, Peak, Question
from tcdp_sim.exact.losses.tilts import Crude

Value = Callable[[Any, Any], Any]  # of a and H(a)
_PLACES = 16  # at which a profile is asked at once
_ZOOM = 0.15  # of the distance of all places: how far the next ones reach on each side
_ROUNDS = 10
_GAIN = 0.8  # a narrower distance of places has to shrink a bracket by this factor
_PART = 1e-3  # of a power: the least part of it that H is taken to be
_FARTHEST = 700.0  # e^e has all its digits
_ROUNDING = 4e-16
_WIDER = 4.0
_DEARER = 6  # a point of a transform, as a profile is asked at many places
_QUANTILE_STEP = 0.8  # of the allowed width over the root of the number of releases


def power_question(alpha: float, allowed: Callable[[float], float]) -> Question:
    """Return the question for the power of the best test with a type I error in [0, 1]."""

    def at_once(lost: Ends, most: Ends, peak: Peak) -> Ends:
        if alpha == 1:
            return 1.0, 1.0
        if alpha == 0:
            return lost
        loss, mass = peak  # a test may reject where the loss is infinite, and at a share of the peak
        low = lost[0] + min(mass, alpha * exp(min(loss, _FARTHEST))) * (1 - 8 * _ROUNDING * (1 + abs(loss)))
        high = lost[1] + exp(min(most[1] + log(alpha) + 8 * _ROUNDING * (1 + abs(most[1]) - log(alpha)), 0.0))
        return max(low, alpha), min(max(high, low, alpha), 1.0)

    def place(crude: Crude, ends: Ends) -> Ends:
        epsilon = min(crude.quantile(alpha, -1.0), -log(alpha))
        reached = crude.tail(epsilon, 0.0)  # the power, which is H(a) + a alpha
        return epsilon, log(max(reached - exp(epsilon + log(alpha)), _PART * reached, 1e-320))

    def find(law: LossSum, width: float) -> Ends:
        best, worst = _infimum(law, lambda a, profile: profile + a * alpha, width)
        return max(worst * (1 - 4 * _ROUNDING), alpha), min(best * (1 + 4 * _ROUNDING), 1.0)

    def answer(epsilon: float, log_delta: float) -> float:
        return min(exp(log_delta) + exp(min(epsilon + log(alpha), 0.0)), 1.0)

    settled = alpha in (0, 1)
    return Question(
        at_once, place, find, allowed, lambda theta, power: theta * power, answer, settled, wider=_WIDER, dearer=_DEARER
    )


def error_question(alpha: float, allowed: Callable[[float], float]) -> Question:
    """Return the question for minus the least type I error of a test with the power 1 - alpha, for alpha in (0, 1).

    It is the least type II error of the other direction at a type I error of alpha, with the digits of a small number.
    """
    power = 1 - alpha

    def at_once(lost: Ends, most: Ends, peak: Peak) -> Ends:
        loss, mass = peak
        top = most[1] + 8 * _ROUNDING * (1 + abs(most[1]))
        high = -max(power * (1 - _ROUNDING) - lost[1], 0.0) * exp(min(-top, _FARTHEST))
        left = max(power * (1 + _ROUNDING) - lost[0], 0.0)
        low = left * exp(min(-loss, _FARTHEST)) * (1 + 8 * _ROUNDING * (1 + abs(loss))) if left <= mass else 1.0
        return max(-low, -power * (1 + _ROUNDING)), min(high, 0.0)

    def place(crude: Crude, ends: Ends) -> Ends:
        epsilon = min(crude.quantile(power, 0.0), _FARTHEST - 10)
        error = exp(min(epsilon, -log(crude.tail(epsilon, -1.0) + 1e-320))) * crude.tail(epsilon, -1.0)
        return epsilon, log(max(power - error, _PART * power))

    def find(law: LossSum, width: float) -> Ends:
        best, worst = _infimum(law, lambda a, profile: (profile - power) / a, width)
        return min(worst * (1 + 4 * _ROUNDING), -TINY), min(best * (1 - 4 * _ROUNDING), 0.0)

    def answer(epsilon: float, log_delta: float) -> float:
        return -exp(min(log(max(power - exp(log_delta), 1e-320)) - epsilon, 0.0))

    def slope(theta: float, answer: float) -> float:
        return (theta + 1) * -answer

    return Question(at_once, place, find, allowed, slope, answer, wider=_WIDER, dearer=_DEARER)


def quantile_question(probability: float, width: float) -> Question:
    """Return the question for the largest e with P[L >= e] >= probability, in (0, 1), to an absolute width."""

    def at_once(lost: Ends, most: Ends, peak: Peak) -> Ends:
        if lost[0] >= probability:
            return np.inf, np.inf
        loss, mass = peak
        low = loss if lost[0] + mass * (1 - _ROUNDING) >= probability else -np.inf
        return low, most[1] if lost[1] < probability else np.inf

    def place(crude: Crude, ends: Ends) -> Ends:
        epsilon = float(np.clip(crude.quantile(probability, 0.0), *ends))
        return epsilon, min(crude.log_delta(epsilon), 0.0)

    def find(law: LossSum, width: float) -> Ends:
        return _quantile(law, probability, width)

    def slope(theta: float, answer: float) -> float:
        return (theta + 1) ** -1 / (_QUANTILE_STEP**2 * width)

    return Question(
        at_once,
        place,
        find,
        lambda _: width,
        slope,
        lambda epsilon, _: epsilon,
        missed=_is_below,
        wider=_WIDER,
        dearer=_DEARER,
    )


def _is_below(found: Ends, high: float) -> bool:
    return found[0] == -np.inf


def _sampled(law: LossSum, places: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of the profile, which fall and are convex already up to the width."""
    low, high = (np.array([bound(float(e)) for e in places]) for bound in (law.lower, law.upper))
    trivial = -np.expm1(np.minimum(places, 0.0))
    low = np.maximum(np.maximum.accumulate(low[::-1])[::-1], trivial * (1 - _ROUNDING))
    return low, np.maximum(np.minimum.accumulate(high), low)


def _places(low: float, high: float) -> Floats:
    return np.unique(np.linspace(low, high, _PLACES))


def _infimum(law: LossSum, value: Value, width: float) -> Ends:
    """Return the infimum over a of a value that rises with H(a), from above and from below."""
    first, last = (float(np.clip(end, -_FARTHEST, _FARTHEST)) for end in law.range)
    best, worst = np.inf, -np.inf
    low, high, place = first, last, first
    for _ in range(_ROUNDS if first < last else 0):
        places = np.unique(np.append(np.linspace(low, high, _PLACES), np.clip(place, first, last)))
        below, above = _sampled(law, places)
        upper = value(np.exp(places), above * (1 + 2 * _ROUNDING))
        lower, place = _least(places, below, above, law.lost[0], value)
        best, worst = min(best, float(upper.min())), max(worst, lower)
        if best - worst <= width / 4:
            break
        at, reach = float(places[int(np.argmin(upper))]), _ZOOM * (high - low)
        low, high = max(at - reach, first), min(at + reach, last)
    return best, min(worst, best)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # lines that are not finite are left out
def _least(places: Floats, low: Floats, high: Floats, lost: float, value: Value) -> tuple[float, float]:
    """Return a lower bound of the infimum over all a = e^e, and an e at which it is near.

    H lies above chords through neighbouring places, extended beyond them, above its value at the next place, and above
    1 - a and `lost`.
    """
    a = np.exp(places)
    from_left = (low[1:] - high[:-1]) / np.diff(a)  # slopes of chords that are extended to the right
    from_right = (high[1:] - low[:-1]) / np.diff(a)
    edges = [0.0, *a.tolist(), np.inf]
    best = (np.inf, 0.0)
    for i in range(len(a) + 1):
        lines = [(0.0, 1.0, -1.0), (0.0, max(lost, float(low[i]) if i < len(a) else 0.0), 0.0)]
        if i >= 2:
            lines.append((float(a[i - 1]), float(low[i - 1]), float(from_left[i - 2])))
        if i + 1 < len(a):
            lines.append((float(a[i]), float(low[i]), float(from_right[i])))
        best = min(best, _lowest(lines, edges[i], edges[i + 1], value))
    return best[0], log(best[1]) if best[1] > 0 else -_FARTHEST


def _lowest(lines: list[tuple[float, float, float]], start: float, end: float, value: Value) -> tuple[float, float]:
    """Return the least value over [start, end] of the largest of the lines, from below, and its place.

    It is at an end or where two lines meet. lines: each a place, the height there, and a slope.
    """
    lines = [line for line in lines if np.isfinite(line).all()]
    places = {start} | ({end} if end < np.inf else set())
    for i, (a, height, slope) in enumerate(lines):
        for b, other, steeper in lines[:i]:
            if slope != steeper:
                meet = (other - height + slope * a - steeper * b) / (slope - steeper)
                places |= {meet} if start < meet < end else set()

    def at(x: float) -> float:
        rises = ((height + slope * (x - a), abs(height) + abs(slope * (x - a))) for a, height, slope in lines)
        return float(value(x, max(rise - 4 * _ROUNDING * size for rise, size in rises)))

    return min((at(x), x) for x in places if x > 0)


def _quantile(law: LossSum, probability: float, width: float) -> Ends:
    """Return a bracket of the largest e with P[L >= e] >= probability; an end outside the window is infinite."""
    first, last = law.range
    least, most = -np.inf, np.inf
    low, high = first, last
    while low < high:
        before = most - least
        places = np.unique(np.linspace(low, high, _PLACES))
        below, above = _tails(places, *_sampled(law, places))
        reached, missed = places[below >= probability], places[above < probability]
        least, most = max([least, *reached[-1:]]), min([most, *missed[:1]])
        if not (np.isfinite(most - least) and most - least > width / 4 and most - least <= _GAIN * before):
            break
        margin = 2 * min(float(places[1] - places[0]), most - least)
        low, high = max(least - margin, first), min(most + margin, last)
    return float(least), float(max(most, least))


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _tails(places: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return bounds of P[L >= e] at places, from the steepest and flattest chords of H that pass through them."""
    distance = np.expm1(places[None, :] - places[:, None])  # of a, from a place (row) to another one, over a
    falls = (low[:, None] - high[None, :]) / distance  # too little to the right, and too much to the left
    right = np.triu(np.ones_like(falls, dtype=bool), 1)
    return low + np.max(np.where(right, falls, 0.0), axis=1), high + np.min(np.where(right.T, falls, np.inf), axis=1)
