"""A user's function on its way to workers, with the tasks that call it, and trials by which a worker shows itself."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine.shown import Shown
from tcdp_sim.engine.simulate import Done, Task, run
from tcdp_sim.mechanisms.functions import Call, shipped


def process() -> tuple[str, int]:
    """Return the host and the number of this process; in containers many processes have the same number."""
    return socket.gethostname(), os.getpid()


@dataclass(frozen=True, eq=False)
class Carried:
    """The work on tasks of a sweep, for any process: `run`, with the function that the laws name.

    A process other than the driver repeats the shown trials before its first task. What no source shows, such as a data
    file, the environment or a library, may be different there.
    """

    options: Mapping[str, Any]
    call: Call
    shown: tuple[Shown, ...] = ()
    driver: tuple[str, int] = field(default_factory=process)

    def __call__(self, task: Task) -> Done:
        """Simulate a task. Raises UserError in a process that draws other numbers than the driver."""
        with shipped(self.options, self.call):
            self._check()
            return run(task)

    def _check(self) -> None:
        if process() == self.driver or getattr(self, "_checked", False):
            return
        for each in self.shown:
            try:
                repeated = each.repeats(self.call)
            except Exception:  # the tasks tell of it, with their cell
                continue
            if not repeated:
                raise UserError(
                    f"the worker on {socket.gethostname()} draws other numbers{each.where} than this machine: a file, "
                    "the environment or a library is another one there"
                )
        object.__setattr__(self, "_checked", True)
