"""A lock that admits one driver at a time to a run's folder.

It is the kernel's lock on a file (taken by filelock), or a second file on file systems without locks.
"""

import errno
import json
import os
import platform
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tcdp_sim.core import system
from tcdp_sim.core.errors import UserError
from tcdp_sim.store import durable

LOCK, HELD = "lock", "lock.held"  # the file that the kernel locks, and the file whose existence is the lock
TRIES, PAUSE = 5, 0.05  # a process that only tests the lock holds it for a moment
_FLAGS = system.BYTES | system.NO_LINK
_START = 1  # of the owner's name: Windows lets nobody else read the first byte, which is the locked one


@contextmanager
def held(folder: Path) -> Iterator[str]:
    """Hold the lock of a folder during the block; yield a warning or "". Raises UserError if another driver has it.

    The kernel frees its lock when the process dies for whatever reason. A file system without locks gets a file
    instead. If its owner was killed since this host started, the file is removed. Otherwise the user has to remove it.
    """
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | _FLAGS, 0o644)
    try:
        if _locked(file, folder):
            _refuse_owner(folder)
            os.ftruncate(file, 0)
            os.write(file, f"{' ' * _START}process {os.getpid()} on {platform.node()}".encode())
            try:
                yield ""
            finally:
                with suppress(OSError):
                    os.ftruncate(file, 0)
        else:
            with _held_by_file(folder):
                yield f"{folder} lies on a file system without locks: {HELD} in it keeps other drivers out instead"
    finally:
        os.close(file)


def busy(folder: Path) -> bool:
    """Return True if a driver is at work in the folder.

    The test writes nothing, so others may look at the same time.
    """
    owner = _owner(folder)
    if owner is not None and not _over(owner):
        return True
    try:
        file = os.open(folder / LOCK, (os.O_RDWR if os.access(folder / LOCK, os.W_OK) else os.O_RDONLY) | _FLAGS)
    except FileNotFoundError:
        return False
    try:
        return not _acquired(file)
    except OSError as problem:  # a file system without locks, or (NFS) without those of a file that we may only read
        return problem.errno == errno.EBADF and bool(_named(file))
    finally:
        os.close(file)


def _locked(file: int, folder: Path) -> bool:
    """Return True if the kernel has locked the file for us, False on a file system without locks.

    Raises UserError if another process holds the lock.
    """
    try:
        if not _acquired(file):
            raise _taken(folder, _named(file))
    except OSError:
        return False
    return True


def _acquired(file: int) -> bool:
    """Return whether the kernel has locked an open file, until it is closed. Raises OSError where there are no locks.

    The kernel frees the lock when the process dies.
    """
    with warnings.catch_warnings(action="ignore"):  # about a Python without locks
        from filelock import lock_descriptor  # slow to import

    for left in reversed(range(TRIES)):
        if lock_descriptor(file, blocking=False):
            return True
        if left:
            time.sleep(PAUSE)
    return False


def _named(file: int) -> str:
    """Return how the last driver called itself in the file that the kernel locks, "" if it has ended well."""
    return system.read_at(file, 1000, _START).decode("utf-8", "replace").strip()


@contextmanager
def _held_by_file(folder: Path) -> Iterator[None]:
    """Hold the lock by means of a second file. Raises UserError if another driver holds it."""
    path, claim = folder / HELD, json.dumps({**_me(), "token": os.urandom(8).hex()})
    _refuse_owner(folder)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o644)
    except FileExistsError:  # another driver was faster
        raise _taken(folder, _owner_label(_owner(folder) or {})) from None
    try:
        os.write(file, claim.encode())
        os.fsync(file)
    finally:
        os.close(file)
    try:
        yield
    finally:
        with suppress(OSError):
            if path.read_text("utf-8") == claim:
                path.unlink()


def _refuse_owner(folder: Path) -> None:
    """Raise UserError if the second file names a driver at work; remove the file of a process that has ended."""
    owner = _owner(folder)
    if owner is None:
        return
    if not _over(owner):
        raise _taken(folder, _owner_label(owner), f", or if it has ended, remove {folder / HELD}")
    aside = durable.unfinished(folder / HELD)
    with suppress(FileNotFoundError):
        (folder / HELD).rename(aside)
        if _read(aside) != owner:  # another driver removed it and made its own in the meantime
            with suppress(OSError):
                os.link(aside, folder / HELD)
            aside.unlink()
            raise _taken(folder, "another driver that has just begun")
        aside.unlink()


def _me() -> dict[str, Any]:
    """Return this process's entry in the second file."""
    return {"process": os.getpid(), "host": platform.node(), "system": _system()}


def _system() -> str:
    """Return an identification of this start of this machine and of its process namespace."""
    parts = []
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def _owner(folder: Path) -> dict[str, Any] | None:
    """Return the content of the second file, {} if it is unreadable, None if there is no such file."""
    try:
        return _read(folder / HELD)
    except FileNotFoundError:
        return None


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file, {} if it is not an object."""
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _over(owner) -> bool:
    """Return True if a process has certainly ended: this start of this host would know it, and does not."""
    me, process = _me(), owner.get("process")
    same_boot = owner.get("host") == me["host"] and owner.get("system") == me["system"]
    return same_boot and isinstance(process, int) and not system.is_alive(process)


def _owner_label(owner) -> str:
    return f"process {owner.get('process', 'unknown')} on {owner.get('host', 'an unknown host')}"


def _taken(folder: Path, who: str, more: str = "") -> UserError:
    """Return the error for a folder whose lock another process holds."""
    return UserError(f"{folder} is being written by another process ({who}); wait for its end{more}")
