"""The simulation of a sweep without a folder: the numbers of all cells, as columns in memory.

Cells of one small chunk are computed together in this process, which costs some microseconds a cell. All other cells,
and those on workers, take the way of every study: a summary for each chunk, merged. Both give the same bits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.core.streams import generator, generators
from tcdp_sim.engine import interrupts, stopping
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.functions.calls import place
from tcdp_sim.mechanisms.functions.returned import WrongResult
from tcdp_sim.store import columns, table
from tcdp_sim.study import sweeps
from tcdp_sim.study.points import Point
from tcdp_sim.summaries import batch
from tcdp_sim.summaries.batch import TOGETHER, VALUES
from tcdp_sim.summaries.summary import Summary, merged, summarise
from tcdp_sim.sweeps.arguments import Sweep
from tcdp_sim.sweeps.pilot import called, told

Columns = dict[str, tuple[Any, Any, dict[str, str]]]  # name -> (dimensions, values, attributes)
BLOCK = 1024  # cells in a block


@dataclass(frozen=True, eq=False)
class Cells:
    """Consecutive cells of a sweep: their points, the texts of these, their ids and common streams."""

    points: Sequence[Point]
    texts: Sequence[str]
    ids: Sequence[str]
    streams: Sequence[str | None]

    def block(self, size: int) -> "Iterator[Cells]":
        """Yield the cells in blocks."""
        for start in range(0, len(self.points), size):
            own = slice(start, start + size)
            yield Cells(self.points[own], self.texts[own], self.ids[own], self.streams[own])

    def names(self) -> Iterator[str]:
        """Yield the names of the cells' own random streams."""
        return sweeps.streams(self.texts)

    def name(self, i: int) -> str:
        """Return the name of the random stream that a cell draws from."""
        return self.streams[i] or next(sweeps.streams([self.texts[i]]))


def cells_of(sweep: Sweep) -> Cells:
    """Return the cells of a sweep."""
    identities = sweeps.identities(sweep.function, sweep.points, sweep.share)
    return Cells(list(sweep.points.values()), list(sweep.points), *identities)


def simulated(sweep: Sweep, cells: Cells, advance: Callable[[], None], failed: dict[str, str]) -> Iterator[Columns]:
    """Yield the columns of consecutive cells, simulated in this process.

    `advance` is called after each chunk. With on_error=continue, `failed` gets a line for each cell that has an error,
    by its id.
    """
    together = sweep.chunks == 1 and sweep.chunk <= TOGETHER and not (sweep.share or sweep.target_mcse)
    together &= sweep.on_error == "raise"
    size = min(BLOCK, max(1, VALUES // sweep.chunk)) if together else BLOCK
    for block in cells.block(size):
        interrupts.check()
        found = _together(sweep, block, advance) if together else None
        yield found if found is not None else _one_by_one(sweep, block, advance, failed)


def _together(sweep: Sweep, cells: Cells, advance: Callable[[], None]) -> Columns | None:
    """Return the columns of cells of one small chunk, or None if their numbers need a cell of their own."""
    trials, count = sweep.chunk, len(cells.points)
    numbers = {name: np.empty((count, trials)) for name in sweep.observables}
    hits = {name: np.empty(count, np.int64) for name in sweep.events}
    for i, (point, rng) in enumerate(zip(cells.points, generators(sweep.seed, list(cells.names()), 0))):
        values = _fitting(sweep, point, called(sweep, point, rng, trials))
        for name, array in numbers.items():
            array[i] = values[name]
        for name, counts in hits.items():
            counts[i] = np.count_nonzero(values[name])
        advance()
    rows = {name: batch.rows_of(array, columns.QUANTILES) for name, array in numbers.items()}
    usual = {name: found for name, found in rows.items() if found is not None}
    if len(usual) < len(rows):
        return None
    shown = {"trials": (("cell",), np.full(count, trials), {"units": "1", "long_name": "trials simulated"})}
    return shown | table.estimates_of_rows(sweep.kind, usual, hits, trials)


def _one_by_one(sweep: Sweep, cells: Cells, advance: Callable[[], None], failed: dict[str, str]) -> Columns:
    """Return the columns of cells whose chunks are simulated one after the other."""
    return columns_of(sweep, [_summary_if_any(sweep, cells, i, advance, failed) for i in range(len(cells.points))])


def columns_of(sweep: Sweep, summaries: Sequence[Summary | None]) -> Columns:
    """Return the columns of cells with these summaries; None stands for a cell that an error left without numbers."""
    trials = np.array([summary.trials if summary else 0 for summary in summaries])
    shown: Columns = {"trials": (("cell",), trials, {"units": "1", "long_name": "trials simulated"})}
    built = [sweep.kind(sweep.function, {})] * len(summaries)
    shown |= {columns.PILOT: table.pilot_trials(summaries, sweep.chunk)} if sweep.target_mcse else {}
    return shown | table.estimates(sweep.kind, built, summaries) | table.batch_means(sweep.kind, summaries)


def _summary_if_any(
    sweep: Sweep, cells: Cells, i: int, advance: Callable[[], None], failed: dict[str, str]
) -> Summary | None:
    """Return the summary of a cell, or None after an error that on_error=continue passes over."""
    try:
        return _summary(sweep, cells, i, advance)
    except (UserError, Failure) as problem:
        if sweep.on_error == "raise":
            raise
        failed[cells.ids[i]] = str(problem)
        return None


def _summary(sweep: Sweep, cells: Cells, i: int, advance: Callable[[], None]) -> Summary:
    """Return the summary of one cell with as many chunks as it needs."""
    chunk = partial(_chunk, sweep, cells, i, advance)
    pilot, wanted, parts = *first_chunks(sweep), list[Summary]()
    while len(parts) < wanted:
        parts += [chunk(index) for index in range(len(parts), wanted)]
        if pilot == wanted:
            pilot, wanted = after_pilot(sweep, parts)
    return merged(parts[pilot:]) if len(parts) > pilot + 1 else parts[pilot]


def _chunk(sweep: Sweep, cells: Cells, i: int, advance: Callable[[], None], chunk: int) -> Summary:
    interrupts.check()
    point, stream = cells.points[i], cells.streams[i]
    rng = generator(sweep.seed, cells.name(i), chunk)
    values = _fitting(sweep, point, called(sweep, point, rng, sweep.chunk))
    advance()
    return summarise(cells.ids[i], chunk, sweep.chunk, values, {}, stream is not None)


def first_chunks(sweep: Sweep) -> tuple[int, int]:
    """Return the number of chunks of a pilot at its beginning, 0 without a target, and all that a cell needs then."""
    pilot = stopping.first_pilot(sweep.chunks) if sweep.target_mcse else 0
    return pilot, pilot or sweep.chunks


def after_pilot(sweep: Sweep, parts: Sequence[Summary]) -> tuple[int, int]:
    """Return the chunks of a cell's pilot, and all that it needs, after these chunks of the pilot."""
    most = max(-(-sweep.max_trials // sweep.chunk), sweep.chunks)
    return stopping.after_pilot(merged(parts), len(parts), sweep.chunks, sweep.target_mcse or {}, most)


def _fitting(sweep: Sweep, point: Point, values: Draws) -> Draws:
    """Return the trials of a cell. Raises UserError unless it yields the same numbers and events as the first cell."""
    try:
        return sweep.kind.fitting(values)
    except WrongResult as problem:
        raise told(place(point), problem) from None
