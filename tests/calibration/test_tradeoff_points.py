"""Noise for a point of a trade-off curve, against closed forms."""

import pytest
from scipy.stats import norm

from tcdp_sim.accounting import Additive, Ledger, RandomisedResponse, Sampled
from tcdp_sim.calibration import TradeoffPoint, calibrate_releases
from tcdp_sim.noise import Gaussian, Laplace


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.9), (1e-3, 0.99), (0.4, 0.5)])
def test_gaussian_noise(alpha, beta):
    """Two releases: the best test has the power Phi(mu - Phi^-1(1 - alpha)) with mu = sqrt(2) / sigma."""
    found = calibrate_releases([(Additive(Gaussian(3.0)), 2)], TradeoffPoint(alpha, beta))
    exact = 2**0.5 / (norm.isf(alpha) - norm.isf(1 - beta))
    assert exact * (1 - 1e-9) <= 3 * found.factor <= exact * (1 + 1e-3)
    assert found.ledger.tradeoff(alpha).lower >= beta


def test_laplace_noise():
    """With alpha e^epsilon <= 1 / 2 the best power is alpha e^epsilon."""
    found = calibrate_releases([Additive(Laplace(1.0))], TradeoffPoint(1e-3, 0.99))
    assert found.noise.scale == pytest.approx(1 / 2.302585092994046, rel=1e-6)


def test_beside_a_fixed_release_and_for_samples():
    point = TradeoffPoint(0.1, 0.7)
    beside = calibrate_releases([RandomisedResponse(0.1)], point, family="gaussian").ledger
    sampled = calibrate_releases([(Sampled(Additive(Gaussian(1.0)), 0.1), 20)], point, relation="add_remove").ledger
    for ledger in (beside, sampled):
        assert 0.7 <= ledger.tradeoff(0.1).lower < 0.701


def test_what_cannot_be_met():
    for alpha, beta, name in ((0.0, 0.5, "alpha"), (0.2, 0.8, "beta"), (0.2, 0.0, "beta")):
        with pytest.raises(ValueError, match=f"{name} = .* valid: 0 < {name} <"):
            TradeoffPoint(alpha, beta)
    with pytest.raises(ValueError, match="the releases that are not free spend power"):
        calibrate_releases([RandomisedResponse(2.0)], TradeoffPoint(0.1, 0.7), family="gaussian")
    assert Ledger().tradeoff(0.1).lower == pytest.approx(0.9)
