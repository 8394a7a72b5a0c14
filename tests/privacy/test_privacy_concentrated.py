"""What implies zCDP, tCDP and approximate zCDP: constants, and the exact curves that they must cover."""

import math

import mpmath as mp
import numpy as np
import pytest
from privacy_references import binary_renyi, close, response

from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
    to_approx_dp,
    to_approx_zcdp,
    to_tcdp,
    to_zcdp,
    zcdp_from_family,
)

METHODS = ["paper", "tight"]
methods = pytest.mark.parametrize("method", METHODS)
ORDERS = [1.0001, 1.1, 1.5, 2, 3, 7, 30, 1000]


@methods
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1, 4, 30])
def test_the_zcdp_of_pure_dp_covers_randomised_response(epsilon, method):
    rho = to_zcdp(PureDP(epsilon), method).rho
    p = response(epsilon)
    with mp.workdps(40):
        for order in [1, *ORDERS]:
            assert binary_renyi(p, 1 - p, order) <= rho * order * (1 + 1e-14)


def test_constants_of_pure_dp():
    assert close(to_zcdp(PureDP(0.6)), ZCDP(0.18))
    assert to_zcdp(PureDP(0.6)) == to_zcdp(PureDP(0.6), "paper")
    tight = to_zcdp(PureDP(0.6), "tight").rho
    assert tight == pytest.approx(0.6 * math.tanh(0.3), rel=1e-15)
    with mp.workdps(40):  # no smaller rho is true: it is the KL divergence of randomised response
        assert tight == pytest.approx(float(binary_renyi(response(0.6), 1 - response(0.6), 1)), rel=1e-14)


@methods
def test_a_rho_that_underflows_is_rounded_up(method):
    for epsilon in (0.0, 1e-200):
        assert to_zcdp(PureDP(epsilon), method) == ZCDP(5e-324)
    assert to_tcdp(RDP(3, 0)) == TCDP(5e-324, 3)
    assert to_zcdp(MeanConcentratedDP(0, 1e-200), method) == ZCDP(5e-324)


@methods
def test_equivalent_notions_convert_without_loss(method):
    assert to_zcdp(ZCDP(0.1, 0.2), method) == ZCDP(0.1, 0.2)
    assert to_zcdp(TCDP(0.1, math.inf), method) == ZCDP(0.1)
    assert to_zcdp(ApproxZCDP(0, 0.1, 0.2), method) == ZCDP(0.1, 0.2)
    for same in (RDP(math.inf, 0.6), ApproxZCDP(0, 0, 0.6)):
        assert to_zcdp(same, method) == to_zcdp(PureDP(0.6), method)
    assert to_tcdp(TCDP(0.1, 7), method) == TCDP(0.1, 7)
    assert to_tcdp(TCDP(0.1, math.inf), method) == TCDP(0.1, math.inf)
    assert close(to_tcdp(ZCDP(0.1, 0.2), method), TCDP(0.3, math.inf))
    assert to_tcdp(RDP(7, 0.2), method) == TCDP(0.2, 7)
    assert to_tcdp(PureDP(0.6), method) == TCDP(to_zcdp(PureDP(0.6), method).rho, math.inf)
    assert to_approx_zcdp(ApproxZCDP(0.1, 0.2, 0.3), method) == ApproxZCDP(0.1, 0.2, 0.3)
    assert to_approx_zcdp(ZCDP(0.2, 0.3), method) == ApproxZCDP(0, 0.2, 0.3)


def test_the_zcdp_of_mean_concentrated_dp():
    assert close(to_zcdp(MeanConcentratedDP(0.5, 0.6)), ZCDP(0.18, 0.32))  # Lemma 24
    assert close(to_zcdp(MeanConcentratedDP(0.1, 0.6)), ZCDP(0.18, 0))  # xi = -0.08 would be true too
    assert close(to_zcdp(MeanConcentratedDP(0.5, 0.6), "tight"), ZCDP(0.18, 0))
    assert close(to_tcdp(MeanConcentratedDP(0.5, 0.6)), TCDP(0.5, math.inf))


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_mean_of_a_concentrated_loss_is_small_by_itself(epsilon):
    """tau of randomised response, from its definition; then E Z <= tau^2/2 and (0, tau^2/2)-zCDP holds."""
    p = float(response(epsilon))
    mean = epsilon * (2 * p - 1)
    slopes = np.concatenate([np.linspace(-40, 40, 4000) / epsilon, [-1]])  # of even number: not zero
    log_mgf = np.logaddexp(np.log(p) + slopes * (epsilon - mean), np.log1p(-p) - slopes * (epsilon + mean))
    tau = math.sqrt(2 * np.max(log_mgf / slopes**2))
    assert mean <= 0.5 * tau**2 * (1 + 1e-12)
    rho = to_zcdp(MeanConcentratedDP(10 * mean, tau), "tight")
    assert rho.xi == 0
    for order in ORDERS:
        assert binary_renyi(response(epsilon), 1 - response(epsilon), order) <= rho.rho * order * (1 + 1e-12)


def test_lemma_37():
    guarantee = ApproxDP(0.6, 1e-6)
    assert to_approx_zcdp(guarantee, "lossless") == ApproxZCDP(1e-6, 0, 0.6)
    assert close(to_approx_zcdp(guarantee), ApproxZCDP(1e-6, 0.18))
    assert close(to_approx_zcdp(guarantee, "tight"), ApproxZCDP(1e-6, 0.6 * math.tanh(0.3)))
    assert to_approx_zcdp(PureDP(0.6), "lossless") == ApproxZCDP(0, 0, 0.6)
    assert close(to_approx_zcdp(MeanConcentratedDP(0.5, 0.6), "lossless"), ApproxZCDP(0, 0.18, 0))


@pytest.mark.parametrize("method", ["lossless", "paper", "tight"])
def test_going_through_approximate_zcdp_gains_nothing(method):
    for delta in (1e-6, 1e-4, 0.3, 1):
        direct = to_approx_dp(ApproxDP(0.6, 1e-7), delta).epsilon
        through = to_approx_dp(to_approx_zcdp(ApproxDP(0.6, 1e-7), method), delta).epsilon
        assert through >= direct - 1e-15
        assert method != "lossless" or through == pytest.approx(direct, rel=1e-14)


def test_lemma_22():
    xi, rho = 0.2, 0.4
    assert close(zcdp_from_family(xi, rho), ZCDP(0.1, 0.2 - 0.1 + 5 * 0.4**0.25))
    assert zcdp_from_family(0.5, 0) == ZCDP(5e-324, 0.5)
    # A Gaussian that is r-zCDP has the family (r, 4 r) by Lemma 21; the lemma must give back what is true.
    for r in (1e-6, 0.01, 0.25):
        back = zcdp_from_family(r, 4 * r)
        assert back.rho == pytest.approx(r)
        assert all(r * order <= back.xi + back.rho * order for order in [1, *ORDERS])


@pytest.mark.parametrize(
    ("xi", "rho"), [(-0.1, 0.5), (1.1, 0.5), (0.5, -0.1), (0.5, 1.1), (math.nan, 0.5), (0.5, None)]
)
def test_lemma_22_holds_up_to_one_only(xi, rho):
    with pytest.raises(ValueError, match=r"(xi|rho) = .*valid: 0 <= (xi|rho) <= 1"):
        zcdp_from_family(xi, rho)


@pytest.mark.parametrize(
    ("what", "guarantee", "reason"),
    [
        (to_zcdp, TCDP(0.1, 5), "implies no zCDP: it bounds Renyi divergences below order 5 only"),
        (to_zcdp, RDP(5, 0.1), "implies no zCDP: it bounds Renyi divergences up to order 5 only"),
        (to_zcdp, ApproxDP(1, 1e-6), "implies no zCDP: with probability delta anything may happen"),
        (to_zcdp, ApproxZCDP(1e-6, 1), "implies no zCDP: with probability delta anything may happen"),
        (to_tcdp, ApproxDP(1, 1e-6), "implies no tCDP: with probability delta anything may happen"),
        (to_tcdp, ApproxZCDP(1e-6, 1), "implies no tCDP: with probability delta anything may happen"),
        (to_approx_zcdp, TCDP(0.1, 5), "implies no zCDP"),
        (to_approx_zcdp, RDP(5, 0.1), "implies no zCDP"),
    ],
)
def test_what_does_not_follow_is_refused_with_the_reason(what, guarantee, reason):
    with pytest.raises(ValueError, match=reason) as failure:
        what(guarantee)
    assert str(guarantee) in str(failure.value)


@pytest.mark.parametrize("what", [to_zcdp, to_tcdp, to_approx_zcdp])
def test_unknown_methods_and_notions_are_refused(what):
    with pytest.raises(ValueError, match="method = 'best'"):
        what(PureDP(1), "best")
    with pytest.raises(ValueError, match=r"guarantee = 0.5"):
        what(0.5)
