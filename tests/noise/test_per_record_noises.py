"""The noises of per-record privacy against 40 digits from the definition of their densities, closed forms and draws.

Seeds are fixed; for a fresh seed each comparison of draws has a false-alarm rate of 1e-5, and there are about 40.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from per_record_references import DIGITS, per_record_reference
from scipy import stats

from tcdp_sim.calibration import calibrate
from tcdp_sim.exact import renyi_divergence
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian, Laplace
from tcdp_sim.privacy import PureDP

ALPHA, DRAWS = 1e-5, 40_000
TOLERANCE = 1e-11
P = np.array([1e-300, 1e-201, 1e-199, 1e-50, 1e-5, 0.1, 0.24, 0.26, 0.4, 0.49])

GAUSSIANS = [GeneralizedGaussian(*each) for each in ((2.5, 1), (3, 0.75), (1, 0.5), (40, 0.25), (0.1, 0.15), (1, 0.02))]
POWER_ONE = [ExponentialPolylogarithmic(*each) for each in ((2, 1, 1.5, 8.0), (3, 1, 0.2, 4.5))]
POLYLOGS = [
    ExponentialPolylogarithmic(*each)
    for each in (
        (3, 2, math.e, 1),
        (1, 2, math.e, 0.05),
        (2, 2, 5, 300),
        (1, 1.5, 2, 0.8),
        (1, 3, math.e**2, 0.02),
        (1, 6, 300, 1e-3),
        (1e3, 1.1, 1.2, 3),
    )
]
WITHOUT_MOMENTS = ExponentialPolylogarithmic(2, 1, 1, 1.2)
ALL = GAUSSIANS + POWER_ONE + POLYLOGS
every = pytest.mark.parametrize("noise", ALL, ids=repr)
drawn = pytest.mark.parametrize("noise", [*ALL, WITHOUT_MOMENTS], ids=repr)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(DIGITS):
        yield


def relative(value, exact):
    return float(abs(mp.mpf(float(value)) / exact - 1))


def rng(seed=20240731):
    return np.random.default_rng(seed)


# The law


@pytest.mark.parametrize("noise", [GAUSSIANS[1], POWER_ONE[0], POLYLOGS[0], POLYLOGS[4]], ids=repr)
def test_the_reference_is_the_integral_of_its_density(noise):
    """By another rule, in counts."""
    exact, ends = per_record_reference(noise), [mp.mpf(float(x)) for x in noise.isf(np.array([0.49, 0.3, 0.2, 0.1]))]
    mass = mp.quad(exact.pdf, ends)
    assert relative(1, (exact.sf(ends[0]) - exact.sf(ends[-1])) / mass) < 1e-15


@every
def test_tails_and_their_logs(noise):
    exact = per_record_reference(noise)
    x = noise.isf(P)
    for here, sf, logsf, cdf in zip(x, noise.sf(x), noise.logsf(x), noise.cdf(x)):
        tail = exact.sf(here)
        assert relative(sf, tail) < TOLERANCE, here
        assert relative(logsf, mp.log(tail)) < TOLERANCE, here
        assert relative(cdf, 1 - tail) < TOLERANCE, here
    np.testing.assert_array_equal(noise.sf(-x), noise.cdf(x))


@every
def test_quantiles_have_the_tails_that_were_given(noise):
    exact = per_record_reference(noise)
    for p, x in zip(P, noise.isf(P)):
        assert relative(p, exact.sf(x)) < TOLERANCE, p
    np.testing.assert_array_equal(noise.isf(1 - P[4:]), -noise.isf(1 - (1 - P[4:])))
    ends = noise.isf(np.array([0.0, 0.5, 1.0]))
    np.testing.assert_array_equal(ends, [np.inf, 0, -np.inf])
    assert np.isnan(noise.isf(np.array([-0.1, 1.1, np.nan]))).all()


@every
@pytest.mark.parametrize("distance", [2.0**-50, 1e-9])
def test_quantiles_next_to_the_centre(noise, distance):
    p = 0.5 - distance
    x = noise.isf(p)
    assert relative(0.5 - p, per_record_reference(noise).central(x)) < 1e-9


@every
def test_density(noise):
    exact = per_record_reference(noise)
    for x in (0.0, *noise.isf(np.array([1e-250, 1e-20, 0.01, 0.3, 0.499]))):
        density = exact.pdf(x)
        assert density < 1e-300 or relative(noise.pdf(x), density) < TOLERANCE, x
        assert abs(noise.logpdf(x) - mp.log(density)) < TOLERANCE * max(1, abs(mp.log(density)))
    np.testing.assert_array_equal(noise.logpdf(np.array([-np.inf, np.inf])), [-np.inf, -np.inf])
    assert np.isnan(noise.logpdf(np.nan))
    assert np.isnan(noise.sf(np.nan))


@every
def test_variance(noise):
    assert relative(noise.var(), per_record_reference(noise).moment(2)) < TOLERANCE


@every
def test_deep_quantiles(noise):
    for log_p in (-800.0, -3000.0):
        x = noise.isf_log(log_p)
        assert np.isinf(x) or noise.logsf(x) == pytest.approx(log_p, rel=1e-13)
    np.testing.assert_allclose(noise.isf_log(np.log(P[3:])), noise.isf(P[3:]), rtol=1e-9)
    assert noise.isf_log(-1e3) >= noise.isf(1e-300)


@every
def test_methods_take_arrays_and_numbers(noise):
    x = np.array([[-1.0, 0.0, 2.0], [0.3, 5.0, np.inf]])
    for method in ("logpdf", "pdf", "sf", "cdf", "logsf", "logcdf"):
        table = getattr(noise, method)(x)
        np.testing.assert_allclose(table[1, 1], getattr(noise, method)(5), rtol=1e-13)
        assert isinstance(getattr(noise, method)(5), float)
    assert isinstance(noise.isf(0.25), float)
    assert isinstance(noise.var(), float)
    assert isinstance(noise.sample(rng=rng()), float)
    assert noise.sf(0.0) == noise.cdf(0.0) == 0.5


def test_a_generalized_gaussian_takes_arrays_of_parameters():
    column = GeneralizedGaussian(np.array([[1.0], [2.0]]), np.array([[0.5], [1.0]]))
    x = np.array([-1.0, 0.5, 3.0])
    rows = [GeneralizedGaussian(1, 0.5), GeneralizedGaussian(2, 1)]
    for method in ("sf", "logsf", "logpdf"):
        np.testing.assert_allclose(getattr(column, method)(x), [getattr(row, method)(x) for row in rows], rtol=1e-14)
    np.testing.assert_allclose(column.var()[:, 0], [row.var() for row in rows], rtol=1e-14)
    assert column.sample(rng=rng()).shape == (2, 1)


# Against closed forms


def test_power_one_is_laplace():
    one, other, x = GeneralizedGaussian(2.0, 1.0), Laplace(2.0), np.array([-5.0, 0.0, 1e-9, 3.0, 900.0])
    np.testing.assert_allclose(one.sf(x), other.sf(x), rtol=1e-13)
    np.testing.assert_allclose(one.logpdf(x), other.logpdf(x), rtol=1e-14)
    np.testing.assert_array_equal(one.privacy_loss(x, 1.5), other.privacy_loss(x, 1.5))
    assert one.log_concave
    assert not GeneralizedGaussian(2.0, 0.99).log_concave


def test_a_large_rate_at_power_one_is_laplace():
    noise, x = ExponentialPolylogarithmic(1e9, 1, 3, 1.5e9), np.array([0.1, 1.0, 20.0])
    np.testing.assert_allclose(noise.sf(x), Laplace(2.0).sf(x), rtol=1e-7)


def test_at_power_one_scale_and_offset_are_one_parameter():
    one, other, x = POWER_ONE[0], ExponentialPolylogarithmic(3, 1, 1, 8), np.array([0.1, 5.0, 1e9])
    np.testing.assert_allclose(one.logsf(x), other.logsf(x), rtol=1e-14)


@pytest.mark.parametrize(("rate", "variance"), [(5, 12), (3, np.inf), (2.5, np.inf), (1.2, np.inf)])
def test_variances_at_power_one_are_the_corrected_ones_or_infinite(rate, variance):
    scale = 3.0 if rate == 5 else 1.0
    noise = ExponentialPolylogarithmic(scale, 1, 2, rate)
    assert noise.var() == (2 * 36 / 6 if rate == 5 else variance)


def test_the_variance_at_power_two_is_the_corrected_one():
    assert ExponentialPolylogarithmic(1, 2, math.e, 1).var() == pytest.approx(6.817322, rel=1e-7)
    assert ExponentialPolylogarithmic(3, 2, math.e, 1.5).var() == pytest.approx(20.8507, rel=1e-5)


@pytest.mark.parametrize("noise", POLYLOGS[:3], ids=repr)
def test_power_two_is_a_normal_tail_in_the_log(noise):
    a, d = mp.mpf(noise.offset), mp.mpf(noise.rate)

    def tail(t):
        return mp.erfc(mp.sqrt(d) * (t - 1 / (2 * d)))

    for x in noise.isf(P):
        exact = tail(mp.log(mp.mpf(float(x)) / noise.scale + a)) / tail(mp.log(a)) / 2
        assert relative(noise.sf(x), exact) < TOLERANCE


def test_a_variance_beyond_the_floats_is_infinite():
    assert ExponentialPolylogarithmic(1, 2, math.e, 2e-3).var() == np.inf
    assert ExponentialPolylogarithmic(1, 1.01, 1.02, 1.5).var() == np.inf
    assert ExponentialPolylogarithmic(1, 1.001, 1.02, 1.5).var() == np.inf
    assert GeneralizedGaussian(1e200, 0.5).var() == np.inf
    assert WITHOUT_MOMENTS.isf(1e-300) == np.inf


# Privacy losses


@every
def test_losses_are_the_difference_of_the_log_densities(noise):
    exact, width = per_record_reference(noise), float(noise.isf(0.1))
    for shift in width * np.array([1e-12, 1e-3, 0.7, -2.5, 1e6]):
        for y in (*noise.isf(np.array([0.9, 1e-3, 0.3, 1e-100])), 0.0, shift, 0.25 * shift, shift / 2 * (1 + 1e-9)):
            loss, value = exact.loss(y, shift), noise.privacy_loss(y, shift)
            assert abs(value - loss) <= mp.mpf(1e-12) * abs(loss), (y, shift)


@every
def test_the_largest_loss_is_that_at_zero(noise):
    for shift in noise.isf(0.1) * np.array([1e-12, 1.0, 1e5]):
        largest = noise.largest_loss(shift)
        exact = per_record_reference(noise).loss(0.0, shift)
        assert relative(largest, exact) < 1e-12
        losses = noise.privacy_loss(np.append(noise.isf(np.linspace(0.01, 0.99, 99)), [0.0, shift]), shift)
        assert np.abs(losses).max() <= largest * (1 + 1e-14)
        assert noise.privacy_loss(0.0, shift) == pytest.approx(largest, rel=1e-14)
        assert noise.privacy_loss(shift, shift) == -noise.privacy_loss(0.0, shift)
    assert noise.privacy_loss(3.0, 0.0) == noise.privacy_loss(np.inf, 0.0) == 0


@every
def test_losses_at_infinity(noise):
    limit = 1.0 / noise.scale if noise == GAUSSIANS[0] else 0.0
    np.testing.assert_array_equal(noise.privacy_loss(np.array([-np.inf, np.inf]), 1.0), [limit, -limit])
    assert np.isnan(noise.privacy_loss(np.nan, 1.0))


def renyi(noise, shift, order):
    """The divergence with its mean one subtracted, on panels that close in on the cusp: for y < 0, and 0 < y < t/2."""
    x, weights = np.polynomial.legendre.leggauss(20)

    def part(sign, top):
        edges = np.append(0.0, np.geomspace(1e-40 * shift, top, 300))
        half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
        y = middle[:, None] + half[:, None] * x
        loss = noise.privacy_loss(sign * y, shift)
        return (noise.pdf(y) * np.expm1((order - 1) * loss) * -np.expm1(-order * loss) * half[:, None] * weights).sum()

    return np.log1p(part(-1, noise.isf(1e-60)) + part(1, shift / 2)) / (order - 1)


@pytest.mark.parametrize(
    ("noise", "shift", "order"),
    [
        (GeneralizedGaussian(1, 0.25), 0.0625, 20.0),
        (GeneralizedGaussian(1, 0.1), 1e-6, 20.0),
        (GeneralizedGaussian(1, 0.25), 1e-8, 100.0),
        (ExponentialPolylogarithmic(1, 2, math.e, 1), 1.0, 3.0),
        (ExponentialPolylogarithmic(1, 1, 1, 2), 1e-3, 3.0),
    ],
    ids=repr,
)
def test_brackets_of_divergences_see_the_cusp(noise, shift, order):
    low, middle, high = renyi_divergence(noise, shift, order)
    exact = renyi(noise, shift, order)
    assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
    assert middle == pytest.approx(exact, rel=1e-2)


# Draws


@drawn
def test_draws_follow_the_distribution(noise):
    draws = noise.sample(DRAWS, rng=rng())
    assert stats.kstest(draws, noise.cdf).pvalue > ALPHA
    assert stats.kstest(np.log(np.abs(draws)), lambda z: 1 - 2 * noise.sf(np.exp(z))).pvalue > ALPHA
    u = noise.cdf(draws)
    assert stats.spearmanr(u > 0.5, np.abs(u - 0.5)).pvalue > ALPHA
    assert stats.spearmanr(u[1:], u[:-1]).pvalue > ALPHA


@drawn
@pytest.mark.parametrize("shape", [(), (7,), (3, 4)])
def test_fill_is_sample(noise, shape):
    out = np.empty(shape)
    noise.fill(out, rng=rng(4))
    np.testing.assert_array_equal(out, noise.sample(shape, rng=rng(4)))


@pytest.mark.parametrize("noise", POLYLOGS, ids=repr)
def test_rejection_has_the_same_law(noise):
    """Also of power 2, which is drawn otherwise: 64 classes as likely as each other, and one of a thousandth."""
    w = noise._draw_by_rejection(rng(5), 10 * DRAWS)
    size = noise.scale * noise.offset * np.expm1(w)
    counts = np.bincount(np.searchsorted(noise.isf(np.linspace(0.5, 0, 65)[1:-1]), size), minlength=64)
    assert stats.chisquare(counts).pvalue > ALPHA
    assert stats.binomtest(int((size > noise.isf(5e-4)).sum()), 10 * DRAWS, 1e-3).pvalue > ALPHA


class LongExponentials:
    """A generator whose exponential draws lie where inverting a 53-bit uniform never gets."""

    def standard_exponential(self, size):
        return np.full(size, 400.0)

    def random(self, size):
        return np.full(size, 0.75)


@pytest.mark.parametrize("noise", [POWER_ONE[0], POLYLOGS[0], POLYLOGS[1]], ids=repr)
def test_draws_have_tails_beyond_the_grid_of_uniforms(noise):
    assert noise.logsf(noise.sample(3, rng=LongExponentials())) == pytest.approx(-400 - np.log(2), rel=1e-12)


# Refusals


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (GeneralizedGaussian, (1, 0), "power = 0"),
        (GeneralizedGaussian, (1, 1.01), r"power = 1\.01 is not valid; valid: 0\.02 <= power <= 1"),
        (GeneralizedGaussian, (1, 0.019), r"power = 0\.019 is not valid; valid: 0\.02 <= power"),
        (GeneralizedGaussian, (1, np.array([0.5, 2.0])), "power = 2"),
        (GeneralizedGaussian, (0, 0.5), "scale = 0"),
        (GeneralizedGaussian, ("1", 0.5), "scale = '1'"),
        (GeneralizedGaussian, (1, True), "power = True"),
        (GeneralizedGaussian, (1, np.nan), "power = nan"),
        (ExponentialPolylogarithmic, (1, 0.9, 3, 2), r"power = 0\.9 is not valid; valid: power >= 1"),
        (ExponentialPolylogarithmic, (1, 1, 3, 1), "rate = 1 is not valid; valid: rate > 1 at power = 1"),
        (ExponentialPolylogarithmic, (1, 1, 0, 2), "offset = 0"),
        (ExponentialPolylogarithmic, (1, 2, 2.7, 1), r"offset = 2\.7 is not valid; valid: offset >= e\^\(power - 1\)"),
        (ExponentialPolylogarithmic, (1, 2, math.e, 0), "rate = 0"),
        (ExponentialPolylogarithmic, (1, 2, math.e, 1e-5), "rate = 1e-05"),
        (ExponentialPolylogarithmic, (np.inf, 2, math.e, 1), "scale = inf"),
        (ExponentialPolylogarithmic, ([1, 2], 2, math.e, 1), "is not one number"),
    ],
)
def test_parameters_outside_their_range_are_refused_in_one_line(kind, parameters, message):
    with pytest.raises(ValueError, match=message) as refusal:
        kind(*parameters)
    assert "\n" not in str(refusal.value)


def test_an_offset_that_rounding_puts_below_its_bound_is_admitted():
    assert math.e**2 < math.exp(2)
    assert ExponentialPolylogarithmic(1, 3, math.e**2, 1).offset == math.e**2


def test_a_name_alone_cannot_be_calibrated():
    family = "exponential_polylogarithmic"
    with pytest.raises(ValueError, match=f"{family} cannot be calibrated to .*; valid: none by a name alone"):
        calibrate(family, PureDP(1.0))


@pytest.mark.parametrize(("sensitivity", "coordinates"), [(1.0, 1), (3.0, 2)])
def test_generalized_gaussian_noise_of_power_one_half_meets_pure_dp_sharply(sensitivity, coordinates):
    """The sum over the coordinates of the largest ratio of its densities, on a grid that holds 0 and the shift."""
    noise = calibrate("generalized_gaussian", PureDP(0.7), sensitivity, coordinates=coordinates).noise
    y = np.linspace(-10, 10, 2001) * sensitivity
    shifts = sensitivity * np.array([0.1, 0.5, 1.0])
    largest = max(np.max(noise.logpdf(y) - noise.logpdf(y - shift)) for shift in shifts)
    assert noise.power == 0.5
    assert coordinates * largest == pytest.approx(0.7, rel=1e-9)


@every
def test_scaled_noise_is_the_noise_times_a_factor(noise):
    for p in (0.3, 1e-9):
        assert noise.scaled(2.5).isf(p) == pytest.approx(2.5 * noise.isf(p), rel=1e-12)
