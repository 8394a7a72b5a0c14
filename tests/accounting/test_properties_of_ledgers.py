"""Properties of every ledger: swapped pairs, grids of two steps, convex profiles, irrational variances, far tails."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from tcdp_sim.accounting import Additive, Distributions, Ledger, RandomisedResponse
from tcdp_sim.accounting.releases.additive import additive_loss
from tcdp_sim.exact.losses.convolved import Window, convolved
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import epsilon_question
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace

P, Q = (0.5, 0.3, 0.15, 0.05), (0.25, 0.3, 0.2, 0.25)


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0])
def test_exchanging_all_pairs_changes_nothing(epsilon):
    """The neighbouring relation is symmetric. The oracle sums over all outcomes in both directions."""
    one, other = (Ledger([(pair, 2), RandomisedResponse(0.3)], "add_remove").delta(epsilon) for pair in _both_orders())
    exact = max(_brute(P, Q, epsilon), _brute(Q, P, epsilon))
    for low, _, high in (one, other):
        assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)


def _both_orders():
    return Distributions(P, Q), Distributions(Q, P)


def _brute(p, q, epsilon):
    response = np.exp([0.3, 0.0]) / (1 + np.exp(0.3))
    total = 0.0
    for i, j, k in product(range(4), range(4), range(2)):
        total += max(p[i] * p[j] * response[k] - np.exp(epsilon) * q[i] * q[j] * response[1 - k], 0.0)
    return total


def _sum(law, times, step, theta=0.7, start=-8.0, length=60.0):
    points = 2 * int(length / step / 2)
    return convolved([(law.on_grid(step, 0.0, 1e-30, -np.inf), times)], Window(theta, start, points, theta + 3, -2.0))


@pytest.mark.parametrize("noise", [Laplace(2.0), Gaussian(1.5)])
def test_brackets_of_any_two_steps_overlap_and_narrow_by_the_square(noise):
    law = additive_loss(noise, 1.0)
    coarse, fine = (_sum(law, 4, step) for step in (0.01, 0.005))
    for epsilon in (0.16, 1.12):  # no sum has a probability of its own near
        assert max(coarse.lower(epsilon), fine.lower(epsilon)) <= min(coarse.upper(epsilon), fine.upper(epsilon))
        wide, narrow = (each.upper(epsilon) - each.lower(epsilon) for each in (coarse, fine))
        assert 3 < wide / narrow < 5.5


@pytest.mark.parametrize("noise", [Laplace(1.3), DiscreteGaussian(2.0)])
def test_the_upper_profile_is_convex_in_the_exponential_of_epsilon(noise):
    law = _sum(additive_loss(noise, 1.0), 3, 0.01)
    a = np.linspace(1.0, 8.0, 200)
    profile = np.array([law.upper(float(epsilon)) for epsilon in np.log(a)])
    slopes = np.diff(profile) / np.diff(a)
    assert (np.diff(slopes) >= -1e-9).all()
    assert ((slopes >= -1 - 1e-9) & (slopes <= 1e-12)).all()


@pytest.mark.parametrize("variance", [np.pi, 0.3 * np.sqrt(2), 37.0 / np.e])
def test_discrete_gaussians_of_irrational_variance(variance):
    """Two releases with shifts 1 and 2, by a double sum over the lattice in 30 digits."""
    epsilon = 1.2
    with mp.workdps(30):
        points = range(-40, 41)
        mass = [mp.exp(-(mp.mpf(x) ** 2) / (2 * mp.mpf(float(np.sqrt(variance))) ** 2)) for x in points]
        total = sum(mass)
        at = {x: m / total for x, m in zip(points, mass)}
        exact = mp.mpf(0)
        for x, y in product(points, points):
            without = at.get(x - 1, 0) * at.get(y - 2, 0)
            exact += max(at[x] * at[y] - mp.exp(mp.mpf(epsilon)) * without, 0)
    noise = DiscreteGaussian(float(np.sqrt(variance)))
    low, _, high = Ledger([Additive(noise, 1.0), Additive(noise, 2.0)]).delta(epsilon)
    assert low <= float(exact) <= high
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize("delta", [1e-35, 1e-200])
def test_far_tails_of_laws_that_are_not_gaussian(delta):
    """Randomised response 2,000 times, by binomial tails in 50 digits, beside Laplace noise that adds little."""
    times, each = 2000, 0.1
    with mp.workdps(50):
        p = 1 / (1 + mp.exp(-mp.mpf(each)))

        def exact(epsilon):
            terms = (
                mp.binomial(times, k) * p**k * (1 - p) ** (times - k) * -mp.expm1(epsilon - each * (2 * k - times))
                for k in range(times + 1)
                if each * (2 * k - times) > epsilon
            )
            return mp.fsum(terms)

        low, _, high = Ledger([(RandomisedResponse(each), times)]).epsilon(delta)
        assert exact(low * (1 - 1e-12)) >= delta >= exact(high * (1 + 1e-12))
    more = Ledger([(RandomisedResponse(each), times), (Additive(Laplace(20.0)), 3)]).epsilon(delta)
    assert low <= more.upper <= high + 3 / 20 * (1 + 1e-9)
    assert more.upper - more.lower <= 1e-4 * more.upper


@pytest.mark.slow
def test_ten_million_releases_in_the_engine():
    """One law ten million times, which is a binomial sum, and Gaussians, which are one Gaussian."""
    times, each = 10**7, 1e-3
    low, _, high = Ledger([(RandomisedResponse(each), times)]).epsilon(1e-6)
    k = np.arange(times + 1)
    for epsilon, sign in ((low, 1), (high, -1)):
        loss = each * (2.0 * k - times)
        above = loss > epsilon
        mass = binom.pmf(k[above], times, 1 / (1 + np.exp(-each)))
        delta = (mass * -np.expm1(epsilon * (1 - sign * 1e-9) - loss[above])).sum()
        assert sign * (delta - 1e-6) >= -1e-9 * 1e-6 - 1e-12
    law = additive_loss(Gaussian(1.0), 1 / 3000)
    low, high = bracket([(law, times)], epsilon_question(1e-6, lambda most: 1e-3 * most))
    alone = Ledger([Additive(Gaussian(3000.0 / np.sqrt(times)))]).epsilon(1e-6)
    assert low <= alone.upper
    assert alone.lower <= high
    assert high - low <= 1e-3 * high
