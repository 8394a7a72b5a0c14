"""Trials of a user's function that fail or warn, where a sweep counts them (`on_error="count"`).

A failed trial is missing, or is drawn again. A missing trial has the numbers NaN and no event. The generator is left as
the trial left it, so that the next draw takes new numbers. The same trials fail in every process.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.texts import said
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions.hung_trials import Hung, Limit, after_hanging
from tcdp_sim.mechanisms.functions.noted_trials import ERROR, WARNING, note
from tcdp_sim.mechanisms.functions.returned import VALUE, WrongResult, by_trial, together

FAILED = "error_rate"  # the event of a trial whose first draw fails
MISSING = "missing_rate"  # the event of a trial all of whose draws fail, where failed trials are drawn again
WARNED = "warning_rate"  # the event of a trial that warns, of functions of one trial
NUMBERS = {FAILED: "errors", WARNED: "warnings", MISSING: "missing"}  # the numbers of such trials in the results
MEANINGS = {FAILED: "a trial fails", WARNED: "a trial warns", MISSING: "a trial fails however often it is drawn"}
GIVEN = ", given success"  # after the meaning of each number of the other trials
ERRORS = NUMBERS[FAILED]  # also the key of a function whose failed trials are counted


@dataclass(frozen=True)
class Counting:
    """How failed trials are counted.

    - redraw: how often a failed trial is drawn again, at most. A trial is missing if its last draw fails too.
    - seconds: a draw of a function of one trial that takes longer fails. None for no limit.
    """

    redraw: int = 0
    seconds: float | None = None

    @property
    def missing(self) -> str:
        """The event of a trial that is in no mean."""
        return MISSING if self.redraw else FAILED

    @property
    def plain(self) -> dict[str, Any]:
        """The settings that differ from the default, by their keys in a study."""
        found = {"redraw": self.redraw or None, "trial_seconds": self.seconds}
        return {key: value for key, value in found.items() if value is not None}


def counting(function: Mapping[str, Any]) -> Counting | None:
    """Return how the failed trials of a law's function are counted, None if they are not."""
    own = function.get(ERRORS)
    return None if own is None else Counting(own.get("redraw", 0), own.get("trial_seconds"))


def one_by_one(
    function: Callable[..., Any], rng: np.random.Generator, trials: int, point: Mapping[str, Any], how: Counting
) -> Draws:
    """Return single trials as one array for each name, and their own events; these alone if all trials are missing.

    Raises WrongResult, and MemoryError, which says nothing about the trial.
    """
    good: list[Any] = []
    failed, missing, warned = np.zeros((3, trials), bool)
    with Limit(how.seconds) as limit, warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        for i in range(trials):
            for _ in range(1 + how.redraw):
                before = rng.bit_generator.state
                found, error = _tried(function, rng, point, limit, before)
                for one in noticed:
                    warned[i] = True
                    note(WARNING, f"{type(one.message).__name__}: {said(one.message)}", i, before)
                noticed.clear()
                if not error:
                    good.append(found)
                    break
                failed[i] = True
                note(ERROR, error, i, before)
            else:
                missing[i] = True
    of_trials = {FAILED: failed, WARNED: warned} | ({MISSING: missing} if how.redraw else {})
    return _with_events(together(good) if good else {}, of_trials, missing)


def _tried(
    function: Callable[..., Any], rng: np.random.Generator, point: Mapping[str, Any], limit: Limit, before: Any
) -> tuple[Any, str]:
    """Return a draw of one trial and "", or the message of its failure. `before` is the state of the generator."""
    try:
        with limit.of_a_trial():
            found = by_trial(function(rng, **point))
    except (MemoryError, WrongResult):
        raise
    except Hung as hung:
        rng.bit_generator.state = after_hanging(before)
        return None, str(hung)
    except Exception as problem:  # a function may raise anything
        return None, f"{type(problem).__name__}: {said(problem)}"
    return found, _nan(found)


def without_nan(draw: Callable[[int], Draws], rng: np.random.Generator, trials: int, how: Counting) -> Draws:
    """Return trials that are drawn together; those with a NaN have failed. `draw` returns a number of trials."""
    before = rng.bit_generator.state
    values = draw(trials)
    missing = _has_nan(values, np.arange(trials), before)
    failed = missing.copy()
    for _ in range(how.redraw):
        if not missing.any():
            break
        places, before = np.flatnonzero(missing), rng.bit_generator.state
        again = draw(len(places))
        values = _replaced(values, places, again)
        missing[places] = _has_nan(again, places, before)
    of_trials = {FAILED: failed} | ({MISSING: missing} if how.redraw else {})
    there = {name: array[~missing] for name, array in values.items()} if missing.any() else values
    return _with_events(there, of_trials, missing)


def _has_nan(values: Draws, places: np.ndarray, before: Any) -> np.ndarray:
    """Return True for trials with a NaN, and note them. `before` is the state of the generator before all of them."""
    failed = np.zeros(len(places), bool)
    for name, array in values.items():
        lost = np.isnan(array) & ~failed if array.dtype != bool else np.zeros(len(places), bool)
        if lost.any():
            note(ERROR, _is_nan(name), int(places[lost][0]), before, int(lost.sum()))
        failed |= lost
    return failed


def _replaced(values: Draws, places: np.ndarray, again: Draws) -> Draws:
    """Return trials with others in some places. Raises WrongResult unless they have the same names and kinds."""
    kinds, others = ({name: array.dtype for name, array in each.items()} for each in (values, again))
    if kinds != others:
        raise WrongResult(f"trials that are drawn again have {', '.join(others)}, and the others {', '.join(kinds)}")
    found = {name: array.copy() for name, array in values.items()}
    for name, array in found.items():
        array[places] = again[name]
    return found


def _with_events(values: Draws, of_trials: Draws, missing: np.ndarray) -> Draws:
    """Return the events of all trials, and the values of those that are not missing, with the others in their places.

    If all are missing, there are no values.
    """
    for name in (*MEANINGS, *NUMBERS.values()):
        if name in values:
            raise WrongResult(f"{name} is what on_error='count' calls its own number; return it under another name")
    if not missing.any():
        return {**of_trials, **values}
    found = dict(of_trials)
    for name, array in values.items() if not missing.all() else ():
        found[name] = np.zeros(len(missing), bool) if array.dtype == bool else np.full(len(missing), np.nan)
        found[name][~missing] = array
    return found


def _nan(trial: Any) -> str:
    """Return the message for the first NaN of a trial, "" without any."""
    for name, value in trial.items() if isinstance(trial, Mapping) else ((VALUE, trial),):
        if isinstance(value, float | np.ndarray | np.generic) and np.ndim(value) == 0 and value != value:
            return _is_nan(name)
    return ""


def _is_nan(name: str) -> str:
    return f"{name} is NaN"
