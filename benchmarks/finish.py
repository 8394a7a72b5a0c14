"""The finish of a run that was computed in parts.

python -m benchmarks finish                          1,000 parts with 1e5 chunks in all
python -m benchmarks finish parts=100 chunks=10000   a tenth of both
python -m benchmarks finish trials=10000             larger records, because each has more occupied bins
"""

import time

from rich.console import Console

from benchmarks.framework import composed, empty_folder
from tcdp_sim.cli import finish as command
from tcdp_sim.cli import run as running
from tcdp_sim.engine import parts as engine
from tcdp_sim.engine.run import prepare
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.study.settings import Settings, settings

SECONDS = 60  # aim for the finish
CELLS = 1000


def finish(parts: float = 1000, chunks: float = 100_000, trials: float = 10):
    """Measure each part of a histogram sweep, the finish, and the same command when all is published."""
    count, each = int(parts), int(chunks) // CELLS
    axis = f"sweep.k={{from: 1e6, to: 1e12, num: {CELLS}, scale: log}}"
    words = (
        f"trials={int(trials) * each}",
        f"chunk={int(trials)}",
        "cluster=serial",
        "sweep.noise=gaussian",
        "sweep.omega_sqrt_rho=2",
    )
    checked, quiet = settings(composed("also=null", "sweep.rho=0.1", *words, axis)), Console(quiet=True)
    with empty_folder():
        spent = _computed(checked, count)
        yield f"a part of {each * CELLS / count:.0f} chunks, planning apart", f"{1e3 * spent / count:.0f} ms", ""
        for name, done in (("finish", command.main), ("finish again", command.main), ("run", running.main)):
            began, wall = time.process_time(), time.perf_counter()
            done(checked, quiet)
            cpu, wall = time.process_time() - began, time.perf_counter() - wall
            what = f"{name}: {count:,} parts, {each * CELLS:,} chunks, {CELLS:,} cells, with figures"
            yield what, f"{cpu:.1f} s of CPU, {wall:.1f} s", f"<= {SECONDS} s"


def _computed(checked: Settings, count: int) -> float:
    """Compute all parts in this process, and return the CPU seconds."""
    study, known = prepare(checked), known_exactly(checked.experiment.name)
    began = time.process_time()
    for number in range(1, count + 1):
        part = checked.model_copy(update={"part": f"{number}/{count}"})
        engine.compute(type(study)(part, study.mechanism, study.plan), lambda _: None, known)
    return time.process_time() - began
