"""The same bits whatever the executor, the workers, the batches, the order, the interruptions."""

import functools
import os
import random
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from distributed import Client, Future
from distributed.client import FutureCancelledError

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import clusters, run, schedule, simulate
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.store import journal
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.store.run_folder import CHUNK
from tcdp_sim.study.groups import named
from tcdp_sim.study.settings import settings

WORDS = ("trials=1500", "chunk=500", "sweep.k=[10,1e9]", "sweep.rho=[0.1,0.2]", "also=null")


def composed(*words):
    from hydra import compose
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    from tcdp_sim.study.compose import our_configs

    GlobalHydra.instance().clear()
    with our_configs():
        return OmegaConf.to_container(compose("config", [*WORDS, *words]), resolve=True)


def plan(*words):
    prepared = run.prepare(settings(composed(*words)))
    return prepared, list(pending(prepared, lambda cell, chunk: False))


def pending(prepared, has):
    return Pending(prepared.plan.laws, Wanted(prepared.plan.laws, prepared.settings.chunks), has)


def records(executor, prepared, todo):
    found = {}

    def receive(done):
        assert not any(record.problems for record in done.records)
        found.update({(record.cell, record.chunk): record.summary for record in done.records})

    s = prepared.settings
    work = sum(cell.work for cell, _ in todo)
    schedule.simulate(executor, todo, work, prepared.plan.counts, s.seed, s.chunk, receive)
    return found


@functools.cache
def reference():
    prepared, todo = plan()
    return records(schedule.SerialExecutor(), prepared, todo)


def test_serial_does_every_pending_chunk_once():
    prepared, todo = plan()
    assert set(reference()) == {(cell.id, chunk) for cell, chunk in todo}
    assert len(todo) == len(prepared.plan.cells) * 3


@pytest.mark.parametrize("seconds", [1e-9, 1e-3, 1e9])
def test_batch_size_changes_nothing(monkeypatch, seconds):
    monkeypatch.setattr(schedule, "TASK_SECONDS", seconds)
    prepared, todo = plan()
    assert records(schedule.SerialExecutor(), prepared, todo) == reference()


def test_order_changes_nothing():
    prepared, todo = plan()
    random.Random(5).shuffle(todo)
    assert records(schedule.SerialExecutor(), prepared, todo) == reference()


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_worker_processes_change_nothing(workers):
    prepared, todo = plan()
    with clusters.connect({"name": "local", "workers": workers}) as executor:
        assert executor.workers == workers
        assert list(executor._client.nthreads().values()) == [1] * workers
        assert records(executor, prepared, todo) == reference()


def test_more_cells_and_trials_change_no_older_number():
    prepared, todo = plan("trials=2500", "sweep.k=[10,1000,1e9]")
    more = records(schedule.SerialExecutor(), prepared, todo)
    assert len(more) > len(reference())
    assert all(more[key] == data for key, data in reference().items())


def test_pending_leaves_out_what_is_done():
    prepared, todo = plan()
    done = {(cell.id, chunk) for cell, chunk in todo[:7]}
    left = pending(prepared, lambda cell, chunk: (cell, chunk) in done)
    assert (list(left), len(left)) == (todo[7:], len(todo) - 7)


@pytest.mark.slow
def test_no_more_tasks_are_in_flight_than_the_window(monkeypatch):
    """Tasks are pulled lazily: at no time more than two a worker are ahead of the results."""
    prepared, todo = plan()
    monkeypatch.setattr(schedule, "TASK_SECONDS", 1e-9)
    pulled, seen = [], []
    tasks = schedule._tasks(todo, 1e3, prepared.plan.counts, 1, 500, 1, schedule.Speed())

    def counted():
        for task in tasks:
            pulled.append(task)
            yield task

    with clusters.connect({"name": "local", "workers": 1}) as executor:
        for _ in executor.results(counted()):
            assert len(pulled) - len(seen) <= 2
            seen.append(1)
    assert len(seen) == len(todo)


def test_an_error_on_a_worker_reaches_the_driver_as_data():
    todo = plan()[1]
    broken = simulate.Batch(todo[0][0].id, {"mechanism": "none"}, None, (0,))
    with clusters.connect({"name": "local", "workers": 1}) as executor:
        (done,) = executor.results(iter([simulate.Task(1, 10, (broken,))]))
    (problem,) = done.records[0].problems
    assert done.records[0].summary is None
    assert problem.message.startswith("UserError: mechanism.name = 'none'")
    assert "mechanism_class" in problem.where


HELD = threading.Event()


def held(number):
    """Task 0 ends at once, the others when they may."""
    return number if number == 0 else HELD.wait(60)


@pytest.mark.parametrize("tasks", [2, 3])
def test_a_task_that_is_lost_is_no_result(tasks):
    """Dask cancels what is in flight when it loses its scheduler: the last tasks of a run, or some before them."""
    HELD.clear()
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        results = schedule.DaskExecutor(client, workers=1).results(iter(range(tasks)), held)
        assert next(results) == 0
        client.cancel([Future(key, client) for key in client.futures])
        HELD.set()
        with pytest.raises(FutureCancelledError):
            next(results)


def test_the_first_tasks_tell_the_speed_and_the_last_are_small():
    """Chunks of 10 ms by a work estimate that is off by 1000: one chunk a task, then a second, then less."""
    prepared, _ = plan()
    todo = [(prepared.plan.laws[0], i) for i in range(1000)]
    speed, sizes = schedule.Speed(), []
    for task in schedule._tasks(todo, 1000 * todo[0][0].work, prepared.plan.counts, 1, 500, 2, speed):
        chunks = sum(len(batch.chunks) for batch in task.batches)
        sizes.append(chunks)
        speed.learn(0.01 * chunks, task.work, chunks)
    assert sum(sizes) == 1000
    assert sizes[0] == 1
    left = [1000 - sum(sizes[:i]) for i in range(len(sizes))]
    assert all(size <= n / (2 * 2) + 1 for size, n in zip(sizes, left))  # half of what is left for each of two workers
    assert max(sizes) in (100, 101)
    assert sizes[-1] <= 2


def test_light_chunks_after_heavy_ones_make_no_long_tasks():
    """Of a work of 100,000 and 1.5 s each, then of 1 and 0.9 ms, which is all overhead: they were 61 s a task."""
    prepared, _ = plan()
    heavy, light = (replace(prepared.plan.laws[0], work=work) for work in (1e5, 1.0))
    todo = [(heavy, i) for i in range(500)] + [(light, i) for i in range(30_000)]
    speed, lights = schedule.Speed(), []
    for task in schedule._tasks(todo, 500e5 + 30_000, prepared.plan.counts, 1, 1, 2, speed):
        chunks = sum(len(batch.chunks) for batch in task.batches)
        of_heavy = int(task.work // 1e5)
        seconds = 1.5 * of_heavy + 0.0009 * (chunks - of_heavy)
        lights += [] if of_heavy else [seconds]
        speed.learn(seconds, task.work, chunks)
        assert chunks == of_heavy == 1 or seconds <= 1.5 + schedule.TASK_SECONDS
    assert max(lights) <= 1.01 * schedule.TASK_SECONDS
    assert 27 <= len(lights) <= 27 + 150  # it is soon known that they are light


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_one_line():
    with (
        clusters.connect({"name": "local", "workers": 1}) as executor,
        pytest.raises(UserError, match=r"a task ended 4 workers .*; finished chunks are kept"),
    ):
        list(executor.results(iter([1]), os._exit))  # what the kernel does when memory is out


def test_workers_that_do_not_start_are_one_line(monkeypatch):
    def refuse(**_):
        raise RuntimeError("Nanny failed\n to start.")

    monkeypatch.setattr("distributed.LocalCluster", refuse)
    with (
        pytest.raises(UserError, match=r"the 3 worker processes did not start \(Nanny failed to start\.\)"),
        clusters.connect({"name": "local", "workers": 3}),
    ):
        pass


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "two", 10**6])
def test_a_bad_number_of_workers_is_refused(workers):
    with pytest.raises(UserError, match=r"cluster\.workers"):
        clusters.worker_count(named("cluster", "local") | {"workers": workers})


def test_everything_listens_on_the_loopback_interface_only():
    import psutil

    with clusters.connect({"name": "local", "workers": 1}):
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
        listening = [c.laddr.ip for p in processes for c in p.net_connections("inet") if c.status == "LISTEN"]
    assert listening
    assert set(listening) <= {"127.0.0.1", "::1"}


LONG = ("experiment=histogram", "chunk=2000", "trials=80000", "also=null")
LONG += ("sweep.k=[10,1e9]", "sweep.rho=[0.1]", "sweep.noise=[gaussian,sinh_normal]", "data=zipf", "data.n=300")


def start(folder, *words):
    command = [sys.executable, "-m", "tcdp_sim", *LONG, *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def published(folder):
    return tree_digest((folder / "results" / "histogram" / "results.zarr").resolve())


def recorded(folder):
    """How many chunks the journal of a run holds."""
    found = journal.read(folder / "results" / "histogram" / "journal")
    return sum(payload is not None and payload[:1] == CHUNK for _, _, payload in found)


@pytest.mark.slow
def test_killed_and_resumed_is_byte_for_byte_the_undisturbed_run(tmp_path):
    """SIGKILL of the driver after a random number of chunks; then the same command ends with the same bytes."""
    clean, killed = tmp_path / "clean", tmp_path / "killed"
    clean.mkdir()
    killed.mkdir()
    done = start(clean, "cluster=serial")
    output, _ = done.communicate(timeout=300)
    assert done.returncode == 0, output
    rng = random.Random(11)
    hit = 0
    for _ in range(8):
        process = start(killed, "cluster=local", "cluster.workers=2")
        enough = recorded(killed) + rng.randint(1, 20)
        while recorded(killed) < enough and process.poll() is None:
            time.sleep(0.02)
        hit += process.poll() is None
        process.kill()
        process.communicate()
    assert hit >= 2
    process = start(killed, "cluster=local", "cluster.workers=2")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert published(killed) == published(clean)
