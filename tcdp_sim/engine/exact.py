"""The exact values of a study's cells: missing ones are computed, block by block, and stored."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_sim.core.errors import Failure
from tcdp_sim.core.log import Tell
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.carried_noises import carrying
from tcdp_sim.engine.evaluate import Evaluated, ExactTask, evaluate, row
from tcdp_sim.engine.numerics_mismatch import Foreign
from tcdp_sim.engine.progress import ProgressLine
from tcdp_sim.engine.schedule import Speed
from tcdp_sim.engine.simulate import Batch
from tcdp_sim.engine.workers import Workers
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.study.packed_cells import PACK, RECENT, Cell
from tcdp_sim.study.study import Study

TASK = 4096  # cells in a task, at most
PATIENCE = 2.0  # seconds of computing in this process before a message
NEAR = PACK * RECENT  # cells that are unpacked at the same time
STEP = 16  # cells between one cell and the next one in the order of computing
TRIED = 1.0  # seconds in which stored values of a sweep are computed again to see that nothing has changed
FEW = 1000  # up to this many cells are computed in this process, because starting workers would take longer


def complete(study: Study, values: ExactValues, workers: Workers, tell: Tell) -> ExactRecords:
    """Compute the missing exact values of every law of the study, and return all of them.

    Raises Failure if a function ends with an error other than a refusal. A KeyboardInterrupt says how many are stored.
    """
    part = study.settings.own_part
    kept = ExactRecords(study.folder, values, study.uses, part)
    if values.rows is not None:  # the functions are not here
        return kept
    if values.functions and _changed(study, values, kept):
        kept.discard()
    lacking = sum(not kept.has(cell) for cell in study.plan.laws.ids())
    if lacking or (values.functions and not kept.begun):
        for name, count in kept.damaged.items():
            tell(f"exact/{name}: {count} damaged stretches; their values are computed again")
        try:
            _compute(study, values, kept, lacking, workers, tell)
        except KeyboardInterrupt as stop:
            written = ExactRecords(study.folder, values, study.uses, part)  # read again: some values are only in memory
            total = sum(part is None or part.has(cell, 0) for cell in study.plan.laws.ids())
            done = total - sum(not written.has(cell) for cell in study.plan.laws.ids())
            where = f"{stop}; " if str(stop) else ""  # the cell whose function was interrupted
            message = f"{where}all simulated chunks and {done} of {total} exact values are kept in {study.folder}"
            raise KeyboardInterrupt(f"{message}; the same command goes on from there") from None
    kept.forget_others()
    return kept


def _changed(study: Study, values: ExactValues, kept: ExactRecords) -> bool:
    """Return True if a function of a sweep gives another value than the stored one, since it may read a file.

    As many cells are tried as TRIED seconds allow, and all of them if the source of a function is not known.
    """
    known = all(about["source"] is not None for about in values.functions.values())
    laws, until = study.plan.laws, time.monotonic() + TRIED
    for cell in laws.taken(_mixed(len(laws))):
        if known and time.monotonic() > until:
            break
        if kept.keeps(cell.id) and row(values, _batch(cell, study.plan.counts))[0] != kept.values(cell.id).tobytes():
            return True
    return False


def _compute(study: Study, values: ExactValues, kept: ExactRecords, lacking: int, workers: Workers, tell: Tell) -> None:
    """Compute the missing values, in this process if they are few or only it can, else on workers."""
    laws = study.plan.laws
    cells = (cell for cell in laws.taken(_mixed(len(laws))) if not kept.has(cell.id))
    if not values.experiment or (lacking <= FEW and not workers.started):
        lacking -= _here(study, values, kept, cells, lacking, tell)
    if not lacking:
        return
    tell(f"{lacking} exact values to compute")
    executor, foreign = workers.executor(), Foreign(study.settings, tell)
    tally, speed = _Tally(lacking), Speed()
    with kept.writer() as append, ProgressLine(tally, executor.silent, "comput") as line:
        tasks = _tasks(cells, study, values, executor.workers, tally, speed)
        for done in executor.results(tasks, carrying(study, evaluate), study.uses):
            interrupts.check()
            speed.learn(done.seconds, len(done.rows), len(done.rows))
            _keep(done, kept.lend if foreign.meets(done.fingerprint) else append)
            line.advance(done)


def _here(
    study: Study, values: ExactValues, kept: ExactRecords, cells: Iterator[Cell], lacking: int, tell: Tell
) -> int:
    """Compute cells in this process while that is quick or no worker can, and return their number."""
    until, told = time.monotonic() + PATIENCE, False
    count = 0
    with kept.writer() as append:
        while count < lacking:
            late = time.monotonic() > until
            if late and values.experiment:
                break
            if late and not told:
                tell(f"{lacking - count} exact values to compute")
                told = True
            interrupts.check()
            cell = next(cells)
            _keep(_evaluated(values, _batch(cell, study.plan.counts)), append)
            count += 1
    return count


def _mixed(count: int) -> Iterator[int]:
    """Yield the places of all cells in an order in which cells of different parts of a study follow one another.

    Tasks are sized by the latest cells, and similar cells are neighbours in a study. In their own order the last tasks
    could take far longer than expected, while other workers have nothing to do.
    """
    for first in range(0, count, NEAR):
        for step in range(STEP):
            yield from range(first + step, min(first + NEAR, count), STEP)


def _evaluated(values: ExactValues, batch: Batch) -> Evaluated:
    """Return the exact values of one cell, computed here."""
    return Evaluated(((batch.cell, *row(values, batch)),), fingerprint(), 0.0)


def _tasks(
    cells: Iterator[Cell], study: Study, values: ExactValues, workers: int, tally: "_Tally", speed: Speed
) -> Iterator[ExactTask]:
    """Yield tasks sized by the latest ones, one cell at first, because a cell may take a millisecond or seconds."""
    batches: list[Batch] = []
    for cell in cells:
        batches.append(_batch(cell, study.plan.counts))
        if len(batches) >= min(TASK, *speed.size(tally.total - tally.work, workers)):
            yield ExactTask(values.experiment, tuple(batches))
            batches = []
    if batches:
        yield ExactTask(values.experiment, tuple(batches))


def _batch(cell: Cell, counts: Mapping[str, Any]) -> Batch:
    """Return a cell as plain data."""
    return Batch(cell.id, cell.law, counts[cell.counts], ())


def _keep(done: Evaluated, keep: Callable[[str, bytes], None]) -> None:
    """Store the values of a task. Raises Failure if one ended with an error."""
    for cell, found, problem in done.rows:
        if problem:
            raise Failure(f"an exact value of cell={cell[:16]} ended with an error: {problem}")
        keep(cell, found)


@dataclass
class _Tally:
    """The progress of the exact values."""

    total: float
    work: float = 0.0

    def add(self, done: Evaluated) -> None:
        """Add a task that has arrived."""
        self.work += len(done.rows)

    def __str__(self) -> str:
        return f"exact values of {self.work:.0f}/{self.total:.0f} cells"
