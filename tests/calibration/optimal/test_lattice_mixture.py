"""Noise on several lattices: against sums over its points, listed by hand; and what it may not be."""

from math import exp

import numpy as np
import pytest
from scipy.stats import chisquare

from tcdp_sim import exact
from tcdp_sim.calibration.optimal import LatticeMixture, MeanAbsoluteError, MeanSquaredError, optimal_noise
from tcdp_sim.exact import record_epsilon, record_policy
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.privacy import ApproxDP

INTEGERS, SHIFTED = (-0.5, 0.0, -0.5), (0.3, 0.1, -1.0, -2.0)
TWO = LatticeMixture((-1.0, -1.7), (INTEGERS, SHIFTED))
BEST = optimal_noise(ApproxDP(0.3, 0.1), MeanSquaredError()).noise
BOTH = pytest.mark.parametrize("noise", [TWO, BEST])


def atoms(noise):
    """Every point with its probability, by the definition; points that differ by rounding are one."""
    total = sum(exp(each) for table in noise.log_mass for each in table)
    law = []
    for first, table in zip(noise.first, noise.log_mass):
        law += [(sign * (first + i), exp(each) / total / 2) for i, each in enumerate(table) for sign in (-1, 1)]
    law.sort()
    x, p = np.array(law).T
    starts = np.flatnonzero(np.append(True, np.diff(x) > 1e-8))
    return x[starts], np.add.reduceat(p, starts)


@BOTH
def test_probabilities_tails_and_moments_are_sums(noise):
    x, p = atoms(noise)
    assert p.sum() == pytest.approx(1.0, rel=1e-14)
    assert np.exp(noise.logpdf(x)) == pytest.approx(p, rel=1e-12)
    assert noise.logpdf([0.123, 50.0]).tolist() == [-np.inf, -np.inf]
    assert np.isnan(noise.logpdf(np.nan))
    for y in (-9.0, -1.7, -1.0, -0.31, 0.0, 0.3, 0.7, 1.0, 1.3, 2.0, 2.31, 9.0):
        assert noise.sf(y) == pytest.approx(p[x > y + 1e-8].sum(), rel=1e-12, abs=1e-16)
        assert noise.cdf(y) == pytest.approx(p[x <= y + 1e-8].sum(), rel=1e-12, abs=1e-16)
    assert noise.logsf(0.0) == pytest.approx(np.log(p[x > 0].sum()), rel=1e-12)
    assert noise.logcdf(-9.0) == -np.inf
    assert noise.var() == pytest.approx(p @ x**2, rel=1e-12)
    assert noise.mean_abs() == pytest.approx(p @ np.abs(x), rel=1e-12)
    assert MeanAbsoluteError()(noise) == noise.mean_abs()


@BOTH
@pytest.mark.parametrize("q", [0.0, 1e-9, 0.01, 0.2, 0.31, 0.45, 0.5, 0.55, 0.69, 0.88, 0.999, 1.0])
def test_quantiles_are_the_least_points(noise, q):
    x, p = atoms(noise)
    above = np.append(np.cumsum(p[::-1])[::-1][1:], 0.0)
    assert noise.isf(q) == pytest.approx(x[np.flatnonzero(above <= q + 1e-13)[0]], abs=1e-8)
    assert np.isnan(noise.isf([-0.1, 1.1])).all()


@BOTH
def test_draws_follow_the_law(noise):
    """A false alarm in 1e-6 of seeds each."""
    draws = noise.sample(200_000, rng=np.random.default_rng(5))
    x, p = atoms(noise)
    seen = np.array([(np.abs(draws - each) < 1e-8).sum() for each in x])
    assert seen.sum() == len(draws)
    assert chisquare(seen, p / p.sum() * len(draws)).pvalue > 1e-6
    assert noise.sample(rng=np.random.default_rng(1)).shape == ()
    assert noise.sample((2, 3), rng=np.random.default_rng(1)).shape == (2, 3)


@BOTH
@pytest.mark.parametrize("shift", [1, 3, 40])
def test_delta_is_a_sum_over_points(noise, shift):
    x, p = atoms(noise)
    there = np.array([p[np.abs(x - (each - shift)) < 1e-8].sum() for each in x])
    for epsilon in (0.0, 0.3, 0.5, 2.0):
        found = exact.hockey_stick(noise, shift, epsilon)
        truth = np.maximum(p - exp(epsilon) * there, 0).sum()
        assert found.lower <= truth * (1 + 1e-12)
        assert truth <= found.upper * (1 + 1e-12)
        assert found.upper - found.lower <= 1e-11
        assert exact.hockey_stick(noise, -shift, epsilon) == found


def test_the_best_noise_keeps_its_promise_and_no_other():
    """(0.3, 0.1)-DP; infinite at every Renyi order, as its support is bounded; nothing where counts move by a half."""
    delta = exact.hockey_stick(BEST, 1.0, 0.3)
    assert 0.1 * (1 - 1e-11) < delta.lower <= 0.1
    assert record_epsilon(AdditiveRelease(BEST), 1.0, 0.1).estimate == pytest.approx(0.3, rel=1e-8)
    assert exact.renyi_divergence(BEST, 1.0, [1.0, 2.0, np.inf]).lower.tolist() == [np.inf] * 3
    assert record_policy(AdditiveRelease(BEST), 1.0).lower == np.inf
    assert exact.hockey_stick(BEST, 0.5, 3.0) == (1, 1, 1)


@pytest.mark.parametrize(
    ("first", "tables", "message"),
    [
        ((0.0,), (), "at least one finite number"),
        ((), (), "at least one finite number"),
        ((0.1,), ((np.nan,),), "at least one finite number"),
        ((-1.0, -2.0), (INTEGERS, (0.0,) * 5), "lattices that differ"),
        ((-1.7, -1.3), (SHIFTED, SHIFTED), "lattices that differ"),
        ((-1.0,), (SHIFTED,), "mirrors itself"),
        ((-1.5,), ((0.0, 0.0, 0.0, -1.0),), "mirrors itself"),
    ],
)
def test_what_is_refused(first, tables, message):
    with pytest.raises(ValueError, match=message):
        LatticeMixture(first, tables)


def test_it_does_not_scale_and_is_not_calibrated():
    assert TWO.scaled(1.0) == TWO
    assert LatticeMixture((-1.0, -1.6), (INTEGERS, SHIFTED)) != TWO
    assert not LatticeMixture.can_meet(ApproxDP(1.0, 0.1))
    assert repr(TWO) == "LatticeMixture(2 runs, 7 points, standard deviation 1.06972)"
    with pytest.raises(ValueError, match="does not scale"):
        TWO.scaled(2.0)
