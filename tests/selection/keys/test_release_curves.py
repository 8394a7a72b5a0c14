"""Curves of release probabilities against closed forms, mpmath, brute force over all pairs, and the ledger.

Nothing here is random but the points of the brute force, whose seeds are fixed.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import laplace, norm

from tcdp_sim.accounting import Ledger, Thresholded
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, SinhNormal
from tcdp_sim.privacy.least_rho import pure_epsilon
from tcdp_sim.selection.keys import (
    OptimalApproxDP,
    OptimalRDP,
    OptimalTCDP,
    ReleaseCurve,
    ThresholdCurve,
    least_threshold,
)
from tcdp_sim.selection.keys.concentrated_pairs import Odds, RenyiPairs, largest_step

TARGETS = [(0.1, math.inf, 1e-6), (0.1, 5.0, 1e-6), (0.01, 1.5, 1e-10), (1.0, math.inf, 0.01), (2.0, 1.2, 1e-4)]
TARGETS += [(0.003, 40.0, 1e-8), (0.5, 1.01, 0.2)]


def divergence(a, p, r):
    """D_a of a Bernoulli r from a Bernoulli p, in the precision of mpmath."""
    p, r = mp.mpf(p), mp.mpf(r)
    if a == 1:
        return r * mp.log(r / p) + (1 - r) * mp.log((1 - r) / (1 - p))
    return mp.log(r**a * p ** (1 - a) + (1 - r) ** a * (1 - p) ** (1 - a)) / (a - 1)


def inner(p, q, delta):
    """The least and the largest conditional probability p' of p, whose complement is q; as exact numbers."""
    return mp.mpf(p) / (1 - mp.mpf(delta)), 1 - mp.mpf(q) / (1 - mp.mpf(delta))


def orders_of(omega):
    top = omega if omega < math.inf else 200.0
    return [1.0, *(1 + np.geomspace(1e-4, top - 1, 40))]


@pytest.mark.parametrize(("rho", "omega", "delta"), TARGETS)
def test_neighbouring_values_meet_every_order_in_many_digits(rho, omega, delta):
    """The witness p' = p / (1 - delta), r' = (r - delta) / (1 - delta) has D_a <= rho a, and nearly attains it."""
    found = OptimalTCDP(rho, delta, omega).certificate
    with mp.workdps(40):
        for n in some(range(1, len(found.released) - 2), 12):
            p, _ = inner(found.released[n], found.withheld[n], delta)
            _, r = inner(found.released[n + 1], found.withheld[n + 1], delta)
            if found.withheld[n] < 1e-3:  # the complement has the digits
                p = 1 - (mp.mpf(found.withheld[n]) - mp.mpf(delta)) / (1 - mp.mpf(delta))
            if found.released[n + 1] < 1e-3:
                r = (mp.mpf(found.released[n + 1]) - mp.mpf(delta)) / (1 - mp.mpf(delta))
            decisive = float(found.order[n])
            ratios = [max(divergence(a, p, r), divergence(a, r, p)) / (rho * a) for a in [*orders_of(omega), decisive]]
            assert max(ratios) <= 1
            if found.withheld[n + 1] > 0.01 * found.withheld[n]:  # else a relative 1e-11 of the step is more
                assert ratios[-1] >= 1 - 1e-9


@pytest.mark.parametrize(("rho", "omega", "delta"), TARGETS)
def test_the_lines_prove_that_no_curve_is_larger(rho, omega, delta):
    found = OptimalTCDP(rho, delta, omega).certificate
    assert found.gap < 1e-8
    assert (found.upper >= found.released).all()
    goal = len(found.released) // 2
    assert found.multipliers(goal) @ found.level[:goal] == pytest.approx(found.upper[goal], rel=1e-11)
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.uniform(0, 1, 50), 10.0 ** rng.uniform(-9, 0, 50)])
    for n in some(range(1, len(found.released) - 2), 12):  # pairs on the boundary of its condition lie below its line
        low, high = p, np.ones_like(p)
        for _ in range(60):
            middle = 0.5 * (low + high)
            meets = _meets(p, middle, found.order[n], found.reverse[n], rho)
            low, high = np.where(meets, middle, low), np.where(meets, high, middle)
        outer, reached = (1 - delta) * p, delta + (1 - delta) * low
        assert (reached <= found.slope[n] * outer + found.level[n] + 1e-12).all()


def some(items, most):
    """Up to `most` of the items, evenly spread, with the first and the last one."""
    items = list(items)
    return [items[i] for i in sorted(set(np.linspace(0, len(items) - 1, most).round().astype(int)))]


def _meets(p, r, order, reverse, rho):
    p, r = (r, p) if reverse else (p, r)
    with np.errstate(all="ignore"):
        if order == 1:
            value = r * np.log(r / p) + (1 - r) * np.log((1 - r) / (1 - p))
        else:
            first, second = (
                order * np.log(r) + (1 - order) * np.log(p),
                order * np.log1p(-r) + (1 - order) * np.log1p(-p),
            )
            value = np.logaddexp(first, second) / (order - 1)
    return value <= rho * order


@pytest.mark.parametrize(("rho", "omega", "delta"), [(0.3, math.inf, 0.05), (0.3, 3.0, 0.05)])
def test_no_curve_of_a_general_optimiser_is_larger(rho, omega, delta):
    """Maximise pi(1) + pi(2) + pi(3) over all values and all events at once, with 40 orders."""
    steps, orders = 3, 1 + np.linspace(0.02, min(omega, 12.0) - 1, 40)

    def unpacked(x):  # pi(n) = (1 - delta) low + delta a, and pi(n + 1) = (1 - delta) high + delta b
        return np.concatenate([[0.0], x[:steps]]), *np.split(x[steps:], 4)

    def equal(x):
        curve, a, b, low, high = unpacked(x)
        return np.concatenate([(1 - delta) * low + delta * a - curve[:-1], (1 - delta) * high + delta * b - curve[1:]])

    def room(x):
        p, r = (np.clip(each, 1e-9, 1 - 1e-9)[:, None] for each in unpacked(x)[3:])
        both = [
            v**orders * u ** (1 - orders) + (1 - v) ** orders * (1 - u) ** (1 - orders) for u, v in ((p, r), (r, p))
        ]
        return ((np.exp((orders - 1) * orders * rho) - np.array(both)) / (orders - 1)).ravel()

    slow = OptimalTCDP(rho / 2, delta / 2, omega).released(np.arange(steps + 1))
    low = np.minimum(slow[:-1] / (1 - delta), 1)
    start = np.concatenate([slow[1:], np.random.default_rng(2).uniform(0, 1, 2 * steps), low, 1.05 * low])
    found = minimize(
        lambda x: -x[:steps].sum(),
        start,
        bounds=[(0, 1)] * len(start),
        constraints=[{"type": "eq", "fun": equal}, {"type": "ineq", "fun": room}],
        method="SLSQP",
        options={"maxiter": 100, "ftol": 1e-11},
    )
    assert np.abs(equal(found.x)).max() < 1e-9
    truth = OptimalTCDP(rho, delta, omega).released(np.arange(steps + 1)).sum()
    assert truth * (1 - 1e-6) <= -found.fun <= truth * (1 + 5e-4)  # the orders between the 40 would lower it further


@pytest.mark.parametrize("delta", [1e-6, 0.05])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_renyi_dp_of_a_high_order_is_approximate_dp(epsilon, delta):
    """D_a <= epsilon - log(a) / (a - 1) or less holds below epsilon-DP, and epsilon-DP implies D_a <= epsilon."""
    counts = np.arange(40)
    limit = OptimalApproxDP(epsilon, delta).released(counts)
    near = OptimalRDP(3000.0, epsilon, delta).released(counts)
    assert (near >= limit * (1 - 1e-9)).all()
    assert near == pytest.approx(limit, rel=0.12, abs=1e-12)
    assert np.abs(OptimalRDP(3e5, epsilon, delta).released(counts) / np.maximum(limit, 1e-300) - 1)[1:].max() < 2e-3


def test_a_bound_on_one_order_allows_more_than_tcdp_and_less_than_its_double():
    counts = np.arange(1, 60)
    tcdp = OptimalTCDP(0.05, 1e-6, 6.0).released(counts)
    assert (OptimalRDP(6.0, 0.3, 1e-6).released(counts) >= tcdp * (1 - 1e-10)).all()
    assert (OptimalTCDP(0.1, 1e-6, 6.0).released(counts) >= tcdp).all()
    assert (OptimalTCDP(0.05, 1e-6, 5.0).released(counts) >= tcdp * (1 - 1e-10)).all()
    assert (OptimalTCDP(0.05, 1e-7, 6.0).released(counts) <= tcdp * (1 + 1e-10)).all()


@pytest.mark.parametrize(("rho", "omega", "delta"), TARGETS[:4])
def test_the_optimum_beats_every_curve_with_the_same_guarantee(rho, omega, delta):
    counts = np.arange(1, 400)
    best = OptimalTCDP(rho, delta, omega).released(counts)
    gauss = norm.sf((norm.isf(delta) / math.sqrt(2 * rho) + 1 - counts) * math.sqrt(2 * rho))
    assert (best >= gauss * (1 - 1e-10)).all()
    pure = OptimalApproxDP(pure_epsilon(rho), delta).released(counts)
    assert (best >= pure * (1 - 1e-10)).all()
    assert best.sum() > max(gauss.sum(), pure.sum()) + 0.1


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-5), (3.0, 1e-9), (0.5, 0.3), (12.0, 0.01), (1e-3, 1e-3), (0.0, 0.125)]
)
def test_the_closed_form_solves_the_recursion(epsilon, delta):
    curve = OptimalApproxDP(epsilon, delta)
    with mp.workdps(40):
        e, d, value, n = mp.exp(mp.mpf(epsilon)), mp.mpf(delta), mp.mpf(0), 0
        while value < 1:
            assert float(value) == pytest.approx(float(curve.released(n)), rel=1e-11, abs=1e-300)
            assert float(1 - value) == pytest.approx(float(curve.withheld(n)), rel=1e-7, abs=1e-14)
            value, n = min(e * value + d, 1 - (1 - value - d) / e, mp.mpf(1)), n + 1
    assert curve.last == n
    assert curve.released([n, n + 5]).tolist() == [1.0, 1.0]
    assert curve.spent_delta(epsilon) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize("epsilon", [690.0, 699.9, 710.0, 2e4])
def test_the_recursion_at_an_epsilon_whose_exponential_is_no_float(epsilon):
    delta = 1e-6
    pi = [mp.mpf(0)]
    with mp.workdps(20_000):
        while pi[-1] < 1:
            up, down = mp.exp(epsilon) * pi[-1] + delta, 1 - mp.exp(-epsilon) * (1 - pi[-1] - delta)
            pi.append(min(up, down, mp.mpf(1)))
    curve = OptimalApproxDP(epsilon, delta)
    np.testing.assert_allclose(curve.released(range(5)), [float(value) for value in [*pi, 1, 1, 1]][:5], rtol=1e-12)
    np.testing.assert_allclose(curve.withheld([0, 1]), [1, 1 - delta], rtol=1e-12)
    assert curve.last == len(pi) - 1


@pytest.mark.parametrize("curve", [OptimalTCDP(0.1, 1e-6, per_key=3), OptimalApproxDP(0.5, 1e-4, per_key=3)])
def test_several_records_a_key_make_a_staircase(curve):
    single = type(curve)(**{**curve.__dict__, "per_key": 1})
    counts = np.arange(60)
    assert (curve.released(counts) == single.released(-(-counts // 3))).all()
    assert curve.last == 3 * (single.last - 1) + 1
    assert curve.released(curve.last) == 1 > curve.released(curve.last - 1)
    assert curve.spent_delta(0.5) == pytest.approx(single.spent_delta(0.5), rel=1e-12)


def test_thresholds_by_scipy_and_sums():
    counts = np.arange(1, 40)
    curve = ThresholdCurve(Laplace(2.0), 15.0)
    assert curve.released(counts) == pytest.approx(laplace.sf(15.0 - counts, scale=2.0), rel=1e-12)
    assert curve.withheld(counts) == pytest.approx(laplace.cdf(15.0 - counts, scale=2.0), rel=1e-12)
    weights = np.exp(-(np.arange(-200, 201) ** 2) / (2 * 9.0))
    pmf = weights / weights.sum()
    for comparison, shift in ((">", 1), (">=", 0)):
        lattice = ThresholdCurve(DiscreteGaussian(3.0), 12.0, comparison)
        truth = [pmf[200 + 12 - n + shift :].sum() for n in counts]
        assert lattice.released(counts) == pytest.approx(truth, rel=1e-11)
        assert lattice.withheld(counts) == pytest.approx([1 - t for t in truth], abs=1e-13)
        assert lattice.released(0) == 0


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize("per_key", [1, 4])
@pytest.mark.parametrize(
    "noise", [Laplace(2.0), Gaussian(5.0), DiscreteLaplace(2.0), DiscreteGaussian(4.0), SinhNormal(3.0, 8.0)]
)
def test_the_least_threshold_gives_the_chance_and_no_lower_one_does(noise, per_key, comparison):
    for chance in (1e-9, 0.0123, 0.4):
        threshold = least_threshold(noise, chance, comparison, per_key)
        released = ThresholdCurve(noise, threshold, comparison, per_key).released
        assert released(per_key) <= chance
        lower = threshold - 1 if noise.is_discrete else threshold * (1 - 1e-9) - 1e-9
        if lower >= per_key:
            assert ThresholdCurve(noise, lower, comparison, per_key).released(per_key) > chance


@pytest.mark.parametrize("comparison", [">", ">="])
def test_the_ledger_agrees_on_a_new_key_and_covers_the_keys_alone(comparison):
    """At large epsilon the only loss is the new key, so keys alone cost what keys and counts cost."""
    noise = DiscreteLaplace(1.0)
    curve = ThresholdCurve(noise, 9.0, comparison)
    ledger = Ledger([Thresholded(noise, 9.0, comparison)], "add_remove")
    assert curve.spent_delta(1.5) == pytest.approx(ledger.delta(1.5).upper, rel=1e-6)
    assert curve.spent_delta(0.4) <= ledger.delta(0.4).upper
    other = ThresholdCurve(noise, 9.0, ">=" if comparison == ">" else ">")
    assert other.spent_delta(1.5) != pytest.approx(ledger.delta(1.5).upper, rel=0.5)  # the wrong sign is seen


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: OptimalTCDP(0.0, 1e-6), "rho = 0"),
        (lambda: OptimalTCDP(0.1, 0.0), "delta = 0"),
        (lambda: OptimalTCDP(0.1, 1e-6, 1.0), "omega = 1"),
        (lambda: OptimalTCDP(0.1, 1e-6, per_key=0), "per_key = 0"),
        (lambda: OptimalTCDP(1e-9, 1e-6), "rho = 1e-09 is not valid; valid: at least 1e-08"),
        (lambda: OptimalRDP(1e9, 1.0, 1e-6), "epsilon = 1 is not valid; valid: at least 1e-08 times the order"),
        (lambda: OptimalRDP(math.inf, 1.0, 1e-6), "order = inf"),
        (lambda: OptimalRDP(2.0, 0.0, 1e-6), "epsilon = 0"),
        (lambda: OptimalApproxDP(-1.0, 1e-6), "epsilon = -1"),
        (lambda: OptimalApproxDP(1.0, 1.0), "delta = 1"),
        (lambda: OptimalApproxDP(1.0, 0.1).released([-1]), "records = -1"),
        (lambda: OptimalApproxDP(1.0, 0.1).records_needed(1.0), "probability = 1"),
        (lambda: OptimalApproxDP(1.0, 0.1).spent_delta(-1.0), "epsilon = -1"),
        (lambda: ThresholdCurve("laplace", 3.0), "noise = 'laplace'"),
        (lambda: ThresholdCurve(Laplace(1.0), 0.5), "threshold = 0.5"),
        (lambda: ThresholdCurve(Laplace(1.0), 3.0, "<"), "comparison = <|comparison = '<'"),
        (lambda: least_threshold(Laplace(1.0), 0.0), "probability = 0"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Abrupt(ReleaseCurve):
    """A curve that rises slowly from 0, and jumps from 1/2 to 1."""

    per_key = 1
    values = np.array([0.0, 0.1, 0.25, 0.5, 1.0])

    def released(self, records):
        return self.values[np.minimum(records, 4)]

    def withheld(self, records):
        return 1 - self.released(records)


def test_the_absence_of_a_key_counts_too():
    """At epsilon = 1 only the step from 1/2 to 1 exceeds delta = 0.1: without it, the key is absent with 1/2."""
    assert Abrupt().spent_delta(1.0) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "order", "epsilon"),
    [(5.52078e-05, 93.1034037, 8.70172246e-4), (1e-4, 40.0, 1e-3), (1e-6, 300.0, 1e-4), (0.3, 2.0, 0.1)],
)
def test_the_largest_step_under_a_renyi_bound_is_the_root_in_50_digits(p, order, epsilon):
    """At the first three Newton's method goes round between two points."""
    found = largest_step(RenyiPairs(order, epsilon), Odds(p, 1 - p), RenyiPairs(order, epsilon).start)
    with mp.workdps(50):

        def divergence(one, other):
            parts = ((one, other), (1 - one, 1 - other))
            return mp.log(sum(x**order * y ** (1 - mp.mpf(order)) for x, y in parts)) / (mp.mpf(order) - 1)

        def allowed(d):
            pair = mp.mpf(p), mp.mpf(p) + d
            return max(divergence(*pair), divergence(*pair[::-1])) <= epsilon

        low, high = mp.mpf(0), mp.mpf(1) - p
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if allowed(middle) else (low, middle)
    assert found.low <= low <= found.high
    assert found.high - found.low <= 1e-6 * float(low)
