"""The forecast of a run: its chunks, time, memory and disk space. Nothing is stored."""

from collections.abc import Callable
from dataclasses import dataclass

from tcdp_sim.engine import clusters, decisions, schedule, stopping
from tcdp_sim.engine.pending import Pending
from tcdp_sim.engine.pilot import ExactPilot, Pilot, exact_pilot, pilot
from tcdp_sim.mechanisms.functions import UserFunction
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import NO_EXACT_VALUES, ExactValues
from tcdp_sim.store.run_folder import is_started, open_run
from tcdp_sim.store.table import BLOCK
from tcdp_sim.study.study import Study

# The driver's costs, as `python -m benchmarks driver scaling` measures them on one machine (docs/explained/scaling.md).
# Seconds for a task, a chunk in it, a byte of its record, a cell's row, and a cell's exact values. They include the
# scheduler, which runs in the driver's process on most clusters.
A_TASK, A_CHUNK, A_BYTE, A_ROW, A_VALUE = 3.5e-3, 5e-5, 1e-8, 2.5e-4, 8e-5
# Bytes before the first cell, of a full block of the table, of a cell, and of a chunk. A cell has a range: its Python
# objects, and the resident memory, both measured up to 20,000 cells.
MEMORY, BLOCKS, A_CELL, AN_INDEX = 2.7e8, 5e7, (1000, 1900), 8
MERGED = 2000  # bytes for each chunk of one cell while its chunks are merged, at the most
A_FRAME = 33  # bytes of the journal around a chunk's record
HEADS = 1e4  # bytes of the journal's heads at its beginning and end
OTHER_CHUNKS = 0.1  # by which the records of a cell's chunks differ in their mean size
ALONE = "serial"  # the cluster whose driver also simulates
UNSEEN = 0.3  # share of time and memory that a pilot in one process misses: workers side by side, libraries

# Seconds of a row of a sweep over a user's function, of each number in it that is no event, and of a chunk for a driver
# that simulates too and sends nothing, as `python -m benchmarks cells` measures them.
A_SWEEPS_ROW, A_NUMBER, A_CHUNK_HERE = 5e-5, 3.3e-5, 2.5e-5

Range = tuple[float, float]  # least and most


@dataclass(frozen=True)
class ExactForecast:
    """The number of cells without exact values, the seconds that all workers need for them, and the pilot behind it."""

    cells: int
    seconds: float
    pilot: ExactPilot

    @property
    def between(self) -> Range:
        """The range of the seconds, as far as the pilot's cells show it."""
        return _around(self.seconds, UNSEEN + self.pilot.spread)


@dataclass(frozen=True)
class Forecast:
    """The forecast of a run.

    - missing: the chunks that a run would simulate now.
    - chunks: these and the further chunks that a target asks for.
    - workers, at_once: the workers of the cluster, and how many can work at the same time.
    - seconds: the time of simulation with all of them.
    - tasks: the number of tasks sent to workers.
    - bytes: the size of the journal.
    - pilot: the pilot behind the forecast, None if nothing is missing.
    - memory: the range of the driver's memory in bytes, before figures are drawn.
    - writing: the seconds for writing the table.
    - exact: the forecast of the exact values, None if none are lacking.
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
        """The range of the seconds of simulation, as far as the pilot's cells show it."""
        return _around(self.seconds, UNSEEN + (self.pilot.spread if self.pilot else 0.0))

    @property
    def bytes_between(self) -> Range:
        """The range of the journal's bytes."""
        return journal_bytes(self.chunks, self.pilot) if self.pilot else (0.0, 0.0)


def _around(value: float, more: float) -> Range:
    """Return the range from value / (1 + more) to value (1 + more)."""
    return value / (1 + more), value * (1 + more)


def journal_bytes(chunks: int, pilot: Pilot) -> Range:
    """Return the range of the journal's bytes for this many chunks."""
    low, high = _around(pilot.bytes, OTHER_CHUNKS + pilot.bytes_spread)
    return chunks * (low + A_FRAME), chunks * (high * max(1.0, pilot.more_trials) + A_FRAME) + HEADS


def missing(study: Study) -> int:
    """Return the number of chunks that a run would simulate now, before any target is considered."""
    s, cells = study.settings, study.plan.laws
    run = open_run(study) if is_started(study) else None
    wanted = stopping.start(cells, s)
    return len(Pending(cells, wanted, run.has)) if run else wanted.total


def forecast(study: Study, tell: Callable[[str], None], values: ExactValues = NO_EXACT_VALUES) -> Forecast:
    """Return the forecast of a study from a pilot of some cells in this process. Raises UserError; writes nothing.

    `tell` takes a line for the user. `values` are the experiment's exact values, which a run computes too.
    """
    s, lacking = study.settings, missing(study)
    simulated, known = lacking or s.target_mcse or s.target, _lacking_values(study, values)
    if not (simulated or known):
        return Forecast(0, 0, 0, 0, 0.0, 0, 0.0, None)
    workers, at_once = clusters.forecast(s.cluster, tell)
    exact = _exact(study, values, known, at_once) if known else None
    if not simulated:
        return Forecast(0, 0, workers, at_once, 0.0, 0, 0.0, None, *_driver(study, 0), exact)
    result = pilot(study.plan.laws, study.plan.counts, s, decisions.of(study.plan.laws, s))
    begun = stopping.first_pilot(s.chunks) if s.target_mcse else s.chunks
    more = round(len(study.plan.laws) * (result.chunks - begun)) if s.target_mcse or s.target else 0
    chunks = lacking + more
    seconds = chunks * result.seconds
    tasks = min(chunks, max(1, round(seconds / schedule.task_seconds(workers))))
    storing = chunks * result.bytes * A_BYTE
    one_driver = tasks * A_TASK + chunks * A_CHUNK + storing  # serves all workers
    takes = max(seconds / at_once, one_driver, result.seconds)  # a single chunk cannot be split among workers
    takes = seconds + chunks * A_CHUNK_HERE + storing if s.cluster["name"] == ALONE else takes
    size = chunks * (result.bytes + A_FRAME)
    return Forecast(lacking, chunks, workers, at_once, takes, tasks, size, result, *_driver(study, chunks), exact)


def _driver(study: Study, chunks: int) -> tuple[Range, float]:
    """Return the range of the driver's memory in bytes, and the seconds for the table."""
    laws, rows = len(study.plan.laws), len(study.plan.cells)
    fixed = MEMORY + BLOCKS * min(1.0, rows / BLOCK) + max(chunks, laws * study.settings.chunks) * AN_INDEX
    low, high = (fixed + laws * cell for cell in A_CELL)
    high += MERGED * chunks / laws
    return (low / (1 + UNSEEN), high * (1 + UNSEEN)), seconds_of_table(study)


def seconds_of_table(study: Study) -> float:
    """Return the seconds for the rows of the table and of the certificate."""
    options = study.settings.options
    if study.settings.mechanism["name"] != UserFunction.name:
        return len(study.plan.cells) * A_ROW
    return len(study.plan.cells) * (A_SWEEPS_ROW + A_NUMBER * len(options["observables"]))


def _lacking_values(study: Study, values: ExactValues) -> int:
    """Return the number of cells whose exact values are still to be computed."""
    if not values.width:
        return 0
    kept = ExactRecords(study.folder, values, study.uses)
    return sum(not kept.has(cell) for cell in study.plan.laws.ids())


def _exact(study: Study, values: ExactValues, lacking: int, at_once: int) -> ExactForecast:
    """Return the forecast of the exact values."""
    result = exact_pilot(study.plan.laws, study.plan.counts, values)
    return ExactForecast(lacking, max(lacking * result.seconds / at_once, lacking * A_VALUE), result)
