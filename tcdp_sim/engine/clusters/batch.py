"""The clusters slurm and pbs: workers as jobs of a queue, through dask-jobqueue. The driver runs on a login node."""

import getpass
import math
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.clusters import protection, tuning
from tcdp_sim.engine.clusters.extras import needed
from tcdp_sim.engine.clusters.jobs import Jobs
from tcdp_sim.engine.clusters.queues import QUEUES, check, folder, options

if TYPE_CHECKING:
    from distributed import Client, Security

__all__ = ["check", "client"]

POLL = 1.0  # seconds between checks for the first worker


@contextmanager
def client(spec: Mapping[str, Any], tell: Tell) -> "Iterator[Client]":
    """Yield a client of workers in jobs once the first has come; jobs that end are submitted again.

    All jobs are cancelled at the end.
    """
    name, logs = spec["name"], folder(spec)
    _ready(name, logs)
    if not spec["tls"]:
        tell("warning: cluster.tls = False: whoever can reach this machine's ports can run code as you")
    if spec["dashboard"]:
        tell(protection.WATCHED)
    count = math.ceil(spec["workers"] / spec["cores"])
    own_jobs = [word.format(user=getpass.getuser()) for word in QUEUES[name]["own_jobs"]]
    ends = ExitStack()
    try:
        with interrupts.held():
            dask_client = _scheduler(spec, logs, ends)
            jobs = Jobs(dask_client.cluster, count, own_jobs, logs)
            ends.callback(jobs.close)
        tell(f"jobs submitted: {count}; waiting for the first worker (logs in {logs})")
        while not jobs.tend():
            time.sleep(POLL)
        with jobs.tended(dask_client):
            yield dask_client
    finally:
        with interrupts.held():
            ends.close()


def _ready(name: str, logs: Path) -> None:
    """Raise UserError unless packages, commands and the folder are there."""
    with interrupts.held():
        needed("dask_jobqueue", name)
    for tool in QUEUES[name]["tools"]:
        if shutil.which(tool) is None:
            message = f"cluster={name}: there is no {tool} on this machine"
            raise UserError(f"{message}; start the run on a machine that can submit jobs")
    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UserError(
            f"cluster.folder = {str(logs)!r} cannot be made ({problem.strerror})", "cluster.folder"
        ) from None


def _scheduler(spec: Mapping[str, Any], logs: Path, ends: ExitStack) -> "Client":
    """Return a client of a new scheduler in this process without workers; cleanups are pushed to `ends`."""
    import dask
    from distributed import Client

    name = spec["name"]
    cluster_class = getattr(needed("dask_jobqueue", name), QUEUES[name]["cluster"])
    try:
        folder = ends.enter_context(protection.scratch())
        with dask.config.set(tuning.PATIENT | protection.settings(spec, folder)):
            security = _security(logs, ends) if spec["tls"] else None
            cluster = cluster_class(**options(spec), security=security)
            ends.callback(cluster.close)
            dask_client = Client(cluster)
            ends.callback(dask_client.close)
    except (RuntimeError, OSError, ValueError) as problem:  # no such interface, no port, a full disk
        reason = " ".join(str(problem).split())
        raise UserError(f"cluster={name}: the scheduler for the workers did not start ({reason})", "cluster") from None
    return dask_client


def _security(logs: Path, ends: ExitStack) -> "Security":
    """Return mutual TLS with a new certificate for this run, in a folder that only its owner can read."""
    keys = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="tls-", dir=logs)))
    return protection.mutual(*protection.written(*protection.certificate(), keys))
