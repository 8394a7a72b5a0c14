"""What a run would do, and how long it would take; nothing is kept of the asking."""

from collections.abc import Callable
from dataclasses import dataclass

from tcdp_sim.engine import clusters, schedule
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.engine.pilot import Pilot, pilot
from tcdp_sim.store.run_folder import open_run
from tcdp_sim.study.study import Study

# What the driver needs. Seconds: measured on one machine (docs/scaling.md).
A_TASK, A_CHUNK, A_ROW = 2.6e-3, 4e-5, 4e-4  # to send a task; for each chunk in it; to write a cell's row
# Bytes: rough. Of 20,000 cells on two workers 353 MB were measured before publishing and 431 MB in it; this says 320.
MEMORY, A_CELL, AN_INDEX = 3e8, 1000, 8  # of the driver: before the first cell, for each, for each of its chunks
UNSEEN = 0.3  # of the time: what a pilot in one process does not see of workers side by side


@dataclass(frozen=True)
class Forecast:
    """missing: chunks that a run would simulate now; of those and what a target asks for besides, `chunks` in all.

    workers, at_once: that the cluster has, and how many of them can work at the same time; seconds: with all of them;
    tasks: how many they would be sent; bytes: of journal; pilot: what it rests on, None where nothing is missing.
    memory: of the driver, in bytes; writing: seconds that it takes to write the table.
    """

    missing: int
    chunks: int
    workers: int
    at_once: int
    seconds: float
    tasks: int
    bytes: float
    pilot: Pilot | None
    memory: float = 0.0
    writing: float = 0.0

    @property
    def between(self) -> tuple[float, float]:
        """From how many seconds to how many, as far as the pilot's cells tell."""
        factor = 1 + UNSEEN + (self.pilot.spread if self.pilot else 0.0)
        return self.seconds / factor, self.seconds * factor


def missing(study: Study) -> int:
    """How many chunks a run would simulate now, before any target is looked at."""
    s, cells = study.settings, study.plan.laws
    run = open_run(study) if (study.folder / "run.json").exists() else None
    return len(Pending(cells, Wanted(cells, s.chunks), run.has)) if run else len(cells) * s.chunks


def forecast(study: Study, tell: Callable[[str], None]) -> Forecast:
    """By a pilot of some cells, here and now. tell: takes a line for people. Raises UserError; writes nothing."""
    s, lacking = study.settings, missing(study)
    if not (lacking or s.target_mcse):
        return Forecast(0, 0, 0, 0, 0.0, 0, 0.0, None)
    workers, at_once = clusters.forecast(s.cluster, tell)
    cells = study.plan.laws
    result = pilot(cells, study.plan.counts, s)
    chunks = lacking + (round(len(cells) * (result.chunks - s.chunks)) if s.target_mcse else 0)
    seconds = chunks * result.seconds
    tasks = min(chunks, max(1, round(seconds / schedule.task_seconds(workers))))
    takes = max(seconds / at_once, tasks * A_TASK + chunks * A_CHUNK)  # one driver serves them all
    memory = MEMORY + len(cells) * A_CELL + max(chunks, len(cells) * s.chunks) * AN_INDEX
    writing = len(study.plan.cells) * A_ROW
    size = chunks * result.bytes
    return Forecast(lacking, chunks, workers, at_once, takes, tasks, size, result, memory, writing)
