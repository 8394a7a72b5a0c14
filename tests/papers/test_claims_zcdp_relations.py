"""What the claims on zCDP and other notions compute, against mpmath, brute force and the numbers of their catalogue."""

from itertools import islice

import mpmath
import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.optimize import brentq
from scipy.stats import norm

from tcdp_sim.experiments.papers.judge.verdict import ratio
from tcdp_sim.experiments.papers.registry import Budget
from tcdp_sim.experiments.papers.zcdp import approximate, losses, mean_concentrated, relation_to_dp
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import ZCDP, approx_zcdp_delta, pure_renyi, zcdp_budget


def gaussian_delta(scale, epsilon):
    return norm.cdf(0.5 / scale - epsilon * scale) - np.exp(epsilon) * norm.cdf(-0.5 / scale - epsilon * scale)


@pytest.mark.parametrize(("scale", "delta"), [(2.2360679775, 1e-6), (0.5, 0.1), (10.0, 1e-9)])
def test_the_least_epsilon_of_gaussian_noise(scale, delta):
    truth = brentq(lambda epsilon: gaussian_delta(scale, epsilon) - delta, 0, 60, xtol=1e-13)
    lower, _, upper = relation_to_dp.least_epsilon(Gaussian(scale), delta)
    assert lower - 1e-6 <= truth <= upper + 1e-6  # the reference cancels
    assert upper - lower < 1e-7


def test_the_least_epsilon_of_laplace_noise():
    lower, _, upper = relation_to_dp.least_epsilon(Laplace(2.0), 0.01)
    assert lower <= 0.5 + 2 * np.log1p(-0.01) <= upper  # delta = 1 - exp((epsilon - 1/2) / 2)


@pytest.mark.parametrize(("xi", "rho", "order"), [(0.0, 0.3, 2.0), (0.3, 1.0, 1.01), (1.0, 0.01, 16.0)])
def test_what_a_family_allows_is_at_most_the_integral_of_its_profile(xi, rho, order):
    """With δ ≤ 1 below ξ' nothing but more is allowed; by how much at most is in the test below."""
    s = order - 1

    def weighted(epsilon):
        delta = mpmath.mpf(1) if epsilon <= xi else mpmath.exp(-((epsilon - xi) ** 2) / rho)
        return (mpmath.exp(s * epsilon) + mpmath.exp(-(s + 1) * epsilon)) * delta

    with mpmath.workdps(30):
        peak = xi + s * rho / 2
        total = mpmath.quad(weighted, sorted({0.0, xi, peak, peak + 3, peak + 8, peak + 20}))
        simple = mpmath.log(1 + s * (s + 1) * total) / s
    upper = relation_to_dp.most_allowed(xi, rho, order).upper
    assert upper <= simple * (1 + 1e-9)
    assert upper >= 0.5 * simple or xi > 0


@pytest.mark.parametrize(("xi", "order"), [(0.3, 2.0), (1.0, 8.0), (0.01, 1.5)])
def test_a_family_of_no_rho_is_pure(xi, order):
    """ξ'-DP allows what randomised response attains; 1e-12 of ρ' adds some 4e-6 to ξ'."""
    truth = pure_renyi(xi, order)
    assert truth * (1 - 1e-9) <= relation_to_dp.most_allowed(xi, 1e-12, order).upper <= truth * (1 + 8e-6 / xi) + 1e-5


@pytest.mark.parametrize("order", [1.5, 4.0, 64.0])
def test_a_family_allows_what_its_members_spend(order):
    """Gaussian noise of ρ is in the family of ξ' = ρ, ρ' = 4ρ."""
    rho = 0.1
    assert rho * order <= relation_to_dp.most_allowed(rho, 4 * rho, order).upper <= 5 * 0.4**0.25 + rho * order


@pytest.mark.parametrize(("chance", "width"), [(0.1, 1.3), (0.01, 2.0), (0.4, 1.0)])
def test_tau_of_two_values_is_the_worst_of_all_moments(chance, width):
    powers = np.concatenate([-np.geomspace(1e-2, 200, 4000), np.geomspace(1e-2, 200, 4000)]) / width
    moments = np.logaddexp(np.log(chance) + powers * width * (1 - chance), np.log1p(-chance) - powers * width * chance)
    worst = np.sqrt((2 * moments / powers**2).max())
    assert mean_concentrated.two_point_tau(np.log(1 / chance - 1), width) == pytest.approx(worst, rel=1e-5)


def test_tau_of_randomised_response_is_that_of_its_rho():
    for epsilon in (0.1, 1.0, 5.0):
        tau = mean_concentrated.two_point_tau(epsilon, 2 * epsilon)
        assert tau**2 / 2 == pytest.approx(epsilon * np.tanh(epsilon / 2), rel=1e-12)


@pytest.mark.parametrize("digits", [1, 5, 60])
def test_rho_of_a_rare_loss_is_the_largest_over_a_dense_grid_of_orders(digits):
    log_rare = -digits * np.log(10)
    s = np.geomspace(1e-3, 40 * digits + 40, 20_000)
    p = np.array([log_rare, np.log1p(-np.exp(log_rare))])
    q = np.array([log_rare - 1, np.log1p(-np.exp(log_rare - 1))])
    curves = [np.logaddexp(*((s + 1) * x - s * y for x, y in zip(a, b))) for a, b in ((p, q), (q, p))]
    rho = max((curve / s / (1 + s)).max() for curve in curves)
    lower, _, upper = mean_concentrated.root_of_two_rho(log_rare, 1.0)
    assert lower * (1 - 1e-5) <= np.sqrt(2 * rho) <= upper
    assert upper < lower * 1.01


def test_rho_counts_both_directions():
    """A rare loss of -1 is one of 1 seen from the other law."""
    back, forth = mean_concentrated.root_of_two_rho(-9.0, -1.0), mean_concentrated.root_of_two_rho(-8.0, 1.0)
    assert back.estimate == pytest.approx(forth.estimate, rel=1e-3)


def test_the_bit_that_is_cut_leaves_its_mean_concentration():
    """Numbers of the catalogue: 1.068 at 5, 1.054 at 10."""
    points = list(mean_concentrated.cut_to_a_bit(Budget()))
    found = {point.where.rpartition("= ")[2]: point.right.estimate for point in points}
    assert found["5"] == pytest.approx(1.068, abs=6e-4)
    assert found["10"] == pytest.approx(1.054, abs=1e-3)


@pytest.mark.parametrize("cut", [0.5, 3.0, 5.2])
def test_tau_of_a_cut_is_that_of_both_directions(cut):
    """Each way by the largest 2 log E e^(λ(Z - E Z))/λ² over a dense grid of λ."""
    powers = np.concatenate([-np.geomspace(1e-2, 60, 6000), np.geomspace(1e-2, 60, 6000)])
    laws = [np.array([norm.sf(cut - mean), norm.cdf(cut - mean)]) for mean in (1, 0)]
    worst = []
    for p, q in (laws, laws[::-1]):
        loss = np.log(p / q)
        moments = np.logaddexp(*(np.log(p)[:, None] + np.multiply.outer(loss - p @ loss, powers)))
        worst.append(np.sqrt((2 * moments / powers**2).max()))
    assert mean_concentrated.cut_tau(cut) == pytest.approx(max(worst), rel=1e-4)


def test_the_largest_tau_of_a_cut():
    """1.034, at a cut of 5.2."""
    points = list(mean_concentrated.postprocessed_mean_concentration(Budget()))
    worst = max(points, key=lambda point: point.left.estimate)
    assert (worst.where, worst.left.estimate) == ("above 5.2", pytest.approx(1.034, abs=6e-4))


@pytest.mark.parametrize("cut", [0.5, 5.2])
def test_rho_of_a_bit_bounds_a_dense_grid_of_orders(cut):
    s = np.geomspace(1e-3, 400, 20_000)
    laws = [np.array([norm.logsf(cut - mean), norm.logcdf(cut - mean)]) for mean in (1, 0)]
    curves = [np.logaddexp(*((s + 1) * x - s * y for x, y in zip(*way))) for way in (laws, laws[::-1])]
    root = np.sqrt(2 * max((curve / s / (1 + s)).max() for curve in curves))
    lower, _, upper = mean_concentrated.root_of_two_rho(laws[0][0], (laws[0] - laws[1])[0])
    assert lower * (1 - 1e-5) <= root <= upper
    assert upper < lower * 1.01


def test_a_rare_loss_spends_less_than_its_mean():
    """Two outcomes in closed form: P[Z = 1] = 0.1, so that ξ = E Z - τ²/2 is negative."""
    q = 0.1 / np.e
    loss = 1, np.log(0.9 / (1 - q))
    mean, width = 0.1 * loss[0] + 0.9 * loss[1], loss[0] - loss[1]
    tau = np.sqrt(width**2 * 0.8 / (2 * np.log(9)))
    point = next(p for p in mean_concentrated.mean_to_zero(Budget()) if p.where == "P[Z = 1] = 0.1, α = 8")
    assert point.left.estimate == pytest.approx(np.log(0.1**8 * q**-7 + 0.9**8 * (1 - q) ** -7) / 7, rel=1e-10)
    assert point.right.estimate == pytest.approx(mean - tau**2 / 2 + 4 * tau**2, rel=1e-12)
    assert mean < tau**2 / 2


def test_the_loss_of_the_attaining_pair_doubles_with_more_than_delta():
    """1.58, 10.5, 100.5 and 1000.5 times delta at epsilon = 1, 0.1, 0.01 and 0.001."""
    points = list(losses.approximate_by_the_loss(Budget()))
    assert [ratio(point).estimate for point in points] == pytest.approx([1.582, 10.51, 100.5, 1000.5], rel=1e-3)
    for epsilon in (1.0, 0.1, 0.01):
        p, q = losses.attaining(epsilon, 1e-6)
        assert sorted(p - np.exp(epsilon) * q)[-1] == pytest.approx(1e-6, rel=1e-8)
        assert max(q - np.exp(epsilon) * p) <= 1e-6


@pytest.mark.parametrize(("rho", "epsilon"), [(0.1, 1.0), (2.0, 3.0), (10.0, 40.0)])
def test_the_four_terms_are_those_of_the_package(rho, epsilon):
    terms = approximate.terms(ZCDP(rho), epsilon)
    assert min(terms) == terms[3] == pytest.approx(approx_zcdp_delta(ZCDP(rho), epsilon, form="paper"), rel=1e-12)


def test_the_four_terms_by_hand():
    """At ρ = 1, ξ = 0.5, ε = 3.5: e^-1 times 1, √π, 1/2 and 2/(2 + √(4 + 4/π))."""
    found = approximate.terms(ZCDP(1.0, 0.5), 3.5)
    printed = [1, np.sqrt(np.pi), 1 / 2, 2 / (2 + np.sqrt(4 + 4 / np.pi))]
    assert found == pytest.approx([value / np.e for value in printed], rel=1e-14)


def test_the_exact_side_of_lemma_38_tells_all_with_its_own_delta():
    steps = iter(approximate.sharper_conversion(Budget()))
    points = {p.where: p for p in islice(steps, 5 * 2 * 4)}  # those that need no study
    point = points["ξ = 0, ρ = 0.1, ε = 1, δ = 0.001, term 4"]
    assert point.left.estimate == pytest.approx(1e-3 + 0.999 * gaussian_delta(np.sqrt(5), 1.0), rel=1e-9)
    assert len({p.left for name, p in points.items() if name.startswith("ξ = 0.5, ρ = 2, ε = 3, δ = 0,")}) == 1


def test_lemma_38_is_below_lemma_21_by_the_numbers_of_the_revision():
    found = [ratio(point).estimate for point in relation_to_dp.sharper_conversion(Budget())]
    assert found == pytest.approx([0.0769, 0.379, 0.0068, 0.457, 0.414], abs=6e-4)


def test_gaussian_noise_beside_randomised_response():
    """ε = 5, δ = 0.1, ξ = 1: the best event of the pair, by quadrature over the Gaussian part."""
    point = next(p for p in relation_to_dp.inverse_conversion(Budget()) if "exact δ, ε = 5" in p.where)
    cost = np.log(10)
    scale = np.sqrt(0.5) / (np.sqrt(4 + cost) - np.sqrt(cost))
    x = np.linspace(-12 * scale, 12 * scale + 1, 400_001)
    kept = np.e / (1 + np.e)
    excess = [
        np.maximum(a * norm.pdf(x, 1, scale) - np.exp(5) * b * norm.pdf(x, 0, scale), 0)
        for a, b in ((kept, 1 - kept), (1 - kept, kept))
    ]
    assert point.left.estimate == pytest.approx(trapezoid(sum(excess), x), rel=1e-6)


@pytest.mark.parametrize("digits", [1, 30, 300])
def test_the_rough_inverse_is_over_that_of_the_package(digits):
    point = {p.where: p for p in relation_to_dp.rough_inverse(Budget())}[f"ε = 1, δ = 1e-{digits}"]
    assert point.left.estimate == pytest.approx(zcdp_budget(1.0, 10.0**-digits).rho, rel=1e-9)
    cost = digits * np.log(10)
    assert ratio(point).estimate == pytest.approx(4 * cost * (np.sqrt(1 + cost) - np.sqrt(cost)) ** 2, rel=1e-9)


def test_both_forms_of_the_sharper_composition_are_one():
    """At δ' = √(π/2)‖ε‖ e^(-λ²) the second form is the first: here at λ = 0."""
    points = {p.where: p for p in approximate.sharper_composition(Budget())}
    first = points["1 of ε = 0.1, 1 of 0.01, λ = 0, δ_i = 0"]
    norm_of = np.hypot(0.1, 0.01)
    second = points[f"1 of ε = 0.1, 1 of 0.01, δ' = {np.sqrt(np.pi / 2) * norm_of:.4g}, δ_i = 0"]
    assert first.left == second.left
    assert first.right.estimate == pytest.approx(second.right.estimate, rel=1e-12)
    tight = points["1 of ε = 0.1, 1 of 0.01, δ' = 1e-09, δ_i = 0"]
    epsilon = norm_of**2 / 2 + np.sqrt(2 * np.log(np.sqrt(np.pi / 2) * norm_of / 1e-9)) * norm_of
    kept = [np.exp(e) / (1 + np.exp(e)) for e in (0.1, 0.01)]
    best = max(0.0, kept[0] * kept[1] - np.exp(epsilon) * (1 - kept[0]) * (1 - kept[1]))
    assert tight.left.estimate == pytest.approx(best, abs=1e-12)
    assert tight.right.estimate == pytest.approx(1e-9, rel=1e-9)


def test_divergences_by_the_tail_of_the_loss_of_gaussian_noise():
    found = losses.divergence_by_tail(Gaussian(2.0), 3.0)
    assert found.lower <= 4 / 8 <= found.upper
    assert found.upper - found.lower < 1e-8


def test_advanced_composition_is_far_from_gaussian_noise():
    """k answers with scale 10 are one with scale 10 / sqrt(k)."""
    point = next(p for p in list(approximate.advanced_composition(Budget(full=True))) if p.where == "k = 100")
    truth = brentq(lambda epsilon: gaussian_delta(1.0, epsilon) - 1e-6, 0, 40, xtol=1e-12)
    assert point.left.estimate == pytest.approx(2 * truth, rel=1e-8)


def test_gaussian_noise_against_lemma_38():
    """At rho = 0.1, epsilon = 1: 0.00319 against 0.0219."""
    assert approx_zcdp_delta(ZCDP(0.1), 1.0, form="paper") == pytest.approx(0.0219, abs=5e-5)
    assert gaussian_delta(np.sqrt(5), 1.0) == pytest.approx(0.00319, abs=5e-6)
