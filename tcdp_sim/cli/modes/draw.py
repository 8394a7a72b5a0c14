"""mode=draw: table, CSV and figures from the published snapshot alone; neither the sweep nor its data are looked at."""

import json
from functools import partial
from pathlib import Path

import xarray as xr
from rich.console import Console

from tcdp_sim import log, registry, results
from tcdp_sim.cli.say import say, say_all
from tcdp_sim.errors import UserError, reason
from tcdp_sim.report import plots
from tcdp_sim.statistics import common_random_numbers, contradictions
from tcdp_sim.study.settings import Settings
from tcdp_sim.study.study import data_notes, title

CONTRADICTED = 3  # exit code


def main(settings: Settings, console: Console) -> int:
    """Draw what is published; CONTRADICTED if simulated numbers contradict exact ones beyond chance, else 0.

    Raises UserError if there is nothing to draw, or it is damaged, or cannot be drawn here.
    """
    experiment = registry.experiment(settings.experiment.name)
    cells = published(settings.folder, title(settings))
    table = experiment.reference(cells)
    experiment.report(table, console)
    with results.readable(settings.folder / "results.zarr"):
        say_all(console, data_notes(json.loads(cells.attrs.get("data", "{}"))))
    try:
        with plots.style():
            saved = plots.save_all(experiment.figures(table), settings.folder / "figures", _chosen(cells))
        with log.kept(settings.folder):
            path = settings.folder / "contradictions.csv"
            contradicted = contradictions.report(table, path, partial(say, console), cells)
        common_random_numbers.report(cells, settings.folder / "differences.csv", partial(say, console))
    except OSError as problem:
        said = f"the figures in {settings.folder} cannot be written ({reason(problem)})"
        raise UserError(f"{said}; once that is put right, mode=draw draws them") from problem
    for path in saved:
        say(console, f"figure: {path}")
    say(console, f"results: {settings.folder / 'results.zarr'}")
    return CONTRADICTED if contradicted else 0


def _chosen(cells: xr.Dataset) -> set[str]:
    """The names that are the user's own."""
    return set(map(str, cells["data"].values)) if "data" in cells.coords else set()


def published(folder: Path, wanted: str) -> xr.Dataset:
    """The flat table of a run's published results; UserError if there is none of that title, or it is damaged."""
    path, cells = folder / "results.zarr", results.open_cells(folder)
    if cells.attrs.get("title") != wanted:
        said = f"{path} holds {cells.attrs.get('title')!r}, not {wanted!r}"
        raise UserError(f"{said}; choose that experiment or another name")
    with results.readable(path):
        return cells.load()
