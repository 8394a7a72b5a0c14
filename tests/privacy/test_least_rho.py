"""The least rho of basic mechanisms against a brute-force maximum of D_a / a in 60 digits."""

from math import inf

import mpmath as mp
import pytest

from tcdp_sim.accounting import Additive, BoundedRange, Claimed, PermuteAndFlip, RandomisedResponse, tight_rho
from tcdp_sim.noise import DiscreteLaplace, Laplace
from tcdp_sim.privacy import ZCDP, PureDP
from tcdp_sim.privacy.least_rho import (
    bounded_range_epsilon,
    bounded_range_rho,
    discrete_laplace_rho,
    laplace_rho,
    pure_epsilon,
    pure_rho,
    response_rho,
)

EPSILONS = (1e-8, 1e-4, 0.3, 1.0, 2.0, 4.0, 20.0, 50.0)
GOLDEN = (mp.sqrt(5) - 1) / 2


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(60):
        yield


def highest(f, low, high, steps):
    """The maximum of a unimodal function by golden section."""
    a, d = mp.mpf(low), mp.mpf(high)
    b, c = d - GOLDEN * (d - a), a + GOLDEN * (d - a)
    f_b, f_c = f(b), f(c)
    for _ in range(steps):
        if f_b > f_c:
            c, d, f_c, b = b, c, f_b, c - GOLDEN * (c - a)
            f_b = f(b)
        else:
            a, b, f_b, c = b, c, f_c, b + GOLDEN * (d - b)
            f_c = f(c)
    return max(f_b, f_c)


def largest_rho(divergence, most=inf):
    """The supremum of D_a / a over 1 < a < most, by a grid from 1 + 1e-20 to 1e10 and a search about its best point."""
    powers = [mp.mpf(i) / 2 for i in range(-40, 21) if mp.mpf(10) ** (mp.mpf(i) / 2) < most - 1]
    powers += [mp.log10(most - 1)] if most < inf else []

    def height(power):
        excess = mp.mpf(10) ** power
        return divergence(1 + excess) / (1 + excess)

    heights = [height(power) for power in powers]
    best = heights.index(max(heights))
    if best == 0:
        return heights[0]
    return max(heights[best], highest(height, powers[best - 1], powers[min(best + 1, len(powers) - 1)], 70))


def finite(law):
    """D_a of a law given by (p, q, how often)."""

    def divergence(order):
        return mp.log(mp.fsum(times * p**order * q ** (1 - order) for p, q, times in law)) / (order - 1)

    return divergence


def response(epsilon, k):
    truth = 1 / (1 + (k - 1) * mp.exp(-mp.mpf(epsilon)))
    other = truth * mp.exp(-mp.mpf(epsilon))
    return finite([(truth, other, 1), (other, truth, 1), (other, other, k - 2)])


def discrete_laplace(epsilon, steps):
    q = mp.exp(-mp.mpf(epsilon) / steps)
    c = (1 - q) / (1 + q)
    ends = [(1 / (1 + q), q**steps / (1 + q), 1), (q**steps / (1 + q), 1 / (1 + q), 1)]
    return finite(ends + [(c * q**x, c * q ** (steps - x), 1) for x in range(1, steps)])


def laplace(epsilon):
    """D_a from the integral over the three pieces of the line: two sides and the middle."""

    def divergence(order):
        e = mp.mpf(epsilon)
        sides = (mp.exp((order - 1) * e) + mp.exp(-order * e)) / 2
        middle = mp.exp((order - 1) * e) * -mp.expm1((1 - 2 * order) * e) / (2 * (2 * order - 1))
        return mp.log(sides + middle) / (order - 1)

    return divergence


def bounded_range(epsilon):
    """D_a of the worst two losses t and t - epsilon, by a search over t."""
    e = mp.mpf(epsilon)

    def divergence(order):
        def at(t):
            top = (mp.exp(e) - mp.exp(t)) / mp.expm1(e)
            return mp.log(top * mp.exp((order - 1) * t) + (1 - top) * mp.exp((order - 1) * (t - e)))

        return highest(at, 0, e, 60) / (order - 1)

    return divergence


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_dp_and_permute_and_flip(epsilon):
    true = largest_rho(response(epsilon, 2))
    for found in (
        pure_rho(epsilon),
        tight_rho(Claimed(PureDP(epsilon))),
        tight_rho(PermuteAndFlip(epsilon), omega=3.0),
        tight_rho(RandomisedResponse(epsilon)),
    ):
        assert found == pytest.approx(float(true), rel=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [3, 6, 7, 8, 9, 46, 47, 1000, 10**6])
def test_randomised_response_on_k_values(epsilon, k):
    assert response_rho(epsilon, k) == pytest.approx(float(largest_rho(response(epsilon, k))), rel=1e-11)


@pytest.mark.parametrize(("epsilon", "k", "omega"), [(1.0, 100, 3.0), (1.0, 100, 20.0), (1e-4, 50, 9.0), (1.0, 8, 1.5)])
def test_a_finite_omega_ends_the_orders(epsilon, k, omega):
    found = tight_rho(RandomisedResponse(epsilon, k), omega=omega)
    assert found == pytest.approx(float(largest_rho(response(epsilon, k), omega)), rel=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_noise(epsilon):
    true = float(largest_rho(laplace(epsilon)))
    assert laplace_rho(epsilon) == pytest.approx(true, rel=1e-11)
    assert tight_rho(Additive(Laplace(2.0), 2 * epsilon)) == pytest.approx(true, rel=1e-11)
    assert tight_rho(Additive(Laplace(2.0), 2 * epsilon), omega=1.5) == pytest.approx(true, rel=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("steps", [1, 2, 7, 30])
def test_discrete_laplace_noise(epsilon, steps):
    true = float(largest_rho(discrete_laplace(epsilon, steps)))
    assert discrete_laplace_rho(epsilon, steps) == pytest.approx(true, rel=1e-11)
    if epsilon > 1e-3:  # a ledger takes no lattice of billions of points
        found = tight_rho(Additive(DiscreteLaplace(steps / epsilon), float(steps)))
        assert found == pytest.approx(true, rel=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounded_range(epsilon):
    divergence = bounded_range(epsilon)
    orders = [1 + mp.mpf(10) ** power for power in (-15, -3, -1, 0, 1, 3)]
    heights = [float(divergence(order) / order) for order in orders]
    assert heights == sorted(heights, reverse=True)
    assert bounded_range_rho(epsilon) == pytest.approx(heights[0], rel=1e-11)
    assert tight_rho(BoundedRange(epsilon), omega=1.2) == bounded_range_rho(epsilon)


def test_the_issue_and_the_joints_of_the_series():
    assert [round(bounded_range_rho(epsilon), 4) for epsilon in (1, 2, 4)] == [0.1233, 0.4745, 1.6698]
    for law in (bounded_range_rho, laplace_rho, lambda epsilon: discrete_laplace_rho(epsilon, 1)):
        below, above = law(1 - 1e-15), law(1 + 1e-15)
        assert below == pytest.approx(above, rel=1e-14)
    assert bounded_range_rho(1e4) == pytest.approx(1e4 - 1 - float(mp.log(1e4)))


@pytest.mark.parametrize("rho", [1e-300, 1e-16, 1e-6, 0.01, 0.3, 0.999, 1.0, 1.01, 3.0, 50.0, 1e6])
def test_the_inverses_are_rounded_down(rho):
    for law, inverse in ((pure_rho, pure_epsilon), (bounded_range_rho, bounded_range_epsilon)):
        epsilon = inverse(rho)
        assert law(epsilon) <= rho
        assert law(epsilon * (1 + 1e-13)) > rho * (1 + 1e-14)


def test_the_inverses_refuse_what_is_no_rho():
    for inverse in (pure_epsilon, bounded_range_epsilon):
        with pytest.raises(ValueError, match="rho"):
            inverse(0.0)


def test_other_releases_still_have_their_rho():
    assert tight_rho(Claimed(ZCDP(0.3))) == 0.3
