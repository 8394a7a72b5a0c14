"""Above-threshold, trees and prefix sums against plain, slow versions, and against exact probabilities of passage.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import ks_2samp

from tcdp_sim.noise import Gaussian
from tcdp_sim.noise.guard import unguarded
from tcdp_sim.ordered.quantiles import AboveThreshold, FromPrefixSums, InteriorPoints, Line, TreeSearch
from tcdp_sim.ordered.quantiles.above_threshold import below, candidate_places, first_passage
from tcdp_sim.ordered.quantiles.from_prefix_sums import FACTORISATIONS, prefix_counts
from tcdp_sim.ordered.quantiles.method import even_levels
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

ALIKE = 1e-6  # least p-value of a Kolmogorov-Smirnov test


@pytest.fixture(autouse=True)
def as_they_are():
    """Noise that does not draw at all breaks the contract of a noise, which is what these tests need."""
    with unguarded():
        yield


class Still(Gaussian):
    """Noise of exactly zero, for tests of what is not noise."""

    def fill(self, *, out, rng):
        out[...] = 0.0

    def sample(self, size=None, *, rng):
        return np.zeros(size)


def passages(counts, bar_rate, rate, target):
    """The exact probabilities that each candidate passes first, and that none does."""

    def before(bar, i):
        chances = np.exp(-rate * np.maximum(bar - np.array(counts), 0))
        passed = chances[i] if i < len(counts) else 1.0
        return np.prod(1 - chances[:i]) * passed * bar_rate * np.exp(-bar_rate * (bar - target))

    kinks = sorted({count for count in counts if count > target})
    ends = [target, *kinks, target + 60 / bar_rate]
    return [
        sum(quad(before, a, b, args=(i,), epsabs=1e-13)[0] for a, b in itertools.pairwise(ends))
        for i in range(len(counts) + 1)
    ]


def test_first_passages_have_their_exact_probabilities():
    counts, lengths = np.array([1, 3, 4, 9]), np.array([2, 1, 3, 1])
    rng, target, bar_rate, rate = np.random.default_rng(1), 3.5, 0.7, 0.9
    bar = target + rng.standard_exponential(60_000) / bar_rate
    seen = np.bincount(first_passage(counts, lengths, bar, rate, rng), minlength=8) / 60_000
    expected = np.array(passages(np.repeat(counts, lengths).tolist(), bar_rate, rate, target))
    assert expected.sum() == pytest.approx(1, abs=1e-9)
    assert (np.abs(seen - expected) < 5.5 * np.sqrt(expected / 60_000) + 1e-6).all()


@pytest.mark.parametrize("kind", ["reals", "integers"])
def test_above_threshold_is_a_loop_over_candidates(kind):
    rng = np.random.default_rng(2)
    line = Line(20 * rng.random(40), 32, kind)
    method = AboveThreshold.of((0.3, 0.8), "add_remove", PureDP(4.0))
    assert method.rates[0] == pytest.approx([1.0 / 0.7, 1.0 / 0.8])
    drawn = method.sample(line, 3000, rng=rng)
    places, records = candidate_places(32), line.values.tolist()
    assert below(line, places).tolist() == [sum(x < c for x in records) for c in places]
    slow = np.empty((1000, 2))
    queries = below(line, places)
    for row in slow:
        for j, (level, rate) in enumerate(zip(method.levels, method.rates[0])):
            noisy = queries + rng.exponential(1 / method.rates[1], len(places))
            passed = np.flatnonzero(noisy >= level * 40 + rng.exponential(1 / rate))
            row[j] = places[passed[0]] if len(passed) else 31.999
    slow = np.sort(np.floor(slow) if kind == "integers" else slow, axis=1)
    for j in range(2):
        assert ks_2samp(drawn[:, j].astype(float), slow[:, j]).pvalue > ALIKE


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_above_threshold_keeps_its_epsilon(relation):
    """The exact probabilities of neighbours, for records that are added or moved either way."""
    level, epsilon = 0.3, 1.2
    rates, rate = AboveThreshold((level,), relation, PureDP(epsilon), epsilon).rates
    base = [1, 1, 2, 4, 4, 5]  # records below each candidate
    moved = (
        [[2, 2, 3, 5, 5, 6], [1, 1, 2, 5, 5, 6]]
        if relation == "add_remove"
        else [[1, 2, 3, 5, 5, 5], [0, 0, 2, 4, 4, 5]]
    )
    worst = []
    for other in moved:
        sizes = 6, 7 if relation == "add_remove" else 6
        first, second = (np.array(passages(c, rates[0], rate, level * n)) for c, n in zip((base, other), sizes))
        worst.append(np.abs(np.log(first / second)).max())
    assert max(worst) <= epsilon + 1e-7
    assert max(worst) > 0.5 * epsilon


@pytest.mark.parametrize("name", FACTORISATIONS)
@pytest.mark.parametrize("kind", ["reals", "integers"])
def test_without_noise_prefix_sums_give_the_true_quantiles(name, kind):
    values = np.random.default_rng(3).integers(0, 64, 500)
    line = Line(values, 64, kind)
    assert prefix_counts(line, 64).tolist() == [(values <= b).sum() for b in range(64)]
    method = FromPrefixSums(even_levels(19), "add_remove", ZCDP(1.0), name, 64, Still(1.0))
    out = method.sample(line, 2, rng=np.random.default_rng(0)).astype(float)
    bins = out if kind == "integers" else np.ceil(out) - 1  # a sum is reached at the end of its bin
    assert (bins == line.quantile(np.array(method.levels)).astype(float)).all()


@pytest.mark.parametrize(("name", "guarantee"), [("tree_2", PureDP(1.0)), ("square_root", ApproxDP(1.0, 1e-6))])
def test_noise_of_prefix_sums_meets_the_guarantee(name, guarantee):
    method = FromPrefixSums.of((0.5,), "substitute", guarantee, name, 64)
    epsilon = method.ledger.epsilon(1e-6).upper
    assert epsilon <= 1.0 + 1e-3
    if name == "tree_2":  # 6 levels, 2 nodes each
        assert method.noise.scale == pytest.approx(12.0)


@pytest.mark.parametrize("kind", ["reals", "integers"])
@pytest.mark.parametrize("log2_k", [8, 33, 64])
def test_without_noise_a_tree_search_gives_the_true_quantiles(log2_k, kind):
    values = np.random.default_rng(4).integers(0, 256, 300)
    line = Line(values, 2**log2_k, kind)
    made = TreeSearch.of(even_levels(19), "substitute", ZCDP(1.0), line)
    out = TreeSearch(made.levels, "substitute", ZCDP(1.0), made.depth, Still(1.0)).sample(
        line, 2, rng=np.random.default_rng(0)
    )
    assert (np.floor(out) == line.quantile(np.array(made.levels)).astype(float)).all()


def slow_search(counts, levels, n, scale, rng):
    """A dense tree over 8 elements, with noise in every node, the root without."""
    estimates = [np.array([float(n)])]
    for height in (2, 1, 0):
        true = counts.reshape(-1, 2**height).sum(axis=1)
        noisy = true + scale * rng.standard_normal(len(true))
        off = (estimates[-1] - noisy.reshape(-1, 2).sum(axis=1)) / 2
        estimates.append((noisy.reshape(-1, 2) + off[:, None]).ravel())
    out = []
    for level in levels:
        node, rank = 0, level * n
        for below_ in estimates[1:]:
            left = below_[2 * node]
            node, rank = (2 * node, rank) if rank <= left else (2 * node + 1, rank - left)
        out.append(node)
    return sorted(out)


def test_a_tree_search_is_a_descent_in_a_dense_tree():
    values = [0, 1, 1, 2, 3, 3, 3, 5, 6, 6, 7, 7]
    line, levels = Line(values, 8, "integers"), (0.25, 0.5, 0.75)
    method = TreeSearch.of(levels, "substitute", ZCDP(2.0), line)
    scale = float(np.sqrt(method.noise.var()))
    assert scale == pytest.approx(np.sqrt(6 / (2 * 2.0)))
    rng = np.random.default_rng(5)
    slow = np.array([slow_search(np.bincount(values, minlength=8), levels, 12, scale, rng) for _ in range(4000)])
    fast = method.sample(line, 20_000, rng=rng)
    for seen, expected in ((fast == slow_, slow == slow_) for slow_ in ([3, 3, 3], [1, 3, 6])):
        shares = seen.all(axis=1).mean(), expected.all(axis=1).mean()
        assert abs(shares[0] - shares[1]) < 5.5 * np.sqrt(0.25 / 4000)
    for j in range(3):
        seen, expected = (np.bincount(each[:, j], minlength=8) / len(each) for each in (fast, slow))
        assert np.abs(seen - expected).max() < 5.5 * np.sqrt(0.25 / 4000)


def test_noise_is_for_every_count_that_a_record_moves():
    line = Line([1], 16, "integers")
    for relation, moved in (("add_remove", 5), ("substitute", 8)):
        laplace = TreeSearch.of((0.5,), relation, PureDP(1.0), line).noise
        assert laplace.scale == pytest.approx(moved)
    gaussian = TreeSearch.of((0.5,), "substitute", ApproxDP(1.0, 1e-6), line)
    assert gaussian.ledger.epsilon(1e-6).upper == pytest.approx(1.0, rel=1e-3)
    assert TreeSearch.of((0.5,), "substitute", TCDP(0.5, 5.0), line).noise.family == "sinh_normal"


def test_interior_points_answer_on_huge_domains():
    line = Line([2**40] * 4000 + [2**63] * 4000, 2**64, "integers")
    method = InteriorPoints((0.25, 0.75), "substitute", TCDP(5.0, 20.0), line.n, line.k)
    assert method.sample(line, 3, rng=np.random.default_rng(0)).tolist() == [[2**40, 2**63]] * 3
    assert method.ledger.epsilon(1e-6).upper > 0
    with pytest.raises(ValueError, match="valid: substitute"):
        InteriorPoints((0.5,), "add_remove", ZCDP(1.0), 10, 16)


def test_the_number_of_records_is_used_only_where_it_is_public():
    """Noisy sums twice as large have the same quantiles under addition and removal, where n is not known."""
    line, levels = Line(np.arange(64.0), 64, "reals"), (0.25, 0.5, 0.75)
    sums = prefix_counts(line, 64)
    for relation, doubled in (("add_remove", [16, 32, 48]), ("substitute", [8, 16, 24])):
        method = FromPrefixSums(levels, relation, ZCDP(1.0), "tree_2", 64, Still(1.0))
        assert method._quantiles(line, sums) == pytest.approx([16, 32, 48])
        assert method._quantiles(line, 2 * sums) == pytest.approx(doubled)
