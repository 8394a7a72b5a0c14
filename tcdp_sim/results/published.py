"""A published run with the output of its experiment: table, figures, contradictions and differences."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.core.figure_options import PLAIN, FigureOptions
from tcdp_sim.core.log import Tell
from tcdp_sim.core.own_noises import NeedsCode
from tcdp_sim.report import plots, saving
from tcdp_sim.report.saving import SaveAll
from tcdp_sim.results import rows
from tcdp_sim.results.open import cell_blocks, is_large, readable
from tcdp_sim.statistics import common_random_numbers, contradictions
from tcdp_sim.store import columns, figure_record
from tcdp_sim.store.figure_record import TITLE

ROWS = 65536  # rows of a column that are read at a time


@dataclass(frozen=True)
class Published:
    """A published run.

    `cells`: the table of cells, as `results.open_cells` returns it. A large table is read from the disk on demand if
    the experiment works cell by cell. `table`: simulated and exact numbers, as the experiment makes them. `note`: why
    the experiment is a plain one in place of the run's own, "" if it is its own.
    """

    folder: Path
    experiment: ModuleType
    cells: xr.Dataset
    table: pd.DataFrame
    note: str = ""


def read(folder: Path, title: str | None = None) -> Published:
    """Return the published run in a folder.

    Raises UserError if nothing is published there, or if its title is not `title`.
    """
    cells = _opened(folder, title)
    name = str(cells.attrs.get("title"))
    if not name.startswith(TITLE):
        raise UserError(f"{folder / 'results.zarr'} does not name its experiment; choose the folder of a run")
    try:
        return _of(folder, cells, registry.experiment(name.removeprefix(TITLE)))
    except NeedsCode as lacking:
        note = f"these are the tables and figures of any experiment, because {name.removeprefix(TITLE)} needs code"
        return replace(_of(folder, cells, registry.experiment("")), note=f"{note}: {lacking}")


def _of(folder: Path, cells: xr.Dataset, experiment: ModuleType) -> Published:
    """Return the published run with the table of an experiment."""
    with readable(folder / "results.zarr"):
        if not is_large(cells) or not rows.by_cell(experiment):
            cells = cells.load()
            blocks = iter([cells])
        else:
            blocks = cell_blocks(cells)
    total = cells.sizes["cell"]
    table = _joined_table(_tables(experiment, blocks, total), -(-total // results.open.ROWS))
    return Published(folder, experiment, cells, table)


def plainly(published: Published) -> Published:
    """Return the run as one of an experiment without a module: each quantity against the axis with most levels.

    It serves sweeps of which the run's own experiment draws nothing.
    """
    plain = registry.experiment("")
    cells = published.cells
    blocks = cell_blocks(cells) if is_large(cells) else iter([cells])
    total = cells.sizes["cell"]
    return replace(
        published, experiment=plain, table=_joined_table(_tables(plain, blocks, total), -(-total // results.open.ROWS))
    )


def table(experiment: ModuleType, cells: xr.Dataset) -> pd.DataFrame:
    """Return the table that an experiment makes of the cells of `open_cells`: simulated, exact and proved numbers.

    The rows of its function `rows` come first, cell by cell, then the rows of `known`. The neighbouring relation is the
    last column.
    """
    return rows.table(experiment, cells)


def _tables(experiment: ModuleType, blocks: Iterable[xr.Dataset], total: int) -> Iterator[pd.DataFrame]:
    """Yield the table of each block; cells are numbered consecutively over all blocks."""
    first = 0
    for block in blocks:
        yield rows.table(experiment, block, first, total)
        first += block.sizes["cell"]


def _joined_table(coming: Iterator[pd.DataFrame], blocks: int) -> pd.DataFrame:
    """Return the rows of all parts in one table, with little more memory than the result takes.

    There are about as many parts as blocks. Arrays for all rows are made at the first part: arrays of the parts would
    leave holes between them when they are freed, into which no whole column fits.
    """
    first, second = next(coming), next(coming, None)
    if second is None:
        return first
    columns = _Columns(first, blocks)
    rest: list[pd.DataFrame] = []
    for part in chain([second], coming):
        if rest or not columns.takes(part):
            rest.append(part)
        else:
            columns.add(part)
    return pd.concat([columns.frame(), *rest], ignore_index=True) if rest else columns.frame()


class _Columns:
    """The columns of a table that grows by parts of the same form."""

    def __init__(self, first: pd.DataFrame, parts: int) -> None:
        self._form = first.dtypes
        self._room, self._rows = parts * len(first), 0
        self._same: dict[Any, Any] = {}  # keeps one object for equal texts
        self._plain = {name: np.empty(self._room, kind) for name, kind in self._form.items() if _is_of_numpy(kind)}
        self._others: dict[Any, list[pd.Series]] = {name: [] for name in first if name not in self._plain}
        self.add(first)

    def takes(self, part: pd.DataFrame) -> bool:
        """Return True if a part has the same columns, and there is room for it."""
        return self._form.equals(part.dtypes) and self._rows + len(part) <= self._room

    def add(self, part: pd.DataFrame) -> None:
        """Add the rows of a part."""
        end = self._rows + len(part)
        for name, array in self._plain.items():
            values = part[name].to_numpy()
            same = [self._same.setdefault(value, value) for value in values] if array.dtype == object else values
            array[self._rows : end] = same
        for name, parts in self._others.items():
            parts.append(part[name].copy())  # the columns of a frame share their memory
        self._rows = end

    def frame(self) -> pd.DataFrame:
        """Return the table."""
        plain = {name: array[: self._rows] for name, array in self._plain.items()}
        others = {name: pd.concat(parts, ignore_index=True) for name, parts in self._others.items()}
        return pd.DataFrame({name: (plain | others)[name] for name in self._form.index}, copy=False)


def _is_of_numpy(kind: Any) -> bool:
    return isinstance(kind, np.dtype)


def loaded(folder: Path, title: str | None = None) -> xr.Dataset:
    """Return the flat table of a run's published results, in memory.

    Raises UserError if there is none, if it is damaged, or if its title is not `title`.
    """
    cells = _opened(folder, title)
    with readable(folder / "results.zarr"):
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
            cells = published.cells
            found = contradictions.report(published.table, folder / "contradictions.csv", tell, cells)
            if cells.attrs.get("on_error") == "count" and cells[columns.lost(cells)].any():
                tell(contradictions.GIVEN_SUCCESS)
            return found
    except OSError as problem:
        raise figure_record.not_written(folder, problem) from problem


def draw(
    published: Published,
    save_all: SaveAll | None = None,
    chosen: Collection[str] | None = None,
    options: FigureOptions = PLAIN,
) -> tuple[list[Path], dict[str, Figure]]:
    """Write the figures and their numbers. Return the paths of the PNG files, and the figures by name.

    `save_all` saves them, by default in this process. `chosen` names the figures that are wanted, by default all of
    them; nothing is drawn after the last one. `options` says how they are written. Raises UserError if they cannot be
    written, or if there is no figure of a chosen name.
    """
    save_all = save_all or saving.save_all
    figures, names = {}, []

    def kept():
        for name, figure, table in published.experiment.figures(published.table):
            names.append(name)
            if chosen is None or name in chosen:
                figures[name] = figure
                yield name, figure, table
            if chosen is not None and figures.keys() >= set(chosen):
                return
        check_names(chosen or (), names, published.folder)

    try:
        with plots.style(options):
            paths = save_all(kept(), published.folder / "figures", chosen_names(published.cells), options.format)
    except OSError as problem:
        raise figure_record.not_written(published.folder, problem) from problem
    return paths, figures


def check_names(chosen: Collection[str], names: Sequence[str], folder: Path) -> None:
    """Raise UserError if a run has no figure of a chosen name. `names` are the names of all its figures."""
    for name in chosen:
        if name not in names:
            valid = ", ".join(names) or "none"
            raise UserError(f"{folder} has no figure {name!r}; valid: {valid}{suggestion(name, tuple(names))}")


def differences(published: Published, tell: Tell) -> None:
    """Write differences.csv and report it, if cells share random numbers. Raises UserError if it cannot be written."""
    try:
        cells = published.cells
        if columns.batched(map(str, cells.data_vars)):
            cells = cells.drop_dims([dim for dim in cells.dims if dim not in ("cell", "batch")]).load()
        common_random_numbers.report(cells, published.folder / "differences.csv", tell)
    except OSError as problem:
        raise figure_record.not_written(published.folder, problem) from problem


def chosen_names(cells: xr.Dataset) -> set[str]:
    """Return the names of the data sets, which the user has chosen. The column of a large table is not kept."""
    if "data" not in cells.coords:
        return set()
    column, starts = cells.variables["data"], range(0, cells.sizes["cell"], ROWS)
    return {str(name) for start in starts for name in column[start : start + ROWS].values}
