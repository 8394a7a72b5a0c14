"""Checks of the values of a cluster's keys; an error names key, value and valid values in one line."""

import re
from collections.abc import Mapping
from typing import Any

from tcdp_sim.core.errors import UserError

UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
SHORTEST, LONGEST = 60, 366 * 86400  # limits of a walltime
MEMORY = r"\d+(\.\d+)?\s?[kMGT]i?B"


def text(spec: Mapping[str, Any], key: str, pattern: str, valid: str, *, needed: bool = False) -> str | None:
    """Return the text of a key, which must match the pattern; None if it is null and not needed.

    A whole number may be written without quotes.
    """
    value = spec[key]
    if value is None and not needed:
        return None
    written = str(value) if type(value) is int else value
    if not isinstance(written, str) or not re.fullmatch(pattern, written):
        raise UserError(f"cluster.{key} = {value!r} is not valid; valid: {valid}", f"cluster.{key}")
    return written


def whole(spec: Mapping[str, Any], key: str, low: int, high: int) -> int:
    """Return the whole number of a key."""
    value = spec[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UserError(
            f"cluster.{key} = {value!r} is not valid; valid: a whole number from {low} to {high}", f"cluster.{key}"
        )
    return value


def yes_no(spec: Mapping[str, Any], key: str) -> bool:
    """Return the truth value of a key."""
    if not isinstance(spec[key], bool):
        raise UserError(f"cluster.{key} = {spec[key]!r} is not valid; valid: true, false", f"cluster.{key}")
    return spec[key]


def memory(spec: Mapping[str, Any], key: str = "memory") -> str:
    """Return an amount of memory such as 2GB."""
    return text(spec, key, MEMORY, "an amount with its unit, such as 2GB or 512MB", needed=True) or ""


def seconds(spec: Mapping[str, Any], key: str) -> int:
    """Return a time span in seconds, given as 8h, 90min, 2d, HH:MM:SS, D-HH:MM:SS or a whole number of seconds."""
    value = spec[key]
    span = _seconds(value)
    if span is None or not SHORTEST <= span <= LONGEST:
        raise UserError(
            f"cluster.{key} = {value!r} is not valid; valid: 1min to 366d, as 8h, 90min or 1-12:00:00", f"cluster.{key}"
        )
    return span


def _seconds(value: object) -> int | None:
    """Return a time span in seconds, or None if it is invalid."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value  # YAML reads 1:00:00 as a number to the base 60, which is the same
    if not isinstance(value, str):
        return None
    if clock := re.fullmatch(r"(?:(\d{1,3})-)?(\d{1,4}):([0-5]\d):([0-5]\d)", value):
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        return 86400 * days + 3600 * hours + 60 * minutes + rest
    if span := re.fullmatch(r"(\d{1,9})\s?(s|min|h|d)", value):
        return int(span[1]) * UNITS[span[2]]
    return None
