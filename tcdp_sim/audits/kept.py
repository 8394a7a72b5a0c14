"""What an audit keeps: counts of finished chunks in a journal of checksummed records, and its report."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim import log
from tcdp_sim.audits.sampling import Counts
from tcdp_sim.errors import UserError, reason
from tcdp_sim.store import durable, journal, locks

COUNTS = b"A"
REPORT = "audit.json"


class Kept:
    """Finished chunks by (what was counted, chunk, trials). Another mechanism, source or event has other keys."""

    def __init__(self, folder: Path, writer: journal.Writer) -> None:
        self._done: dict[tuple[str, int, int], Counts] = {}
        self._writer = writer
        for _, _, payload in journal.read(folder / "journal"):
            if payload is not None and payload[:1] == COUNTS:
                key, counts = _decoded(payload[1:])
                self._done[key] = counts

    def get(self, key: str, chunk: int, trials: int) -> Counts | None:
        """The counts of a chunk that is done."""
        return self._done.get((key, chunk, trials))

    def add(self, key: str, chunk: int, counts: Counts) -> None:
        """A chunk that is done. Raises OSError."""
        self._writer.append(COUNTS + _encoded(key, chunk, counts))
        self._done[(key, chunk, counts.trials)] = counts


class Nothing:
    """Where nothing is kept."""

    def get(self, key: str, chunk: int, trials: int) -> Counts | None:
        return None

    def add(self, key: str, chunk: int, counts: Counts) -> None:
        pass


@contextmanager
def opened(folder: Path | None) -> Iterator[Kept | Nothing]:
    """What is kept in a folder, made if it is new; nothing without one. Raises UserError."""
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
        message = f"writing to {folder} failed ({reason(problem)}); what was finished is kept"
        raise UserError(f"{message}: once that is put right, the same call goes on from there") from None


def write_report(folder: Path, about: dict[str, Any]) -> None:
    """Write what was found, as JSON, at once or not at all. Raises UserError."""
    try:
        durable.make_folder(folder)
        durable.write(folder / REPORT, json.dumps(about, indent=1, sort_keys=True, allow_nan=False) + "\n")
    except OSError as problem:
        raise UserError(f"{folder / REPORT} cannot be written ({reason(problem)})") from None


def _encoded(key: str, chunk: int, counts: Counts) -> bytes:
    sides = {name: [[column.tolist() for column in side] for side in getattr(counts, name)] for name in _SIDES}
    return json.dumps({"key": key, "chunk": chunk, "trials": counts.trials, **sides}).encode()


_SIDES = {"cells": np.int64, "low": np.float64, "high": np.float64}


def _decoded(text: bytes) -> tuple[tuple[str, int, int], Counts]:
    record = json.loads(text)
    sides: dict[str, Any] = {
        name: tuple([np.array(column, dtype) for column in side] for side in record[name])
        for name, dtype in _SIDES.items()
    }
    return (record["key"], record["chunk"], record["trials"]), Counts(record["trials"], **sides)
