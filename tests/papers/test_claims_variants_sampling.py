"""The second table of the sheet, and the noise for tCDP: the numbers behind the claims, by other means."""

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from tcdp_sim.experiments.papers.registry import Budget
from tcdp_sim.experiments.papers.variants import arsinh, renyi_sampling, sampling
from tcdp_sim.noise import SinhNormal

ERRATUM_E9 = [
    (5, 0.01, 8, 8.48e-4),
    (5, 0.01, 32, 3.52e-3),
    (2, 0.01, 8, 1.06e-3),
    (1, 0.01, 4, 1.14e-3),
    (50, 0.1, 2, 1.98e-2),
]


@pytest.mark.parametrize(("sigma", "s", "order", "printed"), ERRATUM_E9)
def test_the_printed_sum_in_thirty_digits(sigma, s, order, printed):
    def epsilon(j):
        return j / (2 * sigma**2)

    with mp.workdps(30):
        terms = (2 * mp.mpf(s) ** j * mp.binomial(order, j) * mp.exp((j - 1) * epsilon(j)) for j in range(2, order + 1))
        truth = mp.log(1 + mp.fsum(terms)) / (order - 1)
    value = renyi_sampling.sampled_sum(epsilon, s, order)
    assert value == pytest.approx(float(truth), rel=1e-12)
    assert value == pytest.approx(printed, rel=6e-3)


def test_a_sum_of_large_terms():
    """Where the last term is nearly all."""
    value = renyi_sampling.sampled_sum(lambda j: 50.0, 0.5, 20)
    assert value == pytest.approx((np.log(2) + 20 * np.log(0.5) + 19 * 50) / 19, rel=1e-12)


def test_the_sum_of_a_constant_bounds_a_mechanism_of_two_outputs():
    """Randomised response on a record that is drawn with chance s: its divergence is a sum of two terms."""
    p, order = 0.9, 3
    epsilon = np.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)) / (order - 1)
    for s in (0.01, 0.5, 1.0):
        bits = s * p + (1 - s) * (1 - p), s * (1 - p) + (1 - s) * p
        exact = np.log(bits[0] ** order * (1 - p) ** (1 - order) + bits[1] ** order * p ** (1 - order)) / (order - 1)
        assert exact <= renyi_sampling.sampled_sum(lambda _: epsilon, s, order)
    assert exact == pytest.approx(epsilon)


def test_the_divergence_of_sampled_laplace_noise_by_another_quadrature():
    """The point of V.rdp3 with the largest fraction: α = 2, scale 0.1."""
    where = "Laplace(scale=0.1), s = 0.5, α = 2, more records with the property"
    point = next(p for p in renyi_sampling.sum_of_a_constant(Budget()) if p.where == where)

    def integrand(x):
        q, p = 5 * np.exp(-10 * abs(x)), 5 * np.exp(-10 * abs(x - 1))
        return ((p + q) / 2) ** 2 / q

    truth = np.log(sum(quad(integrand, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in ((-4, 0), (0, 1), (1, 4))))
    assert point.left.estimate == pytest.approx(truth, rel=1e-9)
    order_2 = np.log(2 / 3 * np.exp(10) + np.exp(-20) / 3)
    assert point.right.estimate == pytest.approx(np.log1p(2 * 0.25 * np.exp(order_2)), rel=1e-9)


def test_the_bound_on_the_constant_rises_as_the_fraction_falls():
    """So that no point between those of the grid is worse: 2.6035, 2.7393 and 2.7396 at ρ = 0.1."""
    constants = [sampling._bound_on_constant(0.1, s).estimate for s in (0.1, 1e-4, 1e-9)]
    assert constants == pytest.approx([2.6035, 2.7393, 2.7396], abs=1e-4)


@pytest.mark.parametrize(("rho", "constant"), [(0.1, 1.107), (3.0, 67.07), (5.0, 2203.0)])
def test_the_share_at_tiny_fractions_is_that_of_chi_squared(rho, constant):
    """D_α is s² α (e^(2ρ) - 1)/2 while s² is all that counts: erratum E25's constants."""
    share = sampling.sampled_share(rho, 1e-40, 2.0, "forward")
    assert constant == pytest.approx(np.expm1(2 * rho) / (2 * rho), rel=1e-3)
    assert share.lower <= np.expm1(2 * rho) / (2 * rho) * (1 + 1e-9)
    assert share.upper >= np.expm1(2 * rho) / (2 * rho)
    assert share.upper < 1.01 * share.lower


def test_sampled_tcdp_by_the_table_of_errata():
    """D2: 1.203 forward and 1.0621 in reverse at ρ = s = 0.1; reverse is largest at order 1."""
    omega = np.log(10) / 0.4
    for direction, worst in (("forward", 1.203), ("reverse", 1.0621)):
        share = sampling.sampled_share(0.1, 0.1, omega, direction)
        assert share.lower == pytest.approx(worst, abs=6e-4)


def divergence(scale, knee, shift, order):
    """D of sinh-normal noise from its density."""

    def log_density(x):
        z = knee / scale * np.sinh(x / knee)
        return -z * z / 2 + np.log(np.cosh(x / knee)) - np.log(scale * np.sqrt(2 * np.pi))

    reach = knee * np.arcsinh(15 * scale / knee)

    def integrand(x):
        return np.exp(order * log_density(x) + (1 - order) * log_density(x - shift))

    return np.log(quad(integrand, -reach, reach + shift, limit=500, epsabs=0, epsrel=1e-12)[0]) / (order - 1)


def test_divergences_of_coordinates_add():
    noise, moves, rho = SinhNormal(scale=5.0, knee=20.0), (0.6, 0.8), 0.02
    share = arsinh.loss_share(noise, moves, 2.5, rho)
    direct = max(sum(divergence(5.0, 20.0, t, a) for t in moves) / (rho * a) for a in (1.01, 1.5, 2.0, 2.4999))
    assert share.lower == pytest.approx(direct, rel=2e-4)
    assert share.upper >= direct


def test_the_counter_example_by_another_quadrature():
    """A = 16Δ at ρ = 1e-4: more than twice what is promised, at an order below ω = 2."""
    share = divergence(np.sqrt(5000), 16.0, 1.0, 1.999) / (16e-4 * 1.999)
    worst = next(iter(arsinh.arsinh_mechanism_with_little_knee(Budget())))
    assert worst.where == "A/Δ = 16, ρ = 0.0001"
    assert 2 < share <= worst.left.upper
    assert worst.left.lower == pytest.approx(share, rel=2e-3)


def test_where_the_form_without_a_becomes_true():
    """ω√ρ = 0.1204 for small ρ, erratum E4."""

    def share(product):
        rho = 1e-8
        omega = product / np.sqrt(rho)
        return arsinh.loss_share(SinhNormal(scale=np.sqrt(8 / rho), knee=8 * omega), (1.0,), omega, rho)

    assert share(0.1202).lower > 1
    assert share(0.1206).upper < 1
