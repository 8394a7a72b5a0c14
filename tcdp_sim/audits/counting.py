"""The driver of an audit: missing chunks of a stage are drawn on workers, stored, and added up."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tcdp_sim.audits import sampling
from tcdp_sim.audits.kept import Kept, Nothing
from tcdp_sim.audits.sampling import Counted, Counts, Done, Drawing, Pair, Task
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.identity import digest
from tcdp_sim.engine import interrupts
from tcdp_sim.engine.progress import ProgressLine
from tcdp_sim.engine.schedule import Executor

CHUNK = 250_000  # at most this many outputs of each input share a random stream
TASK_SECONDS = 1.0


class Tally:
    """The progress of a stage, with a preview (`shows`) of the result so far."""

    def __init__(self, stage: str, missing: int, shows: Callable[[Counts], str]) -> None:
        self.total, self.work = float(missing), 0.0
        self._stage, self._shows = stage, shows
        self._counts: Counts | None = None

    def add(self, arrived: Sequence[Counts]) -> None:
        """Add the counts of finished chunks."""
        for counts in arrived:
            self.work += counts.trials
            self._counts = sampling.merged([self._counts, counts]) if self._counts else counts

    def __str__(self) -> str:
        so_far = self._shows(self._counts) if self._counts else ""
        return f"{self._stage}: {self.work:.3g} outputs of each input{so_far and ', '}{so_far}"


class Changed(Exception):
    """A stored chunk differs from the mechanism's present outputs although source and settings are the same."""


class Unsteady(Exception):
    """The mechanism's outputs depend on more than its input and its rng."""


class Counting:
    """The counter of one mechanism's outputs, known by its `identity`.

    The first stored chunk of each pair is drawn again, because no digest covers what a mechanism reads from its
    environment.

    - drawn: the outputs of each input so far.
    - resumed: how many of them were stored already.
    """

    def __init__(self, executor: Executor, kept: Kept | Nothing, drawing: Drawing, identity: Any, seed: int) -> None:
        self._executor, self._kept = executor, kept
        self.drawing, self._identity, self._seed = drawing, identity, seed
        self._seconds_per_trial = 0.0
        self.drawn = self.resumed = 0
        self._checked: set[int] = set()  # pairs with a stored chunk that was drawn again

    def count(
        self, stage: str, pair: Pair, counted: Counted, trials: int, shows: Callable[[Counts], str] = lambda _: ""
    ) -> Counts:
        """Return the counts of `trials` outputs of each input: a function of these arguments, mechanism and seed.

        Raises Changed if a stored chunk is not reproduced, Unsteady if outputs depend on more than input and rng, and
        UserError if the mechanism fails.
        """
        streams = stage_streams(stage, pair)
        key = self._key(stage, pair, counted) if isinstance(self._kept, Kept) else ""
        chunks = [(index, min(CHUNK, trials - start)) for index, start in enumerate(range(0, trials, CHUNK))]
        stored = {chunk: self._kept.get(key, *chunk) for chunk in chunks}
        done = {chunk: found for chunk, found in stored.items() if found is not None and _fits(found, counted)}
        if done and pair.index not in self._checked:
            self._check(Task(stage, self.drawing, pair, counted, self._seed, streams, (min(done, key=_size),)), done)
        missing = [chunk for chunk in chunks if chunk not in done]
        self.drawn += trials
        self.resumed += sum(size for _, size in done)
        if missing:
            tally = Tally(stage, sum(size for _, size in missing), shows)
            tasks = self._tasks(stage, pair, counted, streams, missing)
            with ProgressLine(tally, self._executor.silent) as line:
                for arrived in self._executor.results(tasks, sampling.run):
                    interrupts.check()
                    self._keep(arrived, key, done)
                    line.advance([counts for _, counts in arrived.chunks])
        return sampling.merged([done[chunk] for chunk in chunks])

    def _key(self, stage: str, pair: Pair, counted: Counted) -> str:
        """Return the key of a stage's chunks in the journal."""
        sides = _of_sides(stage, pair.content)
        return digest([self._identity, sides, self._seed, counted, repr(self.drawing.read)])

    def _check(self, task: Task, done: dict[tuple[int, int], Counts]) -> None:
        """Draw the single chunk of a task again. Raises Changed unless its counts equal the stored ones."""
        (arrived,) = self._executor.results(iter([task]), sampling.run)
        if arrived.error or not alike(arrived.chunks[0][1], done[task.chunks[0]]):
            raise Changed
        self._checked.add(task.pair.index)

    def _keep(self, arrived: Done, key: str, done: dict[tuple[int, int], Counts]) -> None:
        """Store the chunks that arrived. Raises UserError if the mechanism failed, Unsteady if they mean nothing."""
        if not arrived.steady:
            raise Unsteady
        for chunk, counts in arrived.chunks:
            self._kept.add(key, chunk, counts)
            done[(chunk, counts.trials)] = counts
        if arrived.chunks:
            self._seconds_per_trial = arrived.seconds / sum(counts.trials for _, counts in arrived.chunks)
        if arrived.error:
            raise UserError(f"the mechanism cannot be audited: {arrived.error}")

    def _tasks(self, stage: str, pair: Pair, counted: Counted, streams, missing) -> Iterator[Task]:
        """Yield tasks: one chunk each at first, then TASK_SECONDS of work or a fair share of the rest."""
        at = 0
        while at < len(missing):
            worth = TASK_SECONDS / max(self._seconds_per_trial * CHUNK, 1e-9) if self._seconds_per_trial else 1
            fair = (len(missing) - at) / (2 * self._executor.workers)
            size = max(1, int(min(worth, fair)))
            chunks = tuple(missing[at : at + size])
            yield Task(stage, self.drawing, pair, counted, self._seed, streams, chunks)
            at += size


def _size(chunk: tuple[int, int]) -> int:
    return chunk[1]


def _fits(counts: Counts, counted: Counted) -> bool:
    """Return True if stored counts have the requested columns, cells and extremes."""
    ends = min(counted.extremes, counts.trials)
    extremes = all(len(column) == ends for side in (*counts.low, *counts.high) for column in side)
    return extremes and all([len(c) for c in side] == [len(e) + 1 for e in counted.edges] for side in counts.cells)


def alike(one: Counts, other: Counts) -> bool:
    """Return True if two counts of a chunk are equal."""
    sides = ((getattr(one, name), getattr(other, name)) for name in ("cells", "low", "high"))
    pairs = (columns for a, b in sides for side, there in zip(a, b) for columns in zip(side, there, strict=True))
    return one.trials == other.trials and all(np.array_equal(a, b) for a, b in pairs)


def stage_streams(stage: str, pair: Pair) -> tuple[str, str]:
    """Return the names of a stage's random streams for the first and the second input. No two stages share a stream."""
    return _of_sides(stage, pair.stream)


def _of_sides(stage: str, pair: str) -> tuple[str, str]:
    """Return the digests of a stage for the first and the second input of a pair that is given by its digest."""
    first, second = (digest(["audit", stage, pair, side]) for side in (0, 1))
    return first, second
