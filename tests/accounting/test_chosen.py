"""The best of a random number of runs: all orders of few outputs, closed forms of pure runs, normal tails in mpmath."""

from itertools import permutations, product
from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import norm

from tcdp_sim.accounting import Additive, Chosen, Distributions, Ledger, RandomisedResponse, Sampled
from tcdp_sim.candidates import NegativeBinomialTries, PoissonTries, gaussian_renyi, largest_loss, tries_of
from tcdp_sim.candidates.best_run import powers_of_tests
from tcdp_sim.candidates.theorems import theorem_of_curve, theorem_renyi
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace

LAWS = [PoissonTries(0.5), PoissonTries(8.0), NegativeBinomialTries(1.0, 0.1), NegativeBinomialTries(0.0, 0.05)]


def generating(tries, x):
    """E x^K, from the definition of the laws."""
    if isinstance(tries, PoissonTries):
        return exp(tries.average * (x - 1))
    going = 1 - tries.stop
    if tries.shape == 0:
        return np.log1p(-going * x) / np.log1p(-going)
    return ((1 - going * x) ** -tries.shape - 1) / (tries.stop**-tries.shape - 1)


def of_order(tries, p, q, epsilon):
    """delta of the best run where outputs are ordered from the worst to the best, by the law of the maximum."""
    best = [np.diff([generating(tries, x) for x in np.cumsum([0.0, *each])]) for each in (p, q)]
    return float(np.maximum(best[0] - exp(epsilon) * best[1], 0.0).sum())


@pytest.mark.parametrize("tries", LAWS, ids=repr)
def test_no_order_of_four_outputs_exceeds_the_upper_end(tries):
    rng = np.random.default_rng(5)
    for _ in range(3):
        p, q = rng.dirichlet([1.0] * 4, size=2)
        run = Ledger([Distributions(tuple(p), tuple(q))], "add_remove")
        ledger = Ledger([Chosen(run, tries)], "add_remove")
        for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
            found = ledger.delta(epsilon)
            orders = [list(order) for order in permutations(range(4))]
            attained = max(of_order(tries, *pair, epsilon) for o in orders for pair in ((p[o], q[o]), (q[o], p[o])))
            assert attained <= found.upper * (1 + 1e-9)


@pytest.mark.parametrize("tries", [*LAWS, NegativeBinomialTries(2.0, 1e-4)], ids=repr)
def test_the_largest_loss_of_pure_runs_is_attained(tries):
    for epsilon in (0.05, 1.0):
        found = Ledger([Chosen(Ledger([RandomisedResponse(epsilon)]), tries)]).epsilon(0.0)
        exact = largest_loss(epsilon, tries)
        assert exact * (1 - 1e-6) <= found.lower <= exact * (1 + 1e-12)
        assert exact <= found.upper <= exact + 0.011


def event(tries, mu, s, b, epsilon):
    """delta of one event for a Gaussian run: P = N(mu, 1) against Q = N(0, 1).

    Outputs above the threshold of the type I error s are the best ones of those above the threshold of b, and all
    outputs below that are better.
    """
    (s, small), (b, large) = ((x, norm.sf(norm.isf(x) - mu)) for x in (s, b))
    p, q = (generating(tries, high) - generating(tries, high - part) for high, part in ((large, small), (b, s)))
    return p - exp(epsilon) * q


@pytest.mark.parametrize("tries", [PoissonTries(3.0), NegativeBinomialTries(1.0, 1 / 20)], ids=repr)
@pytest.mark.parametrize("sigma", [1.0, 5.0])
def test_events_of_gaussian_runs_lie_between_the_ends(tries, sigma):
    """The lower end is of the same kind of event, found by brute force with normal tails."""
    ledger = Ledger([Chosen(Ledger([Additive(Gaussian(sigma))]), tries)])
    sizes, levels = np.geomspace(1e-7, 0.2, 100), np.concatenate([np.geomspace(1e-4, 0.5, 60), np.linspace(0.5, 1, 60)])
    for epsilon in (2.5 / sigma, 4.0 / sigma):
        found = ledger.delta(epsilon)
        reached = max(event(tries, 1 / sigma, s, b, epsilon) for s, b in product(sizes, levels) if s <= b)
        assert reached * (1 - 1e-9) <= found.upper
        assert 0.7 * reached <= found.lower <= found.upper <= 12 * reached


@pytest.mark.parametrize("law", ["poisson", "geometric", "logarithmic"])
def test_no_worse_than_the_theorems_and_no_better_than_one_run(law):
    tries = tries_of(law, 10.0)
    run = Ledger([Additive(Gaussian(4.0))])
    found = Ledger([Chosen(run, tries)]).epsilon(1e-6)
    bounds = [
        theorem_renyi(a, 0.25, tries) + log(1 / 1e-6) / (a - 1) + log((a - 1) / a) - log(a) / (a - 1)
        for a in np.geomspace(2, 200, 60)
    ]
    assert run.epsilon(1e-6).lower < found.lower < found.upper < min(bounds)


@pytest.mark.parametrize("law", ["poisson", "geometric", "logarithmic"])
@pytest.mark.parametrize("order", [1.5, 4.0, 30.0])
def test_the_theorem_of_a_curve_is_that_of_gaussian_noise(law, order):
    tries, noise = tries_of(law, 20.0), Gaussian(2.0)
    profile = Ledger([Additive(noise)])
    found = theorem_of_curve(order, lambda a: a / 8, lambda e: profile.delta(e).upper, tries)
    assert theorem_renyi(order, 0.5, tries) <= found * (1 + 1e-9)
    if law == "poisson":
        epsilon = np.log1p(1 / (order - 1))
        delta = norm.sf(2 * epsilon - 0.25) - exp(epsilon) * norm.sf(2 * epsilon + 0.25)
        assert found == pytest.approx(order / 8 + 20 * delta + log(20) / (order - 1), rel=1e-9)


def test_powers_of_tests_are_below_those_of_the_normal_law():
    e = np.linspace(-20, 20, 4001)
    truth = norm.sf(e - 0.5) - np.exp(e) * norm.sf(e + 0.5)
    errors, powers = powers_of_tests(e, truth * (1 - 1e-4), truth * (1 + 1e-4))
    exact = norm.sf(norm.isf(errors) - 1)
    assert (powers <= exact * (1 + 1e-12)).all()
    inside = (errors > 1e-12) & (errors < 0.9)
    assert (powers >= exact * (1 - 0.03))[inside].all()


def test_forty_runs_of_training():
    """The example of the issue: the bracket is below the theorem's epsilon of 5.17."""
    run = Ledger([(Sampled(Additive(Gaussian(1.0)), 0.01), 1000)], "add_remove")
    found = Ledger([Chosen(run, tries_of("geometric", 40.0))], "add_remove").epsilon(1e-6)
    assert 3.3 < found.lower < found.upper < 3.5
    assert found.upper < 1.03 * found.lower


def test_it_is_composed_with_other_releases():
    run = Ledger([Additive(Laplace(4.0)), Additive(DiscreteGaussian(5.0))])
    best = Chosen(run, PoissonTries(2.0))
    one, two = (Ledger([(best, times)]).epsilon(1e-6) for times in (1, 2))
    more = Ledger([best, Additive(Gaussian(50.0))]).epsilon(1e-6)
    assert one.lower < more.lower <= more.upper
    assert one.lower < two.lower <= two.upper < 2 * one.upper + 1
    assert Ledger([best]).renyi(3.0).lower <= Ledger([best]).renyi(3.0).upper < inf


def test_mistakes():
    run = Ledger([Additive(Gaussian(1.0))], "substitute")
    with pytest.raises(ValueError, match=r"the runs of .* have relation = 'substitute', and their ledger none"):
        Ledger([Chosen(run, PoissonTries(1.0))])
    for ledger, tries, told in ((run, 3, "PoissonTries or"), ([1], PoissonTries(1.0), "valid: a Ledger")):
        with pytest.raises(ValueError, match=told):
            Chosen(ledger, tries)
    open_run = Ledger([Distributions((1.0, 0.0), (0.0, 1.0))], "add_remove")
    with pytest.raises(ValueError, match="valid: a private run"):
        Ledger([Chosen(open_run, PoissonTries(1.0))], "add_remove").epsilon(1e-6)
    assert Ledger([Chosen(Ledger(), PoissonTries(1.0))]).epsilon(0.0).upper == 0


@pytest.mark.parametrize("mean", [1e-300, 0.01, 0.5])
@pytest.mark.parametrize("order", [1.001, 2.0, 50.0])
def test_less_than_one_run_on_average_reveals_no_less_than_nothing(mean, order):
    """There log(mean) / (order - 1) of the theorem is below 0. The oracle is the exact supremum of Gaussian runs."""
    tries = PoissonTries(mean)
    found = Ledger([Chosen(Ledger([Additive(Gaussian(2.0))]), tries)]).renyi(order)
    assert 0 <= found.lower <= found.upper
    if mean > 1e-3:
        assert gaussian_renyi(order, 0.5, tries).lower <= found.upper * (1 + 1e-9)


def test_too_many_runs_are_refused():
    with pytest.raises(ValueError, match="rounding hides so many runs; valid: a mean, or"):
        Chosen(Ledger(), NegativeBinomialTries(1.0, 1e-10))
