"""Summaries of chunks: small, frozen and mergeable.

Everything that merges is either an integer or kept per chunk, so merging is associative and commutative to the last
bit. Distributions are exact integer counts on fixed bins (see `bins`), with the value of bins that have only one.
Infinite trials are counted separately, by sign. NaN is no value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tcdp_sim.summaries.bins import MIXED, histogram
from tcdp_sim.summaries.scales import exponents

BATCHES = 50  # runs of consecutive trials in a chunk whose means are kept for shared random numbers


@dataclass(frozen=True)
class Distribution:
    """The trials of one observable.

    - keys, counts: the occupied bins by ascending key, and the trials in each. `bins.bin_edges` gives their edges, and
      `bins.in_order` orders them by value.
    - atoms: for each of these bins the place within it of all its trials, MIXED if they differ or a chunk did not look
      (see `bins.histogram`). `bins.values_at` gives the values.
    - exceed: the number of trials above each threshold, by label.
    - moments: a row for each chunk over its finite trials: number, sum, sum of squared deviations from the chunk's
      mean, least, largest. Sums of huge and of tiny trials are scaled: see `scales`.
    - nonfinite: the number of trials that are not finite.
    - infinite: how many of these were -inf and +inf. The others were NaN, which counts nowhere.
    """

    keys: np.ndarray
    counts: np.ndarray
    atoms: np.ndarray
    exceed: Mapping[str, int]
    moments: np.ndarray
    nonfinite: int
    infinite: tuple[int, int] = (0, 0)

    @cached_property
    def values(self) -> int:
        """The number of trials with a value, which are all but NaN."""
        return int(self.counts.sum()) + sum(self.infinite)


@dataclass(frozen=True)
class Summary:
    """The trials of some chunks of one cell. `chunks` is ascending, and rows of moments are in the same order.

    If random numbers are shared with other cells, `batches` has the means of every observable and event over batches of
    consecutive trials, shape (chunks, batches). Differences of these means are independent of each other.
    """

    cell: str
    chunks: tuple[int, ...]
    trials: int
    observables: Mapping[str, Distribution]
    events: Mapping[str, int]
    batches: Mapping[str, np.ndarray] = field(default_factory=dict)


def empty(cell: str) -> Summary:
    """Return the summary of no trials, which is the identity of `merge`."""
    return Summary(cell, (), 0, {}, {})


def summarise(
    cell: str, chunk: int, trials: int, values: Mapping[str, np.ndarray], thresholds, shared: bool = False
) -> Summary:
    """Return the summary of one chunk, given the values of `Mechanism.simulate` and the mechanism's thresholds.

    `shared` says whether other cells meet the same random numbers, so that batch means are kept.
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
    """Return the number of trials in each batch of a chunk, as equal as possible."""
    return np.diff(np.arange(min(BATCHES, trials) + 1) * trials // min(BATCHES, trials))


def _batch_means(x):
    """Return the means over batches."""
    sizes, values = batch_sizes(len(x)), x.astype(np.float64)
    exponent = int(exponents(np.float64(0), np.abs(values[np.isfinite(values)]).max(initial=0)))
    values = np.ldexp(values, -exponent) if exponent else values
    with np.errstate(invalid="ignore"):  # infinite trials of both signs give NaN, as they should
        means = np.add.reduceat(values, np.cumsum(sizes) - sizes) / sizes
    return np.ldexp(means, exponent) if exponent else means


def merge(a: Summary, b: Summary) -> Summary:
    """Return the summary of both. Raises ValueError if their cells differ or they share a chunk."""
    return merged((a, b))


def merged(parts: Iterable[Summary]) -> Summary:
    """Return the summary of all parts, at least one, in linear time. Raises ValueError as `merge` does."""
    pool = None
    for part in parts:
        pool = pool or _Pool(part.cell)
        pool.add(part)
    if pool is None:
        raise ValueError("nothing to merge")
    return pool.summary()


class _Pool:
    """A sum of summaries of one cell, extended as they come."""

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
    """A sum of distributions of one observable, with counts in one array over the range of the keys so far."""

    def __init__(self, labels):
        self._low, self._counts, self._atoms = 0, np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._exceed = dict.fromkeys(labels, 0)
        self._moments: list[np.ndarray] = []
        self._nonfinite = 0
        self._infinite = (0, 0)

    def add(self, d):
        if len(d.keys):
            self._widen(int(d.keys[0]), int(d.keys[-1]))
            own = d.keys - self._low  # they are distinct, and ascending
            known, before = self._atoms[own], self._counts[own]
            self._atoms[own] = np.where((before == 0) | (known == d.atoms), d.atoms, MIXED)
            self._counts[own] = before + d.counts
        for label in self._exceed:
            self._exceed[label] += d.exceed[label]
        self._moments.append(d.moments)
        self._nonfinite += d.nonfinite
        self._infinite = (self._infinite[0] + d.infinite[0], self._infinite[1] + d.infinite[1])

    def _widen(self, first, last):
        """Make room for keys from `first` to `last`, and some more, so that all copying together takes linear time."""
        stop = self._low + len(self._counts)
        if len(self._counts) and self._low <= first and last < stop:
            return
        spare = len(self._counts) // 2
        low = min(first, self._low) if len(self._counts) else first
        high = max(last + 1, stop) if len(self._counts) else last + 1
        wider = np.zeros((2, high - low + 2 * spare), np.int64)
        start = self._low - low + spare
        wider[:, start : start + len(self._counts)] = self._counts, self._atoms
        self._low, (self._counts, self._atoms) = low - spare, wider

    def distribution(self, order):
        used = np.flatnonzero(self._counts)
        keys = (used + self._low).astype(np.int32)
        moments = np.concatenate(self._moments)[order]
        counts, atoms = self._counts[used], self._atoms[used]
        return Distribution(keys, counts, atoms, self._exceed, moments, self._nonfinite, self._infinite)


def _distribution(x, thresholds) -> Distribution:
    """Return the distribution of one chunk's trials."""
    exceed = {label: int(np.count_nonzero(x > value)) for label, value in thresholds.items()}
    finite = x if np.isfinite(x).all() else x[np.isfinite(x)]
    n, least, most = len(finite), finite.min(initial=np.inf), finite.max(initial=-np.inf)
    exponent = int(exponents(least, most))
    scaled = np.ldexp(finite, -exponent) if exponent else finite
    total = float(scaled.sum())
    squares = float(np.square(scaled - total / n).sum()) if n else 0.0
    row = [n, total, squares, least, most]
    infinite = (int(np.count_nonzero(x == -np.inf)), int(np.count_nonzero(x == np.inf))) if n < len(x) else (0, 0)
    return Distribution(*histogram(finite), exceed, np.array([row]), len(x) - n, infinite)
