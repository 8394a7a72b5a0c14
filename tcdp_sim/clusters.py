"""Where a run is computed: each cluster of conf/cluster gives an executor for the time of the run."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tcdp_sim import interrupts
from tcdp_sim.engine import DaskExecutor, Executor, SerialExecutor
from tcdp_sim.errors import UserError

MAX_WORKERS = 1024
# Batches of a second need neither stealing nor profiling; both cost the driver more than they give. And dask tells
# the workers' allocator to hand freed memory back at once: for chunks of trials, allocated and freed all the time,
# that alone doubles the run time (measured: 46.7 s instead of 22.7 s for the default study on one worker).
KEEP_BYTES = 2**28
DASK_SETTINGS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": KEEP_BYTES,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": KEEP_BYTES,
    "distributed.scheduler.worker-saturation": "inf",
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.profile.enabled": False,
}


def worker_count(spec: Mapping[str, Any]) -> int:
    """How many workers a cluster's spec asks for; UserError if that is not a positive whole number."""
    if spec.get("name") == "serial":
        return 1
    workers = spec.get("workers")
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(workers, int) or isinstance(workers, bool) or not 1 <= workers <= MAX_WORKERS:
        raise UserError(f"cluster.workers = {workers!r} is not valid; valid: a whole number from 1 to {MAX_WORKERS}")
    return workers


@contextmanager
def connect(spec: Mapping[str, Any]) -> Iterator[Executor]:
    """The executor of a cluster's spec; what it started is shut down at the end."""
    workers = worker_count(spec)
    if spec["name"] == "serial":
        yield SerialExecutor()
        return
    with _local_client(workers) as client:
        yield DaskExecutor(client, workers)


@contextmanager
def _local_client(workers: int):
    with interrupts.held():
        from multiprocessing import resource_tracker

        import dask
        from distributed import Client, LocalCluster  # before the settings below: they complete its own

        resource_tracker.ensure_running()  # now, since its start would unblock the signals that `held` blocks

    started = []
    try:
        try:
            with dask.config.set(DASK_SETTINGS), interrupts.held():
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
                started.append(cluster)
                started.append(Client(cluster))
        except (RuntimeError, OSError) as problem:  # killed while starting; no memory, no ports, no time left
            reason = " ".join(str(problem).split()) or type(problem).__name__
            told = f"the {workers} worker processes did not start ({reason}); try again, or cluster=serial"
            raise UserError(told) from None
        yield started[-1]
    finally:
        with interrupts.held():
            for one in reversed(started):
                one.close(timeout=5)
