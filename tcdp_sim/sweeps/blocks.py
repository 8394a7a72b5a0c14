"""Validation of the blocks of a sweep: its axes and their values, its points, and further blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms.functions import listed
from tcdp_sim.mechanisms.functions.failed_trials import MEANINGS, NUMBERS
from tcdp_sim.mechanisms.functions.returned import short
from tcdp_sim.store import columns
from tcdp_sim.study import sweeps
from tcdp_sim.study.points import KEYWORDS, Point, plain

MOST_VALUES = 10**6
OF_TABLES = (  # what a folder's tables have beside the axes and the numbers
    *("id", "law", "guarantee", "noise_law", "trials", columns.PILOT, "warned", "failed"),
    *("data_key", "data_count", "data_start"),
    *("place", "quantity", "level", "value", "mcse", "lower", "upper", "exact", "bound", "unit"),
)


def block(axes: Any, cells: Any, zip: Any, where: Any) -> dict[str, Any]:
    """Return a block: the axes with listed values, and the keywords that are given. Raises UserError."""
    found = {axis: _values(axis, values) for axis, values in mapping("axes", axes, "{'n': [10, 100]}").items()}
    for axis in found:
        if axis in KEYWORDS:
            raise UserError(f"axis {axis}: this name is kept for the argument {axis}=; rename the parameter")
    given = {"cells": _cells(cells), "zip": listed(zip), "where": listed(where)}
    return found | {key: value for key, value in given.items() if value is not None}


def further(also: Any) -> dict[str, Any]:
    """Return the further blocks by name. Raises UserError."""
    given = mapping("also", also, "{'large': {'n': 1000}}")
    return {str(name): _further(str(name), own) for name, own in given.items() if own is not None}


def _further(name: str, block_of: Any) -> dict[str, Any]:
    own = mapping(f"also.{name}", block_of, "{'n': 1000}")
    axes = {axis: values for axis, values in own.items() if axis not in KEYWORDS}
    return block(axes, own.get("cells"), own.get("zip"), own.get("where"))


def _values(axis: Any, values: Any) -> Any:
    """Return the values of an axis as a list, as plain data."""
    size = len(values) if isinstance(values, range) else 0
    if size > MOST_VALUES:
        raise UserError(f"axis {axis} has {size:,} values; valid: at most {MOST_VALUES:,}")
    if isinstance(values, np.ma.MaskedArray):
        raise UserError(f"axis {axis} is a masked array; valid: numbers, such as .compressed() gives")
    given, values = values, listed(values)
    if isinstance(values, list | tuple):
        if not values:
            read = " (an iterator gives its values once)" if isinstance(given, Iterator) else ""
            raise UserError(f"axis {axis} is empty{read}; give at least one value")
        return [plain(f"axis {axis}", value) for value in values]
    return values if isinstance(values, Mapping) else plain(f"axis {axis}", values)


def _cells(cells: Any) -> Any:
    if cells is None or isinstance(cells, Mapping):
        return cells
    found = listed(cells)
    if not isinstance(found, list | tuple) or not all(isinstance(cell, Mapping) for cell in found):
        raise UserError(f"cells = {short(cells)} is not valid; valid: a list of points, such as [{{'n': 10, 'k': 2}}]")
    return [{axis: plain(f"cells: {axis}", value) for axis, value in cell.items()} for cell in found]


def mapping(key: str, value: Any, example: str) -> Mapping[str, Any]:
    """Return a mapping as it is, and an empty one for None. Raises UserError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UserError(f"{key} = {short(value)} is not valid; valid: names and their values, such as {example}")
    return value


def check_counted(axes: Sequence[str]) -> None:
    """Raise UserError for an axis with the name of a number of failed trials, where these are counted."""
    for axis in axes:
        if axis in (*MEANINGS, *NUMBERS.values()):
            raise UserError(f"axis {axis}: on_error='count' has this name for a number; rename it")


def check_names(axes: Sequence[str], named: bool) -> None:
    """Raise UserError for an axis whose name has another meaning in the results.

    `named` says whether the sweep has a folder, whose tables have more columns than results in memory.
    """
    for axis in axes:
        if not axis.isidentifier():
            raise UserError(f"axis {axis!r} is not a name of a parameter; valid: letters, digits and _, such as n_1")
        if axis == "quantile" or (named and axis in OF_TABLES):
            where = "the tables of a folder" if axis in OF_TABLES else "the results"
            raise UserError(f"axis {axis}: {where} have this name for something else; rename the parameter")


def points_of(sweep: Any, also: Any, axes: Sequence[str], defaults: Mapping[str, Any]) -> dict[str, Point]:
    """Return the points of all cells by text. Raises UserError."""
    found = sweeps.distinct(sweeps.points_of(sweeps.blocks(sweep, also), axes, defaults))
    for axis in axes:
        sweeps.check_labels(axis, [point[axis] for point in found.values()])
    return found


def check_derived_names(axes: Sequence[str], observables: Sequence[str], events: Sequence[str]) -> None:
    """Raise UserError for an axis with the name of a statistic in the results, such as x_mcse."""
    for name in (*observables, *events):
        for axis in axes:
            ending = axis.removeprefix(name)
            if ending != axis and ending in ENDINGS:
                raise UserError(f"axis {axis}: the results have this name for the number {name!r}; rename one of them")


ENDINGS = frozenset(
    {*columns.WITH_EXACT, columns.BOUND, *columns.COUNTED, columns.DEVIATION, *columns.INFINITE}
    | {"_quantile" + end for end in columns.INTERVAL}
    | {columns.MEAN + end for end in (*columns.WITH_EXACT, columns.BOUND)}
    | {f"_histogram_{part}" for part in ("bins", "lower", "upper", "count", "value")}
    | {"_batch_mean", "_entry"}
)  # of the names of what the results tell of a number
