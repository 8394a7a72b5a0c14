"""Some rows of a tidy frame, and the same numbers as a table with chosen rows and columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.core.errors import UserError, suggestion

NUMBERS = ("value", "mcse", "lower", "upper", "exact", "bound")
LABELS = ("quantity", "level")  # that say which number a row is, beside the axes


def axes_of(frame: pd.DataFrame) -> list[str]:
    """Return the axes of a tidy frame."""
    return [str(name) for name in frame.columns if name not in (*NUMBERS, *LABELS, "unit", "trials", "id")]


def selected(
    frame: pd.DataFrame, quantity: Any = None, level: Any = None, where: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Return the rows of some quantities, levels and cells. Raises UserError for a name or value that is not there.

    Each choice is a value or a list. `where` has them by axis.
    """
    axes = axes_of(frame)
    for axis in where or {}:
        if axis not in axes:
            raise UserError(f"where: no axis is called {axis!r}; valid: {', '.join(axes)}{suggestion(str(axis), axes)}")
    for name, wanted in {**(where or {}), "quantity": quantity, "level": level}.items():
        if wanted is not None:
            frame = frame[_found(frame[name], name, _listed(wanted))]
    return frame.reset_index(drop=True)


def _found(column: pd.Series, name: str, wanted: Sequence[Any]) -> np.ndarray:
    """Return which entries are one of the wanted values. Raises UserError unless each of them is there."""
    every = np.zeros(len(column), dtype=bool)
    for value in wanted:
        same = _equal(column, value)
        if not same.any():
            there = [str(each) for each in dict.fromkeys(column.dropna().tolist())]
            raise UserError(
                f"{name} = {value!r} is not there; valid: {', '.join(there)}{suggestion(str(value), there)}"
            )
        every |= same
    return every


def _equal(column: pd.Series, value: Any) -> np.ndarray:
    if column.dtype.kind in "fiu":
        try:
            return np.isclose(column.to_numpy(), float(value), rtol=1e-12, atol=0)
        except (TypeError, ValueError):
            return np.zeros(len(column), dtype=bool)
    return column.astype(str).to_numpy() == str(value)


def arranged(frame: pd.DataFrame, rows: Any, columns: Any, cell: Callable[[pd.Series], Any]) -> pd.DataFrame:
    """Return the numbers of a tidy frame with these axes along the rows and columns; `cell` gives an entry from a row.

    All other labels that differ go to the side that is not named, or to the columns. Raises UserError for an unknown
    name, and if several numbers would stand in one place.
    """
    names = [*axes_of(frame), *LABELS]
    down, across = _named(rows, "rows", names), _named(columns, "columns", names)
    if both := [name for name in down if name in across]:
        raise UserError(f"{both[0]} is in rows and in columns; name it once")
    labels = frame[names].astype(object).where(frame[names].notna(), "")
    others = _lacking(labels, [*down, *across])
    down, across = (down, across + others) if down else (others or ["quantity"], across)
    across = across or [next(name for name in ("quantity", *names) if name not in down)]
    entries = pd.Series([cell(row) for _, row in frame.iterrows()], index=frame.index)
    found = labels.assign(entry=entries).pivot(index=down, columns=across, values="entry")
    found = found.reindex(_index(labels, down)).reindex(_index(labels, across), axis="columns")
    return found


def _lacking(labels: pd.DataFrame, known: list[str]) -> list[str]:
    """Return the labels that tell the rows apart in addition to the known ones. Raises UserError if none do."""
    found: list[str] = []
    for name in labels:
        before = _alike(labels, [*known, *found])
        if before and name not in known and _alike(labels, [*known, *found, str(name)]) < before:
            found.append(str(name))
    if _alike(labels, [*known, *found]):
        raise UserError("several cells have the same axes: they differ in data or options; choose some by where")
    return found


def _alike(labels: pd.DataFrame, names: list[str]) -> int:
    """Return how many rows have the labels of an earlier one."""
    return int(labels.duplicated(names).sum()) if names else len(labels) - 1


def _index(labels: pd.DataFrame, names: list[str]) -> pd.Index:
    """Return the labels of a side in order of first appearance; equal labels of the first name stand together."""
    unique = labels[names].drop_duplicates()
    order = {name: {label: place for place, label in enumerate(dict.fromkeys(labels[name]))} for name in names}
    unique = unique.sort_values(names, key=lambda column: column.map(order[str(column.name)]), kind="stable")
    return pd.Index(unique[names[0]], name=names[0]) if len(names) == 1 else pd.MultiIndex.from_frame(unique)


def _named(given: Any, key: str, valid: Sequence[str]) -> list[str]:
    """Return the names in an argument. Raises UserError for an unknown one."""
    found = [] if given is None else [str(name) for name in _listed(given)]
    for name in found:
        if name not in valid:
            raise UserError(f"{key}: no axis is called {name!r}; valid: {', '.join(valid)}{suggestion(name, valid)}")
    return found


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | np.ndarray) else [value]
