"""The simulation of chunks, as a pure function of the task.

The stream of a chunk is a function of (root seed, cell id, chunk index) alone. The results have the same bits for any
number of workers, order, batch size, crash or resume. Any chunk can be simulated again by itself. Cells that share
random numbers have the name of their common stream in their law (see `study.cells`). It takes the place of the id. In a
sweep over a user's function, the name of the cell's point takes its place (see `study.sweeps`).
"""

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.collector import collecting_seldom
from tcdp_sim.core.streams import LOSS_STREAM, fingerprint, generator, generators
from tcdp_sim.engine.gathered import Gathered, caught, joined
from tcdp_sim.mechanisms import Mechanism, UserFunction, mechanism_class
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.counted import simulated
from tcdp_sim.study import sweeps
from tcdp_sim.summaries.encoding import to_bytes
from tcdp_sim.summaries.estimates import relative_mcse
from tcdp_sim.summaries.problems import Problem
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
    """The result of a task: a record for each chunk, the worker's fingerprint, the time taken and the work.

    `worker` names the process that computed it, as HOST:PID.
    """

    records: tuple[Record, ...]
    fingerprint: str
    seconds: float
    work: float
    worker: str = ""


def run(task: Task) -> Done:
    """Simulate a task. Errors and warnings of the simulation are returned as data with their chunk."""
    started = time.perf_counter()
    with collecting_seldom():
        records = tuple(_records(task))
    who = f"{socket.gethostname()}:{os.getpid()}"
    return Done(records, fingerprint(), time.perf_counter() - started, task.work, who)


def one_chunk(task: Task) -> bytes:
    """Simulate the single chunk of a task and return its encoded summary; errors are not caught."""
    (batch,) = task.batches
    (chunk,) = batch.chunks
    (rng,) = generators(task.seed, [_stream(batch)], [chunk])
    return to_bytes(_Simulation(batch, task.trials_per_chunk, task.seed).summary(chunk, rng))


def one_trial(task: Task, place: int) -> dict[str, Any]:
    """Return the numbers of one trial of the single chunk of a task; errors are not caught.

    A function of one trial is called for it alone, after the draws of the trials before it.
    """
    (batch,) = task.batches
    (chunk,) = batch.chunks
    (rng,) = generators(task.seed, [_stream(batch)], [chunk])
    return _Simulation(batch, task.trials_per_chunk, task.seed).trial(rng, place)


def _stream(batch: Batch) -> str:
    """Return the name of the streams of a batch."""
    return sweeps.stream(batch.law, batch.cell)


def _records(task: Task) -> list[Record]:
    """Return the records of a task's chunks. Small chunks are summarised together, with the same bytes."""
    records: list[Record] = []
    small = Gathered(task.trials_per_chunk)
    streams = [_stream(batch) for batch in task.batches for _ in batch.chunks]
    coming = generators(task.seed, streams, [chunk for batch in task.batches for chunk in batch.chunks])
    for batch in task.batches:
        simulation = _Simulation(batch, task.trials_per_chunk, task.seed)
        for chunk in batch.chunks:
            work = partial(simulation.outcome, chunk, next(coming), small)
            found, problems = caught(batch.cell, chunk, work)
            if isinstance(found, Summary):
                records.append(Record(batch.cell, chunk, to_bytes(found), problems, relative_mcse(found)[0]))
                continue
            records.append(Record(batch.cell, chunk, None, problems, np.nan))
            if found is not None:
                small.add(len(records) - 1, batch.cell, chunk, found)
            if small.full:
                _complete(records, small)
    _complete(records, small)
    return records


def _complete(records: list[Record], small: Gathered) -> None:
    """Put the summaries of the gathered chunks into their records."""
    for place, summary, problems, error in small.summaries():
        own = records[place]
        records[place] = Record(own.cell, own.chunk, summary, joined(own.problems, problems), error)


class _Simulation:
    """The simulation of a batch. The mechanism is built by the first chunk, whose error it is if that fails."""

    def __init__(self, batch: Batch, trials: int, seed: int) -> None:
        self._batch = batch
        self._trials = trials
        self._seed = seed

    @cached_property
    def _mechanism(self) -> Mechanism:
        law = self._batch.law
        registry.require(law)
        return mechanism_class(law["mechanism"]).build(law, self._batch.counts)

    def outcome(self, chunk: int, rng: np.random.Generator, small: Gathered) -> Summary | Draws:
        """Return the summary of a chunk, or its trials if they can be summarised with others."""
        values = self._draws(chunk, rng)
        alone = "stream" in self._batch.law or self._mechanism.thresholds
        return self._summary(chunk, values) if alone or not small.takes(values) else values

    def summary(self, chunk: int, rng: np.random.Generator) -> Summary:
        """Return the summary of a chunk."""
        return self._summary(chunk, self._draws(chunk, rng))

    def trial(self, rng: np.random.Generator, place: int) -> dict[str, Any]:
        """Return the numbers of one trial of a chunk by name."""
        if isinstance(self._mechanism, UserFunction) and self._mechanism.one_by_one:
            return self._mechanism.trial(rng, place)
        return {name: values[place] for name, values in self._mechanism.simulate(rng, self._trials).items()}

    def _draws(self, chunk: int, rng: np.random.Generator) -> Draws:
        """Return the trials of a chunk; privacy losses come from a stream of their own."""
        values = simulated(self._mechanism, self._batch.law, rng, self._trials)
        if self._mechanism.draws_losses:
            losses = generator(self._seed, _stream(self._batch), chunk, LOSS_STREAM)
            values |= self._mechanism.draw_losses(losses, self._trials)
        return values

    def _summary(self, chunk: int, values: Draws) -> Summary:
        shared = "stream" in self._batch.law
        return summarise(self._batch.cell, chunk, self._trials, values, self._mechanism.thresholds, shared)
