"""Records with real values, a few of them very large, such as pay or claims; summed overall or by group."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from scipy.special import ndtri

from tcdp_sim.core.arrays import Floats, Ints, RealFunction
from tcdp_sim.core.errors import UserError
from tcdp_sim.data.checks import choice, given, number, only_keys, quoted, whole
from tcdp_sim.data.domains import DECIMAL, NULLS, OUTSIDE
from tcdp_sim.data.readers import chosen_rows

TABLE_KEYS = ("file", "path", "column", "id", "groups", "only", "outside", "nulls")
LONGEST_NUMBER = 400  # characters: no float needs more
LARGEST = 1e300  # keeps all sums of records finite
MOST_RECORDS = 1e7
SHAPES: dict[str, tuple[str, Callable[[float], RealFunction]]] = {  # parameter and upper quantile function
    "pareto": ("alpha", lambda alpha: lambda upper: upper ** (-1 / alpha)),
    "lognormal": ("sigma", lambda sigma: lambda upper: np.exp(-sigma * ndtri(upper))),
}


@dataclass(frozen=True, eq=False)
class Population:
    """The values of all records (>= 0, in the units of the column) and the group of each.

    - group_of: the index into `groups` of each record.
    - left_out: the number of rows that were changed, by action: "dropped" and "clipped" (negative values), "empty" (a
      cell without text), "summed" (rows beyond a person's first).
    - persons: True if records are persons, identified by an `id`. Otherwise each row of a table counts as a person.
    """

    values: Floats
    group_of: Ints
    groups: tuple[str, ...] = ("",)
    left_out: Mapping[str, int] = field(default_factory=dict)
    persons: bool = False

    @cached_property
    def sums(self) -> tuple[float, ...]:
        """The sum of each group, rounded once."""
        return self.sums_of(self.values)

    def sums_of(self, values: Floats) -> tuple[float, ...]:
        """Return the sum over each group of other values of the same records."""
        order = np.argsort(self.group_of, kind="stable")
        ends = np.cumsum(np.bincount(self.group_of, minlength=len(self.groups)))[:-1]
        return tuple(fsum(part) for part in np.split(np.asarray(values)[order], ends))


def skewed_records(name: str, spec: Mapping[str, Any], group_by: str | None = None) -> Population:
    """Return the population that a specification describes, in one group or in the groups of a column.

    A specification with `shape` (pareto with `alpha`, lognormal with `sigma`) and `n` gives the quantiles (i - 1/2) / n
    of that law with scale 1. Otherwise the records come from `file` (one of the package's samples) or `path` (a CSV or
    Parquet file) with the following keys. Raises UserError in one line.

    - column: the column of numbers >= 0.
    - id (optional): the column of the person's identity; the rows of a person are summed.
    - only (optional): the text that rows must have in certain columns.
    - groups (optional): further names for group_by, each a column or {column: c, characters: the first so many}.
    - outside: the treatment of rows with a negative value (error, drop, clip to 0).
    - nulls: the treatment of rows with an empty cell (error, drop).
    """
    where = f"population {name}"
    if spec.get("shape") is None:
        return _tabled(where, spec, group_by)
    if group_by is not None:
        raise UserError(
            f"{where}: group_by = {quoted(group_by)} is not known; valid: none, since a shape has no groups"
        )
    parameter, law = SHAPES[choice(f"{where}: shape", spec["shape"], SHAPES)]
    only_keys(where, spec, ("shape", "n", parameter))
    n = whole(f"{where}: n", given(where, spec, "n", "a number of records"), 1, MOST_RECORDS)
    value = number(f"{where}: {parameter}", given(where, spec, parameter, "a number"), 0.01, 100)
    return Population(law(value)((n - np.arange(n) - 0.5) / n), np.zeros(n, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table."""

    value: float
    person: str
    group: str


def _tabled(where: str, spec: Mapping[str, Any], group_by: str | None) -> Population:
    """Return the population of a table."""
    only_keys(where, spec, TABLE_KEYS)
    rows, empty = _rows(where, spec, group_by)
    rows, changed = _at_least_zero(where, spec, rows)
    left_out = {"empty": empty} | changed
    persons = spec.get("id") is not None
    if persons:
        records = _by_person(where, rows, group_by)
        left_out["summed"] = len(rows) - len(records)
        rows = records
    if not rows:
        raise UserError(f"{where}: no record is left; valid: 1 or more")
    places = {group: i for i, group in enumerate(sorted({row.group for row in rows}))}
    values, group_of = np.array([row.value for row in rows]), np.array([places[row.group] for row in rows])
    return Population(values, group_of, tuple(places), {name: n for name, n in left_out.items() if n}, persons)


def _rows(where: str, spec: Mapping[str, Any], group_by: str | None) -> tuple[list[_Row], int]:
    """Return the rows without an empty cell, and the number of rows with one."""
    column, person = given(where, spec, "column", "the name of a column"), spec.get("id")
    group, characters = _group_column(where, spec, group_by)
    nulls = choice(f"{where}: nulls", spec.get("nulls", "error"), NULLS)
    rows = list(chosen_rows(where, spec, [column, *([person] if person else []), *([group] if group else [])]))
    full = [tuple(str(cell) for cell in row) for row in rows if None not in row]
    empty = len(rows) - len(full)
    if empty and nulls == "error":
        raise UserError(f"{where}: {empty} rows have an empty cell; valid: none, or nulls = drop")
    _all_numbers(where, column, [row[0] for row in full])
    return [_Row(float(row[0]), row[1] if person else "", row[-1][:characters] if group else "") for row in full], empty


def _group_column(where: str, spec: Mapping[str, Any], group_by: str | None) -> tuple[str | None, int | None]:
    """Return the column that defines the groups, and the number of its first characters that count (None for all)."""
    known = spec.get("groups") or {}
    if not isinstance(known, Mapping):
        raise UserError(f"{where}: groups = {quoted(known)} is not valid; valid: {{name: column}}")
    meant = known.get(group_by, group_by)
    if not isinstance(meant, Mapping):
        return meant, None
    only_keys(f"{where}: groups.{group_by}", meant, ("column", "characters"))
    column = given(f"{where}: groups.{group_by}", meant, "column", "the name of a column")
    return column, whole(f"{where}: groups.{group_by}: characters", meant.get("characters", 1000), 1, 1000)


def _all_numbers(where: str, column: str, texts: list[str]) -> None:
    """Raise UserError if a text is no number of at most LARGEST in size."""
    wrong = [text for text in texts if not _is_number(text)]
    if wrong:
        rows = f"{len(wrong)} rows, the first {quoted(wrong[0])}"
        raise UserError(f"{where}: column {quoted(column)} has no number in {rows}; valid: up to {LARGEST:g} in size")


def _is_number(text: str) -> bool:
    """Return True if a text is a number of at most LARGEST in size."""
    return len(text) <= LONGEST_NUMBER and bool(DECIMAL.fullmatch(text)) and abs(float(text)) <= LARGEST


def _at_least_zero(where: str, spec: Mapping[str, Any], rows: list[_Row]) -> tuple[list[_Row], dict[str, int]]:
    """Return the rows with values >= 0, and how many others were dropped or moved to 0."""
    outside = choice(f"{where}: outside", spec.get("outside", "error"), OUTSIDE)
    negative = [row.value for row in rows if row.value < 0]
    if negative and outside == "error":
        message = f"{where}: {len(negative)} rows have a negative value, the least {min(negative):g}"
        raise UserError(f"{message}; valid: 0 or more, or outside = drop or clip")
    if outside == "clip":
        return [row if row.value >= 0 else replace(row, value=0.0) for row in rows], {"clipped": len(negative)}
    return [row for row in rows if row.value >= 0], {"dropped": len(negative)}


def _by_person(where: str, rows: list[_Row], group_by: str | None) -> list[_Row]:
    """Return one row for each person with the sum of her values.

    Raises UserError for persons in several groups, whom the guarantee of a single group does not cover.
    """
    values: dict[str, list[float]] = defaultdict(list)
    groups: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        values[row.person].append(row.value)
        groups[row.person].add(row.group)
    several = [person for person, own in groups.items() if len(own) > 1]
    if several:
        message = f"{where}: {len(several)} of {len(groups)} persons are in several groups of {quoted(group_by)}"
        raise UserError(f"{message}; valid: a group_by that puts each person in one")
    return [_Row(fsum(own), person, *groups[person]) for person, own in values.items()]
