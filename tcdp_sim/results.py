"""Summaries -> a labelled Dataset, and `open_results` to read a published one."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim import trees
from tcdp_sim.errors import UserError
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.summary import CONFIDENCE, RESOLUTION, Distribution, Summary, bin_edges, mean, proportion, quantiles
from tcdp_sim.sweep import Cell

QUANTILES = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])
INTERVAL = ("", "_mcse", "_lower", "_upper")  # of a simulated number: estimate, standard error, 95% interval
MEND = "the command that ran it, without mode=draw, publishes it again from the journal"
NORMAL = 1.959963984540054  # half the width of a 95% interval, in standard errors
UNSEEN = 3.6888794541139363  # -log(0.025)
_NAN4 = (np.nan,) * 4


def tabulate(
    cells: Sequence[Cell],
    summaries: Iterable[Summary | None],
    counts: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
    problems: Mapping[tuple[str, str], int] = MappingProxyType({}),
) -> xr.Dataset:
    """One row a cell: its coordinates, and every statistic of its summary (NaN, zero trials where it is None).

    counts: digest -> counts of the occupied bins, for every digest that a cell names; problems: (cell id, kind) -> how
    many of its chunks had an error or a warning.
    """
    summaries = list(summaries)
    mechanism = mechanism_class(cells[0].law["mechanism"])
    thresholds = [mechanism.build(cell.law, counts[cell.counts]).thresholds for cell in cells]
    data = {"trials": _row([s.trials if s else 0 for s in summaries], "1", "trials simulated")}
    warned = [problems.get((cell.id, "warning"), 0) for cell in cells]
    data["warned"] = _row(warned, "1", "chunks in which something warned (problems.csv says what)")
    failed = [int((cell.id, "error") in problems) for cell in cells]
    data["failed"] = _row(failed, "1", "1 if an error left the cell without numbers (problems.csv says which)")
    for name, about in mechanism.observables.items():
        found = [s.observables.get(name) if s else None for s in summaries]
        data |= _moments(name, about, found) | _quantiles(name, about, found) | _histogram(name, about, found)
        data |= _exceedances(name, about, found, [t.get(name, {}) for t in thresholds])
    for name, meaning in mechanism.events.items():
        hits = [(s.events[name], s.trials) if s and name in s.events else None for s in summaries]
        data |= _proportions(name, "cell", f"P[{meaning}]", hits)
    data |= _batches(summaries)
    return xr.Dataset(data | _data_counts(cells, counts), _coordinates(cells), dict(attributes))


def cell_mechanism(flat: xr.Dataset, i: int) -> Mechanism:
    """The mechanism that row i of `open_cells` simulated, rebuilt from the results alone."""
    law = json.loads(flat["law"].values[i])
    start, size = (int(flat[f"data_{name}"].values[i]) for name in ("start", "size"))
    return mechanism_class(law["mechanism"]).build(law, flat["data_counts"].values[start : start + size])


def cell_histogram(flat: xr.Dataset, i: int, observable: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The trials of row i of `open_cells`, binned: lower and upper edges, ascending, and counts of occupied bins.

    Edges are multiples of 2^-9 of the power of two below them: so is every multiple of a power of two by up to 2^10.
    """
    bins = flat[f"{observable}_histogram_bins"].values
    mine = slice(bins[:i].sum(), bins[: i + 1].sum())
    lower, upper = bin_edges(flat[f"{observable}_histogram_key"].values[mine])
    return lower, upper, flat[f"{observable}_histogram_count"].values[mine]


def mean_interval(cell: Mapping[str, Any], observable: str) -> tuple[float, float, float, float]:
    """(mean, MCSE, lower, upper) of an observable that importance sampling makes constant but for rare low values.

    cell: a row of `open_cells` as a mapping. The 95% interval is that of the normal law, and UNSEEN / trials of the
    largest value more on either side: low values that were not drawn once are rarer than that (97.5% each way).
    """
    mean, mcse = cell[f"{observable}_mean"], cell[f"{observable}_mean_mcse"]
    half = NORMAL * mcse + UNSEEN * cell[f"{observable}_max"] / max(cell["trials"], 1)
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
    flat = open_cells(path)
    labels = {axis: flat[axis].values for axis in json.loads(flat.attrs["axes"])}
    flat = flat.drop_vars(list(labels))
    coordinates = [name for name in flat.coords if "cell" in flat[name].dims]
    flat = flat.reset_coords(coordinates)
    parts = [_unstacked(flat[names], rows, labels) for rows, names in _families(flat)]
    whole = xr.merge([*parts, flat.drop_dims("cell")], combine_attrs="override")
    return whole.set_coords(coordinates).assign_attrs(flat.attrs)


def open_cells(path) -> xr.Dataset:
    """A run's results as stored: one row a cell, lazily loaded. Raises UserError if there is nothing to open.

    All bytes are read once, to see that they are those that were published.
    """
    path = Path(path)
    if path.is_dir() and not (path / "zarr.json").exists():
        path = path / "results.zarr"
    if not (path / "zarr.json").exists():
        raise UserError(f"{path} holds no results; run the experiment first, or give its folder or zarr tree")
    tree = path.resolve()  # a run that ends meanwhile switches the link
    if trees.changed(tree):  # a lost file of an array would read as zeros
        raise UserError(f"{path} is damaged (its bytes have changed); {MEND}")
    with readable(path):
        flat = xr.open_zarr(tree, consolidated=False, chunks={})
        if not {"axes", "seed"} <= set(flat.attrs) or "cell" not in flat.sizes:
            raise ValueError("it is not a table of cells")
    about = path.parent / "provenance.json"
    return flat.assign_attrs(provenance=about.read_text("utf-8", "replace")) if about.is_file() else flat


@contextmanager
def readable(path) -> Iterator[None]:
    """UserError for whatever reading damaged results raises: zarr's errors are of many kinds."""
    try:
        yield
    except Exception as problem:
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise UserError(f"{path} is damaged ({reason}); {MEND}") from problem


def _batches(summaries):
    """Where random numbers are shared: means over batches of trials, in the order of the trials (see paired.py)."""
    names = dict.fromkeys(name for summary in summaries if summary for name in summary.batches)
    out = {}
    for name in names:
        found = [s.batches[name].ravel() if s and name in s.batches else np.zeros(0) for s in summaries]
        table = np.full((len(found), max(map(len, found))), np.nan)
        for row, means in zip(table, found):
            row[: len(means)] = means
        out[f"{name}_batch_mean"] = (("cell", "batch"), table, {"long_name": "means over batches of trials"})
    return out


def _data_counts(cells, counts):
    """The occupied counts of every data set once, and where those of each cell lie among them."""
    used = dict.fromkeys(cell.counts for cell in cells)
    sizes = {digest: len(counts[digest]) for digest in used}
    starts = dict(zip(used, np.cumsum([0, *sizes.values()])))
    return {
        "data_counts": _row(np.concatenate([counts[d] for d in used]), "counts", "occupied bins", "data_entry"),
        "data_start": _row([starts[cell.counts] for cell in cells], "1", "first entry of the cell's data_counts"),
        "data_size": _row([sizes[cell.counts] for cell in cells], "1", "how many entries it has"),
    }


def _families(flat):
    """(cells, variables): an observable's variables belong to the cells that have it, all others to every cell."""
    per_cell = [name for name in flat.variables if "cell" in flat[name].dims]
    everywhere = tuple(range(flat.sizes["cell"]))
    cells = {}
    for name in (name.removesuffix("_histogram_bins") for name in per_cell if name.endswith("_histogram_bins")):
        has = (flat[f"{name}_histogram_bins"].values > 0) | (flat[f"{name}_nonfinite"].values > 0)
        cells[name] = tuple(np.flatnonzero(has)) or everywhere
    found: dict[tuple[int, ...], list[str]] = {}
    for name in per_cell:
        owner = max((observable for observable in cells if name.startswith(f"{observable}_")), key=len, default=None)
        found.setdefault(cells.get(owner, everywhere), []).append(name)
    return found.items()


def _unstacked(part, rows, labels):
    """A family on the grid of the sweep's axes, without those that others of its cells have and none of these."""
    values = {axis: _levels(column) for axis, column in labels.items()}
    blank = {axis: [_blank(value) for value in column] for axis, column in labels.items()}
    used = [axis for axis in labels if all(blank[axis]) or not all(blank[axis][i] for i in rows)]
    where = np.full([len(values[axis]) for axis in used], -1)
    for i in rows:
        where[tuple(_position(labels[axis][i], values[axis]) for axis in used)] = i
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


def _position(value, values):
    return slice(None) if _blank(value) else values.index(value)


def _blank(value) -> bool:
    return value in (None, "") or value != value


def _coordinates(cells):
    axes = {axis: None for cell in cells for axis in cell.coords} | {"omega": None}
    columns: dict[str, Any] = {axis: [cell.coords.get(axis) for cell in cells] for axis in axes}
    out = {}
    for axis, column in columns.items():
        numeric = all(value is None or isinstance(value, float) for value in column)
        blank = np.nan if numeric else ""
        values = [blank if value is None else value for value in column]
        out[axis] = ("cell", np.array(values, dtype=float if numeric else object))
    texts = {
        "id": [cell.id for cell in cells],
        "guarantee": [cell.guarantee for cell in cells],
        "noise_law": [cell.noise for cell in cells],
        "law": [json.dumps(cell.law, sort_keys=True) for cell in cells],
    }
    out |= {name: ("cell", np.array(column, dtype=object)) for name, column in texts.items()}
    out["quantile"] = ("quantile", QUANTILES)
    return out


def _row(values, unit, meaning, dims="cell"):
    return (dims, np.asarray(values), {"units": unit, "long_name": meaning})


def _moments(name, about, found):
    rows = np.array([_moment_row(d) for d in found], dtype=float).T
    names = ("mean", "mean_mcse", "sd", "min", "max")
    said = ("mean", "Monte Carlo standard error of the mean", "standard deviation", "smallest", "largest")
    out = {f"{name}_{n}": _row(r, about.unit, f"{about.meaning}: {m}") for n, r, m in zip(names, rows, said)}
    lost = [d.nonfinite if d else 0 for d in found]
    return out | {f"{name}_nonfinite": _row(lost, "1", f"{about.meaning}: trials that are not finite")}


def _moment_row(d: Distribution | None):
    if d is None:
        return (np.nan,) * 5
    return (*mean(d), d.moments[:, 3].min(), d.moments[:, 4].max())


def _quantiles(name, about, found):
    none = np.full((4, len(QUANTILES)), np.nan)
    table = np.stack([quantiles(d, QUANTILES) if d else none for d in found], axis=1)
    said = (
        f"quantile, read from bins at most {RESOLUTION:.2%} of the value wide",
        "Monte Carlo standard error of the quantile",
        f"lower end of an exact {CONFIDENCE:.0%} interval of the quantile",
        f"upper end of an exact {CONFIDENCE:.0%} interval of the quantile",
    )
    return {
        f"{name}_quantile{end}": _row(part, about.unit, f"{about.meaning}: {text}", ("cell", "quantile"))
        for end, part, text in zip(INTERVAL, table, said)
    }


def _histogram(name, about, found):
    keys = [d.keys if d else np.zeros(0, np.int32) for d in found]
    counts = [d.counts if d else np.zeros(0, np.int64) for d in found]
    entry = f"{name}_entry"
    return {
        f"{name}_histogram_key": _row(np.concatenate(keys), "1", "bin: see tcdp_sim.summary.bin_edges", entry),
        f"{name}_histogram_count": _row(np.concatenate(counts), "1", f"{about.meaning}: trials in the bin", entry),
        f"{name}_histogram_bins": _row([len(k) for k in keys], "1", f"bins of the cell along {entry}"),
    }


def _exceedances(name, about, found, thresholds):
    out = {}
    for label in dict.fromkeys(label for row in thresholds for label in row):
        values = [row.get(label, np.nan) for row in thresholds]
        hits = [(d.exceed[label], int(d.counts.sum())) if d and label in d.exceed else None for d in found]
        out[f"{name}_{label}"] = _row(values, about.unit, f"{about.meaning}: {label} threshold")
        out |= _proportions(f"{name}_exceeds_{label}", "cell", f"P[{about.meaning} > its {label} threshold]", hits)
    return out


def _proportions(name, dims, meaning, hits):
    table = np.array([proportion(*hit) if hit else _NAN4 for hit in hits], dtype=float).T
    said = ("", ": Monte Carlo standard error", f": lower end of the exact {CONFIDENCE:.0%} interval", ": upper end")
    out = {f"{name}{end}": _row(r, "1", meaning + text, dims) for end, r, text in zip(INTERVAL, table, said)}
    return out | {f"{name}_count": _row([hit[0] if hit else 0 for hit in hits], "1", "trials in which it happened")}
