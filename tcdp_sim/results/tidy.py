"""Published results as a tidy frame, with one row for each cell and quantity."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.results.open import cell_blocks, open_cells, readable
from tcdp_sim.store import columns

ENDINGS = {
    "value": "",
    "mcse": columns.MCSE,
    "lower": columns.LOWER,
    "upper": columns.UPPER,
    "exact": columns.EXACT,
    "bound": columns.BOUND,
}

ID_LETTERS = 16  # of a cell's id, as messages show it


def tidy(source, histograms: bool = False) -> pd.DataFrame:
    """Return the published numbers of a run, with one row for each cell and quantity.

    A quantity of quantiles has one row for each level. Unknown numbers are NaN. A row without any known number is left
    out.

    Parameters
    ----------
    source : str, Path or xarray.Dataset
        The folder of a run, the zarr tree in it, or a table of `open_cells`. With the grid of `open_results` each point
        of the grid has its rows, and laws that do not depend on an axis are repeated along it.
    histograms : bool
        If True, append one row for each occupied bin of each observable. The quantity is `<observable>_histogram`, and
        `value` is the number of finite trials between `bin_lower` and `bin_upper`.

    Returns
    -------
    pandas.DataFrame
        The columns are the axes, `quantity`, `level` (of a quantile), `value` (simulated), `mcse` (its standard error),
        `lower` and `upper` (95% interval), `exact`, `bound` (proved or printed), `unit` (of all these), `trials`, and
        `id` (the beginning of the cell's id, which `tcdp-sim replay RUN cell=ID` takes).

    Raises
    ------
    UserError
        If there are no results to open, or they are damaged.
    ValueError
        If the histograms of a grid are asked for.

    Examples
    --------
    >>> tidy("results/small").query("quantity == 'linf_error_mean'")  # doctest: +SKIP
    """
    if isinstance(source, xr.Dataset):
        return _tidy(source, histograms)
    with readable(source):
        return pd.concat(tidy_blocks(open_cells(source, compute_later=False), histograms), ignore_index=True)


def tidy_blocks(flat: xr.Dataset, histograms: bool = False) -> Iterator[pd.DataFrame]:
    """Yield the frame `tidy` of `open_cells` in parts, so that one part is in memory at a time.

    `histograms`: if True, append one row for each occupied bin of each observable.
    """
    return (_tidy(block, histograms) for block in cell_blocks(flat))


def _tidy(table: xr.Dataset, histograms: bool) -> pd.DataFrame:
    """Return `tidy` of a table in memory, flat or on the grid of its axes."""
    axes = [axis for axis in json.loads(table.attrs["axes"]) if axis in table.coords]
    table = table.expand_dims([axis for axis in axes if not table[axis].dims])  # what was squeezed
    names = columns.quantities([str(name) for name in table.data_vars])
    parts = [_rows(table, name, axes) for name in names]
    if histograms:
        parts += [_bins(table, name, axes) for name in sorted(columns.observables(map(str, table.data_vars)))]
    if not parts:
        return pd.DataFrame(columns=[*axes, "quantity", "level", *ENDINGS, "unit", "trials", "id"])
    places = {name: place for place, name in enumerate(names)}
    frame = pd.concat(parts, ignore_index=True)
    order = np.lexsort((frame["quantity"].map(places).fillna(len(places)), frame.pop("place")))
    frame = frame.iloc[order].reset_index(drop=True)
    return frame.replace({"quantity": _own_names(table)}) if "function" in table.attrs else frame


def _own_names(table: xr.Dataset) -> dict[str, str]:
    """Return the names that a user's function gave to its numbers, by the names of their means."""
    return {columns.mean(name): name for name in columns.observables(map(str, table.data_vars))}


def _rows(table, name, axes) -> pd.DataFrame:
    """Return the rows of one quantity, without the cells that have neither a simulated nor a known value of it."""
    known = {short: table[name + end].variable for short, end in ENDINGS.items() if name + end in table}
    frame = _framed(table, known, axes).assign(quantity=name, unit=_unit(table, name))
    frame = frame.assign(**{short: np.nan for short in ENDINGS if short not in frame})
    if "quantile" in frame:
        frame = frame.rename(columns={"quantile": "level"})
    else:
        frame["level"] = np.nan
    frame = frame[["place", *axes, "quantity", "level", *ENDINGS, "unit", "trials", "id"]]
    return frame.dropna(subset=["value", "exact", "bound"], how="all")


def _framed(table, variables, axes) -> pd.DataFrame:
    """Return a frame of variables with the axes and trials of their cells. The column `place` numbers the cells."""
    cells = table["trials"].dims
    about = {"trials": table["trials"].variable, "id": table["id"].variable}
    about["place"] = xr.Variable(cells, np.arange(table["trials"].size).reshape(table["trials"].shape))
    coordinates = {axis: table[axis].variable for axis in axes}
    frame = xr.Dataset({**variables, **about}, coordinates | _levels(table, variables)).to_dataframe().reset_index()
    frame = frame[frame["id"] != ""]  # a point of the grid that the sweep does not contain has no id
    return frame.assign(id=frame["id"].str[:ID_LETTERS])


def _levels(table, variables) -> dict:
    several = any("quantile" in variable.dims for variable in variables.values())
    return {"quantile": table["quantile"].variable} if several else {}


def _unit(table, name) -> str:
    variable = next(table[name + end] for end in ENDINGS.values() if name + end in table)
    return variable.attrs.get("units", "")


def _bins(table, name, axes) -> pd.DataFrame:
    """Return one row for each occupied bin, by cell and then by value: its count, `bin_lower` and `bin_upper`."""
    if "cell" not in table.dims:
        raise ValueError("only the flat table has rows of histograms; pass open_cells(path) instead of a grid")
    low, high, counts, bins = (table[part].values for part in columns.histogram(name))
    cell = np.repeat(np.arange(len(bins)), bins)
    frame = pd.DataFrame({name: table[name].values for name in (*axes, "trials", "id")})
    frame = frame.assign(id=frame["id"].str[:ID_LETTERS]).iloc[cell].reset_index(drop=True).assign(place=cell)
    return frame.assign(
        quantity=f"{name}_histogram", unit="1", value=counts.astype(float), bin_lower=low, bin_upper=high
    )
