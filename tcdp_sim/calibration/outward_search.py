"""Roots and minima of costly functions that are not computable everywhere, by a search from a start outwards.

A function may raise ValueError at a point where it is not computable. Points beyond such a point are not tried.
"""

from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import NamedTuple

from tcdp_sim.core.search import brentq, minimize_scalar

Function = Callable[[float], float]
_FIRST_STEP, _GROWTH, _LEAST_STEP = 0.4, 1.6, 0.02
_XTOL, _XTOL_LOWEST = 1e-11, 1e-3
_ZERO = 1e-7  # largest size of a function at its root, so that a jump is not taken for a root


class _Point(NamedTuple):
    at: float
    value: float


def increasing_root(function: Function, start: float, low: float, high: float) -> float | None:
    """Return the root of an increasing function on [low, high], ends included, or None if there is none."""
    if function(start) > 0:
        return _root(function, _walk(function, start, low, lambda old, new: new <= 0))
    return _root(function, _walk(function, start, high, lambda old, new: new >= 0))


def largest_root(function: Function, start: float, low: float, high: float) -> float | None:
    """Return the largest root on [low, high] of a function that falls and then rises, or None if there is none.

    A function that only falls or only rises is valid too.
    """
    here, top = function(start), function(high)
    if here < 0 and top < -_ZERO:
        return _root(function, _walk(function, start, low, lambda old, new: new >= 0))
    if here >= 0 and top >= 0:
        start, here = lowest(function, start, low, high, enough=0.0)
        if here >= 0:
            return start if here < _ZERO else None
    return _root(function, _walk(function, start, high, lambda old, new: (new >= 0) != (here >= 0)))


def lowest(function: Function, start: float, low: float, high: float, enough: float = -inf) -> _Point:
    """Return the minimum of a function that falls and then rises, or a place where it is below `enough`."""
    ends = []
    for end in (low, high):
        path = _walk(function, start, end, lambda old, new: new >= old or new < enough)
        if len(path) > 1 and path[-1].value < path[-2].value:
            return path[-1]
        ends.append(path[-1].at)
        if len(path) > 2:
            ends = [path[-3].at, path[-1].at]
            break
    best = minimize_scalar(function, bounds=sorted(ends), method="bounded", options={"xatol": _XTOL_LOWEST})
    return _Point(float(best.x), float(best.fun))


def first_computable(function: Function, places: list[float]) -> float:
    """Return the first place at which the function is computable.

    If there is none, raises the ValueError of the last place.
    """
    for place in places[:-1]:
        try:
            function(place)
            return place
        except ValueError:
            continue
    function(places[-1])
    return places[-1]


def extremes(function: Function, start: float, low: float, high: float) -> tuple[float, float]:
    """Return the least and the largest value of a function that falls and then rises, as far as it is computable."""
    ends = (_walk(function, start, end, lambda old, new: False)[-1].value for end in (low, high))
    return lowest(function, start, low, high).value, max(ends)


def _walk(function: Function, start: float, end: float, done: Callable[[float, float], bool]) -> list[_Point]:
    """Return the steps from start towards end.

    The walk ends when `done` holds for two successive values, at the end, or at a place where nothing is computable.
    """
    path, step, growth = [_Point(start, function(start))], _FIRST_STEP, _GROWTH
    side = 1 if end > start else -1
    while (at := path[-1].at) != end and step > _LEAST_STEP:
        after = at + side * step if abs(end - at) > step else end
        try:
            value = function(after)
        except ValueError:
            step, growth = step / 4, 1.0
            continue
        path.append(_Point(after, value))
        if done(path[-2].value, value):
            break
        step *= growth
    return path


def _root(function: Function, path: list[_Point]) -> float | None:
    """Return the root in the last step of a walk, or at its end."""
    for before, last in pairwise(path[-2:]):
        if min(before.value, last.value) <= 0 <= max(before.value, last.value):
            root = float(brentq(function, before.at, last.at, xtol=_XTOL))
            return root if abs(function(root)) < _ZERO else None
    return path[-1].at if abs(path[-1].value) < _ZERO else None
