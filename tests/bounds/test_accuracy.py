"""What the papers promise, held against exact laws and against each other."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.bounds.accuracy import histogram_error_bound, zcdp_printed_radius
from tcdp_sim.bounds.lower import least_sample_size
from tcdp_sim.calibration import calibrate, equal_privacy
from tcdp_sim.exact import max_abs_quantile, max_abs_sf
from tcdp_sim.noise import FAMILIES, Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.missing import defines
from tcdp_sim.privacy import TCDP, ZCDP

BINS = np.array([1, 2, 10, 1e3, 1e6, 1e12, 1e100, 1e300])
BETAS = (1e-6, 0.05, 0.5, 0.99)
RHOS = (1e-4, 0.01, 0.1, 1.0)


MET = [name for name, noise in FAMILIES.items() if noise.can_meet(noise.equal_privacy(0.1, 5.0, 1e-6))]
CALIBRATED = [name for name in MET if not FAMILIES[name].is_optimized]


def noise_of(family, rho, omega_sqrt_rho=1.0):
    target = {"rho": rho, "omega": max(omega_sqrt_rho / np.sqrt(rho), 1.01), "delta": 1e-6}
    method = "paper" if defines(FAMILIES[family], "by_theorem") else "tight"
    return calibrate(family, equal_privacy(family, **target), method=method, coordinates=2).noise


@pytest.mark.parametrize("family", CALIBRATED)
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("omega_sqrt_rho", [0.7072, 2, 50])
def test_the_radius_is_exceeded_with_probability_at_most_beta(family, rho, omega_sqrt_rho):
    noise = noise_of(family, rho, omega_sqrt_rho)
    for beta in BETAS:
        assert np.all(max_abs_sf(noise, BINS, histogram_error_bound(noise, BINS, beta)).lower <= beta)


@pytest.mark.parametrize("family", CALIBRATED)
def test_every_family_has_a_radius_that_grows_with_bins_and_confidence(family):
    noise = noise_of(family, 0.1)
    radius = histogram_error_bound(noise, BINS[:, None], np.array(BETAS))
    assert radius.shape == (len(BINS), len(BETAS))
    assert np.all(np.diff(radius, axis=0) >= 0)
    assert np.all(np.diff(radius, axis=1) <= 0)
    assert np.all(radius[1] > 0)


def test_the_radius_of_laplace_noise_is_sharp():
    """At k P[|Z| > t] = beta the exceedance is 1 - (1 - beta / k)^k."""
    for beta in BETAS:
        exact = -np.expm1(BINS * np.log1p(-beta / BINS))
        assert max_abs_sf(
            Laplace(3.0), BINS, histogram_error_bound(Laplace(3.0), BINS, beta)
        ).estimate == pytest.approx(exact, rel=1e-10)


def test_the_radius_of_truncated_laplace_noise_never_exceeds_its_support():
    noise = TruncatedLaplace(2.0, 9.0)
    radius = histogram_error_bound(noise, BINS, 0.05)
    assert radius[:2] == pytest.approx(2 * np.log(BINS[:2] / 0.05), rel=1e-14)
    assert radius[-1] == 9


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("omega_sqrt_rho", [0.7072, 2, 50])
def test_the_radius_of_corollary_18_is_the_printed_one(rho, omega_sqrt_rho):
    omega = max(omega_sqrt_rho / np.sqrt(rho), 1.01)
    noise = noise_of("sinh_normal", rho, omega_sqrt_rho)
    for beta in BETAS:
        printed = 8 * omega * np.arcsinh(np.sqrt((np.log(BINS) - np.log(beta)) / (2 * omega**2 * rho)))
        assert histogram_error_bound(noise, BINS, beta) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize("rho", RHOS)
def test_the_radius_of_gaussian_noise_is_sqrt_2_times_the_printed_one(rho):
    ratio = histogram_error_bound(noise_of("gaussian", rho), BINS, 0.05) / zcdp_printed_radius(rho, BINS, 0.05)
    assert ratio == pytest.approx(np.sqrt(2), rel=1e-12)


def test_asymptotes_of_corollary_18():
    rho, beta = 0.1, 0.05
    log_ratio = np.log(BINS) - np.log(beta)
    small = log_ratio / (2 * 1e4**2 * rho)  # arsinh(sqrt(y)) is sqrt(y) to y / 6
    quadratic = histogram_error_bound(SinhNormal(4 / np.sqrt(rho), 8e4), BINS, beta)
    assert np.all(np.abs(quadratic / (4 * np.sqrt(2 * log_ratio / rho)) - 1) <= small / 6 + 1e-12)
    omega = 2.5
    large = log_ratio / (2 * omega**2 * rho)  # and log(2 sqrt(y)) to 1 / (4 y)
    double = histogram_error_bound(SinhNormal(4 / np.sqrt(rho), 8 * omega), BINS, beta)
    asymptote = 4 * omega * (np.log(log_ratio) + np.log(2 / (omega**2 * rho)))
    assert np.all(np.abs(double - asymptote) <= 8 * omega / (4 * large))


@pytest.mark.parametrize(
    ("bins", "beta", "exceeded"), [(10, 0.05, 0.194), (1000, 0.05, 0.8081), (1000, 0.01, 0.499), (1e6, 0.05, 1.0)]
)
def test_the_printed_zcdp_radius_is_wrong(bins, beta, exceeded):
    """Bun-Steinke 2016, Section 6.1 claims at most beta. The exact value, with mpmath."""
    tail = mp.erfc(zcdp_printed_radius(0.3, bins, beta) * mp.sqrt(mp.mpf(0.3) / 2))
    exact = -mp.expm1(bins * mp.log1p(-tail))
    assert exact > 3 * beta
    assert float(exact) == pytest.approx(exceeded, abs=6e-4)
    assert max_abs_sf(Gaussian(np.sqrt(1 / 0.3)), bins, zcdp_printed_radius(0.3, bins, beta)).estimate == pytest.approx(
        float(exact), rel=1e-9
    )


def test_a_noise_without_a_radius_is_refused():
    with pytest.raises(TypeError, match="no accuracy bound is known for 'cauchy'"):
        histogram_error_bound("cauchy", 10, 0.05)


@pytest.mark.parametrize("rho", [1e-6, 1e-4, 0.01])
@pytest.mark.parametrize("omega", [1.5, 5, 40])
@pytest.mark.parametrize("bins", [10, 1e6, 1e100, 1e300])
def test_the_least_sample_size(rho, omega, bins):
    ratio = mp.log(mp.mpf(bins) / 4) / (2 * mp.mpf(omega) ** 2 * rho)
    exact = (omega - 1) * mp.log(ratio)
    n = least_sample_size(TCDP(rho, omega), bins)
    if exact > 0:
        assert n == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
    else:
        assert np.isnan(n)


@pytest.mark.parametrize(
    ("rho", "omega", "bins"), [(1, 10, 100), (0.1, 3, 4), (0.1, 3, 2), (0.1, 3, 1), (0.1, np.inf, 10)]
)
def test_a_vacuous_least_sample_size_is_nan(rho, omega, bins):
    assert np.isnan(least_sample_size(TCDP(rho, omega), bins))


def test_a_least_sample_size_needs_its_own_notion():
    for other in (ZCDP(0.1), 0.1):
        with pytest.raises(ValueError, match=r"^Corollary 27 does not apply to guarantee = .*; valid: TCDP$"):
            least_sample_size(other, 10)


def test_the_least_sample_size_broadcasts():
    assert np.isnan(least_sample_size(TCDP(1e-6, 5.0), np.array([1.0, 1e9]))).tolist() == [True, False]


@pytest.mark.parametrize("rho", [1e-8, 1e-6, 1e-4, 0.01, 0.1])
@pytest.mark.parametrize("omega_sqrt_rho", [0.7072, 1, 3, 30])
def test_the_lower_bound_does_not_contradict_the_mechanism(rho, omega_sqrt_rho):
    """With n / 2 above the radius at beta = 1/2 the release works; Corollary 27 must not say that none does."""
    omega = max(omega_sqrt_rho / np.sqrt(rho), 1.01)
    least = least_sample_size(TCDP(rho, omega), BINS)
    for family in ("sinh_normal", "gaussian"):
        noise = noise_of(family, rho, omega_sqrt_rho)
        for works in (histogram_error_bound(noise, BINS, 0.5), max_abs_quantile(noise, BINS, 0.5).estimate):
            assert not np.any(2 * works < least)
    if omega_sqrt_rho <= 3:
        assert np.isfinite(least).any()  # the comparison is not of NaN alone
