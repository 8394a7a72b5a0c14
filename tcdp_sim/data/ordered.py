"""Records on an ordered domain, from a table: whole numbers, shifted to {0, ..., 2^log2_k - 1}."""

from collections import Counter
from collections.abc import Mapping
from importlib import resources

from tcdp_sim.data.checks import choice, given, only_keys, shown, whole
from tcdp_sim.data.domains import as_integer
from tcdp_sim.data.readers import read_rows
from tcdp_sim.errors import UserError

KEYS = ("file", "path", "column", "count", "only", "from", "log2_k", "finer")
MOST_LOG2_K = 60


def ordered_records(name: str, spec: Mapping) -> tuple[list[int], list[int], int]:
    """(distinct values ascending, how often each occurs, log2_k): the records that a specification describes.

    spec: `file` (one of the package's samples) or `path` (CSV, Parquet); `column` of whole numbers; at will `count`, a
    column of counts, `only`, column -> the text that rows must have there, and `finer`: the records in a unit 2^finer
    times as fine. The domain is declared, never read off the data: 2^log2_k units beginning at `from` (default 0).
    Every mistake is a UserError of one line.
    """
    where = f"records {name}"
    only_keys(where, spec, KEYS)
    low = whole(f"{where}: from", spec.get("from", 0), -(2**53), 2**53)
    log2_k = whole(f"{where}: log2_k", given(where, spec, "log2_k", "1 to 60"), 1, MOST_LOG2_K)
    finer = whole(f"{where}: finer", spec.get("finer", 0), 0, log2_k - 1)
    found = _counted(where, spec)
    if not found:
        raise UserError(f"{where}: no record is left; valid: 1 or more")
    values = sorted(found)
    end = low + 2 ** (log2_k - finer)
    if values[0] < low or values[-1] >= end:
        wrong = values[0] if values[0] < low else values[-1]
        raise UserError(f"{where}: {wrong} lies outside the declared domain; valid: {low} to {end - 1}")
    return [(value - low) << finer for value in values], [found[value] for value in values], log2_k


def _counted(where, spec) -> Counter[int]:
    column, count = given(where, spec, "column", "the name of a column"), spec.get("count")
    only = spec.get("only") or {}
    if not (isinstance(only, Mapping) and all(isinstance(key, str) for key in only)):
        raise UserError(f"{where}: only = {shown(only)} is not valid; valid: {{column: text}}")
    columns = [column, *([count] if count else []), *only]
    found: Counter[int] = Counter()
    for row in _rows(where, spec, columns):
        if row[len(columns) - len(only) :] == tuple(str(text) for text in only.values()):
            times = _integer(where, count, row[1]) if count else 1
            if times < 0:
                raise UserError(f"{where}: column {shown(count)} holds {times}; valid: 0 or more")
            found[_integer(where, column, row[0])] += times
    return +found


def _rows(where, spec, columns):
    if (spec.get("file") is None) == (spec.get("path") is None):
        raise UserError(f"{where}: one of file and path has to be given; valid: a sample's name, or a path")
    if spec.get("path") is not None:
        yield from map(tuple, read_rows(spec["path"], columns))
        return
    folder = resources.files("tcdp_sim.data") / "files"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".csv"))
    with resources.as_file(folder / choice(f"{where}: file", spec["file"], names)) as path:
        yield from map(tuple, read_rows(path, columns))


def _integer(where, column, text) -> int:
    value = None if text is None else as_integer(text)
    if value is None:
        raise UserError(f"{where}: column {shown(column)} holds {shown(text)}; valid: whole numbers in every row")
    return value
