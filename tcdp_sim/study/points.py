"""Points from axes: a block of a sweep is data, and its axes are multiplied out, zipped and filtered.

A block is a mapping from axes to values. A value is a scalar, a list, or a range {from, to, num, scale: linear | log}.
The key `log10_<axis>` gives an axis by its exponents. A block may also have these keys:

- `zip`: groups of axes that advance together,
- `where`: conditions such as "k <= 1e6" or "omega > 1.5", all of which must hold,
- `cells`: an explicit list of points, each of which completes the block's axes.
"""

import itertools
import json
import math
import operator
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tcdp_sim.core.axes import Axis
from tcdp_sim.core.errors import UserError, place_of, suggestion
from tcdp_sim.mechanisms.axes import OMEGA, OMEGA_FORMS, POSITIVE, scaled_omega

Point = dict[str, Any]  # axis -> value
Pool = tuple[tuple[str, ...], list[tuple[Any, ...]]]  # names of axes, and the values that they have together
KEYWORDS = ("zip", "where", "cells")
LOG10 = "log10_"
MOST_POINTS = 10**6
_CONDITION = re.compile(r"^\s*(\w+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$")
_COMPARE = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


class Points(Iterable[Point]):
    """The points of a block, computed one by one whenever they are iterated over."""

    def __init__(self, make: Callable[[], Iterator[Point]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Point]:
        return self._make()


def points(block: Mapping[str, Any], valid: Mapping[str, Axis], where: str = "sweep") -> Points:
    """Return the points of a block, multiplied out.

    A block has axes and their values, and the keywords `zip`, `where` and `cells`. `valid` has the axes that it may
    have, and `where` is its name in error messages.
    """
    axes = {}
    for key in block:
        if key not in KEYWORDS and block[key] is not None:
            axis = _known_axis(f"{where}.{key}", key, valid, KEYWORDS)
            if axis.name in axes:
                raise UserError(f"{where}: the axis {axis.name} is given twice, also as {LOG10}{axis.name}", where)
            axes[axis.name] = axis_values(axis, key, block[key], where)
    pools = _pools(axes, _groups(block.get("zip"), axes, where))
    cells = [{}] if block.get("cells") is None else _explicit_cells(block["cells"], valid, where)
    _affordable(where, math.prod(len(values) for _, values in pools) * len(cells))
    tests = [_condition(text, where) for text in _listed(block.get("where"))]
    named = any(axis.kind == "plain" for axis in valid.values())  # the user's own names, for which nothing is derived
    asked = (lambda point: point) if named else (lambda point: derived(point, where))

    def make() -> Iterator[Point]:
        without = (lambda point, _: point) if named else _without_omega
        completed = (without(point, cell) | cell for point in _product(pools) for cell in cells)
        if not tests:
            return completed
        return (point for point in completed if all(test(asked(point)) for test in tests))

    if tests:
        deque(make(), maxlen=0)  # reports a wrong condition before the first point is used
    return Points(make)


def axis_values(axis: Axis, key: str, value: Any, where: str = "sweep") -> list[Any]:
    """Return the values that a key of a sweep gives its axis: k = [10, 100] for log10_k = [1, 2].

    `value` is a scalar, a list or a range, and `where` is the name of the block in error messages.
    """
    place = f"{where}.{key}"
    if axis.kind == "plain":
        return _plain_values(place, key != axis.name, value)
    return _names(place, value) if axis.kind == "option" else _values(place, axis, key != axis.name, value)


def rounded(x: float) -> float:
    """Return x rounded to 12 significant digits, which removes binary rounding errors from a config's number."""
    return x if not math.isfinite(x) else float(f"{x:.12g}")


def _values(where: str, axis: Axis, exponent: bool, value: Any) -> list[Any]:
    values = _range(where, value) if isinstance(value, Mapping) else list(_listed(value))
    if axis.kind == "flag":
        values = [str(v).lower() if isinstance(v, bool) else v for v in values]
    if not values:
        raise UserError(f"{where} is empty; give at least one value", where)
    values = [_power(where, v) if exponent else v if isinstance(v, str) else _number(where, v) for v in values]
    if axis.kind == "whole":
        counted = exponent or isinstance(value, Mapping)  # grids are rounded to whole numbers, given values are not
        values = [_whole(where, v, counted) if isinstance(v, float) else v for v in values]
    if axis.valid == POSITIVE and (wrong := [v for v in values if not isinstance(v, str) and not v > 0]):
        raise UserError(f"{where} = {wrong[0]:g} is not valid; valid: {axis.valid}", where)
    return list(dict.fromkeys(values))


def _plain_values(where: str, exponent: bool, value: Any) -> list[Any]:
    """Return values of any kind as they are given, each once. Ranges and powers of whole numbers are integers."""
    is_range = isinstance(value, Mapping) and bool({"from", "to"} & set(value))
    if is_range:
        values: list[Any] = [rounded(each) for each in _range(where, value)]
    else:
        values = [plain(where, each) for each in (value if isinstance(value, list | tuple) else [value])]
        if any(isinstance(each, Mapping) for each in values):
            ranges = "or a range with from, to and num"
            raise UserError(
                f"{where} has a dictionary as a value; valid: numbers, texts, lists of these, {ranges}", where
            )
    if not values:
        raise UserError(f"{where} is empty; give at least one value", where)
    values = [_power(where, each) for each in values] if exponent else values
    if (is_range or exponent) and all(each.is_integer() and abs(each) < 2**53 for each in values):
        values = [int(each) for each in values]
    return list({_known_by(each): each for each in reversed(values)}.values())[::-1]


def _known_by(value: Any) -> Any:
    """Return a key that equal values share: 1 and 1.0 are equal numbers, and True is none."""
    return value if type(value) in (int, float, str) else json.dumps(value, sort_keys=True)


def plain(where: str, value: Any) -> Any:
    """Return a value as plain data: numbers, texts, True, False, None, and tuples and dicts of these.

    The value may be one of NumPy. Raise UserError, with the axis `where`, for anything else, for NaN, and for a text
    that is not UTF-8.
    """
    if type(value) in (int, bool, type(None)) or (type(value) is str and _is_utf8(value)):
        return value
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufUO":
        return plain(where, (value.astype(np.float64) if value.dtype.kind == "f" else value).tolist())
    if type(value) is float and not math.isnan(value):
        return value + 0.0  # -0.0 becomes 0.0
    if isinstance(value, list | tuple):
        return tuple(plain(where, each) for each in value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(where, each) for key, each in value.items()}
    shown = " ".join(repr(value).split())[:60]
    raise UserError(
        f"{where} = {shown} is not plain data; valid: numbers, texts, booleans, None, and lists of these", where
    )


def _is_utf8(text: str) -> bool:
    """Return False for a text with lone surrogates, such as a file name that is not UTF-8, which no file can hold."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _names(where: str, value: Any) -> list[str]:
    values = list(_listed(value))
    for name in values:
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise UserError(f"{where} = {name!r} is not known; valid: a name or a list of names", where)
    if not values:
        raise UserError(f"{where} is empty; give at least one name", where)
    return list(dict.fromkeys(map(str, values)))


def _whole(where: str, k: float, rounding: bool) -> float:
    if not 1 <= k < 1e15 or k.is_integer():
        return k  # the mechanism checks the range; beyond 2^53 every float is whole
    if not rounding:
        raise UserError(f"{where} = {k:g} is not valid; valid: a whole number of bins", where)
    return float(round(k))


def _known_axis(where: str, key: str, valid: Mapping[str, Axis], keywords: tuple[str, ...] = ()) -> Axis:
    """Return the axis that a key gives. Raises UserError if it gives none."""
    name = key if key in valid else key.removeprefix(LOG10)
    if name not in valid:
        names, section = (*valid, *keywords), where.removesuffix(key)
        near = suggestion(name, [f"{section}{each}" for each in names])
        raise UserError(f"{where} is not an axis; valid: {', '.join(names)}{near}", where)
    if key != name and not valid[name].has_exponent:
        raise UserError(f"{where} is not an axis: a name has no exponent; valid: {name}", where)
    return valid[name]


def _affordable(where: str, size: int) -> None:
    if size > MOST_POINTS:
        raise UserError(f"{where} has {size:.3g} points; valid: at most {MOST_POINTS:,}", where)


def _range(where: str, spec: Mapping[str, Any]) -> list[float]:
    if unknown := set(spec) - {"from", "to", "num", "scale"}:
        raise UserError(
            f"{where}: unknown key {sorted(unknown)[0]}; valid: from, to, num, scale (linear or log)", where
        )
    try:
        low, high = (_number(where, spec[end]) for end in ("from", "to"))
        num = int(_number(where, spec["num"]))
    except (KeyError, ValueError, OverflowError):
        raise UserError(
            f"{where}: a range needs numbers from, to and a whole number num; got {dict(spec)}", where
        ) from None
    scale = spec.get("scale", "linear")
    if num < 1 or num != spec["num"] or not (math.isfinite(low) and math.isfinite(high)):
        raise UserError(f"{where}: num must be a whole number >= 1, from and to finite; got {dict(spec)}", where)
    if scale not in ("linear", "log") or (scale == "log" and min(low, high) <= 0):
        raise UserError(f"{where}: scale must be linear, or log with positive from and to; got {dict(spec)}", where)
    _affordable(where, num)
    steps = [i / (num - 1) if num > 1 else 0.0 for i in range(num)]
    if scale == "log":
        return [low * (high / low) ** s for s in steps]
    return [low + (high - low) * s for s in steps]


def _number(where: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        raise UserError(f"{where} is too large; valid: numbers up to 1e308", where) from None
    if math.isnan(number):
        raise UserError(f"{where} = {value!r} is not a number", where)
    return rounded(number)


def _power(where: str, exponent: Any) -> float:
    if _number(where, exponent) > 308:
        raise UserError(f"{where} = {exponent:g} is too large; valid: exponents up to 308", where)
    return rounded(10.0 ** _number(where, exponent))


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _groups(value: Any, axes: Mapping[str, Any], where: str) -> list[tuple[str, ...]]:
    """Return the groups of `zip`. Raises UserError unless they name axes of the block once and have equal lengths."""
    groups = _listed(value)
    if groups and not any(isinstance(group, list | tuple) for group in groups):
        groups = [groups]
    groups = [tuple(_listed(group)) for group in groups if group != []]
    names = [name for group in groups for name in group]
    for name in names:
        if not isinstance(name, str) or name not in axes:
            raise UserError(
                f"{where}.zip = {value} is not valid; valid: groups of axes given, such as [[k, rho]]", f"{where}.zip"
            )
        if names.count(name) > 1:
            raise UserError(f"{where}.zip names {name} twice; valid: each axis in one group at most", f"{where}.zip")
    for group in groups:
        lengths = {name: len(axes[name]) for name in group}
        if len(set(lengths.values())) > 1:
            raise UserError(f"{where}.zip needs axes of equal length; got {lengths}", f"{where}.zip")
    return groups


def _pools(axes: Mapping[str, Any], groups: list[tuple[str, ...]]) -> list[Pool]:
    """Return the factors of the product: names of axes that advance together, and their values."""
    zipped = {name for group in groups for name in group}
    pools: list[Pool] = [((name,), list(zip(axes[name]))) for name in axes if name not in zipped]
    return pools + [(group, list(zip(*(axes[name] for name in group)))) for group in groups]


def _product(pools: list[Pool]) -> Iterator[Point]:
    names = [name for group, _ in pools for name in group]
    for combination in itertools.product(*(values for _, values in pools)):
        yield dict(zip(names, itertools.chain.from_iterable(combination)))


def _explicit_cells(listed: Any, valid: Mapping[str, Axis], where: str) -> list[Point]:
    cells = [_explicit(cell, valid, where) for cell in _listed(listed)]
    if not cells:
        raise UserError(
            f"{where}.cells is empty; give at least one point, such as {{k: 10, rho: 0.1}}, or null", f"{where}.cells"
        )
    return cells


def _explicit(cell: Any, valid: Mapping[str, Axis], where: str) -> dict[str, Any]:
    if not isinstance(cell, Mapping) or not cell:
        raise UserError(
            f"{where}.cells: {cell!r} is not a point; valid: values of axes such as {{k: 10, rho: 0.1}}",
            f"{where}.cells",
        )
    out = {}
    for key, value in cell.items():
        if not isinstance(key, str):
            raise UserError(f"{where}.cells: {key!r} is not an axis; valid: {', '.join(valid)}", f"{where}.cells")
        axis = _known_axis(f"{where}.cells.{key}", key, valid)
        if axis.kind == "plain" and isinstance(value, list | tuple | Mapping):
            value = [value]  # a list is one value here
        values = axis_values(axis, key, value, f"{where}.cells")
        if len(values) > 1:
            raise UserError(f"{where}.cells.{key} = {value!r} is not valid; valid: one value", f"{where}.cells.{key}")
        out[axis.name] = values[0]
    return out


def _without_omega(point: dict[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the point without the axis omega, in either form, if the cell gives it."""
    forms = set(OMEGA_FORMS)
    return {axis: value for axis, value in point.items() if axis not in forms} if forms & set(cell) else point


def _condition(text: Any, where: str) -> Callable[[Mapping[str, Any]], bool]:
    match = _CONDITION.match(str(text))
    if not match:
        raise UserError(
            f'{where}.where: {text!r} is not a condition; valid: "axis <= value", with < <= > >= == !=',
            f"{where}.where",
        )
    name, sign, right = match.groups()

    def holds(point: Mapping[str, float | str]) -> bool:
        if name not in point:
            raise UserError(
                f"{where}.where: {name} is not an axis of the block; valid: {', '.join(point)}", f"{where}.where"
            )
        other = point.get(right, right)
        left = point[name]
        try:
            return _COMPARE[sign](float(left), float(other))
        except (TypeError, ValueError):
            if sign in ("==", "!="):
                return _COMPARE[sign](str(left), str(other))
            raise UserError(f"{where}.where: {text!r} compares {left!r} with {other!r}", f"{where}.where") from None

    return holds


def derived(point: Mapping[str, Any], where: str = "sweep") -> dict[str, Any]:
    """Return the point with omega, computed from the form in which it is given. Messages call the block `where`."""
    try:
        omega = scaled_omega(point)
    except ValueError as mistake:
        raise UserError(f"{where}: {mistake}", f"{where}.{place_of(mistake)}".rstrip(".")) from None
    return dict(point) if omega is None else {**point, OMEGA.name: rounded(omega)}
