"""The best of a random number of pure private runs, against all orders of the outputs of small runs."""

from itertools import permutations

import numpy as np
import pytest
from mpmath import mp

from tcdp_sim.candidates import NegativeBinomialTries, PoissonTries, largest_loss, pure_renyi, tries_of
from tcdp_sim.exact import best_of_tries, divergence_of_best

LAWS = {
    "poisson": PoissonTries(10.0),
    "geometric": tries_of("geometric", 10.0),
    "logarithmic": tries_of("logarithmic", 10.0),
    "three": NegativeBinomialTries(3.0, 0.2),
}


def pair(epsilon, shares):
    """A pair of laws with losses epsilon and -epsilon: each half of a randomised response is split by the shares."""
    shares = np.asarray(shares) / np.sum(shares)
    high, low = 1 / (1 + np.exp(-epsilon)), 1 / (1 + np.exp(epsilon))
    return np.concatenate([low * shares, high * shares]), np.concatenate([high * shares, low * shares])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_largest_loss_is_attained_and_never_exceeded(name, epsilon):
    tries = LAWS[name]
    most = largest_loss(epsilon, tries)
    tiny = 1e-7
    first, second = pair(epsilon, [1 - tiny, tiny])
    found = -np.inf
    for p in permutations(range(len(first))):
        best = [best_of_tries(law[list(p)], tries)[:-1] for law in (first, second)]
        found = max(found, float(np.abs(np.log(best[0]) - np.log(best[1])).max()))
    assert found < most * (1 + 1e-9)
    assert found > most * (1 - 1e-5)


def test_the_largest_loss_rises_to_the_published_one():
    assert largest_loss(0.5, NegativeBinomialTries(1.0, 1e-9)) == pytest.approx(3 * 0.5, rel=1e-6)
    assert largest_loss(0.5, NegativeBinomialTries(0.0, 1e-9)) == pytest.approx(2 * 0.5, rel=1e-6)
    assert largest_loss(2.0, NegativeBinomialTries(1.0, 1 - 1e-9)) == pytest.approx(2.0, rel=1e-6)  # one run
    assert largest_loss(0.0, LAWS["geometric"]) == 0
    assert largest_loss(1.0, PoissonTries(10.0)) == pytest.approx(1 + 10 * np.tanh(0.5), rel=1e-12)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("order", [1.05, 2.0, 6.0])
def test_no_order_of_small_runs_exceeds_the_bound(name, epsilon, order):
    most = pure_renyi(order, epsilon)
    losses = np.array([1.0, -1.0, 0.5, -0.7, 0.0]) * epsilon
    q = np.array([0.2, 0.25, 0.15, 0.15, 0.25])
    p = q * np.exp(losses)
    p /= p.sum()
    inside = np.abs(np.log(p) - np.log(q)).max()
    limit = pure_renyi(order, float(inside))
    for ranked in map(list, permutations(range(5))):
        assert divergence_of_best(order, p[ranked], q[ranked], LAWS[name]) < limit
    first, second = pair(epsilon, [0.9, 0.1])
    found = [
        divergence_of_best(order, first[ranked], second[ranked], LAWS[name])
        for ranked in map(list, permutations(range(4)))
    ]
    assert max(found) < most


def test_a_run_with_few_tries_shows_that_the_bound_is_close():
    """With epsilon small a single run costs a epsilon^2 / 2 at a = 2, up to epsilon^4; many tries cost no more."""
    first, second = pair(0.01, [1.0])
    once = divergence_of_best(2.0, first, second, PoissonTries(200.0))
    assert pure_renyi(2.0, 0.01) == pytest.approx(2 * 0.01**2 / 2, rel=0.02)
    assert once < 2 * 0.01**2 / 2


def test_the_largest_cost_is_at_the_end_of_the_range():
    """phi, the cost per tilted mass in the proof, is largest at log r = -epsilon."""
    for order in (1.01, 1.5, 2.0, 10.0):
        for epsilon in (0.01, 0.5, 2.0):
            losses = np.linspace(-epsilon, epsilon, 1001)
            phi = 1 - order * np.exp((1 - order) * losses) + (order - 1) * np.exp(-order * losses)
            assert phi.argmax() == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pure_renyi(1.0, 0.1), "order = 1"),
        (lambda: pure_renyi(2.0, -0.1), "epsilon = -0.1"),
        (lambda: largest_loss(-1.0, LAWS["geometric"]), "epsilon = -1"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_large_losses_have_no_bound():
    assert pure_renyi(2.0, 2.0) == np.inf
    assert pure_renyi(100.0, 10.0) == np.inf


@pytest.mark.parametrize(("order", "epsilon"), [(2.0, 0.5), (1.3, 0.7), (4.0, 0.1), (10.0, 0.03), (1.0001, 0.4)])
@mp.workdps(30)
def test_the_bound_is_that_of_an_exponential_tilt(order, epsilon):
    """The log of the mean of e^(c Z) over order - 1, by quadrature; c itself is .4208 at (2, .5), where .5462 holds."""
    a, e = mp.mpf(order), mp.mpf(epsilon)
    c = 1 - a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(a * e)
    mean = mp.quad(lambda z: mp.exp((c - 1) * z), [0, 1, 10, 100, mp.inf])
    assert pure_renyi(order, epsilon) == pytest.approx(float(mp.log(mean) / (a - 1)), rel=1e-12)
