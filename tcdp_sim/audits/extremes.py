"""Records of a domain that tell most: extremes of each column, and keys that no record of the data has."""

from collections.abc import Iterable, Mapping
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.identity import digest

MOST = 12  # records


def of_columns(domain: Mapping[Any, Any], columns: Iterable[Any], data: Iterable[Mapping[Any, Any]]) -> list[Any]:
    """Return records of a domain that is given column by column, as dicts.

    All columns at their least values, all at their largest, each column alone at its other end, and each key that no
    record of the data has, with the other columns at either end. Raises UserError unless each column has values.
    """
    columns, data = list(columns), list(data)
    if set(domain) != set(columns):
        raise UserError(f"domain has the columns {_named(domain)}, and the data {_named(columns)}; valid: the same")
    values = {column: _values(column, domain[column]) for column in columns}
    least = {column: min(own, key=_order) for column, own in values.items()}
    largest = {column: max(own, key=_order) for column, own in values.items()}
    found = [least, largest]
    for column in columns:
        for key in _new_keys(values[column], [record[column] for record in data]):
            found += [{**least, column: key}, {**largest, column: key}]
    for column in columns:
        found += [{**largest, column: least[column]}, {**least, column: largest[column]}]
    return list({digest(record): record for record in found}.values())[:MOST]


def _named(columns: Iterable[Any]) -> str:
    return ", ".join(map(str, columns))


def _values(column: Any, values: Any) -> list[Any]:
    """Return the values of a column. Raises UserError unless there is a list of them."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable) or not (listed := list(values)):
        raise UserError(f"domain[{column!r}] is not valid; valid: a list of values, such as the least and the largest")
    return listed


def _order(value: Any) -> Any:
    """Return what values of any kind are ordered by: numbers by size, others by their text."""
    numeric = isinstance(value, int | float)
    return (not numeric, value if numeric else 0, "" if numeric else repr(value))


def _new_keys(values: list[Any], there: list[Any]) -> list[Any]:
    """Return the first value of a column of keys, such as texts, that no record has."""
    keys = [value for value in values if not isinstance(value, int | float)]
    return [value for value in keys if value not in there][:1]
