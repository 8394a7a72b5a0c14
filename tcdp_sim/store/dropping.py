"""Chunks of one worker, dropped from the journal of a run.

A journal file names the worker (HOST:PID) before its chunks. A damaged stretch may hide such a record, so the worker of
the chunks after it is unknown until the next one. Chunks that `merge` has copied are of unknown workers too.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tcdp_sim.store import durable, journal
from tcdp_sim.store.journal import CHUNK, HEAD, PROBLEM, WORKER

UNKNOWN = "unknown"
Is = Callable[[str], bool]  # the name of a worker -> True if it is meant


def is_of(asked: str) -> Is:
    """Return a function that is true of the workers that HOST, HOST:PID or `unknown` means."""
    return lambda worker: asked in (worker, worker.rpartition(":")[0])


def chunks(folder: Path) -> Counter[str]:
    """Return the number of chunks of each worker in the journal of the run in `folder`."""
    found: Counter[str] = Counter()
    for path in sorted((folder / "journal").glob("*.seg")):
        found.update(worker for worker, payload in _records(path) if payload[:1] == CHUNK)
    return found


def drop(folder: Path, is_dropped: Is) -> int:
    """Write each journal file anew without the chunks and problems of these workers. Returns the number of chunks.

    Call it only under the lock of the run. Each file is replaced atomically. Raises OSError.
    """
    count = 0
    for path in sorted((folder / "journal").glob("*.seg")):
        here = sum(payload[:1] == CHUNK for worker, payload in _records(path) if is_dropped(worker))
        if here or any(payload[:1] == PROBLEM for worker, payload in _records(path) if is_dropped(worker)):
            _replace(path, durable.unfinished(folder / "writing"), is_dropped)
        count += here
    return count


def _records(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the worker and the payload of each record of a file."""
    worker = UNKNOWN
    for _, _, payload in journal.read(path.parent, path.name.__eq__):
        if payload is None:
            worker = UNKNOWN
            continue
        if payload[:1] == WORKER:
            worker = payload[1:].decode(errors="replace") or UNKNOWN
        yield worker, payload


def _replace(path: Path, fresh: Path, is_dropped: Is) -> None:
    kept = (payload for worker, payload in _records(path) if payload[:1] == HEAD or not is_dropped(worker))
    try:
        with fresh.open("xb") as file:
            file.writelines(map(journal.framed, kept))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    durable.sync_folder(path.parent)
