"""The largest divergence of the best of a random number of Gaussian runs.

Witnesses are runs with finitely many outputs, whose best-of-tries law is exact, in the worst order and in all orders;
candidates with Gaussian scores; and a closed form at order 1.
"""

from itertools import permutations

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.special import ndtr, ndtri

from tcdp_sim.candidates import NegativeBinomialTries, PoissonTries, gaussian_renyi, tries_of
from tcdp_sim.exact import divergence_in_worst_order, divergence_of_best, divergence_of_candidates

LAWS = {
    "poisson": PoissonTries(10.0),
    "many": PoissonTries(300.0),
    "geometric": tries_of("geometric", 10.0),
    "logarithmic": tries_of("logarithmic", 10.0),
    "three": NegativeBinomialTries(3.0, 0.2),
}


def gaussian_outputs(shift, ends):
    """The laws of N(shift, 1) and N(0, 1), rounded to cells with these ends inside."""
    z = np.concatenate([[-np.inf], ends, [np.inf]])

    def masses(z):
        return np.where(z[1:] < 0, np.diff(ndtr(z)), -np.diff(ndtr(-z)))

    return masses(z - shift), masses(z)


@pytest.mark.parametrize("tries", [LAWS["poisson"], LAWS["many"]], ids=["poisson", "many"])
@pytest.mark.parametrize(
    ("shift", "order"), [(0.02, 1.05), (0.1, 2.0), (0.1, 20.0), (0.7, 3.0), (2.0, 1.5), (0.05, 14.0)]
)
def test_a_fine_run_attains_the_supremum_of_poisson_tries(tries, shift, order):
    found = gaussian_renyi(order, shift, tries)
    first, second = gaussian_outputs(shift, np.linspace(-7.5, 7.5 + order * shift, 6001))
    attained = divergence_in_worst_order(order, first, second, tries)
    assert found.lower * (1 - 2e-3) < attained < found.upper
    assert found.upper < 1.002 * found.lower


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("order", [1.1, 2.0, 8.0])
def test_no_order_of_six_outputs_exceeds_the_bound(name, order):
    shift = 0.3
    ends = ndtri(np.array([0.002, 0.05, 0.5, 0.93, 0.996])) + 0.5 * shift
    first, second = gaussian_outputs(shift, ends)
    most = gaussian_renyi(order, shift, LAWS[name]).upper
    found = [
        divergence_of_best(order, first[list(p)], second[list(p)], LAWS[name]) for p in permutations(range(len(first)))
    ]
    assert max(found) < most
    assert max(found) > 0.5 * order * shift**2  # more than one run costs


@pytest.mark.parametrize("name", LAWS)
def test_candidates_with_gaussian_scores_stay_below(name):
    rng = np.random.default_rng(3)
    shift, order = 0.2, 3.0
    most = gaussian_renyi(order, shift, LAWS[name]).upper
    for k in (1, 2, 5, 20):
        for spread in (0.0, 1.0, 5.0):
            scores = spread * rng.standard_normal(k)
            for moves in (np.where(np.arange(k) == np.argmax(scores), 1, -1), rng.choice([-1, 1], k)):
                assert divergence_of_candidates(order, scores, scores + shift * moves, 1.0, LAWS[name]) < most


@pytest.mark.parametrize("mean", [1.0, 10.0, 1000.0])
@pytest.mark.parametrize("shift", [0.05, 0.5])
def test_at_order_1_it_is_the_mean_of_the_largest_cost(mean, shift):
    """The limit is the mean of the largest of K values log r - 1 + 1/r, with r that of a run: an integral of tails."""

    def cost(loss):
        return loss - 1 + np.exp(-loss)

    def tail(level):
        low = optimize.brentq(lambda x: cost(x) - level, -np.sqrt(2 * level) * 1.01, 0, xtol=1e-14)
        high = optimize.brentq(lambda x: cost(x) - level, 0, level + 3 * np.sqrt(level) + 1e-9, xtol=1e-14)
        return ndtr(low / shift - 0.5 * shift) + ndtr(0.5 * shift - high / shift)

    truth = integrate.quad(lambda x: 2 * x * -np.expm1(-mean * tail(x * x)), 1e-9, 12 * shift, limit=200)[0]
    found = gaussian_renyi(1.0001, shift, PoissonTries(mean))
    assert found.lower < truth * (1 + 1e-3)
    assert truth < found.upper


def test_very_few_tries_cost_what_one_run_does_times_their_number():
    mean, order, shift = 1e-5, 3.0, 0.8
    once = np.expm1(0.5 * order * (order - 1) * shift**2)
    found = gaussian_renyi(order, shift, PoissonTries(mean))
    assert found.estimate == pytest.approx(np.log1p(mean * once) / (order - 1), rel=1e-3)


def test_the_bracket_narrows_and_huge_divergences_are_unbounded():
    wide, narrow = (gaussian_renyi(2.0, 0.1, LAWS["poisson"], cells) for cells in (400, 6000))
    assert wide.lower < narrow.lower < narrow.upper < wide.upper
    assert narrow.upper / narrow.lower < 1.01
    assert gaussian_renyi(50.0, 1.0, LAWS["poisson"]).upper == np.inf
    assert gaussian_renyi(16.0, 0.5, LAWS["geometric"]).upper == np.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, 0.1), "order = 1 is not valid"),
        ((2.0, 0.0), "shift = 0 is not valid"),
        ((2.0, 0.1, 10), "cells = 10 is not valid; valid: a whole number from 100"),
    ],
)
def test_mistakes_are_one_line(arguments, message):
    order, shift, *cells = arguments
    with pytest.raises(ValueError, match=message):
        gaussian_renyi(order, shift, LAWS["poisson"], *cells)
