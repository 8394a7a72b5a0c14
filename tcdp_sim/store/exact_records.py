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
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.streams import fingerprint
from tcdp_sim.store import certificate, journal
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.store.index import Index

FOLDER = "exact"
_ID = 32  # bytes of a cell's id


def code_digest(values: ExactValues) -> str:
    """Of all code that the functions rest on: their source, the package, libraries, plug-ins with all their files."""
    libraries = {name: version(name) for name in ("numpy", "scipy")}
    packages = {name.partition(".")[0] for name in values.modules} | registry.plug_in_packages()
    foreign = {name: _sources(name) for name in packages - {"tcdp_sim"}}
    return _digest_of([values.code, certificate.code(), libraries, registry.distributions(), foreign])


def digest(values: ExactValues) -> str:
    """Of the code, and of this machine's elementary functions."""
    return _digest_of([code_digest(values), fingerprint()])


def _digest_of(parts: list[Any]) -> str:
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def _sources(package: str) -> str:
    """A digest of a package's .py and .yaml files: a helper may be edited while the version stays."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None  # a module without a file that can be found: its own source is in the digest of the functions
    places = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    files = {path.relative_to(place): path for place in places for path in place.rglob("*")}
    if spec and spec.has_location and not places:
        files = {Path(package): Path(str(spec.origin))}
    found = hashlib.blake2b(digest_size=16)
    for name, path in sorted(files.items()):
        if path.suffix in (".py", ".yaml") and path.is_file():
            data = path.read_bytes()
            found.update(f"{name.as_posix()}\0{len(data)}\0".encode() + data)
    return found.hexdigest()


class ExactRecords:
    """The exact values that a run's folder holds, of one set of functions. Raises OSError.

    damaged: segment -> how many stretches of it cannot be read; what they held is not there.
    """

    def __init__(self, run: Path, values: ExactValues) -> None:
        self._folder = run / FOLDER / digest(values)
        self._width = values.width
        self._index = Index()
        self._reader = journal.Reader()
        self._lent: dict[str, bytes] = {}
        self.damaged: dict[str, int] = {}
        for segment, offset, payload in journal.read(self._folder):
            if payload is not None and len(payload) == _ID + 8 * self._width:
                self._index.enter(payload[:_ID].hex(), 0, segment, offset)
            else:
                self.damaged[segment.name] = self.damaged.get(segment.name, 0) + 1

    def has(self, cell: str) -> bool:
        """Whether those of a cell are there."""
        return (cell, 0) in self._index or cell in self._lent

    def lend(self, cell: str, values: bytes) -> None:
        """Those of a cell while this lives: from a machine whose elementary functions differ, so not to be kept."""
        self._lent[cell] = values

    def values(self, cell: str) -> Floats:
        """Those of a cell, as `ExactValues.values` gives them. KeyError for none, UserError for damaged ones."""
        if cell in self._lent:
            return np.frombuffer(self._lent[cell], "<f8")
        segment, offset = self._index.where(cell, 0)
        payload = self._reader.again(segment, offset)
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
