"""One progress line: live on a terminal, a line now and then in a log."""

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LOG_SECONDS = 15.0


class ProgressLine:
    """Counts chunks of known work; a context manager. Written to stderr, so that stdout holds only results."""

    def __init__(self, chunks: int, work: float, trials_per_chunk: int):
        self._chunks, self._work, self._trials = chunks, max(work, 1e-9), trials_per_chunk
        self._done = 0
        self._done_work = 0.0
        self._console = Console(stderr=True)
        self._live = self._console.is_terminal
        self._started = self._said = time.monotonic()
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
        self._task = self._bar.add_task("", total=self._work, what=self._what())

    def advance(self, chunks: int, work: float) -> None:
        self._done += chunks
        self._done_work += work
        self._bar.update(self._task, completed=self._done_work, what=self._what())
        now = time.monotonic()
        if not self._live and now - self._said > LOG_SECONDS:
            self._said = now
            left = (now - self._started) * (self._work / self._done_work - 1)
            self._console.print(f"{self._done_work / self._work:.0%}  {self._what()}  ETA {left:.0f} s")

    def _what(self) -> str:
        return f"{self._done}/{self._chunks} chunks, {self._done * self._trials:.3g} trials"

    def __enter__(self):
        self._bar.start()
        return self

    def __exit__(self, *_):
        self._bar.stop()
