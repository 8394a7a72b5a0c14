"""The simulation of a sweep without a folder: the numbers of all cells, as columns in memory.

It is the loop of every study, with the chunks kept in memory. Where a cell is one small chunk, cells are computed
together in this process, which costs some microseconds a cell instead of a hundred, and gives the same bits.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from traceback import format_exception
from typing import Any

import numpy as np

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.core.streams import generator, generators
from tcdp_sim.core.texts import printable
from tcdp_sim.engine import clusters, decisions, interrupts, stopping
from tcdp_sim.engine.decisions import Decisions
from tcdp_sim.engine.pending import Pending, Wanted
from tcdp_sim.engine.progress import ProgressLine, Tally
from tcdp_sim.engine.schedule import Executor, SerialExecutor, simulate
from tcdp_sim.engine.simulate import Done, Record
from tcdp_sim.engine.until_precise import Chunks, until_precise
from tcdp_sim.engine.user_function_task import Carried
from tcdp_sim.mechanisms.functions import law_of
from tcdp_sim.mechanisms.functions.calls import place
from tcdp_sim.store import columns, table
from tcdp_sim.study import sweeps
from tcdp_sim.study.points import Point
from tcdp_sim.summaries import batch
from tcdp_sim.summaries.batch import TOGETHER, VALUES
from tcdp_sim.summaries.problems import ERROR, WHAT
from tcdp_sim.summaries.summary import Summary
from tcdp_sim.sweeps.arguments import Sweep
from tcdp_sim.sweeps.interrupted import Started, going_on
from tcdp_sim.sweeps.pilot import Raised, called, of_chunk
from tcdp_sim.sweeps.shown import carried

Columns = dict[str, tuple[Any, Any, dict[str, str]]]  # name -> (dimensions, values, attributes)
LineOf = Callable[[Tally], AbstractContextManager[Any]]
Points = Mapping[str, Point]  # those of consecutive cells, by text
BLOCK = 1024  # cells in a block
QUICK = 0.1  # seconds of a block of cells that is followed by a larger one
GROWN = 32  # times as many cells
PATIENCE = 1.0  # seconds before a sweep in this process shows its progress
OPTIONS = (
    "on_error='continue' simulates the other cells; on_error='count' takes failed trials of a function of one trial "
    "for missing, and counts them"
)
SOON = 1.0  # seconds of the longest task in this process that is drawn again for its traceback


class Stop(Exception):
    """The end of a sweep at the first error of its function, which is the argument."""


@dataclass
class Problems:
    """What a sweep does about errors and warnings of its function.

    `failed` has a line for each cell with an error. `finished` is the number of cells with numbers, and `stopped` the
    error that has ended the sweep. `compared` holds the comparisons of a sweep with a target.
    """

    sweep: Sweep
    tell: Tell
    failed: dict[str, str] = field(default_factory=dict)
    finished: int = 0
    stopped: Exception | None = None
    started: Started = field(default_factory=Started)
    warned: set[str] = field(default_factory=set)
    compared: Decisions | None = None

    def heed(self, record: Record, point: Point, again: bool) -> None:
        """Print each warning of a chunk once; note its error, or raise Stop with it for on_error=stop.

        The error has the exception that the chunk raises if it is drawn again, else its traceback as a note.
        """
        for problem in record.problems:
            if problem.kind == ERROR:
                error = of_chunk(problem.message, point)
                if self.sweep.settings.on_error != "continue":
                    cause = _cause(self.sweep, record, point) if again else None
                    if not isinstance(error, Raised):
                        raise error from cause
                    where = "" if cause else printable(problem.where, keep="\n")
                    error.add_note(f"{where}{OPTIONS}")
                    error.__cause__ = cause
                    raise Stop(error)
                self.failed.setdefault(record.cell, str(error))
            elif problem.kind in WHAT:
                self.started.trials.append(problem)
                self.started.points[record.cell] = point
            elif problem.message not in self.warned:
                self.warned.add(problem.message)
                self.tell(f"warning: {place(point)}{problem.message}")


def traced(error: BaseException) -> str:
    """Return the traceback of what a function has raised, as printable lines."""
    cause = error.__cause__
    lines = format_exception(cause) if cause else error.__notes__[0].split(OPTIONS)[:1]
    return printable("".join(lines), keep="\n").rstrip()


def _cause(sweep: Sweep, record: Record, point: Point) -> BaseException | None:
    """Return what the function raises when this process draws a chunk again, for the traceback of its user."""
    law = law_of(sweep.function, point)
    stream = sweeps.stream(law, record.cell)
    try:
        with warnings.catch_warnings(action="ignore"):
            called(sweep, point, generator(sweep.settings.seed, stream, record.chunk), sweep.settings.chunk)
    except (UserError, Failure) as again:
        return again.__cause__
    return None


def simulated(sweep: Sweep, problems: Problems) -> Iterator[Columns]:
    """Yield the columns of consecutive cells."""
    with going_on(sweep) as problems.started:
        started = problems.started
        if _is_small(sweep):
            yield from _small(sweep, problems, started)
            return
        with clusters.connect(sweep.settings.cluster, sweep.settings.numerics, problems.tell) as executor:
            line = partial(ProgressLine, silent=executor.silent, patience=PATIENCE)
            yield from _by_chunks(sweep, sweep.points, executor, line, problems, started.chunks)


def _is_small(sweep: Sweep) -> bool:
    """Return True if each cell is one small chunk with a random stream of its own, in this process."""
    s = sweep.settings
    alone = s.cluster["name"] == "serial" and s.chunks == 1 and s.chunk <= TOGETHER
    return alone and not (s.share or s.target_mcse or s.target)


@dataclass
class _Done:
    """The progress of small cells."""

    total: float
    trials: int
    work: float = 0.0

    def add(self, cells: float) -> None:
        """Add cells that are done."""
        self.work += cells

    def advance(self, done: Done) -> None:
        """Add nothing: the cells of a block are added together."""

    def __str__(self) -> str:
        return f"{self.work:.0f}/{self.total:.0f} cells, {self.work * self.trials:.3g} trials"


def _small(sweep: Sweep, problems: Problems, started: Started) -> Iterator[Columns]:
    """Yield the columns of cells of one small chunk. Blocks with warnings or errors are treated like all others."""
    chunk, texts = sweep.settings.chunk, list(sweep.points)
    most, size, start = min(BLOCK, max(1, VALUES // chunk)), 1, 0
    done = _Done(len(texts), chunk)
    with ProgressLine(done, patience=PATIENCE) as line:
        while start < len(texts):
            before, began = done.work, time.monotonic()
            known = started.blocks.get(texts[start])
            block = {text: sweep.points[text] for text in texts[start : start + (known[0] if known else size)]}
            interrupts.check()
            if problems.stopped:
                yield columns_of(sweep, [None] * len(block))
            elif found := known[1] if known else _together(sweep, block, line):
                problems.finished += len(block)
                started.blocks[texts[start]] = len(block), found
                yield found
            else:
                yield from _by_chunks(sweep, block, SerialExecutor(), _no_line, problems, started.chunks)
            line.advance(before + len(block) - done.work)
            start += len(block)
            size = min(GROWN * size, most) if time.monotonic() - began < QUICK else max(size // GROWN, 1)


@contextmanager
def _no_line(_: Tally) -> "Iterator[_Done]":
    """Give a progress that nobody sees."""
    yield _Done(0, 0)


def _together(sweep: Sweep, points: Points, line: ProgressLine) -> Columns | None:
    """Return the columns of cells of one small chunk; None after an error or a warning, or for unusual numbers."""
    trials, count = sweep.settings.chunk, len(points)
    numbers = {name: np.empty((count, trials)) for name in sweep.options["observables"]}
    hits = {name: np.empty(count, np.int64) for name in sweep.options["events"]}
    names = list(sweeps.streams(points))
    try:
        with warnings.catch_warnings(record=True, action="always") as noticed:
            for i, (point, rng) in enumerate(zip(points.values(), generators(sweep.settings.seed, names, 0))):
                values = sweep.kind.fitting(sweep.call(rng, trials, point))
                for name, array in numbers.items():
                    array[i] = values[name]
                for name, counts in hits.items():
                    counts[i] = np.count_nonzero(values[name])
                line.advance(1)
    except Exception:  # a function may raise anything
        return None
    if noticed or any(hits[name].any() for name in sweep.kind.of_trials):
        return None
    rows = {name: batch.rows_of(array, columns.QUANTILES) for name, array in numbers.items()}
    usual = {name: found for name, found in rows.items() if found is not None}
    if len(usual) < len(rows):
        return None
    return _trials(np.full(count, trials)) | table.estimates_of_rows(sweep.kind, usual, hits, trials)


def _by_chunks(
    sweep: Sweep, points: Points, executor: Executor, line_of: LineOf, problems: Problems, store: Chunks
) -> Iterator[Columns]:
    """Yield the columns of cells whose chunks are tasks of an executor, and are put into the store."""
    s, failed = sweep.settings, problems.failed
    laws = sweeps.cells(sweep.function, points, s.share, sweeps.coordinates(points, sweep.options["axes"]))
    compared = problems.compared = decisions.of(laws, s)
    wanted, ids = stopping.start(laws, s), list(laws.ids())
    point_of = dict(zip(ids, points.values()))
    here = isinstance(executor, SerialExecutor)
    work = Carried(sweep.options, sweep.call) if here else carried(sweep)

    def simulate_pending(todo: Pending, planned: Wanted) -> None:
        estimates = {} if compared else dict(zip(ids, planned.estimates(ids)))

        def receive(done: Done) -> None:
            for record in done.records:
                if record.summary is not None:
                    store.add(record.cell, record.chunk, record.summary, estimates.get(record.cell, range(0)))
                problems.heed(record, point_of[record.cell], again=here and done.seconds <= SOON)
            line.advance(done)

        pairs = (pair for pair in todo if pair[0].id not in failed)
        with line_of(Tally(todo, s.chunk)) as line:
            simulate(executor, pairs, todo.work, {"": None}, s.seed, s.chunk, receive, work)

    todo = Pending(laws, wanted, store.has)
    try:
        wanted = until_precise(laws, s, store, todo, wanted, simulate_pending, failed, problems.tell, compared)
    except Stop as end:
        problems.stopped = end.args[0]
    for start in range(0, len(ids), BLOCK):
        own = ids[start : start + BLOCK]
        chunks = dict(zip(own, wanted.estimates(own)))
        there = [cell not in failed and store.is_whole(cell, chunks[cell]) for cell in own]
        problems.finished += sum(there)
        yield columns_of(sweep, [store.taken(cell, chunks[cell]) if whole else None for cell, whole in zip(own, there)])


def columns_of(sweep: Sweep, summaries: Sequence[Summary | None]) -> Columns:
    """Return the columns of cells with these summaries; None stands for a cell that an error left without numbers."""
    shown = _trials(np.array([summary.trials if summary else 0 for summary in summaries]))
    built, rule = [sweep.kind(sweep.function, {})] * len(summaries), decisions.rule(sweep.settings)
    shown |= {columns.PILOT: table.pilot_trials(summaries, sweep.settings.chunk)} if sweep.settings.target_mcse else {}
    return shown | table.estimates(sweep.kind, built, summaries, rule=rule) | table.batch_means(sweep.kind, summaries)


def _trials(counts: np.ndarray) -> Columns:
    return {"trials": (("cell",), counts, {"units": "1", "long_name": "trials simulated"})}
