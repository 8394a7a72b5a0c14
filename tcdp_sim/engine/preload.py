"""What is begun before a study is planned: a process that imports what workers need, while this one plans."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from tcdp_sim.core import fork_server, registry, safe_path
from tcdp_sim.engine import interrupts
from tcdp_sim.store import snapshot

if TYPE_CHECKING:
    from tcdp_sim.study.settings import Settings

# Dask makes the workers' allocator return freed memory at once. For chunks of trials, which are allocated and freed all
# the time, that alone doubles the run time (measured: 46.7 s instead of 22.7 s for the default study on one worker).
KEEP_BYTES = 2**28
ALLOCATOR = {"MALLOC_TRIM_THRESHOLD_": KEEP_BYTES, "MALLOC_MMAP_THRESHOLD_": KEEP_BYTES}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1)  # as Dask has it
MODULES = ("distributed.nanny", "distributed.worker", "tcdp_sim.engine.evaluate")


@contextmanager
def imports(settings: "Settings") -> Iterator[None]:
    """Let workers of this machine that are started in the block have their imports done.

    Nothing is begun where results are there already, since nothing may be left to simulate. Code of users starts
    without it, because forked processes would share the state of global random generators.
    """
    own_code = "function" in settings.mechanism or settings.noises or registry.distributions()
    if settings.cluster["name"] != "local" or (settings.folder / snapshot.LINK).exists() or own_code:
        yield
        return
    with ExitStack() as server:
        with interrupts.held():
            safe_path.ensure_tracker()  # now, because its start would unblock the signals that `held` blocks
        with interrupts.held():
            server.enter_context(
                fork_server.running(MODULES, {name: str(value) for name, value in (ALLOCATOR | ONE_THREAD).items()})
            )
        yield
