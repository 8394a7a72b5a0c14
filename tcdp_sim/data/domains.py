"""Declared domains: which bins there are is said by the user, never read off the data.

Reading it off the data would publish which labels occur, which no guarantee of the package covers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcdp_sim.data.checks import (
    LARGEST_DOMAIN,
    choice,
    given,
    is_number,
    joined,
    number,
    only_keys,
    shown,
    whole,
)
from tcdp_sim.data.readers import read_rows
from tcdp_sim.errors import UserError

OUTSIDE = ("error", "drop", "clip")
FORMS = (
    "the number of bins, {from: a, to: b} for integers, a list of labels, {file: labels.csv, column: name}, "
    "or listed (a pre-counted table whose labels are public)"
)
NUMERAL = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?\s*")

Totals = dict[str, int]  # records by label, in the order in which the labels first occur


@dataclass(frozen=True)
class Placed:
    """Records by bin, the size of the domain, and what was done to records outside it (for people)."""

    totals: Totals
    bins: float
    note: str = ""


def place(totals: Totals, domain, outside: str, *, counted: bool, where: str) -> Placed:
    """Put the records of each label into the bins of the declared domain.

    `where` names file and column in errors; `counted` says that the table held counts, which `listed` needs.
    Labels of lists and files are compared as text. A domain that is a number of bins takes any labels.
    """
    choice(f"{where}: outside", outside, OUTSIDE)
    if domain is None or domain == "":
        raise UserError(f"{where}: no domain is declared; it is never read off the data; valid: {FORMS}")
    is_range = isinstance(domain, Mapping) and "file" not in domain
    if outside == "clip" and not is_range:
        raise UserError(f"{where}: outside = clip needs a domain {{from: a, to: b}}; valid here: error, drop")
    if is_range:
        return _in_range(totals, *_range(domain, where), outside, where)
    if is_number(domain):
        return _in_number(totals, number(f"{where}: domain", domain, 1, LARGEST_DOMAIN), where)
    if domain == "listed":
        return _as_listed(totals, counted, where)
    return _in_labels(totals, _labels(domain, where), outside, where)


def as_integer(text: str) -> int | None:
    """The integer that `text` writes down (5, +5, 5.0, 1e3), None if it writes none."""
    if not NUMERAL.fullmatch(text):
        return None
    try:
        return int(text)
    except ValueError:
        value = float(text)
        return int(value) if value.is_integer() and abs(value) < 2**53 else None  # beyond, digits are lost


def _in_number(totals: Totals, bins: float, where: str) -> Placed:
    if len(totals) > bins:
        raise UserError(f"{where}: {len(totals)} distinct labels; valid: at most the {bins:g} declared")
    return Placed(totals, bins)


def _as_listed(totals: Totals, counted: bool, where: str) -> Placed:
    if not counted:
        raise UserError(f"{where}: domain = 'listed' needs a pre-counted table; set count to its column")
    if not totals:
        raise UserError(f"{where}: domain = 'listed', and the table has no rows; valid: one row or more")
    return Placed(totals, float(len(totals)))


def _in_range(totals: Totals, low: int, high: int, outside: str, where: str) -> Placed:
    values = {label: as_integer(label) for label in totals}
    wrong = [label for label, value in values.items() if value is None]
    if wrong:
        records = sum(totals[label] for label in wrong)
        raise UserError(
            f"{where}: {records} records are no integers, first {shown(wrong[0])}; valid: {low}..{high}"
        )
    beyond = [label for label, value in values.items() if not low <= value <= high]
    note = _outside(totals, beyond, outside, f"the declared integers {low}..{high}", where)
    if outside == "drop":
        values = {label: value for label, value in values.items() if low <= value <= high}
    placed: Totals = {}
    for label, value in values.items():  # "5", "05" and " 5" are one integer
        key = str(min(max(value, low), high))
        placed[key] = placed.get(key, 0) + totals[label]
    return Placed(placed, float(high - low + 1), note)


def _in_labels(totals: Totals, labels: dict[str, None], outside: str, where: str) -> Placed:
    beyond = [label for label in totals if label not in labels]
    declared = f"the {len(labels)} declared labels ({joined(labels, 3)})"
    note = _outside(totals, beyond, outside, declared, where)
    inside = {label: count for label, count in totals.items() if label in labels}
    return Placed(inside, float(len(labels)), note)


def _outside(totals: Totals, beyond: Sequence[str], outside: str, domain: str, where: str) -> str:
    """What happens to labels outside the domain: an error, or a note on how many records were moved."""
    if not beyond:
        return ""
    records = sum(totals[label] for label in beyond)
    if outside == "error":
        first = f"{len(beyond)} labels, the first is {shown(beyond[0])}"
        raise UserError(
            f"{where}: {records} records ({first}) lie outside {domain}; "
            "declare a larger domain, or what to do with them: outside = drop, or clip for {from: a, to: b}"
        )
    return f"; {records} records outside the domain were {'dropped' if outside == 'drop' else 'clipped'}"


def _range(domain: Mapping, where: str) -> tuple[int, int]:
    where = f"{where}: domain"
    only_keys(where, domain, ("from", "to"))
    ends = {key: given(where, domain, key, "an integer, the end of the domain") for key in ("from", "to")}
    low, high = (whole(f"{where}.{key}", end, -1e300, 1e300) for key, end in ends.items())
    if low > high:
        raise UserError(f"{where}: from = {low} is above to = {high}; valid: from <= to")
    if high - low + 1 > LARGEST_DOMAIN:
        raise UserError(f"{where}: {low:g} to {high:g} is too wide; valid: at most {LARGEST_DOMAIN:g} bins")
    return low, high


def _labels(domain, where: str) -> dict[str, None]:
    """The declared labels, in order: a list, or a column of a file, where repeated labels count once."""
    where = f"{where}: domain"
    if isinstance(domain, Mapping):
        only_keys(where, domain, ("file", "column"))
        path = given(where, domain, "file", "the path of the file of labels")
        column = given(where, domain, "column", f"the name of a column of {path}")
        labels = [label for (label,) in read_rows(path, (column,))]
        where = f"{where}: {path}, column {shown(column)}"
        if None in labels:
            raise UserError(f"{where}: {labels.count(None)} labels are empty; valid: text in each row")
    elif isinstance(domain, Sequence) and not isinstance(domain, str):
        labels = [_label(label, where) for label in domain]
        repeated = [label for label, before in zip(sorted(labels)[1:], sorted(labels)) if label == before]
        if repeated:
            raise UserError(f"{where}: label {shown(repeated[0])} is listed more than once")
    else:
        raise UserError(f"{where} = {shown(domain)} is not valid; valid: {FORMS}")
    if not labels:
        raise UserError(f"{where}: there are no labels; valid: one or more")
    return dict.fromkeys(labels)


def _label(label, where: str) -> str:
    # YAML reads NO as false and 1.10 as 1.1: only what certainly says what was typed is taken.
    if isinstance(label, bool) or not isinstance(label, (str, int)):
        raise UserError(f"{where}: label {shown(label)} is not valid; valid: text in quotes, whole numbers")
    return str(label)
