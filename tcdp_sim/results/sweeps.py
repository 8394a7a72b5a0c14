"""The results of a sweep over a user's function, labelled by the values that the function was called with."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import xarray as xr

from tcdp_sim.mechanisms.base import Observable
from tcdp_sim.mechanisms.functions import at
from tcdp_sim.mechanisms.functions.failed_trials import NUMBERS
from tcdp_sim.store import columns, table
from tcdp_sim.study.sweeps import CELLS, label
from tcdp_sim.summaries.bins import MIXED, keys_between, places_within
from tcdp_sim.summaries.fixed_trials import FIXED, FixedTrials
from tcdp_sim.summaries.summary import Distribution

OF_STUDIES = ("data_counts", "data_start", "data_size", "warned", "failed")
OF_A_MEAN = (*columns.INTERVAL, columns.EXACT, columns.BOUND)
OF_A_NUMBER = (  # the endings of a number's columns, in the order of the results
    *(*OF_A_MEAN, columns.COUNT, columns.DEVIATION, columns.LEAST, columns.MOST, columns.NONFINITE, *columns.INFINITE),
    *(columns.quantile("") + end for end in columns.INTERVAL),
)
Columns = Mapping[str, tuple[Any, Any, Mapping[str, Any]]]  # name -> (dimensions, values, attributes)


def labelled(data: Columns, points: Sequence[Mapping[str, Any]], attributes: Mapping[str, Any]) -> xr.Dataset:
    """Return flat columns, with one row for each point, on the grid of the axes.

    `data`: the columns by name, as (dimensions, values, attributes); the first dimension is "cell".
    """
    levels = {axis: _levels([point[axis] for point in points]) for axis in points[0]}
    where, full = _places(points, levels)
    if CELLS in attributes and not full:
        return _listed(data, points, levels, attributes)
    grid = {
        name: (_dims(levels, dims), _gridded(values, where, full), about)
        for name, (dims, values, about) in data.items()
    }
    return xr.Dataset(grid, {axis: _coordinate(values) for axis, values in levels.items()}, dict(attributes))


def _listed(
    data: Columns, points: Sequence[Mapping[str, Any]], levels: Mapping[str, list[Any]], attributes: Mapping[str, Any]
) -> xr.Dataset:
    """Return flat columns along one dimension, `cell`, with the axes as its coordinates."""
    axes = {axis: ("cell", _coordinate([point[axis] for point in points])) for axis in levels}
    columns_of_cells = {
        name: ((dims,) if isinstance(dims, str) else dims, *rest) for name, (dims, *rest) in data.items()
    }
    return xr.Dataset(columns_of_cells, axes, dict(attributes))


def of_run(flat: xr.Dataset) -> xr.Dataset:
    """Return the loaded cells of a published sweep as `tcdp_sim.sweep` returns them."""
    named = flat.drop_vars([name for name in flat.data_vars if str(name).endswith("_histogram_bins")])
    counted = flat.attrs.get("on_error") == "count"
    data = shown(columns_of(named), columns.QUANTILES.tolist(), _observables(flat), counted)
    events = [name.removesuffix(columns.COUNT) for name in data if name.endswith(columns.COUNT)]
    found = labelled(in_order(data, [*_observables(flat), *events]), points_of(flat), flat.attrs)
    return found.assign_coords(quantile=flat["quantile"].values) if "quantile" in found.dims else found


def _observables(flat: xr.Dataset) -> list[str]:
    return columns.observables(map(str, flat.data_vars))


def completed(flat: xr.Dataset) -> xr.Dataset:
    """Return the table of a sweep with the variables of each number that are NaN everywhere, and so not published."""
    edges = {name: flat[columns.histogram(name)[0]].attrs for name in _observables(flat)}
    numbers = {
        name: Observable(about["units"], about["long_name"].removesuffix(": lower edge of the bin"))
        for name, about in edges.items()
    }
    every = table.estimates(SimpleNamespace(observables=numbers, events={}), [], [None] * flat.sizes["cell"])
    return flat.assign({name: column for name, column in every.items() if name not in flat})


def columns_of(flat: xr.Dataset) -> dict[str, tuple[Any, Any, Any]]:
    """Return the columns of published numbers, without the columns for other studies."""
    found = {str(name): (column.dims, column.values, column.attrs) for name, column in flat.data_vars.items()}
    return {name: column for name, column in found.items() if name not in OF_STUDIES}


def points_of(flat: xr.Dataset) -> list[dict[str, Any]]:
    """Return the values of the axes of each row of published results, as the function was called with them."""
    axes, points = json.loads(flat.attrs["axes"]), (at(json.loads(law)) for law in flat["law"].values.tolist())
    return [{axis: point[axis] for axis in axes} for point in points]


def shown(
    data: Columns,
    levels: Sequence[float],
    names: Sequence[str] | None = None,
    counted: bool = False,
    rule: FixedTrials = FIXED,
) -> dict[str, tuple[Any, Any, Any]]:
    """Return the columns of a result: means under the names of their numbers, quantiles of the given levels.

    The bins of histograms are left out, because the cells have different ones. The means of batches are left out, which
    only serve comparisons of cells. `names` are the observables if the data lack them. `counted` says whether
    failed trials are counted, and `rule` gives the intervals of quantiles.
    """
    names = columns.observables(data) if names is None else names
    if tuple(levels) != tuple(columns.QUANTILES):
        data = dict(data) | {name: value for one in names for name, value in _quantiles(data, one, levels, rule)}
    renamed = {columns.mean(name) + end: name + end for name in names for end in OF_A_MEAN}
    renamed |= {event + columns.COUNT: number for event, number in NUMBERS.items()} if counted else {}
    kept = {name: value for name, value in data.items() if not _is_inner(name, value[0], names) and np.size(value[1])}
    return {renamed.get(name, name): value for name, value in kept.items()}


def in_order(data: Columns, numbers: Iterable[str]) -> dict[str, tuple[Any, Any, Any]]:
    """Return the columns of a result, number by number; columns of no number come first, then the rates of errors."""
    first = [name for event, number in NUMBERS.items() if number in data for name in (number, event)]
    order = dict.fromkeys(number + ending for number in (*first, *numbers) for ending in OF_A_NUMBER)
    places = {name: place for place, name in enumerate(order)}
    return dict(sorted(data.items(), key=lambda column: places.get(column[0], -1)))


def _quantiles(
    data: Columns, name: str, levels: Sequence[float], rule: FixedTrials
) -> Iterator[tuple[str, tuple[Any, Any, Any]]]:
    """Yield the columns of the quantiles of an observable at other levels, read from its bins."""
    lower, upper, counts, bins = (np.asarray(data[part][1]) for part in columns.histogram(name))
    keys = keys_between(lower, upper)
    ends = np.cumsum(bins)
    sides = [
        np.asarray(data[name + end][1]) if name + end in data else np.zeros(len(bins), int) for end in columns.INFINITE
    ]
    moments = np.zeros((len(bins), 1, 5))  # only the ends of the sample count
    moments[:, 0, 3:] = np.transpose([np.asarray(data[name + end][1]) for end in (columns.LEAST, columns.MOST)])
    values = np.asarray(data[columns.atom(name)][1]) if columns.atom(name) in data else np.full(len(keys), np.nan)
    atoms = np.where(np.isnan(values), MIXED, places_within(values))
    cells = [slice(end - size, end) for end, size in zip(ends, bins)]
    ds = [
        Distribution(keys[cell], counts[cell], atoms[cell], {}, own, 0, (int(minus), int(plus)))
        for cell, own, minus, plus in zip(cells, moments, *sides)
    ]
    table = rule.quantiles(ds, np.array(levels)) if levels else np.zeros((4, len(bins), 0))
    for end, values in zip(columns.INTERVAL, table):
        dims, _, about = data[columns.quantile(name) + end]
        yield columns.quantile(name) + end, (dims, values, about)


def _is_inner(name: str, dims: Any, observables: Sequence[str]) -> bool:
    return "batch" in dims or any(name in (*columns.histogram(one), columns.atom(one)) for one in observables)


def joined(parts: Iterable[Columns]) -> dict[str, tuple[Any, Any, Any]]:
    """Return the columns of consecutive cells, one after the other; a column that some parts lack is 0 or NaN there."""
    blocks = list(parts)
    if len(blocks) == 1:
        return dict(blocks[0])
    about = {name: column for block in blocks for name, column in block.items()}
    return {name: (dims, np.concatenate(list(_each(blocks, name))), more) for name, (dims, _, more) in about.items()}


def _each(blocks: Sequence[Columns], name: str) -> Iterator[Any]:
    of_bins = {columns.atom(one): columns.histogram(one)[0] for block in blocks for one in columns.observables(block)}
    for block in blocks:
        if name in block:
            yield block[name][1]
        else:
            yield (
                np.full(len(block[of_bins[name]][1]), np.nan)
                if name in of_bins
                else np.zeros(len(block["trials"][1]), np.int64)
            )


def _levels(column: list[Any]) -> list[Any]:
    """Return the distinct values of an axis: numbers ascend, everything else is in order of appearance."""
    try:
        distinct = list(dict.fromkeys(column))
        if len(set(map(type, distinct))) > 1 or isinstance(distinct[0], tuple):
            raise TypeError
    except TypeError:  # dicts cannot be compared, and True equals 1
        distinct = list({repr(value): value for value in column}.values())
    return sorted(distinct) if all(type(value) in (int, float) for value in distinct) else distinct


def _places(points: Sequence[Mapping[str, Any]], levels: Mapping[str, list[Any]]) -> tuple[np.ndarray, bool]:
    """Return the row of each point of the grid, -1 where there is none, and True if there is a row everywhere."""
    where = np.full([len(values) for values in levels.values()], -1)
    places = []
    for axis, values in levels.items():
        by_label = {_key(value): place for place, value in enumerate(values)}
        places.append([by_label[_key(point[axis])] for point in points])
    where[tuple(map(np.array, places))] = np.arange(len(points)) if levels else 0
    return where, bool((where >= 0).all())


def _key(value: Any) -> Any:
    return value if type(value) in (int, float, str) else repr(value)


def _gridded(values: Any, where: np.ndarray, full: bool) -> Any:
    values = np.asarray(values)
    grid = values[where.ravel()].reshape(where.shape + values.shape[1:])
    if full:
        return grid
    blank = "" if values.dtype == object else np.nan
    missing = (where < 0).reshape(where.shape + (1,) * (values.ndim - 1))
    return np.where(missing, blank, grid)


def _dims(levels: Mapping[str, Any], dims: Any) -> tuple[str, ...]:
    dims = (dims,) if isinstance(dims, str) else dims
    return (*levels, *dims[1:])


def _coordinate(values: list[Any]) -> Any:
    """Return the values of an axis as an array: of one type if they have one, else as texts."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float} or kinds in ({bool}, {str}):
        array = np.array(values)
        if array.dtype.kind in "ifbU":
            return array
    return np.array([label(value) for value in values])
