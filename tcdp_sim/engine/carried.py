"""A user's function on its way to workers, with the tasks that call it, and trials by which a worker shows itself."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.streams import generator
from tcdp_sim.engine.simulate import Done, Task, run
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions import Call, shipped

CLOSE = 1e-9  # relative distance of two numbers that differ by the last bits of elementary functions


def process() -> tuple[str, int]:
    """Return what tells this process from others: in containers many have the same number."""
    return socket.gethostname(), os.getpid()


@dataclass(frozen=True, eq=False)
class Shown:
    """Some trials of a point, as the driver has drawn them from one of its streams."""

    point: Mapping[str, Any]
    seed: int
    stream: str
    draws: Draws

    def repeats(self, call: Call) -> bool:
        """Return True if this process draws the same numbers, but for the last bits of floats."""
        trials = len(next(iter(self.draws.values())))
        found = call(generator(self.seed, self.stream, 0), trials, self.point)
        return found.keys() == self.draws.keys() and all(
            values.shape == found[name].shape and np.allclose(values, found[name], rtol=CLOSE, atol=0, equal_nan=True)
            for name, values in self.draws.items()
        )


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
                where = " ".join(f"{axis}={value}" for axis, value in each.point.items())
                raise UserError(
                    f"the worker on {socket.gethostname()} draws other numbers{f' at {where}' if where else ''} than "
                    "this machine: a file, the environment or a library is another one there"
                )
        object.__setattr__(self, "_checked", True)
