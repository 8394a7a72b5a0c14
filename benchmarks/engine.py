"""The cost of the engine beside the cells: trivial cells, cells of 50 ms on two workers, long tasks, planning.

Both wall and CPU time are reported. On a busy machine they differ, and then only CPU time is meaningful.
"""

import multiprocessing
import os
import tempfile
import time
import tracemalloc
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from benchmarks.framework import composed
from tcdp_sim.engine import clusters, run, simulate
from tcdp_sim.engine.clusters.tuning import SETTINGS
from tcdp_sim.engine.schedule import SerialExecutor
from tcdp_sim.engine.schedule import simulate as simulate_all
from tcdp_sim.mechanisms import MECHANISMS, Mechanism, Observable, declared
from tcdp_sim.mechanisms.axes import K
from tcdp_sim.privacy import ZCDP
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study import cells as sweep
from tcdp_sim.study.settings import settings

ROUNDS = 5
TRIVIAL = 5000  # cells
PLANNED = 10_000
REAL = 200  # cells of CELL_SECONDS
CELL_SECONDS = 0.05
WORKERS = 2


class Trivial(Mechanism):
    """A mechanism of next to no cost: one uniform number per trial."""

    name, version = "trivial", 1
    axes = declared(K)
    required = ("k",)
    options = ()
    observables = MappingProxyType({"x": Observable("1", "a uniform number")})
    events = MappingProxyType({})
    work = 1.0
    guarantee = ZCDP(1.0)

    @classmethod
    def uses(cls, point):
        return tuple(cls.axes)

    @classmethod
    def law(cls, point, options, counts):
        return {"mechanism": cls.name, "version": cls.version, "k": point["k"]}

    @classmethod
    def build(cls, law, counts):
        return cls()

    def simulate(self, rng, trials):
        return {"x": rng.random(trials)}


@dataclass
class Watch:
    """A stopwatch for a block: wall seconds, and CPU seconds of this process alone."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall, self.cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu


@contextmanager
def known(mechanism):
    """Register the mechanism under its name in this process, for the time of the block."""
    MECHANISMS[mechanism.name] = mechanism
    try:
        yield
    finally:
        del MECHANISMS[mechanism.name]


def engine():
    """Run all benchmarks of this file."""
    yield from trivial_cells()
    yield from two_workers()
    yield from planning()


def trivial_cells():
    """Measure trivial cells in this process, in batches: in memory, and with every record in a journal on disk."""
    with known(Trivial):
        points = [{"k": float(k)} for k in range(TRIVIAL)]
        plan = sweep.plan({"sweep": points}, Trivial, {}, None, {})
        found = [(_in_memory(plan), _durable(plan)) for _ in range(ROUNDS)]
    for watches, what, aim in zip(zip(*found), ("in memory", "with durable records"), ("0.1", "0.5")):
        wall, cpu = (1e3 * np.median([getattr(w, kind) for w in watches]) / TRIVIAL for kind in ("wall", "cpu"))
        yield f"a trivial cell in batches, {what}", f"{wall:.3f} ms (CPU {cpu:.3f})", f"<= {aim} ms"


def _in_memory(plan) -> Watch:
    found = []
    with Watch() as watch:
        _simulate(SerialExecutor(), plan.cells, plan.counts, 4, found.append)
    assert sum(len(done.records) for done in found) == TRIVIAL
    return watch


def _durable(plan) -> Watch:
    with Watch() as watch, journal() as receive:
        _simulate(SerialExecutor(), plan.cells, plan.counts, 4, receive)
    return watch


@contextmanager
def journal():
    """Yield a function that appends finished tasks to a new journal. The journal is on disk when the block ends."""
    with tempfile.TemporaryDirectory() as folder, Run(Path(folder) / "run", {}).writer({}) as writer:

        def receive(done):
            for record in done.records:
                writer.append(record.cell, record.chunk, record.summary)

        yield receive


def _simulate(executor, cells, counts, trials, receive):
    simulate_all(executor, [(cell, 0) for cell in cells], len(cells), counts, 1, trials, receive)


def two_workers():
    """Compare cells of 50 ms on two workers, journal included, with two bare processes that do half of them each."""
    prepared = _prepared(REAL, "sweep.k={from: 1e3, to: 1e12, num: 200, scale: log}")
    cells, counts, trials = prepared.plan.cells, prepared.plan.counts, _trials(prepared)
    halves = [[_task(cell, counts, trials) for cell in cells[i::WORKERS]] for i in range(WORKERS)]
    with _bare_processes() as processes, clusters.connect({"name": "local", "workers": WORKERS}) as executor:
        found = [(_bare(processes, halves), *_ours(executor, cells, counts, trials)) for _ in range(1 + ROUNDS)]
    bare, ours, share = np.transpose(found[1:])  # the first round is a warm-up
    aim = ">= 92%"
    yield f"{REAL} cells of 50 ms: share of {WORKERS} bare processes' speed", f"{np.median(bare / ours):.1%}", aim
    yield "  seconds, bare and here", f"{np.median(bare):.2f}, {np.median(ours):.2f}", ""
    yield "  CPU of driver and scheduler over the workers' time", f"{np.median(share):.1%}", "< 5%"


def _ours(executor, cells, counts, trials) -> tuple[float, float]:
    """Return wall seconds, and the CPU time of this process over the time that workers were busy."""
    busy = 0.0

    def receive(done):
        nonlocal busy
        busy += done.seconds
        keep(done)

    with Watch() as watch, journal() as keep:
        _simulate(executor, cells, counts, trials, receive)
    return watch.wall, watch.cpu / busy


def _prepared(cells, axis):
    found = run.prepare(settings(composed("also=null", "sweep.noise=gaussian", "sweep.rho=0.1", axis)))
    assert len(found.plan.cells) == cells
    return found


def _trials(prepared) -> int:
    """Return the number of trials whose chunk takes CELL_SECONDS on this machine."""
    trials = 50_000
    task = _task(prepared.plan.cells[0], prepared.plan.counts, trials)
    return round(trials * CELL_SECONDS / min(simulate.run(task).seconds for _ in range(2 * ROUNDS)))


def _task(cell, counts, trials):
    return simulate.Task(1, trials, (simulate.Batch(cell.id, cell.law, counts[cell.counts], (0,)),))


@contextmanager
def _bare_processes():
    """Yield pipes to processes that run lists of tasks and answer when done. They have the allocator of our workers."""
    spawn, pipes = multiprocessing.get_context("spawn"), []
    with _environment({name.rpartition(".")[2]: str(value) for name, value in SETTINGS.items() if "MALLOC" in name}):
        for _ in range(WORKERS):
            here, there = spawn.Pipe()
            spawn.Process(target=_serve, args=(there,), daemon=True).start()
            pipes.append(here)
    try:
        yield pipes
    finally:
        for pipe in pipes:
            pipe.send(None)


@contextmanager
def _environment(added):
    before = dict(os.environ)
    os.environ.update(added)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _serve(pipe):
    while tasks := pipe.recv():
        for task in tasks:
            simulate.run(task)
        pipe.send(len(tasks))


def _bare(pipes, lists) -> float:
    """Return the wall seconds until all processes have finished their lists."""
    with Watch() as watch:
        for pipe, tasks in zip(pipes, lists):
            pipe.send(tasks)
        for pipe in pipes:
            pipe.recv()
    return watch.wall


def planning():
    """Measure 10,000 cells from a composed config to a checked plan: seconds, and bytes per cell that remain."""
    words = ("also=null", "sweep.noise=gaussian", f"sweep.k={{from: 1e6, to: 1e12, num: {PLANNED}, scale: log}}")
    watches = []
    raw = composed("sweep.rho=0.1", *words)
    for _ in range(ROUNDS):
        with Watch() as watch:
            prepared = run.prepare(settings(raw))
        watches.append(watch)
    wall, cpu = (np.median([getattr(watch, kind) for watch in watches]) for kind in ("wall", "cpu"))
    yield f"planning {PLANNED:,} cells", f"{wall:.2f} s (CPU {cpu:.2f})", "< 1 s"
    assert len(prepared.plan.cells) == PLANNED
    yield "  memory of a planned cell", f"{bytes_a_cell(raw) / 1e3:.2f} kB", "<= 1 kB"


def bytes_a_cell(raw) -> float:
    """Return the memory of a plan per cell, in bytes."""
    tracemalloc.start()
    try:
        plan = run.prepare(settings(raw)).plan
        return tracemalloc.get_traced_memory()[0] / len(plan.cells)
    finally:
        tracemalloc.stop()
