"""A server process that imports modules once. Other processes are forked from it and need not import them again.

The server works while this process does something else. A worker that is started without it spends a second of CPU time
on its imports.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from tcdp_sim.core import environment as environment_of
from tcdp_sim.core import safe_path, system

PRIVATE = (3, 11, 1)  # in older versions of Python, other users of the machine could connect to the server
SIGNALS = "tcdp_sim.core.server_signals"


@contextmanager
def running(modules: Sequence[str], environment: Mapping[str, str]) -> Iterator[None]:
    """Run the server during the block and make it the default way to start processes.

    The server and the processes have the variables of `environment`, unless the user has set them. Enter the block in
    the main thread, where signals are held. On systems other than Linux there is no server, since forked processes may
    crash there. Nor is there one if it cannot start: its socket is a file in the folder for temporary files, whose path
    may be longer than sockets allow.
    """
    if not system.has_fork_server() or sys.version_info < PRIVATE:
        yield
        return
    from multiprocessing import forkserver

    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("forkserver", force=True)
    multiprocessing.set_forkserver_preload([SIGNALS, *modules])
    try:
        with environment_of.changed({**environment, **os.environ}), safe_path.started():
            forkserver.ensure_running()
    except OSError:
        multiprocessing.set_start_method(before, force=True)
        yield
        return
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)
        _stop()


def is_default() -> bool:
    """Return True if new processes are forked from a server, unless they are started in another way."""
    return multiprocessing.get_start_method(allow_none=True) == "forkserver"


def _stop() -> None:
    """Stop the server, which would keep its memory to the end of this process.

    Python has no public function for it. The signal comes first, because `_stop` waits for the server, and the server
    would wait for a worker that hangs.
    """
    from multiprocessing import forkserver

    server: Any = forkserver._forkserver
    with suppress(AttributeError, OSError):
        system.kill(server._forkserver_pid)
        server._stop()
