"""Checks of single values of a data specification; each mistake is one UserError line."""

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from tcdp_sim.core.errors import UserError

T = TypeVar("T")
UNSET = (None, "", "???")  # "???" is how a config file marks a value that the user has to give
LARGEST_DOMAIN = 1e300


def quoted(value: object) -> str:
    """`value` as it may stand in an error message: quoted, on one line, at most about 60 characters."""
    text = " ".join(repr(value).splitlines())
    return text if len(text) <= 60 else f"{text[:40]}...{text[-17:]}"


def joined(names: Iterable[object], most: int = 20) -> str:
    """The names, quoted where they are text, for an error message; at most `most` of them."""
    texts = [quoted(name) for name in names]
    rest = len(texts) - most
    return (", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")) or "none"


def is_number(value: object) -> bool:
    """Whether `value` is one real number, of Python's or numpy's types; true and false are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def number(name: str, value: Any, low: float, high: float) -> float:
    """`value` as a float, once it is known to be a number with low <= value <= high."""
    if not is_number(value) or not low <= value <= high:
        raise UserError(f"{name} = {quoted(value)} is not valid; valid: a number from {low:g} to {high:g}")
    return float(value)


def whole(name: str, value: Any, low: float, high: float) -> int:
    """`value` as an int, once it is known to be whole (1e6 counts as whole) with low <= value <= high."""
    if not is_number(value) or not low <= value <= high or value != math.floor(value):
        raise UserError(f"{name} = {quoted(value)} is not valid; valid: a whole number, {low:g} to {high:g}")
    return int(value)


def choice(name: str, value: Any, valid: Iterable[T]) -> T:
    """`value`, once it is known to be one of `valid`."""
    valid = tuple(valid)
    if value not in valid:
        raise UserError(f"{name} = {quoted(value)} is not known; valid: {', '.join(map(str, valid))}")
    return value


def only_keys(where: str, spec: Mapping[str, Any], valid: Iterable[str]) -> None:
    """Refuse keys of `spec` that nobody would read: most are misspelt."""
    valid = tuple(valid)
    unknown = [key for key in spec if key not in valid]
    if unknown:
        raise UserError(f"{where}: unknown key {joined(unknown)}; valid: {', '.join(valid)}")


def given(where: str, spec: Mapping[str, Any], key: str, valid: str) -> Any:
    """The value of `key`, once it is known to be there; `valid` says in words what it should be."""
    value = spec.get(key)
    if value in UNSET:
        raise UserError(f"{where}: {key} is not given; valid: {valid}")
    return value
