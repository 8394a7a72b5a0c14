"""What can be read of one cell of published results: its mechanism, the histogram of its trials, chances, skewness."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.mechanisms import Mechanism, mechanism_class
from tcdp_sim.statistics.one_sample import quantile_p_values
from tcdp_sim.store import columns
from tcdp_sim.summaries.bins import bin_edges, in_order
from tcdp_sim.summaries.estimates import NORMAL, UNSEEN

RESOLVED = 10.0  # widths of a bin in a standard deviation: then a skewness read from bins is right to a few per cent


def cell_mechanism(flat: xr.Dataset, i: int) -> Mechanism:
    """Return the mechanism that row i of `open_cells` simulated, rebuilt from the results alone."""
    law = json.loads(flat.variables["law"].values[i])
    return mechanism_class(law["mechanism"]).build(law, cell_counts(flat, i))


def cell_counts(flat: xr.Dataset, i: int) -> np.ndarray:
    """Return the counts of the data set that row i of `open_cells` is about."""
    variables = flat.variables  # without their coordinates, which take a third of a cell's time in a large table
    start, size = (int(variables[f"data_{name}"].values[i]) for name in ("start", "size"))
    return variables["data_counts"].values[start : start + size]


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
    keys, counts, bins = (flat.variables[name].values for name in columns.histogram(observable))
    first = int(bins[:i].sum())
    own = slice(first, first + int(bins[i]))
    order = np.argsort(in_order(keys[own]))
    return *bin_edges(keys[own][order]), counts[own][order]


def chance_of_quantiles(flat: xr.Dataset, i: int, observable: str, q, exact) -> np.ndarray:
    """p-values that the q-quantiles of row i of `open_cells` are `exact`, from its trials; NaN where it has none."""
    infinite = (_infinite(flat, observable, side)[i] for side in (0, 1))
    return quantile_p_values(_all_bins(cell_histogram(flat, i, observable), *infinite), q, exact)


def chances_of_quantile(flat: xr.Dataset, observable: str, q: float, exact) -> np.ndarray:
    """Return the p-values that the q-quantile of each row of `open_cells` is its entry of `exact`."""
    return np.array([float(chance_of_quantiles(flat, i, observable, q, value)) for i, value in enumerate(exact)])


def _infinite(flat, observable, side) -> np.ndarray:
    """How many trials of each row were infinite on that side: 0 for below, 1 for above."""
    name = observable + columns.INFINITE[side]
    return flat.variables[name].values if name in flat.variables else np.zeros(flat.sizes["cell"], dtype=np.int64)


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


def divergence_interval(
    cell: Mapping[str, Any], order: float, largest: float, unit: float = 1.0
) -> tuple[float, float, float, float]:
    """Return a Renyi divergence with MCSE and 95% interval, from the mean of `renyi_excess`, e^((order - 1) loss) - 1.

    cell: a row of `open_cells` as a mapping. largest: above it an excess counts as infinite; a divergence of such
    trials alone is infinite. unit: what the numbers are multiplied by, which are nats with 1.
    """
    if cell["renyi_excess" + columns.NONFINITE] == cell["trials"] > 0:
        return np.inf, 0.0, float(unit * np.log(largest) / (order - 1)), np.inf
    mean, mcse, lower, upper = mean_interval(cell, "renyi_excess")
    low, middle, high = (unit * np.log1p(np.maximum([lower, mean, upper], 0)) / (order - 1)).tolist()
    return middle, unit * mcse / (1 + mean) / (order - 1), low, high
