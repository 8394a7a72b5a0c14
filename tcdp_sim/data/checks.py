"""Checks of single values of a data specification; each error is a UserError of one line."""

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from tcdp_sim.core.errors import UserError

T = TypeVar("T")
UNSET = (None, "", "???")  # "???" marks a value in a config file that the user has to give
LARGEST_DOMAIN = 1e300


def misfit(name: str, said: str) -> UserError:
    """Return the error for a key, whose name may have the data set before it, as in "data mine: kind"."""
    return UserError(f"{name} {said}", name.rpartition(": ")[2].removeprefix("data."))


def quoted(value: object) -> str:
    """Return a value as shown in an error message: quoted, on one line, at most about 60 characters."""
    text = " ".join(repr(value).splitlines())
    return text if len(text) <= 60 else f"{text[:40]}...{text[-17:]}"


def joined(names: Iterable[object], most: int = 20) -> str:
    """Return at most `most` names for an error message, quoted where they are text."""
    texts = [quoted(name) for name in names]
    rest = len(texts) - most
    return (", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")) or "none"


def is_number(value: object) -> bool:
    """Return True for one real number of Python's or numpy's types; true and false are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def number(name: str, value: Any, low: float, high: float) -> float:
    """Return `value` as a float. Raises UserError unless it is a number with low <= value <= high."""
    if not is_number(value) or not low <= value <= high:
        raise misfit(name, f"= {quoted(value)} is not valid; valid: a number from {low:g} to {high:g}")
    return float(value)


def whole(name: str, value: Any, low: float, high: float) -> int:
    """Return `value` as an int. Raises UserError unless it is whole (as 1e6 is) with low <= value <= high."""
    if not is_number(value) or not low <= value <= high or value != math.floor(value):
        raise misfit(name, f"= {quoted(value)} is not valid; valid: a whole number, {low:g} to {high:g}")
    return int(value)


def choice(name: str, value: Any, valid: Iterable[T]) -> T:
    """Return `value`. Raises UserError unless it is one of `valid`."""
    valid = tuple(valid)
    if value not in valid:
        raise misfit(name, f"= {quoted(value)} is not known; valid: {', '.join(map(str, valid))}")
    return value


def only_keys(where: str, spec: Mapping[str, Any], valid: Iterable[str]) -> None:
    """Raise UserError for keys of `spec` that nothing would read, since most are misspelt."""
    valid = tuple(valid)
    unknown = [key for key in spec if key not in valid]
    if unknown:
        raise UserError(f"{where}: unknown key {joined(unknown)}; valid: {', '.join(valid)}", str(unknown[0]))


def given(where: str, spec: Mapping[str, Any], key: str, valid: str) -> Any:
    """Return the value of `key`. Raises UserError if it is not there; `valid` describes it in words."""
    value = spec.get(key)
    if value in UNSET:
        raise UserError(f"{where}: {key} is not given; valid: {valid}")
    return value
