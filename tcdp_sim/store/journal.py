"""The truth of a run: append-only files of checksummed records, one new file per writing process.

A chunk is done when a record of it with a valid digest exists, and nothing else counts. Torn tails and flipped
bits are skipped (and counted); what they held is simulated again. Nothing is ever overwritten.
"""

import errno
import hashlib
import os
import socket
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from tcdp_sim.store import durable

MAGIC = b"tCDPrec1"
_DIGEST = 16
_HEAD = len(MAGIC) + 8
SYNC_SECONDS = 0.5
_WINDOW = 1 << 20  # bytes that are read at once
_USUAL = 4096  # bytes of a record that is read again, if it has no more


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
        if not os.path.samestat(os.fstat(self._file), self.path.stat()):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))  # a copy is in its place
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

    The payload is None for each damaged stretch. Memory holds one record.
    """
    for path in sorted(folder.glob("*.seg")):
        try:
            file = path.open("rb", buffering=_WINDOW)
        except FileNotFoundError:  # its writer closed it without a record
            continue
        with file:
            for offset, payload in _records(file, os.fstat(file.fileno()).st_size):
                yield path, offset, payload


def _records(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes | None]]:
    at = 0
    while at < size:
        payload = _record(file, at, size)
        if payload is None:
            at = _next_magic(file, at + 1, size)
            yield at, None
        else:
            yield at + _HEAD, payload
            at += _HEAD + len(payload) + _DIGEST


def _next_magic(file: BinaryIO, start: int, size: int) -> int:
    """Where the next record may begin; the end if none does."""
    while start < size:
        file.seek(start)
        window = file.read(min(_WINDOW, size - start))
        if (found := window.find(MAGIC)) >= 0:
            return start + found
        if start + len(window) >= size or not window:
            return size
        start += len(window) - len(MAGIC) + 1
    return size


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


class Reader:
    """Reads again what `read` found. The segment that was read last stays open: the next record is mostly in it."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._close: Callable[[], object] = lambda: None

    def again(self, path: Path, offset: int) -> bytes | None:
        """The payload at this offset of a segment; None if it has been damaged since. Raises OSError."""
        if path != self._path:
            self._close()
            self._path = None
            self._file = os.open(path, os.O_RDONLY)
            self._close = weakref.finalize(self, os.close, self._file)
            self._path = path
        start = os.pread(self._file, _USUAL, offset - _HEAD)
        if not start.startswith(MAGIC):
            return None
        length = int.from_bytes(start[len(MAGIC) : _HEAD], "little")
        end = _HEAD + length + _DIGEST
        if end > len(start):
            if offset - _HEAD + end > os.fstat(self._file).st_size:
                return None
            start = os.pread(self._file, end, offset - _HEAD)
        return _payload(start[:_HEAD], start[_HEAD:end])


def _record(file: BinaryIO, at: int, size: int) -> bytes | None:
    """The payload of the record that begins there; None if none does, or it is damaged."""
    file.seek(at)
    head = file.read(_HEAD)
    length = int.from_bytes(head[len(MAGIC) :], "little")
    if not head.startswith(MAGIC) or at + _HEAD + length + _DIGEST > size:
        return None
    return _payload(head, file.read(length + _DIGEST))


def _payload(head: bytes, body: bytes) -> bytes | None:
    """The payload of a record, if the digest that follows it is right."""
    digest = hashlib.blake2b(head, digest_size=_DIGEST)
    digest.update(body[:-_DIGEST])
    return body[:-_DIGEST] if digest.digest() == body[-_DIGEST:] else None
