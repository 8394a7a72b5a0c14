"""Conversions by binary tests, against a search over all tests that all orders allow, and against releases."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxZCDP, RenyiBound, delta_at, renyi_bound, to_approx_dp
from tcdp_sim.privacy.binary_tests import (
    _bend,
    _by_tangents,
    _log_delta_by_tangents,
    _under_tangent,
    advantage,
    binary_delta,
    binary_epsilon,
)

KNOWN = [  # guarantee, epsilon, delta of the best test
    (ZCDP(0.1), 0.25, 0.13279),
    (ZCDP(0.1), 0.5, 0.06767),
    (ZCDP(0.1), 1.0, 0.008683),
    (TCDP(0.1, 5.0), 1.0, 0.009853),
    (TCDP(0.1, 5.0), 2.0, 1.7569e-4),
    (TCDP(0.1, 5.0), 3.292022, 1e-6),
]


@pytest.mark.parametrize(("guarantee", "epsilon", "delta"), KNOWN)
def test_known_values(guarantee, epsilon, delta):
    assert delta_at(guarantee, epsilon) == pytest.approx(delta, rel=1e-4)
    assert to_approx_dp(guarantee, delta).epsilon == pytest.approx(epsilon, rel=1e-4)


def log_moment(p, q, order):
    return np.logaddexp(order * np.log(p) + (1 - order) * np.log(q), order * np.log1p(-p) + (1 - order) * np.log1p(-q))


def best_test(epsilon, bound, orders):
    """The maximum of p - e^epsilon q over tests that all orders allow in both directions, by search."""
    limits = (orders - 1) * np.array([bound(order) for order in orders])

    def largest_p(q):
        def excess(p):
            return max((log_moment(p, q, orders) - limits).max(), (log_moment(q, p, orders) - limits).max())

        return brentq(excess, q, 1 - 1e-13, xtol=1e-30, rtol=1e-13)

    low, high = -40.0, np.log(0.5)
    for _ in range(5):
        q = np.exp(np.linspace(low, high, 13))
        values = [largest_p(each) - np.exp(epsilon) * each for each in q]
        best = int(np.argmax(values))
        low, high = np.log(q[[max(best - 1, 0), min(best + 1, 12)]])
    return max(values)


@pytest.mark.parametrize(
    ("guarantee", "epsilon"),
    [(ZCDP(0.1), 0.6), (ZCDP(0.02, 0.05), 0.4), (TCDP(0.1, 5.0), 2.5), (RDP(8.0, 1.0), 2.0), (ZCDP(3.0), 9.0)],
)
def test_the_answer_is_that_of_the_best_test_that_all_orders_allow(guarantee, epsilon):
    bound = renyi_bound(guarantee)
    top = min(bound.highest, 60.0)
    orders = np.append(1 + np.geomspace(0.02, top - 1, 800), top) if not isinstance(guarantee, RDP) else np.array([8.0])
    exact = best_test(epsilon, bound, orders)
    found = delta_at(guarantee, epsilon)
    assert exact * (1 - 1e-4) <= found <= exact * (1 + 2e-3)
    assert to_approx_dp(guarantee, found).epsilon == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(("order", "most"), [(1.3, 1e-3), (4.0, 1e-9), (4.0, 2.0), (60.0, 0.1)])
def test_one_order_against_forty_digits(order, most):
    """The maximum of log((p - delta) / q) over the boundary of one condition, by golden section in 40 digits."""
    with mp.workdps(40):
        a, cap = mp.mpf(order), mp.exp((mp.mpf(order) - 1) * mp.mpf(most))
        delta = mp.mpf(most) / 50

        def epsilon(log_q):
            q = mp.exp(log_q)
            low, high = q, mp.mpf(1)
            for _ in range(125):
                p = (low + high) / 2
                value = p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)
                low, high = (p, high) if value <= cap else (low, p)
            return mp.log((high - delta) / q) if high > delta else mp.mpf(-100)

        places = [mp.log(delta) + mp.mpf(k) / 2 for k in range(-20, 60) if mp.log(delta) + mp.mpf(k) / 2 < -1e-3]
        best = max(range(len(places)), key=lambda i: epsilon(places[i]))
        low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
        for _ in range(34):
            one, two = low + (high - low) * 0.382, low + (high - low) * 0.618
            low, high = (low, two) if epsilon(one) >= epsilon(two) else (one, high)
        exact = float(epsilon((low + high) / 2))
    alone = RenyiBound(lambda each: most if each == order else np.inf, order)
    found = binary_epsilon(alone, float(delta), order)
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-8)
    assert binary_delta(alone, found, order) == pytest.approx(float(delta), rel=1e-6)


@pytest.mark.parametrize(
    ("order", "most", "delta"),
    [(1.01, 0.02, 0.04), (827.0, 2e-12, 4e-9), (1.2, 1e-11, 1e-6), (3.0, 2.0, 0.3), (60.0, 9.0, 1e-9)],
)
def test_every_tangent_gives_a_valid_epsilon_and_the_best_is_exact(order, most, delta):
    """The best test in 40 digits: on the boundary of the condition, with p - delta = e^epsilon q and equal slopes."""
    with mp.workdps(40):
        a, moment = mp.mpf(order), mp.exp((mp.mpf(order) - 1) * most)

        def test(x):
            """Return (epsilon, delta) of the test with log(p / q) = x on the boundary."""
            low, high = mp.mpf(0), mp.exp(-x)
            for _ in range(110):
                q = (low + high) / 2
                p = q * mp.exp(x)
                inside = p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a) <= moment
                low, high = (q, high) if inside else (low, q)
            s = (1 - p) / (1 - q)
            e_epsilon = (1 - 1 / a) * (mp.exp(a * x) - s**a) / (mp.exp((a - 1) * x) - s ** (a - 1))
            return mp.log(e_epsilon), p - e_epsilon * q

        low, high = mp.mpf(most), mp.mpf(most) + 20
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if test(middle)[1] > delta else (low, middle)
        exact = float(test(high)[0])
    tangents = [_under_tangent(order, most, delta, y)[0] for y in (-math.inf, -3.0, -0.4, -1e-3, -1e-9, 0.0)]
    assert min(tangents) >= exact - 1e-14
    usual = most + math.log1p(-1 / order) - math.log(order * delta) / (order - 1)
    assert tangents[0] == pytest.approx(usual, rel=1e-13)  # Canonne, Kamath, Steinke
    assert exact - 1e-14 <= _by_tangents(order, most, delta) <= exact * (1 + 1e-11) + 1e-14


CORNERS = [  # order, bound on its divergence, epsilon
    (11.66, 1.166, 2.14),
    (5.0, 0.5, 3.29),
    (1.5, 1e-16, 2e-17),
    (1.00047, 1e-16, 1e-9),
    (37239.0, 1e-16, 0.0),
    (1 + 2.0**-49, 4.8568e-9, 3.109e-6),
    (1 + 2.0**-52, 8.8e-9, 1.4e-9),
    (1 + 1e-9, 0.3, 0.4),
    (1.0001, 50.005, 160.4),
    (1e6, 1e-4, 0.0002),
    (3e5, 1e-3, 0.001002),
    (2.0, 1e-150, 1.2e-75),
    (1.3, 40.0, 39.5),
    (8.0, 1.0, 20.0),
]


@pytest.mark.parametrize(("order", "most", "epsilon"), CORNERS)
def test_the_delta_of_one_order_holds_in_every_corner(order, most, epsilon):
    """The least over all tangents of the largest p - e^epsilon q, by golden section in as many digits as it takes."""
    with mp.workdps(360 if most < 1e-20 else 90):
        a, most_, limit = mp.mpf(order), mp.mpf(most), mp.exp(mp.mpf(epsilon))

        def minus_log_delta(log_u, power, s0):
            r = limit * mp.exp(mp.exp(log_u))
            room = mp.exp((a - 1) * most_) - a * power + (a - 1) * power * s0
            return -mp.log(room * (r - limit) / (r**a - a * power * r + (a - 1) * power * s0))

        def log_delta(log_y):
            s0 = mp.exp(-mp.exp(log_y))
            power = s0 ** (a - 1)
            far = mp.log(mp.log(1 + 1 / (a - 1)))
            return -lowest(lambda log_u: minus_log_delta(log_u, power, s0), min(-30, mp.log(most_)), far)

        exact = float(lowest(log_delta, min(-30, mp.log(most_)), 6))
    found = _log_delta_by_tangents(order, most, epsilon)
    assert exact - 1e-14 * abs(exact) <= found + 1e-10 <= exact + 3e-10
    alone = RenyiBound(lambda each: most if each == order else np.inf, order)
    assert binary_delta(alone, epsilon, order) == pytest.approx(math.exp(exact), rel=4e-10)
    if exact > -700 and epsilon > 1e-5:
        assert epsilon <= binary_epsilon(alone, math.exp(exact) * (1 - 1e-12), order) <= epsilon * (1 + 1e-8)


def lowest(f, low, high, steps=55):
    """Return the least value of a function with one minimum, by golden section."""
    low, high = mp.mpf(low), mp.mpf(high)
    golden = (mp.sqrt(5) - 1) / 2
    one, two = high - golden * (high - low), low + golden * (high - low)
    at_one, at_two = f(one), f(two)
    for _ in range(steps):
        if at_one <= at_two:
            high, two, at_two = two, one, at_one
            one = high - golden * (high - low)
            at_one = f(one)
        else:
            low, one, at_one = one, two, at_two
            two = low + golden * (high - low)
            at_two = f(two)
    return min(at_one, at_two)


@pytest.mark.parametrize(
    ("guarantee", "epsilon", "delta"),
    [
        (RDP(37239.0, 1e-16), 0.0, math.sqrt(1e-16 / (2 * 37239.0))),  # p = 1/2 + t, q = 1/2 - t with 2 a t^2 = D
        (RDP(2.0, 1e-150), 0.0, 5e-76),
        (ZCDP(1e-16), 0.0, math.sqrt(0.5e-16)),
        (ZCDP(1e-150), 0.0, math.sqrt(0.5e-150)),
        (TCDP(1e-30, 1.5), 1e-17, 0.5 * (math.sqrt(2e-30) - 1e-17)),  # randomised response with log odds sqrt(2 rho)
        (ZCDP(1e-150), 1.2e-75, 0.5 * (math.sqrt(2e-150) - 1.2e-75)),
    ],
)
def test_tiny_guarantees_have_the_delta_of_a_release(guarantee, epsilon, delta):
    """There p and q are nearly 1/2, and every difference of them is lost in floats."""
    assert delta_at(guarantee, epsilon) >= delta * (1 - 1e-12)
    assert epsilon > 0 or delta_at(guarantee, epsilon) <= delta * (1 + 1e-4)


def test_a_delta_above_the_total_variation_needs_no_epsilon():
    """At order 378, D = 1.6e-6 allows p = 1/2 + t, q = 1/2 - t only where p - q < 1.6e-4."""
    order, most = 378.38, 1.58e-6
    p = brentq(lambda p: log_moment(p, 1 - p, order) - (order - 1) * most, 0.5 + 1e-9, 0.6)
    assert 2 * p - 1 < 1.6e-4
    assert to_approx_dp(RDP(order, most), 1.68e-4).epsilon == 0


@pytest.mark.parametrize("y", [-1.77e8, -3e4, -1.5])
def test_no_digit_of_a_tangent_is_lost_where_p_is_nearly_1(y):
    order, most, delta = 1 + 9.3e-9, 22.8, 0.9999999884620605
    with mp.workdps(60):
        a, s0 = mp.mpf(order), mp.exp(mp.mpf(y))
        power = s0 ** (a - 1)
        room = mp.exp((a - 1) * mp.mpf(most)) - a * power + (a - 1) * power * s0
        r = (room / (a * mp.mpf(delta)) + power) ** (1 / (a - 1))
        exact = float(mp.log((1 - 1 / a) * r + (a - 1) * power * (r - s0) * mp.mpf(delta) / room))
    assert _under_tangent(order, most, delta, y)[0] == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("x", [-30.0, -0.2, -0.1, -1e-3, -1e-12, 0.0, 1e-9, 0.05, 0.0999, 0.2, 5.0])
def test_no_digit_of_the_bend_is_lost(x):
    with mp.workdps(50):
        assert _bend(x) == pytest.approx(float(mp.exp(x) - 1 - mp.mpf(x)), rel=6e-15, abs=0)


@pytest.mark.parametrize("rho", [1e-6, 0.03, 1.0, 30.0])
def test_no_release_exceeds_the_conversion(rho):
    x = brentq(lambda x: x * np.tanh(x / 2) - rho, 0, 2 + 2 * rho)
    mu = np.sqrt(2 * rho)
    assert advantage(rho) == pytest.approx(np.tanh(x / 2), rel=1e-9)
    for epsilon in x * np.array([0.0, 0.2, 0.9, 1.5, 3.0]):
        found = delta_at(ZCDP(rho), epsilon)
        assert max(np.exp(x) - np.exp(epsilon), 0) / (1 + np.exp(x)) <= found
        assert norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) <= found


@pytest.mark.parametrize(
    "guarantee", [ZCDP(0.1), TCDP(1e-8, 1e6), TCDP(50.0, 1.0001), ZCDP(1e4), ApproxZCDP(1e-9, 0.2)]
)
@pytest.mark.parametrize("delta", [1e-8, 1e-3, 0.3, 0.99, 1.0])
def test_both_ways_agree_and_are_never_worse_than_the_papers(guarantee, delta):
    found = to_approx_dp(guarantee, delta)
    assert found.epsilon <= to_approx_dp(guarantee, delta, "paper").epsilon
    assert delta_at(guarantee, found.epsilon) <= delta * (1 + 1e-6)


@pytest.mark.parametrize("rho", [1e-4, 0.3, 3.0])
@pytest.mark.parametrize("delta", [1e-3, 0.03, 0.3, 0.7])
def test_no_order_of_a_fine_grid_is_better(rho, delta):
    """For a large delta the best order is near 1, far below that of the usual conversion."""
    best = to_approx_dp(ZCDP(rho), delta).epsilon
    for order in 1 + np.geomspace(1e-5, 300, 60):
        assert best <= one_order(rho * order, delta, order) * (1 + 1e-4) + 1e-12


def one_order(most, delta, order):
    """The least epsilon >= 0 with p - e^epsilon q <= delta for all (p, q) that a divergence of one order allows."""
    q = np.geomspace(1e-14, 0.5, 3000)
    low, high = q, np.ones_like(q) * (1 - 1e-15)
    for _ in range(60):
        p = 0.5 * (low + high)
        inside = log_moment(p, q, order) <= (order - 1) * most
        low, high = np.where(inside, p, low), np.where(inside, high, p)
    with np.errstate(divide="ignore"):
        return max(np.log(np.maximum(low - delta, 0) / q).max(), 0.0)


@pytest.mark.parametrize("order", [1.001, 1.5, 20.0, 1e3])
@pytest.mark.parametrize(("most", "epsilon"), [(1e-60, 1e-14), (1e-30, 1e-9), (1e-100, 1e-8)])
def test_deltas_of_tiny_divergences(order, most, epsilon):
    """For p near q the condition is order (p - q)^2 = 2 D q, so delta is max (2 D q / order)^(1/2) - epsilon q."""
    exact = most / (2 * order * epsilon)
    assert exact * (1 - 1e-4) <= delta_at(RDP(order, most), epsilon) <= exact * (1 + 1e-4)


def test_delta_at_is_the_inverse_of_to_approx_dp_at_any_size():
    rng = np.random.default_rng(3)
    for rho, log_delta, x in zip(10 ** rng.uniform(-120, 2, 100), rng.uniform(-120, 0, 100), rng.uniform(-3, 4, 100)):
        order, delta = 1 + 10**x, 10**log_delta
        for guarantee in (ZCDP(rho), TCDP(rho, order), RDP(order, rho)):
            epsilon = to_approx_dp(guarantee, delta).epsilon
            assert delta_at(guarantee, epsilon) <= delta * (1 + 1e-6)


@pytest.mark.parametrize(("order", "epsilon", "exact"), [(1.01, 915.93444, 1e-6), (1.001, 6901.3480, 1e-6)])
def test_losses_beyond_the_range_of_floats_near_order_1(order, epsilon, exact):
    """The exact values are those of the boundary of the tests that are allowed, in 50 digits."""
    assert to_approx_dp(RDP(order, 1.0), exact).epsilon == pytest.approx(epsilon, rel=1e-6)
