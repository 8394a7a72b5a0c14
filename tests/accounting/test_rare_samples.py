"""Records that are in a sample with a chance near the rounding of floats, against closed forms in 50 digits."""

import warnings

import pytest
from mpmath import mp, mpf

from tcdp_sim.accounting import Additive, Ledger, Sampled
from tcdp_sim.noise import DiscreteLaplace, Gaussian, Laplace

RATES = (1e-10, 1e-13, 1e-15, 5e-16, 1e-17, 1e-300)


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(1.0), DiscreteLaplace(1.0)])
@pytest.mark.parametrize("rate", RATES)
def test_brackets_are_in_order_and_nothing_warns(noise, rate):
    step = Sampled(Additive(noise, 2.0), rate, "without_replacement")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for times in (1, 10):
            ledger = Ledger([(step, times)], "substitute")
            for found in (ledger.epsilon(1e-6), ledger.epsilon(1e-20), ledger.delta(0.1)):
                assert 0 <= found.lower <= found.upper
