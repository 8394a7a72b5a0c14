"""Costs that must grow at most linearly: opening results by their levels, merging a cell by its chunks."""

import time
from statistics import median
from unittest import mock

import numpy as np
import xarray as xr

from tcdp_sim.results import open as open_module
from tcdp_sim.summaries.encoding import from_bytes, to_bytes
from tcdp_sim.summaries.summary import merged, summarise

LEVELS = (1_000, 10_000, 30_000)
CHUNKS = (1_000, 8_000)
CELL = "a" * 64
ROUNDS = 3


def growth():
    """Run all benchmarks of this file."""
    yield from opening()
    yield from merging()


def opening():
    """Measure `open_results` for a table in memory, by the number of levels of one axis."""
    seconds = [median(_open_seconds(levels) for _ in range(ROUNDS)) for levels in LEVELS]
    yield from _told("open_results, a level", seconds, LEVELS, 40)


def _open_seconds(levels):
    data = {"x_mean": ("cell", np.ones(levels)), "x_nonfinite": ("cell", np.zeros(levels, int))}
    data["x_histogram_bins"] = ("cell", np.ones(levels, int))
    ids = np.array([str(i) for i in range(levels)], dtype=object)
    flat = xr.Dataset(data, {"k": ("cell", np.arange(float(levels))), "id": ("cell", ids)}, {"axes": '["k"]'})
    with mock.patch.object(open_module, "open_cells", return_value=flat):
        started = time.process_time()
        open_module.open_results("")
        return time.process_time() - started


def merging():
    """Measure the merge of a cell's encoded chunks of 200 trials into its summary, by their number."""
    rng = np.random.default_rng(1)
    records = [to_bytes(summarise(CELL, i, 200, {"x": rng.standard_normal(200)}, {})) for i in range(max(CHUNKS))]
    seconds = [median(_merge_seconds(records[:chunks]) for _ in range(ROUNDS)) for chunks in CHUNKS]
    yield from _told("merging a cell, a chunk", seconds, CHUNKS, 50)


def _merge_seconds(records):
    started = time.process_time()
    merged(map(from_bytes, records))
    return time.process_time() - started


def _told(what, seconds, sizes, aim):
    each = [1e6 * spent / size for spent, size in zip(seconds, sizes)]
    yield f"{what}, at {sizes[-1]:,} against {sizes[0]:,}", f"{each[-1] / each[0]:.2f} x", "<= 1.5 x"
    yield "  microseconds", ", ".join(f"{value:.0f}" for value in each), f"<= {aim}"
