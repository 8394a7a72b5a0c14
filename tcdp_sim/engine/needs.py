"""The time and memory that the parts of a run and its finish need, by the forecast of a plan."""

import time
from dataclasses import dataclass
from math import ceil

import numpy as np

from tcdp_sim.core import system
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import largest_cells
from tcdp_sim.engine.forecast import Forecast, forecast, seconds_of_table
from tcdp_sim.engine.parts import alone
from tcdp_sim.engine.run import prepare
from tcdp_sim.mechanisms.functions import UserFunction
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.study.packed_cells import Cells
from tcdp_sim.study.parts import owner
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import Study

MARGIN = 2  # times the forecast are asked for: a node may be slower than this machine, and its memory is full of others
SLOW_START = 600  # seconds for imports from a busy file system
A_STORED_CHUNK = 2e-4  # seconds of `finish` for a chunk, as `python -m benchmarks finish` measures them
FIGURES = 60.0  # seconds for drawing
LEAST_MEMORY = 512  # megabytes


@dataclass(frozen=True)
class Need:
    """The time and memory of a job, with their margin: seconds and megabytes."""

    seconds: int
    megabytes: int

    @property
    def clock(self) -> str:
        """The time as HH:MM:SS."""
        return f"{self.hours_and_minutes}:00"

    @property
    def hours_and_minutes(self) -> str:
        """The time as HH:MM."""
        return f"{self.seconds // 3600:02d}:{self.seconds // 60 % 60:02d}"


@dataclass(frozen=True)
class Needs:
    """The needs of the largest part and of the finish, and the forecast behind them in words."""

    part: Need
    finish: Need
    forecast: str


def needs(settings: Settings, parts: int, values: ExactValues, tell: Tell) -> Needs:
    """Return what `parts` parts of a run and its finish need. Raises UserError.

    The forecast is the one of `tcdp-sim plan` for one process, of which the largest part takes its share.
    """
    started = time.perf_counter()
    study = prepare(alone(settings))
    planning = time.perf_counter() - started
    before = system.peak_memory()
    coming = forecast(study, tell, values)
    by_number, largest = _largest(study, parts)
    seconds = max(largest * coming.between[1], _longest_cell(settings, coming))
    seconds += _largest_exact(study, parts, coming) if coming.exact else 0.0
    growth = (system.peak_memory() - before) * (coming.pilot.more_trials if coming.pilot else 1.0)
    base = max(coming.memory[1], before)
    finishing = base + growth
    if issubclass(study.mechanism, UserFunction):  # cells may differ by any factor, and the finish calls no function
        most = largest_cells.measured(study.plan.laws, study.plan.counts, study.settings, tell)
        growth, seconds, finishing = most.bytes, max(seconds, most.seconds), base
    memory = base + growth
    reading = A_STORED_CHUNK * max(coming.chunks, len(study.plan.laws) * study.settings.chunks)
    finish = planning + reading + seconds_of_table(study) + FIGURES
    chunks = round(by_number * coming.chunks)
    text = f"Forecast for the largest part: {chunks:,} chunks, {seconds:.0f} s and {memory / 1e9:.1f} GB at the most."
    return Needs(_need(planning + seconds, memory), _need(finish, finishing), text)


def _need(seconds: float, memory: float) -> Need:
    minutes = ceil((MARGIN * seconds + SLOW_START) / 60)
    return Need(60 * minutes, max(LEAST_MEMORY, ceil(MARGIN * memory / 1e8) * 100))


def _longest_cell(settings: Settings, coming: Forecast) -> float:
    """Return the seconds for a cell that a target drives to max_trials, 0 without a target: it is of one part."""
    if not (settings.target_mcse and coming.pilot):
        return 0.0
    return -(-settings.max_trials // settings.chunk) * coming.pilot.seconds * (1 + coming.pilot.spread)


def _largest(study: Study, parts: int) -> tuple[float, float]:
    """Return the largest share of a part in all chunks by their number, and the larger of this one and that by work."""
    cells, chunks, whole = study.plan.laws, study.settings.chunks, bool(study.settings.target_mcse)
    counts = _loads(cells, np.ones(len(cells)), chunks, parts, whole)
    work = _loads(cells, cells.work, chunks, parts, whole)
    shares = [float(load.max() / load.sum()) for load in (counts, work) if load.sum() > 0]
    return shares[0], max(shares)


def _loads(cells: Cells, weights: np.ndarray, chunks: int, parts: int, whole: bool) -> np.ndarray:
    """Return the sum of the weights of each part's chunks; a cell's chunks go round the parts from its owner on."""
    first = np.fromiter((owner(cell, 0, parts) - 1 for cell in cells.ids()), np.int64, len(cells))
    if whole:
        return np.bincount(first, weights * chunks, parts)
    rounds, rest = divmod(chunks, parts)
    steps = np.bincount(first, weights, 2 * parts + 1)
    steps -= np.bincount(first + rest, weights, 2 * parts + 1)
    once = np.cumsum(steps)[: 2 * parts].reshape(2, parts).sum(axis=0)
    return once + rounds * weights.sum()


def _largest_exact(study: Study, parts: int, coming: Forecast) -> float:
    """Return the seconds for the exact values of the part that has the most of them."""
    assert coming.exact is not None
    cells = study.plan.laws
    most = _loads(cells, np.ones(len(cells)), 1, parts, True).max() / len(cells)
    return float(most * coming.exact.between[1])
