"""Exact values that have been computed, kept beside the journal: a run that goes on does not compute them again.

    <run>/exact/<digest>/*.seg    records as in the journal, one a cell: its id and its values

The digest is of all that the values depend on besides the cell: code, libraries, elementary functions. What another
code computed is of no use, and goes once it has been replaced.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np

from tcdp_sim import registry
from tcdp_sim.arrays import Floats
from tcdp_sim.errors import UserError
from tcdp_sim.store import certificate, journal
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.store.index import Index
from tcdp_sim.streams import fingerprint

FOLDER = "exact"
_ID = 32  # bytes of a cell's id


def digest(values: ExactValues) -> str:
    """Of the functions, the package, the libraries and the elementary functions that they rest on."""
    libraries = {name: version(name) for name in ("numpy", "scipy")}
    plug_ins = registry.distributions()
    parts = [values.code, certificate.code(), libraries, plug_ins, fingerprint()]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


class ExactRecords:
    """The exact values that a run's folder holds, of one set of functions. Raises OSError.

    damaged: segment -> how many stretches of it cannot be read; what they held is not there.
    """

    def __init__(self, run: Path, values: ExactValues) -> None:
        self._folder = run / FOLDER / digest(values)
        self._width = values.width
        self._index = Index()
        self.damaged: dict[str, int] = {}
        for segment, offset, payload in journal.read(self._folder):
            if payload is not None and len(payload) == _ID + 8 * self._width:
                self._index.enter(payload[:_ID].hex(), 0, segment, offset)
            else:
                self.damaged[segment.name] = self.damaged.get(segment.name, 0) + 1

    def has(self, cell: str) -> bool:
        """Whether those of a cell are there."""
        return (cell, 0) in self._index

    def values(self, cell: str) -> Floats:
        """Those of a cell, as `ExactValues.values` gives them. KeyError for none, UserError for damaged ones."""
        segment, offset = self._index.where(cell, 0)
        payload = journal.again(segment, offset)
        if payload is None:
            raise UserError(f"{segment} was damaged while it was open; the same command computes again what it held")
        return np.frombuffer(payload, "<f8", offset=_ID)

    @contextmanager
    def writer(self) -> "Iterator[ExactWriter]":
        """To append to them, in a file of its own."""
        with journal.Writer(self._folder) as writer:
            yield ExactWriter(writer, self._index)

    def forget_others(self) -> None:
        """Remove what other functions computed: nothing will ask for it again."""
        for other in self._folder.parent.glob("*"):
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)


class ExactWriter:
    """Appends the values of cells."""

    def __init__(self, writer: journal.Writer, index: Index) -> None:
        self._writer, self._index = writer, index

    def append(self, cell: str, values: bytes) -> None:
        """Those of one cell, as bytes of float64."""
        offset = self._writer.append(bytes.fromhex(cell) + values)
        self._index.enter(cell, 0, self._writer.path, offset)
