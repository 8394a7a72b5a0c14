"""The contents of one cell of published results: its mechanism, its binned trials, and numbers computed from them."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.core import registry
from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.statistics import sequences
from tcdp_sim.statistics.one_sample import quantile_p_values
from tcdp_sim.store import columns
from tcdp_sim.summaries.estimates import NORMAL, UNSEEN

RESOLVED = 10.0  # bin widths per standard deviation from which a skewness computed from bins is right to a few per cent


def cell_mechanism(flat: xr.Dataset, i: int) -> Mechanism:
    """Return the mechanism that row i of `open_cells` simulated, rebuilt from the results alone."""
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
    """Return the labels of every noise of a run: `noise_label`, `noise_family` and `noise_calibration`."""
    stored = json.loads(flat.attrs.get("noises", "{}"))  # a dataset of one's own has none
    names = map(str, np.unique(flat["noise"].values)) if "noise" in flat else ()
    about = {name: {"label": name, "family": "", "calibration": ""} | stored.get(name, {}) for name in ["", *names]}
    return _ByNoise({name: {f"noise_{key}": text for key, text in one.items()} for name, one in about.items()})


def cell_histogram(flat: xr.Dataset, i: int, observable: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the finite trials of row i of `open_cells`, binned.

    The edges are multiples of 2^-9 times the power of two below them. So every multiple of a power of two by a whole
    number up to 2^10 is an edge.
    """
    lower, upper, counts, bins = (flat.variables[name].values for name in columns.histogram(observable))
    first = int(bins[:i].sum())
    own = slice(first, first + int(bins[i]))
    return lower[own], upper[own], counts[own]


def cell_p_values(flat: xr.Dataset, i: int, observable: str, level, exact) -> np.ndarray:
    """Return p-values for the hypothesis that quantiles of row i of `open_cells` are `exact`.

    `level`: levels of the quantiles, in (0, 1). `exact`: supposed quantiles, in the unit of the observable. They may be
    infinite. The shapes of `level` and `exact` broadcast. The p-values of a run with a `target` hold at any number of
    trials.
    """
    infinite = (infinite_trials(flat, observable, side)[i] for side in (0, 1))
    p_values = sequences.quantile_p_values if "target" in flat.attrs else quantile_p_values
    return p_values(_all_bins(cell_histogram(flat, i, observable), *infinite), level, exact)


def table_p_values(flat: xr.Dataset, observable: str, level: float, exact) -> np.ndarray:
    """Return, for each row of `open_cells`, the p-value that a quantile of it is the row's entry of `exact`.

    `exact`: supposed quantiles, in the unit of the observable.
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
    """
    name = columns.mean(observable)
    mean, mcse, most = (cell.get(each, np.nan) for each in (name, name + columns.MCSE, observable + columns.MOST))
    half = np.fmax(NORMAL * mcse, cell.get(name + columns.UPPER, np.nan) - mean)  # wider in a run with a target
    half = half + UNSEEN * most / max(cell["trials"], 1)
    return mean, mcse, mean - half, mean + half


def divergence_interval(
    cell: Mapping[str, Any], order: float, largest: float, unit: float = 1.0
) -> tuple[float, float, float, float]:
    """Return a Renyi divergence with its MCSE and 95% interval, computed from the mean of `renyi_excess`.

    A trial of `renyi_excess` is e^((order - 1) loss) - 1.

    `largest`: the largest finite excess. Larger ones count as infinite; the divergence is infinite if all trials do.
    `unit`: the factor that the results are multiplied by. With 1 they are in nats.
    """
    if cell["renyi_excess" + columns.NONFINITE] == cell["trials"] > 0:
        return np.inf, 0.0, float(unit * np.log(largest) / (order - 1)), np.inf
    mean, mcse, lower, upper = mean_interval(cell, "renyi_excess")
    low, middle, high = (unit * np.log1p(np.maximum([lower, mean, upper], 0)) / (order - 1)).tolist()
    return middle, unit * mcse / (1 + mean) / (order - 1), low, high
