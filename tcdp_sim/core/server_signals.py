"""The start of the server process: importing this module makes it deaf to SIGTERM, and its processes hear it.

A queue sends SIGTERM to all processes of a run at once. The server has to outlive its processes, because only it learns
how they have ended. The signal is blocked and not ignored, because a process that gets it right after its birth would
otherwise lose it.
"""

import os
import signal
import sys
from types import TracebackType

from tcdp_sim.core import safe_path, system

_DEAF_TO = {signal.SIGTERM}

_SERVER = os.getpid()


def _say(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    """Show an error, except that nothing came for a process to be started: who asked lacks files, and says so."""
    if not (kind is EOFError and os.getpid() == _SERVER):
        sys.__excepthook__(kind, problem, trace)


sys.excepthook = _say
safe_path.forget()
system.block(_DEAF_TO)
system.after_fork(lambda: system.unblock(_DEAF_TO))
