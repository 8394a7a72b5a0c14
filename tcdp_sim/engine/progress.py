"""The progress line: live on a terminal, a bar below the cell of a notebook, an occasional line in a log."""

import threading
import time
from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, Protocol

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tcdp_sim.core.log import LOG
from tcdp_sim.engine.pending import Pending
from tcdp_sim.engine.simulate import Done, Record
from tcdp_sim.report import notebooks
from tcdp_sim.report.terminal import Terminal

FIRST_SECONDS = 0.8  # until the first line of a log
LOG_SECONDS = 15.0  # between later ones
LIVE_SECONDS = 0.25
LOOK_SECONDS = 0.4  # the line is updated at least this often, even if nothing arrives
TOO_SOON = 2.0, 0.01  # seconds and share of the work before which the first small tasks would forecast hours
QUIET_SECONDS = 10.0  # without an arrival, until the line says how long the present task has taken
NAMED = 3  # silent workers that are named


class Tally:
    """The totals of the tasks that have arrived; `todo` holds the chunks to simulate."""

    def __init__(self, todo: Pending, trials_per_chunk: int) -> None:
        self._todo = todo
        self._trials = trials_per_chunk
        self._missing: dict[str, int] = {}  # chunks that cells with some arrived chunks still lack
        self._errors: dict[str, float] = {}  # relative standard errors of these cells' means
        self._worst = 0.0  # the largest relative standard error among complete cells
        self._has_error = False
        self.total = max(todo.work * trials_per_chunk, 1e-9)
        self.work = 0.0
        self.chunks = self.errors = self.warnings = 0
        self.cells = todo.cells
        self.complete = 0

    def add(self, done: Done) -> None:
        """Add a task that has arrived."""
        self.work += done.work
        self.chunks += len(done.records)
        self.warnings += sum(any(one.kind == "warning" for one in record.problems) for record in done.records)
        simulated = [record for record in done.records if record.summary is not None]
        self.errors += len(done.records) - len(simulated)
        for record, (lacked, wanted) in zip(simulated, self._todo.of_cells([record.cell for record in simulated])):
            self._count(record, lacked, wanted)

    def _count(self, record: Record, lacked: int, wanted: int) -> None:
        """Count a simulated chunk of a cell that lacked some of the wanted chunks; update its standard error."""
        cell = record.cell
        left = self._missing.pop(cell, lacked) - 1
        error = self._errors.pop(cell, 0.0)
        if not isnan(record.relative_mcse):
            self._has_error = True
            error = record.relative_mcse / (wanted - left) ** 0.5
        if left > 0:
            self._missing[cell], self._errors[cell] = left, error
        else:
            self.complete += 1
            self._worst = max(self._worst, error)

    def __str__(self) -> str:
        parts = [f"{self.complete}/{self.cells} cells", f"{self.chunks * self._trials:.3g} trials"]
        if self._has_error:
            worst = max(self._worst, *self._errors.values()) if self._errors else self._worst
            parts.append(f"worst standard error {worst:.2g} of its mean")
        parts += [f"{n} {what}s" for n, what in ((self.errors, "error"), (self.warnings, "warning")) if n]
        return ", ".join(parts)


class Counted(Protocol):
    """An object that a progress line shows: the work in total and so far, and its `str`."""

    total: float
    work: float

    def add(self, arrived: Any, /) -> None:
        """Add what has arrived since the last call."""


class ProgressLine:
    """A context manager that shows a tally on stderr and in the run's log; stdout holds only results.

    A standard error is estimated from the latest chunk, divided by the root of the number of chunks.

    - silent: a function that returns the workers without a sign of life. They are named in the line.
    - what: the activity as a verb without its ending, such as "simulat".
    - patience: seconds before anything is shown, so that short work shows nothing.
    """

    def __init__(
        self,
        tally: Counted,
        silent: Callable[[], Sequence[str]] = tuple,
        what: str = "simulat",
        patience: float = 0.0,
    ) -> None:
        self._tally = tally
        self._verb = what
        self._silent = silent
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
        self._console = Terminal(stderr=True)
        self._live = self._console.is_terminal
        self._below = notebooks.Bar() if notebooks.is_notebook() else None
        self._started = self._last_drawn = self._arrived = time.monotonic()
        self._next_log = self._next_below = self._started + max(FIRST_SECONDS, patience)
        self._first_drawn = self._started + patience
        self._drawn = False
        self._bar = Progress(
            TextColumn(f"{what}ing"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%  {task.fields[what]}"),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._live,
        )
        self._task = self._bar.add_task("", total=tally.total, what=str(tally))

    def advance(self, arrived: Any) -> None:
        """Add what has arrived, in the form that the tally takes."""
        with self._lock:
            self._tally.add(arrived)
            self._arrived = time.monotonic()
            self._show(self._arrived)

    def _tick(self) -> None:
        """Update the line at regular times, also when nothing arrives."""
        while not self._end.wait(LOOK_SECONDS):
            with self._lock:
                self._show(time.monotonic())

    def _show(self, now: float) -> None:
        """Draw the line, or log it, if it is time to."""
        if self._live and now >= self._first_drawn and now - self._last_drawn > LIVE_SECONDS:
            self._draw()
            self._last_drawn = now
            self._bar.update(self._task, completed=self._tally.work, what=self._what() + self._quiet(now))
        if self._below and now > self._next_below:
            self._next_below = now + LIVE_SECONDS
            self._below.show(self._share(), self._line(now))
        if now > self._next_log:
            self._next_log = now + LOG_SECONDS
            self._say(now)

    def _draw(self) -> None:
        """Begin the live line, once."""
        if not self._drawn:
            self._drawn = True
            self._bar.start()

    def _what(self) -> str:
        """Return the tally in words, with the silent workers."""
        silent = self._silent()
        more = f" and {len(silent) - NAMED} more" if silent[NAMED:] else ""
        return f"{self._tally}, silent: {', '.join(silent[:NAMED])}{more}" if silent else str(self._tally)

    def _quiet(self, now: float) -> str:
        """Return how long the present task has taken, if nothing has arrived for a while."""
        waited = now - self._arrived
        return f", the present task has taken {waited:.0f} s so far" if waited > QUIET_SECONDS else ""

    def _left(self, now: float) -> str:
        """Return the time left by the tasks that have arrived. It does not grow while nothing arrives."""
        share, waited = self._share(), now - self._arrived
        if not share:
            return f"unknown: the first task has taken {now - self._started:.0f} s so far"
        if share >= 1:
            return "0 s"
        if now - self._started < TOO_SOON[0] and share < TOO_SOON[1]:
            return "unknown so soon"
        left = (self._arrived - self._started) * (1 / share - 1) - waited
        return f"{left:.0f} s{self._quiet(now)}" if left > 0 else f"unknown{self._quiet(now)}"

    def _say(self, now: float) -> None:
        """Log the progress with the time left."""
        line = self._line(now)
        LOG.info(line)
        if not (self._live or self._below):
            self._console.print(line, highlight=False, soft_wrap=True)

    def _line(self, now: float) -> str:
        """Return the progress with the time left."""
        return f"{self._share():.0%}  {self._what()}  ETA {self._left(now)}"

    def _share(self) -> float:
        """Return the share of the work that is done."""
        return self._tally.work / self._tally.total

    def __enter__(self) -> "ProgressLine":
        if self._first_drawn <= self._started:
            self._draw()
        self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end.set()
        self._ticker.join()
        if self._below and self._below.is_shown:
            how, taken = "stopped" if kind else "done", time.monotonic() - self._started
            self._below.show(self._share(), f"{self._share():.0%}  {self._tally}  {how} after {taken:.3g} s")
        if self._drawn:
            self._bar.update(self._task, completed=self._tally.work, what=str(self._tally))
            self._bar.stop()
        LOG.info("%sed: %s", self._verb, self._tally)
