"""Privacy losses that mechanisms draw beside their errors, against closed forms, sums and the exact output laws."""

import numpy as np
import pytest
from scipy import integrate, stats

from tcdp_sim import exact
from tcdp_sim.mechanisms import Histogram, losses
from tcdp_sim.mechanisms.cdf import Cdf
from tcdp_sim.mechanisms.gap_max import GapMax, _permute_and_flip, outputs
from tcdp_sim.noise import DiscreteLaplace, Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.noise.dithered_lattice import DitheredLattice
from tcdp_sim.ordered.prefix_sums import SquareRoot, Tree
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP
from tcdp_sim.selection import (
    GeneralizedHistogram,
    NoisyMax,
    ObviousAnswer,
    Stability,
    exponential_mechanism,
    permute_and_flip,
)

TRIALS = 100_000
ONE = np.array([1])


def drawn(mechanism, seed=0):
    return mechanism.draw_losses(np.random.default_rng(seed), TRIALS)


@pytest.mark.parametrize("sign", [1, -1])
def test_losses_of_gaussian_histograms_are_normal(sign):
    """Two bins: mean 1/sigma^2 = rho on the data, -rho on the neighbour, variance 2 rho. False alarm: 1e-6 each."""
    name = losses.LOSS if sign > 0 else losses.NEIGHBOUR
    values = drawn(Histogram(Gaussian(2.0), ZCDP(0.25), ONE, 100.0))[name]
    assert stats.kstest(values, stats.norm(sign * 0.25, np.sqrt(0.5)).cdf).pvalue > 1e-6


def test_losses_of_outputs_are_logs_of_ratios_and_outputs_that_nobody_draws_do_not_matter():
    """The third output is impossible in both worlds, the last one on one of them."""
    p, q = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.125, 0.625, 0.0, 0.25])
    found = losses.of_outputs(p, q, np.array([0, 1, 1]), np.array([3, 1, 0]))
    assert found[losses.LOSS] == pytest.approx([np.log(4), np.log(0.8), np.log(0.8)], rel=1e-15)
    assert found[losses.NEIGHBOUR] == pytest.approx([-np.inf, np.log(0.8), np.log(4)], rel=1e-15)


def test_a_single_bin_reveals_nothing():
    found = drawn(Histogram(Gaussian(2.0), ZCDP(0.25), ONE, 1.0))
    assert all((values == 0).all() for values in found.values())


@pytest.mark.parametrize("noise", [Laplace(1.5), DiscreteLaplace(1.5)], ids=["laplace", "discrete_laplace"])
@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 0.9])
def test_losses_in_both_worlds_give_one_profile(noise, epsilon):
    """delta = E_P[(1 - e^(epsilon - L))_+] = E_Q[(e^L - e^epsilon)_+], two means of draws, and a double sum.

    Five standard errors: 6e-7 each.
    """
    found = drawn(Histogram(noise, PureDP(4 / 3), ONE, 10.0))
    under_p = np.maximum(1 - np.exp(epsilon - found[losses.LOSS]), 0)
    under_q = np.maximum(np.exp(found[losses.NEIGHBOUR]) - np.exp(epsilon), 0)
    truth = two_bins(noise, epsilon)
    for sample in (under_p, under_q):
        assert abs(sample.mean() - truth) <= 5 * sample.std() / np.sqrt(TRIALS)


def two_bins(noise, epsilon):
    """Return delta of two bins, one up and one down, by a sum or an integral of the densities themselves."""
    if noise.is_discrete:
        z = np.arange(-60, 61)
        f = {move: stats.dlaplace(1 / 1.5).pmf(z - move) for move in (-1, 0, 1)}
        return np.maximum(np.outer(f[0], f[0]) - np.exp(epsilon) * np.outer(f[1], f[-1]), 0).sum()
    z = np.linspace(-40, 40, 4001)  # a multiple of the step lies at each kink
    f = {move: stats.laplace(move, 1.5).pdf(z) for move in (-1, 0, 1)}
    density = np.maximum(np.outer(f[0], f[0]) - np.exp(epsilon) * np.outer(f[1], f[-1]), 0)
    return integrate.trapezoid(integrate.trapezoid(density, z), z)


def test_losses_without_bound_are_infinite_as_often_as_outputs_are_impossible():
    """Truncated noise: the neighbour cannot give an output beyond its end in either bin; five standard errors."""
    noise = TruncatedLaplace(2.0, 6.0)
    loss = drawn(Histogram(noise, ApproxDP(1.0, 0.1), ONE, 10.0))[losses.LOSS]
    chance = 1 - noise.cdf(5.0) ** 2
    assert abs(np.isinf(loss).mean() - chance) <= 5 * np.sqrt(chance * (1 - chance) / TRIALS)


ALGORITHMS = {
    "obvious_answer": ObviousAnswer(Gaussian(3.0)),
    "stability": Stability(Laplace(2.0), 0.01),
    "exponential_mechanism": exponential_mechanism(0.7),
    "permute_and_flip": permute_and_flip(0.7),
    "generalized_histogram": GeneralizedHistogram(SinhNormal(2.0, 5.0)),
    "noisy_max_laplace": NoisyMax(Laplace(4.0)),
    "noisy_max_gaussian": NoisyMax(Gaussian(3.0)),
    "dithered": GeneralizedHistogram(DitheredLattice(0.0, (-1.0, -1.6, -2.5), 0.3)),
}
ARGUMENTS = {"obvious_answer": Gaussian(3.0), "stability": Laplace(2.0), "generalized_histogram": SinhNormal(2.0, 5.0)}
ARGUMENTS |= {"noisy_max_laplace": Laplace(4.0), "noisy_max_gaussian": Gaussian(3.0)}
ARGUMENTS |= {"dithered": ALGORITHMS["dithered"].noise}


@pytest.mark.parametrize("k", [2.0, 7.0, 1e4, 1e30])
@pytest.mark.parametrize("gap", [0.0, 0.5, 2.0, 9.0, 200.0])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_probabilities_of_outputs_are_the_exact_ones(name, gap, k):
    delta = 0.01 if name == "stability" else None
    named = "noisy_max" if name.startswith("noisy_max") or name == "dithered" else name
    pair = exact.output_pair(named, ARGUMENTS.get(name, 0.7), k, gap, gap, delta=delta)
    np.testing.assert_allclose(outputs(name, ALGORITHMS[name], gap, k), pair.p.estimate[:2], rtol=1e-9)


@pytest.mark.parametrize("k", [2, 5, 12])
def test_permute_and_flip_fails_as_the_visits_say(k):
    """The mean over the place of the leader of the chance that somebody before it is accepted."""
    for other in (1e-9, 1e-6, 1e-3, 0.2, 1.0):
        truth = np.mean([-np.expm1(before * np.log1p(-other)) if other < 1 else before > 0 for before in range(k)])
        assert _permute_and_flip(other, float(k))[1] == pytest.approx(truth, rel=1e-10)


@pytest.mark.parametrize("gap", [1.0, 9.0])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_outputs_come_as_often_as_their_ratio_says(name, gap):
    """The frequencies of a run against the closed form, in both worlds; five standard errors."""
    selection = GapMax(name, ALGORITHMS[name], PureDP(0.7), gap, 20.0)
    found = drawn(selection)
    p, q = (outputs(name, ALGORITHMS[name], each, 20.0) for each in (gap, gap + 2 if gap < 2 else gap - 2))
    for values, law in ((found[losses.LOSS], p), (found[losses.NEIGHBOUR], q)):
        leads = np.isclose(values, np.log(p[0] / q[0]))
        assert np.isclose(values[~leads], np.log(p[1] / q[1])).all()
        assert abs(leads.mean() - law[0]) <= 5 * np.sqrt(law[0] * (1 - law[0]) / TRIALS) + 1e-12


class Plain(Gaussian):
    """A noise class whose privacy loss is the difference of log densities, which loses digits."""

    gives_loss = False


@pytest.mark.parametrize(
    ("case", "mechanism"),
    {
        "": GapMax("permute_and_flip", permute_and_flip(1.0), PureDP(1.0), 3.0, 20.0, m=1),
        "m above 1": GapMax("exponential_mechanism", exponential_mechanism(1.0), PureDP(2.0), 3.0, 20.0, m=2),
        "rows that move by unequal amounts": Cdf(Laplace(1.0), PureDP(1.0), SquareRoot(16, "add_remove")),
        "a noise without privacy_loss": Histogram(Plain(1.0), ZCDP(1.0), ONE, 10.0),
    }.items(),
)
def test_what_has_no_law_says_why(case, mechanism):
    assert mechanism.unknown_loss == case
    assert not case or case in mechanism.reasons_without_losses()


def test_losses_of_trees():
    """A record moves one row in each noisy level of a tree, so the mean is that many times one."""
    tree = Tree(8, "add_remove", 2)
    loss = drawn(Cdf(Laplace(2.0), PureDP(2.0), tree))[losses.LOSS]
    one = exact.PrivacyLossDistribution(Laplace(2.0), 1.0).mean().estimate
    assert abs(loss.mean() - tree.unit_shifts * one) <= 5 * loss.std() / np.sqrt(TRIALS)
    gaussian = drawn(Cdf(Gaussian(2.0), ZCDP(0.125), tree))[losses.LOSS]
    assert stats.kstest(gaussian, stats.norm(0.125, 0.5).cdf).pvalue > 1e-6
