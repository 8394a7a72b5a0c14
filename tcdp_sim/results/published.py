"""A published run with the output of its experiment: table, figures, contradictions and differences."""

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
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.report import plots, saving
from tcdp_sim.report.saving import SaveAll
from tcdp_sim.results import rows
from tcdp_sim.statistics import common_random_numbers, contradictions
from tcdp_sim.store import columns, drawn
from tcdp_sim.store.drawn import TITLE


@dataclass(frozen=True)
class Published:
    """A published run.

    Parameters
    ----------
    folder : Path
        The folder of the run.
    experiment : module
        The module of its experiment.
    cells : xarray.Dataset
        The table of cells, as `results.open_cells` returns it. A large table is read from the disk on demand if the
        experiment works cell by cell.
    table : pandas.DataFrame
        Simulated beside exact numbers, as the experiment makes them.
    """

    folder: Path
    experiment: ModuleType
    cells: xr.Dataset
    table: pd.DataFrame


def read(folder: Path, title: str | None = None) -> Published:
    """Return the published run in a folder.

    Raises UserError if nothing is published there, or if its title is not `title`.
    """
    cells = _opened(folder, title)
    name = str(cells.attrs.get("title"))
    if not name.startswith(TITLE):
        raise UserError(f"{folder / 'results.zarr'} does not name its experiment; choose the folder of a run")
    experiment = registry.experiment(name.removeprefix(TITLE))
    with results.readable(folder / "results.zarr"):
        if not results.is_large(cells) or not rows.by_cell(experiment):
            cells = cells.load()
            blocks = iter([cells])
        else:
            blocks = _identified(cells)
    return Published(folder, experiment, cells, _joined_table(_tables(experiment, blocks, cells.sizes["cell"])))


def table(experiment: ModuleType, cells: xr.Dataset) -> pd.DataFrame:
    """Return the table that an experiment makes of the cells of `open_cells`: simulated, exact and proved numbers.

    The rows of its function `rows` come first, cell by cell, then those of `known`. The neighbouring relation is the
    last column.
    """
    return rows.table(experiment, cells)


def _tables(experiment: ModuleType, blocks: Iterable[xr.Dataset], total: int) -> Iterator[pd.DataFrame]:
    """Yield the table of each block; cells are numbered consecutively over all blocks."""
    first = 0
    for block in blocks:
        yield rows.table(experiment, block, first, total)
        first += block.sizes["cell"]


def _identified(cells: xr.Dataset) -> Iterator[xr.Dataset]:
    """Return the rows of a large table in blocks, after loading the columns that tell its cells apart."""
    for name in ("id", "trials", *json.loads(cells.attrs["axes"])):
        cells.variables[name].load()
    return results.cell_blocks(cells)


def _joined_table(coming: Iterator[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts in one table, with little more memory than the result takes."""
    first, second = next(coming), next(coming, None)
    if second is None:
        return first
    same: dict[Any, Any] = {}  # keeps one object for equal texts
    parts = [_columns(part, same) for part in chain([first, second], coming)]
    if any(list(part) != list(parts[0]) for part in parts):
        frames = (pd.DataFrame({name: _series(array) for name, array in part.items()}) for part in parts)
        return pd.concat(frames, ignore_index=True)
    return pd.DataFrame({name: _joined([part.pop(name) for part in parts]) for name in list(parts[0])}, copy=False)


def _columns(part: pd.DataFrame, same: dict[Any, Any]) -> dict[Any, Any]:
    """Return the columns as arrays that can be freed one by one. The columns of a frame share their memory."""
    return {name: _array(column, same) for name, column in part.items()}


def _array(column: pd.Series, same: dict[Any, Any]) -> Any:
    if column.dtype == object:
        return np.array([same.setdefault(x, x) for x in column], dtype=object)
    return column.to_numpy().copy() if isinstance(column.dtype, np.dtype) else column.array.copy()


def _joined(arrays: list[Any]) -> pd.Series:
    return pd.concat(map(_series, arrays), ignore_index=True)


def _series(array: Any) -> pd.Series:
    return pd.Series(array, dtype=array.dtype, copy=False)  # without the dtype pandas would convert texts


def loaded(folder: Path, title: str | None = None) -> xr.Dataset:
    """Return the flat table of a run's published results, in memory.

    Raises UserError if there is none, if it is damaged, or if its title is not `title`.
    """
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
    """Write contradictions.csv, report the contradictions and return their number.

    Raises UserError if the file cannot be written.
    """
    folder = published.folder
    try:
        with log.kept(folder):
            return contradictions.report(published.table, folder / "contradictions.csv", tell, published.cells)
    except OSError as problem:
        raise drawn.not_written(folder, problem) from problem


def draw(published: Published, save_all: SaveAll | None = None) -> tuple[list[Path], dict[str, Figure]]:
    """Write the figures and their numbers. Return the paths of the PNG files, and the figures by name.

    `save_all` saves them, by default in this process. Raises UserError if they cannot be written.
    """
    save_all = save_all or saving.save_all
    figures = {}

    def kept():
        for name, figure, table in published.experiment.figures(published.table):
            figures[name] = figure
            yield name, figure, table

    try:
        with plots.style():
            paths = save_all(kept(), published.folder / "figures", chosen_names(published.cells))
    except OSError as problem:
        raise drawn.not_written(published.folder, problem) from problem
    return paths, figures


def differences(published: Published, tell: Tell) -> None:
    """Write differences.csv and report it, if cells share random numbers. Raises UserError if it cannot be written."""
    try:
        cells = published.cells
        if columns.batched(map(str, cells.data_vars)):
            cells = cells.drop_dims([dim for dim in cells.dims if dim not in ("cell", "batch")]).load()
        common_random_numbers.report(cells, published.folder / "differences.csv", tell)
    except OSError as problem:
        raise drawn.not_written(published.folder, problem) from problem


def chosen_names(cells: xr.Dataset) -> set[str]:
    """Return the names that the user has chosen: those of the data sets."""
    return set(map(str, cells["data"].values)) if "data" in cells.coords else set()
