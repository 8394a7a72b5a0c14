"""The reach of one driver and its scheduler: measured costs, a model with them, and workers that sleep to check it.

python -m benchmarks scaling                  at most 400 workers
python -m benchmarks scaling most=1000
"""

import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import mean, median
from unittest import mock

from benchmarks.engine import Watch
from benchmarks.framework import composed
from benchmarks.many_workers import Costs, predict
from benchmarks.sleepers import Sleep, Sleepers, sleepers
from tcdp_sim.engine import run, schedule, simulate
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.engine.pilot import pilot
from tcdp_sim.engine.progress import Tally
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study import cells as sweep
from tcdp_sim.study.settings import settings

MILLION = 1_000_000
WORKERS = {50: (1.0, 10.0), 100: (1.0, 10.0), 200: (1.0, 10.0), 400: (10.0,), 1000: (10.0,)}  # seconds of their tasks
LENGTHS = {1.0: (0.5, 10.0), 10.0: (1.0, 40.0)}  # seconds of a task -> of a chunk, of work for each worker
FEW = 2  # workers on which costs are measured
SMALL, LARGE = 4, 20_000  # trials of a chunk with a small record, a large one
ROUNDS = 5
IDLE = 10.0  # seconds of listening to workers that do nothing
CHUNKS = (0.0005, 0.05, 1.0)  # seconds: a cell of a few trials, of some 1e5 trials, of some 1e6
FORECAST = (10, 100, 1000)  # numbers of workers
MOST = 10_000  # largest number of workers that is tried
WHERE = {False: "scheduler apart", True: "scheduler in the driver's process"}


def scaling(most: float = 400):
    """Yield the costs, the check of the model with at most `most` workers, and its prediction for a million chunks."""
    counts = [count for count in WORKERS if count <= most] or [min(WORKERS)]
    with sleepers() as there:
        few = _costs(there)
        checks = [(count, length, _measured(there, count, length)) for count in counts for length in WORKERS[count]]
        costs = _with_workers(there, counts[-1], few)
    with sleepers(together=True) as there:
        together = [(count, WORKERS[count][-1], _measured(there, count, WORKERS[count][-1])) for count in counts[-2:]]
    yield from _told_costs(costs)
    for check in checks:
        yield from _told_check(*check, costs, together=False)
    for check in together:
        yield from _told_check(*check, costs, together=True)
    yield from _predictions(costs.with_records(_record_bytes()))


# Measured costs


def _costs(there: Sleepers) -> Costs:
    """Return the costs of tasks of one chunk and of a hundred chunks that take no time."""
    with there.executor(FEW) as executor:
        _tasks(there, executor, 50, 1)
        idle = _idle(there)
        kinds = ((400, 1, SMALL), (60, 100, SMALL), (60, 100, LARGE))
        found = [[_tasks(there, executor, *kind) for kind in kinds] for _ in range(ROUNDS)]
        delay = median(_delay(executor) for _ in range(50))
    one, many, heavy = ([median(each) for each in zip(*(of[i][0] for of in found))] for i in range(len(kinds)))
    small, large = found[0][1][1], found[0][2][1]
    chunk = [(b - a) / 99 for a, b in zip(one, many)]
    byte = [max(0.0, (c - b) / 100 / (large - small)) for b, c in zip(many, heavy)]
    task = [max(0.0, a - c) for a, c in zip(one, chunk)]
    chunk = [max(0.0, c - small * each) for c, each in zip(chunk, byte)]
    driver, scheduler = ((task[i], chunk[i], byte[i]) for i in range(2))
    return Costs(*driver, *scheduler, idle=idle, worker=task[2], delay=delay)


def _with_workers(there: Sleepers, workers: int, few: Costs) -> Costs:
    """Return the costs with those parts that grow with the number of workers, measured with many workers."""
    with there.executor(workers) as executor:
        _tasks(there, executor, workers, 1)
        idle = _idle(there)
    beats = [Costs(beat=1.0).listening(count) for count in (FEW, workers)]
    beat = max(0.0, (idle - few.idle) / (beats[1] - beats[0]))
    return replace(few, beat=beat, choice=there.choice(), idle=max(0.0, few.idle - beat * beats[0]))


def _idle(there) -> float:
    with there.spent() as spent:
        time.sleep(IDLE)
    return spent.scheduler / spent.wall


def _tasks(there, executor, count, size, trials=SMALL) -> tuple[tuple[float, float, float], float]:
    """Return CPU seconds per task of driver, scheduler and workers, and the bytes of a record."""
    plan = _plan(count * size, 0.0)
    cells, sizes = plan.cells, []
    with _journal() as keep, there.spent() as spent:
        receive = _receiver(plan, keep, trials)
        for done in executor.results(_task(cells[i : i + size], trials) for i in range(0, len(cells), size)):
            receive(done)
            sizes.append(mean(len(record.summary) for record in done.records))
    return (spent.driver / count, spent.scheduler / count, spent.workers / count), mean(sizes)


def _task(cells, trials):
    return simulate.Task(1, trials, tuple(simulate.Batch(cell.id, cell.law, None, (0,)) for cell in cells))


def _delay(executor) -> float:
    """Return the wall seconds from the driver to a worker and back, when the cluster is idle."""
    with Watch() as watch:
        list(executor.results(iter([_task((), SMALL)])))
    return watch.wall


# Measurements with many workers


def _measured(there: Sleepers, workers: int, length: float):
    """Return the costs of the engine's own loop with tasks of that length in seconds."""
    chunk, seconds = LENGTHS[length]
    plan = _plan(round(workers * seconds / chunk), chunk)
    with there.executor(workers) as executor, _tasks_of(length):
        _run(executor, _plan(2 * workers, 0.01))  # a warm-up
        with there.spent() as spent:
            _run(executor, plan)
    return spent


@contextmanager
def _tasks_of(seconds):
    """Fix the seconds of a task for any number of workers, in the engine and so in the model."""
    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(schedule, "TASK_SECONDS", seconds))
        patches.enter_context(mock.patch.object(schedule, "SERVED", inf))
        yield


def _plan(chunks, seconds):
    points = [{"k": float(k)} for k in range(chunks)]
    return sweep.plan({"sweep": points}, Sleep, {"seconds": seconds}, None, {})


def _run(executor, plan):
    todo = _todo(plan)
    with _journal() as keep:
        schedule.simulate(executor, todo, todo.work, plan.counts, 1, SMALL, _receiver(plan, keep, SMALL))


def _todo(plan):
    return Pending(plan.cells, Wanted(plan.cells, 1), lambda cell, chunk: False)


def _receiver(plan, keep, trials):
    tally = Tally(_todo(plan), trials)

    def receive(done):
        for record in done.records:
            keep(record.cell, record.chunk, record.summary)
        tally.add(done)

    return receive


@contextmanager
def _journal():
    with tempfile.TemporaryDirectory() as folder, Run(Path(folder) / "run", {}).writer({}) as writer:
        yield writer.append


# Lines of the table


def _told_costs(costs):
    for who, task, chunk, byte in (
        ("driver", costs.task, costs.chunk, costs.byte),
        ("scheduler", costs.scheduler_task, costs.scheduler_chunk, costs.scheduler_byte),
    ):
        yield f"CPU of the {who}: a task", f"{1e3 * task:.2f} ms", ""
        yield "  a chunk in it, journal included", f"{1e6 * chunk:.0f} us", ""
        yield "  a MB of records", f"{1e9 * byte:.1f} ms", ""
    yield "  choice of a worker, for each worker", f"{1e6 * costs.choice:.2f} us", ""
    yield "  a sign of life; what else it does of itself", f"{1e3 * costs.beat:.2f} ms; {costs.idle:.1%}", ""
    yield "CPU of a worker: a task", f"{1e3 * costs.worker:.2f} ms", ""
    yield "there and back, on the clock", f"{1e3 * costs.delay:.1f} ms", ""


def _told_check(workers, length, spent, costs, together):
    chunk, seconds = LENGTHS[length]
    with _tasks_of(length):
        told = predict(workers, round(workers * seconds / chunk), chunk, costs, together=together)
    what = f"{workers} sleeping workers, tasks of {length:g} s, {WHERE[together]}"
    wall = f"{told.wall:.2f}, {spent.wall:.2f} ({told.wall / spent.wall - 1:+.0%})"
    yield f"{what}: seconds, predicted and measured", wall, "within 10%, where nobody else has the cores"
    later = (spent.wall - told.wall) * costs.listening(workers)  # heartbeats go on while others have the cores
    driver, scheduler = (share * told.wall for share in (told.driver, told.scheduler))
    if together:
        yield "  CPU s of driver and scheduler", f"{driver + later:.2f}, {spent.driver:.2f}", ""
    else:
        yield "  CPU s of the driver", f"{driver:.2f}, {spent.driver:.2f}", ""
        yield "  CPU s of the scheduler", f"{scheduler + later:.2f}, {spent.scheduler:.2f}", ""
    yield "  shares of the driver and the scheduler", f"{told.driver:.0%}, {told.scheduler:.0%}", ""
    yield "  CPU s of all workers together", f"{spent.workers:.2f}", ""


def _predictions(costs):
    for seconds in CHUNKS:
        for workers in FORECAST:
            for together in WHERE:
                told = predict(workers, MILLION, seconds, costs, together=together)
                what = f"1e6 chunks of {seconds:g} s, {workers} workers, {WHERE[together]}: time, workers used"
                yield what, f"{_duration(told.wall)}, {told.used:.0%}", ""
                yield "  tasks; driver, scheduler busy", f"{told.tasks:,}; {told.driver:.0%}, {told.scheduler:.0%}", ""
    for seconds in CHUNKS:
        driver, scheduler, both = (_reach(costs, seconds, *who) for who in ((1, 0), (0, 1), (1, 1)))
        what = f"workers that leave no time, chunks of {seconds:g} s: to the driver, the scheduler, both in one process"
        yield what, f"{driver:,}, {scheduler:,}, {both:,}", ""


def _record_bytes() -> float:
    """Return the bytes of a chunk's record in the default study, as a pilot finds them."""
    study = run.prepare(settings(composed()))
    return pilot(study.plan.laws, study.plan.counts, study.settings).bytes


def _reach(costs, seconds, of_driver, of_scheduler) -> int:
    """Return the fewest workers that fully occupy driver, scheduler, or both in one process, for such chunks."""
    workers = 1
    while workers < MOST:
        chunks = max(1.0, schedule.task_seconds(workers) / seconds)
        each = of_driver * costs.of_driver(chunks) + of_scheduler * costs.of_scheduler(chunks, workers)
        if workers * each / (chunks * seconds) + of_scheduler * costs.listening(workers) >= 1:
            break
        workers += 1
    return workers


def _duration(seconds):
    return f"{seconds / 3600:.1f} h" if seconds > 7200 else f"{seconds / 60:.1f} min"
