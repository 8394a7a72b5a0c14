"""The check that a worker runs the driver's code, made before each task, whenever the worker has come."""

import socket
from collections.abc import Callable, Mapping
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.store import source


def checked(code: Mapping[str, str], uses: tuple[str, ...], work: Callable[[Any], Any], task: Any) -> Any:
    """Return `work(task)` in a process whose `source.loaded(uses)` is `code`. Raises UserError in any other."""
    if other := source.other(code, source.loaded(uses)):
        who = f"the worker on {socket.gethostname()}"
        raise UserError(f"{who} has another state of {other} than this machine; install the same everywhere")
    return work(task)
