"""Tails of the privacy loss: the papers' formulas, brute force over orders, and mechanisms that keep the promise."""

import numpy as np
import pytest

from tcdp_sim.calibration import calibrate
from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
    loss_tail_bound,
    renyi_bound,
)

T = np.linspace(-2, 8, 201)


def tail(guarantee):
    return np.array([loss_tail_bound(guarantee, t) for t in T])


@pytest.mark.parametrize("rho", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("omega", [1.5, 5.0, 40.0, np.inf])
def test_concentrated_tails_are_those_of_the_paper(rho, omega):
    """Bun-Dwork-Rothblum-Steinke 2018, Section 1.3."""
    t = np.maximum(T - rho, 0)
    log_tail = -(t**2) / (4 * rho)
    if np.isfinite(omega):
        log_tail = np.where(t <= 2 * rho * (omega - 1), log_tail, (omega - 1) ** 2 * rho - (omega - 1) * t)
    expected = np.exp(log_tail)
    np.testing.assert_allclose(tail(TCDP(rho, omega)), expected, rtol=1e-12)
    if np.isinf(omega):
        np.testing.assert_allclose(tail(ZCDP(rho)), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "guarantee", [ZCDP(0.3, 0.2), TCDP(0.2, 4.0), RDP(5.0, 0.7), MeanConcentratedDP(0.3, 0.6)], ids=str
)
def test_no_order_gives_a_smaller_bound(guarantee):
    curve = renyi_bound(guarantee)
    orders = 1 + np.geomspace(1e-6, min(curve.highest - 1, 1e3), 4000)
    divergence = np.array([curve(order) for order in orders])
    for t in T:
        best = np.exp(min(0.0, ((orders - 1) * (divergence - t)).min()))
        found = loss_tail_bound(guarantee, t)
        assert found <= best * (1 + 1e-9)
        assert found >= best * (1 - 1e-2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
@pytest.mark.parametrize("t", [0.05, 0.5, 1.0, 1.5, 20.0])
def test_two_outputs_attain_the_bounds_of_dp(epsilon, delta, t):
    """P = (p, 1 - p), Q = (p e^-t, 1 - p e^-t) is (epsilon, delta)-DP both ways, and not with a larger p."""
    t *= epsilon
    p = loss_tail_bound(ApproxDP(epsilon, delta) if delta else PureDP(epsilon), t * (1 - 1e-13))
    assert (p == 0) == (delta == 0 and t > epsilon)

    def excess(p):
        one, other = np.array([p, 1 - p]), np.array([p * np.exp(-t), 1 - p * np.exp(-t)])
        return max(np.maximum(a - np.exp(epsilon) * b, 0).sum() for a, b in ((one, other), (other, one)))

    rounding = 1e-12 + 1e-15 * np.exp(epsilon)
    assert excess(p) <= delta + rounding
    assert p > 1 - 1e-12 or excess(p + 1e-3 * (1 - p)) > delta + 1e-10 * (t > 1e-2)


def test_pure_dp_has_no_loss_above_epsilon():
    assert loss_tail_bound(PureDP(1.0), 1.0) == 0
    assert loss_tail_bound(PureDP(1.0), 2.0) == 0
    assert loss_tail_bound(PureDP(0.0), 0.0) == 0
    assert loss_tail_bound(PureDP(0.0), -0.1) == 1


@pytest.mark.parametrize(
    ("family", "guarantee"),
    [
        ("laplace", PureDP(0.7)),
        ("truncated_laplace", ApproxDP(0.7, 1e-4)),
        ("gaussian", ZCDP(0.25)),
        ("sinh_normal", TCDP(0.25, 4.0)),
    ],
)
def test_calibrated_noise_stays_below_its_bound(family, guarantee):
    """P[L > t] = P[noise < the output where the loss is t]: the loss of these falls with the output."""
    noise = calibrate(family, guarantee).noise
    x = np.linspace(-60, 60, 240_001)
    loss = noise.privacy_loss(x, 1.0)
    for t in T:
        above = x[loss > t]
        probability = noise.cdf(above[-1]) if len(above) else 0.0
        assert probability <= loss_tail_bound(guarantee, t) * (1 + 1e-9)


@pytest.mark.parametrize(
    "guarantee", [PureDP(1.0), ApproxDP(1.0, 0.01), ZCDP(0.2, 0.1), TCDP(0.1, 3.0), RDP(4.0, 1.0)], ids=str
)
def test_tails_are_probabilities_that_fall(guarantee):
    found = tail(guarantee)
    assert found[0] == 1
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) <= 0).all()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="threshold = nan"):
        loss_tail_bound(PureDP(1.0), np.nan)
    with pytest.raises(ValueError, match="approximate"):
        loss_tail_bound(ApproxZCDP(1e-3, 0.1), 1.0)
    with pytest.raises(ValueError, match="guarantee"):
        loss_tail_bound("pure", 1.0)
