"""Where floats end: no warning escapes, and probabilities, log densities and quantiles stay in their ranges."""

from itertools import pairwise

import numpy as np
import pytest
from corners import CHANCES, LOGS, POINTS, SHIFTS
from noise_examples import EVERY

from tcdp_sim.noise import Noise

every = pytest.mark.parametrize("noise", EVERY, ids=repr)
x = np.array(sorted(POINTS[:-1]))


def falls(values):
    return all(later <= earlier for earlier, later in pairwise(values))


@every
def test_laws_are_defined_at_all_numbers(noise):
    for one in (noise.sf, noise.cdf):
        assert np.all((one(x) >= 0) & (one(x) <= 1))
        np.testing.assert_allclose([one(value) for value in x], one(x), rtol=1e-13)
    for one in (noise.logsf, noise.logcdf, noise.logpdf):
        assert not np.isnan(one(x)).any()
    assert np.all(noise.logsf(x) <= 0)
    assert falls(noise.sf(x))
    assert falls(noise.logsf(x))
    assert np.all(noise.pdf(x) >= 0)
    assert noise.sf(np.inf) == noise.cdf(-np.inf) == noise.pdf(np.inf) == 0
    assert np.isnan([noise.sf(np.nan), noise.logpdf(np.nan)]).all()


@every
def test_quantiles_are_defined_at_all_probabilities(noise):
    valid = np.array([p for p in CHANCES if 0 <= p <= 1])
    assert falls(noise.isf(valid))
    assert noise.isf(0.0) == -noise.isf(1.0) > 0
    assert np.isnan([noise.isf(p) for p in CHANCES if not 0 <= p <= 1]).all()
    least = -690 if type(noise).isf_log is Noise.isf_log else -np.inf
    depths = noise.isf_log(np.array([depth for depth in LOGS if depth >= least]))
    assert falls(depths)


@every
@pytest.mark.parametrize("shift", SHIFTS)
def test_losses_are_numbers_wherever_there_is_an_output(noise, shift):
    loss = noise.privacy_loss(x, shift)
    with np.errstate(over="ignore"):
        possible = (noise.logpdf(x) > -np.inf) & (noise.logpdf(x - shift) > -np.inf)
    if noise.gives_loss:
        assert not np.isnan(loss[possible]).any()
    np.testing.assert_allclose(noise.privacy_loss(-x, -shift), loss, rtol=1e-8)  # ties are broken either way
    assert noise.largest_loss(shift) >= 0 or np.isnan(noise.largest_loss(shift))
