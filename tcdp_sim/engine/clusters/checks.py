"""The values of a cluster's keys: one line that names key, value and what would be valid."""

import re
from collections.abc import Mapping
from typing import Any

from tcdp_sim.core.errors import UserError

UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
SHORTEST, LONGEST = 60, 366 * 86400  # of a walltime
MEMORY = r"\d+(\.\d+)?\s?[kMGT]i?B"


def text(
    spec: Mapping[str, Any],
    key: str,
    pattern: str,
    valid: str,
    *,
    needed: bool = False,
    numbers: tuple[type, ...] = (int,),
) -> str | None:
    """The text of a key, all of which matches the pattern; None where it is null and not needed.

    numbers: the types that may be written without quotes.
    """
    value = spec[key]
    if value is None and not needed:
        return None
    written = str(value) if type(value) in numbers else value
    if not isinstance(written, str) or not re.fullmatch(pattern, written):
        raise UserError(f"cluster.{key} = {value!r} is not valid; valid: {valid}")
    return written


def whole(spec: Mapping[str, Any], key: str, low: int, high: int) -> int:
    """The whole number of a key."""
    value = spec[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UserError(f"cluster.{key} = {value!r} is not valid; valid: a whole number from {low} to {high}")
    return value


def yes_no(spec: Mapping[str, Any], key: str) -> bool:
    """The truth value of a key."""
    if not isinstance(spec[key], bool):
        raise UserError(f"cluster.{key} = {spec[key]!r} is not valid; valid: true, false")
    return spec[key]


def memory(spec: Mapping[str, Any], key: str = "memory") -> str:
    """An amount of memory such as 2GB."""
    return text(spec, key, MEMORY, "an amount with its unit, such as 2GB or 512MB", needed=True) or ""


def seconds(spec: Mapping[str, Any], key: str) -> int:
    """A span of time in seconds: 8h, 90min, 2d, HH:MM:SS, D-HH:MM:SS, or a whole number of seconds."""
    value = spec[key]
    span = _seconds(value)
    if span is None or not SHORTEST <= span <= LONGEST:
        raise UserError(f"cluster.{key} = {value!r} is not valid; valid: 1min to 366d, as 8h, 90min or 1-12:00:00")
    return span


def _seconds(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value  # and what YAML makes of 1:00:00, which it reads as a number to the base 60
    if not isinstance(value, str):
        return None
    if clock := re.fullmatch(r"(?:(\d{1,3})-)?(\d{1,4}):([0-5]\d):([0-5]\d)", value):
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        return 86400 * days + 3600 * hours + 60 * minutes + rest
    if span := re.fullmatch(r"(\d{1,9})\s?(s|min|h|d)", value):
        return int(span[1]) * UNITS[span[2]]
    return None
