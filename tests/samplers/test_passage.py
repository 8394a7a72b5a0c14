"""When a row of comparisons first goes wrong: against rows that are drawn one by one."""

import numpy as np
import pytest
from scipy.stats import geom, norm

from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.samplers.extremes import first_above


def found_in_rows(noise, threshold, rng, trials, length=400):
    """The first place of each drawn row with a value above the threshold."""
    above = noise.sample((trials, length), rng=rng) > threshold
    assert above.any(axis=1).all()
    return above.argmax(axis=1)


@pytest.mark.parametrize("threshold", [-2.0, 0.0, 1.5, 3.0])
@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(1.0)])
def test_the_wait_is_that_of_rows_drawn_one_by_one(noise, threshold):
    """P[wait > j] for a few j, in 4,000 rows and 40,000 draws: 5 standard errors in 40 numbers, false alarm 3e-5."""
    rng = np.random.default_rng(2)
    slow, fast = found_in_rows(noise, threshold, rng, 4000), first_above(noise, threshold, 40000, rng=rng)
    assert (fast == np.floor(fast)).all()
    assert fast.min() == 0
    for j in (0, 1, 2, 5, 20):
        p, q = (slow > j).mean(), (fast > j).mean()
        assert abs(p - q) <= 5 * np.sqrt((q * (1 - q) + 1e-4) * (1 / 4000 + 1 / 40000))


def test_long_waits_are_geometric():
    """A tail of 1e-12: the mean wait is 1e12; 5 standard errors, false alarm below 6e-7."""
    threshold = norm.isf(1e-12)
    wait = first_above(Gaussian(1.0), threshold, 20000, rng=np.random.default_rng(3))
    mean, sd = geom(1e-12).mean() - 1, geom(1e-12).std()
    assert abs(wait.mean() - mean) < 5 * sd / np.sqrt(20000)


def test_what_never_comes_and_what_comes_at_once():
    rng = np.random.default_rng(4)
    assert np.isposinf(first_above(Gaussian(1.0), 60.0, 100, rng=rng)).all()
    assert (first_above(Gaussian(1.0), -60.0, 100, rng=rng) == 0).all()
