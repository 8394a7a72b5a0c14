"""A user's function on its way to workers, with the tasks that call it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_sim.engine.simulate import Done, Task, run
from tcdp_sim.mechanisms.functions import Call, shipped


@dataclass(frozen=True, eq=False)
class Carried:
    """The work on tasks of a sweep, for any process: `run`, with the function that the laws name."""

    options: Mapping[str, Any]
    call: Call

    def __call__(self, task: Task) -> Done:
        """Simulate a task."""
        with shipped(self.options, self.call):
            return run(task)
