"""The memory and time of one chunk of the cells at the corners of a sweep, measured in processes of their own.

A pilot of the average cell says too little about the job that meets the largest one. Nobody knows which cell of a
user's function needs most, so those with the largest and the smallest values of the axes are tried.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from tcdp_sim.core import system
from tcdp_sim.core.log import Tell
from tcdp_sim.engine.simulate import Batch, Task, run
from tcdp_sim.study.packed_cells import Cell, Cells
from tcdp_sim.study.settings import Settings

SECONDS = 10.0  # for all corners together; what is not drawn in this time is extrapolated
MORE = 8  # factor by which the trials of an attempt grow
MOST_AXES = 4  # axes of whose values all combinations of largest and smallest ones are tried


@dataclass(frozen=True)
class Peak:
    """The needs of a chunk of the cell that needs most: bytes beyond those of the process before it, and seconds."""

    bytes: float = 0.0
    seconds: float = 0.0


def measured(cells: Cells, counts: Mapping[str, Any], settings: Settings, tell: Tell) -> Peak:
    """Return the most that a chunk of a corner of the sweep takes. `tell` gets a line about each child that died."""
    every = corners(cells)
    peaks = [_peak(cell, counts, settings, SECONDS / len(every), tell) for cell in every]
    return Peak(max(peak.bytes for peak in peaks), max(peak.seconds for peak in peaks))


def corners(cells: Cells) -> list[Cell]:
    """Return the cells with the largest and the smallest values of the axes, in all combinations.

    Axes of texts count by the order of their values. Beyond MOST_AXES axes, all are largest or all are smallest but for
    one.
    """
    columns: list[list[Any]] = [[] for _ in cells[0].coords]
    for cell in cells:
        for column, value in zip(columns, cell.coords.values()):
            column.append(value)
    if not columns:
        return [cells[0]]
    ranks = np.array([_ranks(column) for column in columns])
    places = dict.fromkeys(int(np.argmax(np.array(signs) @ ranks)) for signs in _signs(len(ranks)))
    return [cells[place] for place in places]


def _ranks(values: list[Any]) -> np.ndarray:
    """Return the ranks of the values of an axis among its distinct values, from 0 to 1."""
    distinct = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) for value in distinct):
        distinct.sort()
    places = {value: place for place, value in enumerate(distinct)}
    return np.array([places[value] for value in values]) / max(1, len(distinct) - 1)


def _signs(axes: int) -> Iterator[tuple[int, ...]]:
    if axes <= MOST_AXES:
        yield from product((1, -1), repeat=axes)
        return
    for sign in (1, -1):
        yield (sign,) * axes
        for axis in range(axes):
            yield tuple(-sign if axis == other else sign for other in range(axes))


def _peak(cell: Cell, counts: Mapping[str, Any], settings: Settings, seconds: float, tell: Tell) -> Peak:
    """Return the needs of a chunk of one cell."""

    def work(note: Callable[[str], None]) -> None:
        before, trials = system.peak_memory(), 1
        while True:
            batch = Batch(cell.id, cell.law, counts[cell.counts], (0,))
            done = run(Task(settings.seed, trials, (batch,)))
            more = settings.chunk / trials
            note(f"{(system.peak_memory() - before) * more} {done.seconds * more}\n")
            if trials == settings.chunk or done.seconds * MORE > seconds:
                return
            trials = min(MORE * trials, settings.chunk)

    said, peak, code = system.in_child(work)
    lines = said.splitlines()
    grown, took = map(float, lines[-1].split()) if lines else (0.0, 0.0)
    if code:
        tell(f"warning: the pilot of a chunk of cell {cell.where} ended with code {code}, after {peak / 1e6:.0f} MB")
        grown = max(grown, peak)
    return Peak(grown, took)
