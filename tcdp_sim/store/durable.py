"""File operations that survive a power failure: bytes reach the disk before their name, and names before their users.

A file system may lose or tear bytes that were not synced, and it may forget names independently of the bytes. See
docs/explained/durability.md.
"""

import errno
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from tcdp_sim.core import system

SYNCS_AT_ONCE = 8  # a disk writes many small files in about the time of one
LISTED_AT_ONCE = 256  # files that are submitted to the threads at a time
_CANNOT = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}  # errors of file systems that cannot sync folders
# errors where there are no links, or the user may not make any
_CANNOT_LINK = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


def unfinished(path: Path) -> Path:
    """Return a temporary name in the folder of a path; no other process on any host uses the same."""
    host = re.sub(r"[^A-Za-z0-9.]+", "", platform.node())[:32]
    return path.with_name(f".{path.stem}-{host}-{os.getpid()}-{os.urandom(4).hex()}")


def write(path: Path, text: str | Iterable[str]) -> None:
    """Write a file atomically, even if the power fails. Raises OSError and then leaves nothing behind.

    `text` is a string or an iterable of pieces.
    """
    fresh = unfinished(path)
    try:
        _fill(fresh, text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(path.parent)


def create(path: Path, text: str) -> None:
    """Write a file that does not exist, atomically and without a lock. Raises FileExistsError if another was first.

    One of several processes on any hosts succeeds. On a file system without hard links the last one does.
    """
    fresh = unfinished(path)
    try:
        _fill(fresh, text)
        try:
            os.link(fresh, path)
        except OSError as problem:
            if problem.errno not in _CANNOT_LINK:
                raise
            fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(path.parent)


def _fill(path: Path, text: str | Iterable[str]) -> None:
    """Write a new file and sync its bytes."""
    with path.open("x", encoding="utf-8", newline="") as file:  # the same bytes on all systems
        file.writelines([text] if isinstance(text, str) else text)
        file.flush()
        os.fsync(file.fileno())


def link(path: Path, target: Path) -> None:
    """Make `path` lead to a folder. Raises OSError.

    It becomes a symlink relative to its own folder, put in place atomically. Where there are no symlinks (on Windows
    without its developer mode) it becomes a copy of the folder, and a process that is killed may leave none.
    """
    fresh = unfinished(path)
    try:
        if not _linked(fresh, target):
            shutil.copytree(target, fresh)
            sync_tree(fresh)
            remove(path)
        try:
            fresh.replace(path)
        except PermissionError:  # Windows replaces no link to a folder
            remove(path)
            fresh.replace(path)
    finally:
        remove(fresh)
    sync_folder(path.parent)


def has_links(folder: Path) -> bool:
    """Return True if symlinks to folders can be made in a folder."""
    fresh = unfinished(folder / "link")
    try:
        return _linked(fresh, folder)
    except OSError:  # nothing can be written
        return True
    finally:
        fresh.unlink(missing_ok=True)


def _linked(path: Path, target: Path) -> bool:
    """Make a symlink to a folder, and return False where there are none. Raises OSError."""
    try:
        path.symlink_to(os.path.relpath(target, path.parent), target_is_directory=True)
        return True
    except OSError as problem:
        if problem.errno not in _CANNOT_LINK:
            raise
        return False


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with its content, if it exists."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, and sync its name.

    The name of an existing folder is synced too, because the process that made it may have been killed before.
    """
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in new or [path]:
        sync_folder(folder.parent)


def sync_folder(path: Path) -> None:
    """Sync the names in a folder to the disk. Raises OSError if the folder does not exist.

    Nothing happens on a file system that cannot sync folders.
    """
    try:
        file = system.open_folder(path)
    except PermissionError:  # the folder may be entered but not listed
        return
    if file is None:
        return
    try:
        os.fsync(file)
    except OSError as problem:
        if problem.errno not in _CANNOT:
            raise
    finally:
        os.close(file)


def sync_tree(path: Path) -> None:
    """Sync a folder with all files and folders below it to the disk. Raises OSError."""
    files = _files(path)
    with ThreadPoolExecutor(SYNCS_AT_ONCE) as pool:
        while some := list(islice(files, LISTED_AT_ONCE)):  # a pool keeps everything that was submitted to it
            _each(pool, system.sync_file, some)
        _each(pool, sync_folder, [Path(folder) for folder, _, _ in os.walk(path)])


def _each(pool: ThreadPoolExecutor, sync: Callable[[Path], None], paths: list[Path]) -> None:
    try:
        list(pool.map(sync, paths))
    except RuntimeError:  # no memory for another thread: one after the other, then, and some twice, which does no harm
        for path in paths:
            sync(path)


def _files(path: Path) -> Iterator[Path]:
    return (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
