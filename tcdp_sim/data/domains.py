"""Declared domains: the user states the bins, which are never read off the data.

Reading them off the data would publish which labels occur, and no guarantee of the package covers that.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.checks import (
    LARGEST_DOMAIN,
    choice,
    given,
    is_number,
    joined,
    number,
    only_keys,
    quoted,
    whole,
)
from tcdp_sim.data.readers import read_rows

OUTSIDE = ("error", "drop", "clip")
NULLS = ("error", "drop")
FORMS = (
    "the number of bins, {from: a, to: b} for integers, {from: a, to: b, width: w} for decimals, a list of labels, "
    "{file: labels.csv, column: name}, or listed (a pre-counted table whose labels are public)"
)
NUMERAL = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?\s*")
DECIMAL = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*")
LONGEST_DECIMAL = 400  # characters: no float needs more

Totals = dict[str, int]  # records by label, in the order in which the labels first occur


@dataclass(frozen=True)
class Placed:
    """The records by bin, the size of the domain, and the numbers of records dropped or clipped."""

    totals: Totals
    bins: float
    left_out: Mapping[str, int] = field(default_factory=dict)


def place(
    totals: Totals,
    domain: Any,
    outside: str,
    nulls: str,
    *,
    counted: bool,
    where: str,
) -> Placed:
    """Return the records of each label, put into the bins of the declared domain. Raises UserError.

    Labels of lists and files are compared as text. A domain that is a number of bins takes any labels.

    - outside: the treatment of records outside the domain.
    - nulls: the treatment of text where the domain has numbers.
    - counted: True if the table held counts, which the domain `listed` requires.
    - where: the name of file and column in errors.
    """
    choice(f"{where}: outside", outside, OUTSIDE)
    if domain is None or domain == "":
        raise UserError(f"{where}: no domain is declared; it is never read off the data; valid: {FORMS}")
    is_range = isinstance(domain, Mapping) and "file" not in domain
    if outside == "clip" and not is_range:
        raise UserError(f"{where}: outside = clip needs a domain {{from: a, to: b}}; valid here: error, drop")
    if is_range:
        return _in_range(totals, domain, outside, nulls, where)
    if is_number(domain) or domain == "listed":
        _of_one_kind(totals, where)
    if is_number(domain):
        return _in_number(totals, number(f"{where}: domain", domain, 1, LARGEST_DOMAIN), where)
    if domain == "listed":
        return _as_listed(totals, counted, where)
    return _in_labels(totals, _labels(domain, where), outside, where)


def _of_one_kind(totals: Totals, where: str) -> None:
    """Raise UserError if some labels are numbers and others words, such as 12 and 12o: one of them may be a slip."""
    words = [label for label in totals if as_decimal(label) is None and not NUMERAL.fullmatch(label)]
    if words and len(words) < len(totals):
        first = next(label for label in totals if label not in words)
        raise UserError(
            f"{where}: the labels mix numbers ({quoted(first)}) and words ({quoted(words[0])}); valid: one kind, or "
            "all labels declared, as domain = [LABEL, ...]"
        )


def as_integer(text: str) -> int | None:
    """Return the integer that a text states (5, +5, 5.0, 1e3), or None."""
    if not NUMERAL.fullmatch(text):
        return None
    try:
        return int(text)
    except ValueError:
        value = float(text)
        return int(value) if value.is_integer() and abs(value) < 2**53 else None  # larger floats lose digits


def _in_number(totals: Totals, bins: float, where: str) -> Placed:
    """Place labels in a domain given by its number of bins."""
    if len(totals) > bins:
        raise UserError(f"{where}: {len(totals)} distinct labels; valid: at most the {bins:g} declared")
    return Placed(totals, bins)


def _as_listed(totals: Totals, counted: bool, where: str) -> Placed:
    """Place the labels of a pre-counted table whose rows are the domain."""
    if not counted:
        raise UserError(f"{where}: domain = 'listed' needs a pre-counted table; set count to its column")
    if not totals:
        raise UserError(f"{where}: domain = 'listed', and the table has no rows; valid: one row or more")
    return Placed(totals, float(len(totals)))


def as_decimal(text: str) -> Fraction | None:
    """Return the decimal number that a text states (2.5, .5, 1e-3), exactly, or None outside float's range."""
    if len(text) > LONGEST_DECIMAL or not DECIMAL.fullmatch(text):
        return None
    value = Fraction(text.strip())
    return value if abs(value) <= 10**308 else None


def _in_range(totals: Totals, domain: Mapping[str, Any], outside: str, nulls: str, where: str) -> Placed:
    """Place numbers in a range of whole numbers or of decimals with a width; clipping moves to the nearest bin."""
    widths = "width" in domain
    low, width, bins = _widths(domain, where) if widths else _integers(domain, where)
    high = low + width * bins if widths else low + bins - 1
    read: Callable[[str], Fraction | int | None] = as_decimal if widths else as_integer
    totals, unreadable = _readable(totals, read, nulls, _ends(domain), where)
    values = {label: value for label in totals if (value := read(label)) is not None}
    beyond = [label for label, value in values.items() if not low <= value <= high]
    kind = "numbers" if widths else "integers"
    left_out = unreadable | _outside(totals, beyond, outside, f"the declared {kind} {_ends(domain)}", where)
    if outside == "drop":
        values = {label: value for label, value in values.items() if low <= value <= high}
    placed: Totals = {}
    for label, value in values.items():  # "5", "05" and " 5" are the same number
        key = str(min(max((value - low) // width, 0), bins - 1))  # the last bin includes its upper end
        placed[key] = placed.get(key, 0) + totals[label]
    return Placed(placed, float(bins), left_out)


def _readable(
    totals: Totals, read: Callable[[str], Fraction | int | None], nulls: str, valid: str, where: str
) -> tuple[Totals, dict[str, int]]:
    """Return the totals of labels that `read` can read, and the number of records dropped.

    Text raises UserError or is dropped, as `nulls` says. A decimal where integers are needed raises UserError.
    """
    wrong = [label for label in totals if read(label) is None]
    if not wrong:
        return totals, {}
    numbers = [label for label in wrong if as_decimal(label) is not None or NUMERAL.fullmatch(label)]
    records = sum(totals[label] for label in wrong)
    if numbers or nulls != "drop":
        kind = "numbers" if read is as_decimal else "integers"
        message = f"{where}: {records} records are not {kind}, first {quoted((numbers or wrong)[0])}; valid: {valid}"
        raise UserError(f"{message}; decimals need a width there" if numbers else f"{message}, or nulls = drop")
    kept = {label: count for label, count in totals.items() if label not in set(wrong)}
    return kept, {"unreadable_dropped": records}


def _ends(domain: Mapping[str, Any]) -> str:
    """Return a range in words."""
    return f"{domain['from']}..{domain['to']}"


def _in_labels(totals: Totals, labels: dict[str, None], outside: str, where: str) -> Placed:
    """Place labels in a domain of declared labels."""
    beyond = [label for label in totals if label not in labels]
    declared = f"the {len(labels)} declared labels ({joined(labels, 3)})"
    left_out = _outside(totals, beyond, outside, declared, where)
    inside = {label: count for label, count in totals.items() if label in labels}
    return Placed(inside, float(len(labels)), left_out)


def _outside(totals: Totals, beyond: Sequence[str], outside: str, domain: str, where: str) -> dict[str, int]:
    """Return how many records outside the domain are dropped or clipped, or raise UserError."""
    if not beyond:
        return {}
    records = sum(totals[label] for label in beyond)
    if outside == "error":
        first = f"{len(beyond)} labels, the first is {quoted(beyond[0])}"
        raise UserError(
            f"{where}: {records} records ({first}) lie outside {domain}; "
            "declare a larger domain, or what to do with them: outside = drop, or clip for {from: a, to: b}"
        )
    return {f"outside_{'dropped' if outside == 'drop' else 'clipped'}": records}


def _widths(domain: Mapping[str, Any], where: str) -> tuple[Fraction, Fraction, int]:
    """Return the lower end, the width and the number of the bins, exactly as the config states them in decimals."""
    where = f"{where}: domain"
    only_keys(where, domain, ("from", "to", "width"))
    low, high, width = (_exactly(where, domain, key) for key in ("from", "to", "width"))
    if not low < high or not 0 < width <= high - low:
        message = f"from = {domain['from']}, to = {domain['to']}, width = {domain['width']}"
        raise UserError(f"{where}: {message} make no bins; valid: from < to, and 0 < width <= to - from")
    bins = (high - low) / width
    if bins.denominator != 1 or bins > LARGEST_DOMAIN:
        message = f"width = {domain['width']} does not divide {domain['from']} to {domain['to']} into whole bins"
        raise UserError(f"{where}: {message}, or into too many; valid: at most {LARGEST_DOMAIN:g} bins of one width")
    return low, width, int(bins)


def _exactly(where: str, domain: Mapping[str, Any], key: str) -> Fraction:
    """Return a number as it was typed: 0.1 is a tenth."""
    value = given(where, domain, key, "a number")
    as_float = number(f"{where}.{key}", value, -LARGEST_DOMAIN, LARGEST_DOMAIN)
    return Fraction(value) if isinstance(value, int) else Fraction(repr(as_float))


def _integers(domain: Mapping[str, Any], where: str) -> tuple[int, int, int]:
    """Return the first of the whole numbers, the width 1, and their number."""
    where = f"{where}: domain"
    only_keys(where, domain, ("from", "to", "width"))
    ends = {key: given(where, domain, key, "an integer, the end of the domain") for key in ("from", "to")}
    low, high = (_whole_end(f"{where}.{key}", end) for key, end in ends.items())
    if low > high:
        raise UserError(f"{where}: from = {low} is above to = {high}; valid: from <= to")
    if high - low + 1 > LARGEST_DOMAIN:
        raise UserError(f"{where}: {low:g} to {high:g} is too wide; valid: at most {LARGEST_DOMAIN:g} bins")
    return low, 1, high - low + 1


def _whole_end(name: str, end: Any) -> int:
    """Return an end of a domain of whole numbers. Raises UserError."""
    if is_number(end) and abs(end) <= LARGEST_DOMAIN and end != floor(end):
        raise UserError(f"{name} = {quoted(end)} is not valid; valid: a whole number, or a width for decimals")
    return whole(name, end, -LARGEST_DOMAIN, LARGEST_DOMAIN)


def _labels(domain: Any, where: str) -> dict[str, None]:
    """Return the declared labels in order, from a list, or from a column of a file where repeated labels count once."""
    where = f"{where}: domain"
    if isinstance(domain, Mapping):
        only_keys(where, domain, ("file", "column"))
        path = given(where, domain, "file", "the path of the file of labels")
        column = given(where, domain, "column", f"the name of a column of {path}")
        cells = [cell for (cell,) in read_rows(path, (column,))]
        labels = [cell for cell in cells if cell is not None]
        where = f"{where}: {path}, column {quoted(column)}"
        if len(labels) < len(cells):
            raise UserError(f"{where}: {cells.count(None)} labels are empty; valid: text in each row")
    elif isinstance(domain, Sequence) and not isinstance(domain, str):
        labels = [_label(label, where) for label in domain]
        repeated = [label for label, before in zip(sorted(labels)[1:], sorted(labels)) if label == before]
        if repeated:
            raise UserError(f"{where}: label {quoted(repeated[0])} is listed more than once")
    else:
        raise UserError(f"{where} = {quoted(domain)} is not valid; valid: {FORMS}")
    if not labels:
        raise UserError(f"{where}: there are no labels; valid: one or more")
    return dict.fromkeys(labels)


def _label(label: Any, where: str) -> str:
    """Return a declared label as text. Raises UserError."""
    # YAML reads NO as false and 1.10 as 1.1, so only values that certainly equal the typed text are accepted.
    if isinstance(label, bool) or not isinstance(label, (str, int)):
        raise UserError(f"{where}: label {quoted(label)} is not valid; valid: text in quotes, whole numbers")
    return str(label)
