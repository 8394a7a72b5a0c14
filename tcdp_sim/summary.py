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
from collections.abc import Mapping
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
    if a.cell != b.cell:
        raise ValueError(f"summaries of different cells do not merge: {a.cell[:12]} and {b.cell[:12]}")
    if shared := set(a.chunks) & set(b.chunks):
        raise ValueError(f"chunks {sorted(shared)} of cell {a.cell[:12]} are in both summaries")
    if not a.chunks or not b.chunks:
        return a if a.chunks else b
    order = np.argsort(np.array(a.chunks + b.chunks))
    return Summary(
        a.cell,
        tuple(sorted(a.chunks + b.chunks)),
        a.trials + b.trials,
        {name: _join(a.observables[name], b.observables[name], order) for name in a.observables},
        {name: a.events[name] + b.events[name] for name in a.events},
        {name: np.concatenate([a.batches[name], b.batches[name]])[order] for name in a.batches},
    )


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


def _join(a: Distribution, b: Distribution, order) -> Distribution:
    both = np.concatenate([a.keys, b.keys])
    low = both.min() if len(both) else 0  # a few 100,000 keys if there are usual numbers and tiny or huge ones
    dense = np.zeros(int(both.max()) - int(low) + 1 if len(both) else 0, np.int64)
    dense[a.keys - low] += a.counts  # the keys of each are distinct
    dense[b.keys - low] += b.counts
    used = np.flatnonzero(dense)
    keys, counts = (used + low).astype(np.int32), dense[used]
    return Distribution(
        keys,
        counts,
        {label: a.exceed[label] + b.exceed[label] for label in a.exceed},
        np.concatenate([a.moments, b.moments])[order],
        a.nonfinite + b.nonfinite,
        (a.infinite[0] + b.infinite[0], a.infinite[1] + b.infinite[1]),
    )


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
    low, high, counts = _by_value(d)
    cumulative = np.cumsum(counts)
    bins = np.minimum(np.searchsorted(cumulative, ranks), len(cumulative) - 1)  # rows as those of ranks
    lower_edge, upper_edge, count = low[bins], high[bins], counts[bins]
    width = np.subtract(upper_edge, lower_edge, out=np.zeros(bins.shape), where=np.isfinite(lower_edge))
    share = (ranks - (cumulative[bins] - count)) / count
    estimate, left, right = lower_edge + np.minimum(np.maximum(share, 0), 1) * width
    lower = np.where(within[0], lower_edge[1], -np.inf)
    upper = np.where(within[1], upper_edge[2], np.inf)
    spread = np.subtract(right, left, out=np.zeros(len(q)), where=left != right)  # both may be infinite
    mcse = np.hypot(0.5 * spread / _HALF, width[0] / _UNIFORM)
    return np.stack([estimate, mcse, lower, upper])


def _by_value(d):
    """Lower and upper edges and counts of the occupied bins, in the order of their values, infinite ones included."""
    keys, counts = d.keys, d.counts
    if len(keys) and max(-keys[0], keys[-1]) >= _SMALL_KEY:
        order = np.argsort(in_order(keys))
        keys, counts = keys[order], counts[order]
    low, high = bin_edges(keys)
    if any(d.infinite):
        ends = [-np.inf], [np.inf]
        low, high = (np.concatenate([ends[0], edges, ends[1]]) for edges in (low, high))
        counts = np.concatenate([d.infinite[:1], counts, d.infinite[1:]])
        used = counts > 0
        low, high, counts = low[used], high[used], counts[used]
    return low, high, counts


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
    """The inverse of to_bytes; raises (ValueError, KeyError, zlib.error) for bytes that are not a summary's."""
    size = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:size])
    body, offset, rows = zlib.decompress(data[size:]), 0, len(header["chunks"])
    observables = {}
    for name in header["observables"]:
        fields = header["observables"][name]
        parts = []
        for dtype, count in (("<i4", fields["bins"]), ("<i8", fields["bins"]), ("<f8", 5 * rows)):
            parts.append(np.frombuffer(body, dtype, count, offset))
            offset += parts[-1].nbytes
        steps, counts, moments = parts
        keys = np.cumsum(steps, dtype=np.int32)
        infinite = tuple(fields.get("infinite", (0, 0)))
        counted = (fields["exceed"], moments.reshape(rows, 5), fields["nonfinite"], infinite)
        observables[name] = Distribution(keys, counts, *counted)
        _refuse_old(observables[name], "infinite" in fields, header["cell"])
    batches = {}
    for name, width in header.get("batches", {}).items():
        batches[name] = np.frombuffer(body, "<f8", rows * width, offset).reshape(rows, width)
        offset += batches[name].nbytes
    if offset != len(body):
        raise ValueError(f"an encoded summary has {len(body)} bytes of arrays where its header says {offset}")
    return Summary(header["cell"], tuple(header["chunks"]), header["trials"], observables, header["events"], batches)


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
