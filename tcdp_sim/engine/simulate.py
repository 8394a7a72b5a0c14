"""The simulation of chunks, as a pure function of the task.

The stream of a chunk is a function of (root seed, cell id, chunk index) alone. The results have the same bits for any
number of workers, order, batch size, crash or resume. Any chunk can be simulated again by itself. Cells that share
random numbers have the name of their common stream in their law (see `study.cells`). It takes the place of the id.
"""

import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.streams import fingerprint, generator
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.summaries.encoding import to_bytes
from tcdp_sim.summaries.estimates import relative_mcse
from tcdp_sim.summaries.problems import ERROR, WARNING, Problem
from tcdp_sim.summaries.summary import Summary, summarise


@dataclass(frozen=True)
class Batch:
    """Chunks of one cell, as plain data that is sent to a worker."""

    cell: str
    law: Mapping[str, Any]
    counts: Ints | None
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """A unit of work for a worker: batches, the root seed and the number of trials in a chunk."""

    seed: int
    trials_per_chunk: int
    batches: tuple[Batch, ...]
    work: float = 0.0  # the sender's estimate of the task's work


@dataclass(frozen=True)
class Record:
    """The outcome of a chunk: its encoded Summary (None after an error), and its errors and warnings.

    `relative_mcse` is the largest relative standard error of its means, NaN without one.
    """

    cell: str
    chunk: int
    summary: bytes | None
    problems: tuple[Problem, ...]
    relative_mcse: float


@dataclass(frozen=True)
class Done:
    """The result of a task: a record for each chunk, the worker's fingerprint, the time taken and the work."""

    records: tuple[Record, ...]
    fingerprint: str
    seconds: float
    work: float


def run(task: Task) -> Done:
    """Simulate a task. Errors and warnings of the simulation are returned as data with their chunk."""
    started = time.perf_counter()
    records = []
    for batch in task.batches:
        simulated = _simulation(task, batch)
        records += [_record(batch.cell, chunk, simulated) for chunk in batch.chunks]
    return Done(tuple(records), fingerprint(), time.perf_counter() - started, task.work)


def one_chunk(task: Task) -> bytes:
    """Simulate the single chunk of a task and return its encoded summary; errors are not caught."""
    (batch,) = task.batches
    (chunk,) = batch.chunks
    return to_bytes(_simulation(task, batch)(chunk))


def _simulation(task: Task, batch: Batch) -> Callable[[int], Summary]:
    """Return a function from chunks of a batch to summaries; the mechanism is built once, by the first chunk."""

    @cache
    def mechanism() -> Mechanism:
        registry.require(batch.law.get("plug_ins", {}))
        return mechanism_class(batch.law["mechanism"]).build(batch.law, batch.counts)

    def simulated(chunk: int) -> Summary:
        rng = generator(task.seed, batch.law.get("stream", batch.cell), chunk)
        values = mechanism().simulate(rng, task.trials_per_chunk)
        shared = "stream" in batch.law
        return summarise(batch.cell, chunk, task.trials_per_chunk, values, mechanism().thresholds, shared)

    return simulated


def _record(cell: str, chunk: int, simulated: Callable[[int], Summary]) -> Record:
    """Simulate a chunk, catching errors and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            summary: Summary | None = simulated(chunk)
            errors: tuple[Problem, ...] = ()
        except Exception as problem:  # a mechanism may raise anything
            summary, errors = None, (Problem(cell, chunk, ERROR, _named(problem), traceback.format_exc()),)
    noticed = {(_named(w.message), f"{w.filename}, line {w.lineno}"): None for w in caught}  # each once, in order
    problems = errors + tuple(Problem(cell, chunk, WARNING, *one) for one in noticed)
    if summary is None:
        return Record(cell, chunk, None, problems, np.nan)
    return Record(cell, chunk, to_bytes(summary), problems, relative_mcse(summary)[0])


def _named(problem: BaseException | str) -> str:
    """Return an exception with the name of its type."""
    return f"{type(problem).__name__}: {problem}"
