"""How far one driver reaches: a model of many workers with costs measured here, checked against workers that sleep.

Those that sleep, because sixteen fit on two cores; the driver and its scheduler do all their work.
"""

import time
import tracemalloc
from contextlib import contextmanager
from statistics import median

import psutil
from rich.console import Console

from benchmarks.engine import Trivial, Watch, journal, known
from benchmarks.framework import composed, empty_folder
from benchmarks.many_workers import Costs, predict
from tcdp_sim.engine import run, schedule, simulate
from tcdp_sim.engine.clusters import local
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.engine.progress import Tally
from tcdp_sim.mechanisms import MECHANISMS
from tcdp_sim.store.table import BLOCK
from tcdp_sim.study import cells as sweep
from tcdp_sim.study.settings import settings

MILLION = 1_000_000
CHECKED = ((1, 1.0), (2, 1.0), (4, 1.0), (8, 1.0), (16, 1.0), (16, 0.1))  # workers, seconds a task at most
CHECK_CHUNK, CHECK_SECONDS = 0.05, 10  # of sleep in a chunk; of a check, if nothing else took time
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
    before, schedule.TASK_SECONDS = schedule.TASK_SECONDS, seconds
    try:
        yield
    finally:
        schedule.TASK_SECONDS = before


@contextmanager
def sleepers(workers):
    """A local cluster whose workers know how to sleep: (client, executor)."""
    with local.client({"workers": workers}, print) as client:
        client.run(_introduce)
        yield client, schedule.DaskExecutor(client, workers)


def _introduce():
    MECHANISMS[Sleep.name] = Sleep


def _plan(chunks, seconds):
    points = [{"k": float(k)} for k in range(chunks)]
    return sweep.plan({"sweep": points}, Sleep, {"seconds": seconds}, None, {})


def _run(executor, plan):
    todo = _todo(plan)
    with journal() as keep:
        receive = _receiver(plan, keep)
        schedule.simulate(executor, todo, todo.work, plan.counts, 1, 4, receive)


def _todo(plan):
    return Pending(plan.cells, Wanted(plan.cells, 1), lambda cell, chunk: False)


def _receiver(plan, keep):
    tally = Tally(_todo(plan), 4)

    def receive(done):
        keep(done)
        tally.add(done)

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
        receive = _receiver(plan, keep)
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
    yield from _driver()


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
        at_once, by_rule = (_reach(costs, seconds, length) for length in (lambda _: 1.0, schedule.task_seconds))
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


def _driver():
    """What the driver does alone: planning at the start, tabulating and publishing at the end; and its memory."""
    sizes = (BLOCK, 2 * BLOCK)
    few, many = (_alone(cells) for cells in sizes)
    spent = [1e6 * (b - a) / BLOCK for a, b in zip(few, many)]
    yield "1e6 cells: the driver's CPU for the plan; for table, snapshot, certificate", _durations(spent), ""
    few, many = (_peak(cells) for cells in sizes)
    yield "  its memory at the most", f"{1e6 * (many - few) / BLOCK / 1e9:.1f} GB", ""


def _study(cells):
    axis = f"sweep.k={{from: 1e6, to: 1e12, num: {cells}, scale: log}}"
    return composed(
        "also=null", "sweep.noise=gaussian", "sweep.rho=0.1", "trials=10", "chunk=10", "cluster=serial", axis
    )


def _alone(cells) -> tuple[float, float]:
    """CPU seconds of planning, and of publishing what has been simulated."""
    raw, console = _study(cells), Console(quiet=True)
    with empty_folder():
        run.execute(run.prepare(settings(raw)), console.print)
        with Watch() as plan:
            prepared = run.prepare(settings(raw))
        with Watch() as publish:
            run.execute(prepared, console.print)
    return plan.cpu, publish.cpu


def _peak(cells) -> int:
    """Bytes that a run allocates at the most, from its config to its certificate."""
    with empty_folder():
        tracemalloc.start()
        try:
            run.execute(run.prepare(settings(_study(cells))), lambda line: None)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def _durations(seconds):
    return ", ".join(map(_duration, seconds))


def _duration(seconds):
    return f"{seconds / 3600:.1f} h" if seconds > 7200 else f"{seconds / 60:.1f} min"
