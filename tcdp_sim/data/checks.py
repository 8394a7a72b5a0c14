"""Checks of single values of a data specification; each mistake is one UserError line."""

import math
import reprlib
from collections.abc import Iterable, Mapping

from tcdp_sim.errors import UserError

UNSET = (None, "", "???")  # "???" is how a config file marks a value that the user has to give
LARGEST_DOMAIN = 1e300

_printer = reprlib.Repr(maxstring=60, maxother=60, maxlist=6)


def shown(value) -> str:
    """`value` as it may stand in an error message: quoted, on one line, not longer than about 60 characters."""
    return _printer.repr(value)


def listed(names: Iterable, most: int = 20) -> str:
    """The names, quoted where they are text, for an error message; at most `most` of them."""
    names = [shown(name) for name in names]
    rest = len(names) - most
    return (", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")) or "none"


def number(name: str, value, low: float, high: float) -> float:
    """`value` as a float, once it is known to be a number with low <= value <= high."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise UserError(f"{name} = {shown(value)} is not valid; valid: a number from {low:g} to {high:g}")
    return float(value)


def whole(name: str, value, low: float, high: float) -> int:
    """`value` as an int, once it is known to be a whole number with low <= value <= high; 1e6 counts as whole."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value != math.floor(value) or not low <= value <= high:
        raise UserError(f"{name} = {shown(value)} is not valid; valid: a whole number from {low:g} to {high:g}")
    return int(value)


def choice(name: str, value, valid: Iterable):
    """`value`, once it is known to be one of `valid`."""
    valid = tuple(valid)
    if value not in valid:
        raise UserError(f"{name} = {shown(value)} is not known; valid: {', '.join(map(str, valid))}")
    return value


def only_keys(where: str, spec: Mapping, valid: Iterable[str]) -> None:
    """Refuse keys of `spec` that nobody would read: most are misspelt."""
    valid = tuple(valid)
    unknown = [key for key in spec if key not in valid]
    if unknown:
        raise UserError(f"{where}: unknown key {listed(unknown)}; valid: {', '.join(valid)}")


def given(where: str, spec: Mapping, key: str):
    """The value of `key`, once it is known to be there."""
    value = spec.get(key)
    if isinstance(value, str) or value is None:  # a number or an array is never unset, and may not compare
        if value in UNSET:
            raise UserError(f"{where}: {key} is not given")
    return value
