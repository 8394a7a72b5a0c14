"""The largest divergence of the best of a random number of Gaussian runs.

Witnesses are runs with finitely many outputs, whose best-of-tries law is exact, in the worst order and in all orders;
candidates with Gaussian scores; and a closed form at order 1.
"""

from itertools import permutations

import numpy as np
import pytest
from best_run_references import best_run_renyi
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

# order - 1, shift, mean of a Poisson number of runs, and the divergence by tests/references/best_run_references.py
CORNERS = [
    (1e-09, 1e-08, 10.0, 1.8632867600908888e-16),
    (1e-09, 10.0, 1000.0, 1081.4084831763409),
    (1e-06, 300.0, 10.0, 45458.326901469788),
    (0.1, 25.0, 10.0, 374.43088410590405),
    (1.7, 4.0, 1.5, 23.252922654046998),
    (7.5, 1.03, 10.0, 8.3741983467616118),
    (1700000.0, 4.5e-06, 10.0, 3.3731360211307342e-5),
    (1500000.0, 9.3e-06, 10.0, 0.00010026619696262174),
    (5000000000.0, 3.8e-09, 10.0, 5.0741315799111673e-8),
]


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
        ((1.0, 0.1), "order = 1"),
        ((2.0, 0.0), "shift = 0"),
        ((2.0, 0.1, 10), "cells = 10 is not valid; valid: a whole number from 100"),
    ],
)
def test_mistakes_are_one_line(arguments, message):
    order, shift, *cells = arguments
    with pytest.raises(ValueError, match=message):
        gaussian_renyi(order, shift, LAWS["poisson"], *cells)


@pytest.mark.parametrize(("rest", "shift", "mean", "truth"), CORNERS)
def test_the_bracket_holds_the_quadrature_in_45_digits(rest, shift, mean, truth):
    """Above 8, the product of order and shift puts most of Q~ where phi is within rounding of 1."""
    coarse, fine = (gaussian_renyi(1 + rest, shift, PoissonTries(mean), cells) for cells in (100, 1500))
    for found in (coarse, fine):
        assert found.lower * (1 - 1e-14) <= truth <= found.upper * (1 + 1e-14)
    assert fine.upper < 1.05 * truth


@pytest.mark.slow
@pytest.mark.parametrize(("rest", "shift", "mean", "truth"), [CORNERS[1], CORNERS[4], CORNERS[6]])
def test_the_numbers_of_the_corners_are_those_of_the_quadrature(rest, shift, mean, truth):
    assert float(best_run_renyi(1 + rest, shift, mean)) == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("tries", [PoissonTries(1000.0), PoissonTries(10.0), LAWS["geometric"], LAWS["logarithmic"]])
def test_brackets_of_different_grids_overlap_in_every_corner_and_nothing_overflows(tries):
    rng = np.random.default_rng(5)
    for log_rest, log_tilt in zip(rng.uniform(-9, 12, 100), rng.uniform(-4, 1.65, 100), strict=True):
        order = 1 + 10**log_rest
        coarse, fine = (gaussian_renyi(order, 10**log_tilt / order, tries, cells) for cells in (100, 333))
        assert 0 <= coarse.lower <= coarse.upper
        assert 0 <= fine.lower <= fine.upper
        if isinstance(tries, PoissonTries):
            assert max(coarse.lower, fine.lower) <= min(coarse.upper, fine.upper)


def test_tiny_shifts_cost_in_proportion_to_their_square():
    tiny, small = (gaussian_renyi(2.0, shift, LAWS["poisson"]) for shift in (1e-17, 1e-5))
    assert tiny.lower <= 1e-24 * small.upper
    assert 1e-24 * small.lower <= tiny.upper
    assert tiny.upper < 1.06 * tiny.lower
