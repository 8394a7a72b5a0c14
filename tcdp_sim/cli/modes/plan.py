"""mode=plan: what a run would do; nothing is touched."""

from rich.console import Console

from tcdp_sim.cli.say import say, say_all
from tcdp_sim.engine import clusters, schedule
from tcdp_sim.engine.pilot import pilot
from tcdp_sim.engine.run import prepare
from tcdp_sim.store.run_folder import open_run
from tcdp_sim.study.blocks import absent_blocks
from tcdp_sim.study.settings import Settings


def main(settings: Settings, console: Console) -> None:
    """Say cells, chunks, trials, what time and bytes they take as a pilot tells, and what is left out."""
    study = prepare(settings)
    s, cells = study.settings, study.plan.laws
    run = open_run(study) if (study.folder / "run.json").exists() else None
    wanted = {cell.id: s.chunks for cell in cells}
    todo = schedule.pending(cells, wanted, run.has if run else lambda cell, chunk: False)
    say(console, f"{s.name}: {len(cells)} cells x {s.chunks * s.chunk:,} trials in {s.chunks} chunks, seed {s.seed}")
    say(console, f"to simulate: {len(todo)} of {len(cells) * s.chunks} chunks, {len(todo) * s.chunk:,} trials")
    if todo or s.target_mcse:
        workers, at_once = clusters.forecast(settings.cluster, lambda text: say(console, text))
        _estimate(study, len(todo), workers, at_once, console)
    say(console, f"folder: {study.folder}")
    for why in absent_blocks(settings):
        say(console, why)
    say_all(console, study.notes)


def _estimate(study, chunks, workers, at_once, console):
    s, cells = study.settings, study.plan.laws
    found = pilot(cells, study.plan.counts, s)
    if s.target_mcse:
        chunks += round(len(cells) * (found.chunks - s.chunks))
        told = f"{found.chunks * s.chunk:,.3g} trials a cell on average, {chunks} chunks"
        say(console, f"target_mcse: about {told}; at most {s.max_trials:,} trials a cell")
    seconds, size = chunks * found.seconds / at_once, chunks * found.bytes / 1e6
    tasks = min(chunks, max(1, round(chunks * found.seconds / schedule.task_seconds(workers))))
    sharing = f" that share {at_once} cores" if at_once < workers else ""
    told = f"{_duration(seconds)} on {workers} workers{sharing}, in about {tasks} tasks, {size:.3g} MB of journal"
    say(console, f"estimated by a pilot of {found.cells} cells: {told}")
    if found.errors:
        say(console, f"warning: {found.errors} of the {found.cells} cells of the pilot ended with an error")


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
