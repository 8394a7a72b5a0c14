"""A sweep of a million cells of 10 trials, from its config to the table beside its exact values, stage by stage.

python -m benchmarks million                a million cells on two workers
python -m benchmarks million cells=100000   a tenth of them
python -m benchmarks chunks                 one cell of 1e5 chunks
"""

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest import mock

import psutil
from rich.console import Console

from benchmarks.framework import composed, empty_folder
from tcdp_sim import results
from tcdp_sim.cli import status
from tcdp_sim.cli.run_argument import Given
from tcdp_sim.core.collector import OBJECTS
from tcdp_sim.engine import exact, run
from tcdp_sim.results import published
from tcdp_sim.store import certificate
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study.settings import settings

MILLION = 1_000_000
MINUTES, GIGABYTES = 30, 3  # aims for a million cells
DRIVER_MS, RESUME_SECONDS = 0.3, 15  # aims: per cell and stage; for 1e5 finished cells
LOOK = 0.05  # seconds between two readings of the memory
WORKERS = 2


@dataclass
class Stage:
    """The cost of a stage: wall seconds, CPU seconds of this process and of its workers, and peak memory in bytes."""

    wall: float
    driver: float
    workers: float
    peak: int


class Stages:
    """The costs of the stages of a run."""

    def __init__(self) -> None:
        self.found: dict[str, Stage] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Measure the block as a stage. Stages with one name are added up."""
        before = _clocks()
        with _peak() as peak:
            yield
        spent = [b - a for a, b in zip(before, _clocks())]
        old = self.found.get(name, Stage(0.0, 0.0, 0.0, 0))
        self.found[name] = Stage(
            old.wall + spent[0], old.driver + spent[1], old.workers + spent[2], max(old.peak, peak[0])
        )

    def wrapped(self, name, function):
        """Return the function with its time counted as a stage."""

        def timed(*arguments):
            with self.timed(name):
                return function(*arguments)

        return timed


def _clocks() -> tuple[float, float, float]:
    children = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return time.perf_counter(), time.process_time(), sum(one.user + one.system for one in children)


@contextmanager
def _peak():
    process, peak, end = psutil.Process(), [0], threading.Event()

    def look():
        while not end.wait(LOOK):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        end.set()
        watcher.join()
        peak[0] = max(peak[0], process.memory_info().rss)


def million(cells: float = MILLION, trials: float = 10):
    """Measure every stage of a histogram sweep in which each cell has its own k."""
    n = int(cells)
    axis = f"sweep.k={{from: 1e6, to: 1e12, num: {n}, scale: log}}"
    words = (f"trials={int(trials)}", f"chunk={int(trials)}", f"cluster.workers={WORKERS}", "sweep.noise=gaussian")
    words += ("sweep.omega_sqrt_rho=2",)  # one point per cell, because a plan has at most a million points
    yield from _told(_run(composed("also=null", "sweep.rho=0.1", *words, axis)), n)


def chunks(chunks: float = 100_000):
    """Measure one cell of many chunks of 10 trials."""
    n = int(chunks)
    words = (f"trials={10 * n}", "chunk=10", f"cluster.workers={WORKERS}", "sweep.noise=gaussian", "sweep.k=1000")
    yield from _told(_run(composed("also=null", "sweep.rho=0.1", *words)), n, "chunk")


def _run(raw) -> tuple[Stages, int]:
    """Return (stages, bytes of memory before the first stage)."""
    stages, checked, quiet = Stages(), settings(raw), Console(quiet=True)
    known = known_exactly(checked.experiment.name)
    gc.freeze()  # as the command line does
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
    start = psutil.Process().memory_info().rss
    with empty_folder(), ExitStack() as patches:
        for name, owner, function in (
            ("simulate", run, "until_precise"),
            ("exact values", exact, "complete"),
            ("publish", Run, "publish"),
            ("certificate", certificate, "write"),
        ):
            wrapped = stages.wrapped(name, getattr(owner, function))
            if owner is Run:
                wrapped = _method(wrapped)
            patches.enter_context(mock.patch.object(owner, function, wrapped))
        with stages.timed("plan"):
            study = run.prepare(checked)
        run.execute(study, print, known)
        patches.close()
        folder = study.folder
        del study  # as the command line does
        with stages.timed("resume with nothing to do"):
            run.execute(run.prepare(checked), print, known)
        with stages.timed("status"):
            status.main(Given(checked.folder, checked), quiet)
        with stages.timed("open"):
            results.open_results(folder)
        with stages.timed("read beside exact values"):
            published.read(folder)
        with stages.timed("table as CSV"):
            results.export(folder, folder / "table.csv")
    return stages, start


def _method(function):
    return lambda self, *arguments: function(self, *arguments)


def _told(measured, n, unit="cell"):
    stages, start = measured
    for name, stage in stages.found.items():
        cpu = f"{1e3 * stage.driver / n:.3f} ms of the driver's CPU a {unit}"
        workers = f", {1e3 * stage.workers / n:.3f} of workers'" if stage.workers > 0.01 * stage.driver else ""
        aim = f"<= {DRIVER_MS} ms" if name not in ("simulate", "exact values", "resume with nothing to do") else ""
        yield f"{name}: {cpu}{workers}", f"{stage.wall:.1f} s; {stage.peak / 1e6:.0f} MB", aim
    peak = max(stage.peak for stage in stages.found.values())
    until = [stages.found[name].wall for name in ("plan", "simulate", "exact values", "publish", "certificate")]
    yield (
        f"{n:,} {unit}s, from the config to the certificate",
        f"{sum(until) / 60:.1f} min",
        f"<= {MINUTES} min for 1e6",
    )
    yield "  the most memory of the driver", f"{peak / 1e9:.2f} GB", f"<= {GIGABYTES} GB for 1e6"
    yield f"  that grew with the run, a {unit}", f"{(peak - start) / n:.0f} bytes", "<= 1500"
