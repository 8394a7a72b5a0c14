"""Pairs of mixtures in a ledger: against the divergences of one release, sums over lattices, and other entries."""

from math import comb, exp, inf, log

import numpy as np
import pytest
from composed_pairs import composed_epsilon, composed_profile, hockey_stick_between, renyi_divergence_between
from scipy import stats

from tcdp_sim.accounting import Additive, Distributions, Ledger, MixturePair, Sampled
from tcdp_sim.exact import Mixture, subsampled
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, StudentT

TWO = Mixture(Gaussian(1.0), (0.0, 2.0), (0.5, 0.5)), Mixture(Gaussian(1.0), (1.0,))  # the loss falls and rises
BOUNDED = subsampled(DiscreteLaplace(1.0), 1.0, 0.5)


def ledger(pair, times=1, direction="both"):
    return Ledger([(MixturePair(*pair, direction), times)], "add_remove")


def overlap(one, other):
    assert one.lower <= other.upper
    assert other.lower <= one.upper


@pytest.mark.parametrize("noise", [Gaussian(1.2), Laplace(1.5)])
def test_a_sampled_release_is_one(noise):
    same = Ledger([(Sampled(Additive(noise), 0.1), 9)], "add_remove")
    pair = ledger(subsampled(noise, 1.0, 0.1), 9)
    assert pair.epsilon(1e-6) == same.epsilon(1e-6)
    assert pair.delta(0.3) == same.delta(0.3)
    assert pair.renyi(3.0) == same.renyi(3.0)
    assert pair.tradeoff(0.1) == same.tradeoff(0.1)


@pytest.mark.parametrize(
    "pair", [TWO, subsampled(StudentT(1.0, 3.0), 1.0, 0.3), subsampled(DiscreteGaussian(2.0), 1.0, 0.2)]
)
def test_one_release_has_the_divergences_of_its_laws(pair):
    for epsilon in (0.0, 0.1, 0.2):
        ways = [hockey_stick_between(*laws, epsilon) for laws in (pair, pair[::-1])]
        assert ledger(pair).delta(epsilon) == tuple(map(max, *ways))
        assert ledger(pair, direction="forward").delta(epsilon) == ways[0]
    found = ledger(pair).epsilon(max(way.estimate for way in ways))
    assert found.lower - 1e-3 <= 0.2 <= found.upper + 1e-3
    ways = [renyi_divergence_between(*laws, 1.5) for laws in (pair, pair[::-1])]
    assert ledger(pair).renyi(1.5).estimate == max(way.estimate for way in ways)
    assert ledger(pair, direction="forward").renyi(1.5).estimate == ways[0].estimate


def of_normals(x):
    """The densities of TWO."""
    return 0.5 * (stats.norm.pdf(x) + stats.norm.pdf(x, 2.0)), stats.norm.pdf(x, 1.0)


def of_sampled_t(x):
    """Noise with Student's t law, and a record that is drawn with probability 0.3."""
    law = stats.t(3)
    return 0.7 * law.pdf(x) + 0.3 * law.pdf(x - 1.0), law.pdf(x)


def of_sampled_integers(x):
    """Discrete Gaussian noise of scale 2 and a record that is drawn with probability 0.2, on a grid of integers."""
    at = np.rint(x)
    total = np.exp(-(np.arange(-60.0, 61.0) ** 2) / 8).sum()
    law, moved = np.exp(-(at**2) / 8) / total, np.exp(-((at - 1) ** 2) / 8) / total
    return 0.8 * law + 0.2 * moved, law


@pytest.mark.parametrize("epsilon", [0.0, 0.15])
@pytest.mark.parametrize(
    ("pair", "laws"),
    [
        (TWO, of_normals),
        (subsampled(StudentT(1.0, 3.0), 1.0, 0.3), of_sampled_t),
        (subsampled(DiscreteGaussian(2.0), 1.0, 0.2), of_sampled_integers),
    ],
)
def test_one_release_by_a_sum_over_a_fine_grid(pair, laws, epsilon):
    """The middles of cells of length 1/128, up to 400: the sum is right to 1e-5, also where a density is cut off."""
    step = 1 / 128
    p, q = laws(np.arange(-400, 400, step) + step / 2)
    ways = [step * np.maximum(one - exp(epsilon) * other, 0).sum() for one, other in ((p, q), (q, p))]
    assert ledger(pair).delta(epsilon).estimate == pytest.approx(max(ways), abs=1e-5)
    assert ledger(pair, direction="forward").delta(epsilon).estimate == pytest.approx(ways[0], abs=1e-5)


def test_a_loss_that_falls_and_rises_is_composed():
    pairs = [DominatingPair(((1.0, *laws),)) for laws in (TWO, TWO[::-1])]
    overlap(ledger(TWO, 5).epsilon(1e-6), composed_epsilon(pairs, 5, 1e-6))
    overlap(ledger(TWO, 5).delta(0.2), composed_profile(pairs, 5, 0.2))
    ours = ledger(TWO, 5).delta(0.2)
    assert ours.upper - ours.lower <= 1e-3 * ours.upper
    assert ledger(TWO, 5).renyi(2.0).estimate == pytest.approx(5 * ledger(TWO).renyi(2.0).estimate, rel=1e-12)
    assert ledger(TWO, 5).epsilon(0.0) == (inf, inf, inf)
    assert ledger(TWO, 5).attack(0.5).estimate > 0.5


def test_releases_on_a_lattice_are_sums_over_points():
    """Two loss values: log((1 + e) / 2) and its negative, as a response that is wrong with probability 1 / (1 + r)."""
    times, (p, q) = 6, BOUNDED
    points = np.arange(-60, 61, dtype=float)
    laws = np.exp(p.logpdf(points)), np.exp(q.logpdf(points))
    exact = Ledger([(Distributions(*(law / law.sum() for law in laws)), times)], "add_remove")
    overlap(ledger(BOUNDED, times).delta(0.3), exact.delta(0.3))
    overlap(ledger(BOUNDED, times).epsilon(1e-4), exact.epsilon(1e-4))
    largest = ledger(BOUNDED, times).epsilon(0.0)
    truth = times * log((1 + exp(1.0)) / 2)
    assert largest.lower <= truth <= largest.upper <= truth * (1 + 1e-9)
    mixed = Ledger([MixturePair(*BOUNDED), Additive(Gaussian(2.0))], "add_remove")
    assert mixed.epsilon(1e-4).lower >= ledger(BOUNDED).epsilon(1e-4).lower


def test_lattices_that_share_no_point_reveal_everything():
    noise = DiscreteGaussian(1.0)
    assert ledger((Mixture(noise), Mixture(noise, (0.5,))), 2).epsilon(0.5) == (inf, inf, inf)


def test_responses_are_a_binomial_sum():
    """Two spots that never meet, as noise on a lattice that is next to nothing."""
    noise, p, times = DiscreteLaplace(1e-2), 0.6, 7
    pair = Mixture(noise, (0, 1), (p, 1 - p)), Mixture(noise, (0, 1), (1 - p, p))
    k = np.arange(times + 1)
    ways = np.array([comb(times, i) for i in k])
    one, other = ways * p**k * (1 - p) ** (times - k), ways * p ** (times - k) * (1 - p) ** k
    assert ledger(pair, times).delta(0.3).estimate == pytest.approx(
        np.maximum(one - exp(0.3) * other, 0).sum(), rel=1e-3
    )


def test_equal_laws_reveal_nothing():
    assert ledger((TWO[0], TWO[0]), 3).epsilon(1e-6) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: MixturePair(TWO[0], 1.0), "q = 1.0 is not valid; valid: a Mixture"),
        (lambda: MixturePair(TWO[0], Mixture(Gaussian(2.0))), "valid: of the noise of p"),
        (lambda: MixturePair(*TWO, "backward"), "direction = 'backward' is not known; valid: both, forward"),
        (lambda: Ledger([MixturePair(*TWO)], "substitute"), "has no pair for relation = 'substitute'"),
        (lambda: Ledger([MixturePair(*TWO)]), "has no pair for relation = None"),
        (lambda: ledger(TWO).tradeoff(0.1), "neither rises nor falls with the output; valid: epsilon, delta"),
        (
            lambda: Ledger([MixturePair(*TWO), Additive(Gaussian(1.0))], "add_remove").delta(0.1),
            "is composed with no other release; valid: a ledger of its own",
        ),
    ],
)
def test_refusals_say_what_is_valid(call, said):
    with pytest.raises(ValueError, match="valid") as caught:
        call()
    assert said in str(caught.value)
