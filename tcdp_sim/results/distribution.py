"""The distribution of an observable as a labelled dataset: counts, probabilities and tails, with the exact law."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.mechanisms.axes import PUBLISHED
from tcdp_sim.mechanisms.losses import LOSS, LOSSES, NEIGHBOUR
from tcdp_sim.results.binned import Binned, between, deltas, interval, together
from tcdp_sim.results.cells import cell_histogram, cell_mechanism, infinite_trials
from tcdp_sim.results.open import axes_of, open_cells, readable
from tcdp_sim.store import columns

TITLE = "tcdp_sim experiment "  # the beginning of a table's title
Source = str | Path | xr.Dataset
Law = Callable[[Any, Floats], Floats]  # of a mechanism, at several values


def distribution(
    source: Source,
    observable: str,
    cells: Mapping[str, Any] | None = None,
    *,
    at: Any = None,
    bins: int | str | None = None,
    **axes: Any,
) -> xr.Dataset:
    """Return the empirical distribution of an observable, with intervals, and its exact law where one is known.

    Parameters
    ----------
    source : str, Path or xarray.Dataset
        The folder of a run, or its table of cells (`tcdp_sim.results.open_cells`).
    observable : str
        The name of an observable of the run, such as "privacy_loss" or "linf_error", or of a number that a function of
        one's own returns.
    cells : mapping, optional
        Axes and their values, as for `axes`. It serves axes that are called like an argument.
    at : float or list of float, optional
        Values of epsilon, in nats. The observable must be a privacy loss. The result then has delta(epsilon) along
        `at`.
    bins : int or "stored", optional
        The number of bins of equal width between the least and the largest trial, or "stored" for the finest bins,
        which are at most 0.2% of a value wide. By default there are about 128, and wider ones in the tails.
    **axes
        The cells: a value or a list of values for each axis that matters, such as noise="gaussian", k=[10, 100]. `s`
        is the sampling probability. An axis that is not given keeps all its values.

    Returns
    -------
    xarray.Dataset
        Dimensions: one for each axis with several values, and `bin`, whose coordinate is the middle of a bin, in the
        unit of the observable, with `lower` and `upper`. An axis that is called like a variable gets another name. Bins
        leave no gap. A bin holds its lower edge and not its upper one (below zero the other way round); a bin with
        equal edges is a single value. Variables: `count`; `probability` and `sf`, the probability of lying above the
        bin, each with the exact 95% interval in `..._lower` and `..._upper` and with `..._exact` (NaN where no law is
        known; the attribute `exact` says so); `density`, the probability by width; `trials`, `minus_infinity` and
        `plus_infinity`. With `at`: `delta`, `delta_lower`, `delta_upper` and `delta_exact`.

    Raises
    ------
    UserError
        If there is no such observable, axis or value, or if an argument is not valid.

    Examples
    --------
    >>> found = distribution("results/privacy_loss", "privacy_loss", noise="gaussian")  # doctest: +SKIP
    >>> found["sf"].plot()  # doctest: +SKIP
    """
    flat = _chosen(source, observable, {**(cells or {}), **axes})
    stored = _stored(flat, observable)
    binned = _in_bins(stored, bins)
    variables = _variables(binned, flat, observable) | _exact(flat, observable, binned)
    coordinates = _coordinates(binned, flat, observable)
    if at is not None:
        epsilons = _epsilons(at, flat, observable)
        variables |= _deltas(flat, observable, stored, epsilons)
        coordinates["at"] = ("at", epsilons, {"units": "nats", "long_name": "epsilon"})
    attributes = {"observable": observable, **_about(flat, observable)}
    return _on_axes(flat, xr.Dataset(variables, coordinates, attributes))


def _chosen(source: Source, observable: str, wanted: Mapping[str, Any]) -> xr.Dataset:
    """Return the rows of the cells that are asked for and have the observable, in memory, with their bins alone."""
    flat = source if isinstance(source, xr.Dataset) else open_cells(source, compute_later=False)
    where = "the dataset" if isinstance(source, xr.Dataset) else str(source)
    _check_table(flat, where)
    _check_observable(flat, observable, where)
    bins = columns.bins(observable)
    with readable(where):
        counts = flat[bins].values
        rows = _rows(flat, counts + sum(infinite_trials(flat, observable, side) for side in (0, 1)) > 0, wanted, where)
        if not len(rows):
            raise UserError(f"no cell of {where} has trials of {observable}")
        ends = np.cumsum(counts)
        entries = np.concatenate([np.arange(ends[row] - counts[row], ends[row]) for row in rows])
        others = [columns.entry(name) for name in columns.observables(map(str, flat.data_vars)) if name != observable]
        return flat.drop_dims(others, errors="ignore").isel({"cell": rows, columns.entry(observable): entries}).load()


def _check_table(flat: xr.Dataset, where: str) -> None:
    if "cell" not in flat.dims or "axes" not in flat.attrs:
        raise UserError(
            f"{where} is no table of cells; give the folder of a run, or tcdp_sim.results.open_cells(folder)"
        )


def _check_observable(flat: xr.Dataset, observable: str, where: str) -> None:
    known = columns.observables(map(str, flat.data_vars))
    if observable in LOSSES and observable not in known and LOSS in flat.attrs:
        raise UserError(f"{where} has no {observable}, which is {flat.attrs[LOSS]}")
    if observable not in known:
        raise UserError(
            f"{where} has no observable {observable!r}; valid: {', '.join(known)}{suggestion(str(observable), known)}"
        )


def _rows(flat: xr.Dataset, has: np.ndarray, wanted: Mapping[str, Any], where: str) -> np.ndarray:
    """Return the rows that are asked for, of those which have the observable. Raises UserError for an unknown value."""
    axes, has = axes_of(flat), has.copy()
    for short, value in wanted.items():
        axis = PUBLISHED.get(short, short) if short not in axes else short
        if axis not in axes:
            raise UserError(f"{where} has no axis {short!r}; valid: {', '.join(axes)}{suggestion(str(short), axes)}")
        labels, values = flat[axis].values, value if isinstance(value, list | tuple | np.ndarray) else [value]
        matches = np.array([_equal(labels, each) for each in values]).reshape(-1, len(labels))
        for each, found in zip(values, matches):
            if not (found & has).any():
                there = dict.fromkeys(str(label) for label in labels[has])
                raise UserError(f"no cell that is left has {short} = {each!r}; valid: {', '.join(there)}")
        has &= matches.any(axis=0)
    return np.flatnonzero(has)


def _equal(labels: np.ndarray, value: Any) -> np.ndarray:
    """Return which labels of an axis are a value; numbers may differ in their last bits."""
    if labels.dtype.kind in "fiu" and isinstance(value, int | float | np.number):
        return np.isclose(labels, value, rtol=1e-12, atol=0)
    return np.array([str(label) == str(value) for label in labels])


def _stored(flat: xr.Dataset, observable: str) -> Binned:
    """Return the trials of all rows in the bins as stored."""
    rows = range(flat.sizes["cell"])
    return together(
        [cell_histogram(flat, row, observable) for row in rows],
        *(infinite_trials(flat, observable, side) for side in (0, 1)),
    )


def _in_bins(stored: Binned, bins: int | str | None) -> Binned:
    if bins is None:
        return stored.usual()
    if bins == "stored":
        return stored
    if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or bins < 1:
        raise UserError(f"bins = {bins!r} is not valid; valid: a whole number of at least 1, or 'stored'")
    return (
        stored.in_bins(between(stored.lower[0], stored.upper[-1], int(bins) + 1)[:-1]) if len(stored.lower) else stored
    )


def _variables(binned: Binned, flat: xr.Dataset, observable: str) -> dict[str, Any]:
    """Return the simulated variables of all cells."""
    trials, dims = binned.trials, ("cell", "bin")
    shape = np.broadcast_to(trials[:, None], binned.counts.shape)
    found: dict[str, Any] = {"count": (dims, binned.counts, {"units": "1", "long_name": "trials in the bin"})}
    for name, hits, said in (
        ("probability", binned.counts, "probability of the bin"),
        ("sf", binned.above, f"probability of {_about(flat, observable)['long_name']} above the bin"),
    ):
        lower, upper = interval(hits, shape)
        about = {"units": "1", "long_name": said}
        found[name] = (dims, hits / shape, about)
        found[f"{name}_lower"] = (dims, lower, about | {"long_name": f"{said}: lower end of an exact 95% interval"})
        found[f"{name}_upper"] = (dims, upper, about | {"long_name": f"{said}: upper end of an exact 95% interval"})
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = _about(flat, observable)["units"]
        density = np.where(binned.counts > 0, binned.counts / shape / (binned.upper - binned.lower), 0.0)
        found["density"] = (dims, density, {"units": f"1/({unit})", "long_name": "probability by width"})
    for name, values in (("trials", trials), ("minus_infinity", binned.minus), ("plus_infinity", binned.plus)):
        found[name] = (("cell",), values, {"units": "1", "long_name": name.replace("_", " ")})
    return found


def _coordinates(binned: Binned, flat: xr.Dataset, observable: str) -> dict[str, Any]:
    about = _about(flat, observable)
    middle = 0.5 * binned.lower + 0.5 * binned.upper
    return {
        "bin": ("bin", middle, about),
        "lower": ("bin", binned.lower, {**about, "long_name": "lower edge of the bin"}),
        "upper": ("bin", binned.upper, {**about, "long_name": "upper edge of the bin"}),
    }


def _about(flat: xr.Dataset, observable: str) -> dict[str, str]:
    """Return unit and meaning of an observable, read from the edges of its bins."""
    edge = flat[columns.histogram(observable)[0]].attrs
    return {"units": str(edge["units"]), "long_name": str(edge["long_name"]).removesuffix(": lower edge of the bin")}


def _exact(flat: xr.Dataset, observable: str, binned: Binned) -> dict[str, Any]:
    """Return the exact probabilities of the bins and of the values above them."""
    law, why = _law(flat, "SURVIVAL", observable)
    shape, dims = binned.counts.shape, ("cell", "bin")
    about = {"units": "1", "exact": why}
    if law is None:
        return {name: (dims, np.full(shape, np.nan), about) for name in ("probability_exact", "sf_exact")}
    first = binned.lower[:1]
    edges = np.where(binned.belongs_above, _just_below(binned.upper), binned.upper)
    below = np.where(first >= 0, _just_below(first), first)
    every, about["exact"] = _of_each_cell(law, flat, np.append(below, edges))
    return {
        "probability_exact": (dims, -np.diff(every, axis=1), about | {"long_name": "exact probability of the bin"}),
        "sf_exact": (dims, every[:, 1:], about | {"long_name": "exact probability of what is above the bin"}),
    }


def _just_below(edges: Floats) -> Floats:
    """Return numbers below edges >= 0, by more than the rounding that a noise on a lattice allows its points."""
    return np.where(edges > 0, edges * (1 - 2e-9), -1e-300)


def _law(flat: xr.Dataset, kind: str, observable: str) -> tuple[Law | None, str]:
    """Return the exact law of an observable that the run's experiment declares, and a word on it."""
    name = str(flat.attrs.get("title", "")).removeprefix(TITLE)
    if "function" in flat.attrs or not name:
        return None, "not known: the law of a function of one's own"
    experiment = registry.experiment(name)
    laws: Mapping[str, Law] = getattr(experiment, kind, {})
    undeclared = f"the experiment {name} declares no law of {observable}"
    reason = getattr(experiment, "UNKNOWN", {}).get(columns.quantile(observable), undeclared)
    law = laws.get(observable)
    return law, "known" if law else columns.NOT_KNOWN + reason


def _of_each_cell(law: Law, flat: xr.Dataset, at: Floats) -> tuple[Floats, str]:
    """Return the values of a law for each cell, NaN where it refuses, and a word on it."""
    found, refused = np.full((flat.sizes["cell"], len(at)), np.nan), ""
    for row, values in enumerate(found):
        try:
            values[:] = law(cell_mechanism(flat, row), at)
        except ValueError as reason:
            refused = f"not known: {reason}"
    return found, refused if refused and np.isnan(found).all() else "known"


def _epsilons(at: Any, flat: xr.Dataset, observable: str) -> Floats:
    """Return the values of epsilon. Raises UserError unless they are finite, and the observable is in nats."""
    if _about(flat, observable)["units"] != "nats" or observable == NEIGHBOUR:
        raise UserError(f"at is not valid for {observable}, which is no privacy loss of outputs on the data")
    try:
        found = np.atleast_1d(np.asarray(at, dtype=float))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if found.ndim != 1 or not np.isfinite(found).all():
        raise UserError(f"at = {at!r} is not valid; valid: finite values of epsilon, such as [0.5, 1]")
    return found


def _deltas(flat: xr.Dataset, observable: str, binned: Binned, at: Floats) -> dict[str, Any]:
    dims, said = ("cell", "at"), "delta(epsilon), the mean of (1 - exp(epsilon - loss))_+"
    law, why = _law(flat, "DELTA", observable)
    mean, lower, upper = deltas(binned, at)
    none = np.full(mean.shape, np.nan)
    exact, why = (none, why) if law is None else _of_each_cell(law, flat, at)
    guarantee, _ = _law(flat, "PROMISED", observable)
    about = {"units": "1", "long_name": f"{said}: what the guarantee promises"}
    promised = {} if guarantee is None else {"delta_promised": (dims, _of_each_cell(guarantee, flat, at)[0], about)}
    return promised | {
        "delta": (dims, mean, {"units": "1", "long_name": said}),
        "delta_lower": (dims, lower, {"units": "1", "long_name": f"{said}: lower end of a 95% interval"}),
        "delta_upper": (dims, upper, {"units": "1", "long_name": f"{said}: upper end of a 95% interval"}),
        "delta_exact": (dims, exact, {"units": "1", "long_name": f"{said}: exact value", "exact": why}),
    }


def _on_axes(flat: xr.Dataset, found: xr.Dataset) -> xr.Dataset:
    """Return the cells along the axes that have several values, repeated along an axis that a cell does not have."""
    labels = {axis: [_plain(value) for value in flat[axis].values.tolist()] for axis in axes_of(flat)}
    labels = {f"axis_{axis}" if axis in found.variables else axis: values for axis, values in labels.items()}
    levels = {axis: _sorted(value for value in values if value != "") for axis, values in labels.items()}
    found = found.assign_coords({axis: one[0] for axis, one in levels.items() if len(one) == 1})
    several = {axis: values for axis, values in levels.items() if len(values) > 1}
    if flat.sizes["cell"] == 1:
        return found.isel(cell=0)
    where = np.full([len(values) for values in several.values()], -1)
    for row, key in enumerate(zip(*(labels[axis] for axis in several))):
        place = tuple(slice(None) if value == "" else several[axis].index(value) for axis, value in zip(several, key))
        if (where[place] >= 0).any():  # cells at one point differ in what is no axis
            return found.assign_coords({axis: ("cell", labels[axis]) for axis in several})
        where[place] = row
    if not several:
        return found
    index = xr.DataArray(where, coords=several, dims=list(several))
    grid = found.isel(cell=index.clip(0))
    return grid if (where >= 0).all() else grid.where(index >= 0)


def _plain(value: Any) -> Any:
    """Return a label as a float or a plain text, "" for an axis that a cell does not have."""
    return "" if value != value else value if isinstance(value, float | int) else str(value)


def _sorted(values: Iterable[Any]) -> list[Any]:
    found = list(dict.fromkeys(values))
    return sorted(found) if all(isinstance(value, float | int) for value in found) else found
