"""One way to say that an input is wrong: what, its value, and what would be valid."""

from math import inf
from numbers import Real

# numpy is imported where it is used: a command line that only says --help or what is misspelt does without.


class UserError(ValueError):
    """A mistake of the user's, told in one line; the command line ends with exit code 2."""


class Failure(Exception):
    """A run ended without all that was asked for, by no mistake of the user's; told in one line, exit code 1."""


def real(name: str, value, low: float, high: float = inf, *, closed: bool = False, finite: bool = True):
    """Return `value` as a float, or as a read-only float array, once it is known to lie in its range.

    The range is low < value < high; `closed` admits low itself, `finite=False` admits high itself.
    Raises ValueError naming the parameter, the offending value and the range.
    """
    if type(value) is float and low < value < high:
        return value  # by far the most frequent case
    import numpy as np

    try:
        array = np.array(_numbers(value), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} = {value!r} is not a number; {_range(name, low, high, closed, finite)}") from None
    above = array >= low if closed else array > low
    below = array < high if finite else array <= high
    good = above & below  # False for NaN
    if not good.all():
        bad = array if array.ndim == 0 else array[~good].flat[0]
        raise ValueError(f"{name} = {bad:g} is not valid; {_range(name, low, high, closed, finite)}")
    if array.ndim == 0:
        return float(array)
    array.setflags(write=False)
    return array


def scalar(name: str, value, low: float, high: float = inf, **how) -> float:
    """As `real`, for one number; ValueError for an array."""
    found = real(name, value, low, high, **how)
    if not isinstance(found, float):
        raise ValueError(f"{name} = {value!r} is not one number; {_range(name, low, high, **_ends(how))}")
    return found


def _ends(how):
    return {"closed": False, "finite": True} | how


def _numbers(value):
    """Return `value` as an array of numbers; TypeError for what NumPy would turn into one: "1", None, True."""
    import numpy as np

    array = np.asarray(value)
    exact = array.dtype.kind == "O" and all(  # ints beyond 64 bits and fractions come as objects
        isinstance(item, Real) and not isinstance(item, bool) for item in array.flat
    )
    if array.dtype.kind not in "iuf" and not exact:
        raise TypeError
    return array


def _range(name: str, low: float, high: float, closed: bool, finite: bool) -> str:
    left = "<=" if closed else "<"
    right = "<" if finite else "<="
    return f"valid: {low:g} {left} {name} {right} {high:g}"


def choice(name: str, value, valid):
    """Return `value` if it is one of `valid`, else raise ValueError listing them."""
    try:
        known = value in valid
    except (TypeError, ValueError):  # a list, an array
        known = False
    if not known:
        raise ValueError(f"{name} = {value!r} is not known; valid: {', '.join(map(str, valid))}")
    return value
