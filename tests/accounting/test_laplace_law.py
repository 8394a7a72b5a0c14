"""The law of the loss of Laplace noise on a grid, against mpmath and what spreading must keep."""

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from tcdp_sim.accounting import Additive, Ledger, RandomisedResponse
from tcdp_sim.exact.losses.grid_law import TooFine
from tcdp_sim.exact.losses.laplace_law import LaplaceLoss
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import delta_question, epsilon_question
from tcdp_sim.noise import DiscreteGaussian, Laplace

SIZES = [1e-3, 0.3, 5.0, 90.0]
STEPS = [(1.0, 0.0), (0.01, 0.003), (2.3e-4, 0.0)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("step", "offset"), STEPS)
def test_spreading_keeps_the_masses_of_both_laws(size, step, offset):
    law = LaplaceLoss(size).on_grid(step, offset, 0.0, -np.inf)
    assert law.mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert (law.mass * np.exp(-law.loss)).sum() == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize(("size", "step", "offset"), [(0.3, 0.07, 0.01), (2.0, 0.3, 0.0), (5.0, 0.9, -0.2)])
def test_every_point_has_the_mass_of_the_losses_around_it(size, step, offset):
    """Mass at a point g is E w(L - g), where w falls from 1 to 0 within a step so that e^-L keeps its mean."""
    law = LaplaceLoss(size).on_grid(step, offset, 0.0, -np.inf)
    with mp.workdps(25):
        h = mp.mpf(step)

        def weight(t):
            if t >= 0:
                return (mp.exp(-t) - mp.exp(-h)) / (1 - mp.exp(-h)) if t < h else mp.mpf(0)
            return (1 - mp.exp(-(t + h))) / (1 - mp.exp(-h)) if t > -h else mp.mpf(0)

        for g, mass in zip(law.loss.tolist(), law.mass.tolist()):
            ends = sorted({-mp.mpf(size), mp.mpf(size), *(e for e in (g - h, mp.mpf(g), g + h) if -size < e < size)})
            exact = mp.quad(lambda x, g=g: mp.exp(-(size - x) / 2) / 4 * weight(x - g), ends)
            exact += weight(size - g) / 2 + mp.exp(-size) * weight(-size - g) / 2
            assert mass == pytest.approx(float(exact), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("size", SIZES[1:])
@pytest.mark.parametrize("share", [0.1, 0.6, 0.99])
def test_losses_below_the_floor_are_raised_and_told(size, share):
    floor = size * (2 * share - 1)
    law = LaplaceLoss(size).on_grid(0.01, 0.0, 0.0, floor)
    ((lowest, raised),) = law.moved
    assert floor - 0.01 < lowest <= floor
    assert law.loss[0] == lowest
    assert raised == pytest.approx(0.5 * np.exp(-0.5 * (size - lowest)), rel=1e-12)
    assert law.mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert (law.mass * np.exp(-law.loss)).sum() < 1


@pytest.mark.parametrize("size", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.7])
def test_one_release_has_the_closed_form(size, epsilon):
    low, high = bracket([(LaplaceLoss(size), 1)], delta_question(epsilon, lambda most: 1e-5 * most))
    exact = max(-np.expm1((epsilon - size) / 2), 0.0)
    assert low <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= high <= low + 1e-5 * high


def profile(size, epsilon):
    """Return E (1 - e^(epsilon - L))+ for one release, at any epsilon (Balle, Barthe, Gaboardi 2018, Theorem 3)."""
    if epsilon < 0:
        return -np.expm1(epsilon) + np.exp(epsilon) * profile(size, -epsilon)
    return max(-np.expm1((epsilon - size) / 2), 0.0)


def test_two_releases_by_an_integral_of_the_closed_form():
    epsilon, one, other = 0.6, 0.5, 0.8
    low, _, high = Ledger([Additive(Laplace(1 / one)), Additive(Laplace(1 / other))]).delta(epsilon, 1e-6)
    kinks = [loss for loss in (epsilon - other, epsilon) if abs(loss) < one]
    between = quad(
        lambda x: 0.25 * np.exp(-(one - x) / 2) * profile(other, epsilon - x), -one, one, points=kinks, epsabs=1e-14
    )[0]
    exact = 0.5 * profile(other, epsilon - one) + 0.5 * np.exp(-one) * profile(other, epsilon + one) + between
    assert low <= exact <= high
    assert high - low <= 1e-6 * high


def test_a_grid_that_is_too_fine_is_refused():
    with pytest.raises(TooFine):
        LaplaceLoss(100.0).on_grid(1e-6, 0.0, 0.0, -np.inf)


def test_the_crude_law_is_near():
    for size in SIZES:
        atoms = LaplaceLoss(size).crude()
        assert atoms.mass.sum() == pytest.approx(1.0, abs=1e-12)
        assert (atoms.mass * atoms.loss).sum() == pytest.approx(size + np.expm1(-size), rel=1e-6)


def test_large_losses_at_a_small_delta():
    low, high = bracket([(LaplaceLoss(40.0), 3)], epsilon_question(1e-3, lambda most: 1e-4 * most))
    assert 119 < low <= high <= 120 * (1 + 1e-12)


@pytest.mark.parametrize("points", [1, 3, 49, 162, 2592])
@pytest.mark.parametrize("size", [0.1, 0.3, 0.7])
def test_the_least_loss_is_not_raised_where_rounding_puts_it_beside_a_point_of_the_grid(size, points):
    law = LaplaceLoss(size).on_grid(size / points, 0.0, 0.0, -size)
    assert not law.moved
    assert (law.mass * np.exp(-law.loss)).sum() == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("epsilon", [2.147264, 3.932879])
def test_a_list_of_unequal_releases_is_narrow_where_its_grid_meets_the_least_loss(epsilon):
    ledger = Ledger(
        [(Additive(DiscreteGaussian(6.0)), 12), (Additive(Laplace(10.0)), 4), (RandomisedResponse(0.3, 4), 3)],
        "add_remove",
    )
    found = ledger.delta(epsilon, 1e-4)
    assert found.upper < (1 + 1e-4) * found.lower
