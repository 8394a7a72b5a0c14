"""Chunks of few trials, gathered to be summarised together, and the problems that a chunk meets."""

import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from tcdp_sim.core.texts import said
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions.noted_trials import noted
from tcdp_sim.summaries.batch import TOGETHER, VALUES
from tcdp_sim.summaries.encoding import to_bytes
from tcdp_sim.summaries.estimates import relative_mcse
from tcdp_sim.summaries.many_summaries import encoded
from tcdp_sim.summaries.problems import ERROR, OF_TRIALS, WARNING, Problem
from tcdp_sim.summaries.summary import summarise

Found = TypeVar("Found")
Problems = tuple[Problem, ...]
_NUMBER, _EVENT = np.dtype(np.float64), np.dtype(np.bool_)
Place = tuple[int, str, int]  # the place of a chunk's record, its cell, and its index


class Gathered:
    """Chunks of few trials whose summaries are computed together, with the bytes of each alone.

    All chunks have `trials` trials, the same observables and the same events.
    """

    def __init__(self, trials: int) -> None:
        self._trials = trials
        self._most = VALUES // trials if trials <= TOGETHER else 0
        self._kinds: dict[str, np.dtype] = {}
        self._places: list[Place] = []
        self._values: list[Draws] = []

    def takes(self, values: Draws) -> bool:
        """Return True if the trials of a chunk can be added: plain arrays, with the names and kinds of the others."""
        if not self._most:
            return False
        for array in values.values():
            if type(array) is not np.ndarray or array.shape != (self._trials,) or array.dtype not in (_NUMBER, _EVENT):
                return False
        return not self._values or {name: array.dtype for name, array in values.items()} == self._kinds

    def add(self, place: int, cell: str, chunk: int, values: Draws) -> None:
        """Add the trials of a chunk; `place` is returned with its summary."""
        if not self._places:
            self._kinds = {name: array.dtype for name, array in values.items()}
        self._places.append((place, cell, chunk))
        self._values.append({name: array.copy() for name, array in values.items()})  # its simulation may reuse them

    @property
    def full(self) -> bool:
        """True if no more chunks should be added."""
        return len(self._places) >= self._most > 0

    def summaries(self) -> Iterator[tuple[int, bytes | None, Problems, float]]:
        """Yield place, encoded summary, problems and `relative_mcse` of each chunk, and forget all chunks."""
        places, values = self._places, self._values
        self._places, self._values = [], []
        if not places:
            return
        numbers, hits = {}, {}
        for name, kind in self._kinds.items():
            if kind == _EVENT:
                hits[name] = np.array([np.count_nonzero(each[name]) for each in values])
            else:
                numbers[name] = np.array([each[name] for each in values])
        together = encoded([(cell, chunk) for _, cell, chunk in places], numbers, hits, self._trials)
        for place, own, found in zip(places, values, together):
            yield (place[0], found[0], (), found[1]) if found else self._alone(place, own)

    def _alone(self, at: Place, values: Draws) -> tuple[int, bytes | None, Problems, float]:
        place, cell, chunk = at
        summary, problems = caught(cell, chunk, partial(summarise, cell, chunk, self._trials, values, {}))
        if summary is None:
            return place, None, problems, np.nan
        return place, to_bytes(summary), problems, relative_mcse(summary)[0]


def caught(cell: str, chunk: int, work: Callable[[], Found]) -> tuple[Found | None, Problems]:
    """Return the result of some work on a chunk, None after an error, with its error, failed trials and warnings."""
    with warnings.catch_warnings(record=True) as noticed, noted() as failed:
        warnings.simplefilter("always")
        try:
            found: Found | None = work()
            errors: Problems = ()
        except Exception as problem:  # a mechanism may raise anything
            found, errors = None, (Problem(cell, chunk, ERROR, _named(problem), traceback.format_exc()),)
    errors += tuple(Problem(cell, chunk, OF_TRIALS[one.what], one.message, one.where) for one in failed.values())
    if not noticed:
        return found, errors
    each = {(_named(w.message), f"{w.filename}, line {w.lineno}"): None for w in noticed}  # each once, in order
    return found, errors + tuple(Problem(cell, chunk, WARNING, *one) for one in each)


def joined(first: Problems, then: Problems) -> Problems:
    """Return the problems of a chunk, each once, with errors first."""
    return tuple(sorted(dict.fromkeys(first + then), key=lambda one: one.kind != ERROR)) if then else first


def _named(problem: BaseException | str) -> str:
    """Return an exception with the name of its type."""
    return f"{type(problem).__name__}: {said(problem)}"
