"""Counts from a table: the sample files of the package, or a CSV or Parquet file of the user's."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from tcdp_sim.data.checks import LARGEST_DOMAIN, choice, given, number, shown
from tcdp_sim.data.counts import Counts
from tcdp_sim.data.domains import Totals, as_integer, place
from tcdp_sim.data.readers import Row, read_rows
from tcdp_sim.errors import UserError

TABLE_KEYS = ("column", "count", "domain", "outside", "nulls")
NULLS = ("error", "drop")
MOST_RECORDS = 2**63 - 1


def table(spec: Mapping, path, k: float | None = None) -> Counts:
    """The counts of `column` of the file at `path`, over the declared domain or over a larger one of k bins.

    spec: name, column, domain (see domains.py), and at will count (a column of counts: the table is
    pre-counted, and labels that come again are added up), outside (error, drop, clip), nulls (error, drop).
    """
    where = f"data {spec.get('name')}"
    label, count = given(where, spec, "column", f"the name of a column of {path}"), spec.get("count")
    columns = [_column(where, "column", label)] + ([] if count is None else [_column(where, "count", count)])
    nulls = choice(f"{where}: nulls", spec.get("nulls", "error"), NULLS)
    rows = _full_rows(read_rows(path, columns), path, columns, nulls)
    totals = Counter(cell for (cell,) in rows) if count is None else _added(rows, path, count)
    where = f"{path}, column {shown(label)}"
    outside, counted = spec.get("outside", "error"), count is not None
    placed = place(totals, spec.get("domain"), outside, counted=counted, where=where)
    counts = [total for total in placed.totals.values() if total]
    if sum(counts) > MOST_RECORDS:
        raise UserError(f"{where}: {sum(counts):.3g} records; valid: at most {MOST_RECORDS:.3g}")
    by = "" if count is None else f", counts {shown(count)}"
    source = f"{Path(path).name}, column {shown(label)}{by}{placed.note}"
    bins = placed.bins if k is None else _embedded(k, placed.bins, where)
    return Counts(str(spec.get("name")), np.array(counts, dtype=np.int64), bins, source)


def _full_rows(rows: Iterator[Row], path, columns: list[str], nulls: str) -> Iterator[Row]:
    """The rows without an empty cell; with nulls = error, an error once all the others are counted."""
    empty: Counter[str] = Counter()
    for row in rows:
        if None in row:
            empty[columns[row.index(None)]] += 1
        else:
            yield row
    if empty and nulls == "error":
        column, cells = next(iter(empty.items()))
        raise UserError(f"{path}, column {shown(column)}: {cells} empty cells; valid: none, or nulls = drop")


def _added(rows: Iterator[Row], path, column: str) -> Totals:
    totals: Totals = {}
    parsed: dict[str, int] = {}
    for label, text in rows:
        if text not in parsed:
            parsed[text] = _count(text, path, column)
        totals[label] = totals.get(label, 0) + parsed[text]
    return totals


def _count(text: str, path, column: str) -> int:
    count = as_integer(text)
    if count is None or count < 0:
        raise UserError(
            f"{path}, column {shown(column)}: {shown(text)} is not a count; valid: whole numbers, 0 or more"
        )
    return count


def _embedded(k, declared: float, where: str) -> float:
    k = number("k", k, 1, LARGEST_DOMAIN)
    if k < declared:
        raise UserError(f"{where}: k = {k:g}; valid: at least the declared domain of {declared:g} bins")
    return k


def _column(where: str, key: str, name) -> str:
    if not isinstance(name, str):
        raise UserError(f"{where}: {key} = {shown(name)} is not the name of a column; valid: text, in quotes")
    return name
