"""Exact values of cells, computed wherever there are workers: pure functions of a law, so tasks like all others.

A worker finds the functions by the name of their experiment. Nothing of a simulation is in here.
"""

import time
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine.simulate import Batch
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.store.exact_records import code_digest
from tcdp_sim.store.exact_values import ExactValues, known_exactly


@dataclass(frozen=True)
class ExactTask:
    """Cells whose exact values are asked for: by the name of the experiment, and the digest of all their code."""

    experiment: str
    code: str
    batches: tuple[Batch, ...]


@dataclass(frozen=True)
class Evaluated:
    """What comes back: (cell id, its values as bytes of float64, what went wrong or "") of each cell."""

    rows: tuple[tuple[str, bytes, str], ...]
    fingerprint: str
    seconds: float


def evaluate(task: ExactTask) -> Evaluated:
    """The exact values of a task's cells. UserError if the functions here are not those that are asked for."""
    started = time.perf_counter()
    values = known_exactly(task.experiment)
    if code_digest(values) != task.code:
        raise UserError(
            f"a worker has other exact values of {task.experiment} than this machine; install the same files"
        )
    rows = tuple((batch.cell, *row(values, batch)) for batch in task.batches)
    return Evaluated(rows, fingerprint(), time.perf_counter() - started)


def row(values: ExactValues, batch: Batch) -> tuple[bytes, str]:
    """A cell's values as bytes, and what went wrong, or ""."""
    try:
        registry.require(batch.law.get("plug_ins", {}))
        mechanism = mechanism_class(batch.law["mechanism"]).build(batch.law, batch.counts)
        return np.asarray(values.values(mechanism), dtype="<f8").tobytes(), ""
    except Exception as problem:  # whatever a function may raise
        return b"", f"{type(problem).__name__}: {problem}"
