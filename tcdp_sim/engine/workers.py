"""The workers of a run, started when they are first needed and kept to its end."""

from contextlib import ExitStack
from types import TracebackType

from tcdp_sim.core.log import Tell
from tcdp_sim.engine import clusters
from tcdp_sim.engine.schedule import Executor
from tcdp_sim.study.settings import Settings


class Workers:
    """A context manager that shuts down the workers it has started."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self._settings, self._tell = settings, tell
        self._ends = ExitStack()
        self._executor: Executor | None = None

    @property
    def started(self) -> bool:
        """True if the workers have been started."""
        return self._executor is not None

    def executor(self) -> Executor:
        """Return the executor, and start the workers if they are not there. Raises the errors of `clusters.connect`."""
        if self._executor is None:
            connected = clusters.connect(self._settings.cluster, self._settings.numerics)
            self._executor = self._ends.enter_context(connected)
            if self._executor.dashboard:
                self._tell(f"dashboard: {self._executor.dashboard}")
        return self._executor

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._ends.__exit__(kind, problem, trace)
