"""Theorems 5 and 6 of Balle-Barthe-Gaboardi 2018 between what is computed apart; beside dp_accounting."""

import numpy as np
import pytest
from composed_pairs import hockey_stick_between, renyi_divergence_between
from dp_accounting import GaussianDpEvent, LaplaceDpEvent
from dp_accounting.pld import privacy_loss_distribution as google
from dp_accounting.rdp import RdpAccountant
from exact_references import NOISES
from hypothesis import given, settings
from hypothesis import strategies as st

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact import (
    PrivacyLossDistribution,
    hockey_stick,
    profile_from_losses,
    renyi_divergence,
    renyi_from_profile,
    subsampled,
)
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace

EPSILONS = np.array([-2.0, -0.3, 0.0, 0.01, 0.2, 1.0, 3.0, 20.0])
every = pytest.mark.parametrize("noise", NOISES, ids=repr)


def overlap(first, second):
    """Whether two Bounds may be about the same number."""
    return np.all((first.lower <= second.upper) & (second.lower <= first.upper))


@every
@pytest.mark.parametrize("tail", [0.45, 0.3, 0.01])
def test_theorem_5(noise, tail):
    shift = float(noise.isf(tail))
    two_sided, direct = profile_from_losses(noise, shift, EPSILONS), hockey_stick(noise, shift, EPSILONS)
    assert overlap(two_sided, direct)
    np.testing.assert_allclose(two_sided.estimate, direct.estimate, rtol=1e-9, atol=1e-15)


@given(
    st.floats(0.1, 10),
    st.floats(0.1, 10),
    st.floats(0.05, 3),
    st.floats(-3, 5),
    st.sampled_from(["gaussian", "laplace", "truncated", "sinh"]),
)
@settings(max_examples=40, deadline=None)
def test_theorem_5_over_the_parameters(scale, other, shift, epsilon, name):
    noise = {
        "gaussian": Gaussian(scale),
        "laplace": Laplace(scale),
        "truncated": TruncatedLaplace(scale, scale * other),
        "sinh": SinhNormal(scale, scale * other),
    }[name]
    assert overlap(profile_from_losses(noise, shift * scale, epsilon), hockey_stick(noise, shift * scale, epsilon))


@pytest.mark.parametrize("noise", [Gaussian(2.0), Laplace(2.0), SinhNormal(4.0, 20.0)], ids=repr)
@pytest.mark.parametrize("order", [1.0, 2.5])
def test_theorem_6(noise, order):
    found = renyi_from_profile(lambda epsilons: hockey_stick(noise, 1.0, epsilons), order)
    truth = renyi_divergence(noise, 1.0, order)
    assert overlap(found, truth)
    assert found.estimate == pytest.approx(truth.estimate, rel=1e-10)
    assert np.isinf(found.upper) == (not isinstance(noise, Laplace))  # the profile of Laplace noise ends, at theta
    assert found.upper - found.lower <= 1e-9 or np.isinf(found.upper)


def test_theorem_6_for_two_modes():
    noise = SinhNormal(4.0, 1.0)
    found = renyi_from_profile(lambda epsilons: hockey_stick(noise, 0.02, epsilons), 3.0)
    assert found.estimate == pytest.approx(renyi_divergence(noise, 0.02, 3.0).estimate, rel=1e-10)


@pytest.mark.parametrize("step", [1, -1])
def test_theorem_6_in_either_direction(step):
    p, q = subsampled(Gaussian(2.0), 1.0, 0.2)[::step]
    ours = renyi_from_profile(
        lambda epsilons: hockey_stick_between(p, q, epsilons),
        3.0,
        lambda epsilons: hockey_stick_between(q, p, epsilons),
    )
    truth = renyi_divergence_between(p, q, 3.0)
    assert overlap(ours, truth)
    assert ours.estimate == pytest.approx(truth.estimate, rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.05, 2.0])
def test_theorem_6_for_randomised_response(epsilon):
    """A profile in closed form that is no noise's: psi(eps) = [p - e^eps (1 - p)]_+, two outputs."""
    p = 1 / (1 + np.exp(-epsilon))

    def profile(epsilons):
        delta = np.maximum(p - np.exp(epsilons) * (1 - p), 0)
        return Bounds(delta, delta, delta)

    for order in (1.0, 2.0, 11.0):
        s = order - 1
        truth = np.log(p**order * (1 - p) ** -s + (1 - p) ** order * p**-s) / s if s else (2 * p - 1) * epsilon
        found = renyi_from_profile(profile, order)
        assert found.estimate == pytest.approx(truth, rel=1e-10)
        assert found.lower <= truth * (1 + 1e-12)
        assert found.upper >= truth * (1 - 1e-12)


def test_theorem_6_knows_when_it_cannot_know():
    """An atom of infinite loss, and an order at which what matters is below 1e-290: what is seen is a lower bound."""
    found = renyi_from_profile(lambda epsilons: hockey_stick(TruncatedLaplace(2.0, 9.0), 1.0, epsilons), 2.0)
    assert found.estimate == found.upper == np.inf
    found = renyi_from_profile(lambda epsilons: hockey_stick(Gaussian(1.0), 1.0, epsilons), 60.0)
    assert found.lower <= 30
    assert found.upper == np.inf
    assert found.estimate == np.inf or found.estimate == pytest.approx(30, rel=1e-9)


def test_theorem_5_at_large_epsilon():
    assert profile_from_losses(Gaussian(1.0), 1.0, 1e4).estimate == 0


@pytest.mark.parametrize("theta", [0.2, 1.0, 3.0])
def test_gaussian_and_laplace_beside_dp_accounting(theta):
    """Renyi curves are equal; dp_accounting's loss distributions on a grid of 1e-3 are pessimistic, by little."""
    orders = [1.5, 2.0, 8.0, 40.0]
    events = ((Gaussian(1 / theta), GaussianDpEvent(1 / theta)), (Laplace(1 / theta), LaplaceDpEvent(1 / theta)))
    for noise, event in events:
        theirs = RdpAccountant(orders).compose(event)._rdp
        np.testing.assert_allclose(renyi_divergence(noise, 1.0, np.array(orders)).estimate, theirs, rtol=1e-10)
    grid = {"value_discretization_interval": 1e-3}
    epsilons = np.array([0.0, 0.1, 0.5, 2.0])
    for noise, theirs in (
        (Gaussian(1 / theta), google.from_gaussian_mechanism(1 / theta, **grid)),
        (Laplace(1 / theta), google.from_laplace_mechanism(1 / theta, **grid)),
    ):
        exact, rounded = hockey_stick(noise, 1.0, epsilons), theirs.get_delta_for_epsilon(epsilons)
        assert (exact.lower <= rounded + 1e-12).all()
        np.testing.assert_allclose(rounded, exact.estimate, atol=1e-6)


@pytest.mark.parametrize("theta", [0.2, 1.0, 3.0])
def test_distribution_functions_beside_dp_accounting(theta):
    """The probabilities of losses up to a grid's point, which dp_accounting rounds upwards, by at most one step."""
    for noise, make in (
        (Gaussian(1 / theta), google.from_gaussian_mechanism),
        (Laplace(1 / theta), google.from_laplace_mechanism),
    ):
        step = 2e-3
        pmf = make(1 / theta, value_discretization_interval=step, use_connect_dots=False)._pmf_remove
        pmf = pmf.to_dense_pmf()
        upto = np.cumsum(pmf._probs)
        level = step * (pmf._lower_loss + np.arange(len(upto)))
        ours = PrivacyLossDistribution(noise, 1.0)
        assert (upto <= ours.cdf(level + 1e-9) + 1e-9).all()
        assert (upto >= ours.cdf(level - step - 1e-9) - 1e-9).all()


def test_bad_arguments_are_one_line():
    noise = Gaussian(1.0)
    for call, word in (
        (lambda: profile_from_losses(noise, 1.0, np.nan), "epsilon = nan"),
        (lambda: renyi_from_profile(lambda e: hockey_stick(noise, 1.0, e), 0.9), "order = 0.9"),
        (lambda: renyi_from_profile(lambda e: hockey_stick(noise, 1.0, e), np.inf), "order = inf"),
    ):
        with pytest.raises(ValueError, match=word):
            call()
