"""Too little memory: what it looks like, in whichever thread it shows, and the one line that a user sees of it."""

import signal
import sys
import threading
from typing import Any

from tcdp_sim.core.errors import lacks_memory

ADVICE = (
    "the memory does not suffice; what was finished is kept: the same command goes on from there with more memory "
    "(`ulimit -v` says what the shell allows), fewer cluster.workers or cluster=serial, or fewer cells "
    "(`tcdp-sim plan` says what a run takes)"
)
_short = threading.Event()  # a thread has ended for lack of memory


def listen() -> None:
    """From now on a thread that ends for lack of memory ends the run, and shows no traceback of its own.

    The run would wait for that thread, some for ever. Objects that cannot be taken apart for lack of memory are not
    worth a line: what has let go of them is told, or goes on.
    """
    _short.clear()
    threading.excepthook = _thread_ended
    sys.unraisablehook = _could_not_raise


def is_short(problem: BaseException) -> bool:
    """Return whether an exception means that there is too little memory, here or in another thread."""
    return lacks_memory(problem) or (isinstance(problem, KeyboardInterrupt) and _short.is_set())


def tell() -> None:
    """Print the one line for too little memory, the last one of this process.

    What ends after it (threads, libraries, objects) may lack memory as well, and would print a traceback each.
    """
    print(f"tcdp-sim: {ADVICE}", file=sys.stderr, flush=True)
    sys.stderr = sys.__stderr__ = None  # type: ignore[assignment,misc]  # Python then prints nothing of its own


def _thread_ended(what: threading.ExceptHookArgs) -> None:
    if what.exc_value is not None and is_short(what.exc_value):
        _short.set()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    elif sys.stderr is not None:
        threading.__excepthook__(what)


def _could_not_raise(what: Any) -> None:
    if not (what.exc_value is not None and is_short(what.exc_value)):
        sys.__unraisablehook__(what)
