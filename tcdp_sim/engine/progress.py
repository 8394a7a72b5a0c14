"""One progress line: live on a terminal, a line now and then in a log."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tcdp_sim.engine.simulate import Record
from tcdp_sim.log import LOG
from tcdp_sim.report.terminal import Terminal
from tcdp_sim.study.cells import Cell

LOG_SECONDS = 15.0
LIVE_SECONDS = 0.25
LOOK_SECONDS = 1.0  # at least: it moves on when nothing arrives
NAMED = 3  # of the silent workers


class Counted(Protocol):
    """What a progress line shows: a share of the work, and what str says of it."""

    total: float
    work: float

    def add(self, arrived: Sequence[Any], /) -> None:
        """What has arrived since."""


class Tally:
    """What the chunks that have arrived add up to.

    todo: (cell, chunk index) of those to come; a cell is a `sweep.Cell`. wanted: cell id -> chunks in all.
    """

    def __init__(self, todo: Sequence[tuple[Cell, int]], wanted: Mapping[str, int], trials_per_chunk: int) -> None:
        self._missing = Counter(cell.id for cell, _ in todo)
        self._work = {cell.id: cell.work for cell, _ in todo}
        self._chunks = {cell: wanted[cell] - missing for cell, missing in self._missing.items()}
        self._trials = trials_per_chunk
        self._worst: dict[str, float] = {}
        self.total = max(sum(cell.work for cell, _ in todo), 1e-9)
        self.work = 0.0
        self.chunks = self.errors = self.warnings = 0
        self.cells = len(self._missing)
        self.complete = 0

    def add(self, records: Sequence[Record]) -> None:
        """Chunks that have arrived: `simulate.Record`s."""
        for record in records:
            self.work += self._work[record.cell]
            self.chunks += 1
            self.warnings += any(problem.kind == "warning" for problem in record.problems)
            if record.summary is None:
                self.errors += 1
                continue
            self._missing[record.cell] -= 1
            self._chunks[record.cell] += 1
            self.complete += self._missing[record.cell] == 0
            if record.relative_mcse == record.relative_mcse:
                self._worst[record.cell] = record.relative_mcse / self._chunks[record.cell] ** 0.5

    def __str__(self) -> str:
        parts = [f"{self.complete}/{self.cells} cells", f"{self.chunks * self._trials:.3g} trials"]
        if self._worst:
            parts.append(f"worst standard error {max(self._worst.values()):.2g} of its mean")
        parts += [f"{n} {what}s" for n, what in ((self.errors, "error"), (self.warnings, "warning")) if n]
        return ", ".join(parts)


class ProgressLine:
    """Shows a tally; a context manager. Written to stderr, so that stdout holds only results; and to the run's log.

    The worst standard error is what the chunks so far suggest: that of the latest chunk over the root of their number.
    silent: the workers of which nothing is heard. They are named, and the line goes on when nothing arrives.
    """

    def __init__(self, tally: Counted, silent: Callable[[], Sequence[str]] = tuple) -> None:
        self._tally = tally
        self._silent = silent
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
        self._console = Terminal(stderr=True)
        self._live = self._console.is_terminal
        self._started = self._last_logged = self._last_drawn = time.monotonic()
        self._bar = Progress(
            TextColumn("simulating"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%  {task.fields[what]}"),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._live,
        )
        self._task = self._bar.add_task("", total=tally.total, what=str(tally))

    def advance(self, arrived: Sequence[Any]) -> None:
        """What has arrived: `simulate.Record`s for a `Tally`."""
        with self._lock:
            self._tally.add(arrived)
            self._show()

    def _tick(self) -> None:
        while not self._end.wait(LOOK_SECONDS):
            with self._lock:
                self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if self._live and now - self._last_drawn > LIVE_SECONDS:
            self._last_drawn = now
            self._bar.update(self._task, completed=self._tally.work, what=self._what())
        if now - self._last_logged > LOG_SECONDS:
            self._last_logged = now
            self._say(now)

    def _what(self) -> str:
        silent = self._silent()
        more = f" and {len(silent) - NAMED} more" if silent[NAMED:] else ""
        return f"{self._tally}, silent: {', '.join(silent[:NAMED])}{more}" if silent else str(self._tally)

    def _say(self, now: float) -> None:
        share = self._tally.work / self._tally.total
        left = f"{(now - self._started) * (1 / share - 1):.0f} s" if share else "unknown"
        line = f"{share:.0%}  {self._what()}  ETA {left}"
        LOG.info(line)
        if not self._live:
            self._console.print(line, highlight=False)

    def __enter__(self) -> "ProgressLine":
        self._bar.start()
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._ticker.join()
        self._bar.update(self._task, completed=self._tally.work, what=str(self._tally))
        self._bar.stop()
        LOG.info("simulated: %s", self._tally)
