"""Two-sample tests: exact where they say so, never alarmed too often, whatever the law and the sizes."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tcdp_sim.statistics.two_samples import (
    FALSE_DISCOVERIES,
    ROUNDING,
    SCREEN,
    beyond_chance,
    same_mean,
    same_share,
)


def fisher(hits_a, n, hits_b, m):
    """The smaller tail twice, from binomial coefficients."""
    hits = hits_a + hits_b
    ways = {k: comb(n, k) * comb(m, hits - k) for k in range(max(0, hits - m), min(n, hits) + 1)}
    lower = sum(w for k, w in ways.items() if k <= hits_a)
    upper = sum(w for k, w in ways.items() if k >= hits_a)
    return min(1.0, 2 * min(lower, upper) / comb(n + m, hits))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (8, 8), (3, 40), (40, 3), (25, 30)])
def test_shares_against_binomial_coefficients(n, m):
    """Every table of these sizes. What the normal law screens out is no alarm, which is all that is used of it."""
    hits_a, hits_b = (x.ravel() for x in np.meshgrid(np.arange(n + 1), np.arange(m + 1)))
    _, found = same_share(hits_a, np.full_like(hits_a, n), hits_b, np.full_like(hits_b, m))
    exact = np.array([fisher(int(a), n, int(b), m) for a, b in zip(hits_a, hits_b)])
    close = np.isclose(found, exact, rtol=1e-10)
    assert (close | (found > SCREEN)).all()
    assert (exact[~close] > 0.01).all()


@pytest.mark.parametrize(("n", "m", "share"), [(30, 30, 0.5), (20, 200, 0.02), (200, 20, 0.02), (60, 60, 0.95)])
@pytest.mark.parametrize("level", [0.01, 0.001])
def test_equal_shares_alarm_no_more_often_than_promised(n, m, share, level):
    """The probability itself, summed over all outcomes: no false alarm can come of this test."""
    hits_a, hits_b = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    _, p_value = same_share(hits_a.ravel(), np.full(hits_a.size, n), hits_b.ravel(), np.full(hits_a.size, m))
    weight = np.outer(stats.binom.pmf(np.arange(n + 1), n, share), stats.binom.pmf(np.arange(m + 1), m, share))
    assert weight.ravel()[p_value <= level].sum() <= level


def test_shares_of_long_runs():
    """Against the normal law, which is right to a few per cent there, and of the most trials that can be asked for."""
    n = np.array([10**6, 10**9, 10**12])
    hits = n // 2
    more = hits + (3 * np.sqrt(n / 2)).astype(np.int64)
    distance, p_value = same_share(hits, n, more, n)
    np.testing.assert_allclose(distance, 3, rtol=0.01)
    np.testing.assert_allclose(p_value, 2 * stats.norm.sf(distance), rtol=0.03)


def test_an_event_that_all_or_none_have_does_not_differ():
    distance, p_value = same_share(np.array([0, 7]), np.array([9, 7]), np.array([0, 30]), np.array([4, 30]))
    np.testing.assert_array_equal(distance, 0)
    np.testing.assert_array_equal(p_value, 1)


def moments(x):
    return x.mean(axis=1), x.std(axis=1, ddof=1), np.full(len(x), x.shape[1])


LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "lognormal": lambda rng, size: rng.lognormal(sigma=1.5, size=size),
    "pareto": lambda rng, size: rng.pareto(2.2, size),
    "rare": lambda rng, size: (rng.random(size) < 1e-3).astype(float),
    "almost always": lambda rng, size: (rng.random(size) > 1e-3).astype(float),
    "constant": lambda rng, size: np.full(size, 0.3),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "m"), [(2, 3), (100, 100), (50, 3000)])
def test_equal_means_alarm_no_more_often_than_promised(law, n, m):
    """3000 pairs a case. More than 48 at 1% or 10 at 0.1% by chance: less than once in 1000 times each, were the test
    exact; the 36 comparisons together: once in 50. (Of lognormal samples of 50 and 3000 each run's own variance
    alone would alarm 10 times too often.)"""
    rng = np.random.default_rng(17)
    a, b = (np.concatenate([LAWS[law](rng, (300, size)) for _ in range(10)]) for size in (n, m))
    _, p_value = same_mean(moments(a), moments(b))
    for level, most in ((0.01, 48), (0.001, 10)):
        assert stats.binom.sf(most, 3000, level) < 1e-3
        assert (p_value <= level).sum() <= most


def test_each_runs_own_variance_alone_would_alarm_too_often():
    """Why the larger of two standard errors is taken."""
    rng = np.random.default_rng(18)
    a, b = (rng.lognormal(sigma=1.5, size=(2000, size)) for size in (50, 3000))
    gap = a.mean(axis=1) - b.mean(axis=1)
    own = np.sqrt(a.var(axis=1, ddof=1) / 50 + b.var(axis=1, ddof=1) / 3000)
    assert np.mean(np.abs(gap) > stats.t.isf(0.005, 49) * own) > 0.05


def test_means_that_differ_are_found():
    """By 7 standard errors: a p-value above 1e-4 would mean more than 3 of them below, once in 700 times a pair."""
    rng = np.random.default_rng(19)
    a, b = rng.standard_normal((50, 4000)), rng.standard_normal((50, 1000)) + 7 * np.sqrt(1 / 4000 + 1 / 1000)
    distance, p_value = same_mean(moments(a), moments(b))
    assert np.sum(p_value > 1e-4) <= 2
    assert distance.mean() == pytest.approx(7, abs=4 / np.sqrt(50))


def test_equal_variances_and_sizes_give_students_test():
    rng = np.random.default_rng(20)
    a = rng.standard_normal((20, 400))
    b = a[:, ::-1] + 0.1 * np.linspace(0, 1, 20)[:, None]
    distance, p_value = same_mean(moments(a), moments(b))
    known = stats.ttest_ind(a, b, axis=1)
    np.testing.assert_allclose(distance, np.abs(known.statistic), rtol=1e-9, atol=1e-9)
    assert (p_value >= known.pvalue * (1 - 1e-9)).all()  # fewer degrees of freedom: 399, not 798
    np.testing.assert_allclose(p_value, known.pvalue, rtol=0.05)


def test_constants():
    """Different ones can still come from one law of two values, as often as all of one sample precede the other."""
    n = np.array([3, 1000, 1000])
    a, b = np.array([1.0, 1.0, 1.0]), np.array([2.0, 2.0, 1 + ROUNDING / 2])
    distance, p_value = same_mean((a, 0 * a, n), (b, 0 * b, n))
    np.testing.assert_array_equal(distance, [np.inf, np.inf, 0])
    np.testing.assert_allclose(p_value, [2 / comb(6, 3), 0, 1])


# Which of many (Benjamini and Hochberg), against scipy


def compared(p_values):
    return pd.DataFrame({"p_value": p_values, "distance": stats.norm.isf(np.asarray(p_values) / 2)})


def test_false_discoveries_against_scipy():
    rng = np.random.default_rng(3)
    for wrong in (0, 1, 30):
        p_values = np.concatenate([rng.random(200), rng.random(wrong) * 1e-4])
        found = beyond_chance(compared(p_values))
        expected = np.sort(p_values[stats.false_discovery_control(p_values) <= FALSE_DISCOVERIES])
        np.testing.assert_array_equal(found["p_value"], expected)
        assert found.attrs["comparisons"] == len(p_values)


def test_large_p_values_may_be_left_out():
    rng = np.random.default_rng(4)
    p_values = np.concatenate([rng.random(500), rng.random(20) * 1e-4])
    found = beyond_chance(compared(p_values[p_values <= FALSE_DISCOVERIES]), len(p_values))
    pd.testing.assert_frame_equal(found, beyond_chance(compared(p_values)))


def test_equal_p_values_are_ordered_by_distance():
    found = beyond_chance(pd.DataFrame({"p_value": [0.0, 1e-9, 0.0], "distance": [50.0, 6.0, 90.0]}))
    assert list(found["distance"]) == [90, 50, 6]


def test_nothing_compared():
    found = beyond_chance(pd.DataFrame({"p_value": [], "distance": []}))
    assert found.empty
    assert found.attrs["comparisons"] == 0
