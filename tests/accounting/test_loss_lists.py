"""The engine for lists of losses: both ends against sums over all outcomes, for laws and steps chosen at random."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from tcdp_sim.exact.losses.convolved import Window, convolved
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import delta_question, epsilon_question
from tcdp_sim.exact.losses.tilts import common_grid


def random_law(rng, values, lost=0.0):
    """A law of a few losses with E e^-L <= 1, as of a pair (P, Q)."""
    loss = np.sort(rng.normal(0.3, 1.0, values))
    mass = rng.dirichlet(np.ones(values))
    loss = loss + max(np.log((mass * np.exp(-loss)).sum()), 0.0)  # Q has no more mass than 1
    return AtomicLoss(loss, (1 - lost) * mass, (lost, lost))


def brute(kinds, epsilon):
    """delta(epsilon) by the sum over all outcomes of all releases."""
    laws = [law for law, times in kinds for _ in range(times)]
    total = 0.0
    for outcome in product(*(range(len(law.loss)) for law in laws)):
        loss = sum(law.loss[i] for law, i in zip(laws, outcome))
        total += np.prod([law.mass[i] for law, i in zip(laws, outcome)]) * max(-np.expm1(epsilon - loss), 0.0)
    return 1 - np.prod([1 - law.infinite[0] for law in laws]) + total


def sums(kinds, step, theta, low, points):
    laws = [(law.on_grid(step, 0.0, 0.0, -np.inf), times) for law, times in kinds]
    return convolved(laws, Window(theta, low, points, theta + 3.0, -2.0))


@pytest.mark.parametrize("seed", range(12))
def test_both_ends_of_one_transform_contain_the_truth_at_any_step_and_tilt(seed):
    rng = np.random.default_rng(seed)
    kinds = [(random_law(rng, rng.integers(2, 5), lost=0.01 * (seed % 3 == 0)), rng.integers(1, 3)) for _ in range(3)]
    truth = {}
    for step in (0.003, 0.02, 0.1):
        theta = rng.uniform(0.2, 2.0)
        law = sums(kinds, step, theta, -13.0, 2 * int(60 / step / 2))
        for epsilon in (-1.0, 0.0, 0.37, 1.3, 2.9):
            exact = truth.setdefault(epsilon, brute(kinds, epsilon))
            assert law.lower(epsilon) <= exact * (1 + 1e-12)
            assert law.upper(epsilon) >= exact * (1 - 1e-12)
        assert law.upper(0.37) - law.lower(0.37) < 20 * step**2 + 1e-9  # second order


@pytest.mark.parametrize("theta", [0.7, 4.0])
@pytest.mark.parametrize("times", [1, 3])
def test_losses_midway_between_points_are_the_worst_case_and_still_inside(theta, times):
    step = 0.02
    loss = np.array([-1.01, 0.51])  # midway between points
    p = np.expm1(-loss[0]) / (np.expm1(-loss[0]) - np.expm1(-loss[1]))
    law = AtomicLoss(loss, np.array([1 - p, p]))
    result = sums([(law, times)], step, theta, -6.0, 2**11)
    excess = []
    for epsilon in times * loss[1] - np.linspace(-0.009, 0.1, 23):
        exact = brute([(law, times)], epsilon)
        assert result.lower(epsilon) <= exact <= result.upper(epsilon)
        excess.append(result.upper(epsilon) - exact)
    assert max(excess) > 1e-4  # it is spread


def test_folded_mass_is_counted_on_the_safe_side():
    rng = np.random.default_rng(5)
    kinds = [(random_law(rng, 3), 4)]
    for points in (64, 128, 256):  # far too short for the law
        law = sums(kinds, 0.01, 1.0, 0.5, points)
        for epsilon in np.linspace(*law.range, 7)[:-1]:
            exact = brute(kinds, epsilon)
            assert law.lower(epsilon) <= exact * (1 + 1e-12)
            assert law.upper(epsilon) >= exact * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_brackets_of_epsilon_and_delta_are_narrow_and_contain_the_truth(seed):
    rng = np.random.default_rng(100 + seed)
    kinds = [(random_law(rng, 3), 2), (random_law(rng, 4), 1), (random_law(rng, 2, lost=1e-4), 3)]
    for epsilon in (0.0, 0.5, 2.0):
        low, high = bracket(kinds, delta_question(epsilon, lambda high: 1e-3 * high))
        exact = brute(kinds, epsilon)
        assert low <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= high
        assert high - low <= 1e-3 * high
    for delta in (1e-3, 0.05, 0.3):
        low, high = bracket(kinds, epsilon_question(delta, lambda high: 1e-3 * max(high, 1e-3)))
        assert low == 0 or brute(kinds, low) >= delta * (1 - 1e-12)
        assert brute(kinds, high) <= delta * (1 + 1e-12)
        assert high - low <= 1e-3 * max(high, 1e-3)


def test_losses_on_the_grid_cost_no_width():
    p = 1 / (1 + np.exp(-0.3))
    law = AtomicLoss(np.array([-0.3, 0.3]), np.array([1 - p, p]), spacing=0.6)
    low, high = bracket([(law, 7)], delta_question(0.4, lambda high: 1e-13 * high))
    assert high / low - 1 < 1e-10
    assert low <= brute([(law, 7)], 0.4) <= high


def test_losses_that_were_raised_are_not_counted_in_lower_ends():
    rng = np.random.default_rng(11)
    law = random_law(rng, 4)
    floor = float(law.loss[2])  # two of the four losses are raised
    raised = law.on_grid(0.01, 0.0, 0.0, floor)
    result = convolved([(raised, 3)], Window(1.0, -13.0, 4096, 4.0, -2.0))
    for epsilon in (0.0, 0.5, 1.5, 3 * floor - 0.01):
        exact = brute([(law, 3)], epsilon)
        assert result.lower(epsilon) <= exact <= result.upper(epsilon)
    assert result.upper(0.5) > 1.01 * brute([(law, 3)], 0.5)


def test_the_dilation_bound_has_a_tail_for_sums_further_off_than_it_sums():
    """All sums lie 14 standard deviations of the spreading below epsilon, and some spread beyond it."""
    step, times = 0.01, 400
    law = AtomicLoss(np.array([-0.015, 0.015]), np.array([0.5, 0.5]))  # midway between points
    result = sums([(law, times)], step, 0.5, -6.0, 2048)
    root = np.sqrt(result.variance)
    assert root == pytest.approx(step * np.sqrt(times) / 2)
    place = int(np.argmin(np.abs(result.loss)))
    epsilon = float(result.loss[place] + 14 * root)
    alone = np.zeros_like(result.mass)
    alone[place] = 1.0
    exact = replace(result, mass=alone, rounding=0.0, rounding_norm=0.0)
    upper = 1 / (1 + np.exp(-step / 2))  # P[N = step / 2], from E e^-N = 1
    count = np.arange(times + 1)
    moved = step * (count - times / 2) - 14 * root
    truth = np.exp(0.5 * 14 * root) * (binom.pmf(count, times, upper) * np.maximum(-np.expm1(-moved), 0.0)).sum()
    assert 0 < truth <= exact._dilation(epsilon)


@pytest.mark.parametrize("factor", [1.0, 0.37, 1.0 / 3.0])
def test_commensurate_lattices_stay_on_the_grid_in_spite_of_rounding(factor):
    """Euclid's algorithm in floats loses digits, by which outer points of a lattice once counted as off the grid."""
    shares = [level * query for level in (0.05, 0.1, 0.15, 0.2) for query in (0.5, 0.3, 0.2)]
    found = common_grid([(2 * factor * share, 1) for share in shares], 1e-3, False)
    assert found == pytest.approx(0.01 * factor, rel=1e-15)
