"""Black boxes of which a bound on Renyi divergences is known, against releases that meet the bound."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from tcdp_sim.accounting import Additive, Claimed, Ledger, RandomisedResponse
from tcdp_sim.accounting.releases.class_profile import ClassProfile
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxZCDP, to_approx_dp

ORDERS = 1 + np.geomspace(1e-4, 500, 4000)


def log_moment(p, q, order):
    """(order - 1) times the Renyi divergence of two binary laws."""
    return np.logaddexp(order * np.log(p) + (1 - order) * np.log(q), order * np.log1p(-p) + (1 - order) * np.log1p(-q))


def largest_p(q, bound, orders):
    """The largest p for which a binary test is possible, by a scan over many orders."""
    limits = (orders - 1) * bound(orders)

    def excess(p):
        return max((log_moment(p, q, orders) - limits).max(), (log_moment(q, p, orders) - limits).max())

    return brentq(excess, q, 1 - 1e-13, xtol=1e-30, rtol=1e-13, maxiter=400)


def best_test(epsilon, bound, orders):
    """The class profile at one epsilon: the maximum of p - e^epsilon q over a fine grid of q, refined twice."""
    low, high = -60.0, np.log(0.5)
    for _ in range(4):
        q = np.exp(np.linspace(low, high, 41))
        values = [largest_p(each, bound, orders) - np.exp(epsilon) * each for each in q]
        best = int(np.argmax(values))
        low, high = np.log(q[[max(best - 1, 0), min(best + 1, 40)]])
    return max(values)


CASES = [
    (ZCDP(0.1), lambda a: 0.1 * a, ORDERS),
    (TCDP(0.1, 5.0), lambda a: 0.1 * a, np.append(ORDERS[ORDERS < 5.0], 5.0)),
    (RDP(8.0, 1.0), lambda a: 1.0 + 0 * a, np.array([8.0])),
    (ZCDP(0.02, 0.05), lambda a: 0.05 + 0.02 * a, ORDERS),
]


@pytest.mark.parametrize(("guarantee", "bound", "orders"), CASES)
@pytest.mark.parametrize("epsilon", [0.0, 1.5])
def test_the_profile_of_one_black_box_is_that_of_the_best_test(guarantee, bound, orders, epsilon):
    low, _, high = Ledger([Claimed(guarantee)]).delta(epsilon)
    exact = best_test(epsilon, bound, orders)
    assert low <= exact * (1 + 1e-4)  # of the grids of this test
    assert exact <= high * (1 + 1e-4)
    assert high - low <= 2e-3 * high


def test_known_values():
    """The epsilon of (0.1, 5)-tCDP and the advantage of 0.1-zCDP, x tanh(x / 2) = 0.1 and tanh(x / 2)."""
    low, _, high = Ledger([Claimed(TCDP(0.1, 5.0))]).epsilon(1e-6)
    assert low <= 3.292022 <= high
    assert low <= to_approx_dp(TCDP(0.1, 5.0), 1e-6).epsilon <= high  # another search for the same test
    low, _, high = Ledger([Claimed(ZCDP(0.1))]).advantage()
    x = brentq(lambda x: x * np.tanh(x / 2) - 0.1, 0, 2)
    assert low <= np.tanh(x / 2) <= high
    assert high - low < 2e-3 * high


@pytest.mark.parametrize("rho", [1e-4, 0.05, 1.0, 20.0])
def test_no_release_of_the_class_exceeds_its_profile(rho):
    claim = Ledger([Claimed(ZCDP(rho))])
    x = brentq(lambda x: x * np.tanh(x / 2) - rho, 0, 2 + 2 * rho)
    for epsilon in (0.0, 0.3, 3.0, 20.0):
        high = claim.delta(epsilon).upper
        assert Ledger([RandomisedResponse(x)]).delta(epsilon).lower <= high * (1 + 1e-12)
        assert Ledger([Additive(Gaussian(1.0), np.sqrt(2 * rho))]).delta(epsilon).lower <= high * (1 + 1e-12)


def test_the_gaussian_of_the_same_rho_does_not_dominate_the_class():
    claimed, gaussian = Ledger([Claimed(ZCDP(0.1))]), Ledger([Additive(Gaussian(1.0), np.sqrt(0.2))])
    assert claimed.advantage().lower > 1.2 * gaussian.advantage().upper
    assert claimed.epsilon(1e-6).lower >= gaussian.epsilon(1e-6).lower


def test_black_boxes_are_added_before_their_profile_is_taken():
    together = Ledger([(Claimed(ZCDP(0.05)), 2), Claimed(TCDP(0.1, 9.0))]).epsilon(1e-6)
    assert together.upper == Ledger([Claimed(TCDP(0.2, 9.0))]).epsilon(1e-6).upper
    renyi = Ledger([(Claimed(ZCDP(0.05)), 2), Claimed(TCDP(0.1, 9.0))]).renyi(4.0)
    assert renyi.upper == pytest.approx(0.8)
    two, one = (Ledger([(Claimed(RDP(8.0, 1.0 / n)), n)]).epsilon(1e-6) for n in (2, 1))
    assert two.upper == one.upper
    assert two.lower < one.lower  # two releases allow no test that needs all of the bound


def test_lower_ends_of_several_black_boxes_are_attained_by_a_test_and_gaussian_noise():
    """One of n releases makes the best test of rho / n, the others add Gaussian noise. For large n that is Gaussian."""
    n, rho = 1000, 0.1
    low, _, high = Ledger([(Claimed(ZCDP(rho / n)), n)]).advantage()
    mu = np.sqrt(2 * rho)
    x = brentq(lambda x: x * np.tanh(x / 2) - rho / n, 0, 2)
    assert 2 * ndtr(mu / 2) - 1 - 1e-3 < low < 2 * ndtr(mu / 2) - 1 + np.tanh(x / 2)
    x = brentq(lambda x: x * np.tanh(x / 2) - rho, 0, 2)
    assert high >= np.tanh(x / 2)


@pytest.mark.parametrize(("mu", "most"), [(0.2, 2.3575), (1.0, 5.5905), (3.0, 18.536)])
def test_a_black_box_beside_a_gaussian_lies_between_examples_and_its_class(mu, most):
    low, _, high = Ledger([Claimed(ZCDP(0.1)), Additive(Gaussian(1.0), mu)]).epsilon(1e-6)
    two = Ledger([Additive(Gaussian(1.0), np.sqrt(0.2 + mu**2))]).epsilon(1e-6)
    assert two.lower * (1 - 1e-4) <= low <= high <= most


def test_a_share_may_reveal_everything():
    claim = Ledger([(Claimed(ApproxZCDP(1e-4, 0.1)), 2)])
    lost = 1 - (1 - 1e-4) ** 2
    plain = Ledger([Claimed(ZCDP(0.2))]).delta(1.0)
    low, _, high = claim.delta(1.0)
    assert low <= lost + (1 - lost) * plain.upper
    assert high >= lost + (1 - lost) * plain.lower
    assert claim.epsilon(1e-5).lower == np.inf


def test_tangents_lie_above_possible_tests_at_every_epsilon():
    profile = ClassProfile(lambda a: 0.3 * a, (1 + 1e-6, 12.0))
    above, below = profile.dominating(0.0), profile.tests(0.0)
    for epsilon in np.linspace(0, 5, 33):
        high, low = (
            law.infinite[1] + (law.mass * np.maximum(-np.expm1(np.minimum(epsilon - law.loss, 0)), 0)).sum()
            for law in (above, below)
        )
        assert low <= high <= low * 1.002
