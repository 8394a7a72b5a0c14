"""What dask is told about tasks of a second that allocate and free arrays all the time."""

# Batches of a second need neither stealing nor profiling; both cost the driver more than they give. And dask tells
# the workers' allocator to hand freed memory back at once: for chunks of trials, allocated and freed all the time,
# that alone doubles the run time (measured: 46.7 s instead of 22.7 s for the default study on one worker).
KEEP_BYTES = 2**28
SETTINGS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": KEEP_BYTES,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": KEEP_BYTES,
    "distributed.scheduler.worker-saturation": "inf",
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.profile.enabled": False,
}
# Workers that are cancelled or pre-empted take their tasks with them; only a task that meets it ten times is suspect.
PATIENT = SETTINGS | {"distributed.scheduler.allowed-failures": 10}


def inherited() -> str:
    """The settings as the value of DASK_INTERNAL_INHERIT_CONFIG, for workers and schedulers started elsewhere."""
    import dask

    nested = {}
    for key, value in PATIENT.items():
        *sections, last = key.split(".")
        spot = nested
        for section in sections:
            spot = spot.setdefault(section, {})
        spot[last] = value
    return dask.config.serialize(nested)
