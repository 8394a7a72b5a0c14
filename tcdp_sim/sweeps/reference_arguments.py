"""Validation of the exact values, bounds, units, ranges and targets given to a sweep."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from numbers import Real
from typing import Any

from tcdp_sim.core.errors import UserError, scalar, suggestion
from tcdp_sim.mechanisms.functions import Call, listed
from tcdp_sim.mechanisms.functions.returned import short
from tcdp_sim.sweeps.blocks import mapping


@dataclass(frozen=True)
class Constant:
    """An exact value or bound that is the same at every point."""

    value: float

    def __call__(self) -> float:
        """Return the value."""
        return self.value


def functions(key: str, given: Any, axes: Sequence[str]) -> dict[str, Call]:
    """Return functions of the axes by the name of the number that they are about. Raises UserError.

    `key` is "exact" or "bound".
    """
    given = mapping(key, given, "{'error': lambda n: 1 / n}")
    return {name: _of_axes(f"{key}[{name!r}]", function, axes) for name, function in given.items()}


def _of_axes(where: str, function: Any, axes: Sequence[str]) -> Call:
    if isinstance(function, Real) and not isinstance(function, bool):
        return Call(Constant(_float(where, function)), "object", {}, (), ())
    if not callable(function):
        raise UserError(f"{where} = {short(function)} is not valid; valid: a function of the axes, or a number")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):  # a compiled function without a signature
        raise UserError(f"{where}: the parameters of {short(function)} are not known; wrap it: lambda n: ...") from None
    taken = tuple(each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY))
    any_name = any(each.kind is each.VAR_KEYWORD for each in parameters)
    for each in parameters:
        if each.kind is each.POSITIONAL_ONLY and each.default is each.empty:
            raise UserError(f"{where} takes {each.name!r} by position only; wrap it: lambda n: ...")
        if each.name in taken and each.name not in axes and each.default is each.empty:
            near = suggestion(each.name, axes)
            raise UserError(
                f"{where} takes {each.name!r}, which is no axis; the axes: {', '.join(axes) or 'none'}{near}"
            )
    return Call(function, "object", {}, (), None if any_name else tuple(axis for axis in taken if axis in axes))


def _float(where: str, number: Real) -> float:
    try:
        return float(number)
    except OverflowError:
        raise UserError(f"{where} is too large for a float; valid: numbers up to 1e308") from None


def units(given: Any) -> dict[str, str]:
    """Return the units of numbers by name. Raises UserError."""
    found = mapping("units", given, "{'error': 'counts'}")
    for name, unit in found.items():
        if not isinstance(unit, str) or not unit.strip() or not unit.isprintable():
            raise UserError(f"units[{name!r}] = {short(unit)} is not valid; valid: a text, such as 'counts'")
    return dict(found)


def ranges(given: Any) -> dict[str, tuple[float, float]]:
    """Return the least and the largest value of a trial by the name of a number. Raises UserError."""
    return {name: _range(name, ends) for name, ends in mapping("ranges", given, "{'error': (0, 1)}").items()}


def _range(name: Any, given: Any) -> tuple[float, float]:
    """Return the ends of a range. Raises UserError."""
    ends = listed(given)
    numbers = isinstance(ends, list | tuple) and len(ends) == 2
    numbers = numbers and all(isinstance(end, Real) and not isinstance(end, bool) for end in ends)
    least, most = map(float, ends) if numbers else (nan, nan)
    if not least < most or least == inf or most == -inf:
        valid = "the least and the largest value of a trial, such as (0, 1); one of them may be infinite"
        raise UserError(f"ranges[{name!r}] = {short(given)} is not valid; valid: {valid}")
    return least, most


def check_target(name: str, wanted: Any) -> None:
    """Raise UserError unless a target is absolute or relative."""
    where = f"target_mcse.{name}"
    if not hasattr(wanted, "items") or len(wanted) != 1 or not set(wanted) <= {"absolute", "relative"}:
        raise UserError(f"{where} = {short(wanted)} is not valid; valid: {{'absolute': 0.1}} or {{'relative': 0.001}}")
    for kind, value in wanted.items():
        try:
            scalar(f"{where}.{kind}", value, 0)
        except ValueError as mistake:
            raise UserError(" ".join(str(mistake).split())) from None
