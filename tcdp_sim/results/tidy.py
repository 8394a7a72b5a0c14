"""Published results as a tidy frame, one row for each cell and quantity, and as a file."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.texts import write_csv_parts
from tcdp_sim.report import latex
from tcdp_sim.results.open import cell_blocks, open_cells, readable
from tcdp_sim.store import columns
from tcdp_sim.summaries.bins import bin_edges, in_order

ENDINGS = {
    "value": "",
    "mcse": columns.MCSE,
    "lower": columns.LOWER,
    "upper": columns.UPPER,
    "exact": columns.EXACT,
    "bound": columns.BOUND,
}


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
        return _tidy(source, histograms)
    with readable(source):
        return pd.concat(tidy_blocks(open_cells(source, compute_later=False), histograms), ignore_index=True)


def tidy_blocks(flat: xr.Dataset, histograms: bool = False) -> Iterator[pd.DataFrame]:
    """`tidy` of `open_cells`, some cells at a time, one after the other: memory holds one of them."""
    return (_tidy(block, histograms) for block in cell_blocks(flat))


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


def _tidy(table: xr.Dataset, histograms: bool) -> pd.DataFrame:
    """Return `tidy` of a table in memory, flat or on the grid of its axes."""
    axes = json.loads(table.attrs["axes"])
    names = columns.quantities([str(name) for name in table.data_vars])
    parts = [_rows(table, name, axes) for name in names]
    if histograms:
        parts += [_bins(table, name, axes) for name in sorted(columns.observables(map(str, table.data_vars)))]
    places = {name: place for place, name in enumerate(names)}
    frame = pd.concat(parts, ignore_index=True)
    order = np.lexsort((frame["quantity"].map(places).fillna(len(places)), frame.pop("place")))
    return frame.iloc[order].reset_index(drop=True)


def _rows(table, name, axes) -> pd.DataFrame:
    """The rows of one quantity, without those of cells that neither simulate nor know it."""
    known = {short: table[name + end].variable for short, end in ENDINGS.items() if name + end in table}
    frame = _framed(table, known, axes).assign(quantity=name, unit=_unit(table, name))
    frame = frame.assign(**{short: np.nan for short in ENDINGS if short not in frame})
    if "quantile" in frame:
        frame = frame.rename(columns={"quantile": "level"})
    else:
        frame["level"] = np.nan
    frame = frame[["place", *axes, "quantity", "level", *ENDINGS, "unit", "trials"]]
    return frame.dropna(subset=["value", "exact", "bound"], how="all")


def _framed(table, variables, axes) -> pd.DataFrame:
    """Variables beside the axes and trials of their cells; `place` numbers the cells."""
    cells = table["trials"].dims
    about = {"trials": table["trials"].variable, "id": table["id"].variable}
    about["place"] = xr.Variable(cells, np.arange(table["trials"].size).reshape(table["trials"].shape))
    coordinates = {axis: table[axis].variable for axis in axes}
    frame = xr.Dataset({**variables, **about}, coordinates | _levels(table, variables)).to_dataframe().reset_index()
    return frame[frame["id"] != ""]  # points of a grid that are none of the sweep


def _levels(table, variables) -> dict:
    several = any("quantile" in variable.dims for variable in variables.values())
    return {"quantile": table["quantile"].variable} if several else {}


def _unit(table, name) -> str:
    variable = next(table[name + end] for end in ENDINGS.values() if name + end in table)
    return variable.attrs.get("units", "")


def _bins(table, name, axes) -> pd.DataFrame:
    """A row for each occupied bin, by cell and then by value: its count, `bin_lower` and `bin_upper`."""
    if "cell" not in table.dims:
        raise ValueError("histograms are of a flat table, as open_cells gives it")
    keys, counts, bins = (table[part].values for part in columns.histogram(name))
    cell = np.repeat(np.arange(len(bins)), bins)
    order = np.lexsort((in_order(keys), cell))
    low, high = bin_edges(keys[order])
    frame = pd.DataFrame({axis: table[axis].values[cell[order]] for axis in axes})
    frame = frame.assign(place=cell[order], trials=table["trials"].values[cell[order]])
    return frame.assign(
        quantity=f"{name}_histogram", unit="1", value=counts[order].astype(float), bin_lower=low, bin_upper=high
    )
