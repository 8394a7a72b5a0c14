"""The work of a worker: draw outputs of a mechanism on two inputs and send back counts only. All functions are pure."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.streams import generator

BLOCK = 20_000  # outputs drawn at a time, so that they fit the cache
Sampler = Callable[[Any, np.random.Generator, int], Any]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring inputs, with their place in the list and a digest (64 hex digits) that names their streams."""

    data: Any
    other: Any
    index: int
    stream: str


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
class Task:
    """Chunks of a stage, as pairs (index, trials), with the stream names of the first and the second input."""

    stage: str
    sampler: Sampler
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
    """The result of a task: finished chunks with their counts, the time taken, and an error if a chunk failed."""

    chunks: tuple[tuple[int, Counts], ...]
    seconds: float
    error: str = ""


def run(task: Task) -> Done:
    """Draw and count the outputs of a task.

    An exception of the mechanism, or outputs of a wrong form, are returned as one line.
    """
    started = time.perf_counter()
    counts: list[tuple[int, Counts]] = []
    error = ""
    for chunk, trials in task.chunks:
        try:
            counts.append((chunk, _chunk(task, chunk, trials)))
        except Exception as problem:  # a mechanism may raise anything
            error = f"pair {task.pair.index}, chunk {chunk}: {said(problem)}"
            break
    return Done(tuple(counts), time.perf_counter() - started, error)


def said(problem: BaseException) -> str:
    """Return an exception as one line of text."""
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def _chunk(task: Task, chunk: int, trials: int) -> Counts:
    """Return the counts of one chunk."""
    sides = []
    for data, stream in zip((task.pair.data, task.pair.other), task.streams):
        sides.append(_counted(drawn(task.sampler, data, stream, task.seed, chunk, trials), task.counted))
    (cells, low, high), (other_cells, other_low, other_high) = sides
    return Counts(trials, (cells, other_cells), (low, other_low), (high, other_high))


def _counted(blocks: Iterator[Any], counted: Counted) -> tuple[list[Ints], list[Floats], list[Floats]]:
    """Return the cell counts, the least and the largest numbers of each column."""
    cells = [np.zeros(len(edges) + 1, np.int64) for edges in counted.edges]
    ends: list[tuple[Floats, Floats]] = [(np.zeros(0), np.zeros(0))] * len(cells)
    for outputs in blocks:
        for index, (numbers, edges) in enumerate(zip(counted.columns(outputs).T, counted.edges)):
            if len(edges) > 1 or counted.extremes:
                numbers = np.sort(numbers)
                ends[index] = _extremes(numbers, ends[index], counted.extremes)
            cells[index] += in_cells(numbers, edges)
    return cells, [low for low, _ in ends], [high for _, high in ends]


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


def drawn(sampler: Sampler, data: Any, stream: str, seed: int, chunk: int, trials: int) -> Iterator[Any]:
    """Yield the outputs of a chunk, one block at a time. Raises ValueError for outputs of a wrong form."""
    rng = generator(seed, stream, chunk)
    for start in range(0, trials, BLOCK):
        size = min(BLOCK, trials - start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of the user's mechanism do not concern the audit
            outputs = np.asarray(sampler(data, rng, size))
        yield checked(outputs, size)


def checked(outputs: Any, trials: int) -> Any:
    """Return the outputs; raise ValueError unless there is one for each trial, a number or text, and none is NaN."""
    if outputs.ndim < 1 or len(outputs) != trials or outputs.size == 0:
        raise ValueError(f"outputs have shape {outputs.shape}; valid: ({trials}, ...), one for each trial")
    if outputs.dtype.kind not in "biufUS":
        raise ValueError(f"outputs are of type {outputs.dtype}; valid: numbers, booleans, texts")
    if outputs.dtype.kind == "f" and np.isnan(outputs).any():
        raise ValueError("an output is NaN; valid: numbers and +-inf")
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
