"""The finite laws of the claims on zCDP: divergences against mpmath and brute force, and laws that are as they say."""

from itertools import product
from math import inf

import mpmath
import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.stats import norm

from tcdp_sim.experiments.papers.registry import Budget
from tcdp_sim.experiments.papers.zcdp import renyi_divergences
from tcdp_sim.experiments.papers.zcdp.approximate import events
from tcdp_sim.experiments.papers.zcdp.finite_laws import (
    delta,
    divergence,
    example,
    independent,
    randomised_response,
    repeated,
)
from tcdp_sim.experiments.papers.zcdp.renyi_divergences import by_quadrature


def every_event(outcomes):
    return [np.array(kept, dtype=float) for kept in product((0, 1), repeat=outcomes)]


@pytest.mark.parametrize("order", [1.0, 1.01, 1.5, 8.0, 300.0, inf])
def test_divergences_hold_the_truth_in_forty_digits(order):
    p, q = example(3, 6), example(8, 6)
    with mpmath.workdps(40):
        a, b = ([mpmath.mpf(float(x)) for x in law] for law in (p, q))
        if order == 1:
            truth = mpmath.fsum(x * mpmath.log(x / y) for x, y in zip(a, b))
        elif order == inf:
            truth = max(mpmath.log(x / y) for x, y in zip(a, b))
        else:
            truth = mpmath.log(mpmath.fsum(x**order * y ** (1 - order) for x, y in zip(a, b))) / (order - 1)
    found = divergence(p, q, order)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-10 * found.estimate


def test_a_law_has_no_divergence_from_itself():
    assert divergence(example(0, 5), example(0, 5), 2.0).lower == 0
    assert divergence(example(0, 5), example(0, 5), 2.0).upper < 1e-12


@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 1.0])
def test_delta_is_the_best_event(epsilon):
    p, q = example(1, 6), example(5, 6)
    best = max(event @ p - np.exp(epsilon) * (event @ q) for event in every_event(6))
    found = delta(p, q, epsilon)
    assert found.lower <= best <= found.upper
    assert best > 0.01


def test_the_examples_are_different_laws():
    laws = [example(index, 6) for index in range(400)]
    assert all(law.min() > 0.001 and law.sum() == pytest.approx(1, abs=1e-14) for law in laws)
    assert len({tuple(np.round(law, 6)) for law in laws}) == 400


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_repeated_answers_are_counted_as_by_all_their_sequences(epsilon):
    kept, changed = np.exp(epsilon) / (1 + np.exp(epsilon)), 1 / (1 + np.exp(epsilon))
    p, q = repeated(epsilon, 5)
    for count in range(6):
        ways = sum(sum(bits) == count for bits in product((0, 1), repeat=5))
        assert p[count] == pytest.approx(ways * kept**count * changed ** (5 - count), rel=1e-12)
        assert q[count] == pytest.approx(ways * changed**count * kept ** (5 - count), rel=1e-12)
    assert sorted(randomised_response(epsilon)[0]) == pytest.approx(sorted(repeated(epsilon, 1)[0]), rel=1e-12)


def test_independent_outcomes_have_products():
    assert independent(np.array([0.2, 0.8]), np.array([0.5, 0.5])).tolist() == [0.1, 0.1, 0.4, 0.4]


def test_divergences_by_quadrature_are_those_of_a_sum_over_a_grid():
    """Simpson's rule on the two densities; the noise's own closed form is not asked."""
    x = np.linspace(-40, 40, 200_001)
    p, q = norm.logpdf(x, 0, 1.7), norm.logpdf(x, 0.9, 1.7)
    truth = np.log(simpson(np.exp(4 * p - 3 * q), x=x)) / 3
    found = by_quadrature(1.7, 0.9, 4.0)
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12


def test_the_independent_pair_of_randomised_responses_spends_the_sum():
    """Four outcomes by hand."""
    points = {point.where: point for point in renyi_divergences.composition_and_postprocessing(Budget())}
    odds = np.exp([0.2, -0.2]), np.exp([0.4, -0.4])
    chances = [o / o.sum() for o in (np.exp([0.2, 0.0]), np.exp([0.4, 0.0]))]
    mean = sum(chances[0][i] * chances[1][j] * (odds[0][i] * odds[1][j]) ** 3 for i in (0, 1) for j in (0, 1))
    point = points["ε = 0.2 and 2ε, independent, α = 4"]
    assert point.left.estimate == pytest.approx(np.log(mean) / 3, rel=1e-12)
    assert point.right.estimate == pytest.approx(4 * (0.2**2 + 0.4**2) / 2, rel=1e-12)


def test_the_sign_of_a_divergence_is_tried_with_the_total_variation_distance():
    p, q = example(0, 4), example(1, 4)
    points = {point.where: point for point in renyi_divergences.properties(Budget())}
    distance = max(event @ (p - q) for event in every_event(4))
    point = points["positive by Pinsker's inequality, laws 1 to 4, α = 1"]
    assert point.left.estimate == pytest.approx(2 * distance**2, rel=1e-12)
    assert distance > 0.05


def test_randomised_mappings_are_laws():
    assert renyi_divergences.MAPPING.sum(axis=1) == pytest.approx(1, abs=1e-14)
    assert renyi_divergences.MAPPING.min() > 0


@pytest.mark.parametrize("index", range(12))
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_events_are_as_large_as_can_be_and_the_laws_in_them_close(index, share):
    p, q = example(2 * index, 6), example(2 * index + 1, 6)
    epsilon = share * np.abs(np.log(p / q)).max()
    first, second = events(p, q, epsilon)
    assert (first <= p + 1e-15).all()
    assert (second <= q + 1e-15).all()
    assert (first >= -1e-15).all()
    assert (second >= -1e-15).all()
    assert first.sum() == pytest.approx(second.sum(), rel=1e-12)
    assert (first <= np.exp(epsilon) * second * (1 + 1e-9)).all()
    assert (second <= np.exp(epsilon) * first * (1 + 1e-9)).all()
    spent = max(a @ event - np.exp(epsilon) * (b @ event) for a, b in ((p, q), (q, p)) for event in every_event(6))
    assert 1 - first.sum() == pytest.approx(spent, abs=1e-12)
