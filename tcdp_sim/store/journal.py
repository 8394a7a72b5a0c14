"""The journal of a run: append-only files of checksummed records, one new file for each writing process.

A chunk is done exactly if the journal has a record of it with a valid digest. Torn tails and flipped bits are skipped
and counted, and their chunks are simulated again. Nothing is ever overwritten.
"""

import errno
import hashlib
import os
import socket
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from tcdp_sim.core import system
from tcdp_sim.store import durable

MAGIC = b"tCDPrec1"
_DIGEST = 16
_HEAD = len(MAGIC) + 8
HEAD, CHUNK, PROBLEM, WORKER = b"H", b"C", b"P", b"W"  # the first byte of a record of a run, by its kind
SYNC_SECONDS = 0.5
_WINDOW = 1 << 20  # bytes that are read at once
Reads = Callable[[str], bool]  # the name of a file -> True if it is to be read
_MOST_FILES, _SHARE = 2048, 4  # files that a reader keeps open, and the part of all open files that they may be
_USUAL = 4096  # bytes that a second read of a record fetches first


class Writer:
    """A context manager that appends records to its own file. Raises OSError and then leaves no half record.

    `label` is the end of the file's name. The rest of the name is new for every writer on any host.
    """

    def __init__(self, folder: Path, label: str = ""):
        durable.make_folder(folder)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        name = f"{stamp}-{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}{label}.seg"
        self.path = folder / name
        self._file = os.open(self.path, system.BYTES | os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._size = self._bare = 0
        self._named = False
        self._synced = time.monotonic()

    def begin(self, payload: bytes) -> None:
        """Append a record and sync it. The file is deleted on closing if no other record follows."""
        self.append(payload)
        self._bare = self._size
        self.sync()

    def append(self, payload: bytes) -> int:
        """Append a record and return the offset of its payload in the file."""
        return self.extend([payload])[0]

    def extend(self, payloads: Sequence[bytes]) -> list[int]:
        """Append records with one write, and return the offsets of their payloads.

        If the disk is full, the records that fit stay in the file, and OSError is raised.
        """
        records = [framed(payload) for payload in payloads]
        ends = list(accumulate(map(len, records), initial=self._size))
        data, written = memoryview(b"".join(records)), 0
        try:
            while written < len(data):  # a raw write may be short without an error
                written += os.write(self._file, data[written:])
        except OSError:
            self._size = max(end for end in ends if end <= self._size + written)
            os.ftruncate(self._file, self._size)
            raise
        self._size = ends[-1]
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return [end + _HEAD for end in ends[:-1]]

    def sync(self) -> None:
        """Sync the file to the disk. Raises OSError if the folder is gone, since nobody would find later records."""
        os.fsync(self._file)
        if not self._named:
            durable.sync_folder(self.path.parent)
            self._named = True
        if not os.path.samestat(os.fstat(self._file), self.path.stat()):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))  # a copy has its name
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close the file, and delete it if it has no record. Raises OSError."""
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


def framed(payload: bytes) -> bytes:
    """Return a record: its head, the payload, and the digest of both."""
    body = MAGIC + len(payload).to_bytes(8, "little") + payload
    return body + hashlib.blake2b(body, digest_size=_DIGEST).digest()


def read(folder: Path, reads: Reads = lambda name: True) -> Iterator[tuple[Path, int, bytes | None]]:
    """Yield the file, the payload's offset and the payload of all records, in the order of the files' names.

    The payload is None for each damaged stretch. Memory holds one record. Files for whose names `reads` is false are
    not opened.
    """
    for path in sorted(path for path in folder.glob("*.seg") if reads(path.name)):
        try:
            file = path.open("rb", buffering=_WINDOW)
        except FileNotFoundError:  # its writer closed it without a record
            continue
        with file:
            for offset, payload in _records(file, os.fstat(file.fileno()).st_size):
                yield path, offset, payload


def _records(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield the payload's offset and the payload of all records of one file."""
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
    """Return the position where the next record may begin, or the end of the file."""
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
    """Return the size of every journal file, in bytes. `read` finds the same while these sizes stay the same."""
    sizes = {}
    for path in folder.glob("*.seg"):
        try:
            sizes[path.name] = path.stat().st_size
        except FileNotFoundError:  # its writer closed it without a record
            continue
    return sizes


def sync(folder: Path) -> None:
    """Sync all journal files, even those whose writers were killed before they had synced. Raises OSError."""
    for path in sorted(folder.glob("*.seg")):
        system.sync_file(path)
    if folder.is_dir():
        durable.sync_folder(folder)


class Reader:
    """A reader of records that `read` has found. It keeps files open, since the records of a cell may lie in many."""

    def __init__(self) -> None:
        self._files: dict[Path, int] = {}
        weakref.finalize(self, _close, self._files)

    def again(self, path: Path, offset: int) -> bytes | None:
        """Return the payload at this offset of a file, or None if it has been damaged since. Raises OSError."""
        file = self._opened(path)
        start = system.read_at(file, _USUAL, offset - _HEAD)
        if not start.startswith(MAGIC):
            return None
        length = int.from_bytes(start[len(MAGIC) : _HEAD], "little")
        end = _HEAD + length + _DIGEST
        if end > len(start):
            if offset - _HEAD + end > os.fstat(file).st_size:
                return None
            start = system.read_at(file, end, offset - _HEAD)
        return _payload(start[:_HEAD], start[_HEAD:end])

    def several(self, places: Sequence[tuple[Path, int]]) -> list[bytes | None]:
        """Return `again` of each place. Records that lie close together are read at once. Raises OSError."""
        found: list[bytes | None] = [None] * len(places)
        names = [str(path) for path, _ in places]  # paths would be compared part by part
        order = sorted(range(len(places)), key=lambda index: (names[index], places[index][1]))
        window, first, last = b"", 0, ("", 0)  # bytes that are read, their place in the file, and their end
        for rank, index in enumerate(order):
            path, offset = places[index]
            start = offset - _HEAD
            if last[0] != names[index] or start + _HEAD > last[1]:
                coming = ((names[i], places[i][1]) for i in (order[j] for j in range(rank, len(order))))
                window, first = self._window(path, start, coming), start
                last = names[index], first + len(window)
            end = start - first + _HEAD + int.from_bytes(window[start - first + len(MAGIC) : offset - first], "little")
            if end + _DIGEST > len(window):
                found[index] = self.again(path, offset)
            elif window.startswith(MAGIC, start - first):
                found[index] = _payload(window[start - first : offset - first], window[offset - first : end + _DIGEST])
        return found

    def _window(self, path: Path, start: int, coming: Iterable[tuple[str, int]]) -> bytes:
        """Return the bytes of a file from `start`, with as many of the coming records as lie close to it."""
        size, name = _USUAL, str(path)
        for count, (other, offset) in enumerate(coming):
            if other != name or offset - start > min(_WINDOW, _USUAL * (count + 1)):
                break
            size = offset - start + _USUAL
        return system.read_at(self._opened(path), size, start)

    def _opened(self, path: Path) -> int:
        """Return the open file; the one opened first is closed if there are too many."""
        if path not in self._files:
            if len(self._files) >= _most_files():
                os.close(self._files.pop(next(iter(self._files))))
            self._files[path] = os.open(path, system.BYTES | os.O_RDONLY)
        return self._files[path]


def _most_files() -> int:
    """Return the number of files that a reader may keep open, a part of the process's limit."""
    return int(max(1, min(system.open_files() // _SHARE, _MOST_FILES)))


def _close(files: dict[Path, int]) -> None:
    for file in files.values():
        os.close(file)


def allow_many_files() -> None:
    """Let this process open as many files as its hard limit admits, up to the number that a thousand parts need."""
    system.allow_open_files(_SHARE * _MOST_FILES)


def _record(file: BinaryIO, at: int, size: int) -> bytes | None:
    """Return the payload of the record that begins at this position, or None if there is no intact one."""
    file.seek(at)
    head = file.read(_HEAD)
    length = int.from_bytes(head[len(MAGIC) :], "little")
    if not head.startswith(MAGIC) or at + _HEAD + length + _DIGEST > size:
        return None
    return _payload(head, file.read(length + _DIGEST))


def _payload(head: bytes, body: bytes) -> bytes | None:
    """Return the payload of a record if its digest is right, else None."""
    digest = hashlib.blake2b(head, digest_size=_DIGEST)
    digest.update(body[:-_DIGEST])
    return body[:-_DIGEST] if digest.digest() == body[-_DIGEST:] else None
