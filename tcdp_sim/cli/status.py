"""The command `tcdp-sim status`, which prints the progress of a run, also while it is running."""

import time

from rich.console import Console

from tcdp_sim.cli.say import say, say_all
from tcdp_sim.core.texts import shortened
from tcdp_sim.engine import lacking
from tcdp_sim.engine.pending import Pending
from tcdp_sim.engine.run import prepare
from tcdp_sim.store import provenance
from tcdp_sim.store.run_folder import existing_run
from tcdp_sim.study.settings import Settings
from tcdp_sim.summaries import problems
from tcdp_sim.summaries.estimates import relative_mcse


def main(settings: Settings, console: Console) -> None:
    """Print the progress of a run, damaged files, the worst relative MCSE, and the time since the journal last grew."""
    study = prepare(settings)
    run = existing_run(study)
    s, cells = study.settings, study.plan.laws
    wanted = lacking.as_needed(study, run)
    missing = Pending(cells, wanted, run.has)
    done, complete = wanted.total - len(missing), len(cells) - missing.cells
    progress = f"{done} of {wanted.total} chunks, {complete} of {len(cells)} cells done"
    say(console, f"{study.folder}: {progress}")
    for line in run.mended:
        say(console, line)
    for name, count in run.damaged.items():
        say(console, f"journal/{name}: {count} damaged stretches, which are passed over")
    if complete:
        whole = ((cell, n) for cell, n in wanted.each() if all(run.has(cell, chunk) for chunk in range(n)))
        (relative, name), cell = max((_worst(run.summary(cell, range(n))), cell) for cell, n in whole)
        where = cells[cells.place(cell) or 0].where
        say(console, f"worst relative standard error of a mean: {relative:.2%}, {name} of {where}")
    if s.target_mcse:
        grown = (wanted.chunks > s.chunks).sum()
        most = f"the largest {wanted.chunks.max() * s.chunk:,} as far as is known"
        say(console, f"target_mcse: {grown} cells need more than {s.chunks * s.chunk:,} trials, {most}")
    if any(provenance.PART in head for head in run.heads):
        say_all(console, lacking.lines(study, run.heads, wanted, missing))
    _problems(run, cells, wanted, console)
    last = max((path.stat().st_mtime for path in (study.folder / "journal").glob("*.seg")), default=None)
    if last:
        who = "a driver is" if run.locked() else "nobody is"
        say(console, f"last written {time.time() - last:.0f} s ago; {who} at work")
    say_all(console, study.notes)


def _problems(run, cells, wanted, console):
    relevant = problems.of_chunks(run.problems, wanted, run.has)
    for kind in (problems.ERROR, problems.WARNING):
        if of_kind := [one for one in relevant if one.kind == kind]:
            first, cells_hit = of_kind[0], len({one.cell for one in of_kind})
            where = f"cell={first.cell[:16]} index={first.chunk}"
            say(console, f"{len(of_kind)} {kind}s in {cells_hit} cells, such as in {where}: {shortened(first.message)}")


def _worst(summary):
    """Return (relative MCSE, observable) of the mean with the largest relative MCSE."""
    relative, name = relative_mcse(summary)
    return relative if name else 0.0, name
