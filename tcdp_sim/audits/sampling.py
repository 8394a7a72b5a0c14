"""What a worker does: outputs of a mechanism on two inputs, of which counts are all that it sends back. Pure."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.streams import generator

BLOCK = 20_000  # outputs at a time: they fit the cache
Sampler = Callable[[Any, np.random.Generator, int], Any]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two inputs that are neighbours; index: their place in the list; stream: 64 hex digits, of what they are."""

    data: Any
    other: Any
    index: int
    stream: str


@dataclass(frozen=True, eq=False)
class Counted:
    """What is counted: columns of numbers of each output, and the edges between cells of each.

    columns: outputs -> shape (trials, columns); extremes: how many of the largest and least are kept of each column.
    """

    columns: Callable[[Any], Floats]
    edges: tuple[Floats, ...]
    extremes: int = 0


@dataclass(frozen=True, eq=False)
class Task:
    """Chunks of a stage; chunks: (index, trials); streams: of the first and of the second input."""

    stage: str
    sampler: Sampler
    pair: Pair
    counted: Counted
    seed: int
    streams: tuple[str, str]
    chunks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Counts:
    """Of some chunks: of each of the two inputs, of each column, the outputs in each cell and the extremes.

    trials: outputs of each input; low, high: of each input and column the least and the largest, ascending;
    below, above: up to where these are complete, of each input and column.
    """

    trials: int
    cells: tuple[list[Ints], list[Ints]]
    low: tuple[list[Floats], list[Floats]]
    high: tuple[list[Floats], list[Floats]]


@dataclass(frozen=True, eq=False)
class Done:
    """What comes back: (chunk, its counts) each, or why there are none."""

    chunks: tuple[tuple[int, Counts], ...]
    seconds: float
    error: str = ""


def run(task: Task) -> Done:
    """Draw and count. What a mechanism raises, and outputs that are no outputs, come back as one line."""
    started = time.perf_counter()
    counts: list[tuple[int, Counts]] = []
    error = ""
    for chunk, trials in task.chunks:
        try:
            counts.append((chunk, _chunk(task, chunk, trials)))
        except Exception as problem:  # whatever a mechanism may raise
            error = f"pair {task.pair.index}, chunk {chunk}: {said(problem)}"
            break
    return Done(tuple(counts), time.perf_counter() - started, error)


def said(problem: BaseException) -> str:
    """What was raised, in one line."""
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def _chunk(task: Task, chunk: int, trials: int) -> Counts:
    sides = []
    for data, stream in zip((task.pair.data, task.pair.other), task.streams):
        sides.append(_counted(drawn(task.sampler, data, stream, task.seed, chunk, trials), task.counted))
    (cells, low, high), (other_cells, other_low, other_high) = sides
    return Counts(trials, (cells, other_cells), (low, other_low), (high, other_high))


def _counted(blocks: Iterator[Any], counted: Counted) -> tuple[list[Ints], list[Floats], list[Floats]]:
    """Cells, least and largest numbers of each column."""
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
    """How many numbers lie in each cell; one on an edge lies above it. Of more than one edge numbers are ascending."""
    if len(edges) == 1:
        above = int(np.count_nonzero(numbers >= edges[0]))
        return np.array([len(numbers) - above, above])
    return np.diff(np.searchsorted(numbers, edges), prepend=0, append=len(numbers))


def counted_at_once(columns: Floats, edges: Sequence[Floats]) -> list[Ints]:
    """The counts in the cells of each column, shape (trials, columns)."""
    return [in_cells(np.sort(column), own) for column, own in zip(columns.T, edges)]


def _extremes(ordered: Floats, ends: tuple[Floats, Floats], m: int) -> tuple[Floats, Floats]:
    """The m least and the m largest, ascending, of numbers in order and of those that were so before."""
    if not m:
        return ends
    low, high = ends
    return np.sort(np.concatenate([low, ordered[:m]]))[:m], np.sort(np.concatenate([high, ordered[-m:]]))[-m:]


def drawn(sampler: Sampler, data: Any, stream: str, seed: int, chunk: int, trials: int) -> Iterator[Any]:
    """The outputs of a chunk, a block at a time. Raises ValueError for what is no output."""
    rng = generator(seed, stream, chunk)
    for start in range(0, trials, BLOCK):
        size = min(BLOCK, trials - start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the mechanism's own business
            outputs = np.asarray(sampler(data, rng, size))
        yield checked(outputs, size)


def checked(outputs: Any, trials: int) -> Any:
    """The outputs; ValueError unless they are one for each trial, of numbers or texts, and none is NaN."""
    if outputs.ndim < 1 or len(outputs) != trials or outputs.size == 0:
        raise ValueError(f"outputs have shape {outputs.shape}; valid: ({trials}, ...), one for each trial")
    if outputs.dtype.kind not in "biufUS":
        raise ValueError(f"outputs are of type {outputs.dtype}; valid: numbers, yes or no, texts")
    if outputs.dtype.kind == "f" and np.isnan(outputs).any():
        raise ValueError("an output is NaN; valid: numbers and +-inf")
    return outputs


def column(counts: Counts, number: int) -> Counts:
    """The counts of one column."""

    def of(sides: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
        return [sides[0][number]], [sides[1][number]]

    return Counts(counts.trials, of(counts.cells), of(counts.low), of(counts.high))


def merged(parts: list[Counts]) -> Counts:
    """Counts of several chunks together; extremes as far as they are complete."""
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
    """The least numbers of all parts, ascending, up to where no part has left any out."""
    if not len(parts[0]):
        return parts[0]
    complete = min(part[-1] for part in parts)
    together = np.sort(np.concatenate(parts))
    return together[together <= complete]


def _largest(parts: list[Floats]) -> Floats:
    return -_least([-part[::-1] for part in parts])[::-1]
