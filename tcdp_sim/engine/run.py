"""The run of a study: missing chunks are simulated and stored, and the snapshot is published."""

import errno
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core import log, own_noises
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.collector import collecting_seldom
from tcdp_sim.core.errors import Failure, UserError, reason
from tcdp_sim.core.log import Tell
from tcdp_sim.core.own_noises import NeedsCode
from tcdp_sim.engine import clusters, decisions, exact, interrupts, schedule, shown, simulate, state, stopping
from tcdp_sim.engine.carried_noises import carrying
from tcdp_sim.engine.decisions import Decisions
from tcdp_sim.engine.numerics_mismatch import Foreign, check_heads
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.engine.progress import ProgressLine, Tally
from tcdp_sim.engine.simulate import Done
from tcdp_sim.engine.until_precise import until_precise
from tcdp_sim.engine.workers import Workers
from tcdp_sim.mechanisms import Mechanism, UserFunction
from tcdp_sim.mechanisms.functions import needs_code
from tcdp_sim.mechanisms.kept_noises import keeping
from tcdp_sim.store import calibrations, certificate, kept_plan, provenance, publication
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_values import NO_EXACT_VALUES, ExactValues
from tcdp_sim.store.run_folder import Run, open_run
from tcdp_sim.study import study as studies
from tcdp_sim.study.packed_cells import Cell
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import Study
from tcdp_sim.summaries import problems
from tcdp_sim.summaries.fixed_trials import FIXED
from tcdp_sim.summaries.many_summaries import Summaries

if TYPE_CHECKING:
    import xarray as xr

    from tcdp_sim.store.zarr_tree import Seen

LONGEST = 500  # characters of an error's message that are shown; problems.csv has all of them


def prepare(settings: Settings) -> Study:
    """Return the study of checked settings after checking the cluster. Raises UserError; runs and writes nothing."""
    clusters.worker_count(settings.cluster)
    try:
        own_noises.require_all(settings.noises)
    except NeedsCode:
        if known := kept_plan.without_code(settings):
            return known
        raise
    with keeping(calibrations.read(settings.folder)) as calibrated:
        study = studies.prepare(settings)
    return replace(study, calibrated=calibrated)


def execute(
    study: Study,
    tell: Tell,
    exact_values: ExactValues = NO_EXACT_VALUES,
    seen: "Seen | None" = None,
    run: Run | None = None,
) -> int:
    """Simulate the missing chunks, publish the snapshot, and return how many cells failed.

    `exact_values` are the experiment's exact values, published with the snapshot. `seen` gets the published table,
    unless it is large or was published before. `run` is the study's folder, if it is open already. A KeyboardInterrupt
    says what is stored. Raises Failure at the first error of a chunk unless on_error=continue.
    """
    run = run or open_run(study)
    try:
        with run.lock(), log.kept(study.folder), collecting_seldom():
            for line in study.notes:
                tell(line)
            return _execute(study, run, tell, exact_values, seen)
    except OSError as problem:
        raise cannot_write(study, problem) from problem


def _execute(study: Study, run: Run, tell: Tell, exact_values: ExactValues, seen: "Seen | None") -> int:
    """Run a study whose folder is locked."""
    s, cells = study.settings, study.plan.laws
    look_over(study, run, tell)
    if line := calibrations.keep(study.folder, study.calibrated):
        tell(line)
    of = kept_plan.keep(study)
    wanted = stopping.start(cells, s)
    todo = Pending(cells, wanted, run.has)
    message = f"{len(todo)} of {wanted.total} chunks to simulate" if todo else "nothing to simulate"
    tell(state.heading(s, cells, message))
    failed: set[str] = set()
    with Workers(s, tell) as workers:
        try:
            compared = decisions.of(cells, s)
            wanted = simulate_all(study, run, todo, wanted, failed, workers, tell, compared)
        finally:
            report(study, run, wanted, tell, study.folder / "problems.csv")
        if len(failed) == len(cells):
            raise Failure("every cell ended with an error (see problems.csv)")
        run.need_place()
        kept = exact.complete(study, exact_values, workers, tell) if exact_values.width else None
    run.need_place()
    decisions.report(compared, study.folder, tell)
    publish(study, run, wanted, exact_values, kept, of, seen=seen)
    run.need_place()
    state.keep_end(study, run, kept)
    return len(failed)


def look_over(study: Study, run: Run, tell: Tell) -> None:
    """Tell the user what is damaged, mend what can be mended, and check the machines that wrote the journal."""
    for line in damages(run):
        tell(line)
    if provenance.mend(study.folder, run.heads, study.settings.config):
        run.mended.append(f"{provenance.NAME} was damaged or lost; it is written again")
    for line in [*run.warned, *run.mended]:
        tell(line)
    check_heads(study.settings, run.heads, tell)


def damages(run: Run) -> list[str]:
    """Return a line for each damaged journal file that the run has read."""
    counts = run.damaged.items()
    return [f"journal/{name}: {count} damaged stretches; their chunks count as missing" for name, count in counts]


def publish(
    study: Study,
    run: Run,
    wanted: Wanted,
    exact_values: ExactValues,
    kept: ExactRecords | None,
    plan: str | None,
    lacking: Sequence[str] = (),
    seen: "Seen | None" = None,
) -> None:
    """Publish snapshot and certificate unless the same bytes are published already, and keep the progress.

    `plan` is the key of the kept plan. `lacking` holds the ids of cells whose exact values are published as NaN,
    because they are not computed yet. `seen` is that of `execute`.
    """
    attributes = study.attributes() | {"noises": json.dumps(_noises(study))}
    counted = problems.counts(problems.of_chunks(run.problems, wanted, run.has))
    made_of = publication.table_digest(study, exact_values, attributes, counted, lacking, kept)
    if publication.stands(study, run, wanted.by_id(), made_of):
        state.keep(study.planned, run, wanted, plan)
        return
    with interrupts.held():  # a second of imports, which a command that publishes nothing does not need
        from tcdp_sim.store import zarr_tree
    worst = state.WorstOfTable(study.mechanism.observables)
    blocks = worst.watched(_table(study, run, wanted, exact_values, kept, attributes, counted))
    with ProgressLine(_Rows(len(study.plan.cells)), what="publish") as line:
        blocks = _shown(blocks, line)
        run.publish(zarr_tree.watched(blocks, seen) if seen else blocks)
        certificate.write(study, run, wanted.by_id())
    publication.write(run.folder, made_of)
    state.keep(study.planned, run, wanted, plan, worst.found)


@dataclass
class _Rows:
    """The progress of a publication: the rows of its table. The certificate comes after the last of them."""

    total: float
    work: float = 0.0

    def add(self, rows: int) -> None:
        """Add the rows of a block."""
        self.work += rows

    def __str__(self) -> str:
        return f"{self.work:.0f}/{self.total:.0f} cells"


def _shown(blocks: "Iterator[xr.Dataset]", line: ProgressLine) -> "Iterator[xr.Dataset]":
    """Yield the blocks of a table, and advance the line by their rows."""
    for block in blocks:
        line.advance(block.sizes["cell"])
        yield block


def simulate_all(
    study: Study,
    run: Run,
    todo: Pending,
    wanted: Wanted,
    failed: set[str],
    workers: Workers,
    tell: Tell,
    compared: Decisions | None = None,
) -> Wanted:
    """Simulate pilots and estimates into the run's folder, and return the chunks that the cells have in the end.

    `compared` holds the comparisons of a run with a target.
    """

    def simulate_pending(pending: Pending, planned: Wanted) -> None:
        _need_code(study)
        _simulate(study, run, pending, planned, failed, workers, tell)

    cells, settings = study.plan.laws, study.settings
    return until_precise(cells, settings, run, todo, wanted, simulate_pending, failed, tell, compared)


def _simulate(
    study: Study,
    run: Run,
    todo: Pending,
    wanted: Wanted,
    failed: set[str],
    workers: Workers,
    tell: Tell,
) -> None:
    """Simulate pending chunks and store them as they arrive."""
    s = study.settings
    foreign = Foreign(s, tell)

    def receive(done: Done) -> None:
        known = len(foreign.met)
        foreign.meets(done.fingerprint)
        failed.update(record.cell for record in done.records if record.summary is None)
        writer.extend(((one.cell, one.chunk, one.summary, one.problems) for one in done.records), done.worker)
        if len(foreign.met) > known:
            about[provenance.FOREIGN] = sorted(foreign.met)
            writer.end(about)  # at once, because the run may be killed later
        line.advance(done)
        if failed and s.on_error != "continue":
            raise Failure(_first_error(study, run, failed))

    try:
        executor = workers.executor()
        planned = {"cells": len(wanted), "chunks": wanted.total}
        place = None if run.label else study.folder  # the parts of a run share no file
        about = provenance.record(place, s.config, study.config_hash, study.data, planned, study.uses)
        about |= {provenance.PART: s.part} if s.part else {}
        tally = Tally(todo, s.chunk)
        trials = {shown.KEY: [each.plain for each in getattr(study.simulated, "shown", ())]}
        with run.writer(about | trials) as writer, ProgressLine(tally, executor.silent) as line:
            useful = (item for item in todo if item[0].id not in failed)
            work = study.simulated or carrying(study, simulate.run), study.uses
            schedule.simulate(executor, useful, todo.work, study.plan.counts, s.seed, s.chunk, receive, *work)
            writer.end(provenance.end(place, about))
    except KeyboardInterrupt as stop:
        written = run.again()  # read again: the signal may have come between a record and its entry in `run`
        total = sum(run.size(cell, chunks) for cell, chunks in wanted.each())
        kept = total - len(Pending(study.plan.laws, wanted, written.has))
        where = f"{stop}; " if str(stop) else ""  # the cell whose function was interrupted
        message = f"{where}{kept} of {total} chunks are kept in {study.folder}; the same command goes on from there"
        raise KeyboardInterrupt(message) from None


def _need_code(study: Study) -> None:
    """Raise UserError if the chunks come from a user's function or noises that this process does not have."""
    own_noises.require_all(study.settings.noises)
    if issubclass(study.mechanism, UserFunction) and study.simulated is None:
        function = study.settings.options["function"]
        raise UserError(f"{needs_code(function)}, or the command of the sweep again")


def _first_error(study: Study, run: Run, failed: set[str]) -> str:
    """Return the message for the first error of a failed cell, with the command that repeats it."""
    error = next(one for one in run.problems if one.kind == problems.ERROR and one.cell in failed)
    again = f"again, with its traceback: tcdp-sim replay {study.folder} cell={error.cell[:16]} index={error.chunk}"
    what = f"a chunk ended with an error: {problems.shortened(error.message, LONGEST)}"
    return f"{what}; {again}; on_error=continue goes on with the other cells"


def report(study: Study, run: Run, wanted: Wanted, tell: Tell, path: Path | None) -> None:
    """Tell the user about the problems of this run's chunks, and write them to problems.csv, if `path` is given."""
    chunk_problems = problems.of_chunks(run.problems, wanted, run.has)
    troubled = {one.cell for one in chunk_problems}
    where = {cell.id: cell.where for cell in study.plan.laws if cell.id in troubled} if troubled else {}
    problems.report(chunk_problems, where, path, tell)
    if path is not None and study.mechanism.missing:
        order = {cell: place for place, cell in enumerate(study.plan.laws.ids())} if troubled else {}
        problems.write_failed_trials(chunk_problems, where, order, path.with_name(problems.FAILED_TRIALS))


def _table(
    study: Study,
    run: Run,
    wanted: Wanted,
    exact_values: ExactValues,
    kept: ExactRecords | None,
    attributes: Mapping[str, Any],
    counted: Mapping[tuple[str, str], int],
) -> "Iterator[xr.Dataset]":
    """Return the rows of all cells, a block at a time."""
    from tcdp_sim.store import table

    rule = decisions.rule(study.settings)
    names = table.names_together(study.mechanism, study.settings.losses) if rule is FIXED else None

    def summaries(cells: Sequence[str]) -> Summaries:
        return run.summaries(cells, wanted.estimates(cells), names)

    def known(cell: Cell, _: Mechanism) -> Floats:
        assert kept is not None  # without records there are no exact quantities
        return kept.values(cell.id)

    cells, counts = study.plan.cells, study.plan.counts
    pilots = study.settings.chunk if study.settings.target_mcse else 0
    return table.blocks(
        cells, summaries, counts, attributes, counted, exact_values, known, study.mechanism, pilots, rule
    )


def _noises(study: Study) -> dict[str, dict[str, str]]:
    """Return label, family and calibration of a study's noises by name, so that a reader needs no config."""
    specs = {name: study.settings.noise(name) for name in study.plan.noises}
    return {name: {key: spec[key] for key in ("label", "family", "calibration")} for name, spec in specs.items()}


def cannot_write(study: Study, problem: OSError) -> Exception:
    """Return the error for a full, vanished or locked disk, or `problem` itself if it is no file error."""
    if problem.errno is None:
        return problem
    when = "there is room" if problem.errno in (errno.ENOSPC, errno.EDQUOT) else "the cause is repaired"
    return UserError(
        f"writing to {study.folder} failed ({reason(problem)}); finished chunks are kept: "
        f"once {when}, the same command goes on from there"
    )
