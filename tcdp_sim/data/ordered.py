"""Records on an ordered domain, from a table: whole numbers, shifted to {0, ..., 2^log2_k - 1}."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.checks import choice, given, only_keys, quoted, whole
from tcdp_sim.data.domains import NULLS, OUTSIDE, as_integer
from tcdp_sim.data.readers import chosen_rows

KEYS = ("file", "path", "column", "count", "only", "from", "log2_k", "finer", "outside", "nulls")
MOST_LOG2_K = 60  # but for callers that know larger domains


def ordered_records(
    name: str, spec: Mapping[str, Any], most: int = MOST_LOG2_K
) -> tuple[list[int], list[int], int, dict[str, int]]:
    """Return the records of a specification: distinct values ascending, their frequencies, log2_k, and records changed.

    The last value counts "dropped" and "clipped" records and "empty" rows, if there were any. Raises UserError in one
    line.

    The records come from `file` (one of the package's samples) or `path` (a CSV or Parquet file). The domain is
    declared and never read off the data: 2^log2_k units beginning at `from` (default 0). log2_k is at most `most`.

    - column: the column of whole numbers.
    - count (optional): a column of counts.
    - only (optional): the text that rows must have in certain columns.
    - finer (optional): the records are given in a unit 2^finer times as fine.
    - outside: the treatment of records outside the domain (error, drop, clip).
    - nulls: the treatment of rows with an empty cell (error, drop).
    """
    where = f"records {name}"
    only_keys(where, spec, KEYS)
    low = whole(f"{where}: from", spec.get("from", 0), -(2**53), 2**53)
    log2_k = whole(f"{where}: log2_k", given(where, spec, "log2_k", f"1 to {most}"), 1, most)
    finer = whole(f"{where}: finer", spec.get("finer", 0), 0, log2_k - 1)
    outside = choice(f"{where}: outside", spec.get("outside", "error"), OUTSIDE)
    times, empty = _counted(where, spec)
    times, done = _inside(where, times, low, low + 2 ** (log2_k - finer) - 1, outside)
    if not times:
        raise UserError(f"{where}: no record is left; valid: 1 or more")
    values = sorted(times)
    done |= {"empty": empty} if empty else {}
    return [(value - low) << finer for value in values], [times[value] for value in values], log2_k, done


def _inside(where: str, counts: Counter[int], low: int, high: int, outside: str) -> tuple[Counter[int], dict[str, int]]:
    """Return the records in the domain, and how many were moved or left out."""
    beyond = [value for value in counts if not low <= value <= high]
    if not beyond:
        return counts, {}
    if outside == "error":
        wrong = min(beyond) if min(beyond) < low else max(beyond)
        message = f"{where}: {wrong} lies outside the declared domain; valid: {low} to {high}"
        raise UserError(f"{message}, or outside = drop or clip")
    kept: Counter[int] = Counter()
    for value, times in counts.items():
        if outside == "clip" or low <= value <= high:
            kept[min(max(value, low), high)] += times
    return kept, {{"drop": "dropped", "clip": "clipped"}[outside]: sum(counts[value] for value in beyond)}


def _counted(where: str, spec: Mapping[str, Any]) -> tuple[Counter[int], int]:
    """Return the number of records by value, and the number of rows left out for an empty cell."""
    column, count = given(where, spec, "column", "the name of a column"), spec.get("count")
    columns = [column, *([count] if count else [])]
    nulls = choice(f"{where}: nulls", spec.get("nulls", "error"), NULLS)
    times_of: Counter[int] = Counter()
    empty = 0
    for cell, *more in chosen_rows(where, spec, columns):
        if cell is None or None in more:
            empty += 1
        else:
            times = _integer(where, str(count), more[0]) if more else 1
            if times < 0:
                raise UserError(f"{where}: column {quoted(count)} holds {times}; valid: 0 or more")
            times_of[_integer(where, column, cell)] += times
    if empty and nulls == "error":
        raise UserError(f"{where}: {empty} rows have an empty cell; valid: none, or nulls = drop")
    return +times_of, empty


def _integer(where: str, column: str, text: str | None) -> int:
    """Return the whole number in a cell. Raises UserError."""
    value = as_integer(text or "")
    if value is None:
        raise UserError(f"{where}: column {quoted(column)} holds {quoted(text)}; valid: whole numbers in every row")
    return value
