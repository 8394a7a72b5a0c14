"""Summaries: merging to the last bit, exact counts, and statistics held against NumPy, SciPy and repetition."""

import hashlib
import json
import pickle
import statistics
import zlib
from collections import Counter
from functools import reduce
from math import inf

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tcdp_sim.summaries import estimates
from tcdp_sim.summaries.bins import FEW, LARGEST_KEY, MIXED, RESOLUTION, bin_edges, histogram, in_order, values_at
from tcdp_sim.summaries.encoding import from_bytes, peek, to_bytes
from tcdp_sim.summaries.estimates import CONFIDENCE, mean, proportion, quantiles
from tcdp_sim.summaries.summary import Distribution, Summary, empty, merge, merged, summarise

CELL = "c" * 64
PINNED = "fa1902683cd71dc86ee2d02854719f04f672f061c0b4ee5b3f833840c1fb3b38"  # of the first version with atoms
THRESHOLDS = {"x": {"low": -0.5, "high": 1.25}}
SPECIAL = [0.0, -0.0, 5e-324, -1e-300, 2.0**-64, -(2.0**-65), 2.0**64, 2.0**65, -1e300, 1e308, 1.0, -1.0, 1 + 2.0**-52]
floats = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e150, 1e150) | st.sampled_from([np.nan, np.inf]))


def one(x, chunk=0, thresholds=THRESHOLDS):
    """The summary of one chunk in which x was observed, and the event that it is positive."""
    x = np.asarray(x, dtype=np.float64)
    return summarise(CELL, chunk, len(x), {"x": x, "positive": x > 0}, thresholds)


def distribution(x):
    return one(x).observables["x"]


def contents(summary):
    """Everything in it, bit by bit."""
    observables = {
        name: (
            d.keys.dtype.str,
            d.keys.tobytes(),
            d.counts.dtype.str,
            d.counts.tobytes(),
            d.atoms.dtype.str,
            d.atoms.tobytes(),
            sorted(d.exceed.items()),
            d.moments.shape,
            d.moments.tobytes(),
            d.nonfinite,
            d.infinite,
        )
        for name, d in summary.observables.items()
    }
    return summary.cell, summary.chunks, summary.trials, observables, dict(summary.events)


def random_chunks(rng, number=9):
    """Chunks of different sizes and ranges, some with values that are not finite."""
    chunks = []
    for chunk in rng.permutation(1000)[:number]:
        x = rng.normal(rng.normal() * 10, 10.0 ** rng.integers(-5, 6), rng.integers(1, 60))
        x[rng.random(len(x)) < 0.05] = np.inf
        chunks.append(one(x, int(chunk)))
    return chunks


def merge_at_random(rng, summaries):
    """All of them, two at a time in a random tree."""
    pool = list(summaries)
    while len(pool) > 1:
        a, b = (pool.pop(rng.integers(len(pool))) for _ in range(2))
        pool.append(merge(a, b))
    return pool[0]


# Merging


def test_merging_is_associative_and_commutative_to_the_last_bit():
    rng = np.random.default_rng(1)
    for _ in range(30):
        chunks = random_chunks(rng)
        expected = contents(reduce(merge, sorted(chunks, key=lambda s: s.chunks)))
        for _ in range(4):
            assert contents(merge_at_random(rng, chunks)) == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(floats, floats, floats)
def test_merging_any_three_chunks(x, y, z):
    with np.errstate(over="ignore"):
        a, b, c = one(x, 2), one(y, 0), one(z, 1)
    assert contents(merge(a, b)) == contents(merge(b, a))
    assert contents(merge(merge(a, b), c)) == contents(merge(a, merge(b, c)))


def test_the_empty_summary_is_the_identity():
    summary = one([1.0, 2.0], 7)
    assert contents(merge(empty(CELL), summary)) == contents(merge(summary, empty(CELL))) == contents(summary)
    assert contents(merge(empty(CELL), empty(CELL))) == contents(empty(CELL)) == (CELL, (), 0, {}, {})


def test_a_merge_counts_what_the_whole_would():
    rng = np.random.default_rng(2)
    x = rng.standard_cauchy(1000)
    whole, merged = one(x), reduce(merge, [one(part, i) for i, part in enumerate(np.split(x, [10, 11, 400]))])
    assert merged.trials == 1000
    assert merged.chunks == (0, 1, 2, 3)
    assert merged.events == whole.events == {"positive": int((x > 0).sum())}
    mine, theirs = merged.observables["x"], whole.observables["x"]
    assert mine.exceed == theirs.exceed
    assert np.array_equal(mine.keys, theirs.keys)
    assert np.array_equal(mine.counts, theirs.counts)
    assert mean(mine) == pytest.approx(mean(theirs), rel=1e-12)


def pairwise(a, b):
    """The summary of both, from the definition: bins in a dictionary, rows sorted by chunk."""
    rows = sorted([*a.chunks, *b.chunks])
    place = [[*a.chunks, *b.chunks].index(chunk) for chunk in rows]
    observables = {}
    for name, mine in a.observables.items():
        theirs, bins, atoms = b.observables[name], Counter(), {}
        for d in (mine, theirs):
            bins.update(dict(zip(d.keys.tolist(), d.counts.tolist())))
            for key, atom in zip(d.keys.tolist(), d.atoms.tolist()):
                atoms[key] = atom if atoms.get(key, atom) == atom else MIXED
        keys = sorted(bins)
        observables[name] = Distribution(
            np.array(keys, np.int32),
            np.array([bins[key] for key in keys], np.int64),
            np.array([atoms[key] for key in keys], np.int64),
            {label: mine.exceed[label] + theirs.exceed[label] for label in mine.exceed},
            np.array([[*mine.moments, *theirs.moments][i] for i in place]),
            mine.nonfinite + theirs.nonfinite,
            (mine.infinite[0] + theirs.infinite[0], mine.infinite[1] + theirs.infinite[1]),
        )
    events = {name: a.events[name] + b.events[name] for name in a.events}
    batches = {name: np.array([[*a.batches[name], *b.batches[name]][i] for i in place]) for name in a.batches}
    return Summary(a.cell, tuple(rows), a.trials + b.trials, observables, events, batches)


@pytest.mark.parametrize("shared", [True, False])
def test_merging_many_at_once_gives_the_bytes_of_one_after_the_other(shared):
    """Keys from both ends of the range, chunks in any order, chunks without trials, infinities."""
    rng = np.random.default_rng(12)
    parts = []
    for chunk in rng.permutation(60).tolist():
        trials = 40 if shared else int(rng.integers(0, 40))  # batches of chunks are as many
        x = rng.standard_cauchy(trials) * 10.0 ** rng.integers(-25, 25)
        x[rng.random(trials) < 0.05] = np.inf
        x[: trials // 2] *= 1e30 if chunk % 7 == 0 else 1
        parts.append(summarise(CELL, chunk, trials, {"x": x, "positive": x > 0}, THRESHOLDS, shared))
    found = merged(iter(parts))
    assert to_bytes(found) == to_bytes(reduce(pairwise, parts))
    assert found.chunks == tuple(range(60))
    assert found.observables["x"].keys.dtype == np.int32
    assert found.observables["x"].counts.dtype == np.int64


@pytest.mark.parametrize("chunks", [200, 1600])
def test_merging_copies_each_chunk_a_few_times_only(monkeypatch, chunks):
    """All that numpy joins or makes room for is linear in the chunks; one after the other it was their square."""
    rng = np.random.default_rng(13)
    parts = [one(rng.standard_cauchy(20) * 2.0 ** (i % 120 - 60), i) for i in range(chunks)]
    size, made = sum(20 * 12 + 40 for _ in parts), []
    for name in ("concatenate", "zeros"):
        real = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *a, _real=real, **k: made.append(_real(*a, **k)) or made[-1])
    merged(parts)
    assert sum(array.nbytes for array in made) < 2 * size + 10 * 8 * (2 * LARGEST_KEY + 1)


def test_nothing_to_merge_is_an_error():
    with pytest.raises(ValueError, match="nothing to merge"):
        merged([])


def test_different_cells_do_not_merge():
    with pytest.raises(ValueError, match="different cells"):
        merge(one([1.0]), summarise("d" * 64, 1, 1, {"x": np.ones(1)}, THRESHOLDS))
    with pytest.raises(ValueError, match="different cells"):
        merge(empty(CELL), empty("d" * 64))


def test_a_chunk_is_not_counted_twice():
    with pytest.raises(ValueError, match=r"chunks \[2, 5\] .* are in both"):
        merge(reduce(merge, [one([1.0], i) for i in (2, 3, 5)]), reduce(merge, [one([1.0], i) for i in (5, 2, 9)]))


# Counts


def histogram_by_numpy(x, keys):
    """Counts in the bins of the given keys, by np.histogram on their edges: each sign from zero outwards."""
    counts = np.zeros(len(keys), np.int64)
    for sign in (1, -1):
        wanted = np.flatnonzero(sign * keys > 0)
        size = np.sort(sign * keys[wanted])
        for key, where in zip(size, wanted[np.argsort(sign * keys[wanted])]):
            low, high = np.sort(np.abs(np.array(bin_edges(np.array([sign * key]))).ravel()))
            counts[where] = np.histogram(sign * x, [low, np.nextafter(high, 0)])[0][0]  # half open
    return counts


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_numpy_on_the_edges(seed):
    rng = np.random.default_rng(seed)
    x = np.concatenate(
        [
            rng.normal(size=300),
            rng.standard_cauchy(300) * 10.0 ** rng.integers(-15, 15, 300),
            np.repeat(2.0 ** np.arange(-60, 60), 2) * np.tile([1, -1], 120),  # on the edges
            2.0 ** rng.uniform(-500, 500, 300) * rng.choice([1, -1], 300),
        ]
    )
    d = distribution(x)
    assert d.counts.sum() == len(x)
    assert d.counts.min() >= 1
    assert np.all(np.diff(d.keys) > 0)
    assert np.array_equal(d.counts, histogram_by_numpy(x, d.keys))


def test_contiguous_bins_share_their_edges():
    for sign in (1, -1):
        low, high = bin_edges(sign * np.arange(1, 128 * 512 + 2))
        inner, outer = (low, high) if sign > 0 else (-high, -low)
        assert np.array_equal(inner[1:], outer[:-1])
        assert inner[0] == 2.0**-64
        assert inner[-1] == 2.0**64


def test_bins_are_at_most_a_fifth_of_a_percent_wide():
    low, high = bin_edges(np.arange(1, 128 * 512 + 2))
    assert np.all((high - low) / low <= RESOLUTION)
    assert RESOLUTION <= 0.002


def test_bins_cover_every_double():
    """The edges of all bins by value: from 0 to the largest double without a gap, in the order that in_order gives."""
    keys = np.concatenate([np.arange(1, 65537), np.arange(65538, LARGEST_KEY + 1)])
    keys = keys[np.argsort(in_order(keys))]
    low, high = bin_edges(keys)
    assert (low[0], high[-1]) == (0, np.finfo(float).max)
    assert np.array_equal(low[1:], high[:-1])
    normal = low >= 2.0**-1022
    assert np.all((high - low)[normal] / low[normal] <= RESOLUTION)
    assert np.all((high - low)[~normal] == 2.0**-1031)
    assert list(np.argsort(in_order([-1, -LARGEST_KEY, 0, 70000, LARGEST_KEY, -70000, 5]))) == [5, 0, 1, 2, 4, 6, 3]


@pytest.mark.parametrize("x", [5e-324, 1e-310, 2.0**-65, 1e-25, 2.0**64, 1e22, 1e300, 1.7976931348623157e308])
@pytest.mark.parametrize("sign", [1, -1])
def test_values_of_every_size_have_their_bin(x, sign):
    with np.errstate(over="ignore"):  # of the squared deviations
        d = distribution([sign * x, 1.0, 0.0])
    low, high = bin_edges(d.keys)
    inside = np.flatnonzero((low <= sign * x) & (sign * x <= high))
    assert d.counts[inside].tolist() == [1]
    assert d.counts.sum() == 3
    assert high[inside] - low[inside] <= max(RESOLUTION * x, 2.0**-1031)


def test_special_values_have_the_bins_of_their_bits():
    """Zeros have their own; usual numbers have the keys that they had before there were bins for all others."""
    with np.errstate(over="ignore"):
        d = distribution(SPECIAL)
    at = dict(zip(d.keys.tolist(), d.counts.tolist()))
    assert at[0] == 2
    assert (at[1], at[64 * 512 + 1], at[-(64 * 512 + 1)]) == (1, 2, 1)  # 2^-64; 1 and 1 + 2^-52; -1
    assert 65537 not in at
    assert sum(at.values()) == len(SPECIAL)


def test_values_that_are_not_finite_are_counted_apart():
    d = distribution([1.0, np.nan, np.inf, -np.inf, 2.0, np.inf])
    assert (d.nonfinite, d.infinite, d.values) == (4, (1, 2), 5)
    assert d.counts.sum() == 2
    assert d.exceed == {"low": 4, "high": 3}  # infinity exceeds, NaN does not
    assert mean(d)[0] == 1.5
    nothing = distribution([np.nan, np.nan])
    assert nothing.values == 0
    assert np.isnan(mean(nothing)).all()
    assert np.isnan(quantiles(nothing, np.array([0.1, 0.5]))).all()
    both = merge(one([np.inf, np.nan], 1), one([np.inf, -np.inf, 3.0], 0)).observables["x"]
    assert (both.nonfinite, both.infinite, both.values) == (4, (1, 2), 4)


def test_exceedances_are_strict_and_exact():
    x = np.array([1.25, np.nextafter(1.25, 2), np.nextafter(1.25, 1), -0.5, 7.0])
    assert distribution(x).exceed == {"low": 4, "high": 2}


def test_events_are_counted():
    summary = summarise(CELL, 0, 4, {"a": np.array([True, False, True, True]), "b": np.zeros(4, bool)}, {})
    assert summary.events == {"a": 3, "b": 0}
    assert summary.observables == {}


def test_observables_without_thresholds_exceed_nothing():
    assert one([1.0], thresholds={}).observables["x"].exceed == {}


# Moments


@pytest.mark.parametrize(("offset", "scale"), [(0, 1), (1e9, 1), (-1e9, 1e-2), (1e-30, 1e-35), (1e100, 1e99)])
def test_moments_against_exact_sums(offset, scale):
    """In blocks of different sizes, far from zero."""
    x = offset + scale * np.random.default_rng(3).standard_t(5, 5000)
    blocks = np.split(x, [1, 2, 500, 4000])
    average, mcse, deviation = mean(reduce(merge, map(one, blocks, range(5))).observables["x"])
    exact = statistics.stdev(x.tolist())  # in fractions
    assert average == pytest.approx(statistics.mean(x.tolist()), rel=1e-14)
    # The means of the blocks are rounded to the spacing of doubles there, and enter times their deviations.
    tolerance = 1e-12 + 4 * np.spacing(abs(offset)) / scale / np.sqrt(len(x))
    assert deviation == pytest.approx(exact, rel=tolerance)
    assert mcse == pytest.approx(exact / np.sqrt(len(x)), rel=tolerance)


def test_moments_of_few_trials():
    assert np.isnan(mean(distribution([]))).all()
    average, mcse, deviation = mean(distribution([3.5]))
    assert (average, np.isnan(mcse), np.isnan(deviation)) == (3.5, True, True)
    assert mean(distribution([1.0, 3.0])) == pytest.approx((2, 1, np.sqrt(2)))
    assert mean(merge(one([np.inf], 0), one([1.0, 3.0], 1)).observables["x"]) == pytest.approx((2, 1, np.sqrt(2)))
    assert mean(distribution([0.1] * 7)) == pytest.approx((0.1, 0, 0), abs=1e-16)


def test_the_mcse_of_the_mean_covers():
    """800 means of 50: the 95% interval misses about 5% (4.5 standard errors: a false alarm in 1e-5)."""
    x = np.random.default_rng(4).normal(3, 2, (800, 50))
    rows = np.array([mean(distribution(row)) for row in x])
    covered = (np.abs(rows[:, 0] - 3) <= stats.t(49).ppf(0.975) * rows[:, 1]).mean()
    assert abs(covered - 0.95) < 4.5 * np.sqrt(0.05 * 0.95 / 800)


# Proportions


@pytest.mark.parametrize("trials", [1, 2, 5, 100, 12345, 10**7])
def test_proportions_have_the_exact_interval(trials):
    for successes in sorted({0, 1, trials // 3, trials - 1, trials}):
        estimate, mcse, lower, upper = proportion(successes, trials)
        other = stats.binomtest(successes, trials).proportion_ci(CONFIDENCE, method="exact")
        assert estimate == successes / trials
        assert mcse == pytest.approx(np.sqrt(successes * (trials - successes) / trials**3), rel=1e-12)
        assert (lower, upper) == pytest.approx((other.low, other.high), rel=1e-8)
        assert 0 <= lower <= estimate <= upper <= 1


# Quantiles

LEVELS = np.array([1e-6, 0.001, 0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999, 1 - 1e-6])


@pytest.mark.parametrize("n", [1, 2, 5, 100, 4097])
@pytest.mark.parametrize("seed", [0, 1])
def test_quantiles_are_within_one_bin_of_the_sample_quantile(n, seed):
    rng = np.random.default_rng(seed)
    for x in (rng.normal(size=n), np.exp(5 * rng.normal(size=n)), np.round(rng.normal(size=n) * 3)):
        estimate = quantiles(distribution(x), LEVELS)[0]
        exact = np.quantile(x, LEVELS, method="inverted_cdf")
        assert np.all(np.abs(estimate - exact) <= RESOLUTION * np.abs(exact) * (1 + 1e-9))


@pytest.mark.parametrize("n", [1, 2, 5, 20, 1000, 3000])
def test_the_interval_of_quantiles_has_the_binomial_ranks(n):
    """With one value a bin the interval's ends tell their ranks, and its coverage follows from the binomial law."""
    x = 1.01 ** np.arange(1, n + 1)
    _, _, lower, upper = quantiles(distribution(x), LEVELS)
    for q, low, high in zip(LEVELS, lower, upper):
        below, above = np.searchsorted(x, low), np.searchsorted(x, high, side="right")  # ranks less one of the ends
        law = stats.binom(n, q)
        misses_low = law.cdf(below) if low > -np.inf else 0.0  # at most `below` trials under the quantile
        misses_high = law.sf(above - 1) if high < np.inf else 0.0  # at least `above` of them
        assert misses_low <= (1 - CONFIDENCE) / 2
        assert misses_high <= (1 - CONFIDENCE) / 2
        # Not wasteful: two ranks further in, it would miss too often.
        assert law.cdf(max(below + 2, 1) if low > -np.inf else 1) > (1 - CONFIDENCE) / 2
        assert law.sf(above - 4 if high < np.inf else n - 3) > (1 - CONFIDENCE) / 2


@pytest.mark.parametrize(("n", "q"), [(1, 0.5), (2, 0.5), (5, 0.9), (30, 0.5), (200, 0.95), (1000, 0.01), (1000, 0.5)])
def test_the_interval_of_quantiles_covers(n, q):
    """1000 samples: coverage of 95% would give fewer than this many once in a million."""
    truth = stats.norm(1, 3).ppf(q)
    covered = 0
    for x in np.random.default_rng(n).normal(1, 3, (1000, n)):
        _, _, (lower,), (upper,) = quantiles(distribution(x), np.array([q]))
        covered += lower <= truth <= upper
    assert covered >= stats.binom(1000, CONFIDENCE).ppf(1e-6)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.95])
def test_the_mcse_of_quantiles_is_their_standard_deviation(q):
    """Over 500 samples; that of 500 is known to 3.2%, and the ranks of the interval are one or two too wide."""
    n = 2000
    rows = np.array([quantiles(distribution(x), np.array([q]))[:2, 0] for x in _lognormal(n)])
    ratio = rows[:, 1].mean() / rows[:, 0].std(ddof=1)
    width = 3 / (2 * 1.96 * np.sqrt(n * q * (1 - q)))
    assert 1 - 4.5 * 0.032 < ratio < 1 + width + 4.5 * 0.032


def _lognormal(n):
    return np.random.default_rng(6).lognormal(size=(500, n))


def test_an_unbounded_interval_where_no_order_statistic_will_do():
    _, mcse, lower, upper = quantiles(distribution([1.0, 2.0, 3.0]), np.array([0.5]))
    assert (lower[0], upper[0]) == (-np.inf, np.inf)
    assert np.isfinite(mcse[0])


def test_quantiles_of_a_constant():
    estimate, mcse, lower, upper = quantiles(distribution([5.0] * 1000), np.array([0.05, 0.5, 0.95]))
    np.testing.assert_array_equal([estimate, lower, upper, mcse], [[5] * 3] * 3 + [[0] * 3])
    assert (quantiles(distribution([0.0] * 1000), np.array([0.5]))[:, 0] == 0).all()


LATTICES = {
    "dice": lambda rng, n: rng.integers(1, 7, n),
    "signs": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "counts": lambda rng, n: rng.poisson(300, n),
    "negative halves": lambda rng, n: -rng.integers(0, 900, n) / 2,
    "both signs": lambda rng, n: rng.binomial(40, 0.5, n) - 20,
    "thirds of a constant": lambda rng, n: np.full(n, 1 / 3),
    "huge": lambda rng, n: 2.0**900 * rng.integers(1, 7, n),
    "tiny": lambda rng, n: 2.0**-900 * rng.integers(1, 7, n),
    "infinite too": lambda rng, n: np.where(rng.random(n) < 0.2, np.inf, rng.integers(1, 7, n)),
}


@pytest.mark.parametrize("law", LATTICES)
@pytest.mark.parametrize("n", [1, 20, 1000])
@pytest.mark.parametrize("chunks", [1, 3])
def test_quantiles_of_atoms_on_edges_of_bins_are_those_of_the_sample(law, n, chunks):
    """Whole numbers up to 1024 times a power of two; of one atom any number. The interval ends are atoms too."""
    rng = np.random.default_rng(31)
    parts = [LATTICES[law](rng, n).astype(float) for _ in range(chunks)]
    x = np.sort(np.concatenate(parts))
    estimate, mcse, lower, upper = quantiles(
        merged([one(each, i) for i, each in enumerate(parts)]).observables["x"], LEVELS
    )
    assert estimate.tolist() == [x[int(np.ceil(q * len(x))) - 1] for q in LEVELS]
    assert {*lower.tolist(), *upper.tolist()} <= {-np.inf, np.inf, *x.tolist()}
    assert (mcse[lower == upper] == 0).all()


@pytest.mark.parametrize("n", [1, 2, 7, 300])
@pytest.mark.parametrize("scale", [1.0, -1.0, 1e-3, 1e5])
def test_quantiles_lie_between_the_least_and_the_largest_trial(n, scale):
    """Of whatever law, also near its ends, where a bin reaches further than the sample; infinite ends aside."""
    rng = np.random.default_rng(32)
    for law in (rng.random, rng.standard_normal, rng.standard_exponential, lambda n: 0.1 * rng.integers(1, 7, n)):
        x = scale * law(n)
        levels = np.array([1e-4, 0.01, 0.5, 0.9, 0.99, 0.9999])
        estimate, _, lower, upper = quantiles(distribution(x), levels)
        assert ((x.min() <= estimate) & (estimate <= x.max())).all()
        assert (np.isinf(lower) | (x.min() <= lower)).all()
        assert (np.isinf(upper) | (upper <= x.max())).all()
        assert (np.diff(estimate) >= 0).all()


ATOMS = {  # laws whose atoms lie in bins of their own
    "tenths": lambda rng, n: rng.integers(-400, 400, n) / 10,
    "tenths of a die": lambda rng, n: 0.1 * rng.integers(1, 7, n),
    "whole numbers to a million": lambda rng, n: rng.choice([3.0, 1500.0, 1501.0 * 4, 77_777.0, 990_001.0, 1e6], n),
    "powers of a third": lambda rng, n: (-1.0 / 3.0) ** rng.integers(0, 600, n),
    "beside infinite ones": lambda rng, n: np.where(rng.random(n) < 0.3, -np.inf, 0.1 * rng.integers(1, 7, n)),
    "wide": lambda rng, n: rng.choice([1e-30, 1e30, -1e300, 7e-320, 0.3, 0.0, -0.0], n),
}


@pytest.mark.parametrize("law", ATOMS)
@pytest.mark.parametrize("sizes", [(1,), (FEW,), (700,), (30_000,), (40, 2500, 64, 1), (5000, 5000)])
def test_quantiles_of_atoms_are_those_of_numpy(law, sizes):
    """Whatever their chunks. Ends of intervals are values that occurred, too."""
    rng = np.random.default_rng(34)
    parts = [ATOMS[law](rng, n) for n in sizes]
    x = np.concatenate(parts)
    d = merge_at_random(rng, [one(each, i) for i, each in enumerate(parts)]).observables["x"]
    estimate, _, lower, upper = quantiles(d, LEVELS)
    np.testing.assert_array_equal(estimate, np.quantile(x, LEVELS, method="inverted_cdf"))
    assert {*lower.tolist(), *upper.tolist()} <= {-np.inf, np.inf, *x.tolist()}


def values_by_bin(x, d):
    """The distinct trials of each bin, in the order of the keys."""
    edges = np.sort(bin_edges(d.keys), axis=0).T
    return [
        {*x[(low <= x) & (x <= high) & ((x == low) | (np.abs(x) < max(abs(low), abs(high))))]} for low, high in edges
    ]


@pytest.mark.parametrize("chunks", [1, 4])
@pytest.mark.parametrize("law", ["whole numbers to ten thousand", "two atoms beside a normal law"])
def test_quantiles_are_exact_in_bins_with_one_value_and_close_in_others(law, chunks):
    """Bins are found again by comparing every trial with the edges."""
    rng, n = np.random.default_rng(35), 5000 * chunks
    x, share = rng.integers(0, 10_000, n).astype(float), rng.random(n)
    if law == "two atoms beside a normal law":
        x = np.select([share < 0.3, share < 0.6], [0.7, -12.3], 5 + rng.normal(size=n))
    d = merged([one(each, i) for i, each in enumerate(np.split(x, chunks))]).observables["x"]
    held = values_by_bin(x, d)
    found = [{value} if not np.isnan(value) else None for value in values_at(d.keys, d.atoms)]
    assert found == [each if len(each) == 1 else None for each in held]
    assert (0 if law.startswith("whole") else 2) < sum(len(each) == 1 for each in held)
    levels = np.linspace(0.001, 0.999, 500)
    estimate, exact = quantiles(d, levels)[0], np.quantile(x, levels, method="inverted_cdf")
    assert (np.abs(estimate - exact) <= RESOLUTION * np.abs(exact) * (1 + 1e-9)).all()
    alone = np.isin(exact, [value for each in held if len(each) == 1 for value in each])
    assert alone.sum() > 40
    assert (estimate[alone] == exact[alone]).all()


def test_one_trial_beside_the_others_of_its_bin_is_noticed():
    """Of 100,000 whole numbers one is 0.1% larger, in one of two chunks: its bin has two values then."""
    x = np.random.default_rng(33).integers(1, 7, 100_000).astype(float)
    x[np.flatnonzero(x == 3)[-1]] *= 1.001
    for d in (distribution(x), merge(one(x[:50_000], 0), one(x[50_000:], 1)).observables["x"]):
        assert quantiles(d, np.array([0.45]))[0, 0] > 3
        assert (values_at(d.keys, d.atoms)[[0, 1, 3]] == [1, 2, 4]).all()


def test_a_chunk_whose_numbers_do_not_repeat_knows_no_atoms():
    """They would cost a third of the time of a chunk, and eight bytes for each trial in a bin of its own."""
    x = np.random.default_rng(36).normal(size=3000)
    for each, has_atoms in ((x, False), (x[: FEW + 1], False), (x[:FEW], True), (np.round(x, 1), True)):
        d = distribution(each)
        assert (d.atoms != MIXED).any() == has_atoms
        assert (b'"atoms": true' in to_bytes(one(each))) == has_atoms
    both = merge(one(x, 0), one(np.round(x, 1), 1)).observables["x"]
    assert not np.isin(both.keys[both.atoms != MIXED], distribution(x).keys).any()


def by_sorting(x, q):
    """The sample quantile and the interval of binomial ranks, from the sorted values themselves; NaN dropped.

    Order statistic `low` is above the true quantile if fewer than `low` trials are below it, `high` is below it if at
    least `high` are: the narrowest are ppf(2.5%) and ppf(97.5%) + 1. The lower one is taken one rank further out.
    """
    x = np.sort(x[~np.isnan(x)])
    law, n = stats.binom(len(x), q), len(x)
    low, high = int(law.ppf(0.025)) - 1, int(law.ppf(0.975)) + 1
    return x[int(np.ceil(q * n)) - 1], x[low - 1] if low >= 1 else -np.inf, x[high - 1] if high <= n else np.inf


@pytest.mark.parametrize("share", [(0, 0.1), (0.3, 0.3), (0.02, 0.0), (0.0, 0.999), (0.5, 0.5)])
@pytest.mark.parametrize("scale", [1.0, 1e22, 1e-25, 1e300, 1e-320])
def test_infinite_trials_and_those_of_every_size_are_values(share, scale):
    """Held against the sorted sample: the ends lie in its bins, infinite ones are infinite, NaN counts nowhere."""
    rng = np.random.default_rng(12)
    x = rng.normal(size=4001) * scale
    draw = rng.random(4001)
    x[draw < share[0]] = -np.inf
    x[draw > 1 - share[1]] = np.inf
    x[::7] = np.nan
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        d = merge(one(x[:1500], 0), one(x[1500:], 1)).observables["x"]
    levels = np.array([0.001, 0.025, 0.1, 0.25, 0.45, 0.75, 0.95, 0.999])
    for q, (estimate, mcse, lower, upper) in zip(levels, quantiles(d, levels).T):
        middle, low, high = by_sorting(x, q)
        assert estimate == middle or abs(estimate - middle) <= max(1.01 * RESOLUTION * abs(middle), 2.0**-1031)
        assert lower == low or low - max(RESOLUTION * abs(low), 2.0**-1031) <= lower <= low
        assert upper == high or high <= upper <= high + max(RESOLUTION * abs(high), 2.0**-1031)
        if np.isfinite([low, high]).all() or low == high:
            assert np.isfinite(mcse)


@pytest.mark.parametrize("sign", [1, -1])
def test_quantiles_are_linear_inside_a_bin(sign):
    """8000 trials evenly over one bin: the estimate moves through it in proportion, to a trial's share of its width."""
    x = sign * (1 + RESOLUTION * (np.arange(8000) + 0.5) / 8000)
    levels = np.array([0.01, 0.25, 0.5, 0.9])
    places = (np.abs(quantiles(distribution(x), levels)[0]) - 1) / RESOLUTION
    np.testing.assert_allclose(places, levels if sign > 0 else 1 - levels, atol=2 / 8000)


def test_quantiles_over_all_sizes_at_once():
    """Eleven values in the order of their size, a thousand times each: every one is the middle of its eleventh."""
    values = np.array([-np.inf, -1e300, -3.0, -1e-30, -5e-324, 0.0, 1e-310, 1e-21, 2.0, 1e25, np.inf])
    with np.errstate(over="ignore", invalid="ignore"):
        d = merge(one(np.tile(values, 600), 0), one(np.tile(values, 400), 1)).observables["x"]
    estimate, mcse, lower, upper = quantiles(d, (np.arange(11) + 0.5) / 11)
    near = np.maximum(RESOLUTION * np.abs(np.where(np.isfinite(values), values, 0)), 2.0**-1031)
    assert (lower <= values).all()
    assert (values <= upper).all()
    finite = np.isfinite(values)
    assert (np.abs(estimate[finite] - values[finite]) <= near[finite]).all()
    assert (upper[finite] - lower[finite] <= near[finite]).all()
    assert (estimate[~finite] == values[~finite]).all()
    assert (mcse[finite] <= near[finite]).all()
    assert (mcse[~finite] == 0).all()


def test_the_95_percent_quantile_of_a_loss_that_is_infinite_once_in_ten_is_infinite():
    x = np.where(np.arange(10_000) % 10 == 0, np.inf, 1.0)
    estimate, mcse, lower, upper = quantiles(distribution(x), np.array([0.5, 0.9 - 0.02, 0.95]))
    assert (estimate[2], mcse[2], lower[2], upper[2]) == (np.inf, 0, np.inf, np.inf)
    assert (lower[0], lower[1]) == (1, 1)
    assert max(upper[:2]) <= 1 + RESOLUTION


# Bytes


def several():
    """Observables in an order that is not alphabetical, in chunks that are not in order."""
    rng = np.random.default_rng(8)

    def chunk(i):
        values = {name: rng.standard_cauchy(50 + i) * size for name, size in (("z", 1), ("a", 1e9), ("m", -1))}
        values["a"][0] = np.nan
        return summarise(CELL, i, 50 + i, values | {"event": values["z"] > 1}, {"a": {"b": 0.0, "a": 1.0}})

    return merge(merge(chunk(3), chunk(0)), chunk(7))


@pytest.mark.parametrize("summary", [several(), one([1.0]), one([]), one([np.nan])], ids=["several", "1", "0", "nan"])
def test_bytes_round_trip(summary):
    data = to_bytes(summary)
    assert contents(from_bytes(data)) == contents(summary)
    assert to_bytes(from_bytes(data)) == data


def test_bytes_do_not_depend_on_the_order_of_merging():
    rng = np.random.default_rng(9)
    chunks = random_chunks(rng)
    assert len({to_bytes(merge_at_random(rng, chunks)) for _ in range(10)}) == 1


def test_what_was_read_merges_like_what_was_written():
    a, b = one([1.0, -2.0], 1), one([3.0, np.inf], 0)
    assert contents(merge(from_bytes(to_bytes(a)), from_bytes(to_bytes(b)))) == contents(merge(a, b))


def test_peeking_tells_the_cell_and_the_chunk():
    assert peek(to_bytes(one([1.0], 2**40))) == (CELL, 2**40)


def test_a_summary_is_small():
    """100 000 normal trials: about 10 000 bins, a byte or two each."""
    assert len(to_bytes(one(np.random.default_rng(0).normal(size=100_000)))) < 25_000


def test_bytes_that_were_cut_off_are_refused():
    data = to_bytes(several())
    for size in [*range(0, 400, 7), len(data) // 2, len(data) - 1]:
        with pytest.raises((ValueError, KeyError, zlib.error)):
            from_bytes(data[:size])


def test_a_flipped_bit_in_the_arrays_is_refused():
    data = to_bytes(several())
    start = 4 + int.from_bytes(data[:4], "little")
    rng = np.random.default_rng(10)
    for position in rng.integers(start, len(data), 200):
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(rng.integers(8))
        try:
            found = from_bytes(bytes(damaged))
        except (ValueError, zlib.error):
            continue
        assert contents(found) == contents(several())  # a bit that fills up the last byte of the arrays


def test_a_header_that_does_not_match_the_arrays_is_refused():
    data = to_bytes(one([1.0, 2.0, 3.0]))
    size = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:size])
    for bins in (2, 4):
        header["observables"]["x"]["bins"] = bins
        text = json.dumps(header).encode()
        with pytest.raises(ValueError, match=r"bytes of arrays|buffer"):
            from_bytes(len(text).to_bytes(4, "little") + text + data[size:])


def test_records_are_written_to_the_byte():
    x = [0.0, 1.5, -2.0, 2.0**-64, 3e19 / 2, 0.1]
    assert hashlib.sha256(to_bytes(one(x))).hexdigest() == PINNED


def test_a_pickle_is_not_read(monkeypatch):
    def trap(*_args, **_kwargs):
        raise AssertionError("something was unpickled")

    data = to_bytes(several())
    with monkeypatch.context() as patch:
        patch.setattr(pickle, "loads", trap)
        patch.setattr(pickle, "load", trap)
        patch.setattr(pickle, "Unpickler", trap)
        assert from_bytes(data).trials == several().trials
        with pytest.raises(ValueError, match=r".*"):
            from_bytes(pickle.dumps(several().chunks))


def test_the_last_usual_bin_stays_where_it_is_beside_larger_numbers():
    """2^64 is where keys go on with another number: what is just below and from there on is in bins of its own."""
    x = np.array([np.nextafter(2.0**64, 0), 2.0**64, np.nextafter(2.0**64, inf), 2.0**65, 2.0**64 * (1 - 2**-9)])
    keys, counts, _ = histogram(x)
    low, high = bin_edges(keys)
    own = [np.flatnonzero((low <= value) & (value < high)) for value in x]
    assert [len(each) for each in own] == [1] * len(x)
    assert Counter(int(each[0]) for each in own) == Counter(dict(enumerate(counts.tolist())))


def test_the_numbers_of_a_95_percent_interval_keep_their_last_digit():
    """Published numbers were made of these; scipy.stats and mpmath are the oracles."""
    assert pytest.approx(float(mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf("0.95"))), rel=4e-16) == estimates.NORMAL
    assert float(-mpmath.log(mpmath.mpf("0.025"))) == estimates.UNSEEN
    assert repr(estimates.NORMAL) == "1.959963984540054"
