"""What sinh-squared noise knows of itself, against mpmath, scipy and the package's own quadrature.

The sampler is tested here with many draws; its seeds are fixed, and for a fresh seed each comparison has a false-alarm
rate of 1e-5.
"""

import mpmath as mp
import numpy as np
import pytest
from noise_references import SinhSquaredReference, error
from scipy import stats

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, SinhNormal, SinhSquared, sinh_squared_renyi, strips
from tcdp_sim.noise import sinh_squared_law as law

SHAPES = [(4.0, 5.0), (5.087, 5.779), (40.0, 10.0), (2.0, 60.0), (0.7, 0.2), (300.0, 250.0)]
shapes = pytest.mark.parametrize(("scale", "knee"), SHAPES)


def divergence(scale, knee, shift, order):
    """D_order of the noise from its shifted self: the integral of its definition, in 30 digits."""
    scale, knee, shift, order = (mp.mpf(each) for each in (scale, knee, shift, order))
    rate = (knee / scale) ** 2 / 2

    def potential(x):
        return rate * mp.sinh(x / knee) ** 2

    def exponent(x):
        return -order * potential(x) + (order - 1) * potential(x - shift)

    with mp.workdps(30):
        reach = knee * mp.asinh(mp.sqrt(80 / rate)) + shift
        xs = [-reach * mp.mpf(j) / 200 for j in range(-200, 3000)]
        peak = max(xs, key=exponent)
        inside = [x for x in xs if exponent(x) > exponent(peak) - 90]
        cuts = [min(inside) + (max(inside) - min(inside)) * j / 24 for j in range(25)]
        tilted = mp.log(mp.quad(lambda x: mp.exp(exponent(x) - exponent(peak)), cuts)) + exponent(peak)
        return (tilted - mp.log(knee * mp.besselk(0, rate / 2)) - rate / 2) / (order - 1)


@shapes
@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_the_divergence_is_the_integral_of_its_definition(scale, knee, share):
    """share: of the way from order 1 to the largest one (or to 50)."""
    shift = 0.3 * min(scale, knee)
    noise = SinhSquared(scale, knee)
    order = 1 + share * (min(noise.max_order(shift), 50.0) - 1)
    low, middle, high = exact.renyi_divergence(noise, shift, order)
    truth = divergence(scale, knee, shift, order)
    assert low <= truth <= high
    assert error(middle, truth) < 1e-12
    assert high - low < 1e-11 * high


@shapes
def test_the_divergence_of_order_one_is_the_mean_loss(scale, knee):
    """The mean of the loss has K_1 / K_0 in it; here it is integrated."""
    noise, exact_law = SinhSquared(scale, knee), SinhSquaredReference(scale, knee)
    shift = 0.3 * min(scale, knee)
    end = mp.mpf(float(noise.isf(1e-40)))
    with mp.workdps(30):
        mean = mp.quad(lambda x: exact_law.pdf(x) * exact_law.loss(x, shift), mp.linspace(-end, end, 17))
    low, middle, high = exact.renyi_divergence(noise, shift, 1.0)
    assert low <= mean <= high
    assert error(middle, mean) < 1e-13


@shapes
@pytest.mark.parametrize("shift", [1e-150, 1e-12, 1e-8])
def test_small_shifts_lose_no_digits(scale, knee, shift):
    """To second order in the shift the divergence is order shift^2 / 2 times the mean of V''."""
    ratio = mp.besselk(1, (knee / scale) ** 2 / 4) / mp.besselk(0, (knee / scale) ** 2 / 4)
    curvature = float(ratio) / scale**2
    orders = np.array([1.0, 1.5, 7.0])
    bounds = exact.renyi_divergence(SinhSquared(scale, knee), shift, orders)
    leading = orders * shift**2 / 2 * curvature
    np.testing.assert_allclose(bounds.estimate, leading, rtol=1e-11)
    assert (bounds.lower <= bounds.estimate).all()


def test_the_divergence_is_infinite_from_its_largest_order_on():
    noise = SinhSquared(4.0, 5.0)
    largest = noise.max_order(1.0)
    assert largest == pytest.approx(1 / (1 - np.exp(-0.4)), rel=1e-14)
    at = exact.renyi_divergence(noise, 1.0, np.array([largest * (1 + 1e-9), 2 * largest, np.inf]))
    assert np.isinf(at.lower).all()
    near = [exact.renyi_divergence(noise, 1.0, largest * (1 - gap)) for gap in (1e-3, 1e-6, 1e-9)]
    assert all(np.isfinite(each.upper) for each in near)
    for bounds, gap in zip(near[:2], (1e-3, 1e-6)):
        truth = closed(noise, 1.0, largest * (1 - gap))
        assert bounds.lower <= truth <= bounds.upper


def closed(noise, shift, order):
    """The closed form of docs/experiments/histograms.md, in 50 digits."""
    z = (mp.mpf(noise.knee) / noise.scale) ** 2 / 4
    half, order = mp.mpf(shift) / noise.knee, mp.mpf(float(order))
    root = mp.sqrt(1 - 4 * order * (order - 1) * mp.sinh(half) ** 2)
    return mp.log(mp.besselk(0, z * root) / mp.besselk(0, z)) / (order - 1)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 30.0, 1e3, 1e6])
def test_the_bounds_hold_the_closed_form_from_narrow_to_wide(scale):
    """knee = 1; shifts and orders over all of their ranges, so that both ways to evaluate it are taken."""
    noise = SinhSquared(scale, 1.0)
    for shift in np.array([1e-6, 1e-3, 0.1, 0.7]) * min(scale, 1.0):
        largest = float(noise.max_order(shift))
        orders = 1 + (largest - 1) * np.array([1e-9, 1e-4, 0.1, 0.5, 0.9, 0.999, 1 - 1e-7])
        bounds = exact.renyi_divergence(noise, shift, orders)
        for order, low, middle, high in zip(orders, *bounds):
            truth = closed(noise, shift, order)
            assert low <= truth <= high
            assert error(middle, truth) < 2e-12 / min(1, float((largest - order) / largest) * 1e3)


def test_the_packages_own_quadrature_agrees_with_the_closed_form(monkeypatch):
    noise = SinhSquared(4.0, 5.0)
    orders = np.linspace(1.01, 0.97 * noise.max_order(1.0), 9)
    bounds = exact.renyi_divergence(noise, 1.0, orders)
    monkeypatch.setattr(SinhSquared, "closed_renyi", lambda *_: None)
    by_quadrature = exact.renyi_divergence(noise, 1.0, orders)
    assert (by_quadrature.lower <= bounds.upper).all()
    assert (bounds.lower <= by_quadrature.upper).all()
    np.testing.assert_allclose(bounds.estimate, by_quadrature.estimate, rtol=1e-10)


@shapes
def test_divergence_over_order_rises_with_the_order(scale, knee):
    """So that the guarantee is decided at the order omega alone."""
    noise, shift = SinhSquared(scale, knee), 0.2 * min(scale, knee)
    orders = 1 + (noise.max_order(shift) - 1) * np.linspace(1e-3, 0.999, 400)
    ratio = exact.renyi_divergence(noise, shift, orders).estimate / orders
    assert (np.diff(ratio) > 0).all()


@shapes
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_the_hockey_stick_is_the_integral_of_its_definition(scale, knee, epsilon):
    shift = 0.5 * min(scale, knee)
    reference = SinhSquaredReference(scale, knee)
    noise, end = SinhSquared(scale, knee), mp.mpf(float(SinhSquared(scale, knee).isf(1e-80)))
    with mp.workdps(25):
        cut = mp.findroot(lambda x: reference.loss(x, shift) - epsilon, (-end, end), solver="anderson", tol=1e-30)
        panels = [-end - shift + (cut + end + shift) * j / 16 for j in range(17)]
        both = mp.quad(lambda x: reference.pdf(x) - mp.exp(mp.mpf(epsilon)) * reference.pdf(x - mp.mpf(shift)), panels)
    low, middle, high = exact.hockey_stick(noise, shift, epsilon)
    assert low <= both <= high
    assert error(middle, both) < 1e-9


@pytest.mark.parametrize("noise", [SinhSquared(6.0, 100.0), SinhSquared(5.0, 6.0), SinhSquared(8.0, 2.0)], ids=repr)
@pytest.mark.parametrize(("epsilon", "coordinates"), [(0.1, 1), (1.0, 1), (0.1, 2), (1.0, 2)])
def test_the_fast_profile_is_close_enough_to_search_with(noise, epsilon, coordinates):
    bounds = exact.product_profile(noise, 1.0, epsilon, coordinates)
    fast = noise.fast_profile(epsilon, bounds.estimate, coordinates)
    assert fast == pytest.approx(bounds.estimate, rel=1e-8)


@pytest.mark.parametrize("noise", [SinhSquared(2.0, 5.0), SinhSquared(5.0, 5.0), SinhSquared(8.0, 2.0)], ids=repr)
def test_it_is_the_log_of_a_generalised_inverse_gaussian_variable(noise):
    """exp(2 X / knee) is scipy's geninvgauss of index 0."""
    other = stats.geninvgauss(0, (noise.knee / noise.scale) ** 2 / 4)
    x = noise.isf(np.array([1e-4, 1e-3, 0.1, 0.4, 0.6, 0.99]))
    wide = np.exp(2 * x / noise.knee)
    np.testing.assert_allclose(noise.sf(x), other.sf(wide), rtol=1e-7)
    np.testing.assert_allclose(noise.pdf(x), other.pdf(wide) * wide * 2 / noise.knee, rtol=1e-10)


def test_a_far_knee_makes_it_gaussian():
    p = np.array([1e-300, 1e-20, 0.01, 0.3, 0.7])
    np.testing.assert_allclose(SinhSquared(2.0, 2e9).isf(p), Gaussian(2.0).isf(p), rtol=2e-15)
    assert SinhSquared(2.0, 2e9).var() == pytest.approx(4.0, rel=1e-13)


def test_it_is_sinh_normal_noise_without_the_factor_cosh():
    x = np.linspace(-9, 9, 37)
    gap = SinhNormal(3.0, 4.0).logpdf(x) - np.log(np.cosh(x / 4)) - SinhSquared(3.0, 4.0).logpdf(x)
    np.testing.assert_allclose(gap, gap[0], rtol=1e-12)


@shapes
def test_quantiles_in_logarithms_far_below_the_smallest_double(scale, knee):
    """3e-12: scipy's own normal quantiles in logarithms are good to 1.1e-12 at -1e5."""
    noise, reference = SinhSquared(scale, knee), SinhSquaredReference(scale, knee)
    for log_p in (-1e3, -1e5, -1e8, -1e14):
        x = float(noise.isf_log(log_p))
        assert error(log_p, reference.logsf(x)) < 3e-12
        assert error(noise.logsf(x), reference.logsf(x)) < 1e-13 * (1 + x / knee)
    assert noise.isf_log(-np.inf) == np.inf
    assert noise.isf_log(np.log(0.3)) == pytest.approx(noise.isf(0.3), rel=1e-14)


@pytest.mark.parametrize("c", [1e-9, 1e-3, 0.3, 1.0, 4.0, 64.0, 1e6])
def test_the_table_of_quantiles_says_what_newtons_method_says(c):
    y = np.concatenate([[0.0, 1e-300, 1e-12], np.linspace(1e-3, 39.99, 997), [40.0, 41.0, 1e3]])
    few = np.concatenate([law.quantile(part, c) for part in np.array_split(y, 10)])
    np.testing.assert_allclose(law.quantile(y, c), few, rtol=2e-13 if c > 100 else 2e-14)
    assert np.isnan(law.quantile(np.append(y, np.nan), c)[-1])


def test_tails_where_the_two_rules_meet():
    """The centre's rule ends and the tail's begins at v = 2."""
    for scale in (1e-3, 1.0, 50.0, 1e4):
        noise = SinhSquared(scale, 1.0)
        meeting = np.arcsinh(2 * scale)
        x = meeting * (1 + np.array([-1e-13, 1e-13]))
        below, above = noise.sf(x)
        expected = noise.pdf(meeting) * 2e-13 * meeting
        assert below - above == pytest.approx(expected, abs=3e-13 * above)


@pytest.mark.parametrize("z", [1e-279, 1e-30, 1e-3, 1.0, 700.0, 999_999.0, 1_000_001.0, 1e7, 1e9, 1e30])
def test_the_bessel_functions_on_both_sides_of_their_expansions(z):
    exact_z = mp.mpf(z)
    with mp.workdps(40):
        k0, k1 = (mp.besselk(n, exact_z) for n in (0, 1)) if z < 1e8 else (None, None)
        if k0 is None:  # the first terms of the expansion, the next of which is below 1e-25
            scaled = mp.sqrt(mp.pi / (2 * exact_z)) * (1 - 1 / (8 * exact_z) + 9 / (128 * exact_z**2))
            slope = 1 + 1 / (2 * exact_z) - 1 / (8 * exact_z**2)
        else:
            scaled, slope = k0 * mp.exp(exact_z), k1 / k0
    assert error(law.bessel(z), scaled) < 6e-15
    assert error(sinh_squared_renyi._slope(np.array(z)), slope) < 6e-15


@pytest.mark.parametrize("c", [1e-300, 1e-12, 2e-9, 1.0, 1e100, 9e138, 2e139, 1e300])
def test_the_mass_from_the_narrowest_to_the_widest_law(c):
    with mp.workdps(40):
        z = 1 / (2 * mp.mpf(c)) ** 2
        narrow = mp.sqrt(mp.pi / (2 * z)) * (1 - 1 / (8 * z))  # to a relative 1e-30 where z is above 1e16
        truth = narrow if z > 1e16 else mp.exp(z) * mp.besselk(0, z)
        assert abs(law.mass(c) / truth - 1) < 2e-15


def test_ratios_at_the_ends_of_the_floats():
    assert SinhSquared(1.0, 1e250).isf(0.1) == pytest.approx(Gaussian(1.0).isf(0.1), rel=1e-14)
    wide = SinhSquared(1e200, 1.0)  # uniform up to about log(scale)
    assert float(wide.isf(0.25)) == pytest.approx(0.25 * float(law.mass(1e200)), rel=1e-9)
    assert 0 < wide.var() < 1e6


MANY = [SinhSquared(4.5, 5.0), SinhSquared(8.0, 2.0), SinhSquared(1.0, 1e3), SinhSquared(1e3, 1.0)]


def counts(noise, draws, cells, seed):
    """How many draws fall between successive quantiles of equal probability."""
    rng, found, out = np.random.default_rng(seed), np.zeros(cells, dtype=np.int64), np.empty(2**20)
    edges = noise.isf(1 - np.arange(1, cells) / cells)
    for _ in range(draws // out.size):
        noise.fill(out, rng=rng)
        found += np.bincount(np.searchsorted(edges, out), minlength=cells)
    return found


@pytest.mark.parametrize("noise", MANY, ids=repr)
@pytest.mark.parametrize(("draws", "cells"), [(2**22, 1000), pytest.param(10**8, 6001, marks=pytest.mark.slow)])
def test_many_draws_fall_evenly_between_quantiles(noise, draws, cells):
    """6001 cells are finer than the strips, and no multiple of them."""
    assert stats.chisquare(counts(noise, draws, cells, seed=18)).pvalue > 1e-5


@pytest.mark.parametrize("noise", MANY[:2], ids=repr)
def test_draws_of_the_outermost_strips_have_the_right_tails(noise):
    """Given that a draw lies beyond the last edge, its tail over that of the edge is uniform."""
    rng, out, far = np.random.default_rng(7), np.empty(2**21), []
    edge = noise.isf(1 / strips.COUNT)
    for _ in range(8):
        noise.fill(out, rng=rng)
        far.append(np.abs(out[np.abs(out) > edge]))
    share = noise.sf(np.concatenate(far)) * strips.COUNT
    assert stats.binomtest(len(share), 2**24, 2 / strips.COUNT).pvalue > 1e-5
    assert stats.kstest(share, "uniform").pvalue > 1e-5


class Given:
    """A generator whose uniform draws are given, and whose exponential draws are far out."""

    def __init__(self, *uniform):
        self.uniform = list(uniform)

    def random(self, size=None, out=None):
        values = np.array([self.uniform.pop(0) for _ in range(out.size if size is None else size)])
        if out is None:
            return values
        out[...] = values
        return out

    def standard_exponential(self, size):
        return np.full(size, 500.0)


def test_a_draw_beyond_all_edges_reaches_into_the_tails():
    noise, out = SinhSquared(4.0, 5.0), np.empty(2)
    noise.fill(out, rng=Given(0.1 / strips.COUNT, 1 - 0.1 / strips.COUNT))
    expected = noise.isf_log(-500.0 - np.log(strips.COUNT))
    np.testing.assert_allclose(out, [-expected, expected], rtol=1e-15)


def test_what_is_above_the_rectangle_is_accepted_below_the_density():
    """The highest point of a strip's corner is rejected, the next proposal is taken."""
    noise, out = SinhSquared(4.0, 5.0), np.empty(1)
    strip = strips.COUNT - 40
    low, high = noise.isf(0.5 - np.array([strip, strip + 1]) / strips.COUNT + 0.5)
    noise.fill(out, rng=Given((strip + 1 - 1e-9) / strips.COUNT, 0.999, 0.999, 0.25, 0.01))
    assert out[0] == pytest.approx(low + 0.25 * (high - low), rel=1e-12)


@pytest.mark.parametrize("strip", [2, strips.COUNT // 2 + 3, strips.COUNT - 2])
def test_what_lies_above_a_rectangle_has_the_law_of_the_rest(strip):
    """Given the strip, and that the draw is not in its rectangle: the density less its height at the outer edge."""
    noise = SinhSquared(4.0, 5.0)
    ends = np.sort(noise.isf(1 - np.array([strip, strip + 1]) / strips.COUNT))
    least = noise.pdf(ends).min()

    def mass_until(x):
        return noise.cdf(x) - noise.cdf(ends[0]) - least * (x - ends[0])

    draws = strips.strips(noise)._rest(np.random.default_rng(3), np.full(20_000, strip))
    assert stats.kstest(draws, lambda x: mass_until(x) / mass_until(ends[1])).pvalue > 1e-5


@pytest.mark.parametrize("noise", MANY, ids=repr)
def test_nearly_all_draws_take_one_uniform_draw(noise):
    assert 0.99 < strips.strips(noise).share.mean() < 0.998


@pytest.mark.parametrize("shape", [(20_001,), (7, 3001)])
def test_an_array_that_is_not_contiguous_is_filled_as_one_that_is(shape):
    noise, whole = SinhSquared(4.0, 5.0), np.empty((*shape, 2))
    noise.fill(whole[..., 0], rng=np.random.default_rng(3))
    np.testing.assert_array_equal(whole[..., 0], noise.sample(shape, rng=np.random.default_rng(3)))
