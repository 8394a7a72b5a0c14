"""What survives of a chunk's trials: a small, frozen, mergeable summary.

Everything that merges is either an integer or kept per chunk, so a merge is associative and commutative to the
last bit. Distributions are kept as exact integer counts on fixed bins (see `bins`); infinite trials are counted apart,
by sign. NaN is no value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tcdp_sim.summaries.bins import histogram

BATCHES = 50  # of consecutive trials in a chunk, whose means are kept where random numbers are shared


@dataclass(frozen=True)
class Distribution:
    """The trials of one observable.

    keys, counts: occupied bins by ascending key (see `bins.bin_edges`; `bins.in_order` puts them in the order of the
    numbers) and how many trials fell in each; exceed: label -> trials above that threshold; moments: one row a chunk
    (trials, sum, sum of squared deviations from the chunk's mean, min, max), over the finite trials; nonfinite: how
    many were not; infinite: how many of these were -inf and +inf. The others were NaN, which counts nowhere.
    """

    keys: np.ndarray
    counts: np.ndarray
    exceed: Mapping[str, int]
    moments: np.ndarray
    nonfinite: int
    infinite: tuple[int, int] = (0, 0)

    @cached_property
    def values(self) -> int:
        """How many trials have a value: all but NaN."""
        return int(self.counts.sum()) + sum(self.infinite)


@dataclass(frozen=True)
class Summary:
    """The trials of some chunks of one cell. chunks: ascending; moments rows are in their order.

    batches: where random numbers are shared with other cells, of every observable and event the means over batches
    of consecutive trials, shape (chunks, number of batches): differences of those are independent of each other.
    """

    cell: str
    chunks: tuple[int, ...]
    trials: int
    observables: Mapping[str, Distribution]
    events: Mapping[str, int]
    batches: Mapping[str, np.ndarray] = field(default_factory=dict)


def empty(cell: str) -> Summary:
    """The summary of no trials: the identity of merge."""
    return Summary(cell, (), 0, {}, {})


def summarise(
    cell: str, chunk: int, trials: int, values: Mapping[str, np.ndarray], thresholds, shared: bool = False
) -> Summary:
    """The summary of one chunk. values: as `Mechanism.simulate` gives them; thresholds: as the mechanism's.

    shared: whether other cells meet the same random numbers, so that batches are worth keeping.
    """
    observables, events = {}, {}
    for name, x in values.items():
        if x.dtype == bool:
            events[name] = int(np.count_nonzero(x))
        else:
            observables[name] = _distribution(x, thresholds.get(name, {}))
    batches = {name: _batch_means(x)[None] for name, x in values.items()} if shared else {}
    return Summary(cell, (chunk,), trials, observables, events, batches)


def batch_sizes(trials: int) -> np.ndarray:
    """How many trials the batches of a chunk have: as equal as can be."""
    return np.diff(np.arange(min(BATCHES, trials) + 1) * trials // min(BATCHES, trials))


def _batch_means(x):
    sizes = batch_sizes(len(x))
    with np.errstate(invalid="ignore"):  # infinite and of both signs: NaN, which says so
        return np.add.reduceat(x.astype(np.float64), np.cumsum(sizes) - sizes) / sizes


def merge(a: Summary, b: Summary) -> Summary:
    """The summary of both; ValueError if they are of different cells or share a chunk."""
    return merged((a, b))


def merged(parts: Iterable[Summary]) -> Summary:
    """The summary of all of them, at least one, in time linear in what they hold; ValueError as for merge."""
    pool = None
    for part in parts:
        pool = pool or _Pool(part.cell)
        pool.add(part)
    if pool is None:
        raise ValueError("nothing to merge")
    return pool.summary()


class _Pool:
    """Summaries of one cell, added up as they come."""

    def __init__(self, cell):
        self._cell = cell
        self._chunks: dict[int, None] = {}
        self._trials = 0
        self._observables: dict[str, _Trials] = {}
        self._events: dict[str, int] = {}
        self._batches: dict[str, list[np.ndarray]] = {}

    def add(self, part):
        if part.cell != self._cell:
            raise ValueError(f"summaries of different cells do not merge: {self._cell[:12]} and {part.cell[:12]}")
        if shared := [chunk for chunk in part.chunks if chunk in self._chunks]:
            raise ValueError(f"chunks {sorted(shared)} of cell {self._cell[:12]} are in both summaries")
        if not part.chunks:
            return
        if not self._chunks:
            self._observables = {name: _Trials(d.exceed) for name, d in part.observables.items()}
            self._events = dict.fromkeys(part.events, 0)
            self._batches = {name: [] for name in part.batches}
        self._chunks |= dict.fromkeys(part.chunks)
        self._trials += part.trials
        for name, trials in self._observables.items():
            trials.add(part.observables[name])
        for name in self._events:
            self._events[name] += part.events[name]
        for name, means in self._batches.items():
            means.append(part.batches[name])

    def summary(self):
        order = np.argsort(np.array(list(self._chunks)))
        observables = {name: trials.distribution(order) for name, trials in self._observables.items()}
        batches = {name: np.concatenate(means)[order] for name, means in self._batches.items()}
        return Summary(self._cell, tuple(sorted(self._chunks)), self._trials, observables, self._events, batches)


class _Trials:
    """Distributions of one observable, added up; counts in one array over the range of the keys so far."""

    def __init__(self, labels):
        self._low, self._counts = 0, np.zeros(0, np.int64)
        self._exceed = dict.fromkeys(labels, 0)
        self._moments: list[np.ndarray] = []
        self._nonfinite = 0
        self._infinite = (0, 0)

    def add(self, d):
        if len(d.keys):
            self._widen(int(d.keys[0]), int(d.keys[-1]))
            self._counts[d.keys - self._low] += d.counts  # the keys are distinct, and ascending
        for label in self._exceed:
            self._exceed[label] += d.exceed[label]
        self._moments.append(d.moments)
        self._nonfinite += d.nonfinite
        self._infinite = (self._infinite[0] + d.infinite[0], self._infinite[1] + d.infinite[1])

    def _widen(self, first, last):
        """Room from one key to another; more than is needed, so that all the copying is linear in what is added."""
        stop = self._low + len(self._counts)
        if len(self._counts) and self._low <= first and last < stop:
            return
        spare = len(self._counts) // 2
        low = min(first, self._low) if len(self._counts) else first
        high = max(last + 1, stop) if len(self._counts) else last + 1
        wider = np.zeros(high - low + 2 * spare, np.int64)
        start = self._low - low + spare
        wider[start : start + len(self._counts)] = self._counts
        self._low, self._counts = low - spare, wider

    def distribution(self, order):
        used = np.flatnonzero(self._counts)
        keys = (used + self._low).astype(np.int32)
        moments = np.concatenate(self._moments)[order]
        return Distribution(keys, self._counts[used], self._exceed, moments, self._nonfinite, self._infinite)


def _distribution(x, thresholds) -> Distribution:
    exceed = {label: int(np.count_nonzero(x > value)) for label, value in thresholds.items()}
    finite = x if np.isfinite(x).all() else x[np.isfinite(x)]
    n = len(finite)
    total = float(finite.sum())
    squares = float(np.square(finite - total / n).sum()) if n else 0.0
    row = [n, total, squares, finite.min(initial=np.inf), finite.max(initial=-np.inf)]
    keys, counts = histogram(finite)
    infinite = (int(np.count_nonzero(x == -np.inf)), int(np.count_nonzero(x == np.inf))) if n < len(x) else (0, 0)
    return Distribution(keys, counts, exceed, np.array([row]), len(x) - n, infinite)
