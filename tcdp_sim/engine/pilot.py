"""Pilots: a few trials and exact values of many cells, computed here to forecast a run. Nothing is stored."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import stdev
from typing import Any

from tcdp_sim.engine import stopping
from tcdp_sim.engine.decisions import Decisions
from tcdp_sim.engine.evaluate import row
from tcdp_sim.engine.simulate import Batch, Done, Task, run
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.study.packed_cells import Cell
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries.batch import TOGETHER
from tcdp_sim.summaries.encoding import from_bytes
from tcdp_sim.summaries.summary import Summary

SECONDS = 1.0
TRIALS = 10_000
PROBE, MORE = 20, 8  # trials of the first attempt at a cell, and the factor by which later attempts grow
ENOUGH = 0.2  # seconds after which the cost of a trial is known well enough
GROUP = 64  # cells of one small chunk that are simulated in one task, as a run does
GOLDEN = 0.6180339887498949  # steps of this share of the cells soon visit all parts of a sweep


@dataclass(frozen=True)
class Pilot:
    """The result of a pilot, averaged over the cells it has tried.

    - cells: the number of cells tried.
    - chunks, seconds, bytes: the mean chunks of a cell, and the mean seconds and bytes of a chunk.
    - errors: the number of cells that ended with an error.
    - spread, bytes_spread: two relative standard errors of the mean seconds and bytes over all cells, 1 if one cell
      was tried.
    - more_trials: a chunk's trials over the pilot's trials.

    A chunk's record has at least the bytes of the pilot's record. It has at most `more_trials` times as many, because
    occupied bins grow no faster than trials.
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
    """The mean seconds for the exact values of a cell, over the cells tried; `spread` is that of a `Pilot`."""

    cells: int
    seconds: float
    spread: float


def pilot(
    cells: Sequence[Cell], counts: Mapping[str, Any], settings: Settings, compared: Decisions | None = None
) -> Pilot:
    """Simulate some trials of as many cells as SECONDS allow, but at least one, spread over the sweep.

    Cells of a small chunk that is done soon are simulated GROUP at a time: alone they take ten times as long.
    `compared` holds the comparisons of a run with a target, whose cells come one by one.
    """
    deadline = time.perf_counter() + SECONDS
    group = GROUP if settings.chunk <= TOGETHER and len(cells) > GROUP and not compared else 1
    if group > 1:
        first = _Tried(settings)
        first.add(*_simulated([cells[0]], counts, settings.seed, settings.chunk))
        group = group if first.seconds[0] < ENOUGH / GROUP else 1
    found = _Tried(settings)
    for index in _in_pairs(cells, compared) if compared else _spread(-(-len(cells) // group)):
        own = cells[index * group : (index + 1) * group]
        found.add(*_simulated(own, counts, settings.seed, min(settings.chunk, TRIALS)))
        if time.perf_counter() > deadline:
            break
    return found.pilot(len(cells), group, compared)


class _Tried:
    """What tasks of one chunk of each of some cells have taken, and the sizes of their records."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._least = min(settings.chunk, TRIALS)
        self._cells = self._errors = 0
        self._summaries: dict[str, Summary] = {}
        self._sizes: list[float] = []
        self.seconds: list[float] = []  # of a chunk, a mean for each task

    def add(self, trials: int, done: Done) -> None:
        """Add a task with chunks of this many trials."""
        self._least = min(self._least, trials)
        self._cells += len(done.records)
        self.seconds.append(done.seconds * self._settings.chunk / trials / len(done.records))
        there = {record.cell: record.summary for record in done.records if record.summary is not None}
        self._errors += len(done.records) - len(there)
        self._sizes += map(len, there.values())
        self._summaries |= {cell: from_bytes(summary) for cell, summary in there.items()}

    def pilot(self, cells: int, group: int, compared: Decisions | None) -> Pilot:
        """Return the averages over the cells tried, of a sweep of `cells` cells that was tried `group` at a time."""
        chunks = [stopping.predicted(summary, self._settings) for summary in self._summaries.values()]
        chunks = (compared.predicted(self._summaries) or chunks) if compared else chunks
        averages = _average(chunks), _average(self.seconds), _average(self._sizes)
        spreads = _spread_of(self.seconds, -(-cells // group)), _spread_of(self._sizes, cells)
        return Pilot(self._cells, *averages, self._errors, *spreads, self._settings.chunk / self._least)


def _simulated(cells: Sequence[Cell], counts: Mapping[str, Any], seed: int, most: int) -> tuple[int, Done]:
    """Simulate PROBE trials of each cell, then more until they take ENOUGH seconds, and return the last attempt.

    The first attempts also pay for work that is done once, such as tables of a noise, so that the last one does not.
    """
    trials = min(PROBE, most)
    while True:
        done = run(Task(seed, trials, tuple(Batch(cell.id, cell.law, counts[cell.counts], (0,)) for cell in cells)))
        if trials == most or done.seconds > ENOUGH:
            return trials, done
        trials = min(MORE * trials, most)


def _in_pairs(cells: Sequence[Cell], compared: Decisions) -> list[int]:
    """Return the places of all cells in an order in which cells that are compared come together."""
    states = compared.states
    places = {cell.id: place for place, cell in enumerate(cells)}
    paired = [places[cell] for index in _spread(len(states)) for cell in states[index].comparison.cells]
    return list(dict.fromkeys([*paired, *range(len(cells))]))


def exact_pilot(cells: Sequence[Cell], counts: Mapping[str, Any], values: ExactValues) -> ExactPilot:
    """Compute the exact values of as many cells as SECONDS allow, but at least one, spread over the sweep.

    The first cell also imports what they all need, so it counts only if it is the only one.
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
    return ExactPilot(len(seconds), _average(seconds), _spread_of(seconds, len(cells)))


def _average(values: Sequence[float]) -> float:
    """Return the mean, 0 for no values."""
    return sum(values) / len(values) if values else 0.0


def _spread_of(values: Sequence[float], cells: int) -> float:
    """Return two relative standard errors of the mean over all cells, 1 for fewer than two values.

    The values are drawn without replacement, so their mean is the mean of all cells once each was tried.
    """
    if len(values) < 2:
        return 1.0
    centre = _average(values)
    untried = max(0.0, 1 - len(values) / cells)
    return 2 * stdev(values) * sqrt(untried / len(values)) / centre if centre else 0.0


def _spread(n: int) -> list[int]:
    """Return 0 .. n - 1 in an order in which every initial part is spread evenly."""
    return sorted(range(n), key=lambda i: i * GOLDEN % 1.0) if n > 2 else list(range(n))
