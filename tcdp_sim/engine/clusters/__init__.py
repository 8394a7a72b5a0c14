"""Where a run is computed: each cluster of conf/cluster gives an executor for the time of the run.

A cluster is a module with `check(spec)`, which refuses what its yaml file does not admit, and `client(spec, tell)`, a
context manager that gives a dask client with at least one worker and takes back what it started.
"""

import concurrent.futures
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.clusters import agreement, batch, kubernetes, local, logs, scheduler, tuning, watch
from tcdp_sim.engine.schedule import DaskExecutor, Executor, SerialExecutor
from tcdp_sim.study import groups

MAX_WORKERS = 1024
CLUSTERS: dict[str, Any] = {
    "local": local,
    "scheduler": scheduler,
    "slurm": batch,
    "pbs": batch,
    "kubernetes": kubernetes,
}
LOST = "the connection to the workers was lost; what was finished is kept: the same command goes on from there"
AGAIN = ", once scheduler and workers are started again (Dask's workers end with their scheduler)"


def worker_count(spec: Mapping[str, Any]) -> int:
    """How many workers a cluster's spec asks for; UserError if it is not valid, in whichever key.

    Of a running scheduler, whose workers are not ours, at least one.
    """
    name = str(spec.get("name"))
    spec = _complete(spec)
    workers = spec.get("workers")
    if workers is not None or name not in ("local", "scheduler", "serial"):
        valid = isinstance(workers, int) and not isinstance(workers, bool) and 1 <= workers <= MAX_WORKERS
        if not valid:
            raise UserError(
                f"cluster.workers = {workers!r} is not valid; valid: a whole number from 1 to {MAX_WORKERS}"
            )
    if name == "serial":
        return 1
    CLUSTERS[name].check(spec)
    if workers is None:
        return _cores() if name == "local" else 1
    return workers


def forecast(spec: Mapping[str, Any], tell: Tell) -> tuple[int, int]:
    """(workers that a run would have, how many of them could work at once), for a plan.

    Workers of this machine share its cores. A running scheduler is asked; whoever cannot be asked is believed, and
    `tell` takes a line that says so.
    """
    workers = worker_count(spec)
    if spec["name"] == "local":
        return workers, min(workers, _cores())
    if spec["name"] != "scheduler":
        return workers, workers
    with interrupts.held():
        logs.mute()
    spec = _complete(spec)
    try:
        there = scheduler.present(spec, tell)
    except UserError as problem:
        tell(f"warning: {problem}; so the forecast is for {workers} workers")
        return workers, workers
    if there < workers:
        tell(f"{there} of {workers} workers are at {spec['address']} now")
    return max(workers, there), max(workers, there)


def _tell(text: str) -> None:
    print(f"tcdp-sim: {text}", file=sys.stderr)


@contextmanager
def connect(spec: Mapping[str, Any], numerics: str = "warn", tell: Tell = _tell) -> Iterator[Executor]:
    """The executor of a cluster's spec; what it started is shut down at the end.

    Before anything is simulated the workers' versions and bits are compared with ours; numerics="strict" refuses
    elementary functions that differ in the last bits. tell: takes a line for people. UserError says in one line what
    is not valid, not installed, not reachable, not alike, or lost on the way.
    """
    workers = worker_count(spec)
    name = spec["name"]
    if name == "serial":
        yield SerialExecutor()
        return
    with interrupts.held():
        logs.mute()
        import dask
    try:
        full = _complete(spec) | {"workers": _expected_workers(spec, workers)}
        forgetful = dask.config.set(tuning.FORGETFUL)
        with forgetful, CLUSTERS[name].client(full, tell) as client, watch.watched(client) as watcher:
            if name != "local":  # these run our own files
                agreement.check(client, numerics == "strict", tell)
            logs.forward(client)
            dashboard = client.dashboard_link if full.get("dashboard", True) else ""
            yield DaskExecutor(client, max(workers, len(client.nthreads())), dashboard or "", watcher.silent)
    except concurrent.futures.CancelledError:
        raise UserError(_lost(name)) from None
    except OSError as problem:
        if type(problem).__name__ != "CommClosedError":
            raise
        raise UserError(_lost(name)) from None


def _lost(name: str) -> str:
    return LOST + (AGAIN if name == "scheduler" else "")


def _complete(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {**groups.named("cluster", str(spec.get("name"))), **spec}


def _expected_workers(spec: Mapping[str, Any], workers: int) -> int | None:
    return None if spec["name"] == "scheduler" and spec.get("workers") is None else workers


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
