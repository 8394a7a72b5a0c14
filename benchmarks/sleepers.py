"""Hundreds of workers that sleep: dask's own workers in one process, whose tasks sleep in its event loop.

Scheduler and workers are separate processes, so that the CPU seconds of each can be measured:

    python -m benchmarks.sleepers scheduler CERTIFICATE KEY          prints its address
    python -m benchmarks.sleepers workers CERTIFICATE KEY ADDRESS    reads the number of workers, prints it when done
"""

import asyncio
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import dask
import psutil

from benchmarks.engine import Trivial, known
from tcdp_sim.engine import clusters, simulate
from tcdp_sim.engine.clusters import logs, protection, tuning
from tcdp_sim.engine.schedule import Executor

# Without the periodic work of a worker beside its tasks, because one process has hundreds of workers.
QUIET = {
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "10s",
}
SETTINGS = tuning.SETTINGS | protection.UNWRITTEN | protection.NO_PAGES
AT_ONCE = 20  # workers that are started at the same time
WAIT = 300  # seconds for all workers to connect
LOOKS = 200


class Sleep(Trivial):
    """A mechanism whose law states the seconds of a chunk; `doze` lets that time pass."""

    name = "sleep"
    options = ("seconds",)

    @classmethod
    def law(cls, point, options, counts):
        return super().law(point, options, counts) | options


async def doze(task: simulate.Task) -> simulate.Done:
    """Return a task's chunks after their time has passed: `simulate.run` without a busy thread or processor."""
    seconds = sum(len(batch.chunks) * batch.law["seconds"] for batch in task.batches)
    await asyncio.sleep(seconds)
    return replace(simulate.run(task), seconds=seconds)


class Dozing:
    """An executor whose workers doze."""

    dashboard = ""
    silent = staticmethod(tuple)

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.workers = executor.workers

    def results(self, tasks, work=None):
        """Yield results like the executor that it wraps."""
        return self._executor.results(tasks, work or doze)


@dataclass
class Spent:
    """Wall seconds, and CPU seconds of driver, scheduler (0 if it is in the driver's process) and workers."""

    wall: float
    driver: float
    scheduler: float
    workers: float


class Sleepers:
    """Sleeping workers of one scheduler, whose number can grow."""

    def __init__(self, address: str, cert: str, key: str, scheduler: int | None, workers: subprocess.Popen) -> None:
        self._spec = {"name": "scheduler", "address": address, "wait": WAIT}
        self._spec |= {"tls_ca": cert, "tls_cert": cert, "tls_key": key}
        self._pipe = workers
        self._scheduler, self._workers = scheduler and psutil.Process(scheduler), psutil.Process(workers.pid)
        self.count = 0

    @contextmanager
    def executor(self, count: int) -> Iterator[Executor]:
        """Yield the engine's own executor for that many workers that doze. Existing workers stay."""
        if count > self.count:
            self._pipe.stdin.write(f"{count}\n")
            self._pipe.stdin.flush()
            self.count = int(self._pipe.stdout.readline())
        with clusters.connect(self._spec | {"workers": count}) as executor:
            yield Dozing(executor)

    @contextmanager
    def spent(self) -> Iterator[Spent]:
        """Measure the costs of the block."""
        found, before = Spent(0.0, 0.0, 0.0, 0.0), self._clocks()
        yield found
        found.wall, found.driver, found.scheduler, found.workers = (b - a for a, b in zip(before, self._clocks()))

    def choice(self) -> float:
        """Return the scheduler's seconds to look at one worker when it chooses one for a task."""
        from distributed import Client

        keys = (self._spec["tls_cert"], self._spec["tls_key"])
        with Client(self._spec["address"], security=protection.mutual(*keys)) as client:
            future = client.submit(len, "", pure=False)
            future.result()
            return client.run_on_scheduler(_look_at_a_worker)

    def _clocks(self) -> tuple[float, float, float, float]:
        apart = _cpu(self._scheduler) if self._scheduler else 0.0
        return time.perf_counter(), time.process_time(), apart, _cpu(self._workers)


def _look_at_a_worker(dask_scheduler) -> float:
    task, worker = (next(iter(some.values())) for some in (dask_scheduler.tasks, dask_scheduler.workers))
    found = []
    for _ in range(LOOKS):
        started = time.process_time()
        for _ in range(LOOKS):
            dask_scheduler.worker_objective(task, worker)
        found.append((time.process_time() - started) / LOOKS)
    return min(found)


def _cpu(process) -> float:
    times = process.cpu_times()
    return times.user + times.system


@contextmanager
def sleepers(together: bool = False) -> Iterator[Sleepers]:
    """Yield workers with a scheduler in a process of its own, or in this one as with Slurm and PBS."""
    with ExitStack() as ends:
        ends.enter_context(known(Sleep))
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        keys = protection.written(*protection.certificate(), folder)
        pid = None
        if together:
            address = ends.enter_context(_scheduler_here(keys))
        else:
            scheduler = ends.enter_context(_process("scheduler", *keys))
            pid, address = scheduler.pid, scheduler.stdout.readline().strip()
        workers = ends.enter_context(_process("workers", *keys, address))
        yield Sleepers(address, *keys, pid, workers)


@contextmanager
def _process(*words):
    """Start a process of this module, which ends when its input does."""
    command = [sys.executable, "-m", __name__, *words]
    root, pipe = Path(__file__).parents[1], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=root)
    try:
        yield process
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _scheduler_here(keys):
    from distributed import LocalCluster

    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            security=protection.mutual(*keys),
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster.scheduler_address


def _line():
    return asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


async def _be_scheduler(cert, key):
    from distributed import Scheduler

    security = protection.mutual(cert, key)
    async with Scheduler(host="tls://127.0.0.1", port=0, security=security, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        while await _line():
            pass


async def _be_workers(cert, key, address):
    from distributed import Worker

    security, workers = protection.mutual(cert, key), []
    with tempfile.TemporaryDirectory() as folder, known(Sleep):
        while line := await _line():
            while len(workers) < int(line):
                new = [
                    Worker(
                        address, nthreads=1, memory_limit=0, security=security, local_directory=folder, dashboard=False
                    )
                    for _ in range(min(AT_ONCE, int(line) - len(workers)))
                ]
                await asyncio.gather(*new)
                workers += new
            print(len(workers), flush=True)
        await asyncio.gather(*(worker.close(timeout=1, nanny=False) for worker in workers), return_exceptions=True)


def main(role: str, *words: str) -> None:
    """Run as the scheduler or as the workers until the input ends."""
    logs.mute()
    roles = {"scheduler": _be_scheduler, "workers": _be_workers}
    with dask.config.set(SETTINGS | (QUIET if role == "workers" else {})):
        asyncio.run(roles[role](*words))


if __name__ == "__main__":
    from benchmarks import sleepers as this  # tasks look up the mechanism under this module's name

    this.main(*sys.argv[1:])
