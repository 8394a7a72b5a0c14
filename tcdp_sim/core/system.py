"""The differences between operating systems: functions that Windows lacks, and their replacements.

No other module names anything that only POSIX systems have; `tests/test_systems.py` reads the source for it.
"""

import _thread
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any


def _module(name: str) -> Any:
    """Return a module of the standard library, or None where the system lacks it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_resource = _module("resource")
_os: Any = os
_signal: Any = signal

# flags of `os.open`: bytes as they are, in no process that this one starts; and a refusal to follow a link
BYTES: int = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
ELSEWHERE = "" if hasattr(signal, "pthread_sigmask") else ", or under WSL if this is Windows"  # the end of an advice
ALARM: Any = getattr(signal, "SIGALRM", None)  # the signal that ends a wait of the main thread; None without signals
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: int | None = getattr(os, "O_DIRECTORY", None)  # None where folders cannot be opened

_READING = threading.Lock()


def read_at(file: int, size: int, start: int) -> bytes:
    """Return up to `size` bytes of an open file from `start` on."""
    if hasattr(os, "pread"):
        return bytes(_os.pread(file, size, start))
    with _READING:  # the place in the file belongs to all threads
        os.lseek(file, start, os.SEEK_SET)
        return os.read(file, size)


def on_alarm(handle: Any) -> Any:
    """Let a function handle ALARM, in the main thread of a system that has it, and return what has handled it."""
    return signal.signal(ALARM, handle)


def alarm(thread: int) -> None:
    """Send ALARM to a thread."""
    _signal.pthread_kill(thread, ALARM)


def sync_file(path: Path) -> None:
    """Sync the bytes of a file to the disk, whichever process wrote them. Raises OSError."""
    # Windows syncs only files that are open for writing
    file = os.open(path, BYTES | (os.O_RDWR if _FOLDER is None else os.O_RDONLY))
    try:
        os.fsync(file)
    finally:
        os.close(file)


def open_folder(path: Path) -> int | None:
    """Return an open folder, whose names can be synced, or None on systems that open no folders. Raises OSError."""
    if _FOLDER is None:
        os.stat(path)
        return None
    return os.open(path, os.O_RDONLY | _FOLDER)


def has_fork_server() -> bool:
    """Return True on Linux: elsewhere there is no fork, or forked processes may crash."""
    return sys.platform == "linux" and hasattr(os, "fork") and hasattr(signal, "pthread_sigmask")


def after_fork(run: Callable[[], None]) -> None:
    """Let a function run in every process that is forked from this one."""
    if hasattr(os, "register_at_fork"):
        _os.register_at_fork(after_in_child=run)


def ensure_tracker() -> None:
    """Start the process that tracks the resources of multiprocessing, where there is one and it does not run yet."""
    if os.name == "posix":
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()


@contextmanager
def blocked(number: int) -> Iterator[None]:
    """Block a signal in this thread during the block, and in the processes that start meanwhile, for ever.

    Where threads have no masks nothing happens: see `deafen`.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)


def block(numbers: Iterable[int]) -> None:
    """Block signals from now on."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, set(numbers))


def unblock(numbers: Iterable[int]) -> None:
    """Let blocked signals arrive again."""
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, set(numbers))


def deafen() -> None:
    """Ignore Ctrl-C in this process, which was started by ours, where `blocked` could not see to it."""
    if not hasattr(signal, "pthread_sigmask") and multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def send_to_main_thread(number: signal.Signals) -> None:
    """Send a signal to the main thread, which may be waiting for something."""
    if hasattr(signal, "pthread_kill"):
        _signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)


def kill(process: int) -> None:
    """End a process at once, unless it has ended. Raises OSError."""
    with suppress(ProcessLookupError):
        os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def is_alive(process: int) -> bool:
    """Return False if no process has this number; True also where that cannot be known."""
    try:
        if not hasattr(signal, "SIGKILL"):  # `os.kill(process, 0)` is a Ctrl-C on Windows
            psutil = _module("psutil")
            return psutil is None or bool(psutil.pid_exists(process))
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it exists but belongs to another user
        return True
    return True


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(_os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def address_space() -> float:
    """Return the most bytes of address space that this process may have, inf without a limit."""
    return _limits("RLIMIT_AS")[0]


def open_files() -> float:
    """Return the most files that this process may have open, inf without a limit."""
    return _limits("RLIMIT_NOFILE")[0]


def allow_open_files(most: int) -> None:
    """Let this process open `most` files, as far as its hard limit admits."""
    soft, hard = _limits("RLIMIT_NOFILE")
    wanted = min(most, hard)
    if wanted > soft:
        with suppress(ValueError, OSError):
            unlimited = hard == inf
            _resource.setrlimit(_resource.RLIMIT_NOFILE, (wanted, _resource.RLIM_INFINITY if unlimited else int(hard)))


def _limits(name: str) -> tuple[float, float]:
    """Return the soft and the hard limit of a resource of this process, inf without one."""
    if not _resource:
        return inf, inf
    soft, hard = (
        inf if one == _resource.RLIM_INFINITY else one for one in _resource.getrlimit(getattr(_resource, name))
    )
    return soft, hard


def peak_memory() -> float:
    """Return the most memory that this process has had, in bytes, 0 where that cannot be known."""
    if _resource:
        unit = 1 if sys.platform == "darwin" else 1024
        return float(_resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss * unit)
    if (psutil := _module("psutil")) is None:
        return 0.0
    now = psutil.Process().memory_info()
    return float(getattr(now, "peak_wset", now.rss))


def in_child(work: Callable[[Callable[[str], None]], None]) -> tuple[str, float, int]:
    """Let a forked child do some work; return what it notes, its peak memory in bytes, and its code (0 if it is well).

    `work` gets a function that notes a text. Where processes cannot be forked, this process does the work itself. A
    forked child begins with the memory of this process. What the work prints is lost.
    """
    if not has_fork_server():
        noted: list[str] = []
        work(noted.append)
        return "".join(noted), peak_memory(), 0
    there, here = os.pipe()

    def note(text: str) -> None:
        os.write(here, text.encode())

    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # threads of BLAS outlive a fork
        child = os.fork()
    if not child:
        code = 1
        try:
            _silence()  # what a command prints may be a file that somebody runs
            work(note)
            code = 0
        finally:
            os._exit(code)
    os.close(here)
    with open(there, encoding="utf-8") as notes:
        said = notes.read()
    _, status, used = os.wait4(child, 0)
    return said, used.ru_maxrss * 1024.0, os.waitstatus_to_exitcode(status)


def _silence() -> None:
    """Let nothing that this process prints go anywhere."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the process ends)
    for stream in (1, 2):
        os.dup2(sys.stdout.fileno(), stream)


def c_function(name: str) -> Callable[..., Any] | None:
    """Return a function of the C library that this process runs with, or None if it has none of this name."""
    import ctypes

    try:
        library = ctypes.CDLL(None)
    except (TypeError, OSError):  # Windows has no library of this process
        return None
    return getattr(library, name, None)
