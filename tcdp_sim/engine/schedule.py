"""Executors behind one small interface, and the loop that feeds them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import interrupts, same_code
from tcdp_sim.engine.simulate import Batch, Done, Task, run
from tcdp_sim.store import source
from tcdp_sim.study.packed_cells import Cell

if TYPE_CHECKING:
    from distributed import Client

Work = Callable[[Any], Any]
TASK_SECONDS = 1.0
# the driver can serve this many workers with tasks of TASK_SECONDS; each costs it some ms (docs/explained/scaling.md)
SERVED = 100
MEMORY = 0.9  # weight of a finished task when the next one finishes: about the last twenty determine the speed
WINDOW = 2  # tasks in flight for each worker: the second hides the round trip, more would make the end of a run uneven


class Executor(Protocol):
    """An object that runs tasks; results come in any order, which never matters.

    - dashboard: the address of the dashboard, "" without one.
    - silent: a function that returns the workers without a recent sign of life.
    """

    @property
    def workers(self) -> int: ...
    @property
    def dashboard(self) -> str: ...
    @property
    def silent(self) -> Callable[[], Sequence[str]]: ...

    def results(self, tasks: Iterator[Any], work: Work | None = None, uses: tuple[str, ...] = ()) -> Iterator[Any]:
        """Pull tasks as there is room for them, and yield `work(task)` for each.

        `work` is a pure function, `run` by default. `uses` names the distributions of the plug-ins that it calls.
        """


class SerialExecutor:
    """An executor that runs one task after the other in this process, the reference for every other executor."""

    workers = 1
    dashboard = ""
    silent: Callable[[], Sequence[str]] = staticmethod(tuple)

    def results(self, tasks: Iterator[Any], work: Work | None = None, uses: tuple[str, ...] = ()) -> Iterator[Any]:
        """Yield `work(task)` for each task in order."""
        for task in tasks:
            yield (work or run)(task)


class DaskExecutor:
    """An executor on the workers of a Dask client, with a few tasks in flight for each; results are fetched at once."""

    def __init__(
        self, client: "Client", workers: int, dashboard: str = "", silent: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self._client = client
        self.workers = workers
        self.dashboard = dashboard
        self.silent = silent

    def results(self, tasks: Iterator[Any], work: Work | None = None, uses: tuple[str, ...] = ()) -> Iterator[Any]:
        """Yield `work(task)` for each task as it finishes. Raises UserError if a task has ended several workers."""
        from distributed import KilledWorker

        try:
            yield from self._results(tasks, work or run, uses)
        except KilledWorker as lost:
            raise UserError(
                f"a task ended {lost.allowed_failures + 1} workers (killed, or out of memory); finished chunks are "
                "kept: the same command goes on from there, with fewer cluster.workers if memory is short"
            ) from None

    def _results(self, tasks: Iterator[Any], work: Work, uses: tuple[str, ...]) -> Iterator[Any]:
        from distributed import as_completed
        from distributed.protocol.pickle import dumps

        if not isinstance(work, FunctionType):  # it carries a user's function, which is packed once
            work = partial(_unpacked, dumps(work))
        work = partial(same_code.checked, source.loaded(uses), uses, work)
        flying = as_completed(with_results=True)
        room = WINDOW * self.workers
        for task in tasks:
            flying.add(self._client.submit(work, task, pure=False))
            room -= 1
            if room == 0 or flying.has_ready():  # finished tasks determine the size of the next ones
                yield _arrived(next(flying)[1])
                room += 1
        for _, done in flying:
            yield _arrived(done)


def _unpacked(work: bytes, task: Any) -> Any:
    """Return the work on a task, unpacked within the task: Dask would wait forever for what it cannot unpack itself."""
    try:
        unpacked = _loaded(work)
    except Exception as problem:  # an import may raise anything
        said = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise UserError(f"a worker cannot load the function ({said}); install its module there") from None
    return unpacked(task)


@lru_cache(maxsize=4)
def _loaded(work: bytes) -> Callable[[Any], Any]:
    from distributed.protocol.pickle import loads

    unpacked: Callable[[Any], Any] = loads(work)
    return unpacked


def _arrived(done: Any) -> Any:
    """Return a task's result. If the scheduler is lost, dask passes an exception instead, which is raised."""
    if isinstance(done, BaseException):
        raise done
    return done


def simulate(
    executor: Executor,
    todo: Iterable[tuple[Cell, int]],
    work: float,
    counts: Mapping[str, Any],
    seed: int,
    trials: int,
    receive: Callable[[Done], None],
    simulated: Callable[[Task], Done] = run,
    uses: tuple[str, ...] = (),
) -> None:
    """Simulate the pending chunks and pass each finished task to `receive`, in this process, as it arrives.

    Chunks are batched into tasks of about `task_seconds`. The first tasks have one chunk each, later ones follow the
    speed of the finished ones, and the last are smaller so that the workers finish together. Batching changes no
    number.

    - todo: the pending chunks, read as the workers come to them.
    - work: the approximate work of one trial of every chunk in `todo`.
    - simulated: the function that simulates a task.
    - uses: the distributions of the plug-ins that it calls.
    """
    speed = Speed()
    tasks = _tasks(todo, work, counts, seed, trials, executor.workers, speed)
    for done in executor.results(tasks, simulated, uses):
        interrupts.check()
        speed.learn(done.seconds, done.work, len(done.records))
        receive(done)


def task_seconds(workers: int) -> float:
    """Return the target duration of a task, which is longer for many workers so that the driver keeps up."""
    return TASK_SECONDS * max(1.0, workers / SERVED)


class Speed:
    """The speed of the workers, by work and by chunks, estimated from recent tasks.

    Work alone is not enough: a chunk has an overhead, which dominates for light chunks. Old tasks lose their weight,
    because chunks come longest first and the next ones resemble the latest.
    """

    def __init__(self) -> None:
        self._seconds = self._work = self._chunks = 0.0

    def learn(self, seconds: float, work: float, chunks: int) -> None:
        """Add a finished task with its duration, work and number of chunks."""
        self._seconds = MEMORY * self._seconds + seconds
        self._work = MEMORY * self._work + work
        self._chunks = MEMORY * self._chunks + chunks

    def size(self, left: float, workers: int) -> tuple[float, float]:
        """Return the work and the number of chunks at which the next task is full, whichever it reaches first.

        They correspond to task_seconds or a fair part of the remaining work, and to one chunk at the start.
        """
        if not self._chunks:
            return 0.0, 1.0
        tasks = task_seconds(workers) / max(self._seconds, 1e-9)
        return min(tasks * self._work, left / (2 * workers)), tasks * self._chunks


def _tasks(
    todo: Iterable[tuple[Cell, int]],
    left: float,
    counts: Mapping[str, Ints],
    seed: int,
    trials: int,
    workers: int,
    speed: Speed,
) -> Iterator[Task]:
    """Yield tasks of the size that `speed` suggests."""
    batch: list[tuple[Cell, int]] = []
    work, left = 0.0, left * trials
    for item in todo:
        batch.append(item)
        work += item[0].work * trials
        enough, most = speed.size(left, workers)
        if work >= enough or len(batch) >= most:
            yield _task(batch, counts, seed, trials, work)
            left -= work
            batch, work = [], 0.0
    if batch:
        yield _task(batch, counts, seed, trials, work)


def _task(items: Iterable[tuple[Cell, int]], counts: Mapping[str, Ints], seed: int, trials: int, work: float) -> Task:
    """Return a task with its chunks grouped by cell."""
    grouped: dict[str, tuple[Cell, list[int]]] = {}
    for cell, chunk in items:
        grouped.setdefault(cell.id, (cell, []))[1].append(chunk)
    batches = (Batch(c.id, c.law, counts[c.counts], tuple(chunks)) for c, chunks in grouped.values())
    return Task(seed, trials, tuple(batches), work)
