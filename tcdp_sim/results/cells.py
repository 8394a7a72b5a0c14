"""The contents of one cell of published results: its mechanism, its binned trials, and numbers computed from them."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.core import registry
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.statistics.one_sample import quantile_p_values
from tcdp_sim.store import columns
from tcdp_sim.summaries.estimates import NORMAL, UNSEEN

RESOLVED = 10.0  # bin widths per standard deviation from which a skewness computed from bins is right to a few per cent


def cell_mechanism(flat: xr.Dataset, i: int) -> Mechanism:
    """Return the mechanism that row i of `open_cells` simulated, rebuilt from the results alone.

    Parameters
    ----------
    flat : xarray.Dataset
        The table of cells that `open_cells` returns, or one of its `cell_blocks`.
    i : int
        The row, from 0.

    Returns
    -------
    Mechanism
        The mechanism of the cell.

    Raises
    ------
    UserError
        If the mechanism is not known, for example because its plug-in is not installed.

    Examples
    --------
    >>> cell_mechanism(open_cells("results/small"), 0)  # doctest: +SKIP
    """
    law = json.loads(flat.variables["law"].values[i])
    registry.require(law)
    return mechanism_class(law["mechanism"]).build(law, cell_counts(flat, i))


def cell_counts(flat: xr.Dataset, i: int) -> np.ndarray:
    """Return the counts of the data set of row i of `open_cells`."""
    variables = flat.variables  # reading coordinates as well would take a third of a cell's time in a large table
    start, size = (int(variables[f"data_{name}"].values[i]) for name in ("start", "size"))
    return variables["data_counts"].values[start : start + size]


class _ByNoise(dict):
    """A mapping from the name of a noise to its labels; a name without labels (NaN) gets the labels of no noise."""

    def __missing__(self, name):
        return self[""]


def noise_labels(flat: xr.Dataset) -> dict[str, dict[str, str]]:
    """Return the labels of every noise of a run: `noise_label`, `noise_family` and `noise_calibration`.

    Parameters
    ----------
    flat : xarray.Dataset
        The table of cells that `open_cells` returns.

    Returns
    -------
    dict of str to dict
        The labels by name of the noise. The name "" stands for cells without noise.

    Examples
    --------
    >>> flat = xr.Dataset(coords={"noise": ["laplace"]}, attrs={"noises": '{"laplace": {"label": "Laplace"}}'})
    >>> noise_labels(flat)["laplace"]
    {'noise_label': 'Laplace', 'noise_family': '', 'noise_calibration': ''}
    """
    stored = json.loads(flat.attrs.get("noises", "{}"))  # a dataset of one's own has none
    names = map(str, np.unique(flat["noise"].values)) if "noise" in flat else ()
    about = {name: {"label": name, "family": "", "calibration": ""} | stored.get(name, {}) for name in ["", *names]}
    return _ByNoise({name: {f"noise_{key}": text for key, text in one.items()} for name, one in about.items()})


def cell_histogram(flat: xr.Dataset, i: int, observable: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the finite trials of row i of `open_cells`, binned.

    The edges are multiples of 2^-9 times the power of two below them. So every multiple of a power of two by a whole
    number up to 2^10 is an edge.

    Parameters
    ----------
    flat : xarray.Dataset
        The table of cells that `open_cells` returns, or one of its `cell_blocks`.
    i : int
        The row, from 0.
    observable : str
        The name of an observable.

    Returns
    -------
    low, high : numpy.ndarray
        Lower and upper edges of the occupied bins, ascending, in the unit of the observable.
    counts : numpy.ndarray
        Number of trials in each bin.

    Raises
    ------
    KeyError
        If the results have no such observable.

    Examples
    --------
    >>> low, high, counts = cell_histogram(open_cells("results/small"), 0, "linf_error")  # doctest: +SKIP
    """
    lower, upper, counts, bins = (flat.variables[name].values for name in columns.histogram(observable))
    first = int(bins[:i].sum())
    own = slice(first, first + int(bins[i]))
    return lower[own], upper[own], counts[own]


def cell_p_values(flat: xr.Dataset, i: int, observable: str, level, exact) -> np.ndarray:
    """Return p-values for the hypothesis that quantiles of row i of `open_cells` are `exact`.

    Parameters
    ----------
    flat : xarray.Dataset
        The table of cells that `open_cells` returns, or one of its `cell_blocks`.
    i : int
        The row, from 0.
    observable : str
        The name of an observable.
    level : float or array
        Levels of the quantiles, in (0, 1).
    exact : float or array
        Supposed quantiles, in the unit of the observable. They may be infinite. The shapes of `level` and `exact`
        broadcast.

    Returns
    -------
    numpy.ndarray
        Two-sided p-values, in [0, 1]; NaN where the row has no trials.

    Examples
    --------
    >>> cell_p_values(open_cells("results/small"), 0, "linf_error", 0.95, 23.7)  # doctest: +SKIP
    """
    infinite = (infinite_trials(flat, observable, side)[i] for side in (0, 1))
    return quantile_p_values(_all_bins(cell_histogram(flat, i, observable), *infinite), level, exact)


def table_p_values(flat: xr.Dataset, observable: str, level: float, exact) -> np.ndarray:
    """Return, for each row of `open_cells`, the p-value that a quantile of it is the row's entry of `exact`.

    Parameters
    ----------
    flat : xarray.Dataset
        The table of cells that `open_cells` returns, or one of its `cell_blocks`.
    observable : str
        The name of an observable.
    level : float
        The level of the quantile, in (0, 1).
    exact : array of shape (cells,)
        Supposed quantiles, in the unit of the observable.

    Returns
    -------
    numpy.ndarray of shape (cells,)
        Two-sided p-values, in [0, 1]; NaN where a row has no trials.

    Examples
    --------
    >>> table_p_values(flat, "linf_error", 0.95, flat["linf_error_quantile_exact"][:, 5])  # doctest: +SKIP
    """
    return np.array([float(cell_p_values(flat, i, observable, level, value)) for i, value in enumerate(exact)])


def infinite_trials(flat, observable, side) -> np.ndarray:
    """Return the number of infinite trials of each row: -inf for side 0, +inf for side 1."""
    name = observable + columns.INFINITE[side]
    return flat.variables[name].values if name in flat.variables else np.zeros(flat.sizes["cell"], dtype=np.int64)


def _all_bins(finite, minus, plus):
    low, high, counts = finite
    low, high = (np.concatenate([[-np.inf], edges, [np.inf]]) for edges in (low, high))
    return low, high, np.concatenate([[minus], counts, [plus]])


def sample_skewness(flat: xr.Dataset, i: int, observable: str) -> float:
    """Return the skewness of the finite trials of row i of `open_cells`, computed from their bins.

    If the bins are too wide, the result is an upper bound on its size: the largest deviation from the mean divided by
    the standard deviation.

    Parameters
    ----------
    flat : xarray.Dataset
        The table of cells that `open_cells` returns, or one of its `cell_blocks`.
    i : int
        The row, from 0.
    observable : str
        The name of an observable.

    Returns
    -------
    float
        The skewness, without unit; NaN if the row has no finite trials.

    Examples
    --------
    >>> sample_skewness(open_cells("results/small"), 0, "linf_error")  # doctest: +SKIP
    1.26
    """
    low, high, counts = cell_histogram(flat, i, observable)
    if not len(counts):
        return np.nan
    scale = max(-low[0], high[-1]) or 1.0
    middle, width = (0.5 * low + 0.5 * high) / scale, float((high - low).max()) / scale
    off = middle - np.average(middle, weights=counts)
    spread = np.sqrt(np.average(off**2, weights=counts))
    if spread > RESOLVED * width:
        return float(np.average(off**3, weights=counts) / spread**3)
    endings = (columns.MEAN, columns.DEVIATION, columns.LEAST, columns.MOST)
    columns_of = (flat.variables.get(observable + ending) for ending in endings)
    mean, sd, least, most = (np.nan if column is None else float(column.values[i]) for column in columns_of)
    return max(most - mean, mean - least) / sd if sd > 0 else 0.0


def mean_interval(cell: Mapping[str, Any], observable: str) -> tuple[float, float, float, float]:
    """Return the mean of an observable with its MCSE and a 95% interval that allows for rare low values.

    Importance sampling makes such an observable constant except for rare low values. The interval is the normal one,
    widened on both sides by UNSEEN / trials times the largest value: low values that never occurred in the trials are
    rarer than UNSEEN / trials (97.5% on each side).

    Parameters
    ----------
    cell : mapping
        The published numbers of one row of `open_cells`, by name.
    observable : str
        The name of an observable.

    Returns
    -------
    mean, mcse, lower, upper : float
        The mean, its standard error and the ends of the interval, in the unit of the observable.

    Examples
    --------
    >>> cell = {"loss_mean": 1.0, "loss_mean_mcse": 0.1, "loss_max": 2.0, "trials": 1000}
    >>> [round(x, 3) for x in mean_interval(cell, "loss")]
    [1.0, 0.1, 0.797, 1.203]
    """
    name = columns.mean(observable)
    mean, mcse, most = (cell.get(each, np.nan) for each in (name, name + columns.MCSE, observable + columns.MOST))
    half = NORMAL * mcse + UNSEEN * most / max(cell["trials"], 1)
    return mean, mcse, mean - half, mean + half


def divergence_interval(
    cell: Mapping[str, Any], order: float, largest: float, unit: float = 1.0
) -> tuple[float, float, float, float]:
    """Return a Renyi divergence with its MCSE and 95% interval, computed from the mean of `renyi_excess`.

    A trial of `renyi_excess` is e^((order - 1) loss) - 1.

    Parameters
    ----------
    cell : mapping
        The published numbers of one row of `open_cells`, by name.
    order : float
        The order of the divergence, above 1.
    largest : float
        The largest finite excess. Larger ones count as infinite; the divergence is infinite if all trials do.
    unit : float
        The factor that the results are multiplied by. With 1 they are in nats.

    Returns
    -------
    divergence, mcse, lower, upper : float
        The divergence, its standard error and the ends of the interval, in nats times `unit`.

    Examples
    --------
    >>> cell = {"renyi_excess_mean": 0.5, "renyi_excess_mean_mcse": 0.01, "renyi_excess_max": 2.0,
    ...         "renyi_excess_nonfinite": 0, "trials": 10_000}
    >>> [round(x, 3) for x in divergence_interval(cell, order=2.0, largest=1e300)]
    [0.405, 0.007, 0.392, 0.419]
    """
    if cell["renyi_excess" + columns.NONFINITE] == cell["trials"] > 0:
        return np.inf, 0.0, float(unit * np.log(largest) / (order - 1)), np.inf
    mean, mcse, lower, upper = mean_interval(cell, "renyi_excess")
    low, middle, high = (unit * np.log1p(np.maximum([lower, mean, upper], 0)) / (order - 1)).tolist()
    return middle, unit * mcse / (1 + mean) / (order - 1), low, high
