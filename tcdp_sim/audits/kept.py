"""The stored state of an audit: the counts of finished chunks in a journal of checksummed records, and the report."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.audits.sampling import Counts
from tcdp_sim.core import log
from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.store import durable, journal, locks

COUNTS = b"A"
REPORT = "audit.json"


class Kept:
    """The stored chunks by key, chunk and trials; the key digests mechanism, source, streams and counted columns.

    `damaged` counts, for each journal file, the records that are torn or hold no counts of a chunk.
    """

    def __init__(self, folder: Path, writer: journal.Writer) -> None:
        self._done: dict[tuple[str, int, int], Counts] = {}
        self._folder, self._writer = folder, writer
        self.damaged: Counter[str] = Counter()
        for path, _, payload in journal.read(folder / "journal"):
            if payload is None:
                self.damaged[path.name] += 1
            elif payload[:1] == COUNTS:
                self._enter(path, payload[1:])
        self.before = len(self._done)

    def _enter(self, path: Path, text: bytes) -> None:
        """Enter a record, or count it as damaged."""
        try:
            key, counts = _decoded(text)
        except _FAULTS:
            self.damaged[path.name] += 1
        else:
            self._done[key] = counts

    def get(self, key: str, chunk: int, trials: int) -> Counts | None:
        """Return the counts of a stored chunk, or None."""
        return self._done.get((key, chunk, trials))

    def discard(self) -> None:
        """Forget all chunks, and delete all journal files but this process's own. Raises OSError."""
        self._done.clear()
        for path in (self._folder / "journal").glob("*.seg"):
            if path != self._writer.path:
                path.unlink()
        durable.sync_folder(self._folder / "journal")

    def add(self, key: str, chunk: int, counts: Counts) -> None:
        """Store the counts of a finished chunk. Raises OSError."""
        self._writer.append(COUNTS + _encoded(key, chunk, counts))
        self._done[(key, chunk, counts.trials)] = counts


class Nothing:
    """A store that keeps nothing."""

    before = 0
    damaged: Counter[str] = Counter()  # noqa: RUF012

    def get(self, key: str, chunk: int, trials: int) -> Counts | None:
        """Return None, since no chunk is stored."""
        return None

    def add(self, key: str, chunk: int, counts: Counts) -> None:
        """Ignore a finished chunk."""
        pass

    def discard(self) -> None:
        """Do nothing, since no chunk is stored."""
        pass


@contextmanager
def opened(folder: Path | None) -> Iterator[Kept | Nothing]:
    """Yield the stored state of a folder, or an empty one without a folder. Raises UserError.

    A new folder is made.
    """
    if folder is None:
        yield Nothing()
        return
    try:
        durable.make_folder(folder)
        if (folder / "run.json").exists():
            raise UserError(f"{folder} belongs to a study; choose another name or results_dir")
        with locks.held(folder), log.kept(folder), journal.Writer(folder / "journal") as writer:
            yield Kept(folder, writer)
    except OSError as problem:
        message = f"writing to {folder} failed ({reason(problem)}); finished chunks are kept"
        raise UserError(f"{message}: repair the cause and make the same call again to continue") from None


def write_report(folder: Path, about: dict[str, Any]) -> None:
    """Write the report as JSON, atomically. Raises UserError."""
    try:
        durable.make_folder(folder)
        durable.write(folder / REPORT, json.dumps(about, indent=1, sort_keys=True, allow_nan=False) + "\n")
    except OSError as problem:
        raise UserError(f"{folder / REPORT} cannot be written ({reason(problem)})") from None


def _encoded(key: str, chunk: int, counts: Counts) -> bytes:
    """Return the record of a chunk as bytes."""
    sides = {name: [[column.tolist() for column in side] for side in getattr(counts, name)] for name in _SIDES}
    return json.dumps({"key": key, "chunk": chunk, "trials": counts.trials, **sides}).encode()


_SIDES = {"cells": np.int64, "low": np.float64, "high": np.float64}


_FAULTS = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
_KEY = re.compile("[0-9a-f]{64}")


def _decoded(text: bytes) -> tuple[tuple[str, int, int], Counts]:
    """Return the key and the counts of a record. Raises one of _FAULTS unless they can be the outputs of a chunk."""
    record = json.loads(text)
    key, chunk, trials = record["key"], record["chunk"], record["trials"]
    sides: dict[str, Any] = {
        name: tuple([_column(column, dtype) for column in side] for side in record[name])
        for name, dtype in _SIDES.items()
    }
    counts = Counts(trials, **sides)
    _need(isinstance(key, str) and _KEY.fullmatch(key), "its key is no digest")
    _need(type(chunk) is int and chunk >= 0 and type(trials) is int and trials > 0, "it is of no chunk")
    _check(counts)
    return (key, chunk, trials), counts


def _column(values: Any, dtype: Any) -> Any:
    """Return a list of numbers as an array. Raises ValueError."""
    whole = dtype is not np.int64 or all(type(value) is int for value in values)
    _need(isinstance(values, list) and whole, "a column is no list of numbers")
    return np.array(values, dtype)


def _check(counts: Counts) -> None:
    """Raise ValueError unless every column's cells hold all trials and the extremes are in order."""
    columns = {len(side) for sides in (counts.cells, counts.low, counts.high) for side in sides}
    _need(len(columns) == 1 and all(len(getattr(counts, name)) == 2 for name in _SIDES), "its sides do not fit")
    for columns_of in counts.cells:
        for cells in columns_of:
            _need(cells.ndim == 1 and (cells >= 0).all(), "a count is negative")
            _need(sum(cells.tolist()) == counts.trials, "its cells do not hold its trials")
    for side in (*counts.low, *counts.high):
        for ends in side:
            in_order = ends.ndim == 1 and not np.isnan(ends).any() and (ends[1:] >= ends[:-1]).all()
            _need(in_order and len(ends) <= counts.trials, "its ends cannot be")


def _need(holds: Any, what: str) -> None:
    """Raise ValueError with this text unless the condition holds."""
    if not holds:
        raise ValueError(what)
