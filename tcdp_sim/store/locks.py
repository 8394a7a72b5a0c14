"""One driver at a time in a run's folder: by the kernel's lock on a file, or by a second file where there is none."""

import fcntl
import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.store import durable

LOCK, HELD = "lock", "lock.held"  # the file that the kernel locks; the one whose being there is the lock
TRIES, PAUSE = 5, 0.05  # who only asks whether the lock is free has it for a moment
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def held(folder: Path) -> Iterator[str]:
    """Keep other drivers out of a folder while the block runs; yields a warning, or nothing. UserError if one is there.

    The kernel frees its lock when a process dies, however it does. A file system that has no locks gets a file instead:
    what a process leaves of it that was killed since this host's start is taken away; any other somebody has to remove.
    """
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | _FLAGS, 0o644)
    try:
        if _locked(file, folder):
            _refuse_owner(folder)
            os.ftruncate(file, 0)
            os.pwrite(file, f"process {os.getpid()} on {platform.node()}".encode(), 0)
            yield ""
        else:
            with _held_by_file(folder):
                yield f"{folder} lies on a file system without locks: {HELD} in it keeps other drivers out instead"
    finally:
        os.close(file)


def busy(folder: Path) -> bool:
    """Whether a driver is at work in the folder; asked without writing, so that others may look as well."""
    owner = _owner(folder)
    if owner is not None and not _over(owner):
        return True
    try:
        file = os.open(folder / LOCK, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(file)
    return False


def _locked(file: int, folder: Path) -> bool:
    """Whether the kernel has locked the file for us, False where it has no locks; UserError if another has it."""
    for left in reversed(range(TRIES)):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if not left:
                raise _taken(folder, os.pread(file, 1000, 0).decode("utf-8", "replace").strip()) from None
            time.sleep(PAUSE)
        except OSError:  # a file system without locks
            return False
    raise AssertionError


@contextmanager
def _held_by_file(folder: Path) -> Iterator[None]:
    path, claim = folder / HELD, json.dumps({**_me(), "token": os.urandom(8).hex()})
    _refuse_owner(folder)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o644)
    except FileExistsError:  # another was faster
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
    """UserError if the second file says that a driver is at work; one of a process that has ended is taken away."""
    owner = _owner(folder)
    if owner is None:
        return
    if not _over(owner):
        raise _taken(folder, _owner_label(owner), f", or if it has ended, remove {folder / HELD}")
    aside = durable.unfinished(folder / HELD)
    with suppress(FileNotFoundError):
        (folder / HELD).rename(aside)
        if _read(aside) != owner:  # another driver took it away and put its own there meanwhile
            with suppress(OSError):
                os.link(aside, folder / HELD)
            aside.unlink()
            raise _taken(folder, "another driver that has just begun")
        aside.unlink()


def _me() -> dict[str, Any]:
    return {"process": os.getpid(), "host": platform.node(), "system": _system()}


def _system() -> str:
    """Which start of which machine this is, and which of its name spaces of processes."""
    parts = []
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def _owner(folder: Path) -> dict[str, Any] | None:
    """What the second file says, {} if it cannot be read; None if it is not there."""
    try:
        return _read(folder / HELD)
    except FileNotFoundError:
        return None


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _over(owner) -> bool:
    """Whether that process has surely ended: one that this start of this host would know of, and does not."""
    me, process = _me(), owner.get("process")
    same_boot = owner.get("host") == me["host"] and owner.get("system") == me["system"]
    return same_boot and isinstance(process, int) and not _alive(process)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is, and not ours
        return True
    return True


def _owner_label(owner) -> str:
    return f"process {owner.get('process', 'unknown')} on {owner.get('host', 'an unknown host')}"


def _taken(folder: Path, who: str, more: str = "") -> UserError:
    return UserError(f"{folder} is being written by another process ({who}); wait for its end{more}")
