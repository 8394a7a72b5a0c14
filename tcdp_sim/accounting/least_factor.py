"""The least factor at which a falling measure of privacy is within its bound, safe by its upper ends."""

from collections.abc import Callable
from math import exp, inf, log
from typing import NamedTuple

from tcdp_sim.core.numerics import Bounds

Measure = Callable[[float, float], Bounds]  # factor, relative tolerance -> the measure
BESIDE = 2e-6  # relative distance of the smaller factor at which the measure exceeds its bound
CLOSE = 2e-7  # relative distance of the factor and the least one
_ROUGH, _LEAST = 1e-4, 1e-9  # relative tolerances of a measure
_TINY = 1e-320  # stands for 0 in a log
_MOST_SECANTS, _MOST_STEPS = 12, 100
_PATIENCE = 6  # steps of full trust in the slope
_NOISY = 1e-3  # relative distance of factors whose measures give a slope
_MOST_LOG = 60.0  # largest log of a factor that the search tries
_USUAL_LOG = 7.0  # most factors are smaller


class Found(NamedTuple):
    """A factor, the measure there, and the measure at a factor that is smaller by `BESIDE`."""

    factor: float
    spent: Bounds
    below: Bounds


def least_factor(
    at: Measure,
    allowed: float,
    need_room: Callable[[], None] = lambda: None,
    close: float = CLOSE,
    guess: Callable[[float], float] | None = None,
) -> Found:
    """Return a factor whose measure is at most `allowed` by its upper end, the least one if the measure falls.

    It is larger than the least one by about `close`, relative.

    `need_room` raises the error for a list that no factor helps. It is called for unusually large factors. `guess` is a
    cheap estimate of the measure, for the search. Raises ValueError if no factor is found.
    """
    if guess is None:
        factor, slope = _root(at, allowed, need_room)
    else:
        estimate = guess
        factor, slope = _root(lambda factor, _: Bounds(*3 * (estimate(factor),)), allowed, need_room)
        factor, slope = _improved(at, allowed, factor, slope)
    tolerance = max(min(close * slope, _ROUGH), _LEAST)
    factor = _polished(at, allowed, factor, slope, tolerance, close)
    beside = max(tolerance, min(0.3 * BESIDE * slope, _ROUGH))  # enough to tell the measures apart
    return Found(factor, at(factor, tolerance), at(factor * (1 - BESIDE), beside))


def _improved(at: Measure, allowed: float, factor: float, slope: float) -> tuple[float, float]:
    """Return a factor and a slope that improve on an estimate of the measure, by a secant step."""
    before = None
    for _ in range(_MOST_SECANTS):
        excess = log(max(at(factor, _ROUGH).upper, _TINY)) - log(allowed)
        if before is not None and abs(log(factor / before[0])) > _NOISY:
            found = (before[1] - excess) / log(factor / before[0])
            slope = min(max(found, 0.3 * slope), 3 * slope)
        before = factor, excess
        factor *= exp(min(max(excess / slope, -0.5), 0.5))
        if abs(excess) < 30 * _ROUGH:
            break
    return factor, slope


def _root(at: Measure, allowed: float, need_room: Callable[[], None]) -> tuple[float, float]:
    """Return the factor at which the measure is `allowed`, roughly, and its slope -dlog(measure)/dlog(factor)."""

    def excess(log_factor: float) -> float:
        bounds = at(exp(log_factor), _ROUGH)
        value = bounds.estimate if bounds.upper <= 2 * bounds.lower else bounds.upper
        return 1e4 if value == inf else log(max(value, _TINY)) - log(allowed)

    low = high = 0.0
    step = 0.5
    while excess(low) <= 0:
        low, step = low - step, 2 * step
        if low < -_MOST_LOG:
            raise ValueError("every scale meets the guarantee; valid: a smaller budget")
    step = 0.5
    while excess(high) > 0:
        high, step = high + step, 2 * step
        if high > _USUAL_LOG:
            need_room()  # so late because a bracket for few releases can take long
        if high > _MOST_LOG:
            raise ValueError("no scale of the free releases meets the guarantee; valid: a larger budget")
    from scipy.optimize import brentq  # imported late, as in `core.numerics.root`

    root = brentq(excess, low, high, xtol=1e-4)
    near = 0.01
    return exp(root), max((excess(root - near) - excess(root + near)) / (2 * near), 1e-3)


def _polished(at: Measure, allowed: float, factor: float, slope: float, tolerance: float, close: float) -> float:
    """Return a factor whose upper end is at most `allowed`, by Newton steps in the logs.

    A step that leaves the known bracket halves it instead. So a measure that jumps, as the delta of pure DP does at its
    epsilon, is followed to the place of its jump. Near a jump the slope may be far too large. Steps without a bracket
    therefore double after some attempts.
    """
    x, low, high = log(factor), -inf, inf  # the measure exceeds its bound at `low`, and not at `high`
    points: list[tuple[float, float]] = []
    for attempt in range(_MOST_STEPS):
        upper = at(exp(x), tolerance).upper
        points.append((x, log(max(upper, _TINY))))
        slope = _secant(points, slope, tolerance)
        move = (points[-1][1] - log(allowed)) / slope + 0.05 * close
        if upper <= allowed:
            if abs(move) < 0.2 * close:
                return exp(x)
            high = x
        else:
            low = x
        if high - low < close:
            return exp(high)
        if max(abs(low), abs(high)) == inf:
            move *= 2.0 ** max(attempt - _PATIENCE, 0)
        x += min(max(move, -0.5), 0.5)
        if attempt % 3 == 2 or not low < x < high:
            x = 0.5 * (low + high) if high - low < inf else x
    raise ValueError("no scale near the estimate meets the guarantee; valid: a larger budget, or other releases")


def _secant(points: list[tuple[float, float]], slope: float, tolerance: float) -> float:
    """Return -dlog(measure)/dlog(factor) by the last two points, the old one where they say too little."""
    if len(points) < 2:
        return slope
    (x, value), (y, other) = points[-2:]
    told = abs(value - other) > 20 * tolerance and log(_TINY) + 1 < min(value, other) <= max(value, other) < inf
    return max((value - other) / (y - x), 1e-3) if told and x != y else slope
