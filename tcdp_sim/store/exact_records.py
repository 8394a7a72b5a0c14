"""Stored exact values, kept with the journal so that a resumed run does not compute them again.

    <run>/exact/<digest>/*.seg    records as in the journal, one for each cell: its id and its values

The digest covers everything the values depend on besides the cell: code, libraries, elementary functions. Values of
other code are useless, and are removed once they have been replaced.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.store import journal, source
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.store.index import Index
from tcdp_sim.store.memories import EXACT
from tcdp_sim.study.parts import Part

FOLDER = EXACT.file
PARTS = "parts"  # the folder of `part_values` in it
_ID = 32  # bytes in a cell's id


def digest(values: ExactValues, uses: tuple[str, ...] = ()) -> str:
    """Return the digest of all code that the functions depend on, and of this machine's elementary functions.

    The code is their source with all files of its packages, this package, the libraries, and the plug-ins in `uses`.
    """
    packages = {name.partition(".")[0] for name in values.modules} - {"tcdp_sim"}
    foreign = {name: source.of_package(name) for name in packages}
    return EXACT.key(functions=values.code, packages=foreign, plug_ins=dict(source.plug_ins(uses)))


class ExactRecords:
    """The stored exact values of one set of functions in a run's folder. Raises OSError.

    `damaged` counts the unreadable stretches of each file. Their values are missing. For a `part` of a run, the values
    of other parts count as there, and their files are not read. `uses` comes from the study.
    """

    def __init__(self, run: Path, values: ExactValues, uses: tuple[str, ...] = (), part: Part | None = None) -> None:
        self._part = part
        self._folder = run / FOLDER / digest(values, uses)
        self._width = values.width
        self._index = Index()
        self._reader = journal.Reader()
        self._lent: dict[str, bytes] = {}
        self.damaged: dict[str, int] = {}
        for segment, offset, payload in journal.read(self._folder, part.may_be_in if part else lambda name: True):
            if payload is not None and len(payload) == _ID + 8 * self._width:
                self._index.enter(payload[:_ID].hex(), 0, segment, offset)
            else:
                self.damaged[segment.name] = self.damaged.get(segment.name, 0) + 1

    def has(self, cell: str) -> bool:
        """Return True if the exact values of a cell are there, or belong to another part."""
        if self._part and not self._part.has(cell, 0):
            return True
        return (cell, 0) in self._index or cell in self._lent

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
        segment, offset = self._index.where(cell, 0)
        payload = self._reader.again(segment, offset)
        if payload is None:
            raise UserError(f"{segment} was damaged while it was open; the same command computes its values again")
        return np.frombuffer(payload, "<f8", offset=_ID)

    @contextmanager
    def writer(self) -> "Iterator[ExactWriter]":
        """Yield a writer that appends values to a file of its own."""
        with journal.Writer(self._folder, self._part.label if self._part else "") as writer:
            yield ExactWriter(writer, self._index)

    def forget_others(self) -> None:
        """Remove the values of other functions, since nothing will ask for them again.

        A part leaves them, because a part on another kind of processor may be writing them.
        """
        if self._part:
            return
        for other in self._folder.parent.glob("*"):
            if other != self._folder and other.name != PARTS:
                shutil.rmtree(other, ignore_errors=True)


class ExactWriter:
    """A writer that appends the exact values of cells."""

    def __init__(self, writer: journal.Writer, index: Index) -> None:
        self._writer, self._index = writer, index

    def append(self, cell: str, values: bytes) -> None:
        """Append the values of one cell, given as bytes of float64."""
        offset = self._writer.append(bytes.fromhex(cell) + values)
        self._index.enter(cell, 0, self._writer.path, offset)
