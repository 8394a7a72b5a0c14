"""Exact laws of the extremes against 50 digits, and the papers' claims that they settle."""

import mpmath as mp
import numpy as np
import pytest
from exact_references import NOISES, power_of_cdf, sf

from tcdp_sim.bounds.accuracy import histogram_error_bound, zcdp_printed_radius
from tcdp_sim.calibration import calibrate
from tcdp_sim.exact import extremes, max_abs_quantile, max_abs_sf, max_quantile
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.privacy import TCDP, ZCDP

COUNTS = [1, 1.5, 2, 10, 1e3, 1e6, 1e12, 1e16, 1e100, 1e300]
LEVELS = [1e-300, 1e-20, 1e-9, 0.01, 0.25, 0.5, 0.95, 0.999, 1 - 1e-9]
noises = pytest.mark.parametrize("noise", NOISES, ids=repr)


def log_of_cdf(noise, x):
    if x >= 0:
        return mp.log1p(-sf(noise, x))
    return mp.log(sf(noise, -x)) if sf(noise, -x) else -mp.inf


def log_of_abs_cdf(noise, x):
    return mp.log1p(-2 * sf(noise, x)) if x > 0 else -mp.inf


def check_contains(noise, log_cdf, count, q, bounds):
    """The quantile lies in the bounds: the law at the ends brackets q."""
    assert bounds.lower <= bounds.estimate <= bounds.upper
    assert count * log_cdf(noise, bounds.lower) <= mp.log(q) <= count * log_cdf(noise, bounds.upper)


@noises
@pytest.mark.parametrize("count", COUNTS)
def test_the_quantile_of_the_maximum_lies_in_its_bounds(noise, count):
    for q in LEVELS:
        check_contains(noise, log_of_cdf, mp.mpf(count), q, max_quantile(noise, count, q))


@noises
@pytest.mark.parametrize("count", COUNTS)
def test_the_quantile_of_the_largest_size_lies_in_its_bounds(noise, count):
    for q in LEVELS:
        check_contains(noise, log_of_abs_cdf, mp.mpf(count), q, max_abs_quantile(noise, count, q))


@noises
@pytest.mark.parametrize("quantile", [max_quantile, max_abs_quantile])
def test_the_bounds_of_quantiles_are_narrow(noise, quantile):
    """To 3e-11 of the quantile, or near zero, where only absolute accuracy can be had, to 1e-13 of the scale."""
    for count in COUNTS:
        lower, estimate, upper = quantile(noise, count, np.array(LEVELS))
        assert np.all(upper - lower <= 3e-11 * np.abs(estimate) + 1e-13 * noise.isf(0.01))


@noises
@pytest.mark.parametrize("count", COUNTS)
def test_exceedance_probabilities(noise, count):
    thresholds = np.concatenate([[0, 1e-9], noise.isf([0.49, 0.1, 1e-3, 1e-12, 1e-100, 1e-290]), [100 * noise.scale]])
    bounds = max_abs_sf(noise, count, thresholds)
    for threshold, lower, estimate, upper in zip(thresholds, *bounds):
        tail = 2 * sf(noise, threshold)
        exact = 1 - mp.mpf(0) if tail == 1 else -mp.expm1(count * mp.log1p(-tail))
        if exact > 1e-290:
            assert lower <= exact <= upper
            assert upper - lower <= 3e-11 * estimate
        else:
            assert 0 <= estimate <= 2e-290


@noises
def test_nothing_exceeds_the_largest_size_at_infinity_and_everything_does_at_zero(noise):
    assert max_abs_sf(noise, 1e6, np.inf).estimate == 0
    assert max_abs_sf(noise, 1e6, 0).estimate == 1


@noises
def test_exceedance_of_a_quantile_is_one_minus_its_level(noise):
    for count in COUNTS:
        for q in (0.05, 0.5, 0.95):
            x = max_abs_quantile(noise, count, q).estimate
            rounding = 2 * count * noise.pdf(x) * np.spacing(x)  # of x: at the end of a bounded support it is all
            assert abs(max_abs_sf(noise, count, x).estimate - (1 - q)) <= 1e-8 + rounding


def test_arguments_broadcast():
    bounds = max_quantile(Gaussian(1.0), np.array([[1], [1e6]]), np.array([0.1, 0.5, 0.9]))
    assert bounds.estimate.shape == (2, 3)
    assert bounds.estimate[1, 2] == max_quantile(Gaussian(1.0), 1e6, 0.9).estimate


@pytest.mark.parametrize("law", [max_quantile, max_abs_quantile, max_abs_sf])
@pytest.mark.parametrize("count", [0.5, np.nan, np.inf, 1e301])
def test_counts_outside_the_range_are_refused(law, count):
    with pytest.raises(ValueError, match=r"k = .* is not valid; valid: 1 <= k <= 1e\+300"):
        law(Gaussian(1.0), count, 0.5)


@pytest.mark.parametrize("q", [0, 1, -0.1, np.nan])
def test_levels_outside_the_range_are_refused(q):
    with pytest.raises(ValueError, match="valid: 0 < level < 1"):
        max_quantile(Gaussian(1.0), 10, q)


@pytest.mark.parametrize("threshold", [-1e-9, np.nan])
def test_thresholds_outside_the_range_are_refused(threshold):
    with pytest.raises(ValueError, match="valid: 0 <= threshold"):
        max_abs_sf(Gaussian(1.0), 10, threshold)


# Bun-Steinke 2016, Section 6.1: the printed radius lacks a factor sqrt 2. Computed from 1 - (1 - 2 Phi(-t))^T.
@pytest.mark.parametrize(
    ("bins", "beta", "printed", "corrected"),
    [(10, 0.05, 0.194, 0.0113), (1000, 0.05, 0.8081, 0.0085), (1000, 0.01, 0.499, 0.0016), (1e6, 0.05, 1.0, 0.0067)],
)
@pytest.mark.parametrize("rho", [0.01, 3.0])
def test_how_often_the_zcdp_radii_are_exceeded(rho, bins, beta, printed, corrected):
    noise = calibrate("gaussian", ZCDP(rho), coordinates=2).noise
    at_printed = max_abs_sf(noise, bins, zcdp_printed_radius(rho, bins, beta)).estimate
    at_corrected = max_abs_sf(noise, bins, histogram_error_bound(noise, bins, beta)).estimate
    assert at_printed == pytest.approx(printed, abs=6e-4 if printed < 0.6 else 6e-5)
    assert at_corrected == pytest.approx(corrected, abs=6e-5)


# Medians of the largest of k sizes for one changed coordinate: sinh-normal noise with the constants of the
# theorem is worse than Gaussian noise of the same guarantee.
@pytest.mark.parametrize(
    ("rho", "omega", "gaussian", "sinh_normal"),
    [(0.01, 5, (24.0, 35.1, 50.8), (64.4, 78.7, 93.1)), (0.1, 2, (7.59, 11.10, 16.06), (22.3, 27.9, 33.6))],
)
def test_medians_of_the_largest_size(rho, omega, gaussian, sinh_normal):
    k = np.array([1e3, 1e6, 1e12])
    ours = max_abs_quantile(calibrate("gaussian", ZCDP(rho)).noise, k, 0.5).estimate
    theirs = max_abs_quantile(calibrate("sinh_normal", TCDP(rho, omega), method="paper").noise, k, 0.5).estimate
    assert ours == pytest.approx(gaussian, abs=0.06 if rho == 0.01 else 0.006)
    assert theirs == pytest.approx(sinh_normal, abs=0.06)


@pytest.mark.parametrize("rho", [1e-3, 0.1])
def test_the_domain_at_which_sinh_normal_noise_overtakes_is_beyond_1e74(rho):
    sinh_normal = calibrate("sinh_normal", TCDP(rho, 0.5 / np.sqrt(rho)), method="paper").noise
    gaussian = calibrate("gaussian", ZCDP(rho)).noise
    worse, better = (
        max_abs_quantile(sinh_normal, k, 0.5).estimate / max_abs_quantile(gaussian, k, 0.5).estimate
        for k in (1e74, 1e76)
    )
    assert worse > 1 > better


def test_sinh_normal_noise_with_a_far_knee_is_gaussian():
    k = np.array([1, 1e6, 1e300])
    far = max_abs_quantile(SinhNormal(2.0, 1e9), k, 0.9).estimate
    assert far == pytest.approx(max_abs_quantile(Gaussian(2.0), k, 0.9).estimate, rel=1e-11)


def test_the_reference_is_a_distribution():
    for noise in NOISES:
        total = mp.mpf(0)
        for x in (-1.5, 0.0, 0.4):
            total += abs(sf(noise, x) + sf(noise, -x) - 1) + abs(power_of_cdf(noise, x, 1) - sf(noise, -x))
        assert total < mp.mpf(10) ** -45


@pytest.mark.parametrize("threshold", [600.0, 690.0, 720.0, 740.0, 800.0])
def test_many_draws_of_tails_below_the_floats(threshold):
    """1e300 draws of Laplace noise: 1 - exp(-1e300 e^-t), t up to where e^-t is no float."""
    found = max_abs_sf(Laplace(1.0), 1e300, threshold)
    with mp.workdps(60):
        truth = -mp.expm1(mp.mpf(1e300) * mp.log1p(-mp.exp(-mp.mpf(threshold))))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-9 * truth


def test_all_are_below_where_a_tail_has_lost_its_digits():
    """Of floats below 1e-308 few digits are left, and a count of 1e300 makes a number of them: against 40 digits."""
    x = np.array([700.0, 715.0, 730.0, 740.0])
    with mp.workdps(40):
        expected = [float(-mp.mpf("1e300") * mp.exp(-mp.mpf(float(each))) / 2) for each in x]  # its square is nothing
    np.testing.assert_allclose(extremes.log_all_below(Laplace(1.0), x, 1e300), expected, rtol=1e-11)
