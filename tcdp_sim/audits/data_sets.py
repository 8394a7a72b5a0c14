"""Data sets of any kind as lists of records, and their neighbours: one record removed, added or replaced."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tcdp_sim.audits import extremes
from tcdp_sim.core.errors import UserError, unmasked
from tcdp_sim.core.identity import digest
from tcdp_sim.core.texts import shortened

SOME = 4  # records of a kind (removed, added, replaced) that are tried, so that an audit of many records stays short
LONGEST = 60  # letters of a record in words
KINDS = "a list, tuple, array, set, string, pandas.Series or pandas.DataFrame"


def is_pandas(data: Any) -> bool:
    """Return True for a pandas.DataFrame or pandas.Series, without importing pandas."""
    return type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "iloc")


def digestible(data: Any) -> Any:
    """Return plain data that stand for an input. Raises TypeError."""
    if is_pandas(data):
        columns = data.items() if hasattr(data, "columns") else [(data.name, data)]
        content = [[str(name), str(column.dtype), column.tolist()] for name, column in columns]
        return [type(data).__name__, data.index.tolist(), content]
    digest(data)
    return data


def size(data: Any) -> int:
    """Return the number of records. Raises UserError if the data are of no known kind."""
    try:
        unmasked("data", data)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    known = isinstance(data, list | tuple | str | set | frozenset) or is_pandas(data)
    if not known and not (isinstance(data, np.ndarray) and data.ndim):
        raise UserError(f"records() cannot use data of type {type(data).__name__}; valid: {KINDS}")
    return len(data)


Found = tuple[Any, Any, str]  # the data, a neighbour, and their difference in words


def add_remove(data: Any, domain: Iterable[Any] | None) -> Iterator[Found]:
    """Yield pairs of the data and the data without one record, and with one more record of the domain, in words too.

    Without a domain, the records of the data are added a second time; sets get no such pair.
    """
    listed = _listed(data)
    for index in _telling(listed):
        yield data, without(data, index), f"without {_short(listed[index])}"
    for record in _some(domain, data) if domain is not None else _own(data):
        if not (isinstance(data, set | frozenset) and record in data):
            yield data, with_record(data, record), f"with {_short(record)}"


def substitute(data: Any, domain: Iterable[Any] | None) -> Iterator[Found]:
    """Yield pairs of the data and the data with one record replaced by another one of the domain, or of the data."""
    values = _some(domain, data) if domain is not None else _own(data)
    listed = _listed(data)
    for index in _telling(listed):
        for record in values:
            in_set = isinstance(data, set | frozenset) and record in data
            if not in_set and not _equal(listed[index], record):
                yield data, replaced(data, index, record), f"{_short(record)} for {_short(listed[index])}"


def _short(record: Any) -> str:
    """Return a record in a few letters."""
    plain = tuple(record) if isinstance(record, tuple) else record  # without the names of a frame's rows
    return shortened(repr(plain), LONGEST)


def without(data: Any, index: int) -> Any:
    """Return the data without the record at an index, in the same kind of container."""
    if is_pandas(data):
        kept = data.iloc[[place for place in range(len(data)) if place != index]]
        return kept.reset_index(drop=True) if _counts_rows(data) else kept
    if isinstance(data, np.ndarray):
        return np.delete(data, index, axis=0)
    records = _listed(data)
    return _as(data, records[:index] + records[index + 1 :])


def with_record(data: Any, record: Any) -> Any:
    """Return the data with one more record at the end. Raises UserError if the record does not fit."""
    if is_pandas(data):
        import pandas as pd

        more = pd.concat([data, _row(data, record)], ignore_index=_counts_rows(data))
        return more.astype(data.dtypes.to_dict()) if hasattr(data, "columns") else more.astype(data.dtype)
    if isinstance(data, np.ndarray):
        return np.concatenate([data, _array_row(data, record)])
    return _as(data, [*_listed(data), record])


def replaced(data: Any, index: int, record: Any) -> Any:
    """Return the data with the record at an index replaced."""
    if isinstance(data, np.ndarray) or is_pandas(data):
        longer = with_record(data, record)
        order = [len(data) if place == index else place for place in range(len(data))]
        if isinstance(data, np.ndarray):
            return longer[order]
        taken = longer.iloc[order]
        taken.index = data.index
        return taken
    records = _listed(data)
    return _as(data, [*records[:index], record, *records[index + 1 :]])


def _listed(data: Any) -> list[Any]:
    """Return the records. The records of a set are in an order that does not depend on the process."""
    if is_pandas(data):
        return list(data.itertuples(index=False)) if hasattr(data, "columns") else data.tolist()
    return sorted(data, key=repr) if isinstance(data, set | frozenset) else list(data)


def _as(like: Any, records: list[Any]) -> Any:
    """Return the records in a container like another one. Raises UserError for a record that does not fit."""
    if isinstance(like, str):
        if not all(isinstance(record, str) for record in records):
            raise UserError("a record of a string is a letter or a text; the domain has something else")
        return "".join(records)
    return type(like)(records)


def _array_row(data: Any, record: Any) -> Any:
    """Return a record as an array of one row, of the data's type. Raises UserError."""
    row = np.asarray(record)
    if row.shape != data.shape[1:]:
        raise UserError(f"a record of the domain has shape {row.shape}; the data have records of {data.shape[1:]}")
    return row[None].astype(np.result_type(data, row) if row.dtype.kind in "US" else data.dtype)


def _row(data: Any, record: Any) -> Any:
    """Return a record as a frame or series of one row. Raises UserError."""
    import pandas as pd

    if not hasattr(data, "columns"):
        return pd.Series([record], name=data.name)
    values = record if isinstance(record, dict) else None
    if values is None and isinstance(record, Sequence | np.ndarray) and len(record) == len(data.columns):
        values = dict(zip(data.columns, record))
    if values is None or set(values) != set(data.columns):
        raise UserError(f"a record of the domain does not fit the columns {', '.join(map(str, data.columns))}")
    return pd.DataFrame([values], columns=data.columns)


def _counts_rows(data: Any) -> bool:
    """Return True if the index of a frame or series only numbers its rows."""
    return bool(type(data.index).__name__ == "RangeIndex")


def _own(data: Any) -> list[Any]:
    """Return some different records of the data."""
    listed = _listed(data)
    return [listed[index] for index in _telling(listed)]


def _some(domain: Any, data: Any) -> list[Any]:
    """Return some different records of a domain. Raises UserError unless it can be listed."""
    if isinstance(domain, Mapping):
        return _of_columns(domain, data)
    if isinstance(domain, str) or not isinstance(domain, Iterable):
        raise UserError("domain is not valid; valid: a list of possible records, such as the least and the largest")
    listed = _listed(domain) if is_pandas(domain) else list(domain)
    if not listed:
        raise UserError("domain is empty; valid: a list of possible records, such as the least and the largest")
    return [listed[index] for index in _telling(listed)]


def _of_columns(domain: Mapping[Any, Any], data: Any) -> list[Any]:
    """Return records of a domain that is given column by column, of a frame or a list of dicts. Raises UserError."""
    if is_pandas(data) and hasattr(data, "columns"):
        return extremes.of_columns(domain, data.columns, data.to_dict("records"))
    if isinstance(data, list | tuple) and data and all(isinstance(record, Mapping) for record in data):
        return extremes.of_columns(domain, data[0], data)
    raise UserError("domain is a mapping of columns, and the data have none; valid: for a frame, or a list of dicts")


def _telling(records: list[Any]) -> list[int]:
    """Return the places of at most SOME different records: the least, the largest, the rarest, the most frequent.

    Records that cannot be ordered are taken evenly from the list.
    """
    first: dict[str, int] = {}
    counts: dict[str, int] = {}
    for index, record in enumerate(records):
        key = _key(record)
        first.setdefault(key, index)
        counts[key] = counts.get(key, 0) + 1
    places = list(first.values())
    if len(places) <= SOME:
        return places
    try:
        ordered = sorted(places, key=lambda place: records[place])
    except (TypeError, ValueError):
        ordered = places
    by_count = sorted(first, key=lambda key: counts[key])
    chosen = [ordered[0], ordered[-1], first[by_count[0]], first[by_count[-1]], *ordered[:: len(ordered) // SOME]]
    return list(dict.fromkeys(chosen))[:SOME]


def _key(record: Any) -> str:
    """Return a text that is the same for equal records."""
    try:
        return digest(record)
    except TypeError:
        return repr(record)


def _equal(one: Any, other: Any) -> bool:
    return _key(one) == _key(other) or bool(np.all(np.asarray(one == other)))
