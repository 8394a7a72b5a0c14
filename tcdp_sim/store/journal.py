"""The truth of a run: append-only files of checksummed records, one new file per writing process.

A chunk is done when a record of it with a valid digest exists, and nothing else counts. Torn tails and flipped
bits are skipped (and counted); what they held is simulated again. Nothing is ever overwritten.
"""

import hashlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from tcdp_sim.store import durable

MAGIC = b"tCDPrec1"
_DIGEST = 16
_HEAD = len(MAGIC) + 8
SYNC_SECONDS = 0.5


class Writer:
    """Appends records to a segment of its own; a context manager. Raises OSError, leaving no half record."""

    def __init__(self, folder: Path):
        durable.make_folder(folder)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        name = f"{stamp}-{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}.seg"
        self.path = folder / name
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._size = self._bare = 0
        self._named = False
        self._synced = time.monotonic()

    def begin(self, payload: bytes) -> None:
        """Append a record, at once onto the disk, that is kept only if others follow it."""
        self.append(payload)
        self._bare = self._size
        self.sync()

    def append(self, payload: bytes) -> int:
        """Append a record; returns the offset of its payload in the segment."""
        body = MAGIC + len(payload).to_bytes(8, "little") + payload
        record = body + hashlib.blake2b(body, digest_size=_DIGEST).digest()
        try:
            written = 0
            while written < len(record):  # a raw write may be short without an error
                written += os.write(self._file, record[written:])
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        offset = self._size + _HEAD
        self._size += len(record)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return offset

    def sync(self) -> None:
        """Onto the disk; OSError if the folder has gone: what is written to it after that nobody would find."""
        os.fsync(self._file)
        if not self._named:
            durable.sync_folder(self.path.parent)
            self._named = True
        self.path.stat()
        self._synced = time.monotonic()

    def close(self) -> None:
        try:
            self.sync()
        finally:
            os.close(self._file)
        if self._size == self._bare:
            self.path.unlink()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def read(folder: Path) -> Iterator[tuple[Path, int, bytes | None]]:
    """All records of all segments in name order: (segment, offset of the payload, payload).

    The payload is None for each damaged stretch.
    """
    for path in sorted(folder.glob("*.seg")):
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # its writer closed it without a record
            continue
        at = 0
        while at < len(data):
            payload, end = _record(data, at)
            if payload is None:
                at = data.find(MAGIC, at + 1)
                at = len(data) if at < 0 else at
                yield path, at, None
            else:
                yield path, at + _HEAD, payload
                at = end


def segments(folder: Path) -> dict[str, int]:
    """Name -> bytes of every segment: as long as these stay the same, so does what `read` finds."""
    sizes = {}
    for path in folder.glob("*.seg"):
        try:
            sizes[path.name] = path.stat().st_size
        except FileNotFoundError:  # its writer closed it without a record
            continue
    return sizes


def sync(folder: Path) -> None:
    """All segments onto the disk, also those of writers that were killed before they had done it. Raises OSError."""
    for path in sorted(folder.glob("*.seg")):
        durable.sync_file(path)
    if folder.is_dir():
        durable.sync_folder(folder)


def again(path: Path, offset: int, size: int) -> bytes | None:
    """The payload that `read` found at this offset, read once more; None if the file has been damaged since."""
    with path.open("rb") as file:
        file.seek(offset - _HEAD)
        return _record(file.read(_HEAD + size + _DIGEST), 0)[0]


def _record(data: bytes, at: int):
    if not data.startswith(MAGIC, at):
        return None, at
    stop = at + _HEAD + int.from_bytes(data[at + len(MAGIC) : at + _HEAD], "little")
    digest = data[stop : stop + _DIGEST]
    if len(digest) < _DIGEST or hashlib.blake2b(data[at:stop], digest_size=_DIGEST).digest() != digest:
        return None, at
    return data[at + _HEAD : stop], stop + _DIGEST
