"""A discrete-event simulation of a run with many workers, limited by its one driver and its scheduler."""

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
    """The costs of the driver, the scheduler and a worker, in CPU seconds; both ways of a task count as one.

    - `task`, `chunk`, `byte`: seconds of the driver per task, per chunk in it, and per byte of its record.
    - `scheduler_task`, `scheduler_chunk`, `scheduler_byte`: the same of the scheduler.
    - `choice`: seconds of the scheduler per task and worker, for the choice of the worker.
    - `idle`: seconds of the scheduler per second, independent of the load.
    - `beat`: seconds of the scheduler per heartbeat of a worker.
    - `worker`: seconds of a worker per task.
    - `delay`: wall seconds from the driver to a worker and back.
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
        """Return the costs for records of that size in bytes, as costs per chunk."""
        chunk, scheduler_chunk = self.chunk + size * self.byte, self.scheduler_chunk + size * self.scheduler_byte
        return replace(self, chunk=chunk, scheduler_chunk=scheduler_chunk, byte=0.0, scheduler_byte=0.0)

    def of_driver(self, chunks: float) -> float:
        """Return the driver's seconds for a task of that many chunks."""
        return self.task + chunks * self.chunk

    def of_scheduler(self, chunks: float, workers: int) -> float:
        """Return the scheduler's seconds for a task of that many chunks."""
        return self.scheduler_task + chunks * self.scheduler_chunk + workers * self.choice

    def listening(self, workers: int) -> float:
        """Return the share of the scheduler's time that belongs to no task. Heartbeats come at dask's intervals."""
        return self.idle + self.beat * workers / heartbeat_interval(workers)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a simulated run.

    - `wall`: wall seconds.
    - `used`: share of the wall time in which the workers compute chunks.
    - `driver`, `scheduler`: shares of the wall time in which the driver and the scheduler are busy.
    - `tasks`: number of tasks.
    - `ends`: second at which each worker ended its last task.
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
    """Simulate the engine's loop event by event: one driver, WINDOW tasks per worker, task sizes by the engine's rule.

    `seconds` is the duration of a chunk. `longest` limits the seconds of a task, where the engine would choose a longer
    one. If `together`, scheduler and driver are one process: one waits while the other works, and their shares are
    equal.
    """
    return run_through(workers, [(seconds, chunks)], costs, longest / seconds, together)


def run_through(
    workers: int, runs: Iterable[tuple[float, int]], costs: Costs, most: float = inf, together: bool = False
) -> Outcome:
    """Simulate runs of chunks that differ, given as (seconds of a chunk, number of chunks) in the order of sending.

    `most` limits the chunks in a task. The rest is as in `predict`.
    """
    runs = [run for run in runs if run[1]]
    work = fsum(seconds * chunks for seconds, chunks in runs)
    model = _Model(workers, runs, work, costs, max(1.0, most), together)
    wall = model.run()
    shares = model.driver.share(wall), model.scheduler.share(wall)
    return Outcome(wall, work / workers / wall, *shares, model.tasks, tuple(model.free))


class _Process:
    """A process that does one thing after the other. The share `lost` of its time goes to other things."""

    def __init__(self, lost: float) -> None:
        self._lost, self._free, self._busy = min(lost, 0.99), 0.0, 0.0

    def does(self, now: float, seconds: float) -> float:
        """Return the time at which the process has finished the new work."""
        self._free = max(self._free, now) + seconds / (1 - self._lost)
        self._busy += seconds
        return self._free

    def share(self, wall: float) -> float:
        """Return the share of `wall` seconds in which the process was busy."""
        return min(1.0, self._busy / wall + self._lost)


class _Model:
    """The state of a simulated run. Future events are on a heap of (time, order, function, arguments)."""

    def __init__(self, workers, runs, work, costs, most, together):
        lost = costs.listening(workers)
        self.scheduler = _Process(lost)
        self.driver = self.scheduler if together else _Process(0.0)
        self.tasks, self.free = 0, [0.0] * workers  # free: the time at which a worker has finished its tasks
        self._room, self._ready = schedule.WINDOW * workers, deque()  # _ready: chunks, seconds
        self._has_sent = self._waits = False
        self._runs, self._left, self._costs, self._most = deque(runs), work, costs, most
        self._speed = schedule.Speed()
        self._flying = [0] * workers
        self._fewest = [(0, worker) for worker in range(workers)]
        self._coming: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._order = count()

    def run(self) -> float:
        """Return the time at which the last result has been kept."""
        now = 0.0
        self._at(now, self._drive)
        while self._coming:
            now, _, what, about = heapq.heappop(self._coming)
            what(now, *about)
        return now

    def _at(self, when, what, *about):
        heapq.heappush(self._coming, (when, next(self._order), what, about))

    def _drive(self, now):
        """Do the driver's next step, in the order of `DaskExecutor`."""
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
        """Give a task to the worker with the fewest tasks, which does it after those."""
        costs, workers = self._costs, len(self.free)
        chosen = self.scheduler.does(now, costs.of_scheduler(size, 0) / 2 + workers * costs.choice)
        while self._flying[self._fewest[0][1]] != self._fewest[0][0]:  # outdated entries
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
        """Return the chunks and seconds of the next task, by the engine's own rule."""
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
