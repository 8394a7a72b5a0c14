"""What dask is told about tasks of a second that allocate and free arrays all the time."""

from collections.abc import Mapping
from typing import Any

# Batches of a second need neither stealing nor profiling; both cost the driver more than they give. And dask tells
# the workers' allocator to hand freed memory back at once: for chunks of trials, allocated and freed all the time,
# that alone doubles the run time (measured: 46.7 s instead of 22.7 s for the default study on one worker).
KEEP_BYTES = 2**28
# Of a worker that is stopped, or hangs in a dead file system, nothing is heard. After so long its tasks go to others
# (dask looks once in as long, so within twice that); a false alarm costs no more than doing them again.
TTL = "30s"
SETTINGS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": KEEP_BYTES,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": KEEP_BYTES,
    "distributed.scheduler.worker-saturation": "inf",
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.worker-ttl": TTL,
}
# Workers that are cancelled or pre-empted take their tasks with them; only a task that meets it ten times is suspect.
PATIENT = SETTINGS | {"distributed.scheduler.allowed-failures": 10}

# Of this process, as long as there are workers: dask would keep the last thousand messages to each of them, and so the
# tasks in these, 4 kB a cell of a large sweep.
FORGETFUL = {"distributed.admin.low-level-log-length": 0}


def inherited(more: Mapping[str, Any] | None = None) -> str:
    """These settings, and more, for workers started elsewhere: the value of DASK_INTERNAL_INHERIT_CONFIG."""
    import dask

    nested: dict[str, Any] = {}
    for key, value in {**PATIENT, **(more or {})}.items():
        *sections, last = key.split(".")
        spot = nested
        for section in sections:
            spot = spot.setdefault(section, {})
        spot[last] = value
    return str(dask.config.serialize(nested))
