"""The progress of a sweep in memory: a line appears once it has taken a second."""

import time
from contextlib import ExitStack
from types import TracebackType

from tcdp_sim.engine.progress import ProgressLine

PATIENCE = 1.0  # seconds before the line


class Tally:
    """The number of chunks that are done."""

    def __init__(self, chunks: int, trials: int) -> None:
        self.total, self.work, self._trials = float(chunks), 0.0, trials

    def add(self, chunks: int) -> None:
        """Add chunks that are done."""
        self.work += chunks
        self.total = max(self.total, self.work)  # a target may ask for more than was planned

    def __str__(self) -> str:
        return f"{self.work:,.0f} of {self.total:,.0f} chunks, {self.work * self._trials:.3g} trials"


class Patient:
    """A context manager that shows a progress line if the block takes longer than PATIENCE."""

    def __init__(self, chunks: int, trials: int) -> None:
        self._tally = Tally(chunks, trials)
        self._ends = ExitStack()
        self._line: ProgressLine | None = None
        self._done = 0  # chunks that the line has not been told of
        self._next = time.monotonic() + PATIENCE

    def advance(self) -> None:
        """Count one more chunk as done."""
        self._done += 1
        if (now := time.monotonic()) < self._next:
            return
        if self._line is None:
            self._line = self._ends.enter_context(ProgressLine(self._tally))
        self._line.advance(self._done)
        self._done, self._next = 0, now + 0.1

    def __enter__(self) -> "Patient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._tally.add(self._done)
        return self._ends.__exit__(kind, problem, trace)
