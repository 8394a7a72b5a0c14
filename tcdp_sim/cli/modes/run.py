"""mode=run: simulate what is missing, publish the snapshot, draw it."""

import errno
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from tcdp_sim import log
from tcdp_sim.cli.modes import draw
from tcdp_sim.engine import clusters, schedule, stopping
from tcdp_sim.engine.progress import ProgressLine, Tally
from tcdp_sim.errors import Failure, UserError
from tcdp_sim.store import certificate, provenance, table
from tcdp_sim.streams import fingerprint
from tcdp_sim.study.study import Study, prepare, reason, say, say_notes
from tcdp_sim.summaries import problems


def main(raw: Mapping[str, Any], console: Console) -> int:
    """Run or resume a study, then draw it; the exit code: 3 if simulated numbers contradict exact ones, else 0.

    Raises Failure at the end if errors left cells without numbers.
    """
    study = prepare(raw)
    failed = execute(study, console)
    code = draw.main(raw, console)
    if failed:
        raise Failure(f"errors left {failed} of {len(study.plan.laws)} cells without numbers (see problems.csv)")
    return code


def execute(study: Study, console: Console) -> int:
    """Simulate what is missing, publish the snapshot; how many cells have no numbers because of errors.

    Raises KeyboardInterrupt that says what is kept, Failure at the first error unless on_error=continue.
    """
    run = study.open()
    try:
        with run.lock(), log.kept(study.folder):
            say_notes(study, console)
            return _execute(study, run, console)
    except OSError as problem:
        raise cannot_write(study, problem) from problem


def _execute(study, run, console) -> int:
    s, cells = study.settings, study.plan.laws
    for name, count in run.damaged.items():
        say(console, f"journal/{name}: {count} damaged stretches; what they held counts as missing")
    if provenance.mend(study.folder, run.heads, study.raw):
        run.mended.append(f"{provenance.NAME} was damaged or lost; it is written again")
    for line in [*run.warned, *run.mended]:
        say(console, line)
    wanted = {cell.id: s.chunks for cell in cells}
    todo = schedule.pending(cells, wanted, run.has)
    told = "nothing to simulate" if not todo else f"{len(todo)} of {sum(wanted.values())} chunks to simulate"
    say(console, f"{s.name}: {len(cells)} cells x {s.chunks * s.chunk:,} trials; {told}")
    failed: set[str] = set()
    try:
        wanted = _until_precise(study, run, todo, wanted, failed, console)
    finally:
        _report(study, run, wanted, console)
    if len(failed) == len(cells):
        raise Failure("every cell ended with an error (see problems.csv)")
    run.publish(_dataset(study, run, wanted))
    certificate.write(study, run, wanted)
    return len(failed)


def _until_precise(study, run, todo, wanted, failed, console) -> dict[str, int]:
    """Simulate, and more as long as targets are missed; the chunks that the cells have at the end."""
    cells = study.plan.laws
    while True:
        if todo:
            _simulate(study, run, todo, wanted, failed, console)
        more = stopping.more(run, wanted, study.settings)
        if more == wanted:
            return wanted
        todo = [item for item in schedule.pending(cells, more, run.has) if item[0].id not in failed]
        grown = sum(more[cell] > wanted[cell] for cell in more)
        say(console, f"target_mcse: {grown} cells need more trials; {len(todo)} chunks to simulate")
        wanted = more


def _simulate(study, run, todo, wanted, failed, console):
    s = study.settings
    expected = fingerprint()
    foreign = set()

    def receive(done):
        if done.fingerprint != expected and done.fingerprint not in foreign:
            _foreign_numerics(s, console)
            foreign.add(done.fingerprint)
        for record in done.records:
            _keep(record, writer, failed)
        line.advance(done.records)
        if failed and s.on_error == "raise":
            raise Failure(_first_error(study, run, failed))

    try:
        with clusters.connect(study.raw["cluster"], s.numerics) as executor:
            if executor.dashboard:
                say(console, f"dashboard: {executor.dashboard}")
            about = provenance.record(study.folder, study.raw, study.config_hash, study.data)
            tally = Tally(todo, wanted, s.chunk)
            with run.writer(about) as writer, ProgressLine(tally, executor.silent) as line:
                useful = (item for item in todo if item[0].id not in failed)
                schedule.simulate(executor, useful, len(todo), study.plan.counts, s.seed, s.chunk, receive)
                writer.end(provenance.end(study.folder, about))
    except KeyboardInterrupt:
        written = study.open()  # read again: the signal may have come between a record and its entry in `run`
        total = sum(wanted.values())
        kept = total - len(schedule.pending(study.plan.laws, wanted, written.has))
        said = f"{kept} of {total} chunks are kept in {study.folder}; the same command goes on from there"
        raise KeyboardInterrupt(said) from None


def _keep(record, writer, failed) -> None:
    for problem in record.problems:
        writer.note(problem)
    if record.summary is None:
        failed.add(record.cell)
    else:
        writer.append(record.cell, record.chunk, record.summary)


def _first_error(study, run, failed) -> str:
    error = next(one for one in run.problems if one.kind == problems.ERROR and one.cell in failed)
    said = f"{error.message}; again, with its traceback: mode=replay cell={error.cell[:16]} index={error.chunk}"
    return f"a chunk ended with an error: {said}; on_error=continue goes on with the other cells"


def _report(study, run, wanted, console) -> None:
    found = problems.of_chunks(run.problems, wanted, run.has)
    where = {cell.id: cell.where for cell in study.plan.laws}
    problems.report(found, where, study.folder / "problems.csv", lambda text: say(console, text))


def _dataset(study, run, wanted):
    def summary(cell):
        chunks = range(wanted[cell.id])
        return run.summary(cell.id, chunks) if all(run.has(cell.id, chunk) for chunk in chunks) else None

    counted = problems.counts(problems.of_chunks(run.problems, wanted, run.has))
    cells, attributes = study.plan.cells, study.attributes()
    return table.tabulate(cells, map(summary, cells), study.plan.counts, attributes, counted)


def cannot_write(study, problem: OSError) -> Exception:
    """The one line for a full, vanished or locked disk in the middle of a run; what is no file's error as it is."""
    if problem.errno is None:
        return problem
    when = "there is room" if problem.errno in (errno.ENOSPC, errno.EDQUOT) else "that is put right"
    return UserError(
        f"writing to {study.folder} failed ({reason(problem)}); what was finished is kept: "
        f"once {when}, the same command goes on from there"
    )


def _foreign_numerics(settings, console):
    message = "a worker's elementary functions differ from this machine's in the last bits"
    if settings.numerics == "strict":
        raise UserError(f"{message}; numerics=warn accepts that")
    say(console, f"warning: {message}: its numbers are right, but not bit-identical")
