"""Ledgers against closed forms, sums over all outcomes, inverse Laplace transforms and dp_accounting."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as google
from scipy.stats import binom

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    BoundedRangePair,
    Claimed,
    Distributions,
    Ledger,
    PermuteAndFlip,
    RandomisedResponse,
    Sampled,
    Thresholded,
)
from tcdp_sim.accounting.releases.additive import additive_loss
from tcdp_sim.accounting.table import in_words
from tcdp_sim.core.rounded import from_above
from tcdp_sim.exact import hockey_stick
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import epsilon_question
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.privacy import ApproxDP, PureDP

GAUSSIANS = [(1.5, 3), (2.0, 1), (7.0, 20), (30.0, 100)]  # sigma, times
MU = np.sqrt(sum(times / sigma**2 for sigma, times in GAUSSIANS))


def gaussian_delta(mu, epsilon):
    """delta(epsilon) of a Gaussian with mean shift mu, in 60 digits."""
    with mp.workdps(60):
        mu, epsilon = mp.mpf(float(mu)), mp.mpf(float(epsilon))
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def unequal_gaussians(relation=None):
    return Ledger([(Additive(Gaussian(sigma)), times) for sigma, times in GAUSSIANS], relation)


@pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-6, 1e-10, 1e-35, 1e-100, 1e-300])
def test_unequal_gaussians_are_one_gaussian(delta):
    low, _, high = unequal_gaussians().epsilon(delta)
    assert gaussian_delta(MU, low) >= delta >= gaussian_delta(MU, high)
    assert 0 < high - low <= 1e-4 * high


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0, 20.0, 40.0])
def test_delta_of_unequal_gaussians(epsilon):
    low, _, high = unequal_gaussians().delta(epsilon)
    assert low <= gaussian_delta(MU, epsilon) <= high
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize("mu", [1e-7, 1e-4, 0.01])
def test_small_losses_are_as_exact_as_large_ones(mu):
    low, _, high = Ledger([(Additive(Gaussian(2.0), mu), 4)]).epsilon(mu * 1e-3)
    assert gaussian_delta(mu, low) >= mu * 1e-3 >= gaussian_delta(mu, high)
    assert high - low <= 1e-4 * high


def test_very_many_releases():
    low, _, high = Ledger([(Additive(Gaussian(3000.0)), 10**7)]).epsilon(1e-6)
    mu = np.sqrt(10**7) / 3000
    assert gaussian_delta(mu, low) >= 1e-6 >= gaussian_delta(mu, high)
    assert high - low <= 1e-3 * high


def test_tolerances_are_met_and_brackets_shrink_towards_the_truth():
    ledger = unequal_gaussians()
    brackets = [ledger.epsilon(1e-6, tolerance) for tolerance in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)]
    for tolerance, (low, _, high) in zip((1e-2, 1e-3, 1e-4, 1e-5, 1e-6), brackets):
        assert high - low <= tolerance * high
        assert gaussian_delta(MU, low) >= 1e-6 >= gaussian_delta(MU, high)


def laplace_and_gaussian(scale, mu, epsilon):
    """delta of a Laplace and a Gaussian release together, by quadrature over the loss of the Laplace release."""
    with mp.workdps(30):
        e = 1 / mp.mpf(scale)

        def at(loss):
            return gaussian_delta_real(mu, mp.mpf(epsilon) - loss)

        ends = (at(e) + mp.exp(-e) * at(-e)) / 2
        middle = mp.quad(lambda loss: mp.exp((loss - e) / 2) / 4 * at(loss), [-e, 0, e])
        return ends + middle


def gaussian_delta_real(mu, epsilon):
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0, 6.0])
def test_laplace_and_gaussian_together(epsilon):
    ledger = Ledger([Additive(Laplace(2.0)), (Additive(Gaussian(2.0)), 4)])
    low, _, high = ledger.delta(epsilon)
    assert low <= laplace_and_gaussian(2.0, mp.mpf(1), epsilon) <= high
    assert high - low <= 1e-3 * high


FINITE = [
    (RandomisedResponse(0.7), [(0.7, np.exp(0.7) / (1 + np.exp(0.7))), (-0.7, 1 / (1 + np.exp(0.7)))], 0.0),
    (
        RandomisedResponse(1.1, 5),
        [(1.1, np.exp(1.1) / (4 + np.exp(1.1))), (0.0, 3 / (4 + np.exp(1.1))), (-1.1, 1 / (4 + np.exp(1.1)))],
        0.0,
    ),
    (Claimed(ApproxDP(0.4, 1e-3)), [(0.4, 0.999 / (1 + np.exp(-0.4))), (-0.4, 0.999 / (1 + np.exp(0.4)))], 1e-3),
    (Claimed(PureDP(0.25)), [(0.25, 1 / (1 + np.exp(-0.25))), (-0.25, 1 / (1 + np.exp(0.25)))], 0.0),
]


def brute(atoms, epsilon):
    """delta of independent releases, each (list of (loss, probability), probability of an infinite loss)."""
    finite = sum(
        np.prod([p for _, p in outcome]) * max(-np.expm1(epsilon - sum(loss for loss, _ in outcome)), 0.0)
        for outcome in product(*(law for law, _ in atoms))
    )
    return 1 - np.prod([1 - lost for _, lost in atoms]) + finite


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5, 3.9])
def test_finite_releases_against_all_outcomes(epsilon):
    times = [2, 2, 1, 2]
    ledger = Ledger([(release, count) for (release, _, _), count in zip(FINITE, times)])
    atoms = [(law, lost) for (_, law, lost), count in zip(FINITE, times) for _ in range(count)]
    low, _, high = ledger.delta(epsilon)
    exact = brute(atoms, epsilon)
    assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize(("epsilon", "delta", "n"), [(0.1, 1e-8, 40), (1.0, 0.0, 7), (0.5, 1e-3, 12)])
def test_equal_black_boxes_have_the_closed_form_of_kairouz_oh_and_viswanath(epsilon, delta, n):
    ledger = Ledger([(Claimed(ApproxDP(epsilon, delta) if delta else PureDP(epsilon)), n)])
    for e in epsilon * np.array([0.0, 0.5, 2.0, n / 2, n - 1]):
        j = np.arange(n + 1)
        loss = (2 * j - n) * epsilon
        mass = binom.pmf(j, n, 1 / (1 + np.exp(-epsilon)))
        kept = n * np.log1p(-delta)
        exact = -np.expm1(kept) + np.exp(kept) * (mass * np.maximum(-np.expm1(e - loss), 0.0))[loss > e].sum()
        low, _, high = ledger.delta(e)
        assert low * (1 - 1e-11) <= exact <= high * (1 + 1e-11)
        assert high - low <= 1e-8 * high + 1e-14  # the losses lie on the grid


def test_noise_on_a_lattice_against_all_outcomes():
    noise = LatticeNoise(0.0, tuple(-0.1 * np.arange(12.0) ** 2), 3.0)
    x = np.arange(-60, 61)
    p = noise.pdf(x)
    q = noise.pdf(x - 2.0)
    kept = (p > 1e-30) & (q > 0)
    law = list(zip(np.log(p[kept] / q[kept]), p[kept]))
    ledger = Ledger([(Additive(noise, 2.0), 2), RandomisedResponse(0.5)])
    response = [(0.5, 1 / (1 + np.exp(-0.5))), (-0.5, 1 / (1 + np.exp(0.5)))]
    for epsilon in (0.0, 1.0, 3.0):
        low, _, high = ledger.delta(epsilon)
        assert low * (1 - 1e-9) <= brute([(law, 0.0), (law, 0.0), (response, 0.0)], epsilon) <= high * (1 + 1e-9)


def sampled_delta(kinds, epsilon, forward):
    """delta of Poisson-sampled Gaussians, each (sigma, rate, times), by an inverse Laplace transform.

    delta = integral over Re z = c of M(z) e^(-z epsilon) / (z (z + 1)) over 2 pi i, by the trapezoid rule.
    """
    logs = []
    for sigma, rate, _ in kinds:
        x = np.linspace(-13.0, 15.0, 350) * sigma
        log_q = -0.5 * (x / sigma) ** 2
        loss = np.log1p(rate * np.expm1((x - 0.5) / sigma**2))
        loss, log_p = (loss, log_q + loss) if forward else (-loss, log_q)
        logs.append((loss, log_p - np.log(np.exp(log_p).sum())))

    def log_moment(z):
        parts = [
            times * np.log(np.exp(log_p + np.multiply.outer(z, loss)).sum(axis=-1))
            for (loss, log_p), (_, _, times) in zip(logs, kinds)
        ]
        return sum(parts)

    tilts = np.geomspace(0.3, 30, 300)
    c = tilts[np.argmin(log_moment(tilts) - tilts * epsilon)]
    step = 0.02
    z = c + 1j * step * np.arange(10_000)
    values = np.concatenate(
        [np.exp(log_moment(part) - part * epsilon) / (part * (part + 1)) for part in np.split(z, 20)]
    )
    return float((2 * values.sum() - values[0]).real * step / (2 * np.pi))


MIXED = [(0.9, 0.02, 30), (1.4, 0.1, 12), (3.0, 0.3, 5)]


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_unequal_sampled_gaussians_in_both_directions(epsilon):
    entries = [(Sampled(Additive(Gaussian(sigma)), rate), times) for sigma, rate, times in MIXED]
    exact = [sampled_delta(MIXED, epsilon, forward) for forward in (True, False)]
    low, _, high = Ledger(entries, "add_remove").delta(epsilon)
    assert low <= max(exact) * (1 + 1e-7)
    assert max(exact) * (1 - 1e-7) <= high
    assert min(exact) < low  # the directions differ


def test_directions_are_composed_before_the_worst_one_is_taken():
    """A release that is worse in one direction and one that is worse in the other."""
    one = Distributions([0.9, 0.1], [0.99, 0.01])
    other = Distributions([0.99, 0.01], [0.9, 0.1])
    ledger = Ledger([(one, 2), (other, 2)], "add_remove")
    p, q = np.array([0.9, 0.1]), np.array([0.99, 0.01])
    up, down = list(zip(np.log(p / q), p)), list(zip(np.log(q / p), q))
    forward = brute([(up, 0.0), (up, 0.0), (down, 0.0), (down, 0.0)], 0.5)
    low, _, high = ledger.delta(0.5)
    assert low <= forward <= high
    assert high < 0.9 * brute([(up, 0.0)] * 4, 0.5)  # the worst direction of every release, composed
    symmetrised = Ledger([(one, 2), (other, 2)], "substitute").delta(0.5)
    assert symmetrised.lower > 1.1 * high


@pytest.mark.parametrize("epsilon", [-1.0, -0.2, 0.0, 0.1, 0.4, 1.0])
def test_a_symmetrised_pair_has_the_larger_profile(epsilon):
    p, q = [0.5, 0.3, 0.15, 0.05, 0.0], [0.25, 0.3, 0.2, 0.24, 0.01]
    ledger = Ledger([Distributions(p, q)], "substitute")
    if epsilon >= 0:
        exact = max(sum(max(a - np.exp(epsilon) * b, 0) for a, b in zip(*way)) for way in ((p, q), (q, p)))
        low, _, high = ledger.delta(epsilon)
        assert low * (1 - 1e-11) <= exact <= high * (1 + 1e-11)


def test_the_order_of_the_list_and_splitting_counts_change_nothing():
    a, b = Additive(Gaussian(3.0)), Additive(Laplace(4.0))
    first = Ledger([(a, 5), (b, 3)]).epsilon(1e-5)
    for entries in ([(b, 3), (a, 5)], [(a, 2), (b, 1), (a, 3), (b, 2)], [a, a, a, a, a, b, b, b]):
        low, _, high = Ledger(iter(entries)).epsilon(1e-5)
        assert max(low, first.lower) <= min(high, first.upper)
    assert Ledger([(a, 5)]) + Ledger([(b, 3)]) == Ledger([(a, 5), (b, 3)])
    assert Ledger([a, (b, 2)]).times(4) == Ledger([(a, 4), (b, 8)])


def test_another_release_never_lowers_epsilon():
    ledger, before = Ledger(), 0.0
    for release in (
        RandomisedResponse(0.2),
        Additive(Gaussian(4.0)),
        Additive(TruncatedLaplace(1.5, 40.0)),
        BoundedRange(0.3),
    ):
        ledger = ledger + Ledger([release])
        low, _, high = ledger.epsilon(1e-6)
        assert high >= before
        before = low


def test_upper_ends_are_near_those_of_dp_accounting():
    theirs = google.from_gaussian_mechanism(3.0, value_discretization_interval=1e-4).self_compose(6)
    theirs = theirs.compose(google.from_laplace_mechanism(4.0, value_discretization_interval=1e-4).self_compose(4))
    low, _, high = Ledger([(Additive(Gaussian(3.0)), 6), (Additive(Laplace(4.0)), 4)]).epsilon(1e-6)
    bound = theirs.get_epsilon_for_delta(1e-6)
    assert low <= bound
    assert bound - high < 1e-2


@pytest.mark.parametrize("noise", [Laplace(1.3), SinhNormal(1.0, 2.0), TruncatedLaplace(1.5, 9.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.6])
def test_one_release_of_any_noise_has_its_own_profile(noise, epsilon):
    exact = hockey_stick(noise, 1.0, epsilon)
    low, _, high = Ledger([Additive(noise)]).delta(epsilon)
    assert low <= exact.upper
    assert exact.lower <= high
    assert high - low <= 1e-3 * high


def test_a_split_counts_the_worst_part_after_composing():
    common, big, small = Additive(Gaussian(4.0)), (Additive(Gaussian(2.0)), 2), Additive(Gaussian(3.0))
    for relation, mu in (("add_remove", np.sqrt(1 / 16 + 2 / 4)), ("substitute", np.sqrt(1 / 16 + 2 / 4 + 1 / 9))):
        ledger = Ledger([common], relation) + Ledger([small], relation).parallel(Ledger([big], relation))
        low, _, high = ledger.epsilon(1e-6)
        assert gaussian_delta(mu, low) >= 1e-6 >= gaussian_delta(mu, high)


def test_a_threshold_releases_new_keys_and_old_ones():
    ledger = Ledger([(Thresholded(Laplace(1.0), 9.0), 3)], "add_remove")
    shown = 0.5 * np.exp(-8.0)
    new = 1 - (1 - shown) ** 3
    old = Ledger([(Additive(Laplace(1.0)), 3)])
    for epsilon in (0.5, 2.0, 2.9, 2.9995):
        low, _, high = ledger.delta(epsilon)
        found = old.delta(epsilon)
        assert max(new, found.lower) <= high
        assert low <= max(new, found.upper)
    assert ledger.delta(2.9995).estimate == pytest.approx(new, rel=1e-9)


def outputs(count, least, threshold, comparison):
    """The law of the output for a key: its noisy count from -200 to 200, and 0 in the last place if it is hidden."""
    x = np.arange(-200, 201)
    pmf = np.exp(-np.abs(x - count) / 1.5)
    pmf /= pmf.sum()
    shown = (x > threshold) | ((x == threshold) & (comparison == ">="))
    shown = pmf * (shown & (count >= least))
    return np.append(shown, 1 - shown.sum())


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize(("least", "threshold"), [(1, 9.0), (4, 9.0), (4, 12.0)])
def test_keys_with_few_records_are_never_released(least, threshold, comparison):
    """All counts of the key with and without the record, by sums over the integers, in both directions."""
    release = Thresholded(DiscreteLaplace(1.5), threshold, comparison, least_records=least)
    ledger = Ledger([release], "add_remove")
    for epsilon in (0.0, 0.3, 0.7, 2.0):
        found = []
        for count in range(1, 40):
            p, q = (outputs(each, least, threshold, comparison) for each in (count, count - 1))
            found += [np.maximum(a - np.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p))]
        low, _, high = ledger.delta(epsilon, 1e-5)
        assert low * (1 - 1e-9) - 1e-14 <= max(found) <= high * (1 + 1e-9) + 1e-14


def test_under_substitution_one_key_is_left_and_another_is_entered():
    low, _, high = Ledger([Thresholded(Laplace(1.0), 9.0)], "substitute").delta(1.5)
    two_old = Ledger([(Additive(Laplace(1.0)), 2)]).delta(1.5)
    assert two_old.lower <= high
    assert low <= two_old.upper
    low, _, high = Ledger([Thresholded(Laplace(1.0), 9.0)], "substitute").delta(1.9999)
    shown = 0.5 * np.exp(-8.0)
    old = Ledger([Additive(Laplace(1.0))]).delta(1.9999 + np.log1p(-shown)).upper
    assert low <= shown + old
    assert high >= shown


@pytest.mark.parametrize(("relation", "epsilon"), [("add_remove", 0.025), ("add_remove", 0.95), ("substitute", 1.4)])
def test_a_record_with_several_keys_may_have_any_number_of_new_ones(relation, epsilon):
    """The worst number of new keys is taken after composing. The oracle sums over all outcomes."""
    noise, keys, times = DiscreteLaplace(2.0), 2, 1
    x = np.arange(-150, 151)
    p, q = noise.pdf(x), noise.pdf(x - 1.0)
    kept = (p > 1e-12) & (q > 1e-12)
    loss = np.round(np.log(p[kept] / q[kept]), 12)
    old = [(each, p[kept][loss == each].sum()) for each in np.unique(loss)]
    chance = noise.sf(2.0)  # P[1 + Z > 3]
    shown, hidden = ([(np.log1p(-chance), 1 - chance)], chance), ([(-np.log1p(-chance), 1.0)], 0.0)
    ledger = Ledger([(Thresholded(noise, 3.0, keys=keys), times)], relation)
    if relation == "add_remove":
        worlds = [[new] * j + [(old, 0.0)] * (keys - j) for j in range(keys + 1) for new in (shown, hidden)]
    else:
        numbers = product(range(keys + 1), repeat=2)
        worlds = [[shown] * i + [hidden] * j + [(old, 0.0)] * (2 * keys - i - j) for i, j in numbers]
    exact = max(brute(world, epsilon) for world in worlds)
    low, _, high = ledger.delta(epsilon)
    assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize("epsilon", [1e-5, pytest.param(3e-3, marks=pytest.mark.slow)])
def test_a_million_small_bounded_range_steps_are_nearly_gaussian(epsilon):
    """The variance of a loss is at most epsilon^2 / 4, and that of their sum is what matters for small epsilon."""
    low, _, high = Ledger([(BoundedRange(epsilon), 10**6)]).epsilon(1e-6)
    mu = 1000 * epsilon / 2
    gaussian = Ledger([Additive(Gaussian(1.0), mu)]).epsilon(1e-6)
    assert gaussian.lower * (1 - 5e-3) <= low <= high
    assert high <= low * (1 + 2e-2)


@pytest.mark.parametrize("mu", [1e-6, 0.03, 1.0, 60.0])
def test_gaussian_releases_are_added_up_before_composing(mu):
    """Gaussians of any two sizes are one Gaussian, in the ledger and in the engine that composes laws."""
    sizes = [(0.6 * mu / 5, 25), (0.8 * mu / 3, 9)]
    ledger = Ledger([(Additive(Gaussian(2.0), 2 * size), times) for size, times in sizes])
    laws = [(additive_loss(Gaussian(1.0), size), times) for size, times in sizes]
    for delta in (1e-3, 1e-12):
        engine = bracket(laws, epsilon_question(delta, lambda high: 1e-4 * max(high, 1e-9)))
        for low, high in (ledger.epsilon(delta)[::2], engine):
            assert gaussian_delta(mu, low * (1 - 1e-14)) >= delta or low == 0
            assert delta >= gaussian_delta(mu, high * (1 + 1e-14))
            assert high - low <= 1e-4 * high + 1e-13


def test_bounded_range_of_one_release_is_the_supremum_over_all_pairs():
    for epsilon, e in ((1.0, 0.3), (0.2, 0.05), (5.0, 2.0)):
        low, _, high = Ledger([BoundedRange(epsilon)]).delta(e)
        exact = (np.exp(epsilon / 2) - np.exp(e / 2)) ** 2 / np.expm1(epsilon)
        assert low <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= high
        t = np.linspace(0.001, 0.999, 999) * epsilon
        p = np.expm1(epsilon - t) / -np.expm1(-epsilon) * np.exp(t - epsilon)
        assert (p - np.exp(e - t) * p).max() <= high


@pytest.mark.parametrize(
    ("epsilon", "n", "least", "most"), [(0.5, 10, 3.565, 3.585), (0.1, 100, 2.244, 2.2525), (1.0, 30, 15.565, 15.69)]
)
def test_many_bounded_range_releases_are_between_a_common_pair_and_the_best_adversary(epsilon, n, least, most):
    low, _, high = Ledger([(BoundedRange(epsilon), n)]).epsilon(1e-6)
    assert least <= low <= high <= most
    for share in (0.3, 0.58, 0.66, 0.74, 0.9):
        pair = Ledger([(BoundedRangePair(epsilon, share * epsilon), n)], "add_remove")
        assert pair.epsilon(1e-6).lower <= high


def test_two_adaptive_bounded_range_releases_against_a_search_over_strategies():
    epsilon, e = 0.8, 0.5
    t = np.linspace(0.0, epsilon, 161)
    p = (np.exp(epsilon) - np.exp(t)) / np.expm1(epsilon)

    def one(a):
        values = p * np.maximum(1 - np.multiply.outer(a, np.exp(-t)), 0) + (1 - p) * np.maximum(
            1 - np.multiply.outer(a, np.exp(epsilon - t)), 0
        )
        return values.max(axis=-1)

    a = np.exp(e)
    best = max(p[i] * one(a * np.exp(-t[i])) + (1 - p[i]) * one(a * np.exp(epsilon - t[i])) for i in range(len(t)))
    high = Ledger([(BoundedRange(epsilon), 2)]).delta(e).upper
    assert best <= high <= best * 1.002


def test_permute_and_flip_lies_between_its_pair_and_pure_dp():
    low, _, high = Ledger([(PermuteAndFlip(1.0), 3)]).delta(1.0)
    assert high <= Ledger([(RandomisedResponse(1.0), 3)]).delta(1.0).upper
    r = np.exp(-1.0)
    law = [(np.log(2 - r), 1 - r / 2), (-1.0, r / 2)]
    back = [(1.0, 0.5), (-np.log(2 - r), 0.5)]
    assert max(brute([(law, 0.0)] * 3, 1.0), brute([(back, 0.0)] * 3, 1.0)) == pytest.approx(low, rel=1e-3)


def test_an_infinite_loss_and_delta_zero():
    lossy = Ledger([(Claimed(ApproxDP(0.5, 1e-3)), 3)])
    assert lossy.epsilon(1e-4) == (np.inf, np.inf, np.inf)
    assert lossy.epsilon(0.0).lower == np.inf
    assert lossy.epsilon(4e-3).upper < 1.5
    exact = Ledger([(RandomisedResponse(0.5), 3)]).epsilon(0.0)
    assert exact.lower <= 1.5 <= exact.upper <= 1.5 * (1 + 1e-14)
    assert Ledger([Additive(Gaussian(1.0))]).epsilon(0.0).upper == np.inf


def test_nothing_reveals_nothing():
    empty = Ledger()
    assert empty.epsilon(0.0) == (0, 0, 0)
    assert empty.delta(0.0) == (0, 0, 0)
    assert empty.tradeoff(0.3).lower == pytest.approx(0.7, abs=1e-15)
    assert empty.attack(0.2).upper == pytest.approx(0.8, abs=1e-15)
    assert empty.posterior(0.2, 0.5) == (0.2, 0.2, 0.2)


def test_a_delta_of_nearly_one_is_not_below_the_truth():
    """All mass counts here, so that mass lost between cells would show."""
    bounds = Ledger([(Additive(Gaussian(0.03652912)), 3)]).delta(425.5)
    assert bounds.upper >= 1 - 1e-15
    assert bounds.lower >= 1 - 1e-7


@pytest.mark.parametrize("times", [1, 2, 5])
def test_under_substitution_the_lower_end_of_an_ordered_pair_is_attained_by_some_orders(times):
    """The pair that dominates both orders is attained by none of them. It is an upper end only."""
    p, q = np.array([0.7, 0.2, 0.1]), np.array([0.5, 0.2, 0.3])
    up, down = list(zip(np.log(p / q), p)), list(zip(np.log(q / p), q))
    attained = max(brute([(up, 0.0)] * j + [(down, 0.0)] * (times - j), epsilon=0.0) for j in {0, times // 2, times})
    low, _, high = Ledger([(Distributions(p, q), times)], "substitute").delta(0.0)
    assert low <= max(brute([(up, 0.0)] * j + [(down, 0.0)] * (times - j), 0.0) for j in range(times + 1)) * (1 + 1e-12)
    assert low >= attained * (1 - 2e-3)
    assert high >= attained * (1 - 1e-12)


@pytest.mark.parametrize(
    ("words", "release"),
    [
        ("Additive(Gaussian(10), sensitivity=2)", Additive(Gaussian(10.0), 2.0)),
        ("Additive(DiscreteGaussian(20))", Additive(DiscreteGaussian(20.0))),
        ("RandomisedResponse(0.2, k=7)", RandomisedResponse(0.2, 7)),
        ("Claimed(ApproxDP(0.333333, 1e-09))", Claimed(ApproxDP(1 / 3, 1e-9))),
        ("Distributions(5 values, 5 values)", Distributions([0.2] * 5, [0.2] * 5)),
    ],
)
def test_a_table_names_releases_without_their_defaults(words, release):
    assert in_words(release) == words
    assert words in repr(Ledger([release], "add_remove"))
    assert words in Ledger([release], "add_remove")._repr_html_()


@pytest.mark.parametrize(
    ("value", "words"),
    [(1.00001, "1.001"), (0.123412, "0.1235"), (2.0, "2"), (0.1, "0.1"), (123456.0, "1.235e+05"), (3e-9, "3e-09")],
)
def test_printed_numbers_are_rounded_up(value, words):
    assert from_above(value) == words
