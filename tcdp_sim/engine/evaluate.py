"""The exact values of cells, computed on workers as pure functions of a law.

A worker finds the functions by the name of their experiment. This module simulates nothing.
"""

import time
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine.simulate import Batch
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.store.exact_values import ExactValues, known_exactly


@dataclass(frozen=True)
class ExactTask:
    """Cells whose exact values are wanted, with the name of the experiment."""

    experiment: str
    batches: tuple[Batch, ...]


@dataclass(frozen=True)
class Evaluated:
    """The result of a task: for each cell its id, its values as bytes of float64, and an error or ""."""

    rows: tuple[tuple[str, bytes, str], ...]
    fingerprint: str
    seconds: float


def evaluate(task: ExactTask) -> Evaluated:
    """Return the exact values of a task's cells."""
    started = time.perf_counter()
    values = known_exactly(task.experiment)
    rows = tuple((batch.cell, *row(values, batch)) for batch in task.batches)
    return Evaluated(rows, fingerprint(), time.perf_counter() - started)


def row(values: ExactValues, batch: Batch) -> tuple[bytes, str]:
    """Return a cell's values as bytes, and an error or "". Raises what a sweep's function raises: it names the cell."""
    try:
        registry.require(batch.law)
        mechanism = mechanism_class(batch.law["mechanism"]).build(batch.law, batch.counts)
        return np.asarray(values.values(mechanism), dtype="<f8").tobytes(), ""
    except Exception as problem:  # a function may raise anything
        if values.functions:
            raise
        return b"", f"{type(problem).__name__}: {problem}"
