"""Whether a sample can have a known mean or quantile: levels by exact enumeration and by simulation."""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.statistics.one_sample import quantile_p_values, skewed


def points(values):
    """Bins that hold one number each."""
    found, counts = np.unique(values, return_counts=True)
    return found, found, counts


def test_against_the_binomial_test_of_scipy():
    """One side at a time: the smaller tail twice."""
    x = np.random.default_rng(1).normal(size=200)
    for q in (0.01, 0.3, 0.5, 0.95, 0.999):
        for exact in stats.norm.ppf(q) + np.array([-0.5, -0.1, 0.0, 0.1, 0.5]):
            below = int((x < exact).sum())
            tails = (stats.binomtest(below, 200, q, alternative=side).pvalue for side in ("less", "greater"))
            found = quantile_p_values(points(x), q, exact)
            assert found == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("mass", [0.05, 0.3, 0.5, 0.95])
@pytest.mark.parametrize("top", [1.0, np.inf])
def test_the_level_is_kept_for_laws_of_two_points(n, mass, top):
    """All outcomes enumerated: P[p <= a] <= a for every a, also where the quantile is at the jump."""
    hits = np.arange(n + 1)
    chance = stats.binom(n, mass).pmf(hits)
    for q in (0.05, 0.5, 0.7, 0.95):
        exact = top if 1 - mass < q else 0.0
        bins = [(np.array([0.0, top]), np.array([0.0, top]), np.array([n - k, k])) for k in hits]
        p = np.array([float(quantile_p_values(one, q, exact)) for one in bins])
        for level in p:
            assert chance[p <= level].sum() <= level * (1 + 1e-9)


def test_an_infinite_quantile_is_told_from_a_finite_one():
    """10% of the trials are infinite: so is the 95% quantile, and the 85% quantile is not."""
    bins = np.array([1.0, np.inf]), np.array([1.002, np.inf]), np.array([9000, 1000])
    assert quantile_p_values(bins, 0.95, 1.0017) < 1e-50
    assert quantile_p_values(bins, 0.95, np.inf) == 1
    assert quantile_p_values(bins, 0.85, np.inf) < 1e-40
    assert quantile_p_values(bins, 0.85, 1.001) == 1
    p = quantile_p_values(bins, 0.9, [1.001, np.inf, np.nan])
    assert (p[:2] > 0.9).all()
    assert np.isnan(p[2])
    assert np.isnan(quantile_p_values((np.zeros(0),) * 2 + (np.zeros(0, int),), 0.5, 1.0))


def test_trials_in_the_bin_of_the_exact_value_speak_for_it():
    bins = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]), np.array([100, 800, 100])
    assert quantile_p_values(bins, 0.5, 2.5) == 1
    assert quantile_p_values(bins, 0.85, 2.01) > 0.99
    expected = 2 * stats.binom.cdf(100, 1000, 0.5)
    assert quantile_p_values(bins, 0.5, 1.9) == pytest.approx(expected, rel=1e-9)
    assert quantile_p_values(bins, 0.5, 3.1) == pytest.approx(2 * stats.binom.sf(899, 1000, 0.5), rel=1e-9)


def test_distances_of_means():
    """By hand: Student's law at 1e12 trials is normal; 9 / sqrt(1 + 2 * 3 * 9 / 100) at 10,000 trials of skewness 3."""
    assert skewed(4.0, 1e12, 0.0) == pytest.approx(4.0, rel=1e-5)
    assert skewed(9.0, 1e4, 3.0 - np.sqrt(6e-4)) == pytest.approx(9 / np.sqrt(1.54), rel=3e-3)
    assert skewed(9.0, 1e4, -3.0) == skewed(-9.0, 1e4, 3.0)
    for trials, distance in ((5, 4.0), (100, 3.0)):
        shrunk = stats.norm.isf(stats.t(trials - 1).sf(distance))
        told = shrunk / np.sqrt(1 + 2 * np.sqrt(6 / trials) * shrunk / np.sqrt(trials))
        assert skewed(distance, trials, 0.0) == pytest.approx(told, rel=1e-9)
    far = skewed(np.geomspace(0.1, 1e5, 400), 1000, 5.0)
    assert (np.diff(far) > 0).all()
    assert skewed(np.array([0.0, np.inf]), 50, 9.0).tolist() == [0, np.inf]
