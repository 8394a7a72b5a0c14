"""Many small cells of a user's function: CPU, time and memory, and the forecast of `tcdp-sim plan` beside them.

python -m benchmarks cells                100,000 cells of 100 trials: in memory, on the disk, on two workers
python -m benchmarks cells cells=10000

Each sweep is a process of its own, `python -m benchmarks.cells HOW CELLS TRIALS`.
"""

import json
import subprocess
import sys
import time
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from unittest import mock

from benchmarks.framework import empty_folder
from benchmarks.peers.contestants.cell import axes, coverage

SECONDS = 60  # the aim for 100,000 cells
HOW = {
    "in memory": {},
    "on the disk": {"name": "cells"},
    "on two workers": {"name": "cells", "cluster": {"name": "local", "workers": 2}},
}


def cells(cells: float = 100_000, trials: float = 100):
    """Compare the time of each kind of sweep with the aim, and the stages of those in a folder with their forecast."""
    for how in HOW:
        found = _apart(how, int(cells), int(trials))
        what = f"{int(cells):,} cells of {int(trials)} trials {how}"
        cpu = f"{found['driver']:.1f} s of CPU, {found['workers']:.1f} s of workers', {found['memory'] / 1e6:.0f} MB"
        yield f"{what}: {cpu}", f"{found['wall']:.1f} s", f"<= {SECONDS} s for 100,000"
        for stage, (told, spent) in found["stages"].items():
            yield f"  {stage}", f"{spent:.1f} s", f"forecast: {told}"


def _apart(how, count, trials):
    words = [sys.executable, "-m", "benchmarks.cells", how, str(count), str(trials)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _measured(how, count, trials):
    import tcdp_sim
    from tcdp_sim import api  # noqa: F401 (imported before the clocks start)

    keys, spent = HOW[how], {}
    with empty_folder():
        told = _forecast(count, trials, keys) if keys else {}
        begun, before = time.perf_counter(), time.process_time()
        with _timed(spent):
            tcdp_sim.sweep(coverage, axes(count), trials=trials, **keys)
        wall, driver = time.perf_counter() - begun, time.process_time() - before
    children = getrusage(RUSAGE_CHILDREN)
    return {
        "wall": wall,
        "driver": driver,
        "workers": children.ru_utime + children.ru_stime,
        "memory": getrusage(RUSAGE_SELF).ru_maxrss * 1024,
        "stages": {stage: (told[stage], spent[stage]) for stage in told},
    }


def _forecast(count, trials, keys):
    from tcdp_sim.engine.forecast import forecast
    from tcdp_sim.sweeps import arguments, in_folder, run

    sweep, _ = run.prepared(arguments.checked(coverage, axes(count), trials=trials, **keys), print)
    with in_folder.here(sweep) as values:
        coming = forecast(in_folder.study_of(sweep), print, values)
    low, high = coming.between
    return {"simulation": f"{low:.1f} to {high:.1f} s", "table": f"{coming.writing:.1f} s"}


def _timed(spent):
    """Return a context manager that notes the seconds of the stages of a run."""
    from contextlib import ExitStack

    from tcdp_sim.engine import run

    patches = ExitStack()
    for stage, name in (("simulation", "simulate_all"), ("table", "publish")):
        patches.enter_context(mock.patch.object(run, name, _noting(getattr(run, name), stage, spent)))
    return patches


def _noting(function, stage, spent):
    def timed(*given, **keys):
        begun = time.perf_counter()
        try:
            return function(*given, **keys)
        finally:
            spent[stage] = time.perf_counter() - begun

    return timed


if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
