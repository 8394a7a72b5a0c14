"""The work of a worker: draw outputs of a mechanism on two inputs and send back counts only. All functions are pure."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.audits.data_sets import digestible
from tcdp_sim.audits.outputs import called, same
from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.identity import digest
from tcdp_sim.core.sources import Sources
from tcdp_sim.core.streams import generator

BLOCK = 20_000  # outputs drawn at a time, so that they fit the cache
PROBE = 10  # outputs of each input that a task draws twice, at its beginning and at its end
MUTATES = "it changes its input; valid: a mechanism that works on a copy"
PROBED = digest(["audit", "probe"])  # the name of their stream
Sampler = Callable[[Any, np.random.Generator, int], Any]
Read = Callable[[Any], Any]  # from outputs as they were drawn to an array of numbers or texts


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring inputs, with their place in the list and two digests (64 hex digits).

    `stream` names their streams. It is a function of names and values alone, so numbers do not depend on where a class
    of the inputs is written. `content` names stored chunks, and covers the code of such classes. The digests tell
    inputs apart only if `known`. Otherwise they hold objects that have no digest.
    """

    data: Any
    other: Any
    index: int
    stream: str
    content: str
    known: bool = True


@dataclass(frozen=True, eq=False)
class Counted:
    """The quantities to count.

    - columns: a function from outputs to columns of numbers, shape (trials, columns).
    - edges: the edges between the cells of each column.
    - extremes: how many of the largest and of the least numbers are kept for each column.
    """

    columns: Callable[[Any], Floats]
    edges: tuple[Floats, ...]
    extremes: int = 0


@dataclass(frozen=True, eq=False)
class Drawing:
    """The way outputs are drawn.

    - sources: the user's modules that the mechanism can reach. They arrive before all that refers to them.
    - sampler: the mechanism as (data, rng, trials) -> outputs.
    - read: the function from these outputs to numbers or texts.
    - interleaved: True if each output gets a call of its own, and the two inputs take turns in random order.
    """

    sources: Sources
    sampler: Sampler
    read: Read
    interleaved: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """Chunks of a stage, as pairs (index, trials), with the stream names of the first and the second input."""

    stage: str
    drawing: Drawing
    pair: Pair
    counted: Counted
    seed: int
    streams: tuple[str, str]
    chunks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of some chunks, for each input and each column.

    - trials: the number of outputs of each input.
    - cells: the number of outputs in each cell.
    - low, high: the least and the largest numbers, ascending.
    """

    trials: int
    cells: tuple[list[Ints], list[Ints]]
    low: tuple[list[Floats], list[Floats]]
    high: tuple[list[Floats], list[Floats]]


@dataclass(frozen=True, eq=False)
class Done:
    """The result of a task: finished chunks with their counts, the time taken, and an error if a chunk failed.

    `steady` is False if the same input and random stream gave other outputs at the end than at the beginning.
    """

    chunks: tuple[tuple[int, Counts], ...]
    seconds: float
    error: str = ""
    steady: bool = True


def run(task: Task) -> Done:
    """Draw and count the outputs of a task.

    An exception of the mechanism, or outputs of a wrong form, are returned as one line. So is a change of the inputs.
    """
    started = time.perf_counter()
    counts: list[tuple[int, Counts]] = []
    error, steady = "", True
    place = f"pair {task.pair.index}"
    try:
        inputs, first = fingerprint(task.pair), _probe(task, task.drawing.interleaved)
        for chunk, trials in task.chunks:
            place = f"pair {task.pair.index}, chunk {chunk}"
            counts.append((chunk, _chunk(task, chunk, trials)))
        steady = all(map(same, first, _probe(task, task.drawing.interleaved, swapped=True)))
        if fingerprint(task.pair) != inputs:
            raise ValueError(MUTATES)
    except Exception as problem:  # a mechanism may raise anything
        error = f"{place}: {said(problem)}"
    return Done(tuple(counts), time.perf_counter() - started, error, steady)


def _probe(task: Task, interleaved: bool, swapped: bool = False) -> list[Any]:
    """Return PROBE outputs of each input from one fixed stream, none if the calls are interleaved.

    `swapped` draws the outputs of the second input first. A mechanism that is a function of its input and rng does not
    care.
    """
    sides = [task.pair.data, task.pair.other]
    if interleaved:
        return []
    order = (1, 0) if swapped else (0, 1)
    drawn = {side: called(task.drawing.sampler, sides[side], generator(0, PROBED, side), PROBE) for side in order}
    return [drawn[0], drawn[1]]


def fingerprint(pair: Pair) -> str:
    """Return a text that changes if a mechanism changes its inputs, as far as these can be read."""
    try:
        return digest([digestible(pair.data), digestible(pair.other)])
    except TypeError:
        return repr((pair.data, pair.other))


def said(problem: BaseException) -> str:
    """Return an exception as one line of text."""
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def _chunk(task: Task, chunk: int, trials: int) -> Counts:
    """Return the counts of one chunk."""
    sides = _Side(task.counted), _Side(task.counted)
    for blocks in drawn(task.drawing, task.pair, task.streams, task.seed, chunk, trials):
        for side, outputs in zip(sides, blocks):
            side.add(outputs)
    one, other = sides
    return Counts(trials, (one.cells, other.cells), (one.low, other.low), (one.high, other.high))


class _Side:
    """The cell counts, the least and the largest numbers of each column, for one input."""

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self.cells = [np.zeros(len(edges) + 1, np.int64) for edges in counted.edges]
        self.low: list[Floats] = [np.zeros(0)] * len(self.cells)
        self.high: list[Floats] = [np.zeros(0)] * len(self.cells)

    def add(self, outputs: Any) -> None:
        """Count one block of outputs."""
        counted = self._counted
        for index, (numbers, edges) in enumerate(zip(counted.columns(outputs).T, counted.edges)):
            if len(edges) > 1 or counted.extremes:
                numbers = np.sort(numbers)
                ends = self.low[index], self.high[index]
                self.low[index], self.high[index] = _extremes(numbers, ends, counted.extremes)
            self.cells[index] += in_cells(numbers, edges)


def in_cells(numbers: Floats, edges: Floats) -> Ints:
    """Return how many numbers lie in each cell; a number on an edge lies above it.

    With more than one edge, the numbers must be ascending.
    """
    if len(edges) == 1:
        above = int(np.count_nonzero(numbers >= edges[0]))
        return np.array([len(numbers) - above, above])
    return np.diff(np.searchsorted(numbers, edges), prepend=0, append=len(numbers))


def counted_at_once(columns: Floats, edges: Sequence[Floats]) -> list[Ints]:
    """Return the cell counts of each column of an array of shape (trials, columns)."""
    return [in_cells(np.sort(column), own) for column, own in zip(columns.T, edges)]


def _extremes(ordered: Floats, ends: tuple[Floats, Floats], m: int) -> tuple[Floats, Floats]:
    """Return the m least and the m largest numbers, ascending, of the earlier ends and of `ordered`."""
    if not m:
        return ends
    low, high = ends
    return np.sort(np.concatenate([low, ordered[:m]]))[:m], np.sort(np.concatenate([high, ordered[-m:]]))[-m:]


def drawn(
    drawing: Drawing, pair: Pair, streams: tuple[str, str], seed: int, chunk: int, trials: int
) -> Iterator[tuple[Any, Any]]:
    """Yield the outputs of both inputs of a chunk, read, one block at a time. Raises ValueError for a wrong form."""
    for first, second in drawn_raw(drawing, pair, streams, seed, chunk, trials):
        yield drawing.read(first), drawing.read(second)


def drawn_raw(
    drawing: Drawing, pair: Pair, streams: tuple[str, str], seed: int, chunk: int, trials: int
) -> Iterator[tuple[Any, Any]]:
    """Yield the outputs of both inputs of a chunk as they were drawn, one block at a time."""
    one, other = (generator(seed, stream, chunk) for stream in streams)
    order = generator(seed, digest(["order", *streams]), chunk)
    for start in range(0, trials, BLOCK):
        size = min(BLOCK, trials - start)
        if drawing.interleaved:
            yield _in_turn(drawing.sampler, pair, one, other, order.random(size) < 0.5)
        else:
            yield called(drawing.sampler, pair.data, one, size), called(drawing.sampler, pair.other, other, size)


def _in_turn(sampler: Sampler, pair: Pair, one: Any, other: Any, first: Any) -> tuple[list[Any], list[Any]]:
    """Return outputs of both inputs that were drawn in turn, one call each; `first` says who goes first."""
    outputs: tuple[list[Any], list[Any]] = ([], [])
    for goes_first in first.tolist():
        for side in (0, 1) if goes_first else (1, 0):
            data, rng = ((pair.data, one), (pair.other, other))[side]
            outputs[side].append(called(sampler, data, rng, 1)[0])
    return outputs


def column(counts: Counts, number: int) -> Counts:
    """Return the counts of one column."""

    def of(sides: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
        return [sides[0][number]], [sides[1][number]]

    return Counts(counts.trials, of(counts.cells), of(counts.low), of(counts.high))


def merged(parts: list[Counts]) -> Counts:
    """Return the sum of the counts of several chunks, with their common extremes as far as they are complete."""
    if len(parts) == 1:
        return parts[0]
    columns = range(len(parts[0].cells[0]))

    def together(field: str, join: Callable[[list[Any]], Any]) -> tuple[list[Any], list[Any]]:
        first, second = (
            [join([getattr(part, field)[side][column] for part in parts]) for column in columns] for side in (0, 1)
        )
        return first, second

    cells, low = together("cells", lambda each: np.sum(each, axis=0)), together("low", _least)
    return Counts(sum(part.trials for part in parts), cells, low, together("high", _largest))


def _least(parts: list[Floats]) -> Floats:
    """Return the least numbers of all parts, ascending, up to the point where a part has left some out."""
    if not len(parts[0]):
        return parts[0]
    complete = min(part[-1] for part in parts)
    together = np.sort(np.concatenate(parts))
    return together[together <= complete]


def _largest(parts: list[Floats]) -> Floats:
    """Return the largest numbers of all parts, as `_least` does for the least."""
    return -_least([-part[::-1] for part in parts])[::-1]
