"""Pilots: a few trials and exact values of many cells, here and now, to tell what a run will take. Nothing is kept."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import stdev
from typing import Any

from tcdp_sim.engine import stopping
from tcdp_sim.engine.evaluate import row
from tcdp_sim.engine.simulate import Batch, Done, Task, run
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.study.packed_cells import Cell
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries.encoding import from_bytes

SECONDS = 1.0
TRIALS = 10_000
PROBE, MORE = 20, 8  # trials of the first attempt at a cell, and how many times more the next one takes
ENOUGH = 0.2  # seconds that tell what a trial costs
GOLDEN = 0.6180339887498949  # steps of this share of the cells visit all parts of a sweep soon


@dataclass(frozen=True)
class Pilot:
    """What was found: the mean chunks a cell needs, seconds and bytes a chunk, errors; over so many of the cells.

    spread, bytes_spread: two standard errors of the mean of the seconds and of the bytes, over that mean; 1 where one
    cell was tried. more_trials: how many times as many trials a chunk has as the pilot drew: its bytes are those of the
    pilot's trials at the least, and at the most (bins that are occupied grow no faster than trials) so many times them.
    """

    cells: int
    chunks: float
    seconds: float
    bytes: float
    errors: int
    spread: float = 0.0
    bytes_spread: float = 0.0
    more_trials: float = 1.0


@dataclass(frozen=True)
class ExactPilot:
    """The mean seconds that a cell's exact values take, over so many of the cells. spread: as of a `Pilot`."""

    cells: int
    seconds: float
    spread: float


def pilot(cells: Sequence[Cell], counts: Mapping[str, Any], settings: Settings) -> Pilot:
    """Simulate some trials of as many cells as SECONDS allow, spread over the sweep; at least one."""
    least = most = min(settings.chunk, TRIALS)
    deadline = time.perf_counter() + SECONDS
    chunks, sizes, errors, seconds = [], [], 0, []
    for index in _spread(len(cells)):
        trials, done = _simulated(cells[index], counts, settings.seed, most)
        least = min(least, trials)
        seconds.append(done.seconds * settings.chunk / trials)
        if done.records[0].summary is None:
            errors += 1
        else:
            chunks.append(stopping.predicted(from_bytes(done.records[0].summary), settings))
            sizes.append(len(done.records[0].summary))
        if time.perf_counter() > deadline:
            break
    averages = _average(chunks), _average(seconds), _average(sizes)
    return Pilot(len(seconds), *averages, errors, _spread_of(seconds), _spread_of(sizes), settings.chunk / least)


def _simulated(cell: Cell, counts: Mapping[str, Any], seed: int, most: int) -> tuple[int, Done]:
    """Simulate PROBE trials of a cell, then more and more, until they take ENOUGH seconds; return the last attempt.

    The first attempts also pay for what is done once, such as tables of a noise, so that the last one does not.
    """
    trials = min(PROBE, most)
    while True:
        done = run(Task(seed, trials, (Batch(cell.id, cell.law, counts[cell.counts], (0,)),)))
        if trials == most or done.seconds > ENOUGH:
            return trials, done
        trials = min(MORE * trials, most)


def exact_pilot(cells: Sequence[Cell], counts: Mapping[str, Any], values: ExactValues) -> ExactPilot:
    """Compute the exact values of as many cells as SECONDS allow, spread over the sweep; at least one.

    The first imports what they all need: it counts only where it is the only one.
    """
    deadline = time.perf_counter() + SECONDS
    seconds = []
    for index in _spread(len(cells)):
        cell, started = cells[index], time.perf_counter()
        row(values, Batch(cell.id, cell.law, counts[cell.counts], ()))
        ended = time.perf_counter()
        seconds.append(ended - started)
        if ended > deadline:
            break
    seconds = seconds[1:] or seconds
    return ExactPilot(len(seconds), _average(seconds), _spread_of(seconds))


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _spread_of(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 1.0
    centre = _average(values)
    return 2 * stdev(values) / sqrt(len(values)) / centre if centre else 0.0


def _spread(n: int) -> list[int]:
    """0 .. n - 1, in an order in which every beginning is spread evenly."""
    return sorted(range(n), key=lambda i: i * GOLDEN % 1.0) if n > 2 else list(range(n))
