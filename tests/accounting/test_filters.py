"""Filters and odometers, against hand computations and against all adaptive strategies over small mechanisms.

The brute force knows mechanisms as pairs of probability vectors. It tries every next release after every transcript.
"""

import copy
import math
import pickle
import time
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    Claimed,
    Distributions,
    Filter,
    Ledger,
    Odometer,
    RandomisedResponse,
    Sampled,
    Thresholded,
    tight_rho,
)
from tcdp_sim.accounting.largest_rho import largest_rho
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, ApproxZCDP, MeanConcentratedDP, PureDP, Relation, RenyiBound

# Brute force


def response(epsilon, k=2):
    """Return (p, q) of randomised response on two of its values."""
    total = math.exp(epsilon) + k - 1
    p = np.array([math.exp(epsilon), 1.0, *[1.0] * (k - 2)]) / total
    return tuple(p), (p[1], p[0], *p[2:])


MENU = {release: response(release.epsilon, release.k) for release in (
    RandomisedResponse(0.5), RandomisedResponse(0.3, 3), RandomisedResponse(0.2),
)}  # fmt: skip
DEEPEST = 4


def admits(make, path, release):
    """Return True if a fresh filter admits the path and then the release."""
    budget = make()
    assert all(budget.admit(each) for each in path)
    return budget.admit(release)


def worst(make, leaf, deepest=DEEPEST):
    """Return the largest sum of leaf(P, Q) over the transcripts of an adaptive strategy that the filter admits."""
    known = cache(lambda path, release: admits(make, path, release))

    def value(path, p, q):
        best = leaf(p, q)
        if len(path) < deepest:
            for release, (up, down) in MENU.items():
                if known(path, release):
                    further = (*path, release)
                    best = max(best, math.fsum(value(further, p * a, q * b) for a, b in zip(up, down)))
        return best

    return value((), 1.0, 1.0)


def delta_of(epsilon):
    return lambda p, q: max(p - math.exp(epsilon) * q, 0.0)


@pytest.mark.parametrize(
    ("delta", "order", "least"), [(0.1, 4.0, 0.5), (0.1, [3.0, 5.0], 0.3), (0.2, [2.5, 4.0, 8.0], 0.2)]
)
def test_no_strategy_exceeds_the_promised_delta(delta, order, least):
    budget = ApproxDP(1.0, delta)
    found = worst(lambda: Filter(budget, order=order), delta_of(budget.epsilon))
    assert least * budget.delta < found <= budget.delta


@pytest.mark.parametrize("omega", [3.0, np.inf])
def test_no_strategy_exceeds_the_promised_divergences(omega):
    budget = TCDP(2.2 * tight_rho(RandomisedResponse(0.5)), omega)
    for order in (1.01, 1.5, 2.0, 2.99, *([8.0, 60.0] if omega == np.inf else [])):
        moment = worst(lambda: Filter(budget), lambda p, q, order=order: p**order * q ** (1 - order), 4)
        divergence = math.log(moment) / (order - 1)
        assert divergence <= budget.rho * order
        assert order > 1.1 or divergence > 0.95 * budget.rho * order


@pytest.mark.parametrize("order", [1.5, 4.0])
def test_a_renyi_budget_is_spent_to_the_last(order):
    """Two releases fill the budget exactly, and the divergence of the worst strategy is the budget."""
    p, q = MENU[RandomisedResponse(0.5)]
    single = math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q))) / (order - 1)
    budget = RDP(order, 2 * single * (1 + 1e-12))
    moment = worst(lambda: Filter(budget), lambda p, q: p**order * q ** (1 - order))
    assert math.log(moment) / (order - 1) == pytest.approx(2 * single, rel=1e-12)


def test_a_pure_budget_bounds_every_loss():
    found = worst(lambda: Filter(PureDP(1.0)), lambda p, q: p * (p > q * math.exp(1.0) * (1 + 1e-12)))
    assert found == 0
    assert worst(lambda: Filter(PureDP(1.0)), lambda p, q: p * (p > q * math.exp(0.99))) > 0


def test_the_natural_filter_is_false():
    """Going on while the delta(epsilon) of the list so far is at most delta promises less than it seems to."""
    p, q = response(0.5)
    two = math.fsum(delta_of(0.5)(a * c, b * d) for a, b in zip(p, q) for c, d in zip(p, q))
    assert round(two, 6) == 0.152452

    def after(loss):  # the second release: randomised response, or an answer that is lost with probability `two`
        return (p, q) if loss > 0 else ((two, 1 - two), (0.0, 1 - two))

    lost = ((two, 1 - two), (0.0, 1 - two))
    other = math.fsum(delta_of(0.5)(a * c, b * d) for a, b in zip(p, q) for c, d in zip(*lost))
    assert other == pytest.approx(two, rel=1e-12)  # each of the two lists has the same delta(.5)
    adaptive = math.fsum(delta_of(0.5)(a * c, b * d) for a, b in zip(p, q) for c, d in zip(*after(math.log(a / b))))
    assert round(adaptive, 6) == 0.210009
    assert round(adaptive / two, 4) == 1.3775


@pytest.mark.parametrize("order", [2.0, [1.5, 3.0, 6.0]])
def test_an_odometer_holds_at_all_times_at_once(order):
    delta = 0.2

    @cache
    def shown(path):
        """Return the epsilon of the odometer after these releases."""
        odometer = Odometer(delta, order)
        for release in path:
            odometer.add(release)
        return odometer.epsilon

    def passed(path, p, q, strength=1.0):
        """Return the largest probability under P that some loss exceeds its bound."""
        if math.log(p / q) > strength * shown(path):
            return p
        if len(path) == 3:
            return 0.0
        return max(
            math.fsum(passed((*path, release), p * a, q * b, strength) for a, b in zip(up, down))
            for release, (up, down) in MENU.items()
        )

    assert passed((), 1.0, 1.0) <= delta
    assert passed((), 1.0, 1.0, 0.4) > delta  # the test can fail


# Hand computations


def test_sums_are_exact():
    budget = Filter(ZCDP(1.0))
    assert all(budget.admit(2.0**-20) for _ in range(2**10))
    assert budget.admit(2.0**-20, times=2**20 - 2**10)
    assert (budget.spent, budget.remaining) == (1.0, 0.0)
    assert not budget.admit(5e-324)
    thirds = Filter(ZCDP(1.0))
    assert thirds.admit(Fraction(1, 4), times=4)
    assert not Filter(ZCDP(1.0)).admit(0.1 + 0.2, times=4)
    assert not Filter(ZCDP(1.0)).admit(0.1, times=10)  # the float 0.1 exceeds a tenth
    assert Filter(ZCDP(1.0)).admit(0.1, times=9)
    rounded = Filter(ZCDP(1.0))
    assert not any([rounded.admit(Fraction(1, 3), times=3), rounded.spent])  # a third is rounded up
    assert rounded.admit(Fraction(1, 3), times=2)


def test_small_costs_are_not_lost_beside_large_ones():
    budget = Filter(ZCDP(1.0))
    assert budget.admit(1.0 - 2**-53)
    assert budget.admit(2.0**-60, times=2**7)
    assert not budget.admit(2.0**-60)
    assert budget.remaining == 0.0
    assert Filter(ZCDP(1.0)).admit(1e-300, times=10**12)


def test_what_is_spent_is_rounded_up_and_what_remains_down():
    budget = Filter(ZCDP(1.0))
    budget.admit(0.1, times=3)
    exact = 3 * Fraction(0.1)
    assert Fraction(budget.spent) >= exact > Fraction(np.nextafter(budget.spent, 0))
    assert Fraction(budget.remaining) <= 1 - exact < Fraction(np.nextafter(budget.remaining, 1))


def test_a_refusal_changes_nothing_and_smaller_releases_may_pass():
    for make, large, small in (
        (lambda: Filter(TCDP(0.5, 20.0)), Additive(Gaussian(1.0)), Additive(Gaussian(10.0))),
        (lambda: Filter(ApproxDP(1.0, 1e-6), order=[16.0, 32.0]), ZCDP(0.015), ZCDP(0.001)),
        (lambda: Filter(RenyiBound(lambda order: 0.1 * order), order=[2.0, 4.0]), ZCDP(0.09), ZCDP(0.01)),
    ):
        budget = make()
        assert budget.admit(small)
        before = repr(budget)
        assert not budget.admit(large, times=10)
        assert repr(budget) == before
        assert budget.admit(small)


def test_costs_of_releases_by_hand():
    def spent(budget, release, **more):
        found = Filter(budget, **more)
        assert found.admit(release, times=2)
        return found.spent

    assert spent(ZCDP(5.0), Additive(Gaussian(2.0), 3.0)) == 2 * 9 / 8
    assert spent(ZCDP(5.0), Additive(DiscreteGaussian(4.0), 2.0)) == 2 / 8
    assert spent(RDP(7.0, 9.0), Additive(Gaussian(2.0))) == 2 * 7 / 8
    assert spent(TCDP(5.0, 9.0), TCDP(0.25, 9.0)) == 0.5
    assert spent(ZCDP(5.0), ZCDP(0.25, 0.125)) == 0.75
    assert spent(ZCDP(5.0), MeanConcentratedDP(0.1, 1.0)) == pytest.approx(1.0)
    assert spent(TCDP(5.0, 4.0), RDP(4.0, 0.5)) == 1.0
    assert spent(PureDP(5.0), RandomisedResponse(0.5)) == 1.0
    for budget, exact in (
        (ZCDP(5.0), 0.5 * math.tanh(0.25)),
        (RDP(2.0, 5.0), math.log(2 * math.cosh(1.5 * 0.5) / (2 * math.cosh(0.25)))),
    ):
        for release in (RandomisedResponse(0.5), PureDP(0.5), Claimed(PureDP(0.5))):
            assert exact <= spent(budget, release) / 2 <= exact * (1 + 1e-11)
    laplace = 0.5 + math.exp(-0.5) - 1
    assert laplace <= spent(ZCDP(5.0), Additive(Laplace(2.0))) / 2 <= laplace * (1 + 1e-11)
    assert spent(ZCDP(5.0), BoundedRange(1.0)) / 2 == pytest.approx(0.123302, abs=1e-6)


def test_budgets_at_fixed_orders_are_those_of_the_conversion():
    epsilon, delta = 2.0, 1e-5
    for orders in ([12.0], [12.0, 30.0]):
        budget = Filter(ApproxDP(epsilon, delta), order=orders)
        left = np.atleast_1d(budget.remaining)
        for order, limit in zip(orders, left):
            excess = (math.log(len(orders) / delta) - math.log(order)) / (order - 1)
            exact = epsilon - math.log1p(-1 / order) - excess
            assert exact * (1 - 1e-12) < limit < exact


def test_several_orders_go_on_as_long_as_one_does():
    budget = Filter(ApproxDP(2.0, 1e-5), order=[12.0, 60.0])
    low, _high = budget.remaining
    assert budget.admit(RDP(12.0, 0.5 * low))  # nothing is known at order 60
    assert budget.spent[1] == np.inf
    assert budget.remaining[1] == 0.0
    assert not budget.admit(RDP(12.0, 0.6 * low))
    all_orders = Filter(RenyiBound(lambda order: 1.0), order=[12.0, 60.0])
    assert not all_orders.admit(RDP(12.0, 0.5))
    assert all_orders.admit(RDP(60.0, 0.5))
    assert all_orders.spent == (0.5, 0.5)


def test_omega_is_fixed_in_advance():
    budget = Filter(TCDP(1.0, 10.0))
    assert not budget.admit(TCDP(1e-3, 9.99))
    assert budget.spent == 0
    assert budget.admit(TCDP(1e-3, 10.0))
    assert budget.admit(TCDP(1e-3, 50.0))
    assert budget.admit(ZCDP(1e-3))
    assert not Filter(ZCDP(1.0)).admit(TCDP(1e-3, 1e6))
    assert not Filter(RDP(8.0, 1.0)).admit(RDP(7.0, 1e-3))
    assert not Filter(PureDP(1.0)).admit(ZCDP(1e-9))


def test_the_largest_rho_is_an_upper_bound_and_close():
    response = RandomisedResponse(1.0, 100)  # its best order is above 1
    p, q = (np.array(part) for part in _many(1.0, 100))
    loss = np.log(p / q)

    def divergence(order):
        return 1.0 if order == np.inf else logsumexp((order - 1) * loss, b=p) / (order - 1)

    exact = max(divergence(order) / order for order in np.linspace(1.001, 30, 3_000))
    found = largest_rho(divergence, np.inf)
    assert exact <= found <= exact * (1 + 2e-4)
    assert found == pytest.approx(tight_rho(response), rel=2e-4)
    assert largest_rho(lambda order: 0.1 * order, 20.0) == pytest.approx(0.1, rel=2e-4)
    assert largest_rho(lambda order: 0.1 * order, 20.0) >= 0.1
    assert largest_rho(lambda order: 0.1 * order, np.inf) == np.inf


def _many(epsilon, k):
    """Return randomised response on its first two values."""
    total = math.exp(epsilon) + k - 1
    p = np.full(k, 1 / total)
    q = p.copy()
    p[0] = q[1] = math.exp(epsilon) / total
    return p, q


def test_releases_with_a_relation():
    step = Sampled(Additive(Gaussian(1.0)), 0.01)
    budget = Filter(RDP(8.0, 1.0), relation="add_remove")
    assert budget.admit(step)
    with pytest.raises(ValueError, match="relation = None"):
        Filter(RDP(8.0, 1.0)).admit(step)
    pair = Distributions([0.5, 0.5], [0.4, 0.6])
    budget = Filter(TCDP(1.0, 16.0), relation="add_remove")
    assert budget.admit(pair)
    ratios = [max(_both(pair, order)) / order for order in np.linspace(1.0001, 16, 5000)]
    assert max(ratios) <= budget.spent <= max(ratios) * (1 + 2e-4)
    assert not Filter(ZCDP(9.0), relation="add_remove").admit(Thresholded(Laplace(1.0), 15.0))  # losses are infinite


def test_every_relation_of_a_ledger_is_one_of_a_filter_and_of_an_odometer():
    """Zero-out is add/remove for Poisson samples, so a budget admits as many steps, and an odometer says the same."""
    step, counted, said = Sampled(Additive(Gaussian(1.0)), 0.01), [], []
    for relation in (Relation.ADD_REMOVE, Relation.ZERO_OUT):
        budget, odometer = Filter(RDP(8.0, 0.1), relation=relation), Odometer(1e-6, 8.0, relation)
        counted.append(sum(budget.admit(step) for _ in range(2000)))
        odometer.add(step, times=10)
        said.append(odometer.epsilon)
    assert 0 < counted[0] == counted[1] < 2000
    assert said[0] == said[1]
    assert all(Filter(ZCDP(1.0), relation=relation).admit(Additive(Gaussian(1.0))) for relation in Relation)


def _both(pair, order):
    for p, q in ((pair.p, pair.q), (pair.q, pair.p)):
        yield math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q))) / (order - 1)


def test_an_odometer_by_hand():
    odometer = Odometer(1e-6, 5.0)
    assert odometer.epsilon == pytest.approx(math.log(1e6) / 4)
    odometer.add(Additive(Gaussian(10.0)), times=20)
    assert odometer.spent == pytest.approx(20 * 5 / 200)
    assert odometer.epsilon == pytest.approx(0.5 + math.log(1e6) / 4, rel=1e-12)
    several = Odometer(1e-6, [5.0, 50.0])
    several.add(ZCDP(0.1))
    assert several.epsilon == pytest.approx(min(0.5 + math.log(2e6) / 4, 5.0 + math.log(2e6) / 49), rel=1e-12)
    several.add(RDP(5.0, 0.5))
    assert several.epsilon == pytest.approx(1.0 + math.log(2e6) / 4, rel=1e-12)
    several.add(RDP(2.0, 0.1))
    assert several.epsilon == np.inf


# Refusals


@pytest.mark.parametrize("times", [True, False, 0, -1, 1.5, np.nan, np.inf, "1", None, 10**13, [1]])
def test_times_is_a_count(times):
    for meter in (Filter(ZCDP(1.0)).admit, Filter(RDP(2.0, 1.0)).admit, Odometer(0.1, 2.0).add):
        with pytest.raises(ValueError, match="times = "):
            meter(ZCDP(1e-3), times)


@pytest.mark.parametrize("release", [True, -1.0, np.nan, np.inf, "gaussian", None, [0.1], np.array(0.1), Gaussian(1.0)])
def test_other_things_are_no_releases(release):
    budget = Filter(ZCDP(1.0))
    with pytest.raises(ValueError, match="release = "):
        budget.admit(release)
    assert budget.spent == 0
    with pytest.raises(ValueError, match="a release or a guarantee"):
        Filter(RDP(2.0, 1.0)).admit(0.1)


@pytest.mark.parametrize("guarantee", [ApproxDP(0.1, 1e-9), ApproxZCDP(1e-9, 0.1), Claimed(ApproxDP(0.1, 1e-9))])
def test_guarantees_without_renyi_divergences_cannot_be_paid(guarantee):
    with pytest.raises(ValueError, match="bound Renyi divergences"):
        Filter(ZCDP(1.0)).admit(guarantee)


REFUSED = [
    (lambda: Filter(ApproxDP(1.0, 1e-6)), "fixed in advance"),
    (lambda: Filter(RenyiBound(lambda order: order)), "fixed in advance"),
    (lambda: Filter(ApproxDP(1.0, 1e-6), order=4.0), "order = 4 leaves nothing"),
    (lambda: Filter(ApproxDP(1.0, 1e-6), order=[20.0, 4.0]), "order = 4 leaves nothing"),
    (lambda: Filter(ZCDP(1.0, 0.1)), "budget = "),
    (lambda: Filter(ApproxZCDP(0.1, 0.1)), "budget = "),
    (lambda: Filter(1.0), "budget = "),
    (lambda: Filter(1.0, order=2.0), "budget = "),
    (lambda: Filter(TCDP(0.1, 9.0), order=[2.0, 10.0]), "order = 10"),
    *[(lambda value=value: Filter(ZCDP(1.0), order=value), "order = ") for value in (1.0, np.nan, np.inf, [], [2, 2])],
    (lambda: Filter(ZCDP(1.0), relation="bounded"), "relation"),
    *[(lambda value=value: Odometer(value, 2.0), "delta = ") for value in (0.0, 1.0, np.nan, "x")],
    *[(lambda value=value: Odometer(0.1, value), "order = ") for value in (1.0, True, None, [3.0, 3.0])],
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_no_such_filter(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_million_queries_take_about_a_second():
    """The limit is five times what an idle processor needs."""
    for release in (Additive(Gaussian(1e4)), 1e-8):
        budget = Filter(TCDP(0.5, 20.0))
        start = time.process_time()
        for _ in range(10**5):
            budget.admit(release)
        assert time.process_time() - start < 0.5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copied_filter_knows_releases_by_what_they_are(copied):
    """A copy has other objects, and a new object may get the identity of an old one."""
    budget = Filter(ZCDP(1.0), order=[2.0, 4.0])
    assert budget.admit(Additive(Gaussian(10.0)))
    for sigma in range(1, 200):
        before = copied(budget)
        budget = copied(before)
        release = Additive(Gaussian(100.0 + sigma))
        assert budget.admit(release)
        spent = np.subtract(budget.spent, before.spent)
        assert spent == pytest.approx(np.array([2.0, 4.0]) / (2 * (100.0 + sigma) ** 2), rel=1e-9)


@pytest.mark.parametrize(("sigma", "rate", "omega"), [(5.0, 0.01, 1000.0), (0.7, 0.3, 20.0)])
def test_the_cost_of_a_release_is_its_worst_order_up_to_omega(sigma, rate, omega):
    """D_a / a of a sampled release jumps at some high order. The oracle asks a ledger at many orders."""
    release = Sampled(Additive(Gaussian(sigma)), rate)
    ledger = Ledger([release], "add_remove")
    orders = 1 + np.geomspace(0.1, omega - 1, 20)
    worst = max(ledger.renyi(float(order)).lower / order for order in orders)
    budget = Filter(TCDP(10.0, omega), relation="add_remove")
    assert budget.admit(release)
    assert worst * (1 - 1e-9) <= budget.spent <= worst * 1.05


@pytest.mark.parametrize("sigma", [3.0, 30.0, 300.0])
def test_a_filter_chooses_the_order_for_the_releases_that_are_expected(sigma):
    """Against the closed forms: the budget at an order over order / (2 sigma^2), on a fine grid of orders."""
    epsilon, delta = 1.0, 1e-6
    order = 1 + np.geomspace(1e-3, 1e6, 200_001)
    limit = epsilon - np.log1p(-1 / order) + (np.log(delta) + np.log(order)) / (order - 1)
    most = int((limit / (order / (2 * sigma**2))).max())
    budget = Filter(ApproxDP(epsilon, delta), expected=[Additive(Gaussian(sigma))])
    assert (most == 0) or budget.admit(Additive(Gaussian(sigma)), times=most)
    assert not budget.admit(Additive(Gaussian(sigma)), times=max(1, int(1e-4 * most) + 1))
    assert budget.unit == f"Renyi divergence of order {budget.order[0]:g}, in nats"
    assert f"({budget.unit})" in repr(budget)


def test_an_order_for_several_expected_releases_is_no_worse_than_any_other():
    expected = [(Additive(Gaussian(30.0)), 5), Additive(Laplace(40.0))]
    promise = ApproxDP(0.5, 1e-6)

    def share(budget):
        for release, times in (expected[0], (expected[1], 1)):
            assert budget.admit(release, times)
        return budget.spent / (budget.spent + budget.remaining)

    best = share(Filter(promise, expected=expected))
    assert all(best <= share(Filter(promise, order=each)) * (1 + 1e-6) for each in (30.0, 45.0, 60.0, 80.0, 120.0))


@pytest.mark.parametrize(
    ("budget", "more", "words"),
    [
        (ApproxDP(1.0, 1e-6), {"expected": [], "order": None}, "expected is empty"),
        (ApproxDP(1.0, 1e-6), {"expected": [Additive(Gaussian(1.0))], "order": 8.0}, "both given"),
        (ZCDP(1.0), {"expected": [Additive(Gaussian(1.0))]}, "for a budget of ApproxDP"),
        (ApproxDP(1.0, 1e-6), {}, r"valid: expected=\[releases\] for ApproxDP"),
    ],
)
def test_mistakes_of_expected_releases_are_one_line(budget, more, words):
    with pytest.raises(ValueError, match=words):
        Filter(budget, **more)


def test_filters_state_the_unit_of_what_is_spent():
    assert Filter(ZCDP(1.0)).unit == "rho, in nats"
    assert Filter(PureDP(1.0)).unit == "epsilon, in nats"
    assert Filter(ApproxDP(2.0, 1e-6), order=[16.0, 32.0]).unit == "Renyi divergence of orders 16, 32, in nats"
