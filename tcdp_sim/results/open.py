"""Functions that open the published results of a run: labelled by the axes of its sweep, or cell by cell as stored."""

import json
import shlex
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.threaded
import numpy as np
import xarray as xr

from tcdp_sim.core import system
from tcdp_sim.core.errors import UserError, lacks_memory
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.texts import blank
from tcdp_sim.mechanisms.axes import OMEGA
from tcdp_sim.results import joined, sweeps
from tcdp_sim.store import columns, digests
from tcdp_sim.store.run_settings import config_of, folder_of
from tcdp_sim.store.tree_store import TreeStore
from tcdp_sim.study import rerun

MEND = "the command that ran it publishes it again from the journal"
ROWS = 2048  # rows of a block
LOADED = 1 << 28  # bytes of results up to which `open_results` loads them


def _forget_threads() -> None:
    """Let dask begin a new pool of threads in a forked process, where its parent's threads do not run."""
    dask.threaded.default_pool = None
    dask.threaded.pools.clear()
    dask.threaded.pools_lock = threading.Lock()


system.after_fork(_forget_threads)


def open_results(path, *, squeeze: bool = True) -> xr.Dataset | xr.DataTree:
    """Return the results of a run, with one dimension for each axis of the sweep that has several values.

    An axis with one value is a coordinate without dimension, as after `isel(axis=0)`. Results of up to 256 MB are
    loaded, and larger ones are lazy. An axis whose only value is NaN is left out. A sweep over a user's function has
    the names and types of `tcdp_sim.sweep`.

    If a law does not depend on an axis (such as omega for Laplace noise), its one value is repeated along that axis.
    Points that the sweep does not contain are NaN. An observable has the axes of the cells that yield it. Histograms
    stay ragged, along `<observable>_entry`. The flat table is `open_cells(path)`.

    Several runs are one Dataset with the dimension `mechanism` if each axis with several values is an axis of all of
    them. Their histograms are left out, and numbers that a mechanism does not have are NaN. Otherwise they are a
    DataTree with a node for each run. Runs of one mechanism are told apart by the names of their folders.

    Parameters
    ----------
    path : str, Path or list of them
        The folder of a run, or the zarr tree in it. A list of folders, or a folder that holds the folders of runs,
        stands for several runs.
    squeeze : bool
        If False, an axis with one value is a dimension of length one.

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        The results. The attributes of each variable give its unit and meaning. The attributes of the dataset give seed,
        versions and config hash. Only several runs with different axes are a DataTree.

    Raises
    ------
    UserError
        If there are no results to open, or they are damaged; if several runs cannot be told apart.

    Examples
    --------
    >>> open_results("results/small")["linf_error_mean"].to_pandas()  # doctest: +SKIP
    """
    paths = _runs(path)
    if paths is None:
        return _open_run(path, squeeze)
    runs = [_open_run(one, False) for one in paths]
    whole = joined.joined(dict(zip(joined.labels(runs, paths), runs)))
    if not squeeze:
        return whole
    if isinstance(whole, xr.DataTree):
        return whole.map_over_datasets(lambda run: squeezed(run, json.loads(run.attrs.get("axes", "[]"))))
    return squeezed(whole, json.loads(whole.attrs["axes"]))


def _runs(path: Any) -> list[Path] | None:
    """Return the runs that a list or a folder of runs stands for, None for a single run."""
    if isinstance(path, list | tuple):
        if not path:
            raise UserError("the list of runs is empty; give the folder of each run")
        return [Path(at_home(folder_of(each))) for each in path]
    folder = Path(at_home(folder_of(path)))
    if not folder.is_dir() or any((folder / name).exists() for name in ("zarr.json", "results.zarr", "run.json")):
        return None
    return sorted(each.parent for each in folder.glob("*/results.zarr")) or None


def _open_run(path: Any, squeeze: bool) -> xr.Dataset:
    """Return the results of one run on the grid of its axes."""
    with dask.config.set(scheduler="synchronous"):  # the arrays are few, and a forked process has no pool of threads
        flat = open_cells(path)
        with readable(path):
            if "function" in flat.attrs:
                bins = map(columns.entry, columns.observables(map(str, flat.data_vars)))
                found = sweeps.of_run(flat.drop_dims(list(bins)).load())
            else:
                found = _without_unused(_labelled(flat))
            found = squeezed(found, json.loads(flat.attrs["axes"])) if squeeze else found
            return found.load() if found.nbytes <= LOADED else found


def squeezed(results: xr.Dataset, axes: Iterable[str]) -> xr.Dataset:
    """Return results in which an axis with one value is a coordinate without dimension."""
    return results.squeeze([axis for axis in axes if results.sizes.get(axis) == 1])


def _without_unused(results: xr.Dataset) -> xr.Dataset:
    """Return the results without the axes that have NaN as their only value."""
    axes = [axis for axis in results.dims if results.sizes[axis] == 1 and axis in results.coords]
    unused = [axis for axis in axes if blank(results[axis].values.tolist()[0]) and results[axis].dtype.kind == "f"]
    return results.isel(dict.fromkeys(unused, 0), drop=True)


def _labelled(flat: xr.Dataset) -> xr.Dataset:
    """Return the cells on the grid of their axes."""
    labels = {axis: flat[axis].values for axis in axes_of(flat)}
    about = {axis: flat[axis].attrs for axis in labels}
    flat = flat.drop_vars(list(labels))
    coordinates = [name for name in flat.coords if "cell" in flat[name].dims]
    flat = flat.reset_coords(coordinates)
    parts = [_unstacked(flat[names], rows, labels) for rows, names in _families(flat)]
    whole = xr.merge([*parts, flat.drop_dims("cell")], combine_attrs="override")
    for axis in about.keys() & whole.coords.keys():
        whole[axis].attrs.update(about[axis])
    return whole.set_coords(coordinates).assign_attrs(flat.attrs)


def axes_of(flat: xr.Dataset) -> list[str]:
    """Return the axes of a table of cells that a cell has a value of, in the order of the sweep."""
    return [axis for axis in json.loads(flat.attrs["axes"]) if axis in flat.coords]


def open_cells(path, *, compute_later: bool = True) -> xr.Dataset:
    """Return the results of a run as stored: one row for each cell, lazily loaded.

    All bytes are read once to check that they are the published ones. A changed provenance.json gives a warning.

    Parameters
    ----------
    path : str or Path
        The folder of a run, or the zarr tree in it.
    compute_later : bool
        If True, computations on the table are lazy (dask arrays). If False, rows are read from the disk when they are
        asked for, which is faster (see `cell_blocks`).

    Returns
    -------
    xarray.Dataset
        The table, with the dimension `cell`.

    Raises
    ------
    UserError
        If there are no results to open, or they are damaged.

    Examples
    --------
    >>> open_cells("results/small").sizes["cell"]  # doctest: +SKIP
    2
    """
    folder_of(path)  # refuses what is no path, or may not be read
    path = Path(at_home(path))
    if path.is_dir() and not (path / "zarr.json").exists():
        path = path / "results.zarr"
    if not (path / "zarr.json").exists():
        raise UserError(f"{path} holds no results; run the experiment first, or give its folder or zarr tree")
    tree = path.resolve()  # a run that ends meanwhile switches the link
    if digests.changed(tree):  # a lost file of an array would read as zeros
        raise UserError(f"{path} is damaged (its bytes have changed); {MEND}")
    with readable(path):
        about = json.loads((tree / "zarr.json").read_bytes())["attributes"]
        if not {"axes", "seed"} <= set(about):
            raise ValueError("it is not a table of cells")
        _check_layout(path, about.get("layout"))
        flat = xr.open_zarr(TreeStore(tree, read_only=True), consolidated=True, chunks={} if compute_later else None)
        if "cell" not in flat.sizes:
            raise ValueError("it is not a table of cells")
    return with_provenance(flat, path.parent)


def _with_unused(flat: xr.Dataset) -> xr.Dataset:
    """Return a table with NaN for the axes of which no cell has a value, since they are not published."""
    names = [*json.loads(flat.attrs["axes"]), OMEGA.name]
    none = xr.Variable("cell", np.full(flat.sizes["cell"], np.nan))
    return flat.assign_coords({name: none for name in names if name not in flat.coords})


def _check_layout(path: Path, layout: Any) -> None:
    """Raise UserError unless results have the layout that this version reads."""
    if layout == columns.LAYOUT:
        return
    try:
        folder = folder_of(path)
        words = rerun.command({**config_of(folder), "name": folder.name, "code": "any"})
        anew = f"{words} results_dir={shlex.quote(str(folder.parent))}"
    except (UserError, KeyError, TypeError, ValueError):
        anew = "the command that ran it, with code=any,"
    theirs = "names no layout" if layout is None else f"has layout {layout}"
    differs = f"{path} {theirs}, and this version reads layout {columns.LAYOUT}"
    raise UserError(f"{differs}; to publish it anew from the journal, without simulating: {anew}")


def with_provenance(flat: xr.Dataset, folder: Path) -> xr.Dataset:
    """Return a table with the provenance of its run as an attribute. A changed provenance.json gives a warning."""
    flat = _with_unused(flat)
    flat = sweeps.completed(flat) if "function" in flat.attrs else flat
    about = folder / "provenance.json"
    if not about.is_file():
        return flat
    text = about.read_bytes()
    if digests.is_broken(text):  # a warning is enough, because the numbers are sound
        warnings.warn(f"{about} is damaged; {MEND}", stacklevel=3)
    return flat.assign_attrs(provenance=text.decode("utf-8", "replace"))


def cell_blocks(flat: xr.Dataset) -> Iterator[xr.Dataset]:
    """Yield the rows of `open_cells` in blocks of at most ROWS rows, each loaded into memory.

    A block has its own entries of histograms and data. So `cell_mechanism`, `cell_histogram` and the other functions of
    single cells accept a block as well.
    """
    ends = {name: np.cumsum(flat[columns.bins(name)].values) for name in columns.observables(map(str, flat.data_vars))}
    for start in range(0, flat.sizes["cell"], ROWS):
        own = slice(start, min(start + ROWS, flat.sizes["cell"]))
        slices = {
            columns.entry(name): slice(_before(end, own.start), _before(end, own.stop)) for name, end in ends.items()
        }
        block = flat.isel({"cell": own, **slices})
        yield _with_own_data(block).load()


def is_large(flat: xr.Dataset) -> bool:
    """Return True if a table has more rows than `cell_blocks` holds in memory at a time."""
    return bool(flat.sizes["cell"] > ROWS)


def _before(ends: np.ndarray, row: int) -> int:
    return int(ends[row - 1]) if row else 0


def _with_own_data(block: xr.Dataset) -> xr.Dataset:
    """Return the block with only those counts of data sets that its rows refer to."""
    if "data_counts" not in block:
        return block
    starts, sizes = block["data_start"].values, block["data_size"].values
    first, last = int(starts.min()), int((starts + sizes).max())
    moved = block["data_start"].copy(data=starts - first)
    return block.isel(data_entry=slice(first, last)).assign(data_start=moved)


@contextmanager
def readable(path) -> Iterator[None]:
    """Raise UserError in place of any error that reading damaged results raises in the block."""
    try:
        yield
    except UserError:
        raise
    except Exception as problem:
        if lacks_memory(problem):
            raise MemoryError(str(problem)) from problem
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise UserError(f"{path} is damaged ({reason}); {MEND}") from problem


def _families(flat):
    """Return pairs (rows, variables): variables of an observable with the rows that have it, others with all rows."""
    per_cell = [name for name in flat.variables if "cell" in flat[name].dims]
    everywhere = np.arange(flat.sizes["cell"])
    cells = {}
    for name in columns.observables(per_cell):
        has = (flat[columns.bins(name)].values > 0) | (flat[name + columns.NONFINITE].values > 0)
        cells[name] = np.flatnonzero(has) if has.any() else everywhere
    variables: dict[bytes, tuple[np.ndarray, list[str]]] = {}
    for name in per_cell:
        owner = max((observable for observable in cells if name.startswith(f"{observable}_")), key=len, default=None)
        rows = cells.get(owner, everywhere)
        variables.setdefault(rows.tobytes(), (rows, []))[1].append(name)
    return variables.values()


def _unstacked(part, rows, labels):
    """Return a family of variables on the grid of the sweep's axes, without the axes that none of its cells has."""
    values = {axis: _levels(column) for axis, column in labels.items()}
    places = {axis: {value: i for i, value in enumerate(levels)} for axis, levels in values.items()}
    missing = {axis: [blank(value) for value in column] for axis, column in labels.items()}
    used = [axis for axis in labels if all(missing[axis]) or not all(missing[axis][i] for i in rows)]
    where = np.full([len(values[axis]) for axis in used], -1)
    for i in rows:
        where[tuple(_position(labels[axis][i], places[axis]) for axis in used)] = i
    index = xr.DataArray(where, coords={axis: values[axis] for axis in used}, dims=used)
    grid = part.isel(cell=index.clip(0))
    if (where >= 0).all():
        return grid
    known = index >= 0
    return grid.map(lambda v: v.where(known, "" if v.dtype.kind not in "fiu" else np.nan), keep_attrs=True)


def _levels(column):
    kept = [value for value in dict.fromkeys(column.tolist()) if not blank(value)]
    if all(isinstance(value, float) for value in kept):
        kept = sorted(kept)
    return kept or column[:1].tolist()


def _position(value, places):
    return slice(None) if blank(value) else places[value]
