"""Axes -> points. A block of a sweep is data: axes that are multiplied out, zipped and filtered.

A block is a mapping from axes to values. A value is a scalar, a list, or a range {from, to, num, scale: linear |
log}; `log10_<axis>` gives the axis by its exponents. Besides axes a block may hold `zip` (groups of axes that
advance together), `where` (conditions such as "k <= 1e6" or "omega > 1.5", all of which must hold) and `cells`
(an explicit list of points, each completing the block's axes).
"""

import itertools
import math
import operator
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tcdp_sim.core.errors import UserError, real, suggestion

Point = dict[str, Any]  # axis -> value
Pool = tuple[tuple[str, ...], list[tuple[Any, ...]]]  # names of axes, and the values that they have together
KEYWORDS = ("zip", "where", "cells")
NAMES = ("noise", "data")  # axes whose values are names
YES_NO = ("nonnegative",)  # axes whose values are true and false, as texts
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
    """The points of a block, made one after the other each time that they are asked for."""

    def __init__(self, make: Callable[[], Iterator[Point]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Point]:
        return self._make()


def points(block: Mapping[str, Any], valid_axes: Iterable[str], where: str = "sweep") -> Points:
    """Multiply a block out. `where` names the block in error messages. Raises UserError."""
    valid_axes = tuple(valid_axes)
    axes = {}
    for key in block:
        if key not in KEYWORDS and block[key] is not None:
            name, values = _axis(f"{where}.{key}", key, block[key])
            _known_axis(f"{where}.{key}", name, (*valid_axes, *KEYWORDS))
            if name in axes:
                raise UserError(f"{where}: the axis {name} is given twice, also as log10_{name}")
            axes[name] = values
    pools = _pools(axes, _groups(block.get("zip"), axes, where))
    cells = [{}] if block.get("cells") is None else _explicit_cells(block["cells"], valid_axes, where)
    _affordable(where, math.prod(len(values) for _, values in pools) * len(cells))
    tests = [_condition(text, where) for text in _listed(block.get("where"))]

    def make() -> Iterator[Point]:
        completed = (_without_omega(point, cell) | cell for point in _product(pools) for cell in cells)
        return (point for point in completed if all(test(derived(point, where)) for test in tests))

    if tests:
        deque(make(), maxlen=0)  # what is wrong with a condition is said before anything is made of a point
    return Points(make)


def axis_values(key: str, value: Any) -> list[Any]:
    """Return the values that a key of a sweep gives its axis: k = [10, 100] for log10_k = [1, 2]. Raises UserError."""
    return _axis(f"sweep.{key}", key, value)[1]


def rounded(x: float) -> float:
    """x to 12 significant digits: what a config says, free of the dust of binary arithmetic."""
    return x if not math.isfinite(x) else float(f"{x:.12g}")


def _axis(where: str, key: str, value: Any) -> tuple[str, list[Any]]:
    if key in NAMES:
        return key, _names(where, value)
    name = key.removeprefix("log10_")
    if name in NAMES:
        raise UserError(f"{where} is not an axis: a name has no exponent; valid: {name}")
    exponent = key != name
    values = _range(where, value) if isinstance(value, Mapping) else list(_listed(value))
    if name in YES_NO:
        values = [str(v).lower() if isinstance(v, bool) else v for v in values]
    if not values:
        raise UserError(f"{where} is empty; give at least one value")
    values = [_power(where, v) if exponent else v if isinstance(v, str) else _number(where, v) for v in values]
    if name == "k":
        counted = exponent or isinstance(value, Mapping)  # a grid of k is meant to be rounded, a k that is given not
        values = [_whole(where, v, counted) if isinstance(v, float) else v for v in values]
    return name, list(dict.fromkeys(values))


def _names(where: str, value: Any) -> list[str]:
    values = list(_listed(value))
    for name in values:
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise UserError(f"{where} = {name!r} is not known; valid: a name or a list of names")
    if not values:
        raise UserError(f"{where} is empty; give at least one name")
    return list(dict.fromkeys(map(str, values)))


def _whole(where: str, k: float, rounding: bool) -> float:
    if not 1 <= k < 1e15 or k.is_integer():
        return k  # out of range is the mechanism's to say; beyond 2^53 every float is whole
    if not rounding:
        raise UserError(f"{where} = {k:g} is not valid; valid: a whole number of bins")
    return float(round(k))


def _known_axis(where: str, name: str, valid: tuple[str, ...]) -> None:
    if name not in valid:
        raise UserError(f"{where} is not an axis; valid: {', '.join(valid)}{suggestion(name, valid)}")


def _affordable(where: str, size: int) -> None:
    if size > MOST_POINTS:
        raise UserError(f"{where} has {size:.3g} points; valid: at most {MOST_POINTS:,}")


def _range(where: str, spec: Mapping[str, Any]) -> list[float]:
    if unknown := set(spec) - {"from", "to", "num", "scale"}:
        raise UserError(f"{where}: unknown key {sorted(unknown)[0]}; valid: from, to, num, scale (linear or log)")
    try:
        low, high = (_number(where, spec[end]) for end in ("from", "to"))
        num = int(_number(where, spec["num"]))
    except (KeyError, ValueError, OverflowError):
        raise UserError(f"{where}: a range needs numbers from, to and a whole number num; got {dict(spec)}") from None
    scale = spec.get("scale", "linear")
    if num < 1 or num != spec["num"] or not (math.isfinite(low) and math.isfinite(high)):
        raise UserError(f"{where}: num must be a whole number >= 1, from and to finite; got {dict(spec)}")
    if scale not in ("linear", "log") or (scale == "log" and min(low, high) <= 0):
        raise UserError(f"{where}: scale must be linear, or log with positive from and to; got {dict(spec)}")
    _affordable(where, num)
    steps = [i / (num - 1) if num > 1 else 0.0 for i in range(num)]
    if scale == "log":
        return [low * (high / low) ** s for s in steps]
    return [low + (high - low) * s for s in steps]


def _number(where: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        raise UserError(f"{where} is too large; valid: numbers up to 1e308") from None
    if math.isnan(number):
        raise UserError(f"{where} = {value!r} is not a number")
    return rounded(number)


def _power(where: str, exponent: Any) -> float:
    if _number(where, exponent) > 308:
        raise UserError(f"{where} = {exponent:g} is too large; valid: exponents up to 308")
    return rounded(10.0 ** _number(where, exponent))


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _groups(value: Any, axes: Mapping[str, Any], where: str) -> list[tuple[str, ...]]:
    """The groups of `zip`, once they are known to name axes of the block, each once and of equal length."""
    groups = _listed(value)
    if groups and not any(isinstance(group, list | tuple) for group in groups):
        groups = [groups]
    groups = [tuple(_listed(group)) for group in groups if group != []]
    names = [name for group in groups for name in group]
    for name in names:
        if not isinstance(name, str) or name not in axes:
            raise UserError(f"{where}.zip = {value} is not valid; valid: groups of axes given, such as [[k, rho]]")
        if names.count(name) > 1:
            raise UserError(f"{where}.zip names {name} twice; valid: each axis in one group at most")
    for group in groups:
        lengths = {name: len(axes[name]) for name in group}
        if len(set(lengths.values())) > 1:
            raise UserError(f"{where}.zip needs axes of equal length; got {lengths}")
    return groups


def _pools(axes: Mapping[str, Any], groups: list[tuple[str, ...]]) -> list[Pool]:
    """What is multiplied out: names of axes that advance together, and their values."""
    zipped = {name for group in groups for name in group}
    pools: list[Pool] = [((name,), list(zip(axes[name]))) for name in axes if name not in zipped]
    return pools + [(group, list(zip(*(axes[name] for name in group)))) for group in groups]


def _product(pools: list[Pool]) -> Iterator[Point]:
    names = [name for group, _ in pools for name in group]
    for combination in itertools.product(*(values for _, values in pools)):
        yield dict(zip(names, itertools.chain.from_iterable(combination)))


def _explicit_cells(listed: Any, valid_axes: tuple[str, ...], where: str) -> list[Point]:
    cells = [_explicit(cell, valid_axes, where) for cell in _listed(listed)]
    if not cells:
        raise UserError(f"{where}.cells is empty; give at least one point, such as {{k: 10, rho: 0.1}}, or null")
    return cells


def _explicit(cell: Any, valid_axes: tuple[str, ...], where: str) -> dict[str, Any]:
    if not isinstance(cell, Mapping) or not cell:
        raise UserError(f"{where}.cells: {cell!r} is not a point; valid: values of axes such as {{k: 10, rho: 0.1}}")
    out = {}
    for key, value in cell.items():
        if not isinstance(key, str):
            raise UserError(f"{where}.cells: {key!r} is not an axis; valid: {', '.join(valid_axes)}")
        name, values = _axis(f"{where}.cells.{key}", key, value)
        _known_axis(f"{where}.cells.{key}", name, valid_axes)
        if len(values) > 1:
            raise UserError(f"{where}.cells.{key} = {value!r} is not valid; valid: one value")
        out[name] = values[0]
    return out


def _without_omega(point: dict[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """The point without the axis omega, in either form, if the cell gives it."""
    both = {"omega", "omega_sqrt_rho"}
    return {axis: value for axis, value in point.items() if axis not in both} if both & set(cell) else point


def _condition(text: Any, where: str) -> Callable[[Mapping[str, Any]], bool]:
    match = _CONDITION.match(str(text))
    if not match:
        raise UserError(f'{where}.where: {text!r} is not a condition; valid: "axis <= value", with < <= > >= == !=')
    name, sign, right = match.groups()

    def holds(point: Mapping[str, float | str]) -> bool:
        if name not in point:
            raise UserError(f"{where}.where: {name} is not an axis of the block; valid: {', '.join(point)}")
        other = point.get(right, right)
        left = point[name]
        try:
            return _COMPARE[sign](float(left), float(other))
        except (TypeError, ValueError):
            if sign in ("==", "!="):
                return _COMPARE[sign](str(left), str(other))
            raise UserError(f"{where}.where: {text!r} compares {left!r} with {other!r}") from None

    return holds


def derived(point: Mapping[str, Any], where: str = "sweep") -> dict[str, Any]:
    """The point with omega, however it was given. `where` names the block in error messages."""
    scaled, rho = point.get("omega_sqrt_rho"), point.get("rho")
    if scaled is None or rho is None:
        return dict(point)
    try:
        omega = real("omega_sqrt_rho", scaled, 0, finite=False) / math.sqrt(real("rho", rho, 0))
    except ValueError as mistake:
        raise UserError(f"{where}: {mistake}") from None
    return {**point, "omega": rounded(omega)}
