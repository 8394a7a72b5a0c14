"""The model of the engine that predicts many workers, and the rule for the length of tasks that follows from it."""

import pytest

from benchmarks.many_workers import Costs, predict
from tcdp_sim.engine import schedule

FREE = Costs(task=0.0, chunk=0.0, choice=0.0, worker=0.0, delay=0.0)
REAL = Costs(task=0.004, chunk=1e-4, choice=1.5e-6, worker=0.004, delay=0.015)  # as measured on two cores


@pytest.mark.parametrize(("workers", "chunks", "seconds"), [(1, 1000, 0.01), (7, 5000, 0.01), (50, 5000, 0.5)])
def test_without_costs_the_workers_do_nothing_but_chunks(workers, chunks, seconds):
    found = predict(workers, chunks, seconds, FREE)
    ideal = chunks * seconds / workers
    assert ideal - 1e-9 <= found.wall <= 1.02 * ideal  # workers end within a few chunks of each other
    assert found.used == pytest.approx(ideal / found.wall)
    assert found.driver == 0


def test_a_driver_that_cannot_keep_up_takes_what_its_work_takes():
    """Tasks of one chunk that take no time: the costs add up, whatever the workers."""
    costs = Costs(task=0.003, chunk=0.001, choice=1e-5, worker=0.0, delay=0.0)
    found = predict(20, 1000, 1e-6, costs, longest=1e-6)
    assert found.tasks == 1000
    assert found.wall == pytest.approx(1000 * (0.003 + 0.001 + 20e-5))
    assert found.driver == pytest.approx(1)


def test_one_worker_pays_for_its_tasks_and_the_first_way_there_and_back():
    costs = Costs(task=0.0, chunk=0.0, choice=0.0, worker=0.5, delay=1.0)
    found = predict(1, 40, 1.0, costs, longest=1.0)
    assert (found.tasks, found.wall) == (40, pytest.approx(40 * 1.5 + 1))


@pytest.mark.few(3)
@pytest.mark.parametrize("workers", [1, 10, 100, 300, 1000])
def test_the_length_of_tasks_keeps_overhead_under_5_percent(workers):
    """Some minutes of chunks of a second for each worker."""
    chunks = 400 * workers
    assert predict(workers, chunks, 1.0, REAL).used > 0.95
    if workers == 1000:
        assert predict(workers, chunks, 1.0, REAL, longest=1.0).used < 0.5  # what the rule is for


def test_more_workers_get_longer_tasks():
    assert [schedule.task_seconds(workers) for workers in (1, 10, 100, 200, 1000)] == [1, 1, 1, 2, 10]
