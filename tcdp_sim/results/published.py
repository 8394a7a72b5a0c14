"""What is made of a published run: its table beside the exact values, its figures, its contradictions."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from tcdp_sim import results
from tcdp_sim.core import log, registry
from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.log import Tell
from tcdp_sim.report import plots
from tcdp_sim.results import rows
from tcdp_sim.statistics import common_random_numbers, contradictions
from tcdp_sim.store import columns

TITLE = "tcdp_sim experiment "


@dataclass(frozen=True)
class Published:
    """folder: of the run; experiment: its module; cells: as `results.open_cells`; table: simulated beside exact.

    The cells of a large run are read from the disk when they are asked for, if its experiment needs no more than some
    at a time.
    """

    folder: Path
    experiment: ModuleType
    cells: xr.Dataset
    table: pd.DataFrame


def read(folder: Path, title: str | None = None) -> Published:
    """What is published in a folder. Raises UserError if nothing is, or another experiment than `title` says."""
    cells = _opened(folder, title)
    name = str(cells.attrs.get("title"))
    if not name.startswith(TITLE):
        raise UserError(f"{folder / 'results.zarr'} does not say which experiment it is of")
    experiment = registry.experiment(name.removeprefix(TITLE))
    with results.readable(folder / "results.zarr"):
        if not results.is_large(cells) or not rows.by_cell(experiment):
            cells = cells.load()
            blocks = iter([cells])
        else:
            blocks = _identified(cells)
    return Published(folder, experiment, cells, _joined_table(_tables(experiment, blocks, cells.sizes["cell"])))


def table(experiment: ModuleType, cells: xr.Dataset) -> pd.DataFrame:
    """Return what an experiment makes of the cells of `open_cells`: simulated beside exact and proved numbers.

    The rows are those of its `rows`, cell by cell, and of its `known`. The neighbouring relation comes last.
    """
    return rows.table(experiment, cells)


def _tables(experiment: ModuleType, blocks: Iterable[xr.Dataset], total: int) -> Iterator[pd.DataFrame]:
    """Give the table of each block, of cells that are numbered through."""
    first = 0
    for block in blocks:
        yield rows.table(experiment, block, first, total)
        first += block.sizes["cell"]


def _identified(cells: xr.Dataset) -> Iterator[xr.Dataset]:
    """The rows of a large table, some at a time; what tells its cells apart is in memory from now on."""
    for name in ("id", "trials", *json.loads(cells.attrs["axes"])):
        cells.variables[name].load()
    return results.cell_blocks(cells)


def _joined_table(coming: Iterator[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; of a large table memory holds little more than itself."""
    first, second = next(coming), next(coming, None)
    if second is None:
        return first
    same: dict[Any, Any] = {}  # equal texts once
    parts = [_columns(part, same) for part in chain([first, second], coming)]
    if any(list(part) != list(parts[0]) for part in parts):
        frames = (pd.DataFrame({name: _series(array) for name, array in part.items()}) for part in parts)
        return pd.concat(frames, ignore_index=True)
    return pd.DataFrame({name: _joined([part.pop(name) for part in parts]) for name in list(parts[0])}, copy=False)


def _columns(part: pd.DataFrame, same: dict[Any, Any]) -> dict[Any, Any]:
    """Columns that can be freed one by one, as those of a frame, which share their memory, cannot."""
    return {name: _array(column, same) for name, column in part.items()}


def _array(column: pd.Series, same: dict[Any, Any]) -> Any:
    if column.dtype == object:
        return np.array([same.setdefault(x, x) for x in column], dtype=object)
    return column.to_numpy().copy() if isinstance(column.dtype, np.dtype) else column.array.copy()


def _joined(arrays: list[Any]) -> pd.Series:
    return pd.concat(map(_series, arrays), ignore_index=True)


def _series(array: Any) -> pd.Series:
    return pd.Series(array, dtype=array.dtype, copy=False)  # which would take texts for its own kind of them


def loaded(folder: Path, title: str | None = None) -> xr.Dataset:
    """The flat table of a run's published results; UserError if there is none, or not of that title, or damaged."""
    cells = _opened(folder, title)
    with results.readable(folder / "results.zarr"):
        return cells.load()


def _opened(folder: Path, title: str | None) -> xr.Dataset:
    cells = results.open_cells(folder, compute_later=False)
    if title is not None and (name := cells.attrs.get("title")) != title:
        path = folder / "results.zarr"
        raise UserError(f"{path} holds {name!r}, not {title!r}; choose that experiment or another name")
    return cells


def contradicted(published: Published, tell: Tell) -> int:
    """Write contradictions.csv and say how many there are; that many. Raises UserError if it cannot be written."""
    folder = published.folder
    try:
        with log.kept(folder):
            return contradictions.report(published.table, folder / "contradictions.csv", tell, published.cells)
    except OSError as problem:
        raise _not_written(folder, problem) from problem


def draw(published: Published) -> tuple[list[Path], dict[str, Figure]]:
    """Write the figures and the numbers they show; the paths of the PNG files, and name -> figure. Raises UserError."""
    figures = {}

    def kept():
        for name, figure, table in published.experiment.figures(published.table):
            figures[name] = figure
            yield name, figure, table

    try:
        with plots.style():
            paths = plots.save_all(kept(), published.folder / "figures", chosen_names(published.cells))
    except OSError as problem:
        raise _not_written(published.folder, problem) from problem
    return paths, figures


def differences(published: Published, tell: Tell) -> None:
    """Write differences.csv, where cells share random numbers, and say it. Raises UserError."""
    try:
        cells = published.cells
        if columns.batched(map(str, cells.data_vars)):
            cells = cells.drop_dims([dim for dim in cells.dims if dim not in ("cell", "batch")]).load()
        common_random_numbers.report(cells, published.folder / "differences.csv", tell)
    except OSError as problem:
        raise _not_written(published.folder, problem) from problem


def _not_written(folder: Path, problem: OSError) -> UserError:
    message = f"the figures in {folder} cannot be written ({reason(problem)})"
    return UserError(f"{message}; once the cause is repaired, `tcdp-sim draw {folder}` draws them")


def chosen_names(cells: xr.Dataset) -> set[str]:
    """The names that are the user's own."""
    return set(map(str, cells["data"].values)) if "data" in cells.coords else set()
