"""The guard of noise classes from outside of the package: the contract at first use, and no NaN in silence."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tcdp_sim.core.errors import UserError

GUARDED = ("sample", "var")  # beside the methods of outputs
_MOST_CHECKED = 8  # parameter sets of a class, up to a common factor
_OF_PROBABILITIES = ("isf", "ppf")
_OF_POINTS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
_met: "WeakKeyDictionary[type, set[tuple[float, ...]]]" = (
    WeakKeyDictionary()
)  # class -> parameter sets that were checked
_now = threading.local()


def is_foreign(cls: type) -> bool:
    """Return True for a class that is not part of the package."""
    return not f"{cls.__module__}.".startswith("tcdp_sim.")


def guarded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that checks the contract of its noise at first use, and its own results for NaN."""

    @wraps(method)
    def call(noise: Any, *args: Any, **options: Any) -> Any:
        meet(noise)
        value = method(noise, *args, **options)
        if name in _CHECKS and not getattr(_now, "checks", False) and np.isnan(value).any():
            _CHECKS[name](noise, name, value, *args, **options)
        return value

    return call


def meet(noise: Any) -> None:
    """Raise UserError unless the noise keeps the contract (`noise.contract`).

    A class is checked for its first parameters, and for others that are not in the same ratio. Parameters that are
    arrays are not checked, and nothing is checked while a check is under way.
    """
    if getattr(_now, "checks", False) or noise.shape:
        return
    cls, ratios = type(noise), _ratios(noise)
    known = _met.setdefault(cls, set())
    if ratios in known or len(known) >= _MOST_CHECKED:
        return
    from tcdp_sim.noise.contract import broken  # here, because only foreign classes need it

    with unguarded():
        line = next(broken(noise), None)
    if line is not None:
        advice = f"tcdp-sim check and tcdp_sim.check list all that is wrong with {cls.__name__}"
        raise UserError(f"{noise!r} breaks the contract of a noise: {line}; {advice}")
    known.add(ratios)


def _ratios(noise: Any) -> tuple[float, ...]:
    """Return the parameters over the first one, to two digits: they are all that a scale leaves."""
    values = [float(value) for value in noise._values() if isinstance(value, int | float | np.number)]
    return tuple(float(f"{value / values[0]:.1e}") for value in values[1:] if values[0])


def _refuse(noise: Any, name: str, given: str) -> None:
    raise UserError(f"{noise!r}: {name}({given}) is NaN; valid: a number, or an infinite one")


def _at_points(noise: Any, name: str, value: Any, x: Any) -> None:
    value, x = np.broadcast_arrays(value, np.asarray(x, dtype=float))
    bad = np.isnan(value) & np.isfinite(x)
    if bad.any():
        _refuse(noise, name, f"{x[bad][0]:.10g}")


def _at_probabilities(noise: Any, name: str, value: Any, p: Any) -> None:
    value, p = np.broadcast_arrays(value, np.asarray(p, dtype=float))
    bad = np.isnan(value) & (p > 0) & (p < 1)
    if bad.any():
        _refuse(noise, name, f"{p[bad][0]:.10g}")


def _of_losses(noise: Any, name: str, value: Any, y: Any, shift: Any) -> None:
    """Refuse NaN where one of both densities is not 0; where neither can produce y, NaN is right."""
    value, y, shift = np.broadcast_arrays(value, np.asarray(y, dtype=float), np.asarray(shift, dtype=float))
    there = np.maximum(noise.logpdf(y), noise.logpdf(y - shift)) > -np.inf
    bad = np.isnan(value) & np.isfinite(y) & np.isfinite(shift) & there
    if bad.any():
        _refuse(noise, name, f"{y[bad][0]:.10g}, {shift[bad][0]:.10g}")


_CHECKS: dict[str, Callable[..., None]] = {
    "privacy_loss": _of_losses,
    **dict.fromkeys(_OF_POINTS, _at_points),
    **dict.fromkeys(_OF_PROBABILITIES, _at_probabilities),
}


@contextmanager
def unguarded() -> Iterator[None]:
    """Let methods of foreign classes be called as they are, for a check that lists all that is wrong."""
    before = getattr(_now, "checks", False)
    _now.checks = True
    try:
        yield
    finally:
        _now.checks = before
