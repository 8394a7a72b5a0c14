"""mode=run: simulate what is missing, publish the snapshot, draw it."""

import errno
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from tcdp_sim import clusters, engine, provenance, replication, results
from tcdp_sim.errors import UserError
from tcdp_sim.modes import draw
from tcdp_sim.progress import ProgressLine
from tcdp_sim.simulate import fingerprint
from tcdp_sim.study import Study, prepare, reason, say, say_skipped


def main(raw: Mapping[str, Any], console: Console) -> None:
    """Run or resume a study, then draw it."""
    study = prepare(raw)
    execute(study, console)
    draw.main(raw, console)


def execute(study: Study, console: Console) -> None:
    """Simulate what is missing, publish the snapshot. Raises KeyboardInterrupt that says what is kept."""
    say_skipped(study, console)
    run = study.open()
    try:
        with run.lock():
            _execute(study, run, console)
    except OSError as problem:
        raise cannot_write(study, problem) from problem


def _execute(study, run, console):
    s, cells = study.settings, study.plan.laws
    for name, count in run.damaged.items():
        say(console, f"journal/{name}: {count} damaged stretches; what they held counts as missing")
    wanted = {cell.id: s.chunks for cell in cells}
    todo = engine.pending(cells, wanted, run.has)
    told = "nothing to simulate" if not todo else f"{len(todo)} of {sum(wanted.values())} chunks to simulate"
    say(console, f"{s.name}: {len(cells)} cells x {s.chunks * s.chunk:,} trials; {told}")
    while True:
        if todo:
            _simulate(study, run, todo, wanted, console)
        more = replication.more(run, wanted, s)
        if more == wanted:
            break
        todo = engine.pending(cells, more, run.has)
        grown = sum(more[cell] > wanted[cell] for cell in more)
        say(console, f"target_mcse: {grown} cells need more trials; {len(todo)} chunks to simulate")
        wanted = more
    run.publish(_dataset(study, run, wanted))


def _simulate(study, run, todo, wanted, console):
    s = study.settings
    work = {cell.id: cell.work for cell in study.plan.laws}
    expected = fingerprint()
    foreign = set()

    def receive(done):
        if done.fingerprint != expected and done.fingerprint not in foreign:
            _foreign_numerics(s, console)
            foreign.add(done.fingerprint)
        for cell, chunk, summary in done.records:
            writer.append(cell, chunk, summary)
        line.advance(len(done.records), sum(work[cell] for cell, _, _ in done.records))

    try:
        with (
            clusters.connect(study.raw["cluster"], s.numerics) as executor,
            run.writer(provenance.record(study.folder, study.raw)) as writer,
            ProgressLine(len(todo), sum(work[cell.id] for cell, _ in todo), s.chunk) as line,
        ):
            engine.simulate(executor, todo, study.plan.counts, s.seed, s.chunk, receive)
    except KeyboardInterrupt:
        written = study.open()  # read again: the signal may have come between a record and its entry in `run`
        total = sum(wanted.values())
        kept = total - len(engine.pending(study.plan.laws, wanted, written.has))
        said = f"{kept} of {total} chunks are kept in {study.folder}; the same command goes on from there"
        raise KeyboardInterrupt(said) from None


def _dataset(study, run, wanted):
    def summary(cell):
        chunks = range(wanted[cell.id])
        return run.summary(cell.id, chunks) if all(run.has(cell.id, chunk) for chunk in chunks) else None

    return results.tabulate(study.plan.cells, map(summary, study.plan.cells), study.plan.counts, study.attributes())


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
