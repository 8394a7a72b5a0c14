"""Numbers as text, rounded to the side on which a printed guarantee is kept."""

from collections.abc import Callable
from decimal import Decimal
from math import ceil, floor, isfinite, log10

_OF_DOUBLES = 1e-12


def from_above(value: float, digits: int = 4) -> str:
    """Return a number with so many digits, rounded up, so that a guarantee is kept as it is printed.

    A number that differs from a shorter one by the rounding of doubles alone (1e-12 of it) is that one.
    """
    return _rounded(value, digits, ceil, 1 - _OF_DOUBLES)


def from_below(value: float, digits: int = 4) -> str:
    """Return a number as `from_above` does, but rounded down: a guarantee that a larger number would exceed."""
    return _rounded(value, digits, floor, 1 + _OF_DOUBLES)


def _rounded(value: float, digits: int, whole: Callable[[Decimal], int], slack: float) -> str:
    if not isfinite(value) or value <= 0:
        return f"{value:g}"
    places = digits - 1 - floor(log10(value))
    scaled = Decimal(value) * Decimal(slack) * Decimal(10) ** places
    return f"{float(whole(scaled) * Decimal(10) ** -places):.{digits}g}"
