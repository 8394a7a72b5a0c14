"""Renyi curves of guarantees against 40 digits, and the best order against brute force."""

import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from privacy_references import binary_renyi, cks_epsilon, gaussian_delta, response
from scipy.optimize import brentq

from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
    RenyiBound,
    delta_at,
    pure_renyi,
    renyi_bound,
    tightest_epsilon,
    tightest_log_delta,
    to_approx_dp,
)
from tcdp_sim.privacy.best_order import total_variation

ORDERS = [1 + 2.0**-52, 1 + 1e-9, 1.001, 1.5, 2, 3.7, 40, 1e4, 1e9]


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 0.01, 0.5, 1, 3, 20, 40])
def test_the_curve_of_pure_dp_is_that_of_randomised_response(epsilon):
    p = response(epsilon)
    for order in [1, *ORDERS]:
        with mp.workdps(80):  # p^a q^(1-a) differs from 1 in the 24th digit and beyond
            expected = binary_renyi_80(p, epsilon, order)
        assert pure_renyi(epsilon, order) == pytest.approx(float(expected), rel=1e-14)
    assert pure_renyi(epsilon, math.inf) == epsilon


def binary_renyi_80(p, epsilon, order):
    p = mp.exp(epsilon) / (1 + mp.exp(epsilon))
    if order == 1:
        return (2 * p - 1) * mp.mpf(epsilon)
    a, e = mp.mpf(order), mp.mpf(epsilon)
    log_terms = [a * mp.log(p) + (1 - a) * mp.log(1 - p), a * mp.log(1 - p) + (1 - a) * mp.log(p)]
    top = max(log_terms)
    return (top + mp.log(sum(mp.exp(term - top) for term in log_terms))) / (a - 1) if e else mp.mpf(0)


def test_the_curve_of_pure_dp_at_the_ends_of_the_floats():
    assert pure_renyi(0.0, 2.0) == 0
    assert pure_renyi(800.0, 3.0) == pytest.approx(800, rel=1e-14)
    assert pure_renyi(1e-150, 2.0) == pytest.approx(1e-300, rel=1e-14)
    assert pure_renyi(1e-160, 1e300) == pytest.approx(1e-160, rel=1e-12)  # a epsilon is large: D -> epsilon


@pytest.mark.parametrize(
    ("guarantee", "expected", "highest"),
    [
        (ZCDP(0.1), lambda a: 0.1 * a, math.inf),
        (ZCDP(0.1, 0.3), lambda a: 0.3 + 0.1 * a, math.inf),
        (ApproxZCDP(0, 0.1, 0.3), lambda a: 0.3 + 0.1 * a, math.inf),
        (TCDP(0.1, 5), lambda a: 0.1 * a, 5),
        (TCDP(0.1, math.inf), lambda a: 0.1 * a, math.inf),
        (RDP(5, 0.7), lambda a: 0.7, 5),
        (MeanConcentratedDP(0.3, 0.5), lambda a: 0.125 * a, math.inf),
        (MeanConcentratedDP(0.1, 0.5), lambda a: 0.1 + 0.125 * (a - 1), math.inf),
        (RDP(math.inf, 0.7), lambda a: binary_renyi(response(0.7), 1 - response(0.7), a), math.inf),
        (ApproxZCDP(0, 0, 0.7), lambda a: binary_renyi(response(0.7), 1 - response(0.7), a), math.inf),
    ],
    ids=lambda value: "curve" if callable(value) else str(value),  # a function's address differs between processes
)
def test_the_curve_of_a_guarantee(guarantee, expected, highest):
    bound = renyi_bound(guarantee)
    assert bound.highest == highest
    for order in (1.25, 2, 4.9, 5, 5.1, 50):
        assert bound(order) == (pytest.approx(float(expected(order)), rel=1e-14) if order <= highest else math.inf)
    assert pickle.loads(pickle.dumps(bound))(3) == bound(3)


@pytest.mark.parametrize("order", [1e3, 1e6, 1e12, 1e300])
def test_a_large_order_is_not_an_endless_one(order):
    """(order, 0.7)-Renyi DP says nothing beyond its order, and leaves a delta at every epsilon: it is not 0.7-DP."""
    bound = renyi_bound(RDP(order, 0.7))
    assert (bound.highest, bound(order), bound(2 * order)) == (order, 0.7, math.inf)
    assert (bound(1.5), bound(2)) == (0.7, 0.7)  # 0.7-DP would give 0.105 and 0.137
    assert delta_at(RDP(order, 0.7), 0.8) > 0 == delta_at(PureDP(0.7), 0.8)
    long = renyi_bound(TCDP(1e-9, order))
    assert (long.highest, long(2 * order)) == (order, math.inf)


def test_the_delta_that_a_large_order_leaves():
    """By hand, at order a = 1e6 and epsilon = 0.7 + 1e-4: log delta = -1e-4 (a - 1) + (a - 1) log(1 - 1/a) - log a."""
    a = mp.mpf(10) ** 6
    truth = -mp.mpf("1e-4") * (a - 1) + (a - 1) * mp.log(1 - 1 / a) - mp.log(a)
    value, order = tightest_log_delta(renyi_bound(RDP(1e6, 0.7)), 0.7001)
    assert value == pytest.approx(float(truth), rel=1e-9)
    assert value == pytest.approx(-114.8154, abs=1e-4)
    assert order == pytest.approx(1e6)
    assert to_approx_dp(RDP(1e6, 0.7), math.exp(float(truth))).epsilon == pytest.approx(0.7001, rel=1e-9)


def test_the_curve_of_the_gaussian_has_no_room():
    """The Gaussian meets its zCDP bound with equality, by quadrature of the definition."""
    rho, theta = 0.3, math.sqrt(0.6)
    for order in (1.5, 3, 6):
        y = np.linspace(-30, 30, 20001)
        log_f = -0.5 * order * (y - theta) ** 2 - 0.5 * (1 - order) * y**2 - 0.5 * math.log(2 * math.pi)
        divergence = math.log(np.exp(log_f).sum() * (y[1] - y[0])) / (order - 1)
        assert renyi_bound(ZCDP(rho))(order) == pytest.approx(divergence, rel=1e-10)


@pytest.mark.parametrize("guarantee", [ApproxDP(1, 1e-6), ApproxZCDP(1e-6, 0.1), ApproxZCDP(1e-6, 0, 0.1)], ids=str)
def test_where_anything_may_happen_there_is_no_curve(guarantee):
    with pytest.raises(ValueError, match="bounds no Renyi divergence: with probability delta anything may happen"):
        renyi_bound(guarantee)


@pytest.mark.parametrize("order", [1, 0.5, -1, math.nan, "2", None, [2.0, 3.0]])
def test_orders_out_of_range_are_refused(order):
    with pytest.raises(ValueError, match=r"order = .* valid: (1 < order <= inf|one number)"):
        renyi_bound(ZCDP(0.1))(order)


def test_a_domain_ends_above_order_one():
    with pytest.raises(ValueError, match="highest = 1 is not valid; valid: 1 < highest <= inf"):
        RenyiBound(lambda a: a, 1)


# The best order


def test_answers_are_rounded_up():
    """In floating point a half of the answers would be below the formula at the order returned."""
    rng = np.random.default_rng(3)
    for rho, log_delta in zip(10 ** rng.uniform(-6, 3, 60), rng.uniform(-600, -1, 60), strict=True):
        bound, delta = renyi_bound(ZCDP(float(rho))), math.exp(log_delta)
        with mp.workdps(40):
            epsilon, order = tightest_epsilon(bound, delta)
            if order > 1 and epsilon > 0:
                a = mp.mpf(order)
                assert epsilon >= rho * a + mp.log1p(-1 / a) - (mp.log(delta) + mp.log(a)) / (a - 1)
            found, order = tightest_log_delta(bound, epsilon)
            if order > 1:
                a = mp.mpf(order)
                assert found >= (a - 1) * (rho * a - mp.mpf(epsilon) + mp.log1p(-1 / a)) - mp.log(a)
            distance = mp.sqrt(min(mp.mpf(rho) / 2, 1 - mp.exp(-mp.mpf(rho))))
            assert total_variation(renyi_bound(RDP(1.5, float(rho)))) >= distance


@pytest.mark.parametrize("delta", [1e-300, 1e-20, 1e-6, 0.01])
@pytest.mark.parametrize("rho", [1e-12, 1e-6, 0.01, 0.1, 1, 30, 1e6])
def test_the_best_order_for_zcdp_solves_its_equation(rho, delta):
    """d/da of the formula is zero where rho (a-1)^2 = log(1/delta) - log a: found here with 40 digits."""
    if delta >= math.sqrt(rho / 2):  # the KL divergence settles it
        assert tightest_epsilon(renyi_bound(ZCDP(rho)), delta) == (0, 1)
        return
    with mp.workdps(40):
        cost = -mp.log(mp.mpf(delta))
        high = mp.sqrt(cost / rho)
        u = mp.findroot(lambda u: rho * u * u + mp.log1p(u) - cost, (mp.mpf(0), high), solver="anderson", tol=1e-60)
        expected = rho * (1 + u) + mp.log(u / (1 + u)) + (cost - mp.log1p(u)) / u
    epsilon, order = tightest_epsilon(renyi_bound(ZCDP(rho)), delta)
    assert epsilon == pytest.approx(max(float(expected), 0), rel=1e-12, abs=1e-13 * float(rho * (1 + u)))
    if expected > 0:
        assert order - 1 == pytest.approx(float(u), rel=1e-6)


@pytest.mark.parametrize("delta", [1e-100, 1e-6, 0.05])
@pytest.mark.parametrize("omega", [1.000001, 1.5, 5, 30, 1e4])
def test_the_best_order_below_omega_beats_brute_force(omega, delta):
    rho = 0.1
    excess = np.geomspace(1e-9 * (omega - 1), omega - 1, 200_001)
    brute = cks_epsilon(lambda a: rho * a, delta, 1 + excess).min()
    answer, _ = tightest_epsilon(renyi_bound(TCDP(rho, omega)), delta)
    assert answer <= brute + 1e-12 * abs(brute)
    if delta < math.sqrt(rho / 2):
        assert answer == pytest.approx(max(brute, 0), rel=1e-8)  # the grid is that fine
    assert to_approx_dp(TCDP(rho, omega), delta).epsilon <= answer


def test_a_flat_curve_has_its_best_order_at_its_end_or_at_one_over_delta():
    """log(1/delta) - log a changes sign there."""
    assert tightest_epsilon(renyi_bound(RDP(7, 1)), 1e-3)[1] == 7
    epsilon, order = tightest_epsilon(renyi_bound(RDP(1e5, 1)), 1e-3)
    assert order == pytest.approx(1000, rel=1e-4)
    assert epsilon == pytest.approx(1 + math.log1p(-1e-3), rel=1e-13)


def test_any_curve_can_be_converted():
    """The lesser of two bounds has a kink; brute force over the orders agrees, and the domain's end is used."""

    def curve(order):
        return np.minimum(0.02 * order**2, 0.5 + 0.05 * order)

    orders = 1 + np.geomspace(1e-6, 39, 400_001)
    for delta in (1e-9, 1e-3):
        bound = RenyiBound(lambda a: float(curve(a)), 40)
        assert tightest_epsilon(bound, delta)[0] == pytest.approx(cks_epsilon(curve, delta, orders).min(), rel=1e-9)
    for epsilon in (0.5, 2.0):
        log_deltas = (orders - 1) * (curve(orders) - epsilon + np.log1p(-1 / orders)) - np.log(orders)
        assert tightest_log_delta(bound, epsilon)[0] == pytest.approx(log_deltas.min(), rel=1e-9)


def test_no_order_beyond_the_domain_is_asked_for():
    """Where (highest - 1) + 1 and exp(log(highest - 1)) round up."""
    asked = []

    def curve(order):
        asked.append(order)
        return 0.01 * order

    highs = [1 + 2.0**-52, 1.1, *np.random.default_rng(1).uniform(1, 40, 200)]
    for highest in highs:
        asked.clear()
        order = tightest_epsilon(RenyiBound(curve, highest), 1e-30)[1]
        assert order == pytest.approx(highest, rel=1e-15)  # the best order is the end
        assert order <= max(asked) <= highest
        assert min(asked) >= 1


def test_the_answer_is_the_formula_at_the_order_returned():
    """So that it is valid whatever the search did; 40 digits."""
    for rho, omega, delta in [(0.1, math.inf, 1e-6), (0.1, 5, 1e-6), (2, 1.3, 1e-50), (1e-5, 300, 1e-9)]:
        epsilon, order = tightest_epsilon(renyi_bound(TCDP(rho, omega)), delta)
        assert 1 < order <= omega
        with mp.workdps(40):
            a = mp.mpf(order)
            value = rho * a + mp.log1p(-1 / a) - (mp.log(delta) + mp.log(a)) / (a - 1)
        assert epsilon == pytest.approx(float(value), rel=1e-14)


def attaining_pair(rho, epsilon):
    """(p, q) of a pair of coins that is nearly the worst for rho-zCDP at epsilon: P[Z = t] = e^(-(t-rho)^2 / 4 rho)."""
    t = np.linspace(epsilon, epsilon + 2, 200_001)[1:]
    best = t[np.argmax(-((t - rho) ** 2) / (4 * rho) + np.log(-np.expm1(epsilon - t)))]
    with mp.workdps(40):
        p = mp.exp(-((mp.mpf(best) - rho) ** 2) / (4 * rho)) * (1 - mp.mpf(10) ** -5)
        return p, p * mp.exp(-best)


def test_the_conversion_of_zcdp_can_hardly_be_improved():
    """A pair of coins that IS 0.1-zCDP, both ways, is not (epsilon, delta)-DP for a slightly smaller delta.

    The orders checked: a grid, at the coarse points of which the pair has slack 1e-5 by construction.
    """
    rho, epsilon = 0.1, to_approx_dp(ZCDP(0.1), 1e-6).epsilon
    p, q = attaining_pair(rho, epsilon)
    for order in [1, *(1 + np.geomspace(1e-3, 1e3, 241))]:
        assert max(binary_renyi(p, q, order), binary_renyi(q, p, order)) <= rho * order
    reached = float(p - mp.exp(epsilon) * q)
    assert (1 - 3e-5) * 1e-6 <= reached <= 1e-6


def test_the_bound_by_the_kl_divergence():
    """Pinsker: total variation <= sqrt(rho / 2); the Gaussian's lies below it and the conversion between."""
    rho = 1e-3
    tv = math.sqrt(rho / 2)
    assert to_approx_dp(ZCDP(rho), tv * (1 + 1e-9)).epsilon == 0
    assert to_approx_dp(ZCDP(rho), tv * (1 - 1e-2)).epsilon > 0
    x = brentq(lambda x: x * math.tanh(x / 2) - rho, 0, 1)  # randomised response that is rho-zCDP
    assert delta_at(ZCDP(rho), 0) == pytest.approx(math.tanh(x / 2), rel=1e-9)
    assert delta_at(ZCDP(rho), 0) < tv
    assert delta_at(ZCDP(rho), 0) > gaussian_delta(rho, 0)
    # Bretagnolle-Huber takes over for large divergences.
    assert delta_at(PureDP(30), 0) == pytest.approx(math.tanh(15), rel=1e-14)
    assert delta_at(ZCDP(3), 0) <= math.sqrt(-math.expm1(-3)) * (1 + 1e-9)
