"""(mechanism, chunk) -> Summary: pure, and the only place where a random generator is made.

The stream of a chunk is a function of (root seed, cell id, chunk index) alone, so results are the same bits for
any number of workers, order, batch size, crash or resume, and any one chunk can be run again by itself.
"""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.summary import summarise, to_bytes

NOISE_STREAM = 0  # last word of the key: room for other roles (data, bootstrap) that must not shift this one


@dataclass(frozen=True)
class Batch:
    """Chunks of one cell, as plain data that travels to a worker."""

    cell: str
    law: Mapping[str, Any]
    counts: np.ndarray | None
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """What is sent to a worker at once: batches, the root seed and the number of trials in a chunk."""

    seed: int
    trials_per_chunk: int
    batches: tuple[Batch, ...]
    work: float = 0.0  # how large the sender thinks it is


@dataclass(frozen=True)
class Done:
    """What comes back: (cell id, chunk index, encoded Summary) for each chunk, and who did it how fast."""

    records: tuple[tuple[str, int, bytes], ...]
    fingerprint: str
    seconds: float
    work: float


def generator(seed: int, cell: str, chunk: int) -> np.random.Generator:
    """The random generator of one chunk. seed: 0 <= seed < 2^128; cell: its id, 64 hex digits; chunk >= 0."""
    words = tuple(int(cell[i : i + 8], 16) for i in range(0, 32, 8))
    key = (*words, chunk & 0xFFFFFFFF, chunk >> 32, NOISE_STREAM)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


def run(task: Task) -> Done:
    """Simulate a task."""
    started = time.perf_counter()
    records = []
    for batch in task.batches:
        mechanism = mechanism_class(batch.law["mechanism"]).build(batch.law, batch.counts)
        for chunk in batch.chunks:
            rng = generator(task.seed, batch.cell, chunk)
            values = mechanism.simulate(rng, task.trials_per_chunk)
            summary = summarise(batch.cell, chunk, task.trials_per_chunk, values, mechanism.thresholds)
            records.append((batch.cell, chunk, to_bytes(summary)))
    return Done(tuple(records), fingerprint(), time.perf_counter() - started, task.work)


@cache
def fingerprint() -> str:
    """A digest of this machine's elementary functions and of numpy's bit stream.

    Two machines that differ here (say AVX-512 and AVX2) give results that differ in the last place.
    """
    x = np.linspace(-6, 6, 4096)
    p = (np.arange(4096) + 0.5) / 4096
    values = [np.arcsinh(x), np.exp(x), np.log(p), np.log1p(-p), np.expm1(x), np.sqrt(p)]
    values.append(generator(0, "0" * 64, 0).standard_normal(256))
    return hashlib.blake2b(b"".join(v.tobytes() for v in values), digest_size=8).hexdigest()
