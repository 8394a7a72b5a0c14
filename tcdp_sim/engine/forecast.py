"""What a run would do, and how long it would take; nothing is kept of the asking."""

from collections.abc import Callable
from dataclasses import dataclass

from tcdp_sim.engine import clusters, schedule
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.engine.pilot import ExactPilot, Pilot, exact_pilot, pilot
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import NO_EXACT_VALUES, ExactValues
from tcdp_sim.store.run_folder import open_run
from tcdp_sim.store.table import BLOCK
from tcdp_sim.study.study import Study

# What the driver needs, as `python -m benchmarks driver scaling` measures it on one machine (docs/scaling.md).
# Seconds: to send a task; for each chunk in it; for each byte of its record; to write a cell's row; to keep its exact
# values. Of the scheduler too, which most clusters have in the driver's process.
A_TASK, A_CHUNK, A_BYTE, A_ROW, A_VALUE = 3.5e-3, 5e-5, 1e-8, 2.5e-4, 8e-5
# Bytes: before the first cell; of the blocks in which a table is written, for each cell until they are full; for each
# cell, what Python keeps of it and what was resident for it, measured up to 20,000 cells; for each of its chunks.
MEMORY, BLOCKS, A_CELL, AN_INDEX = 2.7e8, 5e7, (1000, 1900), 8
MERGED = 2000  # bytes for each chunk of one cell, at the most, while they are merged
A_FRAME = 33  # bytes of the journal around a chunk's record
HEADS = 1e4  # bytes of the journal around all records: who wrote it, at its beginning and its end
UNSEEN = 0.3  # of time and memory: what a pilot in one process does not see of workers side by side, and of libraries

Range = tuple[float, float]  # from, to


@dataclass(frozen=True)
class ExactForecast:
    """cells: whose exact values are lacking; seconds: that they take, with all workers; pilot: what it rests on."""

    cells: int
    seconds: float
    pilot: ExactPilot

    @property
    def between(self) -> Range:
        """From how many seconds to how many, as far as the pilot's cells tell."""
        return _around(self.seconds, UNSEEN + self.pilot.spread)


@dataclass(frozen=True)
class Forecast:
    """missing: chunks that a run would simulate now; of those and what a target asks for besides, `chunks` in all.

    workers, at_once: that the cluster has, and how many of them can work at the same time; seconds: with all of them;
    tasks: how many they would be sent; bytes: of journal; pilot: what it rests on, None where nothing is missing.
    memory: from how many bytes of the driver's memory to how many, before anything is drawn; writing: seconds that it
    takes to write the table. exact: what comes between the two, None where no exact values are lacking.
    """

    missing: int
    chunks: int
    workers: int
    at_once: int
    seconds: float
    tasks: int
    bytes: float
    pilot: Pilot | None
    memory: Range = (0.0, 0.0)
    writing: float = 0.0
    exact: ExactForecast | None = None

    @property
    def between(self) -> Range:
        """From how many seconds of simulating to how many, as far as the pilot's cells tell."""
        return _around(self.seconds, UNSEEN + (self.pilot.spread if self.pilot else 0.0))

    @property
    def bytes_between(self) -> Range:
        """From how many bytes of journal to how many."""
        return journal_bytes(self.chunks, self.pilot) if self.pilot else (0.0, 0.0)


def _around(value: float, more: float) -> Range:
    return value / (1 + more), value * (1 + more)


def journal_bytes(chunks: int, pilot: Pilot) -> Range:
    """From how many bytes of journal to how many so many chunks take."""
    low, high = _around(pilot.bytes, pilot.bytes_spread)
    return chunks * (low + A_FRAME), chunks * (high * max(1.0, pilot.more_trials) + A_FRAME) + HEADS


def missing(study: Study) -> int:
    """How many chunks a run would simulate now, before any target is looked at."""
    s, cells = study.settings, study.plan.laws
    run = open_run(study) if (study.folder / "run.json").exists() else None
    return len(Pending(cells, Wanted(cells, s.chunks), run.has)) if run else len(cells) * s.chunks


def forecast(study: Study, tell: Callable[[str], None], values: ExactValues = NO_EXACT_VALUES) -> Forecast:
    """By a pilot of some cells, here and now. tell: takes a line for people. Raises UserError; writes nothing.

    values: what the experiment knows exactly, which a run computes as well.
    """
    s, lacking = study.settings, missing(study)
    simulated, known = lacking or s.target_mcse, _lacking_values(study, values)
    if not (simulated or known):
        return Forecast(0, 0, 0, 0, 0.0, 0, 0.0, None)
    workers, at_once = clusters.forecast(s.cluster, tell)
    exact = _exact(study, values, known, at_once) if known else None
    if not simulated:
        return Forecast(0, 0, workers, at_once, 0.0, 0, 0.0, None, *_driver(study, 0), exact)
    result = pilot(study.plan.laws, study.plan.counts, s)
    more = round(len(study.plan.laws) * (result.chunks - s.chunks)) if s.target_mcse else 0
    chunks = lacking + more
    seconds = chunks * result.seconds
    tasks = min(chunks, max(1, round(seconds / schedule.task_seconds(workers))))
    one_driver = tasks * A_TASK + chunks * (A_CHUNK + result.bytes * A_BYTE)  # serves them all
    takes = max(seconds / at_once, one_driver, result.seconds)  # a chunk is the work of one worker
    size = chunks * (result.bytes + A_FRAME)
    return Forecast(lacking, chunks, workers, at_once, takes, tasks, size, result, *_driver(study, chunks), exact)


def _driver(study: Study, chunks: int) -> tuple[Range, float]:
    """From how many bytes of the driver's memory to how many, and seconds for the table."""
    laws, rows = len(study.plan.laws), len(study.plan.cells)
    fixed = MEMORY + BLOCKS * min(1.0, rows / BLOCK) + max(chunks, laws * study.settings.chunks) * AN_INDEX
    low, high = (fixed + laws * cell for cell in A_CELL)
    high += MERGED * chunks / laws
    return (low / (1 + UNSEEN), high * (1 + UNSEEN)), rows * A_ROW


def _lacking_values(study: Study, values: ExactValues) -> int:
    """Of how many cells the exact values are still to be computed."""
    if not values.width:
        return 0
    kept = ExactRecords(study.folder, values)
    return sum(not kept.has(cell) for cell in study.plan.laws.ids())


def _exact(study: Study, values: ExactValues, lacking: int, at_once: int) -> ExactForecast:
    result = exact_pilot(study.plan.laws, study.plan.counts, values)
    return ExactForecast(lacking, max(lacking * result.seconds / at_once, lacking * A_VALUE), result)
