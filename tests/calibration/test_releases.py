"""The common factor of several releases, against closed forms and independent accounting."""

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as google
from scipy.optimize import brentq
from scipy.stats import norm

from tcdp_sim.accounting import Additive, BoundedRange, Claimed, RandomisedResponse, Sampled, Thresholded
from tcdp_sim.calibration import calibrate_releases
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP

BUDGET = ApproxDP(1.0, 1e-6)


def gaussian_mu(epsilon, delta):
    """Return the shift of N(0, 1) at which delta(epsilon) = delta, by the formula of Balle and Wang."""

    def excess(mu):
        return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta

    return brentq(excess, 1e-4, 50, xtol=1e-14)


def test_unequal_gaussians_follow_the_closed_form():
    releases = [(Additive(Gaussian(1.0)), 3), Additive(Gaussian(2.0), sensitivity=3.0), Additive(Gaussian(0.5))]
    exact = np.sqrt(3 + 9 / 4 + 4) / gaussian_mu(1.0, 1e-6)
    found = calibrate_releases(releases, BUDGET)
    assert 1 - 1e-9 <= found.factor / exact <= 1 + 1e-6
    assert found.least
    assert found.spent.upper <= 1e-6 < found.below.lower
    assert 0 <= found.slack < 1e-4
    assert found.noise is None
    assert found.ledger.releases == 5


def test_one_free_release_beside_fixed_ones():
    mu = gaussian_mu(1.0, 1e-6)
    exact = 2 / np.sqrt(mu**2 - 1 / 400)
    found = calibrate_releases([Additive(Gaussian(20.0)), (Additive(Gaussian(1.0)), 4)], BUDGET, free=1)
    assert 1 - 1e-9 <= found.noise.scale / exact <= 1 + 1e-6
    assert found.least
    more = calibrate_releases([Additive(Gaussian(20.0))], BUDGET, family="gaussian", sensitivity=2.0)
    assert more.noise.scale == pytest.approx(exact, rel=1e-6)
    twice = calibrate_releases([Additive(Gaussian(20.0))], BUDGET, family="gaussian", coordinates=4)
    assert twice.noise.scale == pytest.approx(exact, rel=1e-6)


def test_mixed_noise_agrees_with_another_accountant():
    found = calibrate_releases([Additive(Gaussian(1.0)), (Additive(Laplace(2.0)), 3)], BUDGET)
    scale = found.factor
    loss = google.from_gaussian_mechanism(scale, value_discretization_interval=1e-4)
    for _ in range(3):
        loss = loss.compose(google.from_laplace_mechanism(2 * scale, value_discretization_interval=1e-4))
    assert loss.get_delta_for_epsilon(1.0) == pytest.approx(1e-6, rel=2e-3)  # their delta is an upper end
    assert found.least


def test_pure_and_concentrated_budgets_add_up():
    fixed = RandomisedResponse(0.01)
    found = calibrate_releases([(Additive(Laplace(2.0)), 3), fixed], PureDP(0.1))
    assert 1 - 1e-9 <= found.noise.scale / (3 / 0.09) <= 1 + 1e-6
    for guarantee in (ZCDP(0.1), TCDP(0.1, 5.0)):
        found = calibrate_releases([Additive(DiscreteGaussian(1.0), 2.0), BoundedRange(0.2)], guarantee)
        spent = np.log(np.expm1(0.2) / 0.2) - 1 + 0.2 / np.expm1(0.2)
        assert 1 - 1e-9 <= found.noise.sigma / np.sqrt(4 / (2 * (0.1 - spent))) <= 1 + 1e-6
        assert found.least
    laplace = calibrate_releases([(Additive(Laplace(1.0)), 2)], ZCDP(0.1))
    root = brentq(lambda e: 2 * (e + np.expm1(-e)) - 0.1, 1e-3, 5, xtol=1e-14)
    assert 1 - 1e-9 <= laplace.factor * root <= 1 + 1e-6


def test_noise_on_a_lattice_is_safe_and_claims_no_proof():
    releases = [Additive(DiscreteGaussian(1.0)), (Additive(DiscreteLaplace(1.0)), 2)]
    found = calibrate_releases(releases, BUDGET)
    assert not found.least
    assert found.spent.upper <= 1e-6
    assert found.ledger.delta(1.0).upper <= 1e-6 * (1 + 1e-3)
    assert found.below.lower > 1e-6
    assert {release.noise.step for release, _ in found.ledger.entries} == {1.0}


def discrete_gaussian_delta(sigma, epsilon):
    """Return delta(epsilon) of discrete Gaussian noise at a move by one, as a sum over its points."""
    x = np.arange(-80, 81)
    p = np.exp(-(x**2) / (2 * sigma**2))
    p /= p.sum()
    return np.maximum(p[1:] - np.exp(epsilon) * p[:-1], 0).sum()


def test_a_smaller_scale_on_a_lattice_can_protect_more():
    """The reason why no proof is claimed for discrete Gaussian noise."""
    deltas = [discrete_gaussian_delta(sigma, 1.0) for sigma in np.geomspace(0.6, 0.8, 60)]
    assert max(np.diff(deltas)) > 1e-4


def test_samples_scale_too():
    releases = [(Sampled(Additive(Gaussian(1.0)), 0.05), 20)]
    found = calibrate_releases(releases, ApproxDP(2.0, 1e-5), relation="add_remove")
    (step,) = (release for release, _ in found.ledger.entries)
    assert step.release.noise.scale == pytest.approx(found.factor, rel=1e-12)
    assert found.least


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("alone|not free", {"releases": [Additive(Gaussian(1.0)), Claimed(PureDP(2.0))]}),
        ("no noise that can be scaled", {"releases": [RandomisedResponse(1.0)]}),
        ("whole number from 0 to 0", {"releases": [Additive(Gaussian(1.0))], "free": 1}),
        ("free = 0", {"releases": [RandomisedResponse(1.0)], "free": 0}),
        ("free = 0", {"releases": [Thresholded(Laplace(1.0), 9.0)], "free": 0, "relation": "add_remove"}),
        ("at least one position", {"releases": [Additive(Gaussian(1.0))], "free": []}),
        ("list of releases", {"releases": Additive(Gaussian(1.0))}),
        ("list of releases", {"releases": []}),
        ("no entry", {"releases": [Gaussian(1.0)]}),
        ("times", {"releases": [(Additive(Gaussian(1.0)), 0)]}),
        ("not valid for releases", {"releases": [Additive(Gaussian(1.0))], "guarantee": RDP(2.0, 1.0)}),
        ("several scales", {"family": "sinh_normal", "releases": [Additive(Gaussian(9.0))]}),
        ("no scale", {"releases": [Additive(Gaussian(1.0))], "guarantee": PureDP(1.0)}),
        ("the only free one", {"family": "gaussian", "releases": [Additive(Gaussian(9.0))], "free": 0}),
    ],
)
def test_refusals_say_what_is_valid(message, arguments):
    with pytest.raises(ValueError, match=message):
        calibrate_releases(**{"guarantee": BUDGET, **arguments})
