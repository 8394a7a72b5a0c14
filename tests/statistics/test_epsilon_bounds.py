"""Audits: what they find where the truth is known, how often they say too much, and planted faults.

Coverage is tested on repetitions where the claim is exactly true: were it 95% and no more, a fresh seed would give a
false alarm with probability 1e-6.
"""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import TCDP, to_approx_dp
from tcdp_sim.statistics import epsilon_bounds
from tcdp_sim.statistics.epsilon_bounds import epsilon_from_losses, epsilon_from_outputs

REPETITIONS = 600
MOST_MISSES = stats.binom(REPETITIONS, 0.05).isf(1e-6)


def rng(seed=1):
    return np.random.default_rng(seed)


def true_epsilon(noise, delta):
    return brentq(lambda e: exact.hockey_stick(noise, 1.0, e).estimate - delta, 0, 50, xtol=1e-13)


def losses(noise, generator, count):
    return noise.privacy_loss(noise.sample(count, rng=generator), 1.0)


# Power


def test_a_million_gaussian_losses_show_epsilon_to_within_4_percent():
    """The target: at least 4.2 where 4.377 is exact. How long it takes: the benchmark `audits`."""
    truth = true_epsilon(Gaussian(1.0), 1e-5)
    assert truth == pytest.approx(4.377, abs=5e-4)
    found = []
    for seed in range(5):
        drawn = losses(Gaussian(1.0), rng(seed), 10**6)
        found.append(epsilon_from_losses(drawn, 1e-5))
    assert min(found) >= 4.2
    assert max(found) <= truth


def test_a_million_outputs_show_an_epsilon_above_2_without_their_densities():
    generator = rng(3)
    first, second = (generator.normal(shift, 1, 10**6) for shift in (0, 1))
    found = epsilon_from_outputs(first, second, 1e-5)
    assert 2.5 <= found <= 4.377
    assert epsilon_from_outputs(second, first, 1e-5) == pytest.approx(found, abs=0.7)


@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("noise", [Gaussian(0.5), SinhNormal(0.6, 1.5)], ids=repr)
def test_bounds_close_in_on_the_truth(noise, delta):
    truth = true_epsilon(noise, delta)
    drawn = losses(noise, rng(5), 400_000)
    coarse, fine = epsilon_from_losses(drawn[:4000], delta), epsilon_from_losses(drawn, delta)
    assert coarse <= fine <= truth
    assert fine >= truth - 0.07 * max(truth, 1)


def test_more_confidence_shows_less():
    drawn = losses(Gaussian(1.0), rng(6), 20_000)
    found = [epsilon_from_losses(drawn, 1e-3, level) for level in (0.5, 0.9, 0.99, 1 - 1e-9)]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4


def test_laplace_noise_is_seen_to_be_pure():
    """At delta = 0 every loss that occurs refutes all smaller epsilons; none above 1 / scale ever does."""
    drawn = losses(Laplace(2.0), rng(7), 200_000)
    assert epsilon_from_losses(drawn, 0) == pytest.approx(0.5, rel=1e-4)
    assert epsilon_from_losses(drawn, 0) <= 0.5
    generator = rng(8)
    one, other = (Laplace(2.0).sample(10**5, rng=generator) for _ in range(2))
    found = epsilon_from_outputs(one, 1 + other, 0)
    assert 0.4 <= found <= 0.5


def test_infinite_losses():
    """Mass 0.01 that the neighbour cannot give: no epsilon at delta = 1e-3, and nothing shown at delta = 0.1."""
    drawn = np.where(np.arange(10_000) % 100 == 0, np.inf, 0.0)
    assert epsilon_from_losses(drawn, 1e-3) == np.inf
    assert epsilon_from_losses(drawn, 0.1) == 0
    assert epsilon_from_losses(drawn, 0) == np.inf


def test_equal_outputs_show_nothing():
    assert epsilon_from_losses(np.zeros(1000), 1e-5) == 0
    assert epsilon_from_losses(np.full(1000, -np.inf), 1e-5) == 0
    assert epsilon_from_outputs(np.ones(1000), np.ones(1000), 1e-5) == 0


@pytest.mark.parametrize("delta", [0, 1e-3])
def test_rounding_many_losses_gives_a_65536th_away_at_most(monkeypatch, delta):
    drawn = losses(Gaussian(1.0), rng(9), 200_000)
    rounded = epsilon_from_losses(drawn, delta)
    monkeypatch.setattr(epsilon_bounds, "CELLS", 10**9)
    whole = epsilon_from_losses(drawn, delta)
    assert whole - 2**-16 * drawn.max() <= rounded < whole


# Coverage


@pytest.mark.parametrize("delta", [1e-1, 1e-2])
@pytest.mark.parametrize("noise", [Gaussian(0.7), Laplace(0.5), SinhNormal(1.0, 2.0)], ids=repr)
def test_bounds_from_losses_are_seldom_too_large(noise, delta):
    truth, generator = true_epsilon(noise, delta), rng(10)
    found = [epsilon_from_losses(losses(noise, generator, 600), delta) for _ in range(REPETITIONS)]
    assert sum(bound > truth for bound in found) <= MOST_MISSES
    assert np.median(found) > 0


def test_coverage_where_a_loss_is_infinite_with_probability_delta():
    noise, generator = TruncatedLaplace(1.0, 3.0), rng(11)
    delta = float(noise.sf(2.0))  # the outputs in [-3, -2)
    assert exact.hockey_stick(noise, 1.0, 1.0).estimate == pytest.approx(delta)
    found = [epsilon_from_losses(losses(noise, generator, 600), delta) for _ in range(REPETITIONS)]
    assert sum(bound > 1.0 for bound in found) <= MOST_MISSES
    found = [epsilon_from_losses(losses(noise, generator, 3000), delta / 3) for _ in range(20)]
    assert np.inf in found


@pytest.mark.parametrize(("noise", "delta"), [(Gaussian(0.7), 1e-2), (Laplace(0.5), 1e-2), (Laplace(0.5), 0)])
def test_bounds_from_outputs_are_seldom_too_large(noise, delta):
    truth, generator = true_epsilon(noise, delta) if delta else 1 / noise.scale, rng(12)
    found = [
        epsilon_from_outputs(noise.sample(800, rng=generator), 1 + noise.sample(800, rng=generator), delta)
        for _ in range(REPETITIONS)
    ]
    assert sum(bound > truth for bound in found) <= MOST_MISSES
    assert np.median(found) > 0


def test_coverage_of_outputs_that_are_yes_or_no():
    """Randomised response at its exact epsilon: the best event is known, so this is as tight as it gets."""
    truth, generator = np.log(0.75 / 0.25), rng(13)
    found = [
        epsilon_from_outputs(generator.random(2000) < 0.75, generator.random(2000) < 0.25, 0)
        for _ in range(REPETITIONS)
    ]
    assert 1 <= sum(bound > truth for bound in found) <= MOST_MISSES
    assert np.median(found) > 0.9


def misses(level, count, chance, loss, truth):
    """How often the bound from `count` losses, each `loss` with this chance and else 0, is above the truth: exactly."""
    delta = chance * -np.expm1(truth - loss)
    hits = np.arange(count + 1)
    found = [epsilon_from_losses(np.where(hits[:count] < k, loss, 0.0), delta, level) for k in hits]
    return stats.binom(count, chance).pmf(hits)[np.array(found) > truth * (1 + 1e-9)].sum()


@pytest.mark.parametrize("level", [0.2, 0.5, 0.95])
@pytest.mark.parametrize("count", [5, 20])
def test_bounds_from_losses_of_two_values_by_enumeration(level, count):
    """All outcomes: no more misses than promised. A stake counted five times misses in 99% at a level of 0.2."""
    for chance in (0.1, 0.3, 0.6):
        assert misses(level, count, chance, 1.0, 0.5) <= 1 - level


@pytest.mark.parametrize(("count", "hits", "delta"), [(100, 30, 0.05), (1000, 20, 0.001), (50, 50, 0.2)])
def test_the_bound_from_losses_is_where_the_gambler_wins_twenty_times_his_stake(count, hits, delta):
    """Five bets with a fifth of the stake each, losses of 2 or 0: his wealth written out, with literal bets."""
    unit = np.sqrt(2 * np.log(20) / (count * delta))
    bets = [min(factor * unit, 0.5 / delta) for factor in (0.5, 1, 2, 4, 8)]

    def wealth(epsilon):
        x = 1 - np.exp(epsilon - 2)
        return sum((1 + b * (x - delta)) ** hits * (1 - b * delta) ** (count - hits) for b in bets) / 5

    truth = brentq(lambda epsilon: wealth(epsilon) - 20, 0, 2)
    assert epsilon_from_losses(np.where(np.arange(count) < hits, 2.0, 0.0), delta) == pytest.approx(truth, abs=1e-8)


def outputs(chosen, tested):
    """A sample whose every fourth value, those that choose the event, are these, and the others those."""
    x = np.empty(len(chosen) + len(tested))
    x[::4] = chosen
    x[np.arange(len(x)) % 4 > 0] = tested
    return x


def test_the_bound_from_outputs_has_both_ends_at_half_the_doubt():
    """Of 30 and 36 outputs 27 and 4 are in the event: scipy's beta quantiles at 2.5%, and at 0.5%."""
    first = outputs(np.ones(10), np.arange(30) < 27)
    second = outputs(np.zeros(12), np.arange(36) < 4)
    for level, tail in ((0.95, 0.025), (0.99, 0.005)):
        low, high = stats.beta(27, 4).ppf(tail), stats.beta(5, 32).isf(tail)
        for delta in (0, 0.1):
            expected = np.log((low - delta) / high)
            assert epsilon_from_outputs(first, second, delta, level) == pytest.approx(expected, rel=1e-9)
            assert epsilon_from_outputs(second, first, delta, level) == pytest.approx(expected, rel=1e-9)


def test_the_event_is_tested_on_outputs_that_did_not_choose_it():
    """Where the choosing quarter looks guilty and the rest is even, nothing is shown."""
    even = np.arange(120) % 2
    first, second = outputs(np.ones(40), even), outputs(np.zeros(40), even)
    assert epsilon_from_outputs(first, second, 0) == 0
    guilty = epsilon_from_outputs(outputs(np.ones(40), np.ones(120)), outputs(np.zeros(40), np.zeros(120)), 0)
    assert guilty == pytest.approx(np.log(0.025 ** (1 / 120) / (1 - 0.025 ** (1 / 120))), rel=1e-9)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.8, 0.2), (0.9, 0.6)])
def test_bounds_from_outputs_of_two_values_by_enumeration(p, q):
    """All 10 x 10 outcomes of 9 tested outputs each; the choosing three look as guilty as can be."""
    truth, hits = np.log(max(p / q, (1 - q) / (1 - p))), np.arange(10)
    for level in (0.5, 0.8, 0.95):
        missed = 0.0
        for k, chance in zip(hits, stats.binom(9, p).pmf(hits)):
            for m, other in zip(hits, stats.binom(9, q).pmf(hits)):
                first, second = outputs(np.ones(3), np.arange(9) < k), outputs(np.zeros(3), np.arange(9) < m)
                missed += chance * other * (epsilon_from_outputs(first, second, 0, level) > truth + 1e-12)
        assert missed <= 1 - level


# Planted faults


@pytest.mark.parametrize("claimed", [Gaussian(1.0), SinhNormal(1.5, 6.0), Laplace(0.5)], ids=repr)
def test_noise_of_half_the_scale_is_flagged(claimed):
    """From outputs alone: nobody tells the auditor what the noise is. The right scale is not flagged."""
    delta = 1e-5
    epsilon, generator = true_epsilon(claimed, delta), rng(14)
    for factor, flagged in ((0.5, True), (1.0, False)):
        first = factor * claimed.sample(200_000, rng=generator)
        second = 1 + factor * claimed.sample(200_000, rng=generator)
        assert (epsilon_from_outputs(first, second, delta) > epsilon) == flagged


def test_a_threshold_release_that_forgets_counts_equal_to_the_threshold_is_flagged():
    """A cell of one record, discrete Laplace noise, withheld unless it reaches the threshold.

    The claimed delta is P[1 + Z > threshold]; the release is of 1 + Z >= threshold, which the neighbour without the
    cell never makes. The exact delta is e^epsilon times as large.
    """
    epsilon, threshold, count = 1.0, 6, 200_000
    p = -np.expm1(-epsilon)

    def tail(least):
        return np.exp(-epsilon * least) / (1 + np.exp(-epsilon))  # P[Z >= least], least >= 1

    claimed, actual = tail(threshold), tail(threshold - 1)
    assert claimed == pytest.approx(stats.dlaplace(epsilon).sf(threshold - 1))
    assert actual == pytest.approx(np.e * claimed)
    generator = rng(15)
    noisy = 1 + generator.geometric(p, count) - generator.geometric(p, count)
    absent = np.full(count, -np.inf)
    assert epsilon_from_outputs(np.where(noisy >= threshold, noisy, -np.inf), absent, claimed) > epsilon
    assert epsilon_from_outputs(np.where(noisy > threshold, noisy, -np.inf), absent, claimed) <= epsilon
    assert epsilon_from_outputs(np.where(noisy >= threshold, noisy, -np.inf), absent, actual) <= epsilon


def test_the_false_rule_for_poisson_subsampling_is_flagged():
    """Gaussian noise of rho = 1/2 on a tenth of the records: (s^2 rho, omega)-tCDP with the base's omega = 20 is false.

    An integral shows by how much, a simulation of the sampling and the noise shows that too, and both flag the claim.
    """
    s, rho, omega, delta = 0.1, 0.5, 20.0, 1e-5
    claimed = to_approx_dp(TCDP(s * s * rho, omega), delta).epsilon
    assert claimed < 0.71

    def ratio(x):  # of the densities with and without the record; the record moves the mean by 1
        return 1 + s * np.expm1(x - 0.5)

    def profile(epsilon):
        start = 0.5 + np.log1p(np.expm1(epsilon) / s)
        return integrate.quad(lambda x: stats.norm.pdf(x) * (ratio(x) - np.exp(epsilon)), start, start + 12)[0]

    assert profile(claimed) > 50 * delta
    order = omega - 1e-9
    moment = integrate.quad(lambda x: np.exp(stats.norm.logpdf(x) + order * np.log(ratio(x))), -15, 40)[0]
    assert np.log(moment) / (order - 1) > 10 * s * s * rho * order
    generator = rng(16)
    y = generator.normal(size=200_000) + (generator.random(200_000) < s)  # the record is in the sample, or not
    found = epsilon_from_losses(np.log(ratio(y)), delta)
    assert claimed < found < brentq(lambda e: profile(e) - delta, claimed, 5)
    assert epsilon_from_outputs(y, generator.normal(size=200_000), delta) > claimed


# Bad input


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([1.0, np.nan], 0.1), "losses is not valid"),
        (([], 0.1), "losses is not valid"),
        ((np.ones((2, 2)), 0.1), "losses is not valid"),
        (([1.0, 2.0], 1.0), "delta = 1 "),
        (([1.0, 2.0], -0.1), "delta = -0.1"),
        (([1.0, 2.0], np.nan), "delta = nan"),
        (([1.0, 2.0], 0.1, 1.0), "level = 1 "),
        (([1.0, 2.0], 0.1, 0.0), "level = 0 "),
    ],
)
def test_bad_input_is_named(arguments, said):
    with pytest.raises(ValueError, match=said):
        epsilon_from_losses(*arguments)
    values, *rest = arguments
    with pytest.raises(ValueError, match=said.replace("losses", "first")):
        epsilon_from_outputs(values, [1.0, 2.0], *rest)
