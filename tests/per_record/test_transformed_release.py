"""Transformed releases against mpmath's integrals of their definition, simulation, and the paper's tables."""

import itertools
from math import comb, factorial, inf, isinf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from tcdp_sim.per_record import Identity, Log, Root, TransformedRelease

ESTABLISHMENTS = [5.0, 5.0, 10.0, 20.0, 30.0, 10_000.0]  # Finley et al. 2024, Table 1


def hermite(k, x):
    return mp.mpf(2) ** (-mp.mpf(k) / 2) * mp.hermite(k, x / mp.sqrt(2))


def released(release, noisy):
    """g(V) of the definition, in mpmath."""
    a, sigma, transform = release.transform.offset, mp.mpf(release.scale), release.transform
    if isinstance(transform, Log):
        shrink = {"mean_unbiased": 0.5, "least_mse": 1.5}.get(release.estimator, 0)
        value = mp.exp(noisy - shrink * sigma**2) - a
    else:
        k = getattr(transform, "degree", 1)
        value = {
            "mean_unbiased": lambda: sigma**k * hermite(k, noisy / sigma),
            "median_unbiased": lambda: mp.sign(noisy) * abs(noisy) ** k,
            "plain": lambda: noisy**k,
        }[release.estimator]() - a
    return max(value, mp.mpf(0)) if release.nonnegative else value


def centre(release, q):
    transform = release.transform
    if isinstance(transform, Log):
        return mp.log(q + transform.offset)
    return mp.mpf(q + transform.offset) ** (1 / mp.mpf(getattr(transform, "degree", 1)))


def expected(release, q, function):
    """E function(release), split where the density is wide and where the release turns or is cut."""
    v, sigma = centre(release, q), mp.mpf(release.scale)
    grid = [v + sigma * mp.mpf(j) / 2 for j in range(-36, 37)]
    signs = [released(release, x) > 0 for x in grid]
    cuts = []
    for low, high, left, right in zip(grid, grid[1:], signs, signs[1:]):
        if left != right:
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if (released(release, middle) > 0) == left else (low, middle)
            cuts.append(low)
    edges = sorted([*grid, *cuts, *([mp.mpf(0)] if grid[0] < 0 < grid[-1] else [])])
    density = lambda x: mp.exp(-(((x - v) / sigma) ** 2) / 2) / (sigma * mp.sqrt(2 * mp.pi))  # noqa: E731
    return mp.quad(lambda x: function(released(release, x)) * density(x), edges, maxdegree=4)


CASES = [
    TransformedRelease(Identity(), 3.0),
    TransformedRelease(Root(2), 1.0),
    TransformedRelease(Root(3, 2.0), 1.5),
    TransformedRelease(Root(4, 1.0), 0.7, nonnegative=True),
    TransformedRelease(Root(2, 0.5), 1.0, "plain", True),
    TransformedRelease(Root(4, 0.5), 0.8, "plain"),
    TransformedRelease(Root(3), 1.0, "plain"),
    TransformedRelease(Root(2, 1.0), 1.0, "median_unbiased"),
    TransformedRelease(Root(2.5, 3.0), 1.0, "median_unbiased", True),
    TransformedRelease(Log(2.0), 0.5),
    TransformedRelease(Log(2.0), 0.8, "median_unbiased", True),
    TransformedRelease(Log(1.0), 0.6, "least_mse"),
    TransformedRelease(Log(4.0), 0.6, "plain"),
]


@pytest.mark.parametrize("release", CASES, ids=str)
@pytest.mark.parametrize("q", [0.0, 7.0])
def test_moments_are_the_integrals_of_the_definition(release, q):
    mean, square = expected(release, q, lambda x: x), expected(release, q, lambda x: (x - q) ** 2)
    size = float(square) ** 0.5
    assert release.mean(q) == pytest.approx(float(mean), rel=1e-9, abs=1e-9 * size)
    assert release.bias(q) == pytest.approx(float(mean - q), rel=1e-9, abs=1e-9 * size)
    assert release.mse(q) == pytest.approx(float(square), rel=1e-9)
    assert release.var(q) == pytest.approx(float(square - (mean - q) ** 2), rel=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("q", [0.0, 3.0, 400.0])
def test_hermite_cdf_by_roots_of_the_polynomial(k, q):
    release = TransformedRelease(Root(k, 0.5), 0.9)
    v = centre(release, q)
    for x in (-3.0, 0.0, 1.0, float(q), 2.0 * q + 50):
        coefficients = np.polynomial.hermite_e.herme2poly([0] * k + [1])
        coefficients[0] -= (x + 0.5) / 0.9**k
        roots = mp.polyroots([mp.mpf(float(each)) for each in coefficients], maxsteps=500, extraprec=200, asc=True)
        real = sorted(mp.re(root) for root in roots if abs(mp.im(root)) < 1e-12)
        ends = [mp.mpf("-inf"), *real, mp.mpf("inf")]
        below = mp.mpf(0)
        for low, high in itertools.pairwise(ends):
            inside = high - 1 if low == mp.mpf("-inf") else low + 1 if high == mp.mpf("inf") else (low + high) / 2
            if hermite(k, inside) * mp.mpf("0.9") ** k - 0.5 <= x:
                below += mp.ncdf(high - v / 0.9) - mp.ncdf(low - v / 0.9)
        assert release.cdf(q, x) == pytest.approx(float(below), rel=1e-9, abs=1e-15)
        assert release.sf(q, x) == pytest.approx(float(1 - below), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("release", CASES, ids=str)
def test_the_whole_law_by_simulation(release):
    q, n = 7.0, 40_000
    x = np.sort(release.sample(q, n, rng=np.random.default_rng(7)))
    for u in (0.1, 0.5, 0.9):
        at = release.ppf(q, u)
        assert release.cdf(q, at) >= u - 1e-9
        assert abs(np.mean(x <= at) - release.cdf(q, at)) <= 5 * sqrt(0.25 / n)
        assert release.cdf(q, at) + release.sf(q, at) == pytest.approx(1, abs=1e-12)
    r = release.median_abs_error(q)
    assert np.mean(abs(x - q) <= r * (1 + 1e-9)) >= 0.5 - 5 * sqrt(0.25 / n)
    assert np.mean(abs(x - q) < r * (1 - 1e-9)) <= 0.5 + 5 * sqrt(0.25 / n)
    assert abs(np.mean(x < 0) - release.prob_negative(q)) <= 5 * sqrt(0.25 / n)


@pytest.mark.parametrize(("k", "chance"), [(2, 0.6827), (3, 0.5), (4, 0.4385), (5, 0.5), (6, 0.5206)])
def test_negative_releases_of_an_empty_group(k, chance):
    assert TransformedRelease(Root(k), 1.7).prob_negative(0.0) == pytest.approx(chance, abs=5e-5)


def test_table_2():
    """Variances as printed, k = 1 to 7 and the logarithm; x = q + a."""
    for k in range(1, 8):
        for x in (0.5, 9.0):
            s2 = 1.21
            printed = sum(comb(k, i) ** 2 * factorial(k - i) * s2 ** (k - i) * x ** (2 * i / k) for i in range(k))
            assert TransformedRelease(Root(k, 0.5), 1.1).var(x - 0.5) == pytest.approx(printed, rel=1e-12)
    assert TransformedRelease(Log(1.0), 0.5).var(8.0) == pytest.approx(81 * np.expm1(0.25), rel=1e-12)


def test_examples_4_6_and_4_8():
    root, logarithm = TransformedRelease(Root(4), 2.0), TransformedRelease(Log(1.0), 2.0)
    t = np.array([5, 10, 20, 30, 10_000.0])
    np.testing.assert_allclose(root.policy(t), [0.27951, 0.39528, 0.55902, 0.68465, 12.5], atol=5e-6)
    np.testing.assert_allclose(logarithm.policy(t), [0.40130, 0.71874, 1.15864, 1.47403, 10.60403], atol=5e-6)
    total = sum(ESTABLISHMENTS)
    assert np.sqrt(root.var(total)) == pytest.approx(8769, abs=0.5)
    assert np.sqrt(logarithm.var(total)) == pytest.approx(73731, abs=1)
    assert 1e4**2 / (2 * root.var(total)) == pytest.approx(0.650, abs=5e-4)


@pytest.mark.parametrize("transform", [Root(2, 3.0), Root(3.5, 1e3), Log(7.0), Root(4, 0.0)])
@pytest.mark.parametrize("t", [1e-12, 1e-6, 0.3, 8.0, 1e9])
def test_policies_lose_no_digits(transform, t):
    with mp.workdps(50):
        a, x = mp.mpf(transform.offset), mp.mpf(t)
        f = mp.log if isinstance(transform, Log) else lambda y: y ** (1 / mp.mpf(transform.degree))
        truth = float((f(x + a) - (f(a) if a else 0)) ** 2 / 8)
    assert TransformedRelease(transform, 2.0, "median_unbiased").policy(t) == pytest.approx(truth, rel=1e-13, abs=0)
    assert TransformedRelease(transform, 2.0, "median_unbiased").policy(0.0) == 0


@given(st.integers(1, 6), st.floats(0, 1e3), st.floats(1e-2, 1e2), st.floats(1e-3, 1e6), st.floats(1e-6, 1))
def test_gaussian_noise_of_the_same_error_is_more_private(k, a, sigma, q, share):
    """Theorem: for unbiased releases and t <= q, t^2 / (2 Var) is at most the policy."""
    t = share * q
    for release in (TransformedRelease(Root(k, a), sigma), TransformedRelease(Log(a + 1e-3), sigma)):
        assert t**2 / (2 * release.var(q)) <= release.policy(t) * (1 + 1e-12)


def test_scale_changes_nothing_but_the_units():
    c = 37.0
    small, large = TransformedRelease(Root(3, 2.0), 0.7), TransformedRelease(Root(3, 2.0 * c), 0.7 * c ** (1 / 3))
    assert large.policy(5.0 * c) == pytest.approx(small.policy(5.0), rel=1e-12)
    assert large.var(9.0 * c) == pytest.approx(small.var(9.0) * c**2, rel=1e-12)
    assert large.ppf(9.0 * c, 0.2) == pytest.approx(small.ppf(9.0, 0.2) * c, rel=1e-10)


def test_medians_and_least_squares():
    for nonnegative in (False, True):
        for transform in (Root(2), Root(3.3, 1.0), Log(2.0)):
            assert TransformedRelease(transform, 1.0, "median_unbiased", nonnegative).ppf(6.0, 0.5) == pytest.approx(6)
    unbiased, least = TransformedRelease(Log(2.0), 1.2), TransformedRelease(Log(2.0), 1.2, "least_mse")
    assert unbiased.mse(5.0) / least.mse(5.0) == pytest.approx(np.exp(1.44), rel=1e-12)
    assert isinf(TransformedRelease(Log(2.0), 30.0).var(5.0))


def test_arrays_broadcast_and_numbers_stay_numbers():
    release = TransformedRelease(Root(4, 1.0), 1.0)
    q, x = np.array([[0.0], [5.0]]), np.array([-1.0, 2.0, 9.0])
    table = release.cdf(q, x)
    assert table.shape == (2, 3)
    assert table[1, 2] == release.cdf(5.0, 9.0)
    assert release.ppf(q, np.array([0.2, 0.7])).shape == (2, 2)
    assert release.var(np.array([1.0, 2.0])).shape == (2,)
    assert release.sample(np.array([1.0, 2.0]), rng=np.random.default_rng(1)).shape == (2,)
    assert isinstance(release.ppf(5.0, 0.5), float)
    assert release.ppf(5.0, 0.0) == pytest.approx(-1 - 6, rel=1e-12)
    assert release.ppf(5.0, 1.0) == inf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Root(0.5), "degree = 0.5.*convex"),
        (lambda: Root(2, -1.0), "offset = -1"),
        (lambda: Root(True), "degree = True"),
        (lambda: Log(0.0), "offset = 0.*infinite"),
        (lambda: TransformedRelease(Root(2.5), 1.0), "degree = 2.5.*median_unbiased"),
        (lambda: TransformedRelease(Root(2.5), 1.0, "plain"), "whole degree"),
        (lambda: TransformedRelease(Root(2), 1.0, "least_mse"), "'least_mse' is not valid for roots"),
        (lambda: TransformedRelease(Root(2), 0.0), "scale = 0"),
        (lambda: TransformedRelease(Root(2), 1.0, "unbiased"), "estimator = 'unbiased'"),
        (lambda: TransformedRelease("log", 1.0), "transform = 'log'"),
        (lambda: TransformedRelease(Root(2), 1.0, nonnegative=1), "nonnegative = 1"),
        (lambda: TransformedRelease(Root(2), 1.0).var(-1.0), "q = -1"),
        (lambda: TransformedRelease(Root(2), 1.0).cdf(float("nan"), 1.0), "q = nan"),
        (lambda: TransformedRelease(Root(2), 1.0).policy("5"), "influence = '5'"),
        (lambda: TransformedRelease(Root(2), 1.0).policy(inf), "influence = inf"),
        (lambda: TransformedRelease(Root(2), 1.0).ppf(1.0, 1.5), "u = 1.5"),
    ],
)
def test_refusals_are_one_line(make, words):
    with pytest.raises(ValueError, match=words) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_a_small_bias_is_exact():
    """Plain inverse of a square root: E V^2 - q = scale^2, however large q is."""
    assert TransformedRelease(Root(2), 1e-3, "plain").bias(1e12) == pytest.approx(1e-6, rel=1e-12)
    assert TransformedRelease(Root(4), 0.1, "plain").bias(1e8) == pytest.approx(600.0003, rel=1e-12)
    assert TransformedRelease(Log(1.0), 1e-6, "median_unbiased").bias(9.0) == pytest.approx(5e-12, rel=1e-9)
    assert log(TransformedRelease(Log(1.0), 2.0).mean(9.0)) == pytest.approx(log(9))
