"""The gallery's samplers against its exact laws, at fixed seeds.

Every check fails with probability at most 1e-6 if sampler and law agree; there are fewer than 300 of them, so that a
false alarm has probability below 3e-4 (for one choice of seeds, once).
"""

from itertools import pairwise

import numpy as np
import pytest
from audit_gallery.laws import laplace
from audit_gallery.laws.first_value import first_value
from audit_gallery.mechanisms import SparseVector
from audit_gallery.mechanisms.base import Discrete
from audit_gallery.rows import rows
from scipy import integrate, stats

ROWS = {row.name: row for row in rows()}
RARE = 1e-6
TRIALS = 200_000
DISCRETE = [row for row in rows() if isinstance(row.mechanism, Discrete)]


def rng(seed):
    return np.random.Generator(np.random.SFC64(seed))


def assert_counts(counts, probabilities):
    """Chi-square over cells that are expected 10 times or more; the others together are one cell."""
    expected = probabilities * counts.sum()
    few = expected < 10
    counts = np.append(counts[~few], counts[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    keep = expected > 1e-12
    assert counts[~keep].sum() == 0
    if keep.sum() > 1:
        assert stats.chisquare(counts[keep], expected[keep] / expected[keep].sum() * counts.sum()).pvalue > RARE


@pytest.mark.parametrize("row", DISCRETE, ids=lambda row: row.name)
def test_discrete_outputs_have_the_probabilities_of_the_table(row):
    for i, data in enumerate((row.pairs[0][0], row.pairs[0][1], row.pairs[-1][0], row.pairs[-1][1])):
        table = row.mechanism.probabilities(data)
        numbers = row.mechanism.numbers(row.mechanism(data, rng(i), TRIALS), len(data))
        assert_counts(np.bincount(numbers, minlength=len(table)), table)


@pytest.mark.parametrize(("positives", "redraws"), [(2, False), (2, True)])
def test_searches_for_two_positives(positives, redraws):
    """The two versions differ here: each fits its own law, and not the other's."""
    data = np.array([2.0, 0, 2, 0])
    mechanism = SparseVector(1.0, 5.0, 0.5, positives, redraws)
    other = SparseVector(1.0, 5.0, 0.5, positives, not redraws)
    counts = np.bincount(mechanism.numbers(mechanism(data, rng(5), TRIALS), 4), minlength=11)
    assert_counts(counts, mechanism.probabilities(data))
    with pytest.raises(AssertionError):
        assert_counts(counts, other.probabilities(data))


@pytest.mark.parametrize("name", ["laplace", "noisy_hist_1", "noisy_hist_2", "laplace_parallel"])
def test_laplace_outputs(name):
    """Every coordinate by Kolmogorov and Smirnov; no correlation of coordinates, nor of their absolute values."""
    mechanism, data = ROWS[name].mechanism, ROWS[name].pairs[0][1]
    outputs = mechanism(data, rng(6), TRIALS)
    centres = np.repeat(data, outputs.shape[1] // len(data))
    for x, centre in zip(outputs.T, centres):
        assert stats.kstest(laplace.cdf(x - centre, mechanism.scale), "uniform").pvalue > RARE
    for x, y in zip(outputs.T, outputs.T[1:]):
        assert abs(np.corrcoef(x, y)[0, 1]) < 5 / np.sqrt(TRIALS)
        assert abs(np.corrcoef(abs(x), abs(y))[0, 1]) < 5 / np.sqrt(TRIALS)


@pytest.mark.parametrize("index", range(9))
def test_the_largest_value(index):
    row = ROWS["noisy_max_4"]
    for data in row.pairs[index]:
        outputs = row.mechanism(data, rng(7 + index), TRIALS)
        below = -np.expm1(-np.maximum(outputs[:, None] - data, 0) / row.mechanism.scale)
        assert stats.kstest(below.prod(axis=1), "uniform").pvalue > RARE


def density(v, law, k):
    return np.exp(law.log_density(k, np.array(v)))


@pytest.mark.parametrize("index", [0, 2, 6, 8])
def test_first_values(index):
    """Which answer it is and, of the first and the fourth, in which tenth of their range the value lies."""
    row = ROWS["svt_3"]
    for data in row.pairs[index]:
        law = first_value(data, 1.0, 20.0)
        outputs = row.mechanism(data, rng(20 + index), TRIALS)
        edges = np.array([-60.0, -20, -8, -2, 0, 1, 2, 5, 12, 30, 90])
        for k in (0, 3):
            exact = [integrate.quad(density, a, b, args=(law, k))[0] for a, b in pairwise(edges)]
            counts = np.histogram(outputs[outputs[:, 0] == k, 1], edges)[0]
            assert_counts(np.append(counts, TRIALS - counts.sum()), np.append(exact, 1 - sum(exact)))
        none = np.count_nonzero(outputs[:, 0] == len(data))
        assert stats.binomtest(none, TRIALS, np.exp(law.log_none)).pvalue > RARE


@pytest.mark.parametrize("name", ["rappor", "one_time_rappor"])
def test_reported_bits(name):
    """Each bit on its own, and the number of bits that agree with the input: a convolution if bits are independent."""
    mechanism, data = ROWS[name].mechanism, ROWS[name].pairs[0][0]
    outputs, true = mechanism(data, rng(40), TRIALS), mechanism.bits(data)
    kept = (outputs == true).sum(axis=0)
    m = mechanism
    chance = (1 - m.f / 2) * m.q + m.f / 2 * m.p  # of a bit that is set to be reported; the other way round by symmetry
    for hits in kept:
        assert stats.binomtest(int(hits), TRIALS, chance).pvalue > RARE
    agreeing = np.bincount((outputs == true).sum(axis=1), minlength=21)
    assert_counts(agreeing, stats.binom.pmf(np.arange(21), 20, chance))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_samplers_and_likelihood_ratios_belong_together(row):
    """Q(L > t) = E_P[e^-L; L > t] for t in the middle of the losses, whatever the law: 6 standard errors apart at most.

    The ratio is bounded on the event, so that the normal limit holds: 6 standard errors are 2e-9.
    """
    for i, (data, other) in enumerate((row.pairs[0], row.pairs[-1][::-1])):
        one, two = (row.mechanism(x, rng(60 + 2 * i + j), TRIALS) for j, x in enumerate((data, other)))
        one, two = (row.mechanism.log_likelihood_ratio(x, data, other) for x in (one, two))
        for level in (0.1, 0.5, 0.9):
            t = np.quantile(np.concatenate([one, two]), level, method="lower")
            with np.errstate(over="ignore"):
                weights, hits = np.where(one > t, np.exp(-one), 0.0), two > t
            if t > -20:
                error = np.sqrt((weights.var() + hits.var()) / TRIALS) + 1e-12
                assert abs(weights.mean() - hits.mean()) < 6 * error


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_samplers_are_functions_of_the_generator_and_draw_any_number_of_trials(row):
    data = row.pairs[0][0]
    one, two, three = (row.mechanism(data, rng(seed), 1001) for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, three)
    assert all(len(row.mechanism(data, rng(3), trials)) == trials for trials in (1, 40_000))
