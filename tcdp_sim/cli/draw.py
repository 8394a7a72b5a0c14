"""The command `tcdp-sim draw`, which makes table, CSV files and figures from the published snapshot alone."""

import json
from functools import partial
from pathlib import Path

from rich.console import Console

from tcdp_sim import results
from tcdp_sim.cli.say import say, say_all
from tcdp_sim.results import published
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import data_notes, title

CONTRADICTED = 3  # exit code


def main(settings: Settings, console: Console) -> int:
    """Draw the results in the folder of the settings, if they are of their experiment: see `draw`."""
    return draw(settings.folder, console, title(settings))


def draw(folder: Path, console: Console, wanted: str | None = None) -> int:
    """Draw published results. Return CONTRADICTED if simulated numbers contradict exact ones beyond chance, else 0.

    Raises UserError if there are no results, if they are damaged or have another title than `wanted`, or if they cannot
    be drawn.
    """
    run = published.read(folder, wanted)
    run.experiment.report(run.table, console)
    with results.readable(folder / "results.zarr"):
        say_all(console, data_notes(json.loads(run.cells.attrs.get("data", "{}"))))
    paths, _ = published.draw(run)
    contradictions = published.contradicted(run, partial(say, console))
    published.differences(run, partial(say, console))
    for path in paths:
        say(console, f"figure: {path}")
    say(console, f"results: {folder / 'results.zarr'}")
    return CONTRADICTED if contradictions else 0
