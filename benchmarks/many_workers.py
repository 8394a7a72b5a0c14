"""A run with many workers, simulated event by event: what the one driver lets them do."""

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, fsum, inf

from tcdp_sim.engine import schedule


@dataclass(frozen=True)
class Costs:
    """Seconds. task, chunk: of the driver's and scheduler's CPU, there and back; choice: of a worker, for each worker
    that there is; worker: of a worker's CPU a task; delay: from the driver to a worker and back."""

    task: float
    chunk: float
    choice: float
    worker: float
    delay: float


@dataclass(frozen=True)
class Outcome:
    """Wall seconds; shares of the time that workers are at chunks and that the driver is busy; tasks.

    ends: when each worker has ended its last task.
    """

    wall: float
    used: float
    driver: float
    tasks: int
    ends: tuple[float, ...]


def predict(workers: int, chunks: int, seconds: float, costs: Costs, longest: float = inf) -> Outcome:
    """The engine's loop, event by event: one driver, WINDOW tasks a worker, sizes by the engine's own rule.

    seconds: a chunk takes; longest: task in seconds, where that is shorter than what the engine chooses.
    """
    return run_through(workers, [(seconds, chunks)], costs, longest / seconds)


def run_through(workers: int, runs: Iterable[tuple[float, int]], costs: Costs, most: float = inf) -> Outcome:
    """As `predict`, for chunks that differ: (seconds of a chunk, how many of them), sent in that order.

    most: chunks in a task.
    """
    runs = [run for run in runs if run[1]]
    work = fsum(seconds * chunks for seconds, chunks in runs)
    model = _Model(workers, runs, work, costs, max(1.0, most))
    while model.coming or model.results:
        if model.coming:
            model.send()
        if not model.coming or model.room == 0 or model.results[0][0] <= model.now:
            model.receive()
    return Outcome(model.now, work / workers / model.now, model.busy / model.now, model.tasks, tuple(model.free))


class _Model:
    """The state of a simulated run. The driver does one thing after the other; so does each worker."""

    def __init__(self, workers, runs, work, costs, most):
        self.room, self.tasks = schedule.WINDOW * workers, 0
        self.now = self.busy = 0.0
        self.results: list[tuple[float, int, int, float]] = []  # when they arrive, from which worker, chunks, seconds
        self.free = [0.0] * workers  # when a worker is through with what it has
        self._runs, self._left, self._costs, self._most = deque(runs), work, costs, most
        self._speed = schedule.Speed()
        self._flying = [0] * workers
        self._fewest = [(0, worker) for worker in range(workers)]

    @property
    def coming(self):
        return bool(self._runs)

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

    def send(self):
        costs, workers = self._costs, len(self.free)
        size, seconds = self._task()
        self.room, self.tasks = self.room - 1, self.tasks + 1
        self._spend((costs.task + size * costs.chunk) / 2 + workers * costs.choice)
        while self._flying[self._fewest[0][1]] != self._fewest[0][0]:  # outdated
            heapq.heappop(self._fewest)
        worker = self._fewest[0][1]
        self._count(worker, 1)
        started = max(self.free[worker], self.now + costs.delay / 2)
        self.free[worker] = started + costs.worker + seconds
        heapq.heappush(self.results, (self.free[worker] + costs.delay / 2, worker, size, seconds))

    def receive(self):
        arrived, worker, size, seconds = heapq.heappop(self.results)
        self.now, self.room = max(self.now, arrived), self.room + 1
        self._spend((self._costs.task + size * self._costs.chunk) / 2)
        self._count(worker, -1)
        self._speed.learn(seconds, seconds, size)

    def _spend(self, seconds):
        self.now += seconds
        self.busy += seconds

    def _count(self, worker, change):
        self._flying[worker] += change
        heapq.heappush(self._fewest, (self._flying[worker], worker))
