"""Lists of released histograms of counts, from a table: level, query, and the size of the discrete Gaussian noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.checks import choice, given, only_keys, quoted
from tcdp_sim.data.readers import chosen_rows
from tcdp_sim.privacy.relation import Relation

KEYS = ("file", "path", "only", "relation", "level", "query", "sigma_squared", "rho", "shift", "times")
CELLS: dict[str, int] = {
    Relation.ADD_REMOVE: 1,
    Relation.SUBSTITUTE: 2,
}  # of a histogram that one record changes
MOST_ROWS, MOST_WHOLE = 10_000, 10**6
_LONGEST_NUMBER = 60


@dataclass(frozen=True)
class CountList:
    """A list of released histograms of counts with discrete Gaussian noise.

    `sigma_squared`: the parameter sigma^2 of the noise, in counts^2. `shift`, `times`: the change of a cell by one
    record, in counts, and the number of independent releases.
    """

    levels: tuple[str, ...]
    queries: tuple[str, ...]
    sigma_squared: tuple[float, ...]
    shift: tuple[int, ...]
    times: tuple[int, ...]
    relation: str

    def places(self, level: str, query: str) -> list[int]:
        """Return the rows of a level and a query, of which "all" means every one."""
        pairs = enumerate(zip(self.levels, self.queries))
        return [i for i, (one, other) in pairs if level in ("all", one) and query in ("all", other)]


def count_list(name: str, spec: Mapping[str, Any]) -> CountList:
    """Return the list that a specification describes. Raises UserError in one line.

    The rows come from `file` (one of the package's samples) or `path` (a CSV or Parquet file). Numbers may be
    fractions, such as 3/4099.

    - relation: "substitute" (bounded differential privacy) or "add_remove".
    - level, query: the columns of names; by default "level" and "query".
    - sigma_squared, or rho: the column of the parameter sigma^2 in counts^2, or of each release's share of rho in
      nats. Then sigma^2 = cells shift^2 / (2 rho), with two cells under substitution and one otherwise.
    - shift (optional): the column of the change of a cell by one record; by default 1.
    - times (optional): the column of the number of independent releases; by default 1.
    - only (optional): the text that rows must have in certain columns.
    """
    where = f"list {name}"
    only_keys(where, spec, KEYS)
    relation = str(choice(f"{where}: relation", given(where, spec, "relation", ", ".join(CELLS)), tuple(CELLS)))
    if (spec.get("sigma_squared") is None) == (spec.get("rho") is None):
        raise UserError(f"{where}: one of sigma_squared and rho has to be given; valid: the name of its column")
    size = "sigma_squared" if spec.get("rho") is None else "rho"
    columns = [str(spec.get("level") or "level"), str(spec.get("query") or "query"), str(spec[size])]
    extra = [key for key in ("shift", "times") if spec.get(key) is not None]
    found = list(chosen_rows(where, spec, [*columns, *(str(spec[key]) for key in extra)]))
    if not 1 <= len(found) <= MOST_ROWS:
        raise UserError(f"{where} has {len(found):,} rows; valid: 1 to {MOST_ROWS:,}")
    levels, queries, sizes, *more = zip(*found)
    numbers = [_number(f"{where}: {columns[2]}", text) for text in sizes]
    wholes = {key: tuple(_whole(f"{where}: {spec[key]}", text) for text in texts) for key, texts in zip(extra, more)}
    shift, times = (wholes.get(key, (1,) * len(found)) for key in ("shift", "times"))
    if size == "rho":
        numbers = [CELLS[relation] * each**2 / (2 * rho) for each, rho in zip(shift, numbers)]
    variances = tuple(_float(f"{where}: sigma^2", number) for number in numbers)
    names = _names(where, levels), _names(where, queries)
    if len(set(zip(*names))) < len(found):
        raise UserError(f"{where}: a level and query stand in more than one row; valid: one row each, with times")
    return CountList(*names, variances, shift, times, relation)


def _names(where: str, texts: tuple[str | None, ...]) -> tuple[str, ...]:
    for text in texts:
        if not text or text == "all" or not text.isprintable():
            raise UserError(f"{where}: the name {quoted(text)} is not valid; valid: text other than all in every row")
    return tuple(map(str, texts))


def _number(where: str, text: str | None) -> Fraction:
    """Return a number above 0 without rounding. Raises UserError."""
    valid = "valid: numbers above 0, such as 2.5 or 3/4099, in every row"
    text = (text or "").strip()
    try:
        top, _, bottom = text.partition("/")
        number = float(top) / float(bottom or "1")  # refuses what is no number, before a huge power is computed
        if 0 < number < inf and len(text) <= _LONGEST_NUMBER:
            return Fraction(text)
    except (ValueError, ZeroDivisionError):
        pass
    raise UserError(f"{where}: {quoted(text)} is not valid; {valid}")


def _whole(where: str, text: str | None) -> int:
    number = _number(where, text)
    if number.denominator != 1 or number > MOST_WHOLE:
        raise UserError(f"{where}: {quoted(text)} is not valid; valid: whole numbers from 1 to {MOST_WHOLE:,}")
    return int(number)


def _float(where: str, number: Fraction) -> float:
    if not 1e-3 <= number <= 1e10:
        raise UserError(f"{where} = {float(number):g} is not valid; valid: 0.001 to 1e10 counts^2")
    return float(number)
