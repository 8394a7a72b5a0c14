"""The exact laws of the gallery, against closed forms, mpmath, scipy and enumeration that share no code with them."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, product

import mpmath
import numpy as np
import pytest
from audit_gallery.laws import bits, first_value, laplace, noisy_max, sparse_vector
from audit_gallery.laws.best_event import best_event
from audit_gallery.mechanisms import (
    FirstValueSearch,
    InvertedLaplace,
    LaplaceVector,
    NoiselessSearch,
    NoisyMaxValue,
    Rappor,
    RepeatedLaplace,
    SnappedLaplace,
    SparseVector,
    TruncatedGeometric,
)
from audit_gallery.rows import rows
from scipy import integrate, stats

ROWS = {row.name: row for row in rows()}
KNOWN = [row for row in rows() if row.law is not None]


def vector(*numbers):
    return np.array(numbers, dtype=np.float64)


# What an event shows


def test_the_best_event_is_the_best_of_all_subsets():
    """5 cells, all 31 events, bounds by scipy's beta quantiles."""
    p, q = np.array([0.3, 0.1, 0.25, 0.3, 0.05]), np.array([0.2, 0.14, 0.25, 0.4, 0.01])
    for samples in (2000, 50_000):
        shown = []
        for size in range(1, 6):
            for cells in map(list, combinations(range(5), size)):
                hits, others = samples * p[cells].sum(), min(samples * q[cells].sum(), samples)
                low = stats.beta.ppf(0.05, hits, samples - hits + 1) if size < 5 else 0
                high = stats.beta.ppf(0.95, others + 1, samples - others) if size < 5 else 1
                shown.append((np.log(low / high) if low > 0 else -np.inf, p[cells].sum(), q[cells].sum()))
        best, event = max(shown), best_event(p, q, samples, 0.9)
        assert event.epsilon == pytest.approx(max(best[0], 0), rel=1e-9)
        assert event[1:] == pytest.approx(best[1:])


def test_an_event_that_the_other_input_cannot_give():
    """All of n against none of n: (1/20)^(1/n) against 1 - (1/20)^(1/n) at 90%."""
    event = best_event(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 1000, 0.9)
    assert event.epsilon == pytest.approx(np.log(0.05**0.001 / (1 - 0.05**0.001)), rel=1e-9)


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.name)
def test_cells_are_the_whole_and_no_ratio_exceeds_epsilon(row):
    for pair in row.directed():
        p, q = row.law.cells(*pair)
        assert p.sum() == pytest.approx(1, abs=2e-6)
        assert q.sum() == pytest.approx(1, abs=2e-6)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(p / q)[p > 0].max()
        assert ratio <= row.law.epsilon(*pair) + 1e-9


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.name)
def test_sound_means_at_most_the_claim_and_broken_means_more(row):
    assert (row.epsilon() <= row.claim.epsilon * (1 + 1e-12)) == row.sound


# Laplace


def test_intervals_of_laplace_noise():
    low, high = np.array([-np.inf, -30, -1, 0, 2, 700]), np.array([-30.0, -29, 3, 0.5, np.inf, 701])
    exact = [mpmath.quad(lambda x: mpmath.exp(-abs(x) / 3) / 6, [a, *((0,) if a < 0 < b else ()), b])
             for a, b in zip(low.tolist(), high.tolist())]  # fmt: skip
    assert laplace.interval(low, high, 3.0) == pytest.approx([float(x) for x in exact], rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.0), (1.0, 2.0)])
def test_the_likelihood_ratio_of_laplace_vectors(a, b):
    x = np.random.default_rng(1).normal(1, 30, (50, 3))
    data, other = vector(a, 1, 2), vector(b, 1, 2)
    exact = (stats.laplace.logpdf(x, data, 7) - stats.laplace.logpdf(x, other, 7)).sum(axis=1)
    assert LaplaceVector(7.0).log_likelihood_ratio(x, data, other) == pytest.approx(exact, abs=1e-13)
    exact = (stats.laplace.logpdf(x, a, 7) - stats.laplace.logpdf(x, b, 7)).sum(axis=1)
    assert RepeatedLaplace(7.0, 3).log_likelihood_ratio(x, data[:1], other[:1]) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("centre", [0, 1])
def test_the_law_of_two_releases_is_that_of_a_convolution_by_quadrature(centre):
    """P(two losses, scale 2, inputs 0 and 1, add up to t or more): over one output, the other's tail in closed form.

    Cell i holds sums of losses from 1 - i / STEPS to 1 - (i - 2) / STEPS, so that the probabilities are ordered.
    """

    def tail(t, x):  # P(|y - 1| - |y| >= 2 t - (|x - 1| - |x|))
        need = 2 * t - (abs(x - 1) - abs(x))
        return stats.laplace.cdf((1 - need) / 2, centre, 2) if -1 < need <= 1 else float(need <= -1)

    def at_least(t):
        ends = sorted({-60, 0, 1, 60, *(x for x in (0.5 - t + 0.5, 0.5 - t - 0.5) if 0 < x < 1)})
        return sum(
            integrate.quad(lambda x: tail(t, x) * stats.laplace.pdf(x, centre, 2), a, b, epsabs=1e-12)[0]
            for a, b in pairwise(ends)
        )

    cells = RepeatedLaplace(2.0, 2).cells(vector(0), vector(1))[centre]
    assert cells[0] == pytest.approx(0.25 * np.exp(-centre))
    for i in (40, 280, 399, 600):
        below, above = at_least(1 - (i - 2) / laplace.STEPS), at_least(1 - i / laplace.STEPS)
        assert below - 1e-9 <= cells[: i + 1].sum() <= above + 1e-9
        assert above - below < 3e-3


# Noisy max


@pytest.mark.parametrize("gap", [0.0, 0.3, 5.0, 60.0])
def test_the_larger_of_two_by_closed_form(gap):
    """A difference exceeds gap scales with probability e^-gap (2 + gap) / 4 (Laplace), e^-gap / 2 (exponential)."""
    for noise, exact in ((noisy_max.LAPLACE, (2 + gap) / 4), (noisy_max.EXPONENTIAL, 0.5)):
        found = noisy_max.index_probabilities(vector(0, gap * 20), noise, 20.0)
        assert found[0] == pytest.approx(exact * np.exp(-gap), rel=1e-11)
        assert found.sum() == pytest.approx(1, abs=1e-12)


def test_the_density_of_the_largest_value_is_the_slope_of_its_distribution():
    data, scale = vector(2, 0, 0, 2, 1), 20.0

    def below(x):
        return mpmath.fprod(-mpmath.expm1(-(x - int(a)) / mpmath.mpf(scale)) for a in data)

    for x in (2.001, 2.3, 9.0, 200.0):
        with mpmath.workdps(40):
            exact = mpmath.log(mpmath.diff(below, mpmath.mpf(x)))
        assert noisy_max.value_log_density(np.array([x]), data, scale)[0] == pytest.approx(float(exact), rel=1e-11)
    assert noisy_max.value_log_density(np.array([1.9, 2.0]), data, scale).tolist() == [-np.inf, -np.inf]
    ratio = NoisyMaxValue(scale).log_likelihood_ratio(vector(0.5, 1.5, 2.5), vector(1, 1), vector(2, 2))
    assert ratio[0] == 0
    assert ratio[1] == np.inf
    assert np.isfinite(ratio[2])


# Sparse vector


def searched(answers, data, threshold, threshold_scale, query_scale):
    """P(these answers of one stretch) by scipy: an integral over the threshold's noise."""

    def inside(z):
        chance = stats.laplace.pdf(z, 0, threshold_scale)
        for answer, query in zip(answers, data):
            tail = stats.laplace.sf if answer else stats.laplace.cdf
            chance *= tail(threshold + z - query, 0, query_scale)
        return chance

    ends = [-30 * threshold_scale, -1, 0, 1, 30 * threshold_scale]
    return sum(integrate.quad(inside, a, b, epsabs=1e-13, limit=200)[0] for a, b in pairwise(ends))


def test_answers_are_all_that_there_are():
    assert sparse_vector.answers(3, 1).tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, -1], [1, -1, -1]]
    assert len(sparse_vector.answers(10, 10)) == 1024


@pytest.mark.parametrize(("positives", "redraws"), [(1, False), (2, False), (2, True), (None, False)])
def test_searches_are_those_of_scipy(positives, redraws):
    data = vector(2, 0, 1, 0)
    mechanism = SparseVector(1.0, 20.0, 30.0, positives, redraws)
    table = mechanism.probabilities(data)
    for row, found in zip(sparse_vector.answers(4, positives or 4), table):
        row = row[row >= 0]
        parts, start = [], 0
        cuts = [i + 1 for i in np.flatnonzero(row)] if redraws else []
        for end in [*cuts, len(row)]:
            if end > start:
                parts.append(searched(row[start:end], data[start:end], 1.0, 20.0, 30.0))
                start = end
        assert found == pytest.approx(np.prod(parts), rel=1e-8)
    assert table.sum() == pytest.approx(1, abs=1e-12)


def test_drawing_the_threshold_anew_changes_nothing_where_the_first_positive_ends_the_search():
    for x in ROWS["svt_1"].pairs[3]:
        one, two = (ROWS[name].mechanism.probabilities(x) for name in ("svt_1", "svt_2"))
        assert one == pytest.approx(two, rel=1e-12)


def test_a_search_without_query_noise_asks_in_which_interval_the_threshold_lies():
    """Queries 2, 0, 1 and threshold 1 + z: all above if z <= -1, then 0 falls out, then 1 (z > 0), then 2 (z > 1)."""
    table = NoiselessSearch(1.0, 20.0).probabilities(vector(2, 0, 1))
    exact = {(1, 1, 1): (-np.inf, -1), (1, 0, 1): (-1, 0), (1, 0, 0): (0, 1), (0, 0, 0): (1, np.inf)}
    for row, found in zip(sparse_vector.answers(3, 3), table):
        low, high = exact.get(tuple(row.tolist()), (0, 0))
        assert found == pytest.approx(stats.laplace.cdf(high, 0, 20) - stats.laplace.cdf(low, 0, 20), rel=1e-12)


@pytest.mark.parametrize("data", [(1.0,) * 10, (2.0, 0, 0, 0, 0, 0, 0, 0, 0, 0)])
def test_first_values_are_those_of_mpmath(data):
    law, scale = first_value.FirstValue(np.array(data), 1.0, 20.0), mpmath.mpf(20)

    def cdf(x):
        return mpmath.exp(x / scale) / 2 if x < 0 else 1 - mpmath.exp(-x / scale) / 2

    def slope(z, k):
        return mpmath.exp(-abs(z - 1) / scale) / (2 * scale) * mpmath.fprod(cdf(z - q) for q in data[:k])

    for k in (0, 3, 9):
        for v in (-400.0, -3.0, 0.5, 1.7, 30.0, 900.0):
            ends = [min(v, 0) - x for x in (900, 300, 100, 30)] + [x for x in (-100, 0, 1, 2, 100) if x < v] + [v]
            unit = slope(v, k)  # quad's tolerance is absolute
            exact = mpmath.log(unit * mpmath.quad(lambda z, k=k, unit=unit: slope(z, k) / unit, ends))
            exact += -abs(v - data[k]) / scale - mpmath.log(2 * scale)
            assert law.log_density(k, np.array([v]))[0] == pytest.approx(float(exact), abs=1e-8)
    none = mpmath.quad(lambda z: slope(z, 10), [-300, -100, 0, 1, 2, 100, 400, 900])
    assert np.exp(law.log_none) == pytest.approx(float(none), rel=1e-8)


def test_the_ratio_of_first_values_takes_each_output_for_what_it_is():
    mechanism = FirstValueSearch(1.0, 20.0)
    data, other = ROWS["svt_3"].pairs[4]
    outputs = np.array([[0, 3.0], [7, -12.0], [10, 0.0]])
    laws = [first_value.first_value(x, 1.0, 20.0) for x in (data, other)]
    exact = [law.log_density(0, vector(3.0))[0] for law in laws], [law.log_density(7, vector(-12.0))[0] for law in laws]
    ratio = mechanism.log_likelihood_ratio(outputs, data, other)
    assert ratio[:2] == pytest.approx([one - two for one, two in exact], abs=1e-12)
    assert ratio[2] == pytest.approx(laws[0].log_none - laws[1].log_none, abs=1e-12)


# Geometric noise, bits


@pytest.mark.parametrize(("n", "k"), [(5, 3), (5, 5), (2, 1)])
def test_the_fractions_of_the_sampler_are_the_law_of_geometric_noise(n, k):
    """The sampler's integers against the closed form; exact fractions of a hand-made sum for the noise's law."""
    mechanism, alpha = TruncatedGeometric(n, k), Fraction(2**k, 2**k + 1)
    for count in range(n + 1):
        cumulated = [int(x) for x in mechanism._cumulated(count)]
        exact = [Fraction(0)] * (n + 1)
        for z in range(-count + 1, n - count):
            exact[count + z] = (1 - alpha) / (1 + alpha) * alpha ** abs(z)
        if count > 0:
            exact[0] = alpha**count / (1 + alpha)
        if count < n:
            exact[n] = alpha ** (n - count) / (1 + alpha)
        if count in (0, n):
            exact[count] = 1 - sum(exact)
        assert [Fraction(b - a, cumulated[-1]) for a, b in zip([0, *cumulated], cumulated)] == exact
        assert mechanism.probabilities(vector(count)) == pytest.approx([float(x) for x in exact], rel=1e-13)


@pytest.mark.parametrize(("f", "p", "q"), [(0.75, 0.45, 0.55), (0.95, 0.0, 1.0), (0.5, 0.2, 0.9)])
def test_bits_by_enumeration(f, p, q):
    """Every reported word of 5 bits: its probability as a product over bits and lasting answers."""
    true, other = np.array([1, 1, 0, 0, 1], bool), np.array([0, 1, 1, 0, 1], bool)

    def chance(word, filled):
        total = 1.0
        for reported, bit in zip(word, filled):
            lasting = {1: f / 2 + (1 - f) * bit, 0: f / 2 + (1 - f) * (1 - bit)}
            is_set = lasting[1] * q + lasting[0] * p
            total *= is_set if reported else 1 - is_set
        return total

    exact = Counter()
    for word in product((0, 1), repeat=5):
        exact[(word[0], word[2])] += np.array([chance(word, true), chance(word, other)])
    found = np.column_stack(bits.cells(true, other, *bits.set_probabilities(f, p, q)))
    assert found == pytest.approx(np.array([exact[key] for key in product((0, 1), repeat=2)]), rel=1e-12)
    largest = max(chance(word, true) / chance(word, other) for word in product((0, 1), repeat=5) if chance(word, other))
    mechanism = Rappor(f, p, q, size=5)
    object.__setattr__(mechanism, "bits", lambda data: true if data[0] else other)
    assert mechanism.epsilon(vector(1), vector(0)) == pytest.approx(np.log(largest), rel=1e-12)
    words = np.array(list(product((False, True), repeat=5)))
    exact = [np.log(chance(word, true) / chance(word, other)) for word in words.astype(int)]
    assert mechanism.log_likelihood_ratio(words, vector(1), vector(0)) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("name", ["rappor", "one_time_rappor"])
def test_the_inputs_of_rappor_differ_in_six_bits(name):
    for x, y in ROWS[name].pairs:
        assert np.count_nonzero(ROWS[name].mechanism.bits(x) != ROWS[name].mechanism.bits(y)) == 6


# Floating point


def test_origins_are_counted_as_enumeration_does():
    """With 10 bits there are 2048 ways to an output; all of them, from either input, and outputs that none gives."""
    mechanism = InvertedLaplace(10.0, bits=10)
    numerators = np.arange(1, 2**10 + 1)
    noise = 10 * -np.log(numerators / 2**10)
    outputs = {x: np.concatenate([x + noise, x - noise]) for x in (1.0, 2.0)}
    for answer in (1.0, 2.0):
        ways, values = Counter(outputs[answer].tolist()), np.concatenate([*outputs.values(), vector(0.1234)])
        assert mechanism.origins(values, answer).tolist() == [ways[value] for value in values.tolist()]
    ratio = mechanism.log_likelihood_ratio(vector(*outputs[1.0][:50]), vector(1), vector(2))
    one, two = (Counter(outputs[x].tolist()) for x in (1.0, 2.0))
    exact = [np.log(one[v] / two[v]) if two[v] else np.inf for v in outputs[1.0][:50]]
    assert ratio.tolist() == pytest.approx(exact)


def test_every_output_of_53_bits_has_an_origin_and_most_have_none_on_the_neighbour():
    mechanism, rng = InvertedLaplace(10.0), np.random.default_rng(2)
    outputs = mechanism(vector(1), rng, 50_000)
    assert mechanism.origins(outputs, 1.0).min() >= 1
    assert np.mean(mechanism.origins(outputs, 2.0) == 0) > 0.5


def test_the_law_of_the_snapped_sampler():
    """Outputs are multiples of 16 up to +-96, and +-100: cut at the odd multiples of 8 (104 and beyond are clamped)."""
    mechanism = SnappedLaplace(0.1, 100.0)
    assert mechanism.grid == 16
    edges = [-np.inf, -104, *range(-88, 89, 16), 104, np.inf]
    exact = np.diff(stats.laplace.cdf(edges, 1, mechanism.scale))
    assert mechanism.values().tolist() == [-100, *range(-96, 97, 16), 100]
    assert mechanism.probabilities(vector(1)) == pytest.approx(exact, rel=1e-12)
