"""The exact values of a study's cells: what is missing of them is computed, block by block, and kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_sim.engine import interrupts
from tcdp_sim.engine.evaluate import Evaluated, ExactTask, evaluate, row
from tcdp_sim.engine.progress import ProgressLine
from tcdp_sim.engine.simulate import Batch
from tcdp_sim.engine.workers import Workers
from tcdp_sim.errors import Failure
from tcdp_sim.log import Tell
from tcdp_sim.store.exact_records import ExactRecords, ExactWriter
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.study.packed_cells import Cell
from tcdp_sim.study.study import Study

TASK = 256  # cells: about half a second
FEW = 1000  # cells that are computed here, where no workers are there already: starting them takes longer


def complete(study: Study, values: ExactValues, workers: Workers, tell: Tell) -> ExactRecords:
    """Compute the exact values that are not kept yet, of every law of the study; all of them, as records.

    Raises Failure for a function that ends with another error than a refusal, KeyboardInterrupt that says what is kept.
    """
    kept = ExactRecords(study.folder, values)
    for name, count in kept.damaged.items():
        tell(f"exact/{name}: {count} damaged stretches; what they held is computed again")
    lacking = sum(not kept.has(cell) for cell in study.plan.laws.ids())
    if not lacking:
        return kept
    try:
        _compute(study, values, kept, lacking, workers, tell)
    except KeyboardInterrupt:
        done = sum(kept.has(cell) for cell in study.plan.laws.ids())
        message = f"all chunks and {done} of {len(study.plan.laws)} exact values are kept in {study.folder}"
        raise KeyboardInterrupt(f"{message}; the same command goes on from there") from None
    kept.forget_others()
    return kept


def _compute(study: Study, values: ExactValues, kept: ExactRecords, lacking: int, workers: Workers, tell: Tell) -> None:
    cells = (cell for cell in study.plan.laws if not kept.has(cell.id))
    here = not values.experiment or (lacking <= FEW and not workers.started)
    if here:
        with kept.writer() as writer:
            for cell in cells:
                _keep(Evaluated(((cell.id, *row(values, _batch(cell, study.plan.counts))),)), writer)
        return
    tell(f"{lacking} exact values to compute")
    executor = workers.executor()
    tally = _Tally(lacking)
    with kept.writer() as writer, ProgressLine(tally, executor.silent, "comput") as line:
        tasks = _tasks(cells, study.plan.counts, values, executor.workers, lacking)
        for done in executor.results(tasks, evaluate):
            interrupts.check()
            _keep(done, writer)
            line.advance(done)


def _tasks(
    cells: Iterator[Cell], counts: Mapping[str, Any], values: ExactValues, workers: int, lacking: int
) -> Iterator[ExactTask]:
    size = max(1, min(TASK, lacking // (4 * workers)))
    code, batches = values.code, []
    for cell in cells:
        batches.append(_batch(cell, counts))
        if len(batches) == size:
            yield ExactTask(values.experiment, code, tuple(batches))
            batches = []
    if batches:
        yield ExactTask(values.experiment, code, tuple(batches))


def _batch(cell: Cell, counts: Mapping[str, Any]) -> Batch:
    return Batch(cell.id, cell.law, counts[cell.counts], ())


def _keep(done: Evaluated, writer: ExactWriter) -> None:
    for cell, found, problem in done.rows:
        if problem:
            raise Failure(f"an exact value of cell={cell[:16]} ended with an error: {problem}")
        writer.append(cell, found)


@dataclass
class _Tally:
    """What of the exact values has arrived."""

    total: float
    work: float = 0.0

    def add(self, done: Evaluated) -> None:
        """A task that has arrived."""
        self.work += len(done.rows)

    def __str__(self) -> str:
        return f"exact values of {self.work:.0f}/{self.total:.0f} cells"
