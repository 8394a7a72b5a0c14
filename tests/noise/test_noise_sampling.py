"""Draws of every noise against its own distribution function.

Seeds are fixed, so a test that passes keeps passing; for a fresh seed each comparison has a false-alarm rate
of 1e-5, and there are about 130 of them (Bonferroni): one alarm in 800 changes of the stream.
"""

import numpy as np
import pytest
from noise_examples import ALL, EXAMPLES, stacked
from scipy import stats

from tcdp_sim.noise import TruncatedLaplace

ALPHA = 1e-5
DRAWS = 40_000
every = pytest.mark.parametrize("noise", ALL, ids=repr)


def rng(seed=20180621):
    return np.random.default_rng(seed)


@every
def test_draws_follow_the_distribution(noise):
    assert stats.kstest(noise.sample(DRAWS, rng=rng()), noise.cdf).pvalue > ALPHA


@every
def test_draws_are_independent_of_their_neighbours(noise):
    """Ranks of successive draws: signs and magnitudes must not share a stream."""
    u = noise.cdf(noise.sample(DRAWS, rng=rng(1)))
    assert stats.spearmanr(u[:-1], u[1:]).pvalue > ALPHA
    assert stats.spearmanr(np.abs(u[:-1] - 0.5), np.abs(u[1:] - 0.5)).pvalue > ALPHA
    assert stats.spearmanr(u - 0.5 > 0, np.abs(u - 0.5)).pvalue > ALPHA


@every
def test_mean_square_is_the_variance(noise):
    squares = noise.sample(DRAWS, rng=rng(2)) ** 2
    z = (squares.mean() - noise.var()) / (squares.std() / np.sqrt(DRAWS))
    assert abs(z) < stats.norm.isf(ALPHA / 2)


@every
def test_positive_and_negative_draws_are_equally_many(noise):
    draws = noise.sample(DRAWS, rng=rng(3))
    assert stats.binomtest(int((draws > 0).sum()), DRAWS).pvalue > ALPHA
    assert np.isfinite(draws).all()
    assert (draws != 0).all()


@every
@pytest.mark.parametrize("shape", [(7,), (3, 4), ()])
def test_fill_is_sample(noise, shape):
    out = np.full(shape, np.nan)
    one, two = rng(4), rng(4)
    noise.fill(out, rng=one)
    drawn = noise.sample(shape, rng=two)
    np.testing.assert_array_equal(out, drawn)
    assert np.shape(drawn) == shape
    assert one.bit_generator.state == two.bit_generator.state


@every
def test_size_is_a_shape_or_a_number(noise):
    np.testing.assert_array_equal(noise.sample(6, rng=rng(5)), noise.sample((2, 3), rng=rng(5)).ravel())
    assert noise.sample(None, rng=rng(5)) == noise.sample((), rng=rng(5))


@every
def test_equal_generators_give_equal_draws(noise):
    np.testing.assert_array_equal(noise.sample(50, rng=rng(6)), noise.sample(50, rng=rng(6)))
    assert np.all(noise.sample(50, rng=rng(6)) != noise.sample(50, rng=rng(7)))


@pytest.mark.parametrize("family", EXAMPLES)
def test_array_parameters_have_their_own_draws(family):
    column = stacked(family)
    assert column.sample(rng=rng(8)).shape == column.shape
    draws = column.sample((len(EXAMPLES[family]), 5000), rng=rng(8))
    out = np.empty_like(draws)
    column.fill(out, rng=rng(8))
    np.testing.assert_array_equal(draws, out)
    uniform = column.cdf(draws)
    for row in uniform:
        assert stats.kstest(row, "uniform").pvalue > ALPHA
    assert len(np.unique(uniform[:, 0])) == len(uniform)


@pytest.mark.parametrize("noise", EXAMPLES["truncated_laplace"], ids=repr)
def test_truncated_draws_stay_within_the_bound(noise):
    draws = noise.sample(400_000, rng=rng(9))
    assert np.abs(draws).max() <= noise.bound
    # 50 draws are expected beyond, so that there is none has probability e^-50
    assert np.abs(draws).max() > noise.isf(25 / 400_000)


class LongExponentials:
    """A generator whose exponential draws lie where inverting a 53-bit uniform never gets."""

    def standard_exponential(self, size):
        return np.full(size, 100.0)

    def random(self, size):
        return np.full(size, 0.75)


def test_truncated_draws_have_tails_beyond_the_grid_of_uniforms():
    np.testing.assert_array_equal(TruncatedLaplace(2.0, 1000.0).sample(3, rng=LongExponentials()), [200.0] * 3)
    np.testing.assert_array_equal(TruncatedLaplace(2.0, 140.0).sample(3, rng=LongExponentials()), [60.0] * 3)
