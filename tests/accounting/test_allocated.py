"""Random allocations in a ledger: several epochs and participations, against quadrature and simulation.

The oracles (`allocation_references`) integrate the definition. They are exact to 1e-4 of delta or better.
"""

import numpy as np
import pytest
from allocation_references import adding, pairs_of_three, removing, two_epochs
from scipy.stats import norm

from tcdp_sim.accounting import Additive, Allocated, Claimed, Ledger
from tcdp_sim.exact.allocation import ratio_sums
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import delta_question
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import PureDP
from tcdp_sim.samplers.allocations import AllocationDraws

EXACT = 1e-4  # relative error of an oracle


def epochs(sigma, steps, participations=1, times=1):
    return Ledger([(Allocated(sigma, steps, participations), times)], "add_remove")


def ends(sigma, steps, participations, times, epsilon, way):
    """The lower and upper end of delta in one direction, 0 for adding and 1 for removing."""
    release = Allocated(sigma, steps, participations)
    question = delta_question(epsilon, lambda most: 1e-3 * most)
    low = bracket(release.attained("add_remove", times)[0][way], question)[0]
    return low, bracket(release.cases("add_remove", times)[0][way], question)[1]


def holds(found, truth, width):
    low, high = found
    assert low <= truth * (1 + EXACT)
    assert high >= truth * (1 - EXACT)
    assert high - low <= width * truth


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1.0, 2, 2.0), (1.0, 3, 0.7), (4.0, 2, 0.2)])
def test_one_epoch_by_quadrature(sigma, steps, epsilon):
    holds(ends(sigma, steps, 1, 1, epsilon, 0), adding(sigma, steps, epsilon), 0.02)
    if (truth := removing(sigma, steps, epsilon)) > 1e-6:
        holds(ends(sigma, steps, 1, 1, epsilon, 1), truth, 0.05)


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.5, 4.0), (0.3, 8.0), (0.2, 20.0)])
def test_little_noise_by_quadrature(sigma, epsilon):
    holds(ends(sigma, 2, 1, 1, epsilon, 0), adding(sigma, 2, epsilon), 0.01)


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(0.4, 1000, 6.0), (0.35, 100, 9.0), (0.6, 5000, 1.0)])
def test_little_noise_against_the_largest_ratio_integrated(sigma, steps, epsilon):
    """delta is the mean of V over t - 1 ratios with the sum S and the largest output m (Asmussen and Kroese).

    At 5.5 standard errors, a fresh seed has a false-alarm rate of 4e-8.
    """
    rng = np.random.default_rng(3)
    values = np.zeros(4000)
    for i in range(len(values)):
        x = sigma * rng.standard_normal(steps - 1)
        k = steps * np.exp(epsilon) - np.exp((x - 0.5) / sigma**2).sum()
        z = max(x.max(), sigma**2 * np.log(k) + 0.5) if k > 0 else x.max()
        values[i] = norm.sf((z - 1) / sigma) - k * norm.sf(z / sigma)
    error = 5.5 * values.std() / np.sqrt(len(values))
    low, high = ends(sigma, steps, 1, 1, epsilon, 0)
    assert low - error <= values.mean() <= high + error
    assert high - low < 0.01 * high
    assert error < 0.1 * values.mean()


def test_the_same_bins_in_all_epochs_are_one_epoch_with_less_noise():
    same = Ledger([Allocated(2.0, 50, bins="same", epochs=16)], "add_remove").epsilon(1e-6)
    assert same == epochs(0.5, 50).epsilon(1e-6)
    anew = Ledger([Allocated(2.0, 50, epochs=16)], "add_remove").epsilon(1e-6)
    assert anew == epochs(2.0, 50, times=16).epsilon(1e-6)
    assert anew.upper < same.lower


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_two_epochs_by_quadrature(epsilon):
    holds(ends(1.0, 2, 1, 2, epsilon, 0), two_epochs(1.0, epsilon), 0.02)
    other = 1 - np.exp(epsilon) + np.exp(epsilon) * two_epochs(1.0, -epsilon)
    if epsilon == 0.5:
        holds(ends(1.0, 2, 1, 2, epsilon, 1), other, 0.02)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_two_steps_of_three_by_quadrature(epsilon):
    """The record's blocks have two steps and one step; the ends differ by what the blocks reveal."""
    holds(ends(1.0, 3, 2, 1, epsilon, 0), pairs_of_three(1.0, epsilon), 1.5)
    if epsilon == 0.5:
        other = 1 - np.exp(epsilon) + np.exp(epsilon) * pairs_of_three(1.0, -epsilon)
        holds(ends(1.0, 3, 2, 1, epsilon, 1), other, 0.6)


@pytest.mark.parametrize(("steps", "k", "epsilon", "width"), [(1000, 10, 1.95, 0.3), (100, 2, 1.53, 0.5)])
@pytest.mark.parametrize("way", [0, 1])
def test_several_participations_against_simulation(steps, k, epsilon, width, way):
    """At 5.5 standard errors, a fresh seed has a false-alarm rate of 4e-8."""
    epsilon = epsilon - 0.2 * way
    low, high = ends(1.0, steps, k, 1, epsilon, way)
    draws, _ = AllocationDraws(1.0, steps, k, epsilon, ("adding", "removing")[way]).sample(
        3000, rng=np.random.default_rng(1)
    )
    error = 5.5 * draws.std() / np.sqrt(len(draws))
    assert low - error <= draws.mean() <= high + error
    if way == 0:
        assert high - low <= width * high
        assert error < 0.25 * draws.mean()


def test_a_known_bracket_of_another_tool_is_met_and_left_far_behind():
    """PLD-accounting 2.0 prints .84304 and .87524 for sigma 1, 100 steps and delta 1e-6."""
    found = epochs(1.0, 100).epsilon(1e-6)
    assert 0.84304 < found.lower <= found.upper < 0.87524
    assert found.upper - found.lower < 1e-3


def test_a_large_delta_needs_no_epsilon():
    """The advantage of a single step of sigma = 1 is 2 Phi(1/2) - 1 = .383."""
    assert epochs(1.0, 100).epsilon(0.39) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("cells", [pytest.param(20, marks=pytest.mark.kept), 60])
def test_coarse_grids_have_wide_brackets_that_hold(monkeypatch, cells):
    """Here each end has to do its part: the grid is coarse, and rare ratios are beyond it."""
    monkeypatch.setattr(ratio_sums, "_CELLS", cells)
    monkeypatch.setattr(ratio_sums, "_RARE", 1e-5)
    caches = ratio_sums.dominating, ratio_sums.dominated
    for cache in caches:
        cache.cache_clear()
    try:
        for way, truth in ((0, adding(1.0, 2, 1.0)), (1, removing(1.0, 2, 0.3))):
            low, high = ends(1.0, 2, 1, 1, (1.0, 0.3)[way], way)
            assert low < truth < high
            assert high - low < truth
    finally:
        for cache in caches:
            cache.cache_clear()


def test_a_record_in_every_step_is_gaussian_noise():
    found = epochs(2.0, 4, 4).epsilon(1e-6)
    truth = Ledger([Additive(Gaussian(1.0))]).epsilon(1e-6)
    assert (found.lower, found.upper) == pytest.approx((truth.lower, truth.upper), rel=3e-4)
    alone = Ledger([Additive(Gaussian(2.0))]).epsilon(1e-6).upper
    assert epochs(2.0, 1).epsilon(1e-6).upper == pytest.approx(alone, rel=1e-4)


def test_allocations_compose_with_other_releases():
    alone = epochs(1.0, 2).epsilon(1e-4)
    both = (epochs(1.0, 2) + Ledger([Claimed(PureDP(0.5))])).epsilon(1e-4)
    assert alone.lower < both.lower < both.upper < alone.upper + 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Allocated(0.05, 10), "sigma = 0.05"),
        (lambda: Allocated(0.3, 10, bins="same", epochs=16), "sigma = 0.3 is not valid; valid: 0.4 <= sigma"),
        (lambda: Allocated(1.0, 10, bins="new"), "bins = 'new' is not known; valid: each_epoch, same"),
        (lambda: Allocated(1.0, 0), "steps = 0 is not valid; valid: a whole number from 1 to 100000"),
        (lambda: Allocated(1.0, 10, 11), "participations = 11 is not valid; valid: a whole number from 1 to 10"),
        (lambda: Ledger([Allocated(1.0, 2)], "substitute"), "has no pair for relation = 'substitute'"),
        (lambda: epochs(1.0, 2).renyi(2.0), "Renyi divergences of random allocation are not known"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
