"""The held-out mechanisms: their exact epsilon against other sums, enumeration, and counts of their own outputs."""

from itertools import product
from math import inf, log

import numpy as np
import pytest
from audit_gallery.held_out import ClampedCount, FirstAboveWithValue, MaximumWithGap, held_out_rows
from audit_gallery.rows import rows
from scipy import stats

ROWS = {row.name: row for row in held_out_rows()}


def test_their_names_are_new_and_sound_ones_keep_their_claim():
    assert not set(ROWS) & {row.name for row in rows()}
    for row in ROWS.values():
        assert (row.epsilon() <= row.claim.epsilon * (1 + 1e-12)) == row.sound, row.name


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [("held_mean", 1.0), ("held_gap", 0.4), ("held_clamped", inf), ("held_labels", log(0.4 / 0.12))],
)
def test_epsilon_in_closed_form(name, epsilon):
    """One record moves the mean by 0.2 at scale 0.2; 2 / scale; only one input gives 5; 0.4 against 0.6 / 5."""
    assert ROWS[name].epsilon() == pytest.approx(epsilon, rel=1e-12)


def index_law(data):
    """Return the probabilities of each index and of none by the trapezoidal rule, with all kinks on its grid."""
    t = np.linspace(-80, 80, 160_001)
    weights, chances = stats.laplace(0, 2).pdf(t) * 1e-3, []
    for answer in data:
        chances.append(weights @ stats.laplace(answer, 4).sf(t))
        weights = weights * stats.laplace(answer, 4).cdf(t)
    law = np.array([*chances, weights.sum()])
    return law / law.sum()


def test_epsilon_of_a_first_value():
    """The best pair: the loss of the index, and 1/2 of a value that changes by 1 with noise of scale 2."""
    data, other = np.array([2.0, 2.0, 0.0, 0.0]), np.ones(4)
    losses = np.log(index_law(data) / index_law(other)) + np.array([0.5, 0.5, 0.5, 0.5, 0.0])
    assert FirstAboveWithValue(2.0, 4.0, 2.0).epsilon(data, other) == pytest.approx(losses.max(), rel=1e-6)
    assert ROWS["held_first_value"].epsilon() == pytest.approx(1.128479, abs=1e-6)


def test_indices_come_as_often_as_their_law_says():
    data = np.array([2.0, 0.0, 1.0])
    outputs = FirstAboveWithValue(2.0, 4.0, 2.0)(data, np.random.default_rng(1), 100_000)
    counts = np.bincount(outputs[:, 0].astype(int), minlength=4)
    assert stats.chisquare(counts, index_law(data) * 100_000).pvalue > 1e-6
    values = outputs[outputs[:, 0] == 0, 1]
    assert stats.kstest(values, stats.laplace(2, 2).cdf).pvalue > 1e-6
    assert not outputs[outputs[:, 0] == 3, 1].any()


@pytest.mark.parametrize("index", [0, 1, 2])
def test_the_density_of_a_gap_is_that_of_its_counts(index):
    """The share of an index with a gap in (2, 4], against the integral of the density."""
    mechanism, data = MaximumWithGap(5.0), np.array([2.0, 0.0, 1.0])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    expected = weights @ mechanism._density(data, index, 3 + nodes)
    outputs = mechanism(data, np.random.default_rng(2), 200_000)
    hits = np.count_nonzero((outputs[:, 0] == index) & (outputs[:, 1] > 2) & (outputs[:, 1] <= 4))
    assert abs(hits - 200_000 * expected) < 5 * np.sqrt(200_000 * expected)


def test_a_gap_says_at_most_twice_what_an_answer_says():
    """All pairs of three answers that change by 1 each: at most 2 / scale; 0 if all change alike."""
    mechanism = MaximumWithGap(5.0)
    for change in product([-1.0, 0.0, 1.0], repeat=3):
        epsilon = mechanism.epsilon(np.ones(3), np.ones(3) + change)
        assert epsilon <= 0.4 + 1e-9
        assert abs(epsilon) < 1e-9 or len(set(change)) > 1


@pytest.mark.parametrize("count", [0, 1])
def test_a_clamped_count_by_enumeration(count):
    ratio, away = 0.8, np.arange(-400, 401)
    table = np.zeros(6)
    np.add.at(table, np.clip(count + away, 0, 4 + count), (1 - ratio) / (1 + ratio) * ratio ** np.abs(away))
    assert np.allclose(ClampedCount(ratio)._table(count, 6), table, rtol=1e-12)
    assert ClampedCount(ratio).epsilon([0.0], [1.0]) == pytest.approx(log(4), rel=1e-12)
