"""Kurtosis of every release: against closed forms and quadrature in mpmath, of the formulas and not of the code."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.noise import (
    ExponentialPolylogarithmic,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    SinhNormal,
    TruncatedLaplace,
)
from tcdp_sim.noise.base import Noise
from tcdp_sim.per_record import AdditiveRelease, ClippedRelease, Log, Root, TransformedRelease


def normal_mean(function, points=()):
    """E function(Z), Z standard normal, by mpmath, split at the points."""
    edges = sorted({-mp.mpf(40), *map(mp.mpf, range(-8, 9, 2)), mp.mpf(40), *points})
    return mp.quad(lambda z: function(z) * mp.npdf(z), edges)


def polylog_moment(k, scale, power, offset, rate):
    """E |Z|^k in w = log(|z| / scale + offset): the integral of the density as the paper defines it."""
    start = mp.log(offset)
    mode = max(start, ((k + 1) / (mp.mpf(rate) * power)) ** (1 / mp.mpf(power - 1)))
    edges = [start, *(mode + step for step in (0.5, 2, 6, 20, 60, 200) if mode + step > start)]
    edges = sorted({*edges, *([mode] if mode > start else [])})

    def moment(j):
        return mp.quad(lambda w: (mp.exp(w) - offset) ** j * mp.exp(w - rate * (w**power - start**power)), edges)

    return scale**k * moment(k) / moment(0)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (Gaussian(3.0), 3),
        (Laplace(2.0), 6),
        (GeneralizedGaussian(2.0, 0.5), 25.2),  # Gamma(10) Gamma(2) / Gamma(6)^2
        (GeneralizedGaussian(7.0, 0.25), float(mp.gamma(20) * mp.gamma(4) / mp.gamma(12) ** 2)),
        (ExponentialPolylogarithmic(2.0, 1.0, 3.0, 7.0), 6 * 5 * 4 / (3 * 2)),  # E |Z|^k = s^k k! G(d-1-k)/G(d-1)
        (ExponentialPolylogarithmic(2.0, 1.0, 3.0, 5.0), np.inf),
        (ExponentialPolylogarithmic(2.0, 1.0, 3.0, 1.2), np.inf),
    ],
)
def test_additive_noise_in_closed_form(noise, expected):
    assert AdditiveRelease(noise).kurtosis(7.0) == pytest.approx(expected, rel=1e-12)
    assert AdditiveRelease(noise).kurtosis(np.array([7.0, 9.0])).shape == (2,)


@pytest.mark.parametrize(("power", "offset", "rate"), [(2.0, 3.0, 1.0), (2.0, 10.0, 6.0), (1.5, 2.0, 2.0)])
def test_polylogarithmic_noise_by_quadrature(power, offset, rate):
    fourth, second = (polylog_moment(k, 5.0, power, offset, rate) for k in (4, 2))
    noise = ExponentialPolylogarithmic(5.0, power, offset, rate)
    assert noise.kurtosis() == pytest.approx(float(fourth / second**2), rel=1e-9)
    assert noise.var() == pytest.approx(float(second), rel=1e-9)


@pytest.mark.parametrize(
    ("noise", "rel"),
    [
        (Gaussian(1e6), 1e-9),
        (Laplace(1e-6), 1e-9),
        (GeneralizedGaussian(7.0, 0.25), 1e-9),
        (ExponentialPolylogarithmic(2.0, 1.0, 3.0, 7.0), 1e-9),
    ],
)
def test_any_noise_by_its_tail(noise, rel):
    """What a noise without a closed form falls back on, on those that have one."""
    assert Noise.kurtosis(noise) == pytest.approx(noise.kurtosis(), rel=rel)


def test_infinite_fourth_moments_by_the_tail():
    assert Noise.kurtosis(ExponentialPolylogarithmic(2.0, 1.0, 3.0, 4.9)) == np.inf
    assert Noise.kurtosis(ExponentialPolylogarithmic(2.0, 1.0, 3.0, 1.5)) == np.inf


def test_other_noises_by_their_tail():
    bound, scale = 4.0, 2.0
    mass = [mp.quad(lambda z, k=k: z**k * mp.exp(-z / scale), [0, bound]) for k in (0, 2, 4)]
    noise = TruncatedLaplace(scale, bound)
    assert noise.kurtosis() == pytest.approx(float(mass[2] * mass[0] / mass[1] ** 2), rel=1e-8)
    sinh = SinhNormal(2.0, 5.0)
    moments = [normal_mean(lambda z, k=k: (5 * mp.asinh(2 * z / 5)) ** k) for k in (2, 4)]
    assert sinh.kurtosis() == pytest.approx(float(moments[1] / moments[0] ** 2), rel=1e-8)


def hermite(k, x):
    """He_k by its recursion."""
    before, now = mp.mpf(1), x
    for j in range(1, k):
        before, now = now, x * now - j * before
    return now if k else before


RELEASED = {  # name -> (release, what is released for v + scale z)
    "root 4": (TransformedRelease(Root(4, 3.0), 2.0), lambda w: 16 * hermite(4, w / 2) - 3),
    "root 3": (TransformedRelease(Root(3, 1.0), 1.5), lambda w: mp.mpf(1.5) ** 3 * hermite(3, w / 1.5) - 1),
    "plain": (TransformedRelease(Root(2, 1.0), 1.5, "plain"), lambda w: w**2 - 1),
    "median": (
        TransformedRelease(Root(2.5, 1.0), 1.5, "median_unbiased"),
        lambda w: mp.sign(w) * abs(w) ** 2.5 - 1,
    ),
    "log": (TransformedRelease(Log(5.0), 0.5), lambda w: mp.exp(w - mp.mpf(1) / 8) - 5),
    "wide log": (TransformedRelease(Log(5.0), 4.0), lambda w: mp.exp(w - 8) - 5),
    "least mse": (TransformedRelease(Log(5.0), 1.0, "least_mse"), lambda w: mp.exp(w - mp.mpf(3) / 2) - 5),
}


MARKS = dict.fromkeys(["wide log", "least mse"], pytest.mark.kept)  # by moments of a lognormal variable, as no others


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in RELEASED])
def test_transformed_releases_by_quadrature(name, nonnegative):
    release, g = RELEASED[name]
    release = TransformedRelease(release.transform, release.scale, release.estimator, nonnegative)
    q, scale = 30.0, release.scale
    v = float(release.transform.forward(q))
    cuts = [(w - v) / scale for w in np.asarray(release.law.at_most(np.array(0.0))).ravel() if np.isfinite(w)]
    cuts += [-v / scale, 4 * scale, 8 * scale, 2 * scale]

    def moment(k):
        def of(z):
            released = g(v + scale * z)
            return ((max(released, 0) if nonnegative else released) - q) ** k

        return normal_mean(of, cuts)

    expected = moment(4) / moment(2) ** 2
    assert release.kurtosis(q) == pytest.approx(float(expected), rel=1e-7)


def test_a_logarithm_of_much_noise_has_no_fourth_moment_that_is_a_float():
    assert TransformedRelease(Log(5.0), 30.0).kurtosis(7.0) == np.inf
    assert TransformedRelease(Log(5.0), 30.0, nonnegative=True).kurtosis(7.0) == np.inf
    assert TransformedRelease(Log(5.0), 3.0).kurtosis(np.array([0.0, 1e8])).shape == (2,)


def test_what_is_clipped_away_flattens_the_error():
    """E (b + Z)^4 = b^4 + 6 b^2 + 3 at unit scale."""
    release = ClippedRelease(10.0, 2.0)
    assert release.kurtosis(100.0) == 3
    b = 3.0  # (106 - 100) / 2
    assert release.kurtosis(100.0, truth=106.0) == pytest.approx((b**4 + 6 * b**2 + 3) / (b**2 + 1) ** 2)


def test_mean_squared_errors_scatter_as_the_kurtosis_says():
    """Variance over 400 means of 1000; the ratio of variances is within 5 of its standard errors (one in 1e6)."""
    release = TransformedRelease(Root(2, 1.0), 2.0)
    q, rng = 50.0, np.random.default_rng(5)
    squares = np.square(release.sample(q, (400, 1000), rng=rng) - q)
    spread = squares.mean(axis=1).var(ddof=1) / (release.mse(q) ** 2 * (release.kurtosis(q) - 1) / 1000)
    assert abs(spread - 1) < 5 * np.sqrt(2 / 399)
