"""The published table as a tidy frame: one row a cell and quantity, whatever the experiment."""

import json

import numpy as np
import pandas as pd
import xarray as xr

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


def tidy(table: xr.Dataset, histograms: bool = False) -> pd.DataFrame:
    """A published table, flat or on the grid of its axes, as `results.tidy` says."""
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
