"""The cost of the framework beside the mathematics."""

import os
import tempfile
import time
from contextlib import contextmanager
from statistics import median

import psutil

from tcdp_sim.engine import clusters, run, schedule
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.study.settings import settings


def composed(*words):
    from hydra import compose
    from omegaconf import OmegaConf

    from tcdp_sim.study.compose import our_configs

    with our_configs():
        return OmegaConf.to_container(compose("config", list(words)), resolve=True)


@contextmanager
def empty_folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def planning():
    """Measure seconds per cell from a composed config to a checked plan, as the slope in the number of cells."""
    few, many = (median(_plan_seconds(cells) for _ in range(3)) for cells in (1000, 6000))
    yield "planning a cell", f"{1e3 * (many - few) / 5000:.3f} ms", "< 0.1 ms"


def _plan_seconds(cells):
    axis = f"sweep.k={{from: 10, to: 1e12, num: {cells // 2}, scale: log}}"
    raw = composed("also=null", "sweep.noise=[gaussian,sinh_normal]", "sweep.omega_sqrt_rho=1", "sweep.rho=0.1", axis)
    started = time.perf_counter()
    run.prepare(settings(raw))
    return time.perf_counter() - started


def overhead():
    """Measure seconds per cell with next to no trials (planning, batching, journal, snapshot), as a slope."""
    few, many = (median(_run_seconds(cells) for _ in range(3)) for cells in (200, 1200))
    yield "framework overhead a cell (serial, journal and snapshot)", f"{1e3 * (many - few) / 1000:.2f} ms", "< 1 ms"


def _run_seconds(cells):
    axis = f"sweep.k={{from: 10, to: 1e12, num: {cells}, scale: log}}"
    words = ("cluster=serial", "trials=10", "chunk=10", "also=null", "sweep.noise=gaussian", "sweep.rho=0.1", axis)
    with empty_folder():
        started = time.perf_counter()
        run.execute(run.prepare(settings(composed(*words))), lambda line: None)
        return time.perf_counter() - started


def memory():
    """Measure the largest worker's memory at 1, 10 and 40 chunks per cell."""
    peaks = [_peak(chunks) for chunks in (1, 10, 40)]
    yield "peak memory of a worker at 40 chunks a cell against 1", f"{peaks[-1] / peaks[0]:.2f} x", "bounded"
    yield "  megabytes", ", ".join(f"{peak / 2**20:.0f}" for peak in peaks), ""


def _peak(chunks):
    words = (f"trials={50_000 * chunks}", "sweep.k=[10,1e6,1e12]", "sweep.rho=0.1", "also=null")
    prepared = run.prepare(settings(composed(*words)))
    cells = prepared.plan.laws
    todo = Pending(cells, Wanted(cells, chunks), lambda cell, chunk: False)
    peak = 0

    def receive(_):
        nonlocal peak
        workers = [p for p in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
        peak = max([peak, *(p.memory_info().rss for p in workers)])

    with clusters.connect({"name": "local", "workers": 1}) as executor:
        schedule.simulate(executor, todo, todo.work, prepared.plan.counts, 1, 50_000, receive)
    return peak


def workers():
    """Measure the default study from start to published snapshot, on two workers and on one, start-up included."""
    one, two = (median(_study_seconds(n) for _ in range(3)) for n in (1, 2))
    yield "default study, 2 workers against 1", f"{one / two:.2f} x", ">= 1.7 x"
    yield "  seconds on 1 and 2 workers", f"{one:.1f}, {two:.1f}", ""


def _study_seconds(count):
    prepared = run.prepare(settings(composed(f"cluster.workers={count}")))
    with empty_folder():
        started = time.perf_counter()
        run.execute(prepared, lambda line: None)
        return time.perf_counter() - started
