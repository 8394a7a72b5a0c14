"""Ledgers at deltas and epsilons near the largest loss, against sums over all outcomes and closed forms."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    BoundedRangePair,
    Claimed,
    Ledger,
    RandomisedResponse,
    Sampled,
)
from tcdp_sim.accounting.releases.range_law import RangeLoss
from tcdp_sim.exact import hockey_stick
from tcdp_sim.exact.losses import lists
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import delta_question, epsilon_question
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, TruncatedLaplace
from tcdp_sim.privacy import ApproxDP, PureDP


@pytest.mark.parametrize(
    ("releases", "total"),
    [
        ([Additive(Laplace(1.0))], 1.0),
        ([(Additive(Laplace(0.4), 3.0), 7)], 52.5),
        ([(Additive(Laplace(1.0)), 3), RandomisedResponse(0.5), Additive(DiscreteLaplace(2.0))], 4.0),
        ([Additive(DiscreteLaplace(0.3), 2.0), Claimed(PureDP(0.25))], 2 / 0.3 + 0.25),
        ([(RandomisedResponse(1e-4), 10**6)], 100.0),
    ],
)
def test_at_delta_zero_the_largest_losses_add_up(releases, total):
    low, _, high = Ledger(releases).epsilon(0.0)
    assert low <= total * (1 + 1e-15)
    assert high >= total * (1 - 1e-15)
    assert high - low <= 1e-9 * total


def test_at_delta_zero_a_sampled_laplace_release_has_its_closed_form():
    found = Ledger([(Sampled(Additive(Laplace(0.5)), 0.1), 4)], "add_remove").epsilon(0.0)
    truth = 4 * np.log1p(0.1 * np.expm1(2.0))
    assert found.lower <= truth * (1 + 1e-15)
    assert truth * (1 - 1e-15) <= found.upper <= truth + 1e-9


@pytest.mark.parametrize(
    "release",
    [Gaussian(1.0), DiscreteGaussian(2.0), TruncatedLaplace(1.0, 9.0), ApproxDP(1.0, 1e-300)],
)
def test_at_delta_zero_a_loss_without_a_bound_has_no_epsilon(release):
    entry = Claimed(release) if isinstance(release, ApproxDP) else Additive(release)
    assert Ledger([Additive(Laplace(1.0)), entry]).epsilon(0.0).upper == np.inf


def profile(outcomes, epsilon):
    """delta(epsilon) from all outcomes, each (loss, probability)."""
    return sum(chance * -mp.expm1(epsilon - loss) for loss, chance in outcomes if loss > epsilon)


def outcomes_of(laws):
    """Losses and probabilities of all outcomes of releases, each with its own (loss, probability)."""
    return [
        (mp.fsum(loss for loss, _ in outcome), mp.fprod(chance for _, chance in outcome)) for outcome in product(*laws)
    ]


def response(epsilon):
    epsilon = mp.mpf(epsilon)
    return [(epsilon, mp.exp(epsilon) / (1 + mp.exp(epsilon))), (-epsilon, 1 / (1 + mp.exp(epsilon)))]


def lattice_laplace(scale, shift):
    """The losses of discrete Laplace noise with its probabilities."""
    q, losses = mp.exp(-1 / mp.mpf(scale)), {}
    for y in range(-400, 401):
        loss = (abs(y - shift) - abs(y)) / mp.mpf(scale)
        losses[loss] = losses.get(loss, 0) + (1 - q) / (1 + q) * q ** abs(y)
    return list(losses.items())


EPSILONS = [0.1 * i for i in range(1, 13)]
LISTS = {
    "responses": ([RandomisedResponse(e) for e in EPSILONS], [response(e) for e in EPSILONS]),
    "lattices": (
        [(Additive(DiscreteLaplace(0.4), 2.0), 3), (Additive(DiscreteLaplace(1.3), 1.0), 2)],
        [lattice_laplace(0.4, 2)] * 3 + [lattice_laplace(1.3, 1)] * 2,
    ),
    "both": (
        [(Additive(DiscreteLaplace(0.07), 3.0), 2), (RandomisedResponse(0.21), 5), RandomisedResponse(3.0)],
        [lattice_laplace(0.07, 3)] * 2 + [response(0.21)] * 5 + [response(3.0)],
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_pure_releases_near_their_largest_loss_against_all_outcomes(name):
    releases, laws = LISTS[name]
    outcomes = outcomes_of(laws)
    top = max(loss for loss, _ in outcomes)
    ledger = Ledger(releases)
    for delta in (1e-300, 1e-30, 1e-12, 1e-7):
        low, _, high = ledger.epsilon(delta)
        # where the ends are closer than the rounding of the truth, only the truth at the ends tells
        assert profile(outcomes, mp.mpf(low) * (1 - mp.mpf("1e-15"))) >= delta
        assert profile(outcomes, mp.mpf(high) * (1 + mp.mpf("1e-15"))) <= delta
        assert high - low <= 1e-4 * high
    for below in (1e-6, 1e-3, 0.3):
        epsilon = float(top) * (1 - below)
        low, _, high = ledger.delta(epsilon)
        exact = profile(outcomes, mp.mpf(epsilon))
        assert low <= exact * (1 + mp.mpf("1e-8"))
        assert high >= exact * (1 - mp.mpf("1e-8"))
        assert high - low <= 1e-3 * high


@pytest.mark.parametrize("scale", [0.02, 0.2, 1.0])
def test_very_small_deltas_of_many_laplace_releases(scale):
    """All 25 losses are the largest ones with a chance of 2^-25, so delta(epsilon) >= 2^-25 (1 - e^(epsilon - top))."""
    found, top = Ledger([(Additive(Laplace(scale)), 25)]).epsilon(1e-300), 25 / scale
    assert found.lower <= top * (1 + 1e-15)
    assert top * (1 - 1e-15) <= found.upper <= top * (1 + 1e-11)
    assert found.lower >= top * (1 - 1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_a_peak_gives_ends_without_a_transform(seed, monkeypatch):
    """With a tolerance that is never met but no round, the ends come from the largest losses alone."""
    monkeypatch.setattr(lists, "_ROUNDS", 0)
    rng = np.random.default_rng(seed)
    kinds = []
    for times in (1, 2, 2):
        loss, lost = np.sort(rng.normal(0.3, 1.0, 3)), 0.01 * (seed % 2)
        mass = rng.dirichlet(np.ones(3)) * (1 - lost)
        kinds.append((AtomicLoss(loss, mass, (lost, lost)), times))
    outcomes = outcomes_of([list(zip(law.loss, law.mass)) for law, times in kinds for _ in range(times)])
    top = float(max(loss for loss, _ in outcomes))
    always = 1 - np.prod([(1 - law.infinite[0]) ** times for law, times in kinds])
    for epsilon in (max(top - 1e-3, 0.0), max(top - 0.4, 0.0)):
        exact = float(profile(outcomes, epsilon)) + always
        low, high = bracket(kinds, delta_question(epsilon, lambda high: 1e-16 * high))
        assert always < low <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= high < 1
        low, high = bracket(kinds, epsilon_question(exact, lambda high: 1e-16 * high))
        assert low <= epsilon * (1 + 1e-12)
        assert epsilon <= high
    close = always + 1e-9 * float(max(chance for loss, chance in outcomes if loss == max(outcomes)[0]))
    low, high = bracket(kinds, epsilon_question(close, lambda high: 1e-16 * high))
    assert high - low <= 1e-8


def test_delta_is_close_to_its_bound_if_almost_every_sum_is_the_largest(monkeypatch):
    monkeypatch.setattr(lists, "_ROUNDS", 0)
    law = AtomicLoss(np.array([-1.0, 1.0]), np.array([1e-9, 1 - 1e-9]))
    low, high = bracket([(law, 3)], delta_question(2.5, lambda high: 1e-16 * high))
    exact = (1 - 1e-9) ** 3 * -np.expm1(-0.5)
    assert low <= exact * (1 + 1e-14)
    assert exact * (1 - 1e-14) <= high
    assert high - low <= 1e-8


@pytest.mark.parametrize("epsilon", [0.2, 0.95, 1 - 1e-6])
def test_a_largest_loss_that_lies_below_an_infinite_one(epsilon):
    """Truncated Laplace noise has losses of at most 1 / scale, and infinite ones."""
    found = Ledger([Additive(TruncatedLaplace(1.0, 4.0))]).delta(epsilon)
    exact = hockey_stick(TruncatedLaplace(1.0, 4.0), 1.0, epsilon)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    around = Ledger([Additive(TruncatedLaplace(1.0, 4.0))]).epsilon(exact.estimate)
    assert around.lower <= epsilon * (1 + 1e-9)
    assert epsilon * (1 - 1e-9) <= around.upper


def test_the_direction_whose_losses_nearly_end_at_epsilon():
    """Removing the record has losses up to -20 log(1 - 0.05) = 1.026, just above epsilon. dp-accounting agrees."""
    found = Ledger([(Sampled(Additive(Gaussian(0.9)), 0.05), 20)], "add_remove").delta(1.0)
    for pessimistic in (False, True):
        one = pld.from_gaussian_mechanism(
            0.9, sampling_prob=0.05, value_discretization_interval=1e-4, pessimistic_estimate=pessimistic
        )
        theirs = one.self_compose(20).get_delta_for_epsilon(1.0)
        assert theirs >= found.lower if pessimistic else theirs <= found.upper
        assert theirs == pytest.approx(found.estimate, rel=2e-2)
    assert found.upper - found.lower <= 1e-3 * found.upper


@pytest.mark.parametrize("size", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-35])
def test_one_bounded_range_release_has_its_closed_form_up_to_the_largest_loss(size, delta):
    exact = 2 * mp.log(mp.exp(mp.mpf(size) / 2) - mp.sqrt(mp.mpf(delta) * mp.expm1(size)))
    low, _, high = Ledger([BoundedRange(size)]).epsilon(delta)
    assert low * (1 - 1e-14) <= exact <= high * (1 + 1e-14)
    assert high - low <= 1.001e-4 * high


def range_profile(size, epsilon):
    if abs(epsilon) >= size:
        return mp.mpf(0) if epsilon > 0 else 1 - mp.exp(epsilon)
    return (mp.exp(size / 2) - mp.exp(epsilon / 2)) ** 2 / mp.expm1(size)


@pytest.mark.parametrize("sizes", [(0.1, 0.3), (4.0, 1.0)])
@pytest.mark.parametrize("share", [0.1, 0.9, 0.999, 0.9999])
def test_two_class_pairs_of_bounded_range_by_quadrature_over_the_first_loss(sizes, share):
    """The engine composes the two laws. A ledger allows less, because no two releases attain them together."""
    one, other = map(mp.mpf, sizes)
    epsilon = share * sum(sizes)

    def over_first(loss):
        return mp.exp(loss / 2) / (4 * mp.sinh(one / 2)) * range_profile(other, epsilon - loss)

    kinks = sorted({min(max(place, -one), one) for place in (-one, epsilon - other, epsilon + other, one)})
    exact = mp.quad(over_first, kinks)
    laws = [(RangeLoss(size), 1) for size in sizes]
    low, high = bracket(laws, delta_question(epsilon, lambda high: 1e-3 * high))
    assert low <= exact <= high <= low * 1.0011
    low, high = bracket(laws, epsilon_question(float(exact), lambda high: 1e-4 * high))
    assert low <= epsilon * (1 + 1e-12)
    assert epsilon * (1 - 1e-12) <= high
    assert high - low <= 1.001e-4 * high


def best_second(first, second, epsilon):
    """delta of the adversary who chooses t for one release, and the best pair for the other one after its answer."""
    t = np.linspace(0.0, first, 4001)
    up = np.expm1(t) / np.expm1(first)

    def after(loss):
        spent = np.exp(epsilon - loss)
        inner = (np.exp(second / 2) - np.sqrt(np.minimum(spent, np.exp(second)))) ** 2 / np.expm1(second)
        return np.where(epsilon - loss <= -second, 1 - spent, inner)

    return ((1 - up) * after(t) + up * after(t - first)).max()


@pytest.mark.parametrize("sizes", [(0.1, 0.3), (4.0, 1.0), (0.8, 0.8), (2.0, 1.9)])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_two_bounded_range_releases_against_the_best_adversary(sizes, share):
    """The adversary is that of the better order. The product of the class pairs is no lower end: nobody attains it."""
    epsilon = share * sum(sizes)
    exact = max(best_second(*sizes, epsilon), best_second(*sizes[::-1], epsilon))
    low, _, high = Ledger([BoundedRange(size) for size in sizes]).delta(epsilon)
    assert low <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-6) <= high  # the grid over t
    assert low >= 0.97 * exact
    assert high <= 1.15 * exact


def test_many_unequal_bounded_range_releases_take_the_better_of_two_upper_ends():
    """Composed class pairs give 17.84, Renyi divergences 16.26, and a common share t / epsilon is attained."""
    sizes = np.linspace(0.9, 1.1, 30)

    def divergence(order):
        psi = (np.log(np.sinh(x / 2) / (x / 2)) for x in (order * sizes, (order - 1) * sizes, sizes))
        a, b, c = psi
        return ((order * a - (order - 1) * b - c) / (order - 1)).sum()

    orders = 1 + np.geomspace(0.05, 50, 400)
    usual = min(divergence(a) + np.log1p(-1 / a) + (np.log(1e6) - np.log(a)) / (a - 1) for a in orders)
    low, _, high = Ledger([BoundedRange(float(size)) for size in sizes]).epsilon(1e-6)
    pair = Ledger([BoundedRangePair(float(size), 0.66 * float(size)) for size in sizes], "add_remove").epsilon(1e-6)
    assert pair.lower * (1 - 2e-3) <= low <= high <= usual


@pytest.mark.parametrize("n", [2, 7, 40])
def test_at_delta_zero_bounded_range_adds_up_like_pure_dp(n):
    low, _, high = Ledger([(BoundedRange(1.0), n)]).epsilon(0.0)
    assert 0.985 * n <= low <= n <= high <= n * (1 + 1e-12)
