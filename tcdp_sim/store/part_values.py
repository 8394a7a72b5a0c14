"""The exact values and bounds of a sweep as its parts store them, because `finish` has no code to compute them.

    <run>/exact/parts/*.seg    a head with the functions, then for each cell a record of id and values

Each part writes files of its own, and removes those that it wrote with other functions. Parts of different functions
are an error: no clock decides which of them counts.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.store import journal
from tcdp_sim.store.exact_records import FOLDER, PARTS
from tcdp_sim.study.parts import Part, labelled

HEAD, ROW = b"h", b"v"  # the first byte of a record
_ID = 32  # bytes in a cell's id
_KEYS = {"functions": dict, "made_with": dict}  # of a head
_WORDS = {"key", "word", "source"}  # about a function
Functions = Mapping[str, Mapping[str, str]]  # column -> key, word and digest of the function that gives it
Append = Callable[[str, Floats], None]


@dataclass
class Values:
    """The values that one set of functions gave.

    - rows: the values of each cell, in the order of `columns`; a function that refuses a cell gave NaN.
    - made_with: the libraries and numerics that each cell's values were computed with.
    - files: the names of the files that they stand in.
    """

    functions: Functions
    rows: dict[str, Floats] = field(default_factory=dict)
    made_with: dict[str, Mapping[str, str]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)

    @property
    def columns(self) -> list[str]:
        """The columns in the order of the values."""
        return sorted(self.functions)

    @property
    def words(self) -> list[str]:
        """The words of a command line that name the functions."""
        return sorted(f"{each['key']}={each['word']}" for each in self.functions.values())


def stored(run: Path, part: Part | None = None) -> Values | None:
    """Return the values in a run's folder, None without any. Raises UserError for values of two sets of functions.

    With `part` only the files of this part are read. Damaged records count as missing.
    """
    found = list(_sets(run, part.may_be_in if part else lambda name: True))
    if len(found) > 1:
        raise UserError(f"{run} has exact values of different functions: {'; '.join(map(_told, found))}")
    return found[0] if found else None


def exist(run: Path) -> bool:
    """Return True if a run's folder has values of parts, of whatever functions."""
    return bool(_sets(run, lambda name: True))


def given_by(run: Path, functions: Functions, part: Part | None = None) -> Values | None:
    """Return the values of one set of functions, as `stored` does, None without any; values of others do not matter."""
    found = _sets(run, part.may_be_in if part else lambda name: True)
    return next((each for each in found if each.functions == functions), None)


def forget_others(run: Path, functions: Functions, part: Part | None = None) -> None:
    """Remove the files of other functions: the files of a part, or without `part` all of them. Raises OSError."""
    for each in _sets(run, lambda name: True):
        for name in each.files if each.functions != functions else ():
            if part is None or name.endswith(f"{part.label}.seg"):
                (run / FOLDER / PARTS / name).unlink(missing_ok=True)


def _told(values: Values) -> str:
    """Return the words and the sources of functions, and the parts that have their values."""
    sources = ", ".join(f"{each['key']}={each['word']} ({each['source'][:8]})" for each in values.functions.values())
    labels = (labelled(name) for name in values.files)
    where = sorted({f"{number}/{count}" for kind, number, count in labels if kind})
    return f"{sources} of {'part ' + ' and '.join(where) if where else 'the whole sweep'}"


def _sets(run: Path, wanted: Callable[[str], bool]) -> Iterable[Values]:
    """Return the values of each set of functions."""
    sets: dict[str, Values] = {}
    last: tuple[Path | None, Values | None, Mapping[str, str]] = None, None, {}
    for path, _, payload in journal.read(run / FOLDER / PARTS, wanted):
        if path != last[0]:
            last = path, None, {}
        if about := _head(payload):
            found = sets.setdefault(json.dumps(about["functions"], sort_keys=True), Values(about["functions"]))
            found.files.add(path.name)
            last = path, found, about["made_with"]
        elif payload and last[1] is not None and len(payload) == 1 + _ID + 8 * len(last[1].columns):
            cell = payload[1 : 1 + _ID].hex()
            last[1].rows[cell] = np.frombuffer(payload, "<f8", offset=1 + _ID)
            last[1].made_with[cell] = last[2]
    return sets.values()


def _head(payload: bytes | None) -> dict[str, Any] | None:
    """Return the content of a head, None for any other record."""
    if not payload or payload[:1] != HEAD:
        return None
    try:
        about = json.loads(payload[1:])
        kinds = {key: type(about[key]) for key in _KEYS}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    plain = kinds == _KEYS and all(
        isinstance(each, dict) and each.keys() >= _WORDS for each in about["functions"].values()
    )
    return about if plain else None


@contextmanager
def writer(run: Path, functions: Functions, made_with: Mapping[str, Any], part: Part | None = None) -> Iterator[Append]:
    """Yield a function that appends the values of a cell to a file of its own.

    A file without values is kept: it says which functions the part of a sweep has, for the command that is lacking.
    """
    about = {"functions": functions, "made_with": made_with}
    with journal.Writer(run / FOLDER / PARTS, part.label if part else "") as file:
        file.append(HEAD + json.dumps(about, sort_keys=True).encode())
        file.sync()

        def append(cell: str, row: Floats) -> None:
            file.append(ROW + bytes.fromhex(cell) + row.astype("<f8").tobytes())

        yield append


def copy(source: Path, target: Path) -> None:
    """Copy the values of another run's folder that this folder lacks. Raises OSError or UserError."""
    theirs, ours = stored(source), stored(target)
    if theirs is None:
        return
    there = ours.rows.keys() if ours is not None and ours.functions == theirs.functions else None
    kinds = {json.dumps(each, sort_keys=True): each for each in theirs.made_with.values()} or {"{}": {}}
    for text, made_with in sorted(kinds.items()):
        alike = [cell for cell, each in theirs.made_with.items() if json.dumps(each, sort_keys=True) == text]
        lacking = [cell for cell in alike if there is None or cell not in there]
        if lacking or there is None:
            with writer(target, theirs.functions, made_with) as append:
                for cell in lacking:
                    append(cell, theirs.rows[cell])
