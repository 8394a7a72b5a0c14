"""Stored exact values, kept with the journal so that a resumed run does not compute them again.

    <run>/exact/*.seg    records as in the journal: a head, then the id and the values of each cell

A head has a key, which covers everything that the values depend on besides the cell: code, libraries, elementary
functions. Values with another key are useless to this code, and are removed once they have been replaced. The head of a
sweep also names its functions, for commands that have no code (see `exact_columns`).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.store import journal, source
from tcdp_sim.store.digests import hasher
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.store.index import Index
from tcdp_sim.store.journal import Reads
from tcdp_sim.store.memories import EXACT
from tcdp_sim.study.parts import Part

FOLDER = EXACT.file
HEAD, ROW = b"h", b"v"  # the first byte of a record
ID = 33  # the end of a cell's id in a record


def digest(values: ExactValues, uses: tuple[str, ...] = ()) -> str:
    """Return the digest of all code that the functions depend on, and of this machine's elementary functions.

    The code is their source with all files of its packages, this package, the libraries, and the plug-ins in `uses`.
    """
    packages = {name.partition(".")[0] for name in values.modules} - {"tcdp_sim"}
    foreign = {name: source.of_package(name) for name in packages}
    return EXACT.key(functions=values.code, packages=foreign, plug_ins=dict(source.plug_ins(uses)))


def head_of(values: ExactValues, uses: tuple[str, ...] = ()) -> bytes:
    """Return the head of values that these functions give now."""
    return HEAD + json.dumps({"key": digest(values, uses), "functions": values.functions}).encode()


def records(run: Path, reads: Reads = lambda name: True) -> Iterator[tuple[Path, int, bytes, bytes | None]]:
    """Yield the file, the offset, the file's head (b"" without one) and the record of all records, heads as well.

    The record is None for each damaged stretch.
    """
    head: tuple[Path | None, bytes] = None, b""
    for path, offset, payload in journal.read(run / FOLDER, reads):
        if path != head[0]:
            head = path, payload if payload and payload[:1] == HEAD else b""
        yield path, offset, head[1], payload


class ExactRecords:
    """The stored exact values of one set of functions in a run's folder. Raises OSError.

    `damaged` counts the unreadable stretches of each file. Their values are missing. For a `part` of a run, the values
    of other parts count as there, and their files are not read. `uses` comes from the study. `begun` says whether there
    is a file of these functions.
    """

    def __init__(self, run: Path, values: ExactValues, uses: tuple[str, ...] = (), part: Part | None = None) -> None:
        self._run, self._part = run, part
        self._head = head_of(values, uses)
        self._index = Index()
        self._reader = journal.Reader()
        self._lent = dict(values.rows or {})
        self._files: dict[Path, bytes] = {}  # the head of each file
        self.damaged: Counter[str] = Counter()
        for path, offset, head, record in records(run, part.may_be_in if part else lambda name: True):
            self._files[path] = head
            if record and head == self._head and len(record) == ID + 8 * values.width:
                self._index.enter(record[1:ID].hex(), 0, path, offset)
            elif record is None or not head or (head == self._head and record != head):
                self.damaged[path.name] += 1
        self.begun = self._head in self._files.values()

    def has(self, cell: str) -> bool:
        """Return True if the exact values of a cell are there, or belong to another part."""
        return (self._part is not None and not self._part.has(cell, 0)) or cell in self._lent or self.keeps(cell)

    def keeps(self, cell: str) -> bool:
        """Return True if the exact values of a cell are in a file."""
        return (cell, 0) in self._index

    def lend(self, cell: str, values: bytes) -> None:
        """Keep the exact values of a cell in memory only.

        They come from a worker whose elementary functions differ, so they must not be stored.
        """
        self._lent[cell] = values

    @property
    def lent(self) -> bool:
        """True if some values are in memory only."""
        return bool(self._lent)

    def values(self, cell: str) -> Floats:
        """Return the exact values of a cell, ordered as in `ExactValues.values`.

        Raises KeyError if there are none, UserError if they are damaged.
        """
        if cell in self._lent:
            return np.frombuffer(self._lent[cell], "<f8")
        path, offset = self._index.where(cell, 0)
        record = self._reader.again(path, offset)
        if record is None:
            raise UserError(f"{path} was damaged while it was open; the same command computes its values again")
        return np.frombuffer(record, "<f8", offset=ID)

    def digest(self, cells: Iterable[str]) -> str:
        """Return the digest of the values of cells. Raises as `values` does."""
        found = hasher()
        for cell in cells:
            found.update(self.values(cell).tobytes())
        return found.hexdigest()

    @contextmanager
    def writer(self) -> Iterator[Callable[[str, bytes], None]]:
        """Yield a function that appends the values of a cell, as bytes of float64, to a file of its own."""
        with journal.Writer(self._run / FOLDER, self._part.label if self._part else "") as file:
            _begin(file, self._head)

            def append(cell: str, values: bytes) -> None:
                self._index.enter(cell, 0, file.path, file.append(ROW + bytes.fromhex(cell) + values))

            yield append

    def discard(self) -> None:
        """Forget all values, with a part those in its own files, so that they are computed anew."""
        forget(self._run, self._part)
        self._index = Index()

    def forget_others(self) -> None:
        """Remove the values of other functions, since nothing will ask for them again.

        A part removes its own ones of a sweep's other functions, and no others: a part on another kind of processor may
        be writing them.
        """
        functions = functions_of(self._head)
        for path, head in self._files.items():
            if self._part is None:
                stale = head != self._head
            else:
                stale = bool(head) and _is_of(path, self._part) and functions_of(head) != functions
            if stale:
                path.unlink(missing_ok=True)


def functions_of(head: bytes) -> dict[str, dict[str, str | None]]:
    """Return the functions of a head: key, word and source by column. There are none in a head of another form."""
    try:
        found = json.loads(head[1:])["functions"]
        plain = {name: {key: each[key] for key in ("key", "word", "source")} for name, each in found.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return plain


def forget(run: Path, part: Part | None = None) -> None:
    """Remove the values in a run's folder, with `part` those in the part's files alone. Raises OSError."""
    for path in (run / FOLDER).glob("*.seg"):
        if part is None or _is_of(path, part):
            path.unlink(missing_ok=True)


def copy(source: Path, target: Path) -> None:
    """Copy the values of another run's folder that this folder lacks, with their heads. Raises OSError."""
    there = {(head, (record or b"")[:ID]) for _, _, head, record in records(target)}
    with ExitStack() as files:
        writers: dict[bytes, journal.Writer] = {}
        for _, _, head, record in records(source):
            if head and record and (head, record[:ID]) not in there:
                if head not in writers:
                    writers[head] = files.enter_context(journal.Writer(target / FOLDER))
                    writers[head].append(head)
                if record != head:
                    writers[head].append(record)


def _begin(file: journal.Writer, head: bytes) -> None:
    """Write a head. A file without values is deleted, unless its head says which functions a part of a sweep has."""
    if functions_of(head):
        file.append(head)
        file.sync()
    else:
        file.begin(head)


def _is_of(path: Path, part: Part) -> bool:
    return path.name.endswith(f"{part.label}.seg")
