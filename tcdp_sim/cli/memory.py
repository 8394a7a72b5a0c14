"""The memory of the command line: freed memory goes back to the system, and a lack of memory gives one line."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tcdp_sim.core import system
from tcdp_sim.core.errors import lacks_memory
from tcdp_sim.core.texts import printable

ADVICE = (
    "there is too little memory. Finished chunks are kept: the same command goes on from there. Use more memory "
    "(`ulimit -v` prints the shell's limit), fewer cluster.workers, cluster=serial, or fewer cells "
    "(`tcdp-sim plan` estimates the memory of a run)"
)
PUBLISHED = (
    "there is too little memory to draw {0}. Its numbers are published: `tcdp-sim table {0} FILE.csv` writes them, and "
    "tcdp_sim.open_results({0!r}) opens them. `tcdp-sim draw {0} figures=NAME,NAME` draws some figures and leaves the "
    "others out"
)
TRIM_THRESHOLD, BYTES = -1, 65536  # M_TRIM_THRESHOLD of glibc, and the bytes that Dask sets for its workers
_short = threading.Event()  # a thread has ended for lack of memory
_advice = [ADVICE]  # what `tell` says


def give_back() -> None:
    """Let glibc return freed memory at once.

    By default it keeps arrays of up to 32 MB in its heap, where small objects that stay above them hold their memory:
    60 MB for 10,000 cells and more. Other C libraries have no such setting.
    """
    if set_option := system.c_function("mallopt"):
        set_option(TRIM_THRESHOLD, BYTES)


def give_back_now() -> None:
    """Let glibc return the freed memory between objects that stay.

    It returns memory at the end of its heap by itself: see `give_back`. After a run of 200,000 cells that leaves 50 MB.
    """
    if trim := system.c_function("malloc_trim"):
        trim(0)


def listen() -> None:
    """Make a thread that ends for lack of memory end the run, without a traceback of its own.

    Without this the run would wait for that thread, perhaps for ever. Objects whose destruction fails for lack of
    memory are not reported, because their owners report the lack or continue.
    """
    _short.clear()
    _advice[:] = [ADVICE]
    threading.excepthook = _thread_ended
    sys.unraisablehook = _could_not_raise


def is_short(problem: BaseException) -> bool:
    """Return True if an exception means that there is too little memory, here or in another thread."""
    return lacks_memory(problem) or (isinstance(problem, KeyboardInterrupt) and _short.is_set())


@contextmanager
def drawing(folder: Path) -> Iterator[None]:
    """Report a lack of memory in the block as one of the figures alone, because the results are published."""
    text = PUBLISHED.format(printable(str(folder)))  # now, while there is memory
    try:
        yield
    except BaseException as problem:
        if is_short(problem):
            _advice.append(text)
        raise


def tell() -> None:
    """Print the message about too little memory and silence the rest of the process.

    Threads, libraries and objects that end afterwards may lack memory too, and would print a traceback each.
    """
    print(f"tcdp-sim: {_advice[-1]}", file=sys.stderr, flush=True)
    sys.stderr = sys.__stderr__ = None  # type: ignore[assignment,misc]  # Python then prints nothing of its own


def _thread_ended(what: threading.ExceptHookArgs) -> None:
    if what.exc_value is not None and is_short(what.exc_value):
        _short.set()
        system.send_to_main_thread(signal.SIGTERM)
    elif sys.stderr is not None:
        threading.__excepthook__(what)


def _could_not_raise(what: Any) -> None:
    if not (what.exc_value is not None and is_short(what.exc_value)):
        sys.__unraisablehook__(what)
