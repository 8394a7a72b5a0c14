"""Ledgers at the ends of their ranges: little noise, rare sampling, epsilon near 0, delta 0 and 1, certain losses."""

from itertools import pairwise
from math import exp, expm1

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    Claimed,
    Distributions,
    Ledger,
    RandomisedResponse,
    Sampled,
)
from tcdp_sim.calibration import calibrate_releases
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace, RoundedGaussian
from tcdp_sim.privacy import ZCDP, ApproxDP


def gaussian_tails(sigma, rate, epsilon, forward):
    """Return delta of one Poisson-sampled Gaussian in one direction, by the place where its loss crosses epsilon."""
    with mp.workdps(60):
        sigma, rate, epsilon = mp.mpf(sigma), mp.mpf(rate), mp.mpf(epsilon)
        grown = mp.exp(epsilon if forward else -epsilon)
        odds = (grown - 1 + rate) / rate  # of the noise at the crossing, with the record over without it
        if odds <= 0:
            return mp.mpf(0)
        place = sigma**2 * mp.log(odds) + mp.mpf(1) / 2
        sign = 1 if forward else -1
        without, moved = (mp.ncdf(sign * (shift - place) / sigma) for shift in (0, 1))
        mixed = (1 - rate) * without + rate * moved
        return mixed - mp.exp(epsilon) * without if forward else without - mp.exp(epsilon) * mixed


def sampled_delta(sigma, rate, epsilon):
    return max(gaussian_tails(sigma, rate, epsilon, forward) for forward in (True, False))


@pytest.mark.parametrize("share", [1.2, 1.001, 0.999, 0.5, 1e-3, 1e-7])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 105e-5), (0.5, 1e-5), (4.9, 1.3e-5), (0.7, 0.01), (3.0, 0.9)])
def test_epsilon_near_0_of_one_sampled_release(sigma, rate, share):
    delta = float(sampled_delta(sigma, rate, 0.0)) * share
    low, middle, high = Ledger([Sampled(Additive(Gaussian(sigma)), rate)], "add_remove").epsilon(delta)
    assert low == 0 or sampled_delta(sigma, rate, low) >= delta
    assert sampled_delta(sigma, rate, high) <= delta
    assert low <= middle <= high
    assert high - low <= 1e-4 * high
    assert (high == 0) == (share > 1)


@pytest.mark.parametrize("seed", range(12))
def test_epsilon_near_0_of_sampled_lists_is_finite_and_narrow(seed):
    """Lists of rare and large losses. The oracle is delta at both ends, which is another question to the engine."""
    rng = np.random.default_rng(seed)
    sigma, rate, times = 10 ** rng.uniform(-0.3, 1), 10 ** rng.uniform(-5, -0.3), int(10 ** rng.uniform(0.4, 3))
    noise = Gaussian(sigma) if seed % 2 else Laplace(sigma)
    ledger = Ledger([(Sampled(Additive(noise), rate), times)], "add_remove")
    at_0 = ledger.delta(0.0)
    assert ledger.epsilon(min(at_0.upper * 1.01, 0.99)).upper <= 1e-3
    delta = at_0.lower * rng.choice([0.9, 0.5, 0.1])
    low, _, high = ledger.epsilon(delta)
    assert 0 < high - low <= 0.01 * high
    assert ledger.delta(low).upper >= delta >= ledger.delta(high).lower


@pytest.mark.parametrize("mu", [1e-12, 1e-3, 3.0, 3e4, 1e12])
@pytest.mark.parametrize("delta", [0.3, 1e-5, 1e-20])
def test_any_amount_of_noise_of_one_gaussian_and_of_several(mu, delta):
    def exact(epsilon):
        with mp.workdps(80):
            shift = mp.mpf(mu)
            near, far = (mp.ncdf(sign * shift / 2 - mp.mpf(epsilon) / shift) for sign in (1, -1))
            return near - mp.exp(mp.mpf(epsilon)) * far

    for ledger in (Ledger([Additive(Gaussian(1 / mu))]), Ledger([(Additive(Gaussian(1 / mu), 0.5), 4)])):
        low, middle, high = ledger.epsilon(delta)
        assert low == 0 or exact(low * (1 - 1e-14)) >= delta
        assert exact(high * (1 + 1e-14)) <= delta
        assert low <= middle <= high
        assert high - low <= 1e-4 * high


def test_the_lower_end_of_a_list_is_at_least_that_of_each_release():
    gaussian = Additive(Gaussian(3e-5))
    low, middle, high = Ledger([gaussian, Additive(Laplace(1.0))]).epsilon(1e-5)
    alone = Ledger([gaussian]).epsilon(1e-5)
    assert alone.lower <= low <= middle <= high <= alone.upper + 1 + 1e-3 * high


def test_the_estimate_of_a_wide_bracket_is_its_safe_end():
    """Four answers whose ends differ, because the order of the pair may differ among them."""
    low, middle, high = Ledger([(Distributions([0.9, 0.1], [0.5, 0.5]), 4)], "substitute").epsilon(0.5)
    assert high - low > 0.1 * high
    assert middle == high


@pytest.mark.parametrize("noise", [Gaussian(1.0), DiscreteGaussian(1.0), RoundedGaussian(1.0)])
def test_at_delta_0_unbounded_losses_have_no_epsilon(noise):
    for ledger in (Ledger([Additive(noise)]), Ledger([Additive(noise), RandomisedResponse(1.0)])):
        assert ledger.epsilon(0.0) == (np.inf, np.inf, np.inf)
    assert Ledger([Claimed(ZCDP(0.1))]).epsilon(0.0) == (np.inf, np.inf, np.inf)


def test_at_delta_0_bounded_losses_add_up():
    low, _, high = Ledger([BoundedRange(1.0), BoundedRange(2.0)]).epsilon(0.0)
    assert 3 - 1e-11 <= low <= 3 <= high <= 3 + 1e-11
    low, _, high = Ledger([Sampled(Additive(Laplace(1.0)), 0.1)], "add_remove").epsilon(0.0)
    assert low <= np.log1p(0.1 * expm1(1.0)) <= high <= low + 1e-9
    low, _, high = Ledger([Sampled(Additive(Gaussian(1.0)), 0.1)], "add_remove").epsilon(0.0)
    assert low == np.inf  # adding a record


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("others", [[], [(Distributions([0.25, 0.75], [0.5, 0.5]), 2)], [Additive(Gaussian(1.0))]])
def test_a_release_that_reveals_everything(relation, others):
    for p, q in (([0, 1], [1, 0]), ([0, 0.5, 0.5], [1, 0, 0])):
        ledger = Ledger([Distributions(p, q), *others], relation)
        answers = [ledger.delta(0.5), ledger.advantage(), ledger.attack(0.2), ledger.posterior(0.1, 0.3)]
        for low, _, high in [*answers, ledger.reconstruction(1000)]:
            assert 1 - 1e-14 <= low <= 1 <= high
        assert ledger.tradeoff(0.1).upper <= 1e-14
        assert ledger.epsilon(0.999).lower == ledger.renyi(2.0).lower == np.inf


def test_nothing_sampled_reveals_nothing_and_any_release_is_private_at_delta_1():
    nothing = Ledger([Sampled(Additive(Gaussian(1.0)), 0.0)], "add_remove")
    assert nothing.epsilon(0.0) == nothing.delta(0.0) == nothing.renyi(3.0) == (0, 0, 0)
    assert Ledger([Additive(Gaussian(1.0))]).epsilon(1.0) == Ledger().epsilon(1.0) == (0, 0, 0)


def test_a_delta_that_equals_the_probability_of_failure():
    half = Ledger([Distributions([0.5, 0.25, 0.25], [0.0, 0.5, 0.5])], "add_remove")
    assert half.epsilon(0.5).upper <= 1e-12  # the other direction has the delta 0 at log 2 and .5 at 0
    assert Ledger([Claimed(ApproxDP(1.0, 1e-6))]).epsilon(1e-6).upper <= 1 + 1e-12
    twice = Ledger([(Claimed(ApproxDP(1.0, 1e-6)), 2)])
    with pytest.warns(UserWarning, match="equals the probability of an infinite loss"):
        low, middle, high = twice.epsilon(2e-6 - 1e-12)
    assert (middle, high) == (np.inf, np.inf)
    assert 1.99 < low <= 2
    assert twice.epsilon(2.1e-6).upper < exp(1)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (1.0, 1e-3), (0.1, 1e-6), (1.0, 1e-6)])
def test_calibration_of_a_sampled_release(epsilon, delta):
    free = [Sampled(Additive(Gaussian(1.0)), 0.02)]
    found = calibrate_releases(free, ApproxDP(epsilon, delta), relation="add_remove")
    assert sampled_delta(found.factor, 0.02, epsilon) <= delta
    assert sampled_delta(found.factor * (1 - 1e-4), 0.02, epsilon) > delta


@pytest.mark.parametrize("seed", range(10))
def test_epsilon_falls_in_delta_up_to_1(seed):
    """Two releases with nearly certain losses, beside one whose losses are so small that a grid for it is fine."""
    rng = np.random.default_rng(seed)
    pairs = [[rng.dirichlet(np.full(3, 10 ** rng.uniform(-1.5, 0.5))) for _ in range(2)] for _ in range(2)]
    ledger = Ledger([*(Distributions(p, q) for p, q in pairs), RandomisedResponse(1.1e-7)], "add_remove")
    found = [ledger.epsilon(delta) for delta in (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)]
    for before, after in pairwise(found):
        assert after.upper <= before.upper * (1 + 1e-3) + 1e-12
    assert all(high - low <= 1e-3 * high for low, _, high in found)
