"""How far one driver reaches: a simulation of the engine with costs measured here, checked against sleeping workers.

Sleeping workers, because that many of them fit on any machine; the driver and its scheduler do all their work.
"""

import heapq
import time
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil, inf
from statistics import median

import psutil

from benchmarks.engine import Trivial, Watch, journal, known
from tcdp_sim import engine, simulate, sweep
from tcdp_sim.clusters import local
from tcdp_sim.mechanisms import MECHANISMS
from tcdp_sim.progress import Tally

MILLION = 1_000_000
CHECKED = ((1, 1.0), (2, 1.0), (4, 1.0), (8, 1.0), (16, 1.0), (16, 0.1), (16, 0.01))  # workers, seconds a task at most
CHECK_CHUNK, CHECK_SECONDS = 0.01, 10  # of sleep in a chunk; of a check, if nothing else took time
CHUNKS = (0.0005, 0.05, 1.0)  # seconds: a cell of a few trials, of some 1e5 trials, of some 1e6
MOST = 10_000  # workers that are asked about


class Sleep(Trivial):
    """A chunk that takes time, but no processor."""

    name = "sleep"
    options = ("seconds",)

    def __init__(self, seconds: float):
        self._seconds = seconds

    @classmethod
    def law(cls, point, options, counts):
        return super().law(point, options, counts) | options

    @classmethod
    def build(cls, law, counts):
        return cls(law["seconds"])

    def simulate(self, rng, trials):
        time.sleep(self._seconds)
        return super().simulate(rng, trials)


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
        self.left, self.room, self.tasks = chunks, engine.WINDOW * workers, 0
        self.now = self.busy = 0.0
        self.results: list[tuple[float, int, int]] = []  # when they arrive, from which worker, chunks
        self._seconds, self._costs, self._most = seconds, costs, max(1, longest / seconds)
        self._speed = engine._Speed()
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
        self._speed.learn(simulate.Done(range(size), "", size * self._seconds, size))

    def _spend(self, seconds):
        self.now += seconds
        self.busy += seconds

    def _count(self, worker, change):
        self._flying[worker] += change
        heapq.heappush(self._fewest, (self._flying[worker], worker))


def measured(workers: int, chunks: int, seconds: float, longest: float) -> tuple[float, float]:
    """Wall seconds, and the driver's CPU over them, of the engine with workers that sleep."""
    with known(Sleep), sleepers(workers) as (_, executor), _longest(longest):
        plan = _plan(chunks, seconds)
        _run(executor, _plan(workers, 0.01))  # to warm up
        with Watch() as watch:
            _run(executor, plan)
    return watch.wall, watch.cpu / watch.wall


@contextmanager
def _longest(seconds):
    before, engine.TASK_SECONDS = engine.TASK_SECONDS, seconds
    try:
        yield
    finally:
        engine.TASK_SECONDS = before


@contextmanager
def sleepers(workers):
    """A local cluster whose workers know how to sleep: (client, executor)."""
    with local.client({"workers": workers}, print) as client:
        client.run(_introduce)
        yield client, engine.DaskExecutor(client, workers)


def _introduce():
    MECHANISMS[Sleep.name] = Sleep


def _plan(chunks, seconds):
    points = [{"k": float(k)} for k in range(chunks)]
    return sweep.plan({"sweep": points}, Sleep, {"seconds": seconds}, None, {})


def _run(executor, plan):
    todo = [(cell, 0) for cell in plan.cells]
    with journal() as keep:
        receive = _receiver(todo, keep)
        engine.simulate(executor, todo, len(todo), plan.counts, 1, 4, receive)


def _receiver(todo, keep):
    tally = Tally(todo, {cell.id: 1 for cell, _ in todo}, 4)

    def receive(done):
        keep(done)
        tally.add(done.records)

    return receive


def measure() -> Costs:
    """The costs on this machine, of tasks of one chunk and of a hundred that take no time, on two workers."""
    with known(Sleep), sleepers(2) as (client, executor):
        _spent(executor, 50, 1)
        few, many = (_spent(executor, tasks, size) for tasks, size in ((400, 1), (100, 100)))
        chunk = [(b - a) / 99 for a, b in zip(few, many)]
        task = [max(a - c, 0.0) for a, c in zip(few, chunk)]
        delays = [_seconds(lambda: client.submit(len, "", pure=False).result()) for _ in range(50)]
        return Costs(task[0], chunk[0], _choice(client), task[1], median(delays))


def _spent(executor, count, size) -> tuple[float, float]:
    """CPU seconds of the driver and of the workers, a task."""
    plan = _plan(count * size, 0.0)
    cells = plan.cells
    with journal() as keep:
        receive = _receiver([(cell, 0) for cell in cells], keep)
        before = _workers_cpu()
        with Watch() as watch:
            for done in executor.results(_task(cells[i : i + size]) for i in range(0, len(cells), size)):
                receive(done)
    return watch.cpu / count, (_workers_cpu() - before) / count


def _task(cells):
    return simulate.Task(1, 4, tuple(simulate.Batch(cell.id, cell.law, None, (0,)) for cell in cells))


def _workers_cpu() -> float:
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return sum(one.user + one.system for one in times)


def _seconds(call) -> float:
    with Watch() as watch:
        call()
    return watch.wall


def _choice(client) -> float:
    """What it takes the scheduler to look at one worker when it chooses one for a task."""
    scheduler = client.cluster.scheduler
    future = client.submit(time.sleep, 1, pure=False)
    while future.key not in scheduler.tasks:
        time.sleep(0.01)
    task, worker = scheduler.tasks[future.key], next(iter(scheduler.workers.values()))
    return (
        min(_seconds(lambda: [scheduler.worker_objective(task, worker) for _ in range(1000)]) for _ in range(9)) / 1000
    )


def scaling():
    """The costs, the check of the model, and what it predicts for a million cells."""
    costs = measure()
    yield "a task: driver and scheduler's CPU", f"{1e3 * costs.task:.2f} ms", ""
    yield "  a chunk of it, journal included", f"{1e3 * costs.chunk:.3f} ms", ""
    yield "  choice of a worker, for each worker", f"{1e6 * costs.choice:.2f} us", ""
    yield "  a worker's CPU", f"{1e3 * costs.worker:.2f} ms", ""
    yield "  there and back", f"{1e3 * costs.delay:.1f} ms", ""
    yield from _checks(costs)
    yield from _predictions(costs)


def _checks(costs):
    for workers, longest in CHECKED:
        chunks = round(workers * CHECK_SECONDS / CHECK_CHUNK)
        wall, driver = measured(workers, chunks, CHECK_CHUNK, longest)
        told = predict(workers, chunks, CHECK_CHUNK, costs, longest)
        yield (
            f"{workers} sleeping workers, tasks of {longest:g} s: seconds, predicted and measured",
            f"{told.wall:.2f}, {wall:.2f} ({told.wall / wall - 1:+.0%})",
            "within 10%",
        )
        yield "  driver busy, predicted and measured", f"{told.driver:.1%}, {driver:.1%}", ""


def _predictions(costs):
    for seconds in CHUNKS:
        for workers in (10, 100, 1000):
            told = predict(workers, MILLION, seconds, costs)
            yield (
                f"1e6 chunks of {seconds:g} s, {workers} workers: time, workers used",
                f"{_duration(told.wall)}, {told.used:.0%}",
                ">= 95%" if seconds == 1 else "",
            )
            yield "  tasks; driver busy", f"{told.tasks:,}; {told.driver:.0%}", ""
    for seconds in CHUNKS:
        at_once, by_rule = (_reach(costs, seconds, length) for length in (lambda _: 1.0, engine.task_seconds))
        yield f"workers that one driver can serve, chunks of {seconds:g} s", f"{by_rule:,}", ""
        yield "  if tasks were of 1 s for any number of workers", f"{at_once:,}", ""


def _reach(costs, seconds, length) -> int:
    """Workers that leave the driver no time; length(workers): seconds a task."""
    workers = 1
    while workers < MOST and workers * _share(costs, seconds, workers, length(workers)) < 1:
        workers += 1
    return workers


def _share(costs, seconds, workers, length) -> float:
    """Of the driver's time, for one of the workers."""
    return (costs.task + workers * costs.choice) / max(length, seconds) + costs.chunk / seconds


def _duration(seconds):
    return f"{seconds / 3600:.1f} h" if seconds > 7200 else f"{seconds / 60:.1f} min"
