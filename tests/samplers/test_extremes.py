"""Draws of extremes against brute force, against order statistics in closed form, and at exact quantiles.

Seeds are fixed, so a test that passes keeps passing; for a fresh seed each comparison has a false-alarm rate
of 1e-6, and there are about 700 of them (Bonferroni): one alarm in 1400 changes of the stream.
"""

import copy

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.samplers import sample_abs_max, sample_extremes, sample_max

ALPHA = 1e-6
UNBOUNDED = [Gaussian(2.0), Laplace(3.0), SinhNormal(2.0, 5.0), SinhNormal(4.0, 1.0)]
NOISES = [*UNBOUNDED, TruncatedLaplace(2.0, 3.0)]
SAMPLERS = [sample_max, sample_abs_max, sample_extremes]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)


def rng(seed=20180621):
    return np.random.default_rng(seed)


def alike(one, other):
    return stats.ks_2samp(one, other, method="asymp").pvalue > ALPHA


@every
@pytest.mark.parametrize("count", [1, 2, 10, 100, 10_000])
def test_extremes_are_those_of_brute_force(noise, count):
    trials = min(20_000, 4_000_000 // count)
    draws = noise.sample((trials, count), rng=rng(1))
    low, high = draws.min(axis=1), draws.max(axis=1)
    assert alike(sample_max(noise, count, 20_000, rng=rng(2)), high)
    assert alike(sample_abs_max(noise, count, 20_000, rng=rng(3)), np.maximum(-low, high))
    minimum, maximum = sample_extremes(noise, count, 20_000, rng=rng(4))
    assert alike(minimum, low)
    assert alike(maximum, high)
    assert alike(maximum - minimum, high - low)
    assert alike(maximum + minimum, high + low)


@every
@pytest.mark.parametrize("count", [1, 1.5, 2, 2.5, 30, 1e4])
def test_the_cdf_of_the_maximum_is_a_power(noise, count):
    """The largest of k uniforms is Beta(k, 1), the smallest Beta(1, k); k need not be whole."""
    beta = stats.beta(count, 1)
    assert stats.kstest(noise.cdf(sample_max(noise, count, 20_000, rng=rng(5))), beta.cdf).pvalue > ALPHA
    size = 1 - 2 * noise.sf(sample_abs_max(noise, count, 20_000, rng=rng(6)))
    assert stats.kstest(size, beta.cdf).pvalue > ALPHA
    minimum, maximum = sample_extremes(noise, count, 20_000, rng=rng(7))
    assert stats.kstest(noise.cdf(maximum), beta.cdf).pvalue > ALPHA
    assert stats.kstest(noise.cdf(minimum), stats.beta(1, count).cdf).pvalue > ALPHA


@pytest.mark.parametrize("count", [1, 3, 10, 1000])
def test_against_scipys_order_statistics(count):
    top = stats.order_statistic(stats.Normal(mu=0.0, sigma=2.0), n=count, r=count)
    bottom = stats.order_statistic(stats.Normal(mu=0.0, sigma=2.0), n=count, r=1)
    minimum, maximum = sample_extremes(Gaussian(2.0), count, 20_000, rng=rng(8))
    assert stats.kstest(maximum, top.cdf).pvalue > ALPHA
    assert stats.kstest(minimum, bottom.cdf).pvalue > ALPHA
    assert stats.kstest(sample_max(Gaussian(2.0), count, 20_000, rng=rng(9)), top.cdf).pvalue > ALPHA


@pytest.mark.parametrize("noise", UNBOUNDED, ids=repr)
@pytest.mark.parametrize("count", [1, 1e6, 1e12, 1e16, 1e100, 1e300])
def test_probability_integral_transform(noise, count):
    """cdf(max)^k = exp(k log cdf(max)) is uniform: no digit of the tail may be missing, whatever k is."""

    def uniform(logcdf):
        return stats.kstest(np.exp(count * logcdf), "uniform").pvalue > ALPHA

    assert uniform(noise.logcdf(sample_max(noise, count, 20_000, rng=rng(10))))
    assert uniform(np.log1p(-2 * noise.sf(sample_abs_max(noise, count, 20_000, rng=rng(11)))))
    minimum, maximum = sample_extremes(noise, count, 20_000, rng=rng(12))
    assert uniform(noise.logcdf(maximum))
    assert uniform(noise.logsf(minimum))


@pytest.mark.parametrize("count", [1e6, 1e10])
def test_probability_integral_transform_of_a_bounded_noise(count):
    """Next to the bound doubles are 4e-16 apart, hence tails 1e-16: at 1e10 draws too fine to show."""
    noise = TruncatedLaplace(2.0, 3.0)
    for seed, logcdf in (
        (13, lambda seed: noise.logcdf(sample_max(noise, count, 20_000, rng=rng(seed)))),
        (14, lambda seed: np.log1p(-2 * noise.sf(sample_abs_max(noise, count, 20_000, rng=rng(seed))))),
        (15, lambda seed: noise.logsf(sample_extremes(noise, count, 20_000, rng=rng(seed))[0])),
    ):
        assert stats.kstest(np.exp(count * logcdf(seed)), "uniform").pvalue > ALPHA


@pytest.mark.parametrize("count", [1e18, 1e100, 1e300])
def test_a_bounded_noise_ends_at_its_bound(count):
    """The mean distance from the bound is under 1e-17 here, and no exponential draw exceeds 80."""
    noise = TruncatedLaplace(2.0, 3.0)
    for draws in (sample_max(noise, count, 5000, rng=rng(16)), sample_abs_max(noise, count, 5000, rng=rng(17))):
        assert draws.max() <= noise.bound
        assert draws.min() >= noise.bound * (1 - 1e-14)


def exact_upper_quantile(noise, tail):
    """The x with P[Z > x] = tail, in 40 digits; mpmath only."""
    with mp.workdps(40):
        if isinstance(noise, Laplace):
            return float(-mp.mpf(noise.scale) * mp.log(2 * tail))
        start = mp.sqrt(-2 * mp.log(tail))
        z = mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - mp.log(tail), (start, start - 1))
        if isinstance(noise, Gaussian):
            return float(mp.mpf(noise.scale) * z)
        return float(mp.mpf(noise.knee) * mp.asinh(mp.mpf(noise.scale) / mp.mpf(noise.knee) * z))


@pytest.mark.parametrize("noise", UNBOUNDED, ids=repr)
@pytest.mark.parametrize("count", [1e6, 1e12, 1e100, 1e300])
def test_exceedances_of_exact_quantiles(noise, count):
    """The q-quantile of the maximum of k draws has upper tail 1 - q^(1/k)."""
    draws, sizes = sample_max(noise, count, 50_000, rng=rng(18)), sample_abs_max(noise, count, 50_000, rng=rng(19))
    for q in (0.001, 0.1, 0.5, 0.9, 0.999):
        with mp.workdps(40):
            tail = -mp.expm1(mp.log(mp.mpf(q)) / mp.mpf(count))
        for values, quantile in (
            (draws, exact_upper_quantile(noise, tail)),
            (sizes, exact_upper_quantile(noise, tail / 2)),
        ):
            above = int((values > quantile).sum())
            assert stats.binomtest(above, len(values), 1 - q).pvalue > ALPHA, q


@every
@pytest.mark.parametrize("count", [2, 5, 1000])
def test_joint_law_of_the_extremes_is_that_of_brute_force(noise, count):
    """Chi-square on a 6 x 6 table of (minimum, maximum), cut at quantiles of the brute force."""
    draws = noise.sample((4000, count), rng=rng(20))
    brute = draws.min(axis=1), draws.max(axis=1)
    cuts = [np.quantile(side, np.linspace(0, 1, 7)[1:-1]) for side in brute]

    def table(low, high):
        cell = 6 * np.searchsorted(cuts[0], low) + np.searchsorted(cuts[1], high)
        return np.bincount(cell, minlength=36)

    counts = np.array([table(*brute), table(*sample_extremes(noise, count, 40_000, rng=rng(21)))])
    enough = counts.sum(axis=0) >= 100  # nine in the smaller sample
    merged = np.column_stack([counts[:, enough], counts[:, ~enough].sum(axis=1)])
    merged = merged[:, merged.sum(axis=0) >= 100]
    assert merged.shape[1] >= 10
    assert stats.chi2_contingency(merged).pvalue > ALPHA


@pytest.mark.parametrize("noise", UNBOUNDED, ids=repr)
@pytest.mark.parametrize("count", [1.5, 2, 2.5, 1000, 1e12, 1e100, 1e290])
def test_joint_law_of_the_extremes_is_exact(noise, count):
    """P[a < minimum, maximum <= b] = (1 - cdf(a) - sf(b))^k."""
    minimum, maximum = sample_extremes(noise, count, 50_000, rng=rng(22))
    for p, q in ((0.2, 0.3), (0.5, 0.5), (0.9, 0.1), (2.0, 1.0)):
        low, high = noise.ppf(min(p / count, 0.45)), noise.isf(min(q / count, 0.45))
        probability = np.exp(count * np.log1p(-(noise.cdf(low) + noise.sf(high))))
        inside = int(((minimum > low) & (maximum <= high)).sum())
        assert stats.binomtest(inside, 50_000, probability).pvalue > ALPHA


@every
def test_extremes_of_one_draw_are_the_draw(noise):
    minimum, maximum = sample_extremes(noise, 1, 10_000, rng=rng(23))
    np.testing.assert_array_equal(minimum, maximum)


@every
def test_minimum_never_exceeds_maximum(noise):
    for count in (1.0, 1 + 2.0**-52, 1.01, 2, 3, 1e16, 1e300):
        minimum, maximum = sample_extremes(noise, count, 20_000, rng=rng(24))
        assert (minimum <= maximum).all(), count


@every
@pytest.mark.parametrize("count", [1, 1e16, 1e300])
def test_a_million_draws_are_finite(noise, count):
    assert np.isfinite(sample_abs_max(noise, count, 1_000_000, rng=rng(25))).all()
    assert np.isfinite(sample_extremes(noise, count, 1_000_000, rng=rng(26))).all()


class Constant:
    """A generator whose exponentials are all the same: the ends of their range come up once in 2^53."""

    def __init__(self, value):
        self.value = value

    def standard_exponential(self, size):
        return np.full(size, self.value)


@every
@pytest.mark.parametrize("exponential", [0.0, 2.0**-53, 44.0, 80.0])
def test_the_ends_of_the_generators_range_give_finite_draws(noise, exponential):
    for count in (1, 1.5, 2, 1e16, 1e300):
        for sampler in SAMPLERS:
            assert np.isfinite(sampler(noise, count, 3, rng=Constant(exponential))).all(), (sampler, count)


@every
@every_sampler
def test_the_same_words_are_consumed_whatever_the_count(noise, sampler):
    """So two counts have common random numbers, and a stream's position does not depend on the cell."""
    states = []
    for count in (1, 2.5, 1e6, 1e300):
        generator = rng(27)
        sampler(noise, count, 1000, rng=generator)
        states.append(generator.bit_generator.state)
    assert all(state == states[0] for state in states)
    assert states[0] != rng(27).bit_generator.state


@every
@every_sampler
def test_equal_generators_give_equal_draws(noise, sampler):
    one = rng(28)
    other = copy.deepcopy(one)
    first = sampler(noise, 1e9, 100, rng=one)
    np.testing.assert_array_equal(first, sampler(noise, 1e9, 100, rng=other))
    assert np.all(np.asarray(first) != sampler(noise, 1e9, 100, rng=one))


@every
def test_maxima_grow_with_the_count_under_common_random_numbers(noise):
    counts = (1, 2, 100, 1e10, 1e300)
    for sampler in (sample_max, sample_abs_max):
        draws = np.array([sampler(noise, count, 500, rng=rng(29)) for count in counts])
        assert (np.diff(draws, axis=0) >= 0).all()


@every_sampler
def test_shapes(sampler):
    noise = Gaussian(2.0)

    def shape(*arguments):
        drawn = sampler(*arguments, rng=rng())
        shapes = {np.shape(part) for part in (drawn if isinstance(drawn, tuple) else [drawn])}
        assert len(shapes) == 1
        return shapes.pop()

    assert shape(noise, 10) == ()
    assert shape(noise, 10, ()) == ()
    assert shape(noise, 10, 4) == (4,)
    assert shape(noise, 10, (2, 3)) == (2, 3)
    assert shape(noise, [1, 10, 1e9], (2, 3)) == (2, 3)
    assert shape(noise, [[1], [10]]) == (2, 1)
    assert shape(Gaussian([1.0, 2.0, 3.0]), [[1], [10]]) == (2, 3)
    drawn = sampler(noise, 10, rng=rng())
    assert all(isinstance(part, float) for part in (drawn if isinstance(drawn, tuple) else [drawn]))


@every_sampler
def test_array_counts_and_noises_have_independent_draws(sampler):
    """Each entry must have its own random number: the default size is the shape of what is broadcast."""
    for noise, count in ((Gaussian(1.0), [5.0] * 4), (Gaussian([1.0] * 4), 5.0)):
        drawn = np.reshape(sampler(noise, count, rng=rng(30)), (-1, 4))  # one row, or minima and maxima
        assert all(len(set(row)) == 4 for row in drawn)


@every
def test_array_counts_have_their_own_laws(noise):
    counts = np.array([[1.0], [2.5], [1e6]])
    draws = sample_max(noise, counts, (3, 20_000), rng=rng(31))
    for count, row in zip(counts[:, 0], draws):
        assert stats.kstest(np.exp(count * noise.logcdf(row)), "uniform").pvalue > ALPHA
    minimum, maximum = sample_extremes(noise, counts, (3, 1000), rng=rng(32))
    np.testing.assert_array_equal(minimum[0], maximum[0])
    assert (minimum[1:] < maximum[1:]).all()


@every_sampler
@pytest.mark.parametrize("count", [0.5, 0, -1, 1 - 2.0**-53, np.nan, np.inf, 1e301, [2, 0.5]], ids=repr)
def test_invalid_counts_are_refused(sampler, count):
    bad = np.atleast_1d(count)[-1]
    with pytest.raises(ValueError, match="k = ") as failure:
        sampler(Gaussian(1.0), count, 2, rng=rng())
    assert str(failure.value) == f"k = {bad:g} is not valid; valid: 1 <= k <= 1e+300"


@every_sampler
@pytest.mark.parametrize("count", ["10", None, True, 1j])
def test_counts_that_are_no_numbers_are_refused(sampler, count):
    with pytest.raises(ValueError, match="is not a number; valid: 1 <= k <= 1e\\+300"):
        sampler(Gaussian(1.0), count, 2, rng=rng())


def test_counts_may_be_whole_numbers_beyond_64_bits():
    assert sample_max(Gaussian(1.0), 10**100, rng=rng(33)) == sample_max(Gaussian(1.0), 1e100, rng=rng(33))
