"""Trials of a user's function that fail, where a sweep counts them (`on_error="count"`).

A failed trial is missing: its numbers are NaN, its events False, and the event FAILED is true. The generator is left as
the trial left it, so that the next trial draws new numbers. The same trials fail in every process.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from tcdp_sim.core.texts import said
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions.returned import VALUE, WrongResult, by_trial, together

FAILED = "error_rate"  # the event of a failed trial
ERRORS = "errors"  # the number of failed trials, in the results
COUNTED = "counted"  # of the key ERRORS of a function whose failed trials are counted
KINDS = 8  # kinds of errors of a chunk whose first trial is kept
_NOTED: "ContextVar[dict[str, str] | None]" = ContextVar("noted", default=None)


def counts(function: Mapping[str, Any]) -> bool:
    """Return True if the failed trials of a law's function are counted."""
    return function.get(ERRORS) == COUNTED


@contextmanager
def noted() -> Iterator[dict[str, str]]:
    """Collect the first failed trial of each kind during the block: its message, and where it is as JSON."""
    found: dict[str, str] = {}
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def one_by_one(function: Callable[..., Any], rng: np.random.Generator, trials: int, point: Mapping[str, Any]) -> Draws:
    """Return single trials as one array for each name; FAILED alone if all trials have failed.

    Raises WrongResult, and MemoryError, which says nothing about the trial.
    """
    good: list[Any] = []
    failed = np.zeros(trials, bool)
    for i in range(trials):
        before = rng.bit_generator.state
        try:
            found = by_trial(function(rng, **point))
            message = _nan(found)
        except (MemoryError, WrongResult):
            raise
        except Exception as problem:  # a function may raise anything
            message = f"{type(problem).__name__}: {said(problem)}"
        if message:
            failed[i] = True
            _note(message, i, before)
        else:
            good.append(found)
    return _with_failed(together(good) if good else {}, failed)


def without_nan(values: Draws, before: Mapping[str, Any]) -> Draws:
    """Return the trials of a chunk; those with a NaN have failed. `before` is the state of the chunk's generator."""
    missing = {name: np.isnan(array) for name, array in values.items() if array.dtype != bool}
    failed = np.zeros(len(next(iter(values.values()))), bool)
    for name, lost in missing.items():
        if (lost & ~failed).any():
            _note(_is_nan(name), int(np.flatnonzero(lost & ~failed)[0]), before)
        failed |= lost
    return _with_failed({name: array[~failed] for name, array in values.items()} if failed.any() else values, failed)


def _with_failed(values: Draws, failed: np.ndarray) -> Draws:
    """Return FAILED and the values of successful trials, with the failed ones in their places."""
    if FAILED in values or ERRORS in values:
        taken = FAILED if FAILED in values else ERRORS
        raise WrongResult(f"{taken} is what on_error='count' calls its own number; return it under another name")
    if not failed.any():
        return {FAILED: failed, **values}
    found = {FAILED: failed}
    for name, array in values.items():
        if failed.all():
            break
        found[name] = np.zeros(len(failed), bool) if array.dtype == bool else np.full(len(failed), np.nan)
        found[name][~failed] = array
    return found


def _nan(trial: Any) -> str:
    """Return the message for the first NaN of a trial, "" without any."""
    for name, value in trial.items() if isinstance(trial, Mapping) else ((VALUE, trial),):
        if isinstance(value, float | np.ndarray | np.generic) and np.ndim(value) == 0 and value != value:
            return _is_nan(name)
    return ""


def _is_nan(name: str) -> str:
    return f"{name} is NaN"


def _note(message: str, trial: int, before: Mapping[str, Any]) -> None:
    """Keep the first trial of each kind, with the state of the generator."""
    found = _NOTED.get()
    if found is not None and message not in found and len(found) < KINDS:
        found[message] = json.dumps({"trial": trial, "state": _plain(before)})


def _plain(state: Any) -> Any:
    """Return the state of a bit generator as plain data."""
    if isinstance(state, Mapping):
        return {key: _plain(value) for key, value in state.items()}
    return state.tolist() if isinstance(state, np.ndarray | np.generic) else state
