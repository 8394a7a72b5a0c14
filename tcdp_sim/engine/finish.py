"""Publication of the finished cells of a run, without simulating."""

import numpy as np

from tcdp_sim.core import log
from tcdp_sim.core.errors import Failure
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import decisions, exact, missing_chunks, state, stopping
from tcdp_sim.engine.parts import alone
from tcdp_sim.engine.pending import Pending
from tcdp_sim.engine.run import cannot_write, look_over, publish, report
from tcdp_sim.engine.workers import Workers
from tcdp_sim.store import calibrations, journal, kept_plan
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import NO_EXACT_VALUES, ExactValues
from tcdp_sim.store.run_folder import Run, existing_run
from tcdp_sim.study.study import Study


def finish(study: Study, tell: Tell, exact_values: ExactValues = NO_EXACT_VALUES) -> int:
    """Publish all cells that have all their chunks, tell what is missing, and return the number of missing chunks.

    If no chunk is missing, exact values that no part has stored are computed in this process. Otherwise they are
    published as NaN. Raises Failure if no cell is complete.
    """
    journal.allow_many_files()
    run = existing_run(study, replaces=False)  # parts that have begun are no reason to begin anew
    try:
        with run.lock(), log.kept(study.folder):
            return _finish(study, run, tell, exact_values)
    except OSError as problem:
        raise cannot_write(study, problem) from problem


def _finish(study: Study, run: Run, tell: Tell, exact_values: ExactValues) -> int:
    """Publish a run whose folder is locked."""
    for line in study.notes:
        tell(line)
    look_over(study, run, tell)
    if line := calibrations.keep(study.folder, study.calibrated):
        tell(line)
    cells, s = study.plan.laws, study.settings
    compared = decisions.of(cells, s)
    wanted = compared.more(run, stopping.start(cells, s)) if compared else stopping.as_needed(run, cells, s)
    todo = Pending(study.plan.laws, wanted, run.has)
    report(study, run, wanted, tell, study.folder / "problems.csv")
    complete, there = len(wanted) - todo.cells, wanted.total - len(todo)
    tell(f"{study.settings.name}: {there} of {wanted.total} chunks are there, {complete} of {len(wanted)} cells whole")
    for line in missing_chunks.lines(study.planned, run, wanted, todo):
        tell(line)
    if not complete:
        raise Failure("no cell has all its chunks yet, so nothing is published")
    run.need_place()
    kept, unknown = _exact(study, exact_values, bool(todo), tell)
    for line in missing_chunks.of_exact(study.planned, run.heads, exact_values.unknown, todo):
        tell(line)
    decisions.report(compared, study.folder, tell)
    publish(study, run, wanted, exact_values, kept, kept_plan.keep(study), unknown)
    run.need_place()
    if not todo:
        state.keep_end(study, run, kept)
    return len(todo)


def _exact(study: Study, values: ExactValues, partly: bool, tell: Tell) -> tuple[ExactRecords | None, list[str]]:
    """Return the exact values, and the ids of the cells that lack them; these are NaN, and only if `partly`."""
    if not values.width:
        return None, []
    if not (partly and values.experiment):  # values without an experiment are looked up here, which costs nothing
        with Workers(alone(study.settings), tell) as workers:
            return exact.complete(study, values, workers, tell), []
    kept = ExactRecords(study.folder, values, study.uses)
    unknown = [cell for cell in study.plan.laws.ids() if not kept.has(cell)]
    for cell in unknown:
        kept.lend(cell, np.full(values.width, np.nan).tobytes())
    if unknown:
        tell(f"missing: the exact values of {len(unknown)} cells; they are published as NaN")
    return kept, unknown
