"""What the claims on tCDP 2018 compute by themselves, each against another way to the same number."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, optimize, stats

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget
from tcdp_sim.experiments.papers.tcdp import (
    amplification,
    amplification_steps,
    composition,
    conversions,
    gaussian_loss,
    groups,
    histograms,
    lower_bounds,
    noise_shape,
    reductions,
    selection,
    trees,
)
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal


def within(bounds, truth):
    return bounds.lower <= truth <= bounds.upper


@pytest.mark.parametrize(("rho", "s", "order"), [(0.1, 0.1, 5), (3.0, 1e-12, 2), (20.0, 1e-40, 2)])
def test_lemma_15_is_the_integral_also_where_the_sampled_law_hardly_differs(rho, s, order):
    with mp.workdps(100):
        scale, weight = 1 / mp.sqrt(2 * mp.mpf(rho)), mp.mpf(s)

        def term(x):
            rise = mp.expm1((2 * x - 1) * rho)
            return mp.npdf(x, 0, scale) * ((1 + weight * rise) ** order - 1 - order * weight * rise)

        ends = [k * order / mp.mpf(8) + j * scale for k in (0, 4, 8) for j in (-14, 0, 14)]
        truth = mp.log1p(mp.quad(term, sorted(set(ends)))) / (order - 1)
    bounds = amplification.by_lemma_15(amplification.gaussian(rho), s, order)
    assert within(bounds, truth)
    assert bounds.upper - bounds.lower < 1e-9 * bounds.estimate


def test_the_second_moment_of_the_sampling_proof():
    noise = Gaussian(2.0)

    def integrand(x):
        p, q, r = (mp.npdf(x, place, 2) for place in (1.0, 0.0, 0.5))
        return (p - q) ** 2 / (mp.mpf("0.3") * q + mp.mpf("0.7") * r)

    assert within(amplification_steps._square(noise, (1.0, 0.0, 0.5), 0.3), mp.quad(integrand, range(-50, 51, 5)))


@pytest.mark.parametrize(("start", "omega"), [(0, 4.0), (3, 8.0), (11, 1.5)])
def test_the_cost_of_finite_laws_is_the_largest_ratio_on_a_dense_grid(start, omega):
    p, q = composition._law(start, 3), composition._law(start + 50, 3)
    assert p.sum() == pytest.approx(1)
    orders = np.linspace(1 + 1e-6, omega, 20_001)
    moments = [max(np.sum(p**a * q ** (1 - a)), np.sum(q**a * p ** (1 - a))) for a in orders]
    ratios = np.log(moments) / (orders - 1) / orders
    bounds = composition._cost(p, q, omega)
    assert bounds.lower * (1 - 1e-5) <= ratios.max() <= bounds.upper
    assert bounds.upper <= bounds.lower * 1.00011


def test_the_changes_of_sparse_scores_by_hand():
    """k = 2, and a search over random scores and moves for k = 3, by definitions written anew."""
    assert reductions.changes(2, 1.0) == (2, 2, 2, 2)
    rng = np.random.default_rng(20260726)
    most = [0.0, 0.0, 0.0]
    for _ in range(3000):
        x = rng.integers(0, 5, 3) / 2
        y = x + rng.choice([-1.0, 0.0, 1.0], 3)
        f = [[max(v - sorted(z)[-2], 0) for v in z] for z in (x, y)]
        v = np.abs(np.subtract(*f))
        lead = [sorted(z)[-1] - sorted(z)[-2] for z in (x, y)]
        most = [max(most[0], v.max()), max(most[1], v.sum()), most[2]]
        if x.argmax() != y.argmax():
            most[2] = max(most[2], sum(lead))
    found = reductions.changes(3, 1.0)
    assert most == [found.infinity, found.one, found.gaps]


def test_the_tree_of_a_step_by_hand():
    step = np.array([0, 0, 0, 1, 1.0])  # f(x, 0), then four leaves; it jumps at the third
    assert trees._largest_parent(step, 0) == 1.0  # [1, 4] has f(4) - f(1) = 1, its children f(2) - f(1) and f(4) - f(3)
    assert trees._largest_parent(step, 1) == 0.0  # here the leaf itself has the value 1, and so has all above it
    flat = np.array([0, 0.3, 0.6, 0.9, 1.0])
    assert trees._largest_parent(flat, 1) == pytest.approx(0.6)  # [1, 2] and [3, 4] are no children below 2/5


def test_all_nondecreasing_functions_on_two_leaves():
    for a, b in itertools.combinations_with_replacement(range(21), 2):
        value = trees._largest_parent(np.array([0.0, a / 20, b / 20]), 1)
        assert value == pytest.approx(b / 20 if a < 8 and b - a < 8 else 0.0)


@pytest.mark.parametrize(("bits", "steps", "stars"), [(1, 0, 1), (3, 0, 2), (4, 1, 3), (16, 2, 4), (65536, 3, 5)])
def test_how_fast_the_domain_shrinks(bits, steps, stars):
    assert trees._steps(bits) == steps
    assert trees._iterated_log(bits) == stars


def test_groups_under_approximate_dp_end_where_the_geometric_sum_of_delta_reaches_one():
    epsilon, delta = 0.1, 1e-6
    size = groups._last_group(epsilon, delta)
    total = [sum(delta * math.exp(i * epsilon) for i in range(int(n))) for n in (size - 1, size)]
    assert total[0] < 1 <= total[1]
    assert size == math.ceil(115.6)


@pytest.mark.parametrize("m", [1.0, 2.0, 4.0])
def test_the_ratio_of_densities_at_the_knee_has_a_closed_form(m):
    excess = mp.sinh(1) ** 2 - 1
    truth = mp.exp(m * m * excess) / mp.cosh(1)
    assert within(noise_shape._densities(m, 1.0).left, truth)


def test_the_tail_of_sinh_normal_noise_in_units_of_its_knee():
    u = 2.0
    truth = -mp.log(mp.erfc(mp.sinh(u)))  # 2 Phi(-sqrt 2 sinh u)
    assert noise_shape._log_tail(u) == pytest.approx(float(truth), rel=1e-12)
    assert float(truth) == pytest.approx(15.1, rel=5e-3)


def test_gaussian_noise_works_at_twice_its_median_largest_error():
    k, rho = 1000, 0.1
    at = lower_bounds._works_at(Gaussian(1 / math.sqrt(rho)), k)
    failing = optimize.brentq(lambda r: (1 - 2 * stats.norm.sf(r)) ** k - 0.5, 1, 9, xtol=1e-13)
    assert within(Bounds(at.lower - 1e-8, at.estimate, at.upper + 1e-8), 2 * failing / math.sqrt(rho))
    assert lower_bounds._best(1.01, rho, k) == at  # Corollary 18 does not cover that omega


def test_the_largest_cost_of_laplace_noise_is_that_of_order_one():
    """D_a / a of Laplace noise falls with the order; KL = e^-1 at a shift of one scale."""
    bounds = largest_cost(Laplace(1.0), 3.0)
    assert within(bounds, math.exp(-1))
    assert bounds.upper < math.exp(-1) * 1.0002


def test_the_largest_cost_of_sinh_normal_noise_against_a_dense_grid():
    noise = SinhNormal(2.0, 8.0)
    x = np.linspace(-40, 40, 200_001)
    log_p, log_q = noise.logpdf(x), noise.logpdf(x - 1)
    orders = np.linspace(1.01, 4, 60)
    moments = np.array([np.exp(a * log_p + (1 - a) * log_q).sum() * (x[1] - x[0]) for a in orders])
    ratio = (np.log(moments) / (orders - 1) / orders).max()
    bounds = largest_cost(noise, 4.0)
    assert bounds.lower * (1 - 1e-3) <= ratio <= bounds.upper * (1 + 1e-9)


@pytest.mark.parametrize(("factor", "epsilon"), [(2, 0.01), (10, 0.01), (2, 1e-5)])
def test_two_outputs_with_a_rare_one_are_epsilon_delta_dp_and_no_better(factor, epsilon):
    """Their profile is summed over both outputs, both ways."""
    delta = 1e-6
    p, loss = conversions.rare_output(epsilon, delta, factor), factor * epsilon
    first, second = np.array([p, 1 - p]), np.array([p * math.exp(-loss), 1 - p * math.exp(-loss)])
    profile = [np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((first, second), (second, first))]
    assert max(profile) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize(("place", "s", "ratio"), [(0.5, 0.1, 1.034), (-1.0, 0.5, 1.6), (0.0, 0.01, 1.0035)])
def test_the_hockey_stick_of_mixtures(place, s, ratio):
    """By a sum on a fine grid."""
    x = np.linspace(-12, 12, 1_000_001)
    p, q, r = (stats.norm.pdf(x, at) for at in (1, 0, place))
    truth = np.maximum(s * p + (1 - s) * r - ratio * (s * q + (1 - s) * r), 0).sum() * (x[1] - x[0])
    bounds = amplification._hockey_stick_of_mixtures(Gaussian(1.0), place, s, ratio)
    assert bounds.estimate == pytest.approx(truth, rel=1e-8)


@pytest.mark.parametrize(("p", "q", "order"), [(1e-6, 1e-9, 4.1), (0.3, 0.4, 1.00001), (0.3, 0.4, 1.0)])
def test_the_divergence_of_bits(p, q, order):
    with mp.workdps(40):
        p, q, order = mp.mpf(p), mp.mpf(q), mp.mpf(order)
        if order == 1:
            truth = p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q))
        else:
            truth = mp.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)
    laws = [np.array([float(each), 1 - float(each)]) for each in (p, q)]
    assert composition._divergence(*laws, np.array([float(order)]))[0] == pytest.approx(float(truth), rel=1e-9)


def test_the_moment_of_the_loss_at_negative_orders():
    """The loss of Gaussian noise of scale 2 at a shift of one is N(1/8, 1/4)."""
    for moment in (-3.0, -0.5):
        truth = 1 / 8 + moment / 8
        assert gaussian_loss._log_moment(Gaussian(2.0), moment).estimate == pytest.approx(truth, rel=1e-9)


def test_the_order_where_the_divergence_of_sinh_normal_noise_turns_infinite():
    """It is 1/(1 - e^(-2k/A)), so that order - 1 is 1/(e^(2k/A) - 1)."""
    for shift in (1.0, 10.0, 50.0):
        assert within(groups._nearness(SinhNormal(3.0, 10.0), shift), math.log(math.expm1(shift / 5)))


def test_arsinh_of_an_exponential():
    for x in (-5.0, 0.0, 3.0, 40.0):
        assert noise_shape.arsinh_of_exp(x) == pytest.approx(float(mp.asinh(mp.exp(x))), rel=1e-14)
    assert noise_shape.arsinh_of_exp(1e9) == 1e9 + math.log(2)


def test_gaps_in_closed_form_are_those_of_the_root_finding():
    noise = Laplace(2.0)
    wanted = exact.required_gap("obvious_answer", noise, 1e12, 0.05).estimate
    assert selection._gap_in_logs(noise, math.log(1e12)).estimate == pytest.approx(wanted, rel=1e-9)
    wanted = exact.required_gap("stability", noise, 1e6, 0.05, delta=1e-12).estimate
    assert selection._gap_in_logs(noise, math.log(1e12)).estimate == pytest.approx(wanted, rel=1e-9)
    wanted = exact.required_gap("exponential_mechanism", 0.5, 1e12, 0.05).estimate
    point = next(iter(selection.exponential_mechanism(Budget())))
    assert point.where == "k = 1e12"
    assert point.left.estimate == pytest.approx(wanted, rel=1e-9)


def test_answers_to_problem_24_by_hand():
    """Two records in [4] at 2 and 3: with f = q_j the answer is 2 alone, with f = q_j/2 it is 2 and 3."""
    data = list(itertools.product(range(1, 5), repeat=2))
    at = data.index((2, 3))
    assert trees.agreements(2, 1)[at].tolist() == [True, True, False, True, True]
    assert trees.agreements(2, 2)[at].all()
    assert trees.agreements(3, 1).size == 320


def test_the_least_order_of_condition_5_is_where_its_left_half_is_an_equality():
    rho, s = 0.05, 0.05
    omega = amplification_steps._least_omega(rho, s)
    assert omega == pytest.approx(2 + math.log2(1 / rho) + math.log2(1 / ((omega - 2) * s)), rel=1e-9)
    assert omega < amplification_steps.largest_omega(rho, s)


def test_algorithm_21_on_two_neighbours_by_quadrature():
    """A lead of two becomes a tie: k = 1000, order 8; the claim's largest divergence is no smaller."""
    k, order = 1000, 8
    first = integrate.quad(lambda z: stats.norm.pdf(z) * stats.norm.cdf(z + 0.5) ** (k - 1), -8, 12, limit=200)[0]
    moment = first**order * k ** (order - 1)
    moment += (k - 1) * ((1 - first) / (k - 1)) ** order * k ** (order - 1)
    divergence = math.log(moment) / (order - 1)
    assert divergence / 0.5 == pytest.approx(1.48369, rel=1e-5)
    point = next(p for p in reductions.privacy_of_algorithm_21(Budget()) if "α = 8," in p.where)
    assert point.left.lower >= divergence * (1 - 1e-6)


def test_the_radius_for_many_bins_in_logarithms():
    """At log(k/β) = 1e12, where arsinh can be taken itself."""
    omega, rho = histograms.OMEGA, histograms.RHO
    point = next(p for p in histograms.radius_for_many_bins(Budget()) if p.at == 12)
    truth = 8 * omega * math.asinh(math.sqrt(1e12 / (2 * omega**2 * rho)))
    assert point.left.estimate == pytest.approx(truth, rel=1e-12)
