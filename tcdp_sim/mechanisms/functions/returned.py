"""The check of the numbers that a user's function returns for some trials."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from tcdp_sim.mechanisms.base import Draws

VALUE = "value"  # the name of a number that is returned without one


class WrongResult(ValueError):
    """A result of a user's function that is not one number, or one yes or no, for each trial."""


def checked(returned: Any, trials: int) -> Draws:
    """Return the trials by name. Raises WrongResult unless each name has one number or one yes or no for each trial."""
    returned = _by_name(returned)
    if not isinstance(returned, Mapping):
        return {VALUE: _column(VALUE, returned, trials)}
    if not returned:
        raise WrongResult("no number is returned: the dict or table is empty")
    return {_name(name): _column(name, values, trials) for name, values in returned.items()}


def together(trials: list[Any]) -> Draws:
    """Return single trials as one array for each name. A trial may be a table of one row."""
    trials = [by_trial(one) for one in trials]
    if not isinstance(trials[0], Mapping):
        return checked(trials, len(trials))
    names = trials[0].keys()
    for one in trials:
        if not isinstance(one, Mapping) or one.keys() != names:
            raise WrongResult(f"the trials return different names: {sorted(map(str, names))} and {short(one)}")
    return checked({name: [one[name] for one in trials] for name in names}, len(trials))


def _by_name(returned: Any) -> Any:
    """Return the columns of a table (a DataFrame of pandas or polars) as a dict, and anything else as it is."""
    if isinstance(returned, Mapping | np.ndarray) or not all(hasattr(returned, one) for one in ("columns", "shape")):
        return returned
    names = list(returned.columns)
    if len(set(names)) < len(names):
        raise WrongResult(f"two columns of a table have the same name: {short(names)}")
    return {name: returned[name] for name in names}


def by_trial(returned: Any) -> Any:
    """Return the only row of a table as a dict of numbers, and anything else as it is."""
    found = _by_name(returned)
    if found is returned or len(returned) != 1:
        return found
    return {name: np.asarray(column)[0] for name, column in found.items()}


def _column(name: str, values: Any, trials: int) -> Any:
    """Return the trials of one name as floats, or as booleans for an event. Raises WrongResult."""
    if _is_masked(values):
        raise WrongResult(f"{name} is a masked array; valid: numbers, such as .filled(np.nan) gives")
    try:
        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype == object and all(map(_is_real, array.flat)) else array
    except ValueError:
        raise WrongResult(f"{name} is {kind(values)} of unequal parts; valid: one number for each trial") from None
    except OverflowError:
        raise WrongResult(f"{name} is too large for a float; valid: numbers up to 1e308") from None
    if array.dtype.kind not in "biuf":
        first = values[0] if isinstance(values, list) and len(values) else values
        what = f"of type {array.dtype}" if isinstance(first, np.ndarray) else kind(first)
        raise WrongResult(f"{name} is {what}; valid: numbers, or True and False")
    if array.shape != (trials,):
        if array.shape[:1] == (trials,):
            raise WrongResult(f"a trial of {name} has shape {array.shape[1:]}; valid: one number for each trial")
        shape = f"has shape {array.shape}" if array.shape else "is one number"
        raise WrongResult(f"{name} {shape} for {trials} trials; valid: an array of shape ({trials},)")
    return array if array.dtype == bool else array.astype(np.float64, copy=False)


def without_masks(returned: Any) -> Any:
    """Return what a function returns with NaN for masked numbers. Masked events stay, and are refused."""
    if isinstance(returned, Mapping):
        return {name: without_masks(values) for name, values in returned.items()}
    masked = isinstance(returned, np.ma.MaskedArray) and returned.dtype.kind in "iuf"
    return returned.astype(np.float64).filled(np.nan) if masked else returned


def _is_masked(values: Any) -> bool:
    """Return True for a masked array, or a list with a masked number, whose masks numpy.asarray would ignore."""
    if isinstance(values, list):
        return any(one is np.ma.masked for one in values)
    return isinstance(values, np.ma.MaskedArray)


def _is_real(value: Any) -> bool:
    """Return True for an integer beyond 64 bits, or a fraction; they come as objects."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _name(name: Any) -> str:
    """Return a name of a number. Raises WrongResult unless it is text."""
    if not isinstance(name, str) or not name.isprintable() or not name.strip() or "/" in name:
        raise WrongResult(f"{short(name)} is no name of a number; valid: text without slashes")
    return name


def kind(value: Any) -> str:
    """Return the type of a value in words."""
    return "None" if value is None else f"of type {type(value).__name__}"


def short(value: Any) -> str:
    """Return a value in one line of at most 80 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
