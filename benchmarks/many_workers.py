"""A run with many workers, simulated event by event: what the one driver lets them do."""

import heapq
from dataclasses import dataclass
from math import ceil, inf

from tcdp_sim.engine import schedule
from tcdp_sim.engine.simulate import Done


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
    """Wall seconds; shares of the time that workers are at chunks and that the driver is busy; tasks."""

    wall: float
    used: float
    driver: float
    tasks: int


def predict(workers: int, chunks: int, seconds: float, costs: Costs, longest: float = inf) -> Outcome:
    """The engine's loop, event by event: one driver, WINDOW tasks a worker, sizes by the engine's own rule.

    seconds: a chunk takes; longest: task in seconds, where that is shorter than what the engine chooses.
    """
    model = _Model(workers, chunks, seconds, costs, longest)
    while model.left or model.results:
        if model.left:
            model.send()
        if not model.left or model.room == 0 or model.results[0][0] <= model.now:
            model.receive()
    return Outcome(model.now, chunks * seconds / workers / model.now, model.busy / model.now, model.tasks)


class _Model:
    """The state of a simulated run. The driver does one thing after the other; so does each worker."""

    def __init__(self, workers, chunks, seconds, costs, longest):
        self.left, self.room, self.tasks = chunks, schedule.WINDOW * workers, 0
        self.now = self.busy = 0.0
        self.results: list[tuple[float, int, int]] = []  # when they arrive, from which worker, chunks
        self._seconds, self._costs, self._most = seconds, costs, max(1, longest / seconds)
        self._speed = schedule._Speed()
        self._free, self._flying = [0.0] * workers, [0] * workers  # when a worker is through with what it has
        self._fewest = [(0, worker) for worker in range(workers)]

    def send(self):
        costs, workers = self._costs, len(self._free)
        size = ceil(min(self.left, self._most, max(1.0, self._speed.size(self.left, workers))))
        self.left, self.room, self.tasks = self.left - size, self.room - 1, self.tasks + 1
        self._spend((costs.task + size * costs.chunk) / 2 + workers * costs.choice)
        while self._flying[self._fewest[0][1]] != self._fewest[0][0]:  # outdated
            heapq.heappop(self._fewest)
        worker = self._fewest[0][1]
        self._count(worker, 1)
        started = max(self._free[worker], self.now + costs.delay / 2)
        self._free[worker] = started + costs.worker + size * self._seconds
        heapq.heappush(self.results, (self._free[worker] + costs.delay / 2, worker, size))

    def receive(self):
        arrived, worker, size = heapq.heappop(self.results)
        self.now, self.room = max(self.now, arrived), self.room + 1
        self._spend((self._costs.task + size * self._costs.chunk) / 2)
        self._count(worker, -1)
        self._speed.learn(Done(range(size), "", size * self._seconds, size))

    def _spend(self, seconds):
        self.now += seconds
        self.busy += seconds

    def _count(self, worker, change):
        self._flying[worker] += change
        heapq.heappush(self._fewest, (self._flying[worker], worker))
