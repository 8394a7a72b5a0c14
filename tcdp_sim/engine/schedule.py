"""Executors behind one small interface, and the loop that feeds them; the only module that imports dask."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.simulate import Batch, Done, Task, run
from tcdp_sim.study.packed_cells import Cell

if TYPE_CHECKING:
    from distributed import Client

TASK_SECONDS = 1.0
SERVED = 100  # workers that tasks of TASK_SECONDS leave the driver time for: each costs it some ms (docs/scaling.md)
MEMORY = 0.9  # what a finished task still counts for when the next one is: the last twenty or so tell the speed
WINDOW = 2  # tasks in flight a worker: the second hides the round trip; more would make the end of a run uneven


class Executor(Protocol):
    """Runs tasks; results come in any order, and the order never matters.

    dashboard: its address, "" without one. silent: the workers that have given no sign of life for some time.
    """

    @property
    def workers(self) -> int: ...
    @property
    def dashboard(self) -> str: ...
    @property
    def silent(self) -> Callable[[], Sequence[str]]: ...

    def results(self, tasks: Iterator[Any], work: Callable[[Any], Any] | None = None) -> Iterator[Any]:
        """Pull tasks as there is room for them and yield what `work` makes of each: a pure function, `run` if None."""


class SerialExecutor:
    """In this process, one task after the other: the reference for every other executor."""

    workers = 1
    dashboard = ""
    silent: Callable[[], Sequence[str]] = staticmethod(tuple)

    def results(self, tasks: Iterator[Any], work: Callable[[Any], Any] | None = None) -> Iterator[Any]:
        for task in tasks:
            yield (work or run)(task)


class DaskExecutor:
    """On the workers of a Dask client, a few tasks in flight for each; finished results are fetched at once."""

    def __init__(
        self, client: "Client", workers: int, dashboard: str = "", silent: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self._client = client
        self.workers = workers
        self.dashboard = dashboard
        self.silent = silent

    def results(self, tasks: Iterator[Any], work: Callable[[Any], Any] | None = None) -> Iterator[Any]:
        from distributed import KilledWorker

        try:
            yield from self._results(tasks, work or run)
        except KilledWorker as lost:
            raise UserError(
                f"a task ended {lost.allowed_failures + 1} workers (killed, or out of memory); what was finished is "
                "kept: the same command goes on from there, with fewer cluster.workers if memory is short"
            ) from None

    def _results(self, tasks: Iterator[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        from distributed import as_completed

        flying = as_completed(with_results=True)
        room = WINDOW * self.workers
        for task in tasks:
            flying.add(self._client.submit(work, task, pure=False))
            room -= 1
            if room == 0 or flying.has_ready():  # what is ready tells how large the next tasks may be
                yield _arrived(next(flying)[1])
                room += 1
        for _, done in flying:
            yield _arrived(done)


def _arrived(done: Any) -> Any:
    """A task's result; what dask hands over as one when the scheduler is lost is raised."""
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
) -> None:
    """Simulate the pending chunks and hand each finished task to `receive`, in this process, as it arrives.

    todo: read as the workers come to it; work: of one trial of every chunk in it, about. Chunks are batched into tasks
    of task_seconds: those that are finished tell how fast it goes, the first have one chunk each, the last are smaller
    so that the workers finish together. How they are batched changes no number.
    """
    speed = Speed()
    for done in executor.results(_tasks(todo, work, counts, seed, trials, executor.workers, speed)):
        interrupts.check()
        speed.learn(done.seconds, done.work, len(done.records))
        receive(done)


def task_seconds(workers: int) -> float:
    """How long a task is to take a worker: longer for many workers, so that the one driver keeps up with them all."""
    return TASK_SECONDS * max(1.0, workers / SERVED)


class Speed:
    """How fast workers are, by work and by chunks, from the tasks that were finished lately.

    Work alone would not do: a chunk has an overhead, which is all that a light one takes. What is long past counts for
    nothing: chunks come longest first, so those to come are like the latest.
    """

    def __init__(self) -> None:
        self._seconds = self._work = self._chunks = 0.0

    def learn(self, seconds: float, work: float, chunks: int) -> None:
        """A task that was finished: what it took, and what it was."""
        self._seconds = MEMORY * self._seconds + seconds
        self._work = MEMORY * self._work + work
        self._chunks = MEMORY * self._chunks + chunks

    def size(self, left: float, workers: int) -> tuple[float, float]:
        """(work, chunks) one of which the next task is to reach: task_seconds, or a fair part of the work that is left.

        One chunk at the start.
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
    grouped: dict[str, tuple[Cell, list[int]]] = {}
    for cell, chunk in items:
        grouped.setdefault(cell.id, (cell, []))[1].append(chunk)
    batches = (Batch(c.id, c.law, counts[c.counts], tuple(chunks)) for c, chunks in grouped.values())
    return Task(seed, trials, tuple(batches), work)
