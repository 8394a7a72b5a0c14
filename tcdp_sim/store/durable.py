"""What a power failure must not take: bytes reach the disk before their name does, names before what relies on them.

A file system may lose or tear what was not synced, and forget names, each for itself: see docs/durability.md.
"""

import errno
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

SYNCS_AT_ONCE = 8  # a disk writes many small files in about the time of one
LISTED_AT_ONCE = 256  # files that are given to those who do it
_CANNOT = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}  # of file systems on which folders are not synced


def unfinished(path: Path) -> Path:
    """A name beside it, for what is to take its place: no other process, on whatever host, has the same."""
    host = re.sub(r"[^A-Za-z0-9.]+", "", platform.node())[:32]
    return path.with_name(f".{path.stem}-{host}-{os.getpid()}-{os.urandom(4).hex()}")


def write(path: Path, text: str | Iterable[str]) -> None:
    """Write a file at once or not at all, also when the power fails. Raises OSError, leaving nothing behind.

    text: all of it, or its pieces.
    """
    fresh = unfinished(path)
    try:
        with fresh.open("x", encoding="utf-8") as file:
            file.writelines([text] if isinstance(text, str) else text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(path.parent)


def link(path: Path, target: Path) -> None:
    """Let the symlink `path` lead to a folder, relative to its own, at once. Raises OSError."""
    fresh = unfinished(path)
    fresh.symlink_to(os.path.relpath(target, path.parent), target_is_directory=True)
    try:
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Its name is synced also if it was there: who made it may have been killed."""
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in new or [path]:
        sync_folder(folder.parent)


def sync_folder(path: Path) -> None:
    """The names in a folder, onto the disk; OSError if it is not there, nothing where a file system cannot do it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # it may be entered and not listed
        return
    try:
        os.fsync(file)
    except OSError as problem:
        if problem.errno not in _CANNOT:
            raise
    finally:
        os.close(file)


def sync_file(path: Path) -> None:
    """The bytes of a file, onto the disk, whoever wrote them. Raises OSError."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_tree(path: Path) -> None:
    """All files and folders below this one, and itself, onto the disk. Raises OSError."""
    files = _files(path)
    with ThreadPoolExecutor(SYNCS_AT_ONCE) as pool:
        while some := list(islice(files, LISTED_AT_ONCE)):  # a pool remembers what it has been given
            _each(pool, sync_file, some)
        _each(pool, sync_folder, [Path(folder) for folder, _, _ in os.walk(path)])


def _each(pool: ThreadPoolExecutor, sync: Callable[[Path], None], paths: list[Path]) -> None:
    try:
        list(pool.map(sync, paths))
    except RuntimeError:  # no memory for another thread: one after the other, then, and some twice, which does no harm
        for path in paths:
            sync(path)


def _files(path: Path) -> Iterator[Path]:
    return (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
