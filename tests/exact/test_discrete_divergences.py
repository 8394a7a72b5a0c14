"""Divergences and profiles of discrete noises against sums in 40 digits, scipy and closed forms of the literature."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from discrete_references import law

from tcdp_sim import exact
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    RoundedLaplace,
    RoundedSinhNormal,
)

NOISES = [
    DiscreteGaussian(0.3),
    DiscreteGaussian(1.0),
    DiscreteGaussian(6.0),
    DiscreteGaussian(0.7, 0.25),
    DiscreteLaplace(0.5),
    DiscreteLaplace(4.0, 0.5),
    RoundedGaussian(0.8),
    RoundedGaussian(5.0),
    RoundedLaplace(2.0),
    RoundedSinhNormal(4.0, 20.0),
]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)
moved = pytest.mark.parametrize("moved", [1.0, 2.0])
EPSILONS = np.array([0.0, 1e-3, 0.2, 1.0, 3.0])


def masses(noise, moved, reach):
    """Return pairs of probabilities of P and Q at all points from -reach to reach, in 40 digits."""
    truth, steps = law(noise), round(moved / noise.step)
    points = range(-reach, reach + 1)
    return [(truth.mass(abs(i)), truth.mass(abs(i - steps))) for i in points if truth.mass(abs(i)) > 0]


def contains(bounds, truth, width=1e-9):
    lower, _, upper = map(float, bounds)
    assert lower <= float(truth) * (1 + 1e-15) + 1e-300
    assert float(truth) * (1 - 1e-15) <= upper
    assert upper - lower <= width * float(truth) + 1e-300


def reach(noise):
    return int(min(float(noise.isf_log(-700.0)) / noise.step + 60, 1500 if noise.family == "discrete_laplace" else 330))


@every
@moved
@pytest.mark.parametrize("order", [1.0, 1.0 + 1e-7, 1.5, 2.0, 3.25])
def test_divergences_are_sums(noise, moved, order):
    if order >= noise.max_order(moved):
        return
    with mp.workdps(40):
        pairs = masses(noise, moved, reach(noise))
        if order == 1:
            truth = mp.fsum(p * mp.log(p / q) for p, q in pairs)
        else:
            a = mp.mpf(order)
            truth = mp.log(mp.fsum(p**a * q ** (1 - a) for p, q in pairs)) / (a - 1)
        contains(exact.renyi_divergence(noise, moved, order), truth)


@every
@moved
def test_profiles_are_sums(noise, moved):
    with mp.workdps(40):
        pairs = masses(noise, moved, reach(noise))
        for epsilon in EPSILONS:
            gain = mp.exp(mp.mpf(float(epsilon)))
            truth = mp.fsum(max(p - gain * q, 0) for p, q in pairs)
            bounds = exact.hockey_stick(noise, moved, epsilon)
            if truth > 1e-14:  # at the largest loss the last digit of epsilon decides
                contains(bounds, truth)
            assert bounds.lower <= truth + mp.mpf(1e-14)


def test_profiles_of_discrete_gaussian_noise_down_to_1e_minus_300():
    noise = DiscreteGaussian(3.0)
    with mp.workdps(60):
        truth = law(noise)
        for epsilon in (2.0, 5.0, 10.0, 12.0):
            gain = mp.exp(mp.mpf(epsilon))
            delta = mp.fsum(max(truth.mass(i) - gain * truth.mass(i + 1), 0) for i in range(240))
            contains(exact.hockey_stick(noise, 1.0, epsilon), delta, 1e-11)
        assert delta < mp.mpf(10) ** -280


@pytest.mark.parametrize("sigma", [0.3, 1.0, 40.0, 1e6])
@pytest.mark.parametrize("moved", [1.0, 5.0])
def test_whole_orders_of_discrete_gaussian_noise_are_those_of_gaussian_noise(sigma, moved):
    """Canonne, Kamath, Steinke (2020): D_a <= a moved^2 / (2 sigma^2), with equality at whole a."""
    noise, slope = DiscreteGaussian(sigma), moved**2 / (2 * sigma**2)
    whole, between = np.array([1.0, 2.0, 7.0, 30.0]), np.array([1.001, 1.3, 2.5, 9.9])
    assert exact.renyi_divergence(noise, moved, whole).estimate == pytest.approx(slope * whole, rel=1e-13)
    found = exact.renyi_divergence(noise, moved, between)
    assert np.all(found.estimate <= slope * between * (1 + 1e-15))
    if sigma == 0.3:
        assert np.all(found.upper[1:] < slope * between[1:])
    policy = largest_ratio(noise, moved, np.inf)
    assert policy.estimate == pytest.approx(slope, rel=1e-13)


@pytest.mark.parametrize(("scale", "steps"), [(0.2, 1), (1.0, 1), (1.0, 4), (30.0, 5)])
def test_the_zcdp_of_discrete_laplace_noise_is_its_divergence_of_order_one(scale, steps):
    noise = DiscreteLaplace(scale)
    at_one = exact.renyi_divergence(noise, float(steps), 1.0).estimate
    found = largest_ratio(noise, float(steps), np.inf)
    assert found.lower <= at_one * (1 + 1e-9)
    assert at_one * (1 - 1e-9) <= found.upper <= at_one * (1 + 1e-6)
    assert exact.renyi_divergence(noise, float(steps), np.inf).estimate == pytest.approx(steps / scale, rel=1e-14)


@pytest.mark.parametrize(
    "noise", [DiscreteGaussian(1.0), DiscreteGaussian(4.0), DiscreteLaplace(2.0), RoundedGaussian(2.0)], ids=repr
)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_two_coordinates_are_a_double_sum(noise, epsilon):
    x = np.arange(-60.0, 61.0)
    p, q = noise.pmf(x), noise.pmf(x - 1)
    truth = np.maximum(np.multiply.outer(p, p) - np.exp(epsilon) * np.multiply.outer(q, q), 0).sum()
    found = exact.product_profile(noise, 1.0, epsilon)
    assert found.lower <= truth * (1 + 1e-11)
    assert truth * (1 - 1e-11) <= found.upper
    assert found.upper - found.lower <= 1e-11


@every
def test_a_part_of_a_step_is_not_hidden(noise):
    shift = 0.5 * noise.step
    assert exact.renyi_divergence(noise, shift, 2.0) == (np.inf, np.inf, np.inf)
    assert exact.hockey_stick(noise, shift, 3.0) == (1, 1, 1)
    assert exact.product_profile(noise, shift, 3.0) == (1, 1, 1)
    assert np.isfinite(exact.renyi_divergence(noise.with_density(), shift, 1.1).upper)


@pytest.mark.parametrize("noise", [DiscreteGaussian(2.0), DiscreteLaplace(2.0, 0.5), RoundedGaussian(3.0)], ids=repr)
def test_the_law_of_the_loss_is_that_of_its_atoms(noise):
    atoms, found = noise.loss_atoms(1.0), exact.PrivacyLossDistribution(noise, 1.0)
    mass = np.exp(atoms.log_mass)
    for level in (-0.33, 0.0, 0.21, 0.47):
        assert found.sf(level) == pytest.approx(mass[atoms.loss > level + 1e-12].sum(), rel=1e-11)
    assert found.mean().estimate == pytest.approx(float(mass @ atoms.loss), rel=1e-9)
    with pytest.raises(ValueError, match="valid: multiples of"):
        exact.PrivacyLossDistribution(noise, 0.75)


@pytest.mark.parametrize(
    "noise", [DiscreteGaussian(1.0), DiscreteGaussian(0.6, 0.5), DiscreteLaplace(0.7), RoundedGaussian(1.0)], ids=repr
)
@pytest.mark.parametrize(("counts", "empty"), [([3, 1], 0), ([3, 3, 1], 0), ([2], 2)])
def test_rankings_enumerate_all_outcomes(noise, counts, empty):
    """What ties is not on top and does not overtake, as with every noise on a lattice."""
    x = np.arange(-16, 17) * noise.step
    x = x[noise.pmf(x) > 1e-12]
    chance = noise.pmf(x)
    values = np.array([*counts, *([0] * empty)], dtype=float)
    top, others = values == max(counts), np.array([*([False] * len(counts)), *([True] * empty)])
    which = np.array(list(product(range(len(x)), repeat=len(values))))
    noisy, weight = values + x[which], chance[which].prod(axis=1)
    best = noisy[:, top].max(axis=1)
    stays = weight[best > noisy[:, ~top].max(axis=1, initial=-np.inf)].sum()
    spurious = weight[noisy[:, others].max(axis=1, initial=-np.inf) > best].sum()
    for function, known in ((exact.top_stays_probability, stays), (exact.spurious_wins_probability, spurious)):
        bounds = function(noise, counts, len(values))
        assert bounds.lower <= bounds.estimate <= bounds.upper
        assert bounds.estimate == pytest.approx(known, abs=1e-9)  # points of 1e-12 are left out


def test_extreme_quantiles_are_points():
    noise = DiscreteGaussian(5.0)
    for count in (1.0, 1e6, 1e200):
        x = float(exact.max_abs_quantile(noise, count, 0.5).estimate)
        beyond, before = (float(exact.max_abs_sf(noise, count, at).estimate) for at in (x, x - 1))
        assert x == round(x)
        assert beyond <= 0.5 < before


def test_high_orders_of_a_rounded_noise_look_beyond_the_floats():
    """At order 100 the sum has its peak 99 standard deviations out."""
    noise, a = RoundedGaussian(1.0), mp.mpf(100)
    with mp.workdps(60):
        truth = law(noise)
        terms = [truth.mass(abs(i)) ** a * truth.mass(abs(i - 1)) ** (1 - a) for i in range(-140, 60)]
        contains(exact.renyi_divergence(noise, 1.0, 100.0), mp.log(mp.fsum(terms)) / 99)


@pytest.mark.parametrize("epsilon", [1.0, 5.0, 7.8, 7.823526768466288, 7.9])
def test_tiny_profiles_of_rounded_noise_contain_the_sum_in_sixty_digits(epsilon):
    """Losses are differences of logs of about -400, so that their rounding counts beside a loss near epsilon."""
    scale, step = 0.9107449896515526, 0.25
    with mp.workdps(60):

        def mass(i):
            near, far = ((abs(i) + half) * mp.mpf(step) / mp.mpf(scale) for half in (mp.mpf(-1) / 2, mp.mpf(1) / 2))
            return mp.ncdf(-near) - mp.ncdf(-far)

        truth = mp.fsum(max(mass(i - 1) - mp.exp(mp.mpf(epsilon)) * mass(i), 0) for i in range(-300, 300))
    low, _, high = exact.hockey_stick(RoundedGaussian(scale, step), step, epsilon)
    assert low <= truth <= high
    assert high - low <= 1e-10 * high
