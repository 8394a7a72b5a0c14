"""Every noise against 50 digits of mpmath, and against SciPy's distributions."""

import mpmath as mp
import numpy as np
import pytest
from noise_examples import EXAMPLES, PROBABILITIES, points
from noise_references import REFERENCES, error, reference
from scipy import stats

from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, SinhSquared, TruncatedLaplace

DECADES = 10.0 ** np.arange(-3, 4)
TOLERANCE = 1e-12  # what the protocol promises
SMALLEST = 1e-300  # ... for probabilities and densities from here on

GRID = (
    [Gaussian(scale) for scale in DECADES]
    + [Laplace(scale) for scale in DECADES]
    + [TruncatedLaplace(scale, scale * ratio) for scale in (0.3, 700.0) for ratio in DECADES]
    + [TruncatedLaplace(0.7, ratio) for ratio in (0.2, 0.6, 1.1, 5.0, 470.0)]
    + [SinhNormal(scale, knee) for scale in DECADES for knee in DECADES]
    + [SinhNormal(scale, 0.7) for scale in (0.3, 0.69, 0.71, 3.3, 47.0, 331.0)]
    + [SinhSquared(scale, 0.7) for scale in (0.03, 0.3, 1.4, 47.0, 7e5)]
    + [noise for noises in EXAMPLES.values() for noise in noises]
)
every = pytest.mark.parametrize("noise", list(dict.fromkeys(GRID)), ids=repr)


def test_every_family_has_a_reference():
    assert set(REFERENCES) == set(EXAMPLES)


@every
def test_tails(noise):
    exact, x = reference(noise), points(noise)
    for here, sf, cdf in zip(x, noise.sf(x), noise.cdf(x)):
        for value, tail in ((sf, exact.sf(here)), (cdf, exact.sf(-here))):
            assert tail < SMALLEST or error(value, tail) < TOLERANCE, here


@every
def test_log_tails(noise):
    exact, x = reference(noise), points(noise)
    for here, logsf, logcdf in zip(x, noise.logsf(x), noise.logcdf(x)):
        for value, tail in ((logsf, exact.logsf(here)), (logcdf, exact.logsf(-here))):
            small = -SMALLEST < tail < 0  # log(1 - p) is -p, for p below what is promised
            assert small or error(value, tail) < TOLERANCE, here


@every
def test_density(noise):
    exact, x = reference(noise), points(noise)
    for here, pdf, logpdf in zip(x, noise.pdf(x), noise.logpdf(x)):
        density = exact.pdf(here)
        assert density < SMALLEST or error(pdf, density) < TOLERANCE, here
        # The log density passes through zero, where no relative accuracy can be had.
        log_density = exact.logpdf(here)
        crossing = abs(log_density) < 1 and abs(logpdf - log_density) < TOLERANCE
        assert crossing or error(logpdf, log_density) < TOLERANCE, here


@every
def test_quantiles(noise):
    """x is as near as that to the exact quantile iff the exact tail passes p between x's neighbours."""
    exact = reference(noise)
    for p, x in zip(PROBABILITIES, noise.isf(PROBABILITIES)):
        margin = mp.mpf(x) * mp.mpf(TOLERANCE) * (1 if x >= 0 else -1)
        assert exact.sf(x - margin) >= mp.mpf(p) >= exact.sf(x + margin), p
        assert np.sign(x) == np.sign(0.5 - p)
    np.testing.assert_array_equal(noise.ppf(PROBABILITIES), -noise.isf(PROBABILITIES))


@every
def test_variance(noise):
    assert error(noise.var(), reference(noise).var()) < TOLERANCE


@pytest.mark.parametrize("distance", [2.0**-53, 2.0**-50, 1e-14, 1e-12, 1e-6])
@pytest.mark.parametrize("noise", [noises[0] for noises in EXAMPLES.values()], ids=repr)
def test_quantiles_next_to_the_centre(noise, distance):
    """There x is the distance from one half over the density; next to one half that is the exact slope."""
    for p in (0.5 - distance, 0.5 + distance):
        slope = (0.5 - p) / noise.pdf(0.0)
        # The density changes by at most a factor 1 +- |x| / scale before x.
        assert noise.isf(p) == pytest.approx(slope, rel=1e-12 + 2 * abs(slope) / noise.scale)


@pytest.mark.parametrize(
    "noise",
    [
        Gaussian(2.0),
        Laplace(3.0),
        SinhNormal(2.0, 50.0),
        SinhNormal(50.0, 2.0),
        SinhSquared(2.0, 50.0),
        SinhSquared(50.0, 2.0),
    ],
    ids=repr,
)
def test_log_tails_far_beyond_the_smallest_double(noise):
    for x in noise.isf(1e-300) * np.array([1.2, 1.5, 3.0]):
        assert noise.sf(x) < 1e-300
        assert error(noise.logsf(x), reference(noise).logsf(x)) < TOLERANCE


SCIPY = [
    (Gaussian(2.5), stats.norm(scale=2.5)),
    (Laplace(0.4), stats.laplace(scale=0.4)),
    (Laplace(400.0), stats.laplace(scale=400.0)),
]


@pytest.mark.parametrize(("noise", "other"), SCIPY, ids=[repr(noise) for noise, _ in SCIPY])
def test_against_scipy(noise, other):
    x = points(noise)[1:-1]  # SciPy's logpdf of the Laplace is the log of the density: -inf beyond the doubles
    for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        np.testing.assert_allclose(getattr(noise, method)(x), getattr(other, method)(x), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(noise.isf(PROBABILITIES), other.isf(PROBABILITIES), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(noise.ppf(PROBABILITIES), other.ppf(PROBABILITIES), rtol=1e-12, atol=1e-15)
    assert noise.var() == pytest.approx(other.var(), rel=1e-14)


@pytest.mark.parametrize("noise", [*EXAMPLES["truncated_laplace"][:3], TruncatedLaplace(3.0, 100.0)], ids=repr)
def test_truncated_laplace_has_the_size_of_scipys_truncated_exponential(noise):
    other = stats.truncexpon(b=noise.bound / noise.scale, scale=noise.scale)
    x = np.linspace(0, 1.1 * noise.bound, 57)
    np.testing.assert_allclose(2 * noise.pdf(x), other.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(2 * noise.sf(x), other.sf(x), rtol=1e-9, atol=1e-14)
    p = np.linspace(0.01, 0.99, 33)
    np.testing.assert_allclose(noise.isf(p / 2), other.isf(p), rtol=1e-11)
    assert noise.var() == pytest.approx(other.moment(2), rel=1e-10)


@pytest.mark.parametrize("noise", EXAMPLES["sinh_normal"][:5], ids=repr)
def test_sinh_normal_is_the_log_of_a_birnbaum_saunders_variable(noise):
    """exp(2 X / knee) is fatiguelife(2 scale / knee), the log of which is 2 arsinh(scale / knee Z)."""
    other = stats.fatiguelife(2 * noise.scale / noise.knee)
    x = noise.isf(np.array([1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.49, 0.6, 0.9, 0.999]))
    life = np.exp(2 * x / noise.knee)
    # SciPy forms (sqrt t - 1 / sqrt t), which cancels next to the centre.
    np.testing.assert_allclose(noise.sf(x), other.sf(life), rtol=1e-9)
    np.testing.assert_allclose(noise.cdf(x), other.cdf(life), rtol=1e-9)
    np.testing.assert_allclose(noise.pdf(x), other.pdf(life) * life * 2 / noise.knee, rtol=1e-9)


def test_sinh_normal_with_a_far_knee_is_gaussian():
    """arsinh(t) = t - t^3/6: a knee 1e9 scales away changes a quantile by no more than 3e-16 of it."""
    np.testing.assert_allclose(
        SinhNormal(2.0, 2e9).isf(PROBABILITIES), Gaussian(2.0).isf(PROBABILITIES), rtol=1e-15, atol=0
    )
    assert SinhNormal(2.0, 2e9).var() == pytest.approx(4.0, rel=1e-13)


@pytest.mark.parametrize("scale", [0.3, 0.7, 1.0, 7.0])
def test_truncated_laplace_quantiles_end_exactly_at_the_bound(scale):
    """-log(exp(-r)) is an ulp short of r for some ratios in a hundred: hence so many of them."""
    noise = TruncatedLaplace(scale, scale * np.geomspace(1e-3, 1e3, 400))
    np.testing.assert_array_equal(noise.isf(0.0), noise.bound)
    np.testing.assert_array_equal(noise.ppf(1.0), noise.bound)
    np.testing.assert_array_equal(noise.isf(1.0), -noise.bound)
    np.testing.assert_array_equal(noise.ppf(0.0), -noise.bound)


def test_truncated_laplace_with_a_far_bound_is_laplace():
    x = np.linspace(-600, 600, 41)
    np.testing.assert_allclose(TruncatedLaplace(1.0, 1e4).sf(x), Laplace(1.0).sf(x), rtol=1e-15)


def test_truncated_laplace_with_a_near_bound_is_uniform():
    """With a bound of 1e-14 scales the density is level to 1e-14."""
    noise = TruncatedLaplace(1.0, 1e-14)
    np.testing.assert_allclose(noise.isf(np.array([0.1, 0.25, 0.4])), np.array([0.8, 0.5, 0.2]) * 1e-14, rtol=1e-12)
    assert noise.var() == pytest.approx(1e-28 / 3, rel=1e-12)
