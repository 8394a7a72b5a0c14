"""What survives of a chunk's trials: a small, frozen, mergeable summary, and its statistics.

Everything that merges is either an integer or kept per chunk, so a merge is associative and commutative to the
last bit; floating-point sums over chunks are taken exactly (math.fsum) when a statistic is read.

Distributions are kept as exact integer counts on fixed bins that are the same for every observable, cell and
machine: 2^9 equal bins per octave of |x|, read off the bits of the number (no logarithm), so a bin is at most
0.2% of x wide. They cover all doubles: zero has a bin of its own, only numbers below 2^-1022 have wider ones (2^-1031),
and infinite trials are counted apart, by sign. NaN is no value.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import fsum, nan, sqrt

import numpy as np
from scipy.special import bdtrik, betaincinv, ndtri

from tcdp_sim.errors import UserError

BITS = 9
RESOLUTION = 2.0**-BITS
_SHIFT = 52 - BITS
_FIRST = (1023 - 64) << BITS  # the bin of 2^-64 among those of all positive doubles, in order
# Keys: 1 to _USUAL are the bins from 2^-64 to 2^64. The next, in which old records have all that is larger, is out of
# use; then come those above 2^64, then those below 2^-64. So usual numbers have the keys that they have always had.
_USUAL = 128 << BITS
_LARGE_KEY = _USUAL + 2
_SMALL_KEY = _LARGE_KEY + (2047 << BITS) - (_FIRST + _USUAL)
LARGEST_KEY = _SMALL_KEY + _FIRST - 1
_DENSE = 4 * _USUAL  # keys closer together than that are counted in one array
_LARGEST = np.finfo(np.float64).max
_UNIFORM = np.sqrt(12)  # width over standard deviation of the uniform law
CONFIDENCE = 0.95
INTERVAL = ("", "_mcse", "_lower", "_upper")  # names of a simulated number's estimate, standard error, 95% interval
_HALF = ndtri(0.5 + 0.5 * CONFIDENCE)  # width of such an interval's half, in standard errors
MOST_BYTES = 1 << 26  # of an encoded summary's arrays: 40 observables with every bin occupied have less
BATCHES = 50  # of consecutive trials in a chunk, whose means are kept where random numbers are shared


@dataclass(frozen=True)
class Distribution:
    """The trials of one observable.

    keys, counts: occupied bins by ascending key (see `bin_edges`; `in_order` puts them in the order of the numbers) and
    how many trials fell in each; exceed: label -> trials above that threshold; moments: one row a chunk (trials, sum,
    sum of squared deviations from the chunk's mean, min, max), over the finite trials; nonfinite: how many were not;
    infinite: how many of these were -inf and +inf. The others were NaN, which counts nowhere.
    """

    keys: np.ndarray
    counts: np.ndarray
    exceed: Mapping[str, int]
    moments: np.ndarray
    nonfinite: int
    infinite: tuple[int, int] = (0, 0)

    @property
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
    keys, counts = _histogram(finite)
    infinite = (int(np.count_nonzero(x == -np.inf)), int(np.count_nonzero(x == np.inf))) if n < len(x) else (0, 0)
    return Distribution(keys, counts, exceed, np.array([row]), len(x) - n, infinite)


def _histogram(x):
    if not len(x):
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    bits = x.view(np.int64)
    key = ((bits & 0x7FFFFFFFFFFFFFFF) >> _SHIFT) - (_FIRST - 1)
    least, most = key.min(), key.max()
    if most > _USUAL:
        key += key > _USUAL
    if least < 1:
        key = np.where(key > 0, key, np.where(x == 0, 0, key + (_FIRST - 1 + _SMALL_KEY)))
    key = np.where(bits < 0, -key, key)
    low, high = key.min(), key.max()
    if high - low > _DENSE:
        used, counts = np.unique(key, return_counts=True)
        return used.astype(np.int32), counts
    counts = np.bincount(key - low)
    used = np.flatnonzero(counts)
    return (used + low).astype(np.int32), counts[used]


def _places(size):
    """Of keys without their sign: the bin's place among those of all positive doubles, from 0 on."""
    large = (size >= _LARGE_KEY) & (size < _SMALL_KEY)
    return np.where(size >= _SMALL_KEY, size - _SMALL_KEY, size + (_FIRST - 1) - large)


def bin_edges(keys):
    """Lower and upper edges of the bins with these keys; the bin of key 0 is [0, 0]."""
    size = np.abs(np.asarray(keys, dtype=np.int64))
    place = _places(size)
    near = np.where(size == 0, 0.0, (place << _SHIFT).view(np.float64))
    far = np.where(size == 0, 0.0, np.minimum(((place + 1) << _SHIFT).view(np.float64), _LARGEST))
    return np.where(keys < 0, -far, near), np.where(keys < 0, -near, far)


def in_order(keys):
    """Whole numbers in the order of the bins with these keys, so that np.argsort of them sorts bins by their values."""
    size = np.abs(np.asarray(keys, dtype=np.int64))
    return np.where(size == 0, 0, np.sign(keys) * (_places(size) + 1))


# Statistics


def mean(d: Distribution) -> tuple[float, float, float]:
    """(mean, its MCSE, standard deviation) over the finite trials; NaN where there are too few."""
    sizes, sums, squares = d.moments[:, :3].T.tolist()
    n = fsum(sizes)
    if n < 2:
        return (fsum(sums) if n else nan), nan, nan
    centre = fsum(sums) / n
    off = [(size, part / size - centre) for size, part in zip(sizes, sums) if size]
    between = fsum(size * gap * gap for size, gap in off)  # a power would raise where a product is infinite
    deviation = sqrt((fsum(squares) + between) / (n - 1))
    return centre, deviation / sqrt(n), deviation


def relative_mcse(summary: Summary) -> tuple[float, str]:
    """(MCSE over the mean's size, observable) of the mean that is known least well; (NaN, "") without one.

    Means that are zero, and those of one trial, do not count.
    """
    found = []
    for name, distribution in summary.observables.items():
        value, mcse, _ = mean(distribution)
        if value and mcse == mcse:
            found.append((float(mcse / abs(value)), name))
    return max(found, default=(nan, ""))


def proportion(successes: int, trials: int) -> tuple[float, float, float, float]:
    """(estimate, MCSE, lower, upper): the exact (Clopper-Pearson) 95% interval of a binomial proportion."""
    estimate = successes / trials
    half = 0.5 * (1 - CONFIDENCE)
    lower = 0.0 if successes == 0 else betaincinv(successes, trials - successes + 1, half)
    upper = 1.0 if successes == trials else betaincinv(successes + 1, trials - successes, 1 - half)
    return estimate, np.sqrt(estimate * (1 - estimate) / trials), float(lower), float(upper)


def quantiles(d: Distribution, q: np.ndarray) -> np.ndarray:
    """Rows (estimate, MCSE, lower, upper) for each q in (0, 1), of all trials but NaN: infinite ones are values.

    The estimate is linear inside its bin, so it is within one bin (0.2% of its size) of the sample quantile. The
    interval is that of the exact binomial law of the ranks, widened to the edges of the bins they fall in, so it
    covers the true quantile with probability at least 95%. The MCSE is half the width of the same interval
    without the widening, over the normal 97.5% point, and the rounding error of the bin (its width / sqrt(12)): inf
    where one end of it is infinite, 0 where all of it is.
    """
    n = d.values
    if n == 0:
        return np.full((4, len(q)), np.nan)
    ranks, within = _ranks(n, tuple(q))
    keys, counts, infinite = _by_value(d)
    cumulative = np.cumsum(counts)
    bins = np.minimum(np.searchsorted(cumulative, ranks), len(cumulative) - 1)  # rows as those of ranks
    (lower_edge, upper_edge), count = bin_edges(keys[bins]), counts[bins]
    if infinite is not None:
        lower_edge, upper_edge = lower_edge + infinite[bins], upper_edge + infinite[bins]
    width = np.subtract(upper_edge, lower_edge, out=np.zeros(bins.shape), where=np.isfinite(lower_edge))
    share = (ranks - (cumulative[bins] - count)) / count
    estimate, left, right = lower_edge + np.minimum(np.maximum(share, 0), 1) * width
    lower = np.where(within[0], lower_edge[1], -np.inf)
    upper = np.where(within[1], upper_edge[2], np.inf)
    spread = np.subtract(right, left, out=np.zeros(len(q)), where=left != right)  # both may be infinite
    mcse = np.hypot(0.5 * spread / _HALF, width[0] / _UNIFORM)
    return np.stack([estimate, mcse, lower, upper])


def _by_value(d):
    """Keys and counts of the occupied bins in the order of their values; what is to be added to their edges, or None.

    Infinite trials have bins of their own, with the key of zero and an infinite number to be added.
    """
    keys, counts = d.keys, d.counts
    if len(keys) and max(-keys[0], keys[-1]) >= _SMALL_KEY:
        order = np.argsort(in_order(keys))
        keys, counts = keys[order], counts[order]
    if not any(d.infinite):
        return keys, counts, None
    ends = np.zeros(len(keys) + 2)
    ends[0], ends[-1] = -np.inf, np.inf
    counts = np.concatenate([d.infinite[:1], counts, d.infinite[1:]])
    used = counts > 0
    return np.concatenate([[0], keys, [0]])[used], counts[used], ends[used]


@lru_cache(maxsize=64)
def _ranks(n: int, q: tuple[float, ...]):
    """Ranks of the q-quantiles and of the order statistics that bracket them, and where there are such statistics.

    The latter are rows (below, above): outside of 1..n no order statistic brackets the quantile, and the rank is cut.
    """
    half = 0.5 * (1 - CONFIDENCE)
    low = np.floor(bdtrik(half, n, q))  # P[Binomial(n, q) < low] <= half
    high = np.floor(bdtrik(1 - half, n, q)) + 2
    return np.array([np.multiply(q, n), np.clip(low, 0, n), np.clip(high, 0, n)]), (low >= 1, high <= n)


# Bytes


def to_bytes(summary: Summary) -> bytes:
    """A self-contained, machine-independent encoding: JSON header and compressed arrays; no pickle."""
    arrays, header = [], {"cell": summary.cell, "chunks": summary.chunks, "trials": summary.trials}
    header["events"] = dict(summary.events)
    header["observables"] = {}
    if summary.batches:
        header["batches"] = {name: summary.batches[name].shape[1] for name in summary.batches}
    for name in sorted(summary.observables):  # the order in which the header's keys come back
        d = summary.observables[name]
        header["observables"][name] = {"bins": len(d.keys), "exceed": dict(d.exceed), "nonfinite": d.nonfinite}
        if d.nonfinite:
            header["observables"][name]["infinite"] = d.infinite
        steps = d.keys.copy()
        steps[1:] -= d.keys[:-1]  # mostly ones: they compress to nothing
        arrays += [steps.astype("<i4"), d.counts.astype("<i8"), d.moments.astype("<f8")]
    arrays += [summary.batches[name].astype("<f8") for name in sorted(summary.batches)]
    text = json.dumps(header, sort_keys=True).encode()
    return len(text).to_bytes(4, "little") + text + zlib.compress(b"".join(a.tobytes() for a in arrays), 1)


def peek(data: bytes) -> tuple[str, int]:
    """(cell id, chunk index) of an encoded one-chunk summary, without decoding its arrays."""
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return header["cell"], header["chunks"][0]


def from_bytes(data: bytes) -> Summary:
    """The inverse of to_bytes; raises (ValueError, KeyError, zlib.error) for bytes that are not a summary's.

    What unpacks to more than the header says, or to more than MOST_BYTES, is refused before it is unpacked.
    """
    size = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:size])
    rows = len(header["chunks"])
    bins = {name: _whole(fields["bins"]) for name, fields in header["observables"].items()}
    widths = {name: _whole(width) for name, width in header.get("batches", {}).items()}
    expected = 12 * sum(bins.values()) + 40 * rows * len(bins) + 8 * rows * sum(widths.values())
    body, offset = _unpacked(data[size:], expected), 0
    observables = {}
    for name, fields in header["observables"].items():
        parts = []
        for dtype, count in (("<i4", bins[name]), ("<i8", bins[name]), ("<f8", 5 * rows)):
            parts.append(np.frombuffer(body, dtype, count, offset))
            offset += parts[-1].nbytes
        steps, counts, moments = parts
        keys = np.cumsum(steps, dtype=np.int32)
        infinite = tuple(fields.get("infinite", (0, 0)))
        counted = (fields["exceed"], moments.reshape(rows, 5), fields["nonfinite"], infinite)
        observables[name] = Distribution(keys, counts, *counted)
        _refuse_old(observables[name], "infinite" in fields, header["cell"])
    batches = {}
    for name, width in widths.items():
        batches[name] = np.frombuffer(body, "<f8", rows * width, offset).reshape(rows, width)
        offset += batches[name].nbytes
    return Summary(header["cell"], tuple(header["chunks"]), header["trials"], observables, header["events"], batches)


def _whole(value) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"an encoded summary has a size of {value!r}")
    return value


def _unpacked(data: bytes, size: int) -> bytes:
    if size > MOST_BYTES:
        raise ValueError(f"an encoded summary says that it has {size} bytes of arrays; at most {MOST_BYTES} are read")
    stream = zlib.decompressobj()
    body = stream.decompress(data, size + 1)
    if len(body) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"an encoded summary has not the {size} bytes of arrays that its header says")
    return body


def _refuse_old(d, told, cell):
    """UserError if trials beyond the range that older versions kept are among these, whose values are lost.

    told: whether the record says how many trials were infinite. Those versions counted what was below 2^-64 as zero.
    Where zeros are possible, such a record cannot be told from others: its numbers stay what they were.
    """
    clipped = len(d.keys) and (np.abs(d.keys) == _LARGE_KEY - 1).any()
    rounded = (d.keys == 0).any() and ((d.moments[:, 3].min() > 0) or (d.moments[:, 4].max() < 0))
    if clipped or rounded or (d.nonfinite and not told):
        said = f"a record of cell {str(cell)[:16]} is of an older version, which lost infinite, huge and tiny values"
        raise UserError(f"{said}; simulate it again: choose another name, or remove the run's journal")
