"""cluster=local: worker processes on this machine; nothing listens beyond the loopback interface."""

import logging
from contextlib import contextmanager, suppress

from tcdp_sim import interrupts
from tcdp_sim.clusters import tuning
from tcdp_sim.errors import UserError


def check(spec) -> None:
    """Nothing but the number of workers, which is checked for all clusters."""


@contextmanager
def client(spec, tell):
    """A client of new worker processes, one for each core unless `workers` says otherwise."""
    workers = spec["workers"]
    with interrupts.held():
        from multiprocessing import resource_tracker

        import dask
        from distributed import Client, LocalCluster  # before the settings below: they complete its own

        resource_tracker.ensure_running()  # now, since its start would unblock the signals that `held` blocks

    started = []
    try:
        try:
            with dask.config.set(tuning.SETTINGS), interrupts.held():
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
                with suppress(TimeoutError):  # a worker in the middle of its restart; it ends with this process
                    one.close(timeout=5)
