"""A run with many workers, simulated event by event: what the one driver and its scheduler let them do."""

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count
from math import ceil, fsum, inf
from typing import Any

from distributed.scheduler import heartbeat_interval

from tcdp_sim.engine import schedule


@dataclass(frozen=True)
class Costs:
    """CPU seconds, there and back. task, chunk, byte: of the driver, a task, a chunk in it, a byte of its record.

    scheduler_task, scheduler_chunk, scheduler_byte: of the scheduler. choice: of the scheduler, a task and worker that
    there is. idle: of the scheduler, a second, whatever there is to do. beat: of the scheduler, a worker's sign of
    life. worker: of a worker, a task. delay: on the clock, from the driver to a worker and back.
    """

    task: float = 0.0
    chunk: float = 0.0
    byte: float = 0.0
    scheduler_task: float = 0.0
    scheduler_chunk: float = 0.0
    scheduler_byte: float = 0.0
    choice: float = 0.0
    idle: float = 0.0
    beat: float = 0.0
    worker: float = 0.0
    delay: float = 0.0

    def with_records(self, size: float) -> "Costs":
        """The same with records of so many bytes: they are costs of chunks."""
        chunk, scheduler_chunk = self.chunk + size * self.byte, self.scheduler_chunk + size * self.scheduler_byte
        return replace(self, chunk=chunk, scheduler_chunk=scheduler_chunk, byte=0.0, scheduler_byte=0.0)

    def of_driver(self, chunks: float) -> float:
        """Seconds of the driver for a task of so many chunks."""
        return self.task + chunks * self.chunk

    def of_scheduler(self, chunks: float, workers: int) -> float:
        """Seconds of the scheduler for a task of so many chunks."""
        return self.scheduler_task + chunks * self.scheduler_chunk + workers * self.choice

    def listening(self, workers: int) -> float:
        """Share of the scheduler's time that goes into no task: signs of life come at the intervals that dask sets."""
        return self.idle + self.beat * workers / heartbeat_interval(workers)


@dataclass(frozen=True)
class Outcome:
    """Wall seconds; shares of it in which workers are at chunks, and driver and scheduler are busy; tasks.

    ends: when each worker has ended its last task.
    """

    wall: float
    used: float
    driver: float
    scheduler: float
    tasks: int
    ends: tuple[float, ...]


def predict(
    workers: int, chunks: int, seconds: float, costs: Costs, longest: float = inf, together: bool = False
) -> Outcome:
    """The engine's loop, event by event: one driver, WINDOW tasks a worker, sizes by the engine's own rule.

    seconds: a chunk takes; longest: task in seconds, where that is shorter than what the engine chooses. together:
    scheduler and driver are one process, so one of them waits while the other works, and their shares are equal.
    """
    return run_through(workers, [(seconds, chunks)], costs, longest / seconds, together)


def run_through(
    workers: int, runs: Iterable[tuple[float, int]], costs: Costs, most: float = inf, together: bool = False
) -> Outcome:
    """As `predict`, for chunks that differ: (seconds of a chunk, how many of them), sent in that order.

    most: chunks in a task.
    """
    runs = [run for run in runs if run[1]]
    work = fsum(seconds * chunks for seconds, chunks in runs)
    model = _Model(workers, runs, work, costs, max(1.0, most), together)
    wall = model.run()
    shares = model.driver.share(wall), model.scheduler.share(wall)
    return Outcome(wall, work / workers / wall, *shares, model.tasks, tuple(model.free))


class _Process:
    """Does one thing after the other, in the order in which they come. lost: share of its time for other things."""

    def __init__(self, lost: float) -> None:
        self._lost, self._free, self._busy = min(lost, 0.99), 0.0, 0.0

    def does(self, now: float, seconds: float) -> float:
        """When it is through with what comes now."""
        self._free = max(self._free, now) + seconds / (1 - self._lost)
        self._busy += seconds
        return self._free

    def share(self, wall: float) -> float:
        """Of so many seconds in all, in which it was busy."""
        return min(1.0, self._busy / wall + self._lost)


class _Model:
    """The state of a simulated run: what happens next is on a heap of (when, in which order, what)."""

    def __init__(self, workers, runs, work, costs, most, together):
        lost = costs.listening(workers)
        self.scheduler = _Process(lost)
        self.driver = self.scheduler if together else _Process(0.0)
        self.tasks, self.free = 0, [0.0] * workers  # free: when a worker is through with what it has
        self._room, self._ready = schedule.WINDOW * workers, deque()  # what has arrived: chunks and seconds
        self._has_sent = self._waits = False
        self._runs, self._left, self._costs, self._most = deque(runs), work, costs, most
        self._speed = schedule.Speed()
        self._flying = [0] * workers
        self._fewest = [(0, worker) for worker in range(workers)]
        self._coming: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._order = count()

    def run(self) -> float:
        """When the last result has been kept."""
        now = 0.0
        self._at(now, self._drive)
        while self._coming:
            now, _, what, about = heapq.heappop(self._coming)
            what(now, *about)
        return now

    def _at(self, when, what, *about):
        heapq.heappush(self._coming, (when, next(self._order), what, about))

    def _drive(self, now):
        """What the driver does next: as `DaskExecutor` does it."""
        if self._ready and (self._has_sent or not self._runs):
            self._receive(now, *self._ready.popleft())
        elif self._runs and self._room:
            self._send(now)
        else:
            self._waits = True

    def _send(self, now):
        size, seconds = self._task()
        self._room, self.tasks, self._has_sent = self._room - 1, self.tasks + 1, True
        sent = self.driver.does(now, self._costs.of_driver(size) / 2)
        self._at(sent, self._choose, size, seconds)
        self._at(sent, self._drive)

    def _receive(self, now, size, seconds):
        self._room, self._has_sent = self._room + 1, False
        self._speed.learn(seconds, seconds, size)
        self._at(self.driver.does(now, self._costs.of_driver(size) / 2), self._drive)

    def _choose(self, now, size, seconds):
        """The scheduler hands a task to the worker that has the fewest, which does it when it has done those."""
        costs, workers = self._costs, len(self.free)
        chosen = self.scheduler.does(now, costs.of_scheduler(size, 0) / 2 + workers * costs.choice)
        while self._flying[self._fewest[0][1]] != self._fewest[0][0]:  # outdated
            heapq.heappop(self._fewest)
        worker = self._fewest[0][1]
        self._count(worker, 1)
        self.free[worker] = max(self.free[worker], chosen + costs.delay / 2) + costs.worker + seconds
        self._at(self.free[worker] + costs.delay / 2, self._return, worker, size, seconds)

    def _return(self, now, worker, size, seconds):
        self._count(worker, -1)
        self._at(self.scheduler.does(now, self._costs.of_scheduler(size, 0) / 2), self._arrive, size, seconds)

    def _arrive(self, now, size, seconds):
        self._ready.append((size, seconds))
        if self._waits:
            self._waits = False
            self._drive(now)

    def _task(self):
        """Chunks and seconds of the next task, by the engine's own rule."""
        wanted, chunks_wanted = self._speed.size(self._left, len(self.free))
        most, size, taken = min(self._most, ceil(chunks_wanted)), 0, 0.0
        while self._runs and (not size or (taken < wanted and size + 1 <= most)):
            seconds, chunks = self._runs.popleft()
            more = min(chunks, max(1, ceil(min((wanted - taken) / seconds, most - size))))
            if more < chunks:
                self._runs.appendleft((seconds, chunks - more))
            size, taken = size + more, taken + more * seconds
        self._left -= taken
        return size, taken

    def _count(self, worker, change):
        self._flying[worker] += change
        heapq.heappush(self._fewest, (self._flying[worker], worker))
