"""The check that a worker runs the driver's code, made before each task, whenever the worker has come."""

import socket
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.libraries import version_of
from tcdp_sim.store import source

Code = Mapping[str, str]
LIBRARIES = ("numpy", "scipy")


@cache
def here() -> Code:
    """Return what numbers depend on, by name: versions of libraries and a digest of our files.

    It is looked up once in a process: files that are edited later are not those that it has loaded.
    """
    return {name: version_of(name) for name in LIBRARIES} | {"the files of tcdp_sim": source.own()}


def checked(code: Code, work: Callable[[Any], Any], task: Any) -> Any:
    """Return `work(task)` in a process that has the driver's code. Raises UserError in any other."""
    ours = here()
    if other := [name for name in sorted({*code, *ours}) if code.get(name) != ours.get(name)]:
        who = f"the worker on {socket.gethostname()}"
        raise UserError(f"{who} has another state of {', '.join(other)} than this machine; install the same everywhere")
    return work(task)
