"""Clusters: each kind in conf/cluster provides an executor for the duration of a run.

A kind is a module with two functions. `check(spec)` refuses invalid values of its yaml file. `client(spec, tell)` is a
context manager that yields a dask client with at least one worker and shuts down what it started.
"""

import concurrent.futures
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tcdp_sim.core import system
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.clusters import agreement, batch, local, logs, scheduler, tuning, watch
from tcdp_sim.engine.schedule import DaskExecutor, Executor, SerialExecutor
from tcdp_sim.study import groups

MAX_WORKERS = 1024
CLUSTERS: dict[str, Any] = {
    "local": local,
    "scheduler": scheduler,
    "slurm": batch,
    "pbs": batch,
}
LOST = "the connection to the workers was lost; finished chunks are kept: the same command goes on from there"
AGAIN = ", once scheduler and workers are started again (Dask's workers end with their scheduler)"


def worker_count(spec: Mapping[str, Any]) -> int:
    """Return the number of workers that a cluster's spec asks for. Raises UserError for an invalid spec.

    For a running scheduler, whose workers are not ours, the result is the least number.
    """
    name = str(spec.get("name"))
    spec = _complete(spec)
    workers = spec.get("workers")
    if workers is not None or name not in ("local", "scheduler", "serial"):
        valid = isinstance(workers, int) and not isinstance(workers, bool) and 1 <= workers <= MAX_WORKERS
        if not valid:
            raise UserError(
                f"cluster.workers = {workers!r} is not valid; valid: a whole number from 1 to {MAX_WORKERS}",
                "cluster.workers",
            )
    if name == "serial":
        return 1
    CLUSTERS[name].check(spec)
    if workers is None:
        return system.cores() if name == "local" else 1
    return workers


def forecast(spec: Mapping[str, Any], tell: Tell) -> tuple[int, int]:
    """Return the number of workers that a run would have, and how many of them could work at once.

    Workers of this machine share its cores. A running scheduler is asked. If it cannot be reached, the spec is believed
    and `tell` gets a line that says so.
    """
    workers = worker_count(spec)
    if spec["name"] == "local":
        return workers, min(workers, system.cores())
    if spec["name"] != "scheduler":
        return workers, workers
    with interrupts.held():
        _load_dask(spec["name"])
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
    """Print a line to stderr."""
    print(f"tcdp-sim: {text}", file=sys.stderr)


@contextmanager
def connect(spec: Mapping[str, Any], numerics: str = "warn", tell: Tell = _tell) -> Iterator[Executor]:
    """Yield the executor of a cluster's spec, and shut down what was started. Raises UserError.

    Before anything is simulated, the workers' versions and bits are compared with ours. With numerics="strict",
    elementary functions that differ in the last bits are refused. `tell` takes a line for the user.
    """
    workers = worker_count(spec)
    name = spec["name"]
    if name == "serial":
        yield SerialExecutor()
        return
    with interrupts.held():
        _load_dask(name)
        import dask
    try:
        full = _complete(spec) | {"workers": _expected_workers(spec, workers)}
        forgetful = dask.config.set(tuning.FORGETFUL)
        with forgetful, CLUSTERS[name].client(full, tell) as client, watch.watched(client) as watcher:
            if name != "local":  # local workers run our own files
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


def _load_dask(name: str) -> None:
    """Import dask's workers without their reports. Raises UserError on a system where they cannot be imported."""
    try:
        logs.mute()
    except ModuleNotFoundError as problem:
        lacking = " ".join(str(problem).split())
        raise UserError(
            f"cluster={name} does not work on this system ({lacking}); use cluster=serial, or Linux (on Windows: WSL)",
            "cluster",
        ) from None


def _lost(name: str) -> str:
    """Return the message for a lost connection."""
    return LOST + (AGAIN if name == "scheduler" else "")


def _complete(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec with the defaults of its yaml file."""
    return {**groups.named("cluster", str(spec.get("name"))), **spec}


def _expected_workers(spec: Mapping[str, Any], workers: int) -> int | None:
    """Return the number of workers to wait for, None if the running scheduler decides."""
    return None if spec["name"] == "scheduler" and spec.get("workers") is None else workers
