"""The forecast of `tcdp-sim plan` for the driver, measured: memory and time per cell, and journal per chunk.

Each run is a process of its own, from its config to its certificate, with exact values and two workers:

    python -m benchmarks.driver CELLS CHUNKS      CHUNKS chunks of 10 trials in each cell
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from typing import Any
from unittest import mock

from benchmarks.framework import composed, empty_folder
from tcdp_sim.engine import forecast, run
from tcdp_sim.store.exact_values import known_exactly
from tcdp_sim.store.run_folder import Run
from tcdp_sim.study.settings import settings

CELLS, CHUNKS = (6_000, 18_000), (1_000, 31_000)  # more than fit into memory at one time
ROUNDS = 3
TRIALS = 10


def driver(rounds: float = ROUNDS):
    """Compare the constants of `engine/forecast.py` with measurements, and its forecast of the journal."""
    few, many = (_median([apart(cells, 1) for _ in range(int(rounds))]) for cells in CELLS)
    short, long = (_median([apart(1, chunks) for _ in range(int(rounds))]) for chunks in CHUNKS)
    cell, row, known = (_slope(few, many, key, CELLS) for key in ("memory", "publish", "exact"))
    base = few["memory"] - CELLS[0] * cell
    chunk = _slope(short, long, "memory", CHUNKS)
    yield (
        "memory of the driver before the first cell, with full blocks",
        f"{base / 1e6:.0f} MB",
        _says((forecast.MEMORY + forecast.BLOCKS) / 1e6, "MB"),
    )
    yield "  a cell", f"{cell:.0f} bytes", _says(forecast.A_CELL[1], "bytes")
    yield "  a chunk of one cell", f"{chunk:.0f} bytes", _says(forecast.MERGED, "bytes")
    yield "CPU of the driver: a row with its certificate", f"{1e3 * row:.3f} ms", _says(1e3 * forecast.A_ROW, "ms")
    yield "  an exact value that a worker computes", f"{1e3 * known:.3f} ms", ""
    for one in (many, long):
        for what in ("journal", "memory"):
            low, high = (size / 1e6 for size in one[f"{what}_told"])
            told = f"forecast: {low:.2f} to {high:.2f} MB"
            yield f"{what}: {one['cells']:,} cells of {one['chunks']:,} chunks", f"{one[what] / 1e6:.2f} MB", told


def _says(value, unit):
    return f"forecast: {value:.3g} {unit}"


def _median(found):
    return {key: found[0][key] if "told" in key else median(one[key] for one in found) for key in found[0]}


def _slope(few, many, key, sizes):
    return (many[key] - few[key]) / (sizes[1] - sizes[0])


def apart(cells: int, chunks: int) -> dict[str, Any]:
    """Return the result of `measured` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.driver", str(cells), str(chunks)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
    return json.loads(ended.stdout.splitlines()[-1])


def measured(cells: int, chunks: int) -> dict[str, Any]:
    """Return the measured costs of a run with a number of cells, and of chunks for each cell.

    - `memory`, `journal`: bytes.
    - `publish`, `exact`: CPU seconds.
    - `memory_told`, `journal_told`: the range of bytes in the forecast.
    """
    axis = f"{{from: 1e6, to: 1e12, num: {cells}, scale: log}}" if cells > 1 else "1e6"
    words = (f"sweep.k={axis}", "sweep.rho=0.1", "sweep.noise=gaussian", "also=null", "cluster.workers=2")
    raw = settings(composed(*words, f"trials={TRIALS * chunks}", f"chunk={TRIALS}"))
    spent = {}
    with empty_folder(), _timed(Run, "publish", spent), _timed(run.exact, "complete", spent):
        study = run.prepare(raw)
        told = forecast.forecast(study, lambda line: None)
        run.execute(study, lambda line: None, known_exactly(raw.experiment.name))
        journal = sum(path.stat().st_size for path in (study.folder / "journal").glob("*.seg"))
    spent = {"publish": spent["publish"], "exact": spent["complete"]}
    ranges = {"memory_told": told.memory, "journal_told": told.bytes_between}
    return {"cells": cells, "chunks": chunks, "memory": _peak(), "journal": journal, **ranges, **spent}


def _peak() -> int:
    """Return the peak of resident memory in bytes. `getrusage` would include memory of the parent on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _timed(owner, name, spent):
    function = getattr(owner, name)

    def timed(*arguments):
        started = time.process_time()
        try:
            return function(*arguments)
        finally:
            spent[name] = time.process_time() - started

    return mock.patch.object(owner, name, timed)


if __name__ == "__main__":
    print(json.dumps(measured(*map(int, sys.argv[1:]))))
