"""Probabilities lie in [0, 1], divergences at or above 0, information at or below the entropy: all three of Bounds."""

import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.exact.renyi.affine import affine_hockey_stick
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.generalized_gaussian import GeneralizedGaussian
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.per_record import AdditiveRelease

NOISES = [
    Gaussian(1.0),
    Laplace(1.0),
    SinhNormal(4.0, 20.0),
    TruncatedLaplace(1.0, 3.0),
    GeneralizedGaussian(1.0, 1.0),
    GeneralizedGaussian(1.0, 0.3),
    LatticeNoise(0.0, (-1.0, -1.5, -2.5), 0.3),
]
every = pytest.mark.parametrize("noise", NOISES, ids=repr)
FAR = 1e5  # where the noise is all but told apart from its shifted self


def inside(bounds, least, most):
    lower, estimate, upper = (np.asarray(part) for part in bounds)
    assert np.all(least <= lower)
    assert np.all(lower <= estimate)
    assert np.all(estimate <= upper)
    assert np.all(upper <= most)


@every
def test_probabilities(noise):
    epsilons = np.array([-50.0, -1.0, 0.0, 1e-9])
    inside(exact.hockey_stick(noise, FAR, epsilons), 0, 1)
    inside(exact.max_abs_sf(noise, np.array([1.0, 2.0, 1e300]), 0.0), 0, 1)
    inside(exact.top_stays_probability(noise, [10**5, 1, 1], 3), 0, 1)
    if not noise.is_discrete:
        inside(exact.record_profile(AdditiveRelease(noise), FAR, 0.0), 0, 1)
        for gap in (0.0, FAR):
            inside(exact.selection_probability("noisy_max", noise, gap, 3.0), 0, 1)
            inside(exact.selection_failure("noisy_max", noise, gap, 3.0), 0, 1)
        inside(exact.selection_distribution("noisy_max", noise, [0.0, FAR]), 0, 1)
        inside(exact.profile_from_losses(noise, FAR, epsilons), 0, 1)


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(1.0)], ids=repr)
def test_probabilities_of_vectors_and_stretched_noise(noise):
    inside(exact.product_profile(noise, 40.0, 0.0), 0, 1)
    inside(affine_hockey_stick(noise, (-3.0, 3.0), 1e3, 0.0), 0, 1)


@every
def test_information_is_at_most_the_entropy(noise):
    noise = noise.with_density()
    for weights in ([1, 1], [1, 2, 5]):
        share = np.array(weights) / sum(weights)
        entropy = -(share @ np.log(share))
        answers = FAR * np.arange(len(weights))
        inside(exact.mutual_information(noise, answers, weights), 0, entropy * (1 + 1e-13))
    inside(exact.histogram_information(noise, 1e4, 2.0), 0, np.log(2) * (1 + 1e-13))


@every
def test_divergences_are_not_negative(noise):
    inside(exact.renyi_divergence(noise, 1.0, np.array([1.0, 1 + 1e-12, 2.0, 1e3, np.inf])), 0, np.inf)
    inside(exact.renyi_divergence(noise, 1e-160 if not noise.is_discrete else 1.0, [1.0, 2.0]), 0, np.inf)


@every
@pytest.mark.parametrize("shift", [1.0, 1e9, 1e300])
def test_far_shifts_and_large_orders_raise_no_warning(noise, shift):
    if noise == GeneralizedGaussian(1.0, 0.3) and shift == 1e300:
        with pytest.raises(ValueError, match="all its losses underflow"):
            exact.renyi_divergence(noise, shift, 2.0)
        return
    found = exact.renyi_divergence(noise, shift, np.array([1.0, 2.0, 1e6, np.inf]))
    assert not np.isnan([found.lower, found.upper]).any()
    inside(found._replace(estimate=np.where(np.isnan(found.estimate), found.lower, found.estimate)), 0, np.inf)
