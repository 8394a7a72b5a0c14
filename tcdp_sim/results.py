"""`open_results`: the published results of a run, labelled; and what can be rebuilt from them."""

import json
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.threaded
import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.texts import write_csv_parts
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.report import latex
from tcdp_sim.statistics.one_sample import quantile_p_values
from tcdp_sim.store import columns, digests
from tcdp_sim.store import tidy as store_tidy
from tcdp_sim.summaries.bins import bin_edges, in_order
from tcdp_sim.summaries.estimates import NORMAL

MEND = "the command that ran it publishes it again from the journal"
UNSEEN = 3.6888794541139363  # -log(0.025)
ROWS = 2048  # of a table that are in memory at a time, where it is read so
RESOLVED = 10.0  # widths of a bin in a standard deviation: then a skewness read from bins is right to a few per cent


def _forget_threads() -> None:
    """Let dask begin a new pool of threads in a forked process, where those of its parent do not run."""
    dask.threaded.default_pool = None
    dask.threaded.pools.clear()
    dask.threaded.pools_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def cell_mechanism(flat: xr.Dataset, i: int) -> Mechanism:
    """The mechanism that row i of `open_cells` simulated, rebuilt from the results alone."""
    variables = flat.variables  # without their coordinates, which take a third of a cell's time in a large table
    law = json.loads(variables["law"].values[i])
    start, size = (int(variables[f"data_{name}"].values[i]) for name in ("start", "size"))
    return mechanism_class(law["mechanism"]).build(law, variables["data_counts"].values[start : start + size])


class _ByNoise(dict):
    """What is said of each noise; of NaN, which stands where no cell has one, what is said of no noise."""

    def __missing__(self, name):
        return self[""]


def noise_labels(flat: xr.Dataset) -> dict[str, dict[str, str]]:
    """Noise -> its `noise_label`, `noise_family` and `noise_calibration`, as the results say; "" is no noise.

    flat: as `open_cells` gives it. Of results that do not say so (of old versions) the label is the noise's name.
    """
    stored = json.loads(flat.attrs.get("noises", "{}"))
    names = map(str, np.unique(flat["noise"].values)) if "noise" in flat else ()
    about = {name: {"label": name, "family": "", "calibration": ""} | stored.get(name, {}) for name in ["", *names]}
    return _ByNoise({name: {f"noise_{key}": text for key, text in one.items()} for name, one in about.items()})


def cell_histogram(flat: xr.Dataset, i: int, observable: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The finite trials of row i of `open_cells`, binned: lower and upper edges, ascending, counts of occupied bins.

    Edges are multiples of 2^-9 of the power of two below them: so is every multiple of a power of two by up to 2^10.
    """
    keys, counts, bins = (flat[name] for name in columns.histogram(observable))
    own = slice(int(bins.values[:i].sum()), int(bins.values[: i + 1].sum()))
    return _binned(keys.values[own], counts.values[own])


def chance_of_quantiles(flat: xr.Dataset, i: int, observable: str, q, exact) -> np.ndarray:
    """p-values that the q-quantiles of row i of `open_cells` are `exact`, from its trials; NaN where it has none."""
    infinite = (_infinite(flat, observable, side)[i] for side in (0, 1))
    return quantile_p_values(_all_bins(cell_histogram(flat, i, observable), *infinite), q, exact)


def chances_of_quantile(flat: xr.Dataset, observable: str, q: float, exact) -> np.ndarray:
    """The p-values that the q-quantile of each row of `open_cells` is its entry of `exact`; NaN where it has none."""
    keys, counts, bins = (flat[name].values for name in columns.histogram(observable))
    ends = np.cumsum(bins)
    infinite = zip(*(_infinite(flat, observable, side) for side in (0, 1)))
    chances = np.full(len(ends), np.nan)
    for i, (end, value, sides) in enumerate(zip(ends, np.asarray(exact, dtype=float), infinite)):
        own = slice(ends[i - 1] if i else 0, end)
        chances[i] = quantile_p_values(_all_bins(_binned(keys[own], counts[own]), *sides), q, value)
    return chances


def _binned(keys, counts):
    order = np.argsort(in_order(keys))
    return *bin_edges(keys[order]), counts[order]


def _infinite(flat, observable, side) -> np.ndarray:
    """How many trials of each row were infinite on that side: 0 for below, 1 for above."""
    name = observable + columns.INFINITE[side]
    return flat[name].values if name in flat else np.zeros(flat.sizes["cell"], dtype=np.int64)


def _all_bins(finite, minus, plus):
    low, high, counts = finite
    low, high = (np.concatenate([[-np.inf], edges, [np.inf]]) for edges in (low, high))
    return low, high, np.concatenate([[minus], counts, [plus]])


def sample_skewness(flat: xr.Dataset, i: int, observable: str) -> float:
    """The skewness of the finite trials of row i of `open_cells`, read from their bins; NaN for none.

    Where the bins are too wide for it the most that it can be: the largest deviation from the mean over the standard
    deviation.
    """
    low, high, counts = cell_histogram(flat, i, observable)
    if not len(counts):
        return np.nan
    scale = max(-low[0], high[-1]) or 1.0
    middle, width = 0.5 * (low + high) / scale, float((high - low).max()) / scale
    off = middle - np.average(middle, weights=counts)
    spread = np.sqrt(np.average(off**2, weights=counts))
    if spread > RESOLVED * width:
        return float(np.average(off**3, weights=counts) / spread**3)
    endings = (columns.MEAN, columns.DEVIATION, columns.LEAST, columns.MOST)
    mean, sd, least, most = (float(flat[observable + ending].values[i]) for ending in endings)
    return max(most - mean, mean - least) / sd if sd > 0 else 0.0


def mean_interval(cell: Mapping[str, Any], observable: str) -> tuple[float, float, float, float]:
    """(mean, MCSE, lower, upper) of an observable that importance sampling makes constant but for rare low values.

    cell: a row of `open_cells` as a mapping. The 95% interval is that of the normal law, and UNSEEN / trials of the
    largest value more on either side: low values that were not drawn once are rarer than that (97.5% each way).
    """
    name = columns.mean(observable)
    mean, mcse = cell[name], cell[name + columns.MCSE]
    half = NORMAL * mcse + UNSEEN * cell[observable + columns.MOST] / max(cell["trials"], 1)
    return mean, mcse, mean - half, mean + half


def open_results(path) -> xr.Dataset:
    """A run's results, labelled and lazily loaded, with one dimension for each axis of the sweep.

    path: a run's folder, or the zarr tree in it. Where a law does not depend on an axis (omega for Laplace
    noise) its one value is repeated along it; points that the sweep does not contain are NaN. An observable has the
    axes of the cells that yield it. Histograms stay ragged, along `<observable>_entry`. The flat table is
    `open_cells(path)`.
    Units and meanings are in the variables' attributes, seed, versions and config hash in the dataset's.
    Raises UserError if there is nothing to open.
    """
    with dask.config.set(scheduler="synchronous"):  # a few arrays; the pool of a parent process has died in a fork
        return _labelled(open_cells(path))


def _labelled(flat: xr.Dataset) -> xr.Dataset:
    """Return the cells on the grid of their axes."""
    labels = {axis: flat[axis].values for axis in json.loads(flat.attrs["axes"])}
    flat = flat.drop_vars(list(labels))
    coordinates = [name for name in flat.coords if "cell" in flat[name].dims]
    flat = flat.reset_coords(coordinates)
    parts = [_unstacked(flat[names], rows, labels) for rows, names in _families(flat)]
    whole = xr.merge([*parts, flat.drop_dims("cell")], combine_attrs="override")
    return whole.set_coords(coordinates).assign_attrs(flat.attrs)


def open_cells(path, *, compute_later: bool = True) -> xr.Dataset:
    """A run's results as stored: one row a cell, lazily loaded. Raises UserError if there is nothing to open.

    compute_later: what is made of it is lazy, too; else rows are read, fast, when they are asked for (`cell_blocks`).
    All bytes are read once, to see that they are those that were published; warns if provenance.json has changed.
    """
    path = Path(path)
    if path.is_dir() and not (path / "zarr.json").exists():
        path = path / "results.zarr"
    if not (path / "zarr.json").exists():
        raise UserError(f"{path} holds no results; run the experiment first, or give its folder or zarr tree")
    tree = path.resolve()  # a run that ends meanwhile switches the link
    if digests.changed(tree):  # a lost file of an array would read as zeros
        raise UserError(f"{path} is damaged (its bytes have changed); {MEND}")
    with readable(path):
        flat = xr.open_zarr(tree, consolidated=False, chunks={} if compute_later else None)
        if not {"axes", "seed"} <= set(flat.attrs) or "cell" not in flat.sizes:
            raise ValueError("it is not a table of cells")
    about = path.parent / "provenance.json"
    if not about.is_file():
        return flat
    text = about.read_bytes()
    if digests.is_broken(text):  # which keeps nobody from the numbers
        warnings.warn(f"{about} is damaged; {MEND}", stacklevel=2)
    return flat.assign_attrs(provenance=text.decode("utf-8", "replace"))


def cell_blocks(flat: xr.Dataset) -> Iterator[xr.Dataset]:
    """The rows of `open_cells`, ROWS at a time and in memory, each with its own entries of histograms and data.

    What is read of one block is the same as of all: `cell_mechanism`, `cell_histogram` and so on take a block as well.
    """
    ends = {
        name: np.cumsum(flat[columns.histogram(name)[2]].values)
        for name in columns.observables(map(str, flat.data_vars))
    }
    for start in range(0, flat.sizes["cell"], ROWS):
        own = slice(start, min(start + ROWS, flat.sizes["cell"]))
        slices = {
            columns.entry(name): slice(_before(end, own.start), _before(end, own.stop)) for name, end in ends.items()
        }
        block = flat.isel({"cell": own, **slices})
        yield _with_own_data(block).load()


def _before(ends: np.ndarray, row: int) -> int:
    return int(ends[row - 1]) if row else 0


def _with_own_data(block: xr.Dataset) -> xr.Dataset:
    """Of the counts of all data sets those from the first to the last that the rows have."""
    if "data_counts" not in block:
        return block
    starts, sizes = block["data_start"].values, block["data_size"].values
    first, last = int(starts.min()), int((starts + sizes).max())
    moved = block["data_start"].copy(data=starts - first)
    return block.isel(data_entry=slice(first, last)).assign(data_start=moved)


def tidy(source, histograms: bool = False) -> pd.DataFrame:
    """The published numbers of a run, one row a cell and quantity; of quantiles one a level.

    source: a run's folder, the zarr tree in it, or a Dataset of `open_cells` (or of `open_results`: then a row for each
    point of the grid, on which a law that does not depend on an axis is repeated along it). Columns: the axes,
    `quantity`, `level` (of a quantile), `value` (simulated), `mcse` (its standard error), `lower` and `upper` (95%
    interval), `exact`, `bound` (proved or printed), `unit` (of all these), `trials`. What is not known is NaN; rows of
    which nothing is known are left out. histograms: also a row a bin, `<observable>_histogram`, of `value` finite
    trials between `bin_lower` and `bin_upper`. Raises UserError if there is nothing to open, ValueError for the
    histograms of a grid.
    """
    if isinstance(source, xr.Dataset):
        return store_tidy.tidy(source, histograms)
    with readable(source):
        return pd.concat(tidy_blocks(open_cells(source, compute_later=False), histograms), ignore_index=True)


def tidy_blocks(flat: xr.Dataset, histograms: bool = False) -> Iterator[pd.DataFrame]:
    """`tidy` of `open_cells`, some cells at a time, one after the other: memory holds one of them."""
    return (store_tidy.tidy(block, histograms) for block in cell_blocks(flat))


def export(path, target) -> Path:
    """Write `tidy` of a run to a file: .csv, or .tex (a table for booktabs). Returns its path.

    path: as for `tidy`. Raises UserError for another ending, or if there is nothing to open or no way to write.
    """
    target = Path(target)
    if target.suffix not in (".csv", ".tex"):
        raise UserError(f"{target} is neither a .csv nor a .tex file; give a name that ends so")
    with readable(path):
        flat = open_cells(path, compute_later=False)
    try:
        if target.suffix == ".csv":
            write_csv_parts(tidy_blocks(flat), target)
        else:
            target.write_text(latex.booktabs(tidy(flat)), "utf-8")
    except OSError as problem:
        raise UserError(f"{target} cannot be written ({reason(problem)})") from None
    return target


@contextmanager
def readable(path) -> Iterator[None]:
    """Raise UserError for whatever reading damaged results raises, of many kinds; one of our own stays as it is."""
    try:
        yield
    except UserError:
        raise
    except Exception as problem:
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise UserError(f"{path} is damaged ({reason}); {MEND}") from problem


def _families(flat):
    """(cells, variables): an observable's variables belong to the cells that have it, all others to every cell."""
    per_cell = [name for name in flat.variables if "cell" in flat[name].dims]
    everywhere = np.arange(flat.sizes["cell"])
    cells = {}
    for name in columns.observables(per_cell):
        has = (flat[columns.histogram(name)[2]].values > 0) | (flat[name + columns.NONFINITE].values > 0)
        cells[name] = np.flatnonzero(has) if has.any() else everywhere
    variables: dict[bytes, tuple[np.ndarray, list[str]]] = {}
    for name in per_cell:
        owner = max((observable for observable in cells if name.startswith(f"{observable}_")), key=len, default=None)
        rows = cells.get(owner, everywhere)
        variables.setdefault(rows.tobytes(), (rows, []))[1].append(name)
    return variables.values()


def _unstacked(part, rows, labels):
    """A family on the grid of the sweep's axes, without those that others of its cells have and none of these."""
    values = {axis: _levels(column) for axis, column in labels.items()}
    places = {axis: {value: i for i, value in enumerate(levels)} for axis, levels in values.items()}
    blank = {axis: [_blank(value) for value in column] for axis, column in labels.items()}
    used = [axis for axis in labels if all(blank[axis]) or not all(blank[axis][i] for i in rows)]
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
    kept = [value for value in dict.fromkeys(column.tolist()) if not _blank(value)]
    if all(isinstance(value, float) for value in kept):
        kept = sorted(kept)
    return kept or column[:1].tolist()


def _position(value, places):
    return slice(None) if _blank(value) else places[value]


def _blank(value) -> bool:
    return value in (None, "") or value != value
