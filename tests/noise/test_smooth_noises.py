"""The noises for smooth sensitivity against 40 digits from their definitions, and draws.

Seeds are fixed; for a fresh seed each comparison of draws has a false-alarm rate of 1e-5, and there are 8.
"""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from tcdp_sim.calibration import calibrate
from tcdp_sim.exact.renyi.affine import directed_divergence
from tcdp_sim.noise import ArsinhNormal, LaplaceLogNormal, StudentT, UniformLogNormal
from tcdp_sim.privacy import ZCDP

TOLERANCE = 1e-11
P = np.array([1e-300, 1e-150, 1e-30, 1e-10, 1e-3, 0.1, 0.24, 0.26, 0.4, 0.49])
NOISES = [
    StudentT(2, 1),
    StudentT(1, 3.5),
    StudentT(0.5, 60),
    ArsinhNormal(1, 0.3),
    ArsinhNormal(3, 2),
    UniformLogNormal(1, 0.3),
    UniformLogNormal(2, 1.4),
    LaplaceLogNormal(1, 0.2),
    LaplaceLogNormal(2, 1.1),
    LaplaceLogNormal(1, 3),
]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def normal_sf(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def normal_mean(f, peak):
    """E[f(Z)] by a trapezoid rule of 60 points a unit around the peak of an entire integrand."""
    h = mp.mpf(1) / 60
    return h * mp.fsum(f(peak + k * h) * mp.npdf(peak + k * h) for k in range(-14 * 60, 14 * 60))


def tail_and_density(noise, x):
    """P[X > x] and the density at x > 0, from the definition of the variable."""
    z, scale = mp.mpf(float(x)) / mp.mpf(noise.scale), mp.mpf(noise.scale)
    if isinstance(noise, StudentT):
        d = mp.mpf(noise.degrees)
        p = mp.betainc(d / 2, mp.mpf(1) / 2, 0, d / (d + z * z), regularized=True) / 2
        size = mp.gamma((d + 1) / 2) / mp.gamma(d / 2) / mp.sqrt(d * mp.pi)
        return p, size * (1 + z * z / d) ** (-(d + 1) / 2) / scale
    s = mp.mpf(noise.sigma)
    if isinstance(noise, ArsinhNormal):
        y = mp.asinh(s * z) / s
        return normal_sf(y), mp.npdf(y) / mp.sqrt(1 + (s * z) ** 2) / scale
    if isinstance(noise, UniformLogNormal):  # E of (1 - z e^(-s Z))_+ / 2 and of e^(-s Z) / 2, where Z > log(z) / s
        v = mp.log(z) / s
        beyond = mp.exp(s * s / 2) * normal_sf(v + s) / 2
        return normal_sf(v) / 2 - z * beyond, beyond / scale
    p = normal_mean(lambda t: mp.exp(-z * mp.exp(-s * t)), mp.lambertw(s * s * z).real / s) / 2
    peak = mp.lambertw(s * s * z * mp.exp(s * s)).real / s - s
    return p, normal_mean(lambda t: mp.exp(-s * t - z * mp.exp(-s * t)), peak) / 2 / scale


def relative(value, exact):
    return float(abs(mp.mpf(float(value)) / exact - 1))


@every
def test_tails_quantiles_and_their_logs(noise):
    for p, x in zip(P, noise.isf(P)):
        exact = tail_and_density(noise, x)[0]
        assert relative(p, exact) < 1e-10, p
        assert relative(noise.sf(x), exact) < TOLERANCE * (10 if p < 1e-100 else 1), p
        assert relative(noise.logsf(x), mp.log(exact)) < TOLERANCE
        assert relative(noise.cdf(x), 1 - exact) < TOLERANCE


@every
def test_density(noise):
    for x in noise.isf(np.array([1e-290, 1e-100, 1e-9, 0.02, 0.3, 0.45])):
        exact = tail_and_density(noise, x)[1]
        assert exact < 1e-300 or relative(noise.pdf(x), exact) < 1e-10, x
        assert abs(noise.logpdf(x) - mp.log(exact)) < TOLERANCE * abs(mp.log(exact)) + TOLERANCE


def test_the_reference_of_the_uniform_log_normal_is_its_definition():
    noise, x = UniformLogNormal(1, 0.7), mp.mpf(2)
    mean = mp.quad(lambda t: (1 - x * mp.exp(-0.7 * t)) * mp.npdf(t), [mp.log(2) / mp.mpf(0.7), 2, 4, 8, 20]) / 2
    assert relative(tail_and_density(noise, x)[0], mean) < 1e-14


@every
def test_symmetry_and_ends(noise):
    x = noise.isf(P)
    np.testing.assert_array_equal(noise.sf(-x), noise.cdf(x))
    np.testing.assert_array_equal(noise.isf(1 - P[5:]), -noise.isf(1 - (1 - P[5:])))
    np.testing.assert_array_equal(noise.isf(np.array([0.0, 0.5, 1.0])), [np.inf, 0, -np.inf])
    assert np.isnan(noise.isf(np.array([-0.1, 1.1, np.nan]))).all()
    assert np.isnan(noise.logpdf(np.nan))
    assert np.isnan(noise.sf(np.nan))
    assert noise.logpdf(np.inf) == -np.inf
    assert np.ndim(noise.sf(1.0)) == np.ndim(noise.logpdf(1.0)) == np.ndim(noise.isf(0.1)) == 0
    near = noise.isf(0.5 - 1e-9)
    assert near * noise.pdf(0.0) == pytest.approx(1e-9, rel=1e-6)


@every
def test_variance_is_that_of_the_tail(noise):
    """2 E[|X| 1{X > x}] integrated: var = 4 times the integral of x P[X > x] over x > 0."""
    if isinstance(noise, StudentT) and noise.degrees <= 2:
        assert noise.var() == np.inf
        return
    u = np.linspace(-40, 200, 24_001)
    x = noise.scale * np.exp(u)
    total = 4 * float((x * x * noise.sf(x)).sum() * (u[1] - u[0]))
    assert noise.var() == pytest.approx(total, rel=1e-8)


@every
def test_draws(noise):
    draws = noise.sample(40_000, rng=np.random.default_rng(20261122))
    assert stats.kstest(draws, noise.cdf).pvalue > 1e-5
    assert stats.kstest(np.abs(draws), lambda x: 1 - 2 * noise.sf(x)).pvalue > 1e-5


@every
def test_the_log_density_of_the_size_is_concave_and_the_density_falls(noise):
    """What the certificates rest on, seen on a grid: second differences of log p(e^u) + u."""
    u = np.linspace(np.log(noise.isf(0.499)), np.log(noise.isf(1e-250)), 4001)
    h = noise.logpdf(np.exp(u)) + u
    assert (np.diff(h, 2) < 1e-9).all()
    assert (np.diff(noise.logpdf(np.exp(u))) <= 1e-12).all()


LONG = (UniformLogNormal(2, 1.4), LaplaceLogNormal(2, 1.1))  # a second or two each; all others take 0.1 s
TAILS = [noise for noise in NOISES if noise != LaplaceLogNormal(1, 3)]


@pytest.mark.parametrize("shift", [0.3, 1.7])
@pytest.mark.parametrize(
    "noise", [pytest.param(noise, marks=pytest.mark.slow) if noise in LONG else noise for noise in TAILS], ids=repr
)
def test_the_tail_bound_of_the_divergence_holds(noise, shift):
    orders = np.array([2.0, 5.0, 20.0, 100.0])
    for t in (0.02, 0.2):
        slope, constant = noise.affine_tail(t, shift)
        for tau in (-t, t / 3, t):
            divergence = directed_divergence(noise, tau, shift, orders)
            assert (divergence.lower <= slope * orders + constant).all()


@pytest.mark.parametrize("order", [2, 3, 8])
def test_the_tail_bound_of_the_arsinh_normal_allows_for_both_tails(order):
    """Its proof rests on a loss of k|y| + k^2 / 2, y ~ N(0, 1), with E e^(u|y|) = 2 e^(u^2 / 2) Phi(u); here k = 10."""
    smoothing, sigma = 1e-3, 1e-4
    k, s = mp.mpf(smoothing) / mp.mpf(sigma), order - 1
    allowed = float(k * k / 2 + (mp.log(2 * mp.ncdf(s * k)) + (s * k) ** 2 / 2) / s)
    slope, constant = ArsinhNormal(1, sigma).affine_tail(smoothing, 1e-9)
    assert allowed <= slope * order + constant <= allowed + np.log(2) + 0.01


@pytest.mark.parametrize("family", ["arsinh_normal", "uniform_log_normal", "laplace_log_normal", "student_t"])
def test_a_name_alone_calibrates_nothing(family):
    with pytest.raises(ValueError, match="calibrate_smooth"):
        calibrate(family, ZCDP(0.1))


@pytest.mark.parametrize(
    ("noise", "arguments"),
    [
        (StudentT, (1, 0.5)),
        (StudentT, (0, 3)),
        (ArsinhNormal, (1, 0)),
        (ArsinhNormal, (1, 11)),
        (UniformLogNormal, (1, 0.01)),
        (LaplaceLogNormal, (1, 6)),
        (LaplaceLogNormal, (np.array([1.0, 2.0]), 1)),
    ],
)
def test_parameters_out_of_range(noise, arguments):
    with pytest.raises(ValueError, match="valid"):
        noise(*arguments)
