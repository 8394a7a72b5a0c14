"""Exact laws of private selection from candidates, against enumeration, other quadrature and other routes."""

from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ndtr

from tcdp_sim.candidates import NegativeBinomialTries, PoissonTries, tries_of
from tcdp_sim.exact import (
    best_candidate_probabilities,
    best_of_tries,
    divergence_in_worst_order,
    divergence_of_best,
    divergence_of_candidates,
    noisy_best_probabilities,
    permute_and_flip_probabilities,
    selection_probability,
)

LAWS = {
    "poisson": PoissonTries(2.0),
    "geometric": NegativeBinomialTries(1.0, 0.6),
    "logarithmic": NegativeBinomialTries(0.0, 0.4),
}


def number(name, n):
    """P[K = n], from the definition."""
    tries = LAWS[name]
    if name == "poisson":
        return float(mpmath.exp(-2) * mpmath.mpf(2) ** n / mpmath.factorial(n))
    if name == "geometric":
        return 0.6 * 0.4 ** (n - 1) if n else 0.0
    return (1 - tries.stop) ** n / n / -np.log(tries.stop) if n else 0.0


@pytest.mark.parametrize("name", LAWS)
def test_the_best_of_tries_is_that_of_all_sequences_of_outputs(name):
    own, most = np.array([0.2, 0.5, 0.3]), 7
    found = best_of_tries(own, LAWS[name])
    truth, left = np.zeros(4), 1.0
    for n in range(most + 1):
        left -= number(name, n)
        for outputs in product(range(3), repeat=n):
            truth[min(outputs, default=3)] += number(name, n) * np.prod(own[list(outputs)])
    assert np.all(truth <= found + 1e-12)
    assert np.all(found < truth + left + 1e-12)
    assert left < 0.03
    assert found.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("name", LAWS)
def test_divergences_of_the_best_are_those_of_its_law(name):
    first, second = np.array([0.3, 0.3, 0.4]), np.array([0.25, 0.4, 0.35])
    p, q = (best_of_tries(law, LAWS[name]) for law in (first, second))
    held = q > 0
    for order in (1.5, 2.0, 7.0):
        truth = np.log((p[held] ** order * q[held] ** (1 - order)).sum()) / (order - 1)
        assert divergence_of_best(order, first, second, LAWS[name]) == pytest.approx(truth, rel=1e-10)
    many = [divergence_of_best(3.0, first[list(r)], second[list(r)], LAWS[name]) for r in permutations(range(3))]
    assert divergence_in_worst_order(3.0, first, second, LAWS[name]) == pytest.approx(max(many), rel=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_the_best_candidate_has_the_probability_of_its_definition(name):
    scores, scale = np.array([1.0, 0.3, -2.0]), 0.7
    found = best_candidate_probabilities(scores, scale, LAWS[name])
    numbers = np.array([number(name, n) for n in range(90)])

    def density(y, u):
        worse = stats.norm.cdf((y - scores) / scale).mean()
        slope = np.polynomial.polynomial.polyval(worse, numbers[1:] * range(1, 90))
        return stats.norm.pdf((y - u) / scale) / scale / 3 * slope

    for j, u in enumerate(scores):
        truth = integrate.quad(density, u - 8, u + 8, args=(u,), epsabs=1e-12)[0] + numbers[0] / 3
        assert found[j] == pytest.approx(truth, rel=1e-9)
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_far_candidates_are_told_apart_and_tiles_change_nothing(monkeypatch):
    found = best_candidate_probabilities([0.0, -1e6, -2e6], 1.0, LAWS["geometric"])
    assert found == pytest.approx(best_of_tries([1 / 3, 1 / 3, 1 / 3], LAWS["geometric"])[:3], rel=1e-12)
    scores = np.linspace(0, -30, 40)
    whole = [best_candidate_probabilities(scores, 1.5, LAWS["poisson"]), noisy_best_probabilities(scores, 1.5)]
    monkeypatch.setattr("tcdp_sim.exact.candidates.TILE", 500)
    parts = [best_candidate_probabilities(scores, 1.5, LAWS["poisson"]), noisy_best_probabilities(scores, 1.5)]
    np.testing.assert_allclose(whole, parts, rtol=1e-12)


def test_the_largest_of_noisy_scores():
    two = noisy_best_probabilities([0.0, -1.0], 2.0)
    assert two[0] == pytest.approx(ndtr(1 / (2 * np.sqrt(2))), rel=1e-12)
    assert noisy_best_probabilities(np.zeros(200), 1.0) == pytest.approx(np.full(200, 1 / 200), rel=1e-10)


def flipped(scores, epsilon):
    """The law of permute-and-flip, from its definition: random order, coins."""
    accepted = np.exp(0.5 * epsilon * (np.asarray(scores) - max(scores)))
    found = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for j in order:
            found[j] += left * accepted[j] / len(orders)
            left *= 1 - accepted[j]
    return found


def test_permute_and_flip_is_that_of_all_orders_of_arrival():
    scores = [0.0, -1.0, -1.5, -4.0, 0.0]
    np.testing.assert_allclose(permute_and_flip_probabilities(scores, 1.3), flipped(scores, 1.3), rtol=1e-12)
    exact = selection_probability("permute_and_flip", 0.8, 3.0, 30).estimate
    assert permute_and_flip_probabilities([0.0, *np.full(29, -3.0)], 0.8)[0] == pytest.approx(exact, rel=1e-9)


def test_permute_and_flip_is_not_of_bounded_range():
    """With epsilon = 1 its losses here fill an interval of length 1.66 (docs/experiments/selection.md)."""
    losses = np.log(flipped([1, 0, -8], 1.0) / flipped([0, 1, -9], 1.0))
    assert losses.max() - losses.min() == pytest.approx(1.6619, abs=1e-4)
    assert np.abs(losses).max() <= 1


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("order", [1.05, 3.0])
def test_divergences_of_candidates_are_those_of_fine_outputs(name, order):
    """The outputs of a run are pairs of a candidate and a cell of its noisy score, in the order of the score."""
    u, v = np.array([0.5, 0.0, -1.0]), np.array([0.6, -0.1, -0.9])
    p, q = (np.diff(ndtr(np.linspace(-8, 6, 12_001) - means[:, None]), axis=1).T[::-1].ravel() for means in (u, v))
    fine = divergence_of_best(order, p / p.sum(), q / q.sum(), LAWS[name])
    assert divergence_of_candidates(order, u, v, 1.0, LAWS[name]) == pytest.approx(fine, rel=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_of_tries([0.5, 0.6], LAWS["poisson"]), "probabilities add up to 1.1"),
        (lambda: best_of_tries([1.5, -0.5], LAWS["poisson"]), "probability = "),
        (lambda: best_candidate_probabilities([0.0], 0.0, LAWS["poisson"]), "scale = 0"),
        (lambda: noisy_best_probabilities([0.0], -1.0), "scale = -1"),
        (lambda: permute_and_flip_probabilities([0.0], 0.0), "epsilon = 0"),
        (lambda: divergence_of_best(1.0, [1.0], [1.0], LAWS["poisson"]), "order = 1"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_more_tries_find_the_best_more_often():
    found = [best_candidate_probabilities([1.0, 0.0], 0.1, tries_of("geometric", m))[0] for m in (2.0, 5.0, 50.0)]
    assert found[0] < found[1] < found[2] < 1
