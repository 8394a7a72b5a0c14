"""Subsampled noise: identities of Balle-Barthe-Gaboardi 2018, dp_accounting, quadrature in the plane, tables D2, E9."""

import mpmath as mp
import numpy as np
import pytest
from composed_pairs import hockey_stick_between, subsampled_hockey_stick, subsampled_renyi
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant
from scipy import integrate, stats

from tcdp_sim.exact import Mixture, equilateral_renyi, hockey_stick, renyi_from_profile
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace

NOISES = (Gaussian(2.0), Laplace(2.0), TruncatedLaplace(2.0, 9.0), SinhNormal(2.0, 5.0))
every = pytest.mark.parametrize("noise", NOISES, ids=repr)


@every
@pytest.mark.parametrize("s", [0.01, 0.6])
def test_directions_are_the_two_point_formulas(noise, s):
    epsilons = np.array([0.0, 0.3 * s, s])
    e0 = np.log1p(np.expm1(epsilons) / s)
    forward = subsampled_hockey_stick(noise, 1.0, epsilons, s)
    np.testing.assert_allclose(forward.estimate, s * hockey_stick(noise, 1.0, e0).estimate, rtol=1e-9, atol=1e-300)
    rest = 1 - (1 - s) * np.exp(epsilons)
    e1 = np.log(s * np.exp(epsilons) / rest)
    reverse = subsampled_hockey_stick(noise, 1.0, epsilons, s, "reverse")
    np.testing.assert_allclose(reverse.estimate, rest * hockey_stick(noise, 1.0, e1).estimate, rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("s", [0.001, 0.1])
def test_renyi_of_dp_accounting(s):
    orders = [2, 8, 32]
    theirs = RdpAccountant(orders).compose(PoissonSampledDpEvent(s, GaussianDpEvent(2.0)))._rdp
    np.testing.assert_allclose(subsampled_renyi(Gaussian(2.0), 1.0, orders, s).estimate, theirs, rtol=1e-7)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_renyi_of_a_real_order_by_mpmath(direction):
    noise, s, order = Laplace(1.5), mp.mpf("0.05"), mp.mpf("3.7")
    with mp.workdps(25):

        def weight(x):
            q, p = (mp.exp(-abs(x - m) / mp.mpf(1.5)) / 3 for m in (0, 1))
            both = (1 - s) * q + s * p
            return both**order * q ** (1 - order) if direction == "forward" else q**order * both ** (1 - order)

        truth = mp.log(mp.quad(weight, [-mp.inf, 0, 1, mp.inf])) / (order - 1)
    found = subsampled_renyi(noise, 1.0, 3.7, 0.05, direction)
    assert found.lower <= truth <= found.upper


@pytest.mark.slow
def test_the_triangle_by_adaptive_quadrature():
    """S3: the three centres one apart, dblquad of the density written down again."""
    sigma, s, order = 1.3, 0.2, 3.0
    centres = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])

    def density(x, y, k):
        p, r = (stats.norm.pdf(x, c[0], sigma) * stats.norm.pdf(y, c[1], sigma) for c in (centres[k], centres[2]))
        return s * p + (1 - s) * r

    area = ((-9, 11), (-9, 11))
    how = {"epsabs": 1e-9, "epsrel": 1e-9}
    truth = integrate.nquad(lambda x, y: density(x, y, 0) ** 3 / density(x, y, 1) ** 2, area, opts=how)[0]
    found = equilateral_renyi(Gaussian(sigma), 1.0, order, s)
    assert found.estimate == pytest.approx(np.log(truth) / 2, rel=1e-7)
    assert found.upper - found.lower < 1e-9 * found.estimate


@pytest.mark.parametrize(
    ("rho", "s", "forward", "reverse", "triple"),
    [(0.1, 0.1, 1.203, 1.061, 1.131), (0.1, 1e-2, 1.133, 1.102, 1.158), (0.01, 0.1, 1.129, 1.005, 1.021)],
)
def test_table_d2(rho, s, forward, reverse, triple):
    """sup D_a / (s^2 rho a) over orders below log(1/s) / (4 rho). The reverse exceeds the table at orders near 1."""
    noise, top = Gaussian(1 / np.sqrt(2 * rho)), np.log(1 / s) / (4 * rho)
    orders = np.append(np.linspace(1.01, top, 12), [1.3, 2.0])
    scale = s * s * rho * orders
    assert (subsampled_renyi(noise, 1.0, orders, s).estimate / scale).max() == pytest.approx(forward, abs=1.6e-3)
    backward = subsampled_renyi(noise, 1.0, orders, s, "reverse").estimate
    assert (backward / scale).max() == pytest.approx(reverse, abs=2e-3)
    few = np.array([1.2, 2.0, 0.7 * top, 0.999 * top])
    found = [equilateral_renyi(noise, 1.0, order, s).estimate / (s * s * rho * order) for order in few]
    assert max(found) == pytest.approx(triple, abs=4e-3)


@pytest.mark.parametrize(
    ("sigma", "s", "order", "pair", "triangle", "profile"),
    [
        (5, 0.01, 8, 1.636e-5, 1.648e-5, 1.888e-5),
        (5, 0.01, 32, 6.61e-5, 6.59e-5, 7.56e-5),
        (2, 0.01, 8, 1.158e-4, 1.201e-4, 1.565e-4),
        (1, 0.01, 4, 3.63e-4, 4.14e-4, 5.68e-4),
    ],
)
def test_erratum_e9(sigma, s, order, pair, triangle, profile):
    """The exact columns, and the profile route: Theorem 9 and Theorem 6."""
    noise = Gaussian(float(sigma))
    assert subsampled_renyi(noise, 1.0, order, s).estimate == pytest.approx(pair, rel=1.5e-3)
    assert equilateral_renyi(noise, 1.0, order, s).estimate == pytest.approx(triangle, rel=1.5e-3)
    bound = renyi_from_profile(lambda epsilons: subsampled_hockey_stick(noise, 1.0, epsilons, s), order)
    assert bound.estimate == pytest.approx(profile, rel=1.5e-3)


def test_the_triangle_is_below_its_profile_route_and_above_the_pair_for_small_s():
    """Erratum S3, and its limit (2 e^(2 rho) - 2 e^rho) / (2 rho) at order 2 as s falls to 0."""
    rho, s = 0.1, 1e-4
    noise = Gaussian(1 / np.sqrt(2 * rho))
    triangle, pair = equilateral_renyi(noise, 1.0, 2.0, s).estimate, subsampled_renyi(noise, 1.0, 2.0, s).estimate
    assert triangle / (2 * s * s * rho) == pytest.approx((np.exp(2 * rho) - np.exp(rho)) / rho, rel=1e-3)
    bound = renyi_from_profile(lambda epsilons: subsampled_hockey_stick(noise, 1.0, epsilons, s), 2.0)
    assert pair < triangle < bound.lower


def test_the_false_rule_under_poisson_sampling():
    """(s^2 rho, the same omega)-tCDP is false for Gaussian noise: at order 2, 5000 times so at 100."""
    rho, s = 0.1, 0.01
    noise = Gaussian(1 / np.sqrt(2 * rho))
    assert subsampled_renyi(noise, 1.0, 2.0, s).lower > 1.1 * s * s * rho * 2.0
    assert subsampled_renyi(noise, 1.0, 100.0, s).lower > 5000 * s * s * rho * 100.0


@every
def test_advanced_joint_convexity_is_an_identity(noise):
    """Theorem 2: H_eps'(mu || mu') = eta H_eps(mu1 || (1 - beta) mu0 + beta mu1'), and its upper bound."""
    eta, epsilon = 0.3, 0.4
    inner = np.log1p(eta * np.expm1(epsilon))
    beta = np.exp(inner - epsilon)
    zero, one, other = ((0.0, 0.4), (0.8, 0.2)), ((1.0,), (1.0,)), ((-0.7, 2.0), (0.5, 0.5))

    def blend(share, a, b):
        return Mixture(noise, (*a[0], *b[0]), (*((1 - share) * np.array(a[1])), *(share * np.array(b[1]))))

    left = hockey_stick_between(blend(eta, zero, one), blend(eta, zero, other), inner).estimate
    mu0, mu1, mu2 = (Mixture(noise, *law) for law in (zero, one, other))
    right = eta * hockey_stick_between(mu1, blend(beta, zero, other), epsilon).estimate
    assert left == pytest.approx(right, rel=1e-9)
    parts = [hockey_stick_between(mu1, law, epsilon).upper for law in (mu0, mu2)]
    assert left <= eta * ((1 - beta) * parts[0] + beta * parts[1]) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: subsampled_renyi(Gaussian(1.0), 1.0, 2, 1.5), "sampling_probability = 1.5"),
        (lambda: subsampled_renyi(Gaussian(1.0), 1.0, 2, 0.5, "sideways"), "direction = 'sideways'"),
        (lambda: equilateral_renyi(Laplace(1.0), 1.0, 2, 0.5), "valid: Gaussian"),
        (lambda: equilateral_renyi(Gaussian(1.0), 1.0, 1, 0.5), "order = 1"),
    ],
)
def test_mistakes_are_one_line(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize("over", [1e-14, 1e-12, 1e-9])
@pytest.mark.parametrize("noise", [Laplace(1.0), Gaussian(2.0)], ids=repr)
def test_orders_next_to_one_are_those_of_kullback_and_leibler(noise, over):
    """The divergence is continuous in the order; its slope there is half the variance of the loss, below one."""
    for s in (0.1, 1.0):
        for direction in ("forward", "reverse"):
            one, near = (subsampled_renyi(noise, 1.0, order, s, direction) for order in (1, 1 + over))
            assert near.lower <= one.upper + over
            assert near.estimate == pytest.approx(one.estimate, rel=1e-11, abs=over)
    assert subsampled_renyi(Laplace(1.0), 1.0, 1 + 1e-12, 1.0).upper >= np.exp(-1)


def test_the_triangle_without_its_third_corner_is_a_gaussian():
    for order in (1 + 1e-12, 1.001, 2.0, 20.0):
        found = equilateral_renyi(Gaussian(1.0), 1.0, order, 1.0)
        assert found.lower <= order / 2 <= found.upper
        assert found.upper - found.lower < 1e-9


def test_the_triangle_at_tiny_fractions_is_quadratic_in_them():
    """D_2 / s^2 tends to E_R[((P - Q) / R)^2] = 2 e - 2 e^(1/2), inner products e^(x . y) at distance one."""
    limit = 2 * np.exp(1.0) - 2 * np.exp(0.5)
    for s in (1e-6, 1e-10):
        found = equilateral_renyi(Gaussian(1.0), 1.0, 2.0, s)
        assert found.estimate == pytest.approx(limit * s * s, rel=10 * s + 1e-11)
        assert found.upper - found.lower < 1e-11 * found.estimate


def test_a_triangle_too_wide_for_the_grid_is_refused():
    with pytest.raises(ValueError, match=r"order = 10000 is not valid for a shift of 1 scales; valid: order < 48"):
        equilateral_renyi(Gaussian(1.0), 1.0, 1e4, 0.5)
