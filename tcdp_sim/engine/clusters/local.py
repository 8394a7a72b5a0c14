"""The cluster local: worker processes on this machine, over TLS; nothing listens beyond the loopback interface."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tcdp_sim.core import environment, fork_server, main_module, safe_path, system
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.clusters import checks, protection, tuning

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

ADVICE = (
    "try again, with fewer cluster.workers, with more memory (ulimit -v) or open files (ulimit -n) if they are short, "
    "or with cluster=serial"
)

# Bytes of address space below which no driver with two workers got to its end (measured): threads of Dask have stacks
# and arenas, and OpenBLAS would end the process with a message of its own.
LEAST_SPACE = 1.25e9


def check(spec: Mapping[str, Any]) -> None:
    """Raise UserError unless dashboard is true or false; the number of workers is checked for all clusters."""
    checks.yes_no(spec, "dashboard")


@contextmanager
def client(spec: Mapping[str, Any], tell: Tell) -> "Iterator[Client]":
    """Yield a client of new worker processes, one for each core unless `workers` says otherwise."""
    _check_space(system.address_space())
    with interrupts.held():
        import distributed  # noqa: F401 (before the settings below: they complete its own)

        safe_path.ensure_tracker()  # now, because its start would unblock the signals that `held` blocks

    if spec.get("dashboard"):
        tell(protection.WATCHED)
    ends = ExitStack()
    try:
        try:
            with interrupts.held():
                dask_client = _started(spec, ends)
        except (RuntimeError, OSError) as problem:  # killed while starting, or no memory, ports or time left
            reason = " ".join(str(problem).split()) or type(problem).__name__
            message = f"the {spec['workers']} worker processes did not start ({reason}); {ADVICE}{system.ELSEWHERE}"
            raise UserError(message) from None
        yield dask_client
    finally:
        with interrupts.held():
            ends.close()


def _check_space(limit: float) -> None:
    """Raise UserError where the address space of a process is limited to fewer bytes than the driver needs."""
    if limit < LEAST_SPACE:
        raise UserError(
            f"a process may have {limit / 1e9:.2g} GB of address space (ulimit -v), and cluster=local needs "
            f"{LEAST_SPACE / 1e9:g} GB or more; raise the limit"
        )


def _started(spec: Mapping[str, Any], ends: ExitStack) -> "Client":
    """Return a client of new workers; cleanups are pushed to `ends`."""
    import dask
    from distributed import Client, LocalCluster

    folder = ends.enter_context(protection.scratch())
    ends.enter_context(main_module.hidden())  # until the end, because workers that die are started again
    with dask.config.set(tuning.SETTINGS | protection.settings(spec, folder) | _start_method() | _safe_path()):
        ends.enter_context(environment.kept(_set_by_dask()))
        cluster = LocalCluster(
            n_workers=spec["workers"],
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            security=protection.mutual(*protection.certificate()),
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": bool(spec.get("dashboard"))},
            silence_logs=logging.CRITICAL,
        )
        ends.callback(_close, cluster)
        dask_client = Client(cluster)
        ends.callback(_close, dask_client)
    return dask_client


def _safe_path() -> dict[str, Any]:
    """Return dask's settings that keep new workers from the current folder, also those that replace lost ones."""
    import dask

    before: dict[str, Any] = {
        f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in safe_path.SAFE.items()
    }
    preload, argv = (dask.config.get(f"distributed.worker.{name}") for name in ("preload", "preload-argv"))
    found = [*([preload] if isinstance(preload, str) else preload), safe_path.__name__]  # a text in the environment
    if argv and not isinstance(argv[0], str):  # words for each module: ours takes none
        before["distributed.worker.preload-argv"] = [*argv, []]
    return {**before, "distributed.worker.preload": found}


def _set_by_dask() -> list[str]:
    """Return the variables that Dask sets in this process, to the end of it, before it starts a worker."""
    import dask

    return [*dask.config.get("distributed.nanny.pre-spawn-environ"), "PYTHONHASHSEED", "__DASK_PARENT_PID"]


def _start_method() -> dict[str, Any]:
    """Return dask's setting for the way in which workers start, if they are forked from a server.

    Null stands for the default of this process. Dask would answer "forkserver" with imports of all optional packages.
    """
    return {"distributed.worker.multiprocessing-method": None} if fork_server.is_default() else {}


def _close(one: "Client | LocalCluster") -> None:
    """Close a client or cluster within 5 seconds."""
    with suppress(TimeoutError, AssertionError):  # a worker in the middle of its restart ends with this process
        one.close(timeout=5)
