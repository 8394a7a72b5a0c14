"""Tables of pandas as plain data: their labels and types, and a digest of the values of each column."""

import hashlib
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

SCALARS = {"Timestamp", "Timedelta", "Period", "Interval", "NAType", "NaTType", "Decimal"}  # no two share a text
SCALARS |= {"date", "datetime", "time", "timedelta"}
_PLAIN = (bool, int, float, complex, str, bytes)


def of_table(what: Any) -> list[Any] | None:
    """Return a DataFrame, Series or Index as plain data, else None. Raises TypeError if it holds objects."""
    pandas = sys.modules.get("pandas")
    if pandas is None or type(what).__module__.split(".")[0] != "pandas":
        return None
    if isinstance(what, pandas.DataFrame):
        columns = [_values(what.iloc[:, place]) for place in range(what.shape[1])]
        return ["DataFrame", of_table(what.columns), of_table(what.index), columns]
    if isinstance(what, pandas.Series):
        return ["Series", _listed([what.name]), of_table(what.index), _values(what)]
    if isinstance(what, pandas.RangeIndex):
        return ["RangeIndex", _listed([what.name]), what.start, what.stop, what.step]
    if isinstance(what, pandas.MultiIndex):
        return [
            "MultiIndex",
            _listed(what.names),
            [_values(what.get_level_values(place)) for place in range(what.nlevels)],
        ]
    if isinstance(what, pandas.Index):
        return ["Index", _listed([what.name]), _values(what), getattr(what, "freqstr", None)]
    return None


def _values(column: Any) -> list[Any]:
    """Return the type of a Series or an Index and a digest of its values."""
    kind = column.dtype
    name = str(kind)
    if name == "category":
        data = column.cat if hasattr(column, "cat") else column
        return [name, kind.ordered, _values(kind.categories), _digest(np.asarray(data.codes).tobytes())]
    if isinstance(kind, np.dtype) and not kind.hasobject:
        return [name, len(column), _digest(np.ascontiguousarray(column.to_numpy()).tobytes())]
    return [name, len(column), _listed(column)]


def _listed(values: Iterable[Any]) -> str:
    """Return the digest of texts, numbers, times and missing values."""
    return _digest(repr([_told(value) for value in values]).encode("utf-8", "surrogatepass"))


def _told(value: Any) -> Any:
    """Return a value, or a text for a time or a missing one. Raises TypeError for another object."""
    if type(value) in _PLAIN or value is None:
        return value
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return [value.dtype.str, repr(value.item())]
    if isinstance(value, tuple):  # a label of several levels
        return [_told(one) for one in value]
    name = type(value).__qualname__
    if name in SCALARS and type(value).__module__.split(".")[0] in ("pandas", "datetime", "decimal"):
        return [name, str(value)]
    raise TypeError(f"a table holds {name}, which is no plain data")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
