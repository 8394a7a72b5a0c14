"""The simulated loss of unequal releases against closed forms, quadrature and enumeration.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace, TruncatedLaplace
from tcdp_sim.samplers.composed_losses import hockey_stick_and_slope, log_kept, place_of, tilt_at
from tcdp_sim.samplers.release_pairs import (
    NoisePair,
    RangePair,
    lattice_pair,
    range_atoms,
    response_pair,
    vector_pair,
)

SIZE = 40_000


def simulated(kinds, epsilon, seed=1):
    return hockey_stick_and_slope(kinds, epsilon, tilt_at(kinds, epsilon), SIZE, rng=np.random.default_rng(seed))


def agree(draws, truth):
    assert abs(draws.mean() - truth) <= 5.5 * draws.std() / np.sqrt(SIZE) + 1e-9 * truth
    assert draws.std() < 8 * truth  # a tilt that misses the place would give a large spread


def gaussian(mu, epsilon):
    """delta and Q[L > epsilon] e^epsilon of a normal loss with variance mu^2."""
    below = exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)
    return norm.cdf(mu / 2 - epsilon / mu) - below, below


def enumerated(laws, epsilon):
    """delta and slope of laws given as {loss: probability}, by all outcomes."""
    delta = slope = 0.0
    for outcome in product(*(law.items() for law in laws)):
        loss, mass = sum(x for x, _ in outcome), np.prod([p for _, p in outcome])
        if loss > epsilon:
            delta += mass * -np.expm1(epsilon - loss)
            slope += mass * np.exp(epsilon - loss)
    return delta, slope


PAIRS = {
    "responses": (response_pair(0.7, 4, 0.1), 0.1),
    "range": (range_atoms(0.7, 0.3), 0.0),
    "vectors": (vector_pair([0.5, 0.3, 0.2, 0.0], [0.3, 0.0, 0.4, 0.3]), 0.3),
}


@pytest.mark.parametrize("name", PAIRS)
def test_losses_are_the_logs_of_the_ratios_of_both_laws(name):
    """Also where one of the laws has no mass: inf where it is Q, -inf where it is P."""
    pair, lost = PAIRS[name]
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(pair.values, np.log(pair.p / pair.q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([pair.p.sum(), pair.q.sum(), pair.lost], [1, 1, lost], rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0, 7.0])
def test_unequal_gaussians_are_one_gaussian(epsilon):
    kinds = [(NoisePair(Gaussian(2.0), 1.0), 2), (NoisePair(Gaussian(5.0), 2.0), 3), (NoisePair(Gaussian(9.0), 1.0), 4)]
    truth = gaussian(np.sqrt(2 / 4 + 12 / 25 + 4 / 81), epsilon)
    assert epsilon < 7 or truth[0] < 1.1e-11
    for draws, value in zip(simulated(kinds, epsilon), truth):
        agree(draws, value)


@pytest.mark.parametrize("epsilon", [0.2, 1.5, 3.0])
def test_responses_are_counted(epsilon):
    kinds = [(response_pair(0.3), 9), (response_pair(0.5, 4), 3)]
    two = {0.3: exp(0.3) / (1 + exp(0.3)), -0.3: 1 / (1 + exp(0.3))}
    nine = {0.3 * (2 * j - 9): comb(9, j) * two[0.3] ** j * two[-0.3] ** (9 - j) for j in range(10)}
    total = exp(0.5) + 3
    four = {0.5: exp(0.5) / total, 0.0: 2 / total, -0.5: 1 / total}
    for draws, value in zip(simulated(kinds, epsilon), enumerated([nine, four, four, four], epsilon)):
        agree(draws, value)


@pytest.mark.parametrize("epsilon", [0.3, 2.5, 5.0])
def test_laplace_and_gaussian_by_quadrature(epsilon):
    kinds = [(NoisePair(Laplace(1.5), 1.0), 1), (NoisePair(Gaussian(1.0), 1.0), 1)]
    truth = np.zeros(2)
    for end, mass in ((1 / 1.5, 0.5), (-1 / 1.5, 0.5 * exp(-1 / 1.5))):
        truth += mass * np.array(gaussian(1.0, epsilon - end))
    for place in range(2):  # losses between the ends: (1 - 2 x) / b with density e^(-x / b) / 2b

        def between(x, place=place):
            return exp(-x / 1.5) / 3 * gaussian(1.0, epsilon - (1 - 2 * x) / 1.5)[place]

        truth[place] += quad(between, 0, 1)[0]
    for draws, value in zip(simulated(kinds, epsilon), truth):
        agree(draws, value)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("epsilon", [0.05, 0.25])
def test_a_sample_and_a_response_in_both_directions(forward, epsilon):
    rate, scale = 0.2, 0.8
    kinds = [(NoisePair(Gaussian(scale), 1.0, rate, forward), 1), (response_pair(0.1), 1)]

    def densities(x):
        plain = norm.pdf(x, 1, scale)
        mixed = rate * norm.pdf(x, 0, scale) + (1 - rate) * plain
        return (mixed, plain) if forward else (plain, mixed)

    truth = 0.0
    for loss, mass in ((0.1, 1 / (1 + exp(-0.1))), (-0.1, 1 / (1 + exp(0.1)))):
        factor = exp(epsilon - loss)

        def excess(x, factor=factor):
            p, q = densities(x)
            return max(p - factor * q, 0.0)

        truth += mass * quad(excess, -8, 9, points=[-1, 0, 0.5, 1, 2], limit=400, epsabs=1e-12)[0]
    agree(simulated(kinds, epsilon)[0], truth)


def test_lattices_ranges_and_vectors_by_enumeration():
    sigma, step = 1.1, 0.5
    grid = np.arange(-40, 42) * step
    weight = np.exp(-(grid**2) / (2 * sigma**2))
    lattice = {(1 - 2 * x) / (2 * sigma**2): w / weight.sum() for x, w in zip(grid, weight)}
    top = (exp(0.6) - exp(0.4)) / (exp(0.6) - 1)
    pair = {0.4: top, 0.4 - 0.6: 1 - top}
    vectors = {log(0.7 / 0.4): 0.7, log(0.3 / 0.6): 0.3}
    kinds = [
        (lattice_pair(DiscreteGaussian(sigma, step), 1.0), 1),
        (range_atoms(0.6, 0.4), 2),
        (vector_pair([0.7, 0.3], [0.4, 0.6]), 3),
    ]
    for epsilon in (0.5, 2.5, 4.5):
        truth = enumerated([lattice, pair, pair, vectors, vectors, vectors], epsilon)
        for draws, value in zip(simulated(kinds, epsilon), truth):
            agree(draws, value)


def test_the_profile_of_bounded_range():
    """(e^(eps/2) - e^(e/2))^2 / (e^eps - 1), by Dong, Durfee and Rogers."""
    for epsilon in (0.1, 0.9):
        truth = (exp(0.6) - exp(epsilon / 2)) ** 2 / (exp(1.2) - 1)
        agree(simulated([(RangePair(1.2), 1)], epsilon)[0], truth)


def test_lost_mass_is_composed():
    kinds = [(response_pair(0.2, 2, 0.01), 3), (NoisePair(TruncatedLaplace(0.5, 2.0), 1.0), 1)]
    cut = 0.5 * (exp(-2) - exp(-4)) / (1 - exp(-4))  # P[noise > bound - shift]
    lost = 1 - 0.99**3 * (1 - cut)
    assert -np.expm1(log_kept(kinds)) == pytest.approx(lost, rel=1e-12)
    delta, slope = simulated(kinds, 10.0)  # above all finite losses
    assert delta == pytest.approx(lost, rel=1e-12)
    assert np.all(slope == 0)
    assert simulated(kinds, 0.1)[0].mean() > lost


@pytest.mark.parametrize("delta", [1e-3, 1e-12])
def test_the_place_of_a_delta_is_near(delta):
    mu = 0.7
    kinds = [(NoisePair(Gaussian(1.0), mu / 2), 4)]
    epsilon, tilt = place_of(kinds, delta)
    assert gaussian(mu, 0.97 * epsilon)[0] > delta > gaussian(mu, 1.03 * epsilon)[0]
    assert tilt == pytest.approx(epsilon / mu**2 - 0.5, rel=0.02)  # the mean of the tilted loss is (t + 1/2) mu^2
