"""The m largest of k draws: against brute force, against Beta laws in closed form, and against the maximum.

Fixed seeds; each comparison has a false-alarm rate of 1e-6 for a fresh seed, and there are about 150 of them.
"""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.samplers import sample_max, sample_top

ALPHA = 1e-6
NOISES = [Gaussian(2.0), Laplace(3.0), SinhNormal(2.0, 5.0), TruncatedLaplace(2.0, 3.0)]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)


def rng(seed=4):
    return np.random.default_rng(seed)


@every
@pytest.mark.parametrize(("k", "m"), [(1, 1), (3, 3), (5, 2), (100, 4)])
def test_the_top_is_that_of_brute_force(noise, k, m):
    trials = 20_000
    brute = -np.sort(-noise.sample((trials, k), rng=rng(1)), axis=1)[:, :m]
    top = sample_top(noise, k, m, trials, rng=rng(2))
    assert top.shape == (trials, m)
    assert (np.diff(top, axis=1) <= 0).all()
    for one, other in [*zip(top.T, brute.T), (top.sum(axis=1), brute.sum(axis=1)), (np.ptp(top, 1), np.ptp(brute, 1))]:
        if np.ptp(one) > 0:
            assert stats.ks_2samp(one, other, method="asymp").pvalue > ALPHA


@every
@pytest.mark.parametrize("k", [7, 1000])
def test_the_ith_largest_of_uniforms_is_beta(noise, k):
    top = sample_top(noise, k, 5, 20_000, rng=rng(3))
    for i in range(5):
        assert stats.kstest(noise.cdf(top[:, i]), stats.beta(k - i, i + 1).cdf).pvalue > ALPHA


@pytest.mark.parametrize("k", [1e12, 1e100, 1e300])
def test_in_huge_domains_the_expected_number_above_the_ith_is_gamma(k):
    """k P[Z > Z_(i)] tends to a Gamma(i) variable; the error is O(1/k)."""
    noise = SinhNormal(2.0, 5.0)
    above = k * noise.sf(sample_top(noise, k, 6, 20_000, rng=rng(5)))
    for i in range(6):
        assert stats.kstest(above[:, i], stats.gamma(i + 1).cdf).pvalue > ALPHA


@every
def test_one_is_the_maximum_from_the_same_stream(noise):
    assert np.array_equal(sample_top(noise, 1e6, 1, 100, rng=rng())[:, 0], sample_max(noise, 1e6, 100, rng=rng()))


@pytest.mark.parametrize(
    ("k", "m", "said"),
    [
        *[(3, 4, "m = 4"), (3, 0, "m = 0"), (3, 1.0, "m = 1.0"), (3, True, "m = True"), (0, 1, "k = 0")],
        *[(np.nan, 1, "k = nan"), (1e301, 1, "k"), (2.5, 1, "k = 2.5"), ("3", 1, "k = '3'")],
    ],
)
def test_what_is_not_valid_is_refused(k, m, said):
    with pytest.raises(ValueError, match=f"{said}.* is not .*; valid"):
        sample_top(Gaussian(1.0), k, m, rng=rng())


def test_shapes():
    assert sample_top(Gaussian(1.0), 10, 3, rng=rng()).shape == (3,)
    assert sample_top(Gaussian(1.0), 10, 3, (2, 4), rng=rng()).shape == (2, 4, 3)
