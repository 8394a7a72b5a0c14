"""Dask settings for tasks of a second that allocate and free arrays all the time."""

from collections.abc import Mapping
from typing import Any

from tcdp_sim.engine import preload

# A worker that is stopped, or hangs in a dead file system, falls silent. After this time its tasks go to others. Dask
# checks once in the same time, so it may take twice as long. A false alarm only repeats these tasks.
TTL = "30s"
# Tasks of a second need neither stealing nor profiling; both cost the driver more than they gain.
SETTINGS = {
    **{f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in preload.ALLOCATOR.items()},
    "distributed.scheduler.worker-saturation": "inf",
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.worker-ttl": TTL,
}
# Workers that are cancelled or pre-empted lose their tasks; a task is suspect only if that happens to it ten times.
PATIENT = SETTINGS | {"distributed.scheduler.allowed-failures": 10}

# For this process while there are workers: dask would keep the last thousand messages to each of them. Their tasks
# would take 4 kB for each cell of a large sweep.
FORGETFUL = {"distributed.admin.low-level-log-length": 0}


def inherited(more: Mapping[str, Any] | None = None) -> str:
    """Return these settings and `more` as the value of DASK_INTERNAL_INHERIT_CONFIG, for workers started elsewhere."""
    import dask

    nested: dict[str, Any] = {}
    for key, value in {**PATIENT, **(more or {})}.items():
        *sections, last = key.split(".")
        spot = nested
        for section in sections:
            spot = spot.setdefault(section, {})
        spot[last] = value
    return str(dask.config.serialize(nested))
