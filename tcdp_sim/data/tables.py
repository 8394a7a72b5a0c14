"""Counts from a table: one of the package's samples, or a user's CSV or Parquet file."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.checks import LARGEST_DOMAIN, choice, given, number, quoted
from tcdp_sim.data.counts import Counts
from tcdp_sim.data.domains import NULLS, NUMERAL, Totals, as_decimal, as_integer, place
from tcdp_sim.data.readers import Row, read_rows

TABLE_KEYS = ("column", "count", "id", "domain", "outside", "nulls")
MOST_RECORDS = 2**63 - 1
LEFT_OUT = {  # notes about records that were dropped or changed
    "empty_dropped": "{:,} rows with an empty cell were dropped",
    "unreadable_dropped": "{:,} records with text in place of a number were dropped",
    "outside_dropped": "{:,} records outside the domain were dropped",
    "outside_clipped": "{:,} records outside the domain were clipped",
    "labels_added_up": "{:,} labels stand in several rows, whose counts were added up",
}
FullRow = tuple[str, ...]  # without empty cells


def table(spec: Mapping[str, Any], path: Path | str, k: float | None = None) -> Counts:
    """Return the counts of a column of a file, over the declared domain or a larger one of k bins.

    The specification has `name`, `column` and `domain` (see domains.py), and optionally the following keys.

    - count: a column of counts, for a pre-counted table; the counts of repeated labels are added up.
    - id: a column with the person of each row, of whom nobody may have several; memory then grows with the persons.
    - outside: the treatment of records outside the domain (error, drop, clip).
    - nulls: the treatment of empty cells, and of text in place of numbers (error, drop).
    """
    columns, nulls = _columns(spec, path), _nulls(spec)
    label, count, person = columns["column"], columns.get("count"), columns.get("id")
    left_out: Counter[str] = Counter()
    rows = _full_rows(read_rows(path, list(columns.values())), path, list(columns.values()), nulls, left_out)
    if person is not None:
        rows = _one_each(rows, path, person)
    totals = Counter(row[0] for row in rows) if count is None else _added(rows, path, count, nulls, left_out)
    where, outside, counted = f"{path}, column {quoted(label)}", spec.get("outside", "error"), count is not None
    placed = place(totals, spec.get("domain"), outside, nulls, counted=counted, where=where)
    left_out += Counter(placed.left_out)
    left_out_text = "".join(f"; {LEFT_OUT[key].format(n)}" for key, n in left_out.items())
    counts = [total for total in placed.totals.values() if total]
    if not counts:
        raise UserError(f"{where}: there are no records{left_out_text}; valid: one or more")
    if sum(counts) > MOST_RECORDS:
        raise UserError(f"{where}: {sum(counts):.3g} records; valid: at most {MOST_RECORDS:.3g}")
    by = f", counts {quoted(count)}" if counted else ""
    source = f"{quoted(Path(path).name)[1:-1]}, column {quoted(label)}{by}; {_unit(count, person)}{left_out_text}"
    bins = placed.bins if k is None else _embedded(k, placed.bins, where)
    return Counts(str(spec.get("name")), np.array(counts, dtype=np.int64), bins, source, dict(left_out))


def _unit(count: str | None, person: str | None) -> str:
    """Return the unit that the guarantee protects, in words."""
    if person is not None:
        return f"one row a person, as column {quoted(person)} says"
    if count is not None:
        return "each record counted is taken for one person"
    return "each row is taken for one person (data.id=COLUMN checks that)"


def _columns(spec: Mapping[str, Any], path: Path | str) -> dict[str, str]:
    """Return the columns to read by their role: column, and count or id if given."""
    where = f"data {spec.get('name')}"
    columns = {"column": _column(where, "column", given(where, spec, "column", f"the name of a column of {path}"))}
    columns |= {key: _column(where, key, spec[key]) for key in ("count", "id") if spec.get(key) is not None}
    if len(columns) == 3:
        raise UserError(f"{where}: id and count are both given; valid: id where each row is one record, without count")
    return columns


def _nulls(spec: Mapping[str, Any]) -> str:
    """Return the treatment of empty cells."""
    return choice(f"data {spec.get('name')}: nulls", spec.get("nulls", "error"), NULLS)


def _full_rows(
    rows: Iterator[Row], path: Path | str, columns: list[str], nulls: str, left_out: Counter[str]
) -> Iterator[FullRow]:
    """Yield the rows without an empty cell, and count the others. If nulls = error, they raise UserError at the end."""
    empty: Counter[str] = Counter()
    for row in rows:
        if None in row:
            empty[columns[row.index(None)]] += 1
        else:
            yield row  # type: ignore[misc]  # none of its cells is empty
    if empty and nulls == "error":
        column, cells = next(iter(empty.items()))
        raise UserError(
            f"{path}, column {quoted(column)}: {cells} empty cells; valid: none, or nulls = drop", str(path)
        )
    left_out["empty_dropped"] = empty.total()


def _one_each(rows: Iterator[FullRow], path: Path | str, column: str) -> Iterator[FullRow]:
    """Yield the rows and check that no person has more than one, because the guarantee protects a single row."""
    rows_of: Counter[str] = Counter()
    for row in rows:
        rows_of[row[1]] += 1
        yield row
    (who, most), several = rows_of.most_common(1)[0] if rows_of else ("", 0), sum(n > 1 for n in rows_of.values())
    if several:
        raise UserError(
            f"{path}, column {quoted(column)}: {several} persons have several rows, {quoted(who)} has {most}; valid: "
            "one row each (choose or add up before); without data.id each row counts as one person",
            str(path),
        )


def _added(rows: Iterator[FullRow], path: Path | str, column: str, nulls: str, left_out: Counter[str]) -> Totals:
    """Return the counts of a pre-counted table by label."""
    totals: Totals = {}
    parsed: dict[str, int | None] = {}
    again = set()
    for label, text in rows:
        if text not in parsed:
            parsed[text] = _count(text, path, column, nulls)
        count = parsed[text]
        if count is None:
            left_out["unreadable_dropped"] += 1
            continue
        if label in totals:
            again.add(label)
        totals[label] = totals.get(label, 0) + count
    left_out["labels_added_up"] = len(again)
    return totals


def _count(text: str, path: Path | str, column: str, nulls: str) -> int | None:
    """Return the count that a text states, or None for a text that is to be dropped."""
    count = as_integer(text)
    if count is None and nulls == "drop" and as_decimal(text) is None and not NUMERAL.fullmatch(text):
        return None
    if count is None or count < 0:
        raise UserError(
            f"{path}, column {quoted(column)}: {quoted(text)} is not a count; valid: whole numbers, 0 or more",
            str(path),
        )
    return count


def _embedded(k: float, declared: float, where: str) -> float:
    """Return the size of the larger domain. Raises UserError if it is smaller than the declared one."""
    k = number("k", k, 1, LARGEST_DOMAIN)
    if k < declared:
        raise UserError(f"{where}: k = {k:g}; valid: at least the declared domain of {declared:g} bins")
    return k


def _column(where: str, key: str, name: Any) -> str:
    """Return the name of a column. Raises UserError if it is not a text."""
    if not isinstance(name, str):
        raise UserError(f"{where}: {key} = {quoted(name)} is not the name of a column; valid: text, in quotes")
    return name
