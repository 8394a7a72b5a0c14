"""The model of the engine that predicts many workers, and the rule for the length of tasks that follows from it."""

from dataclasses import replace

import pytest

from benchmarks.many_workers import Costs, predict
from tcdp_sim.engine import schedule

FREE = Costs()
REAL = Costs(  # about what docs/explained/scaling.md measures
    task=0.002,
    chunk=4e-5,
    scheduler_task=0.003,
    scheduler_chunk=3e-5,
    choice=1.5e-6,
    beat=5e-4,
    worker=0.004,
    delay=0.015,
)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(("workers", "chunks", "seconds"), [(1, 1000, 0.01), (7, 5000, 0.01), (50, 5000, 0.5)])
def test_without_costs_the_workers_do_nothing_but_chunks(workers, chunks, seconds, together):
    found = predict(workers, chunks, seconds, FREE, together=together)
    ideal = chunks * seconds / workers
    assert ideal - 1e-9 <= found.wall <= 1.02 * ideal  # workers end within a few chunks of each other
    assert found.used == pytest.approx(ideal / found.wall)
    assert found.driver == found.scheduler == 0


def test_a_process_that_cannot_keep_up_takes_what_its_work_takes():
    """Tasks of one chunk that take no time: the costs of the slower add up, of one process those of both."""
    costs = Costs(task=0.003, chunk=0.001, scheduler_task=0.002, scheduler_chunk=5e-4, choice=1e-5)
    driver, scheduler = 0.003 + 0.001, 0.002 + 5e-4 + 20e-5
    apart = predict(20, 1000, 1e-6, costs, longest=1e-6)
    assert apart.tasks == 1000
    assert apart.wall == pytest.approx(1000 * driver, rel=0.01)  # the scheduler's last result comes after that
    assert (apart.driver, apart.scheduler) == (pytest.approx(1, rel=0.01), pytest.approx(scheduler / driver, rel=0.01))
    slow = predict(20, 1000, 1e-6, replace(costs, scheduler_task=0.02), longest=1e-6)
    assert slow.wall == pytest.approx(1000 * (scheduler + 0.018), rel=0.01)
    assert (slow.scheduler, slow.driver) == (pytest.approx(1, rel=0.01), pytest.approx(driver / 0.0207, rel=0.01))
    together = predict(20, 1000, 1e-6, costs, longest=1e-6, together=True)
    assert together.wall == pytest.approx(1000 * (driver + scheduler))
    assert together.driver == together.scheduler == pytest.approx(1)


def test_results_wait_their_turn_at_the_scheduler():
    """Two workers end at the same time; the scheduler takes 0.5 s for each on the way out, and back."""
    costs = Costs(scheduler_task=1.0)
    assert predict(2, 2, 10.0, costs, longest=10.0).wall == pytest.approx(11.5)  # begun at 0.5 and 1; back by 11, 11.5
    assert predict(2, 2, 0.25, costs, longest=0.25).wall == pytest.approx(2.0)  # the first comes back at 0.75: after 1


def test_one_worker_pays_for_its_tasks_and_the_first_way_there_and_back():
    costs = Costs(worker=0.5, delay=1.0)
    found = predict(1, 40, 1.0, costs, longest=1.0)
    assert (found.tasks, found.wall) == (40, pytest.approx(40 * 1.5 + 1))


def test_signs_of_life_take_their_share_of_the_scheduler():
    """100 workers give 50 signs of life a second: with what it does anyway a quarter of the scheduler's time."""
    costs = Costs(idle=0.05, beat=0.004, scheduler_task=0.01)
    assert costs.listening(100) == pytest.approx(0.25)
    found = predict(100, 4000, 1e-6, costs, longest=1e-6)
    assert found.wall == pytest.approx(4000 * 0.01 * 4 / 3, rel=0.01)
    assert found.scheduler == pytest.approx(1, rel=0.01)
    assert found.driver == 0


def test_the_bytes_of_records_are_costs_of_chunks():
    costs = Costs(task=1.0, chunk=0.5, byte=1e-3, scheduler_task=2.0, scheduler_chunk=0.25, scheduler_byte=2e-3)
    heavy = costs.with_records(1000)
    assert (heavy.of_driver(2), heavy.of_scheduler(2, 0)) == (pytest.approx(4.0), pytest.approx(6.5))
    assert costs.of_driver(2) == pytest.approx(2.0)


@pytest.mark.parametrize("workers", [1, 10, 100, 300, 1000])
def test_the_length_of_tasks_keeps_overhead_under_5_percent(workers):
    """Some minutes of chunks of a second for each worker."""
    chunks = 400 * workers
    assert predict(workers, chunks, 1.0, REAL).used > 0.95
    if workers == 1000:
        assert predict(workers, 40 * workers, 1.0, REAL, longest=1.0).used < 0.5  # what the rule is for


def test_more_workers_get_longer_tasks():
    assert [schedule.task_seconds(workers) for workers in (1, 10, 100, 200, 1000)] == [1, 1, 1, 2, 10]
