"""mode=plan: what a run would do; nothing is touched."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from tcdp_sim import clusters, config, engine
from tcdp_sim.study import prepare, say, say_skipped

BYTES_PER_CHUNK = 20_000  # of journal, typical for six observables; only for the plan


def main(raw: Mapping[str, Any], console: Console) -> None:
    """Say cells, chunks, trials, estimated time and bytes, and what is left out."""
    study = prepare(raw)
    s, cells = study.settings, study.plan.laws
    run = study.open() if (study.folder / "run.json").exists() else None
    wanted = {cell.id: s.chunks for cell in cells}
    todo = engine.pending(cells, wanted, run.has if run else lambda cell, chunk: False)
    workers = clusters.worker_count(raw["cluster"])
    seconds = sum(cell.work for cell, _ in todo) * s.chunk * engine.FIRST_GUESS / workers
    say(console, f"{s.name}: {len(cells)} cells x {s.chunks * s.chunk:,} trials in {s.chunks} chunks, seed {s.seed}")
    say(console, f"to simulate: {len(todo)} of {len(cells) * s.chunks} chunks, {len(todo) * s.chunk:,} trials")
    say(console, f"estimated: {seconds:.3g} s on {workers} workers, {len(todo) * BYTES_PER_CHUNK / 1e6:.3g} MB")
    say(console, f"folder: {study.folder}")
    if s.target_mcse:
        say(console, f"then up to {s.max_trials:,} trials a cell, until target_mcse is met")
    for why in config.absent_blocks(raw):
        say(console, why)
    say_skipped(study, console)
