"""Trade-offs, guesses, posteriors and Renyi divergences of ledgers, against closed forms."""

import numpy as np
import pytest
from exact_references import pdf, sf
from mpmath import mp
from scipy.special import expit, logit, logsumexp, ndtr, ndtri
from scipy.stats import binom

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    Claimed,
    Distributions,
    Ledger,
    PermuteAndFlip,
    RandomisedResponse,
    Sampled,
    tight_rho,
)
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from tcdp_sim.privacy import TCDP, ZCDP, PureDP

GAUSSIANS = Ledger([(Additive(Gaussian(2.0)), 3), (Additive(Gaussian(4.0)), 4)])  # mu = 1
RESPONSE = Ledger([RandomisedResponse(1.0)])


def inside(bounds, exact, room=1e-13):
    low, middle, high = bounds
    assert low - room <= exact <= high + room
    assert low <= middle <= high


@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 0.001, 0.01, 0.1, 0.31, 0.5, 0.9, 0.999])
def test_the_trade_off_of_gaussians(alpha):
    bounds = GAUSSIANS.tradeoff(alpha)
    exact = ndtr(-ndtri(alpha) - 1)
    inside(bounds, exact)
    assert bounds.upper - bounds.lower <= 0.02 * min(exact, 1 - exact)


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.05, 1 / (1 + np.e), 0.4, 1.0])
def test_the_trade_off_of_randomised_response_is_two_lines_and_is_never_rounded_up(alpha):
    exact = max(1 - np.e * alpha, (1 - alpha) / np.e, 0.0)
    bounds = RESPONSE.tradeoff(alpha)
    assert bounds.lower <= exact * (1 + 1e-16)
    assert bounds.lower >= exact - 3e-4
    assert bounds.upper >= exact - 1e-15


def tradeoff_of_responses(epsilon, n, alpha):
    """Return the type II error of the best test of n responses, which counts the true ones."""
    count = np.arange(n, -1, -1)
    hit, miss = binom.sf(count - 1, n, expit(-epsilon)), binom.cdf(count - 1, n, expit(epsilon))
    return float(np.interp(alpha, np.append(0.0, hit), np.append(1.0, miss)))


@pytest.mark.parametrize(("epsilon", "n"), [(2.0, 60), (0.5, 9), (1.0, 3)])
@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-3, 0.1, 0.7])
def test_both_ends_of_a_trade_off_with_corners_are_near(epsilon, n, alpha):
    low, middle, high = Ledger([(RandomisedResponse(epsilon, 2), n)]).tradeoff(alpha)
    inside((low, middle, high), tradeoff_of_responses(epsilon, n, alpha), 1e-14)
    assert high - low <= 3e-5


@pytest.mark.parametrize("release", [Additive(Gaussian(0.01)), Additive(Laplace(0.001))])
def test_a_release_that_tells_nearly_all_leaves_no_errors(release):
    assert Ledger([release]).tradeoff(1e-3).lower == 0
    assert 0 < Ledger([release]).tradeoff(1e-3).upper < 1e-300


@pytest.mark.parametrize("epsilon", [40.0, 600.0])
def test_tiny_errors_keep_their_digits(epsilon):
    low, _, high = Ledger([RandomisedResponse(epsilon)]).tradeoff(1e-3)
    assert low <= 0.999 * np.exp(-epsilon) <= high <= low * (1 + 1e-9)


def test_the_trade_off_is_its_own_inverse():
    alpha = 0.05
    beta = GAUSSIANS.tradeoff(alpha)
    back = GAUSSIANS.tradeoff(beta.estimate)
    assert back.lower - 2e-3 <= alpha <= back.upper + 2e-3


def test_the_trade_off_starts_at_one_minus_the_infinite_losses():
    assert Ledger([RandomisedResponse(2.0)]).tradeoff(0.0).estimate == pytest.approx(1.0)
    lossy = Ledger([Distributions([0.5, 0.5, 0.0], [0.4, 0.0, 0.6])], "add_remove")
    inside(lossy.tradeoff(0.0), 0.4, 1e-14)  # the worse direction has an infinite loss of 0.6


def test_advantage_and_guesses():
    inside(GAUSSIANS.advantage(), 2 * ndtr(0.5) - 1)
    inside(RESPONSE.advantage(), np.tanh(0.5))
    for prior in (0.5, 0.2, 0.8, 0.01):
        threshold = logit(1 - min(prior, 1 - prior))
        least = min(prior, 1 - prior)
        exact = (1 - least) * ndtr(0.5 + threshold) + least * ndtr(0.5 - threshold)
        inside(GAUSSIANS.attack(prior), exact)
    inside(RESPONSE.attack(0.1), 0.9)  # no answer is enough to change the guess


@pytest.mark.parametrize("candidates", [1, 2, 1000, 10**6])
def test_reconstruction_of_one_of_many_candidates(candidates):
    bounds = GAUSSIANS.reconstruction(candidates)
    exact = 1.0 if candidates == 1 else ndtr(ndtri(1 / candidates) + 1)
    inside(bounds, exact)
    assert bounds.upper <= exact * 1.01


@pytest.mark.parametrize(("prior", "chance"), [(0.1, 0.5), (0.01, 1e-3)])
def test_posteriors_of_gaussians(prior, chance):
    bounds = GAUSSIANS.posterior(prior, chance)
    inside(bounds, expit(logit(prior) + 0.5 - ndtri(chance)))
    assert logit(bounds.upper) - logit(bounds.lower) < 0.02


def test_risks_take_the_worse_direction():
    ledger = Ledger([Distributions([0.9, 0.1], [0.99, 0.01])], "add_remove")
    inside(ledger.advantage(), 0.09)
    inside(ledger.attack(0.3), max(0.3 * 0.1 + 0.7 * 0.99, 0.7, 0.3 * 0.01 + 0.7 * 0.9))


def test_renyi_divergences_add_up():
    assert GAUSSIANS.renyi(3.0).lower <= 1.5 <= GAUSSIANS.renyi(3.0).upper
    assert GAUSSIANS.renyi(np.inf).upper == np.inf
    p, q, order = np.array([0.9, 0.1]), np.array([0.99, 0.01]), 2.5
    forward, back = (np.log((a**order * b ** (1 - order)).sum()) / (order - 1) for a, b in ((p, q), (q, p)))
    mixed = Ledger([(Distributions(p, q), 3), Additive(Gaussian(1.0))], "add_remove").renyi(order)
    inside(mixed, 3 * max(forward, back) + order / 2, 1e-9)
    response = Ledger([RandomisedResponse(0.7)]).renyi(2.0)
    inside(response, np.log((np.exp(1.4) + np.exp(-0.7)) / (1 + np.exp(0.7))), 1e-12)
    assert Ledger([RandomisedResponse(0.7)]).renyi(np.inf).upper == pytest.approx(0.7)


def lattice(log_weight, shift, order):
    """Return D_order of a law on the whole numbers from itself moved, by a sum in steps of its own far tails."""
    x = np.arange(-4000, 4001, dtype=np.longdouble)
    log_p, log_q = (log_weight(place) - np.logaddexp.reduce(log_weight(x)) for place in (x, x - shift))
    loss = log_p - log_q
    if order == 1:
        return float((np.exp(log_p) * loss).sum())
    if order < 1.01:
        return float(np.log1p((np.exp(log_p) * np.expm1((order - 1) * loss)).sum()) / (order - 1))
    return float(np.logaddexp.reduce(log_p + (order - 1) * loss) / (order - 1))


LATTICES = {
    "wide": (DiscreteGaussian(sigma=2.0), 3.0, lambda x: -x * x / 8),
    "narrow": (DiscreteGaussian(sigma=0.3), 1.0, lambda x: -x * x / (2 * np.longdouble(0.3) ** 2)),
    "laplace": (DiscreteLaplace(scale=0.7), 4.0, lambda x: -abs(x) / np.longdouble(0.7)),
}


@pytest.mark.parametrize("name", LATTICES)
@pytest.mark.parametrize("order", [1.0, 1 + 1e-12, 1 + 1e-6, 1.5, 7.0, 40.5, 1000.0])
def test_renyi_divergences_on_lattices_at_orders_near_1_and_at_large_ones(name, order):
    noise, shift, log_weight = LATTICES[name]
    exact = lattice(log_weight, shift, order)
    low, _, high = Ledger([(Additive(noise, shift), 3)]).renyi(order)
    assert low * (1 - 1e-13) <= 3 * exact <= high * (1 + 1e-13)
    assert high - low <= 1e-9 * high


@pytest.mark.parametrize("order", [1 + 1e-12, 1 + 1e-6])
def test_renyi_divergences_near_order_1_have_no_errors_of_the_masses(order):
    low, _, high = Ledger([(RandomisedResponse(12.0, 7), 5)]).renyi(order)
    odds = np.exp(12.0)
    assert high - low <= 1e-12 * high
    first = 5 * 12 * (odds - 1) / (odds + 6)  # the divergence of order 1; the slope in the order is half a variance
    assert low <= first * (1 + 7 * (order - 1))
    assert first <= high * (1 + 1e-13)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 6.0])
@pytest.mark.parametrize("order", [1.0, 1 + 1e-7, 1.01, 2.0, 8.0, 64.0])
def test_the_renyi_divergence_of_bounded_range_is_the_supremum_over_its_pairs(epsilon, order):
    t = np.linspace(1e-9, 1 - 1e-9, 20_001) * epsilon
    p = np.expm1(t - epsilon) / np.expm1(-epsilon)
    if order == 1:
        values = p * t + (1 - p) * (t - epsilon)
    else:
        values = np.log1p(p * np.expm1((order - 1) * t) + (1 - p) * np.expm1((order - 1) * (t - epsilon))) / (order - 1)
    low, _, high = Ledger([BoundedRange(epsilon)]).renyi(order)
    assert low <= values.max() * (1 + 1e-6) + 1e-16 / max(order - 1, 1e-7)
    assert values.max() * (1 - 1e-6) <= high + 1e-16 / max(order - 1, 1e-7)


@pytest.mark.parametrize("order", [2.0, 32.0, 300.0, 10_000.0])
def test_far_tails_of_discrete_noise_count_at_high_orders(order):
    """D = order / (2 sigma^2) at whole orders. The divergence of high orders lies where masses are below all floats."""
    low, _, high = Ledger([(Additive(DiscreteGaussian(2.0)), 3)]).renyi(order)
    assert low <= 3 * order / 8 <= high <= (1 + 1e-9) * low
    assert Ledger([Additive(DiscreteGaussian(2.0))]).renyi(np.inf).lower == np.inf
    laplace = Ledger([Additive(DiscreteLaplace(3.0))]).renyi(order)
    assert laplace.lower <= log_moment(1 / 3, order) / (order - 1) <= laplace.upper < 1 / 3


def log_moment(t, order):
    """Return log E[(p / q)^(order - 1)] of discrete Laplace noise, by the sum over points; p(0) is tanh(t / 2)."""
    points = np.arange(-400, 400)
    loss = t * (np.abs(points - 1) - np.abs(points))
    return float(logsumexp((order - 1) * loss - t * np.abs(points)) + np.log(np.tanh(t / 2)))


def sup_of_renyi(p, q, omega=np.inf):
    orders = 1 + np.geomspace(1e-6, min(omega - 1, 1e4), 200_001)
    log_p, log_q = np.log(p)[:, None], np.log(q)[:, None]
    divergence = np.logaddexp.reduce(orders * log_p + (1 - orders) * log_q, axis=0) / (orders - 1)
    return (divergence / orders)[orders > 1.001].max()


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("k", [2, 3, 6, 8, 9, 46, 100])
def test_the_least_rho_of_randomised_response(epsilon, k):
    p = np.array([np.exp(epsilon), 1.0] + [1.0] * (k - 2))
    p /= p.sum()
    q = p[[1, 0, *range(2, k)]]
    exact = max(sup_of_renyi(p, q), (p * np.log(p / q)).sum())
    assert tight_rho(RandomisedResponse(epsilon, k)) == pytest.approx(exact, rel=1e-7)


def test_the_least_rho_of_other_releases():
    assert tight_rho(BoundedRange(1.0)) == pytest.approx(0.123302, abs=5e-7)
    assert tight_rho(BoundedRange(2.0)) == pytest.approx(0.474475, abs=5e-7)
    assert tight_rho(BoundedRange(4.0)) == pytest.approx(1.669850, abs=5e-7)
    for epsilon in (0.0499, 0.0501):  # where the series begins
        assert tight_rho(BoundedRange(epsilon)) == pytest.approx(epsilon**2 / 8 - epsilon**4 / 576, rel=1e-7)
    assert tight_rho(PermuteAndFlip(1.0)) == tight_rho(Claimed(PureDP(1.0))) == pytest.approx(np.tanh(0.5))
    assert tight_rho(Additive(Gaussian(2.0), 3.0)) == pytest.approx(9 / 8)
    assert tight_rho(Additive(Laplace(2.0))) == pytest.approx(0.5 + np.exp(-0.5) - 1)
    for sigma in (0.3, 2.0, 20.0):
        assert tight_rho(Additive(DiscreteGaussian(sigma=sigma), 2.0)) == pytest.approx(2 / sigma**2, rel=1e-14)
    for noise, shift, log_weight in LATTICES.values():  # below order 2, which decides for the discrete Gaussian
        orders = (1.0, *(1 + np.geomspace(1e-5, 0.1, 8)))
        exact = max(lattice(log_weight, shift, order) / order for order in orders)
        assert tight_rho(Additive(noise, shift), omega=1.1) == pytest.approx(exact, rel=1e-5)
    assert tight_rho(Claimed(ZCDP(0.3))) == 0.3
    assert tight_rho(Claimed(TCDP(0.3, 4.0))) == np.inf
    assert tight_rho(Claimed(TCDP(0.3, 4.0)), omega=4.0) == 0.3
    with pytest.raises(ValueError, match="valid"):
        tight_rho(Sampled(Additive(Gaussian(1.0)), 0.1))
    with pytest.raises(ValueError, match="omega > 1"):
        tight_rho(BoundedRange(1.0), omega=1.0)


def test_a_finite_omega_helps_k_ary_response_only_for_many_values():
    assert tight_rho(RandomisedResponse(1.0, 9), omega=1.2) < tight_rho(RandomisedResponse(1.0, 9))
    assert tight_rho(RandomisedResponse(1.0, 8), omega=1.2) == tight_rho(RandomisedResponse(1.0, 8))
    assert tight_rho(RandomisedResponse(1.0, 9), omega=1.5) == pytest.approx(tight_rho(RandomisedResponse(1.0, 9)))


def halved(is_left):
    """The last place between -60 and 60 that is on the left, to 25 digits."""
    low, high = mp.mpf(-60), mp.mpf(60)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    return low


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(1.5)])
@pytest.mark.parametrize("rate", [0.01, 0.6])
@pytest.mark.parametrize(("prior", "failure"), [(0.5, 0.01), (0.01, 0.4), (1e-4, 1e-7), (0.9, 0.95)])
def test_the_posterior_of_one_sample_is_that_at_a_quantile_of_the_output(noise, rate, prior, failure):
    """By roots in 30 digits, in both directions; the loss rises with the output, or falls with it."""
    with mp.workdps(30):
        s = mp.mpf(rate)

        def tail(x):
            return sf(noise, x)

        def with_record(x):
            return (1 - s) * tail(x) + s * tail(x - 1)

        def loss(x):
            return mp.log(((1 - s) * pdf(noise, x) + s * pdf(noise, x - 1)) / pdf(noise, x))

        up, down = halved(lambda x: with_record(x) > failure), halved(lambda x: tail(-x) < failure)
        largest = max(loss(up), -loss(down))
        odds = mp.mpf(prior) / (1 - mp.mpf(prior)) * mp.exp(largest)
        truth = odds / (1 + odds)
        low, _, high = Ledger([Sampled(Additive(noise), rate)], "add_remove").posterior(prior, failure)
        assert low <= float(truth) <= high
        assert high - low <= 1e-10 * high


def test_the_posterior_of_a_list_is_reached_by_that_of_one():
    """Two releases are composed on a grid, one is solved: the grid's bracket of one contains the solution."""
    release = Sampled(Additive(Gaussian(1.0)), 0.2)
    one, twice = (Ledger([(release, times)], "add_remove").posterior(0.3, 0.05) for times in (1, 2))
    assert one.upper < twice.lower
    split = Ledger([release], "add_remove") + Ledger([Sampled(Additive(Gaussian(1e6)), 0.2)], "add_remove")
    grid = split.posterior(0.3, 0.05)
    assert grid.lower - 1e-6 <= one.lower <= one.upper <= grid.upper + 1e-6
