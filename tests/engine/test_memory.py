"""From plan to table the driver's memory grows by little more than a cell's identity, whatever its statistics are."""

import gc
import time
import tracemalloc

import pytest

from benchmarks import driver
from tcdp_sim.engine import clusters, forecast, pilot, schedule
from tcdp_sim.engine.run import execute, prepare
from tcdp_sim.engine.simulate import Task
from tcdp_sim.results import published
from tcdp_sim.store import table, zarr_tree
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.study import packed_cells
from tcdp_sim.study import study as studies
from tcdp_sim.study.compose import composed
from tcdp_sim.study.groups import named
from tcdp_sim.study.settings import settings

FEW, MANY = 300, 900  # cells; more than are packed together
MOST = 1500  # bytes a cell at the peak; the rest is constant, and the same for both
TABLE = 600  # bytes a cell of the table beside exact values, which the figures are drawn from


def level(mechanism):
    """A number that costs nothing."""
    return mechanism.bins


def study(cells, folder):
    axis = {"from": 1e6, "to": 1e12, "num": cells, "scale": "log"}
    sweep = {"k": axis, "rho": 0.1, "noise": "gaussian"}
    keys = {"sweep": sweep, "trials": 300, "chunk": 300, "cluster": "serial", "also": None, "name": str(cells)}
    return settings(composed({"experiment": "histogram", **keys, "results_dir": str(folder)}))


def peaks(cells, folder):
    """Bytes that Python allocates at the most: from the config to the certificate, and for reading it.

    As in a process of its own: Python lets garbage grow to a quarter of what lives, and here live the tests before.
    """
    gc.collect()
    gc.freeze()
    gc.collect()  # now nothing counts as living
    tracemalloc.start()
    try:
        prepared = prepare(study(cells, folder))
        execute(prepared, lambda line: None, ExactValues({"linf_error_quantile": level, "top_stays": level}))
        until_published = tracemalloc.get_traced_memory()[1]
        del prepared
        tracemalloc.reset_peak()
        published.read(folder / str(cells))
        return until_published, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks that a test can fill: what a block takes is constant."""
    monkeypatch.setattr(table, "BLOCK", 50)
    monkeypatch.setattr(zarr_tree, "CELLS", 50)
    monkeypatch.setattr(zarr_tree, "ENTRIES", 4096)
    monkeypatch.setattr(zarr_tree, "SMALL", 0)
    monkeypatch.setattr("tcdp_sim.results.open.ROWS", 50)
    monkeypatch.setattr(studies, "LOADED", 50)
    monkeypatch.setattr(packed_cells, "RECENT", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_a_cell_costs_the_driver_few_bytes(tmp_path):
    """A cell of 300 trials has 12 kB of histograms, which are never in memory together."""
    peaks(20, tmp_path)  # imports and caches
    few, many = peaks(FEW, tmp_path), peaks(MANY, tmp_path)
    published_at, read_at = ((b - a) / (MANY - FEW) for a, b in zip(few, many))
    assert published_at < MOST
    assert read_at < MOST + TABLE


def test_no_task_that_is_done_stays_in_the_drivers_memory():
    """dask's scheduler lives in it, and would keep the last thousand tasks for each worker."""
    with clusters.connect(dict(named("cluster", "local")) | {"workers": 1}) as executor:
        mine = 20_261_124  # a seed that no task of another test has, which a caught exception may keep
        assert len({*executor.results((Task(mine, 1, (), float(i)) for i in range(20)), repr)}) == 20
        for _ in range(100):  # until dask has heard that nobody wants the last of them
            gc.collect()
            left = [each for each in gc.get_objects() if type(each) is Task and each.seed == mine]
            if len(left) <= schedule.WINDOW:  # the message that was sent last: at most what one worker has in flight
                break
            time.sleep(0.1)
        assert len(left) <= schedule.WINDOW


@pytest.mark.slow
def test_a_run_takes_the_memory_and_the_journal_that_its_forecast_says():
    """In a process of its own, with two workers; what cells and chunks add is too little to show in so small a run."""
    found = driver.apart(1, 300)
    for what in ("memory", "journal"):
        low, high = found[f"{what}_told"]
        assert low < found[what] < high
    low, high = found["memory_told"]
    assert high < 2 * low


@pytest.mark.parametrize(("cells", "megabytes"), [(6000, 335), (18_000, 357)])
def test_the_forecast_of_memory_contains_what_was_measured(monkeypatch, tmp_path, cells, megabytes):
    """By `python -m benchmarks driver`, on one machine: a range that is no wider than a factor of 3."""
    monkeypatch.setattr(pilot, "SECONDS", 0.0)
    monkeypatch.setattr(forecast, "missing", lambda study: cells)
    low, high = forecast.forecast(prepare(study(cells, tmp_path)), print).memory
    assert low < 1e6 * megabytes < high < 3 * low
