"""Privacy losses of noisy maxima and of sparse vector, against integrals by scipy and the draws of other code.

Statistical tests allow five standard errors, a false alarm of 6e-7 each.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from tcdp_sim.candidates import tries_of
from tcdp_sim.mechanisms.gap_max import GapMax
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.mechanisms.losses_of_selections import _SparseOutputs, leader_of_noisy_max
from tcdp_sim.mechanisms.private_candidates import PrivateCandidates
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.privacy import ZCDP, PureDP
from tcdp_sim.selection import Scores
from tcdp_sim.selection.baselines import SparseVector

TRIALS = 40_000


def is_near(values, truth):
    assert abs(values.mean() - truth) <= 5 * values.std() / np.sqrt(TRIALS) + 1e-12, (values.mean(), truth)


@pytest.mark.parametrize("gap", [0.0, 1.5, 9.0])
@pytest.mark.parametrize("k", [2, 40])
@pytest.mark.parametrize(
    ("noise", "law"),
    [(Gaussian(3.0), stats.norm(0, 3)), (Laplace(2.0), stats.laplace(0, 2))],
    ids=["gaussian", "laplace"],
)
def test_the_leader_wins_as_an_integral_says(noise, law, k, gap):
    def integrand(z):
        return law.pdf(z) * law.cdf(z + gap) ** (k - 1)

    ends = [-60.0, -gap, 0.0, 60.0] if gap else [-60.0, 0.0, 60.0]
    truth = sum(integrate.quad(integrand, *each, epsabs=1e-13)[0] for each in pairwise(ends))
    leads, fails = leader_of_noisy_max(noise, gap, k)
    assert leads == pytest.approx(truth, abs=1e-11)
    assert leads + fails == pytest.approx(1.0, abs=1e-12)


def test_rare_failures_keep_their_digits():
    """Two Gaussian scores: the leader loses with probability sf(gap / (3 sqrt 2))."""
    for gap in (30.0, 100.0):
        fails = leader_of_noisy_max(Gaussian(3.0), gap, 2)[1]
        assert fails == pytest.approx(stats.norm.sf(gap / (3 * np.sqrt(2))), rel=1e-9)


def sparse_chance(vector, at, scores, j):
    """Return the probability of the output j of sparse vector, by scipy; len(scores) is no answer."""
    bar, noise = (stats.laplace(0, law.scale) for law in (vector.threshold_noise, vector.score_noise))

    def integrand(t):
        stays = np.prod([noise.cdf(at + t - score) for score in scores[:j]])
        return bar.pdf(t) * stays * (noise.sf(at + t - scores[j]) if j < len(scores) else 1.0)

    ends = sorted([-150.0, 0.0, 150.0, *(score - at for score in {*scores})])
    return sum(integrate.quad(integrand, *each, epsabs=1e-12, limit=200)[0] for each in pairwise(ends))


@pytest.mark.parametrize("gap", [1.0, 9.0])
def test_losses_of_sparse_vector(gap):
    """The leader moves by one and the others the other way; the threshold is that of the data."""
    vector, k = SparseVector(0.7), 4
    mechanism = GapMax("sparse_vector", vector, PureDP(0.7), gap, float(k))
    at, rise = vector.balanced_threshold(gap, k), 1.0 if gap >= 2 else -1.0
    worlds = [0.0] * 3 + [gap], [rise] * 3 + [gap - rise]
    p, q = (np.array([sparse_chance(vector, at, scores, j) for j in range(k + 1)]) for scores in worlds)
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    for scores, chances in zip(worlds, (p, q)):
        law = _SparseOutputs(vector, at, scores[-1], scores[0], float(k))
        np.testing.assert_allclose(np.exp(law.log_chance(np.arange(k + 1.0))), chances, rtol=1e-8)
    found = mechanism.draw_losses(np.random.default_rng(0), TRIALS)
    loss = np.log(p / q)
    for name, chances in ((LOSS, p), (NEIGHBOUR, q)):
        for each, chance in zip(loss, chances):
            is_near(np.isclose(found[name], each, rtol=1e-6).astype(float), chance)
    assert np.abs(loss).max() <= 0.7


def test_sparse_vector_selects_as_its_law_says():
    """The draws of `SparseVector.select`, in which the others come first too, share no code with the law."""
    vector = SparseVector(2.0, at=5.0)
    law = _SparseOutputs(vector, 5.0, 9.0, 1.0, 50.0)
    chances = np.exp(law.log_chance(np.arange(51.0)))
    chosen = vector.select(Scores([9.0], others=49, sensitivity=1.0, level=1.0), TRIALS, rng=np.random.default_rng(1))
    for answer, chance in ((0, chances[49]), (1, chances[:49].sum()), (-1, chances[50])):
        is_near((chosen[:, 0] == answer).astype(float), chance)


def test_a_few_nodes_are_enough():
    """Outputs alone are integrated over the nodes that matter to them, and with the leader over all nodes."""
    law = _SparseOutputs(SparseVector(0.7), 20.0, 30.0, 0.0, 1e6)
    outputs = np.array([0.0, 3.0, 2000.0, 9e5])
    np.testing.assert_allclose(law.log_chance(outputs), law.log_chance(np.append(outputs, 1e6 - 1))[:-1], rtol=1e-12)
    for each in outputs:
        whole = law.log_chance(np.array([each, 1e6 - 1]))[0]
        assert law.log_chance(np.array([each]))[0] == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("k", [2.0, 1e6, 1e300])
def test_the_masses_of_both_worlds_are_one(k):
    mechanism = GapMax("sparse_vector", SparseVector(0.7), PureDP(0.7), 9.0, k)
    found = mechanism.draw_losses(np.random.default_rng(0), 10_000)
    for values in (np.exp(-found[LOSS]), np.exp(found[NEIGHBOUR])):
        assert abs(values.mean() - 1) <= 5 * values.std() / 100
    assert max(np.abs(each).max() for each in found.values()) <= 0.7


LACKS = np.array([0.0, 0.03, 0.05])  # of accuracy, so that 100 records give the scores 0, -3, -5


def candidates(method, tries=None, family=None, **parameters):
    return PrivateCandidates(method, LACKS, 100.0, ZCDP(1.0), parameters, tries, family)


@pytest.mark.parametrize("law", ["poisson", "geometric"])
def test_losses_of_the_best_of_random_runs(law):
    """The density of a candidate and its noisy score is summed over the numbers of runs, by scipy."""
    tries = tries_of(law, 4.0)
    mechanism = candidates(law, tries, scale=2.0)
    runs = np.arange(1, 400)
    chances = stats.poisson(4.0).pmf(runs) if law == "poisson" else stats.geom(0.25).pmf(runs)
    assert mechanism.neighbour_scores.tolist() == [-1, -2, -4]

    def density(scores, j, y):
        below = stats.norm.cdf(y, scores, 2.0).mean()
        return stats.norm.pdf(y, scores[j], 2.0) / 3 * (chances * runs * below ** (runs - 1)).sum()

    for j, y in ((0, 1.0), (2, -4.0), (1, 6.0)):
        one, two = (
            mechanism.log_density(scores, np.array([j]), np.array([y]))[0]
            for scores in (mechanism.scores, mechanism.neighbour_scores)
        )
        truth = np.log(density(mechanism.scores, j, y) / density(mechanism.neighbour_scores, j, y))
        assert one - two == pytest.approx(truth, rel=1e-9)
    found = mechanism.draw_losses(np.random.default_rng(0), TRIALS)
    is_near(np.exp(-found[LOSS]), 1.0)
    is_near(np.exp(found[NEIGHBOUR]), 1.0)
    none = (found[LOSS] == 0).mean()
    assert abs(none - (np.exp(-4.0) if law == "poisson" else 0.0)) <= 5 * np.sqrt(np.exp(-4.0) / TRIALS)


def test_losses_of_all_runs_are_normal():
    """Three scores move by one: 3 / (2 scale^2). The p-values are below 1e-6 with this chance."""
    found = candidates("all_runs", scale=3.0).draw_losses(np.random.default_rng(0), TRIALS)
    for name, sign in ((LOSS, 1), (NEIGHBOUR, -1)):
        assert stats.kstest(found[name], stats.norm(sign / 6, np.sqrt(1 / 3)).cdf).pvalue > 1e-6


def test_losses_of_a_chosen_candidate():
    mechanism = candidates("exponential_mechanism", epsilon=1.0)
    p, q = (np.exp(scores / 2) / np.exp(scores / 2).sum() for scores in (mechanism.scores, mechanism.neighbour_scores))
    found = mechanism.draw_losses(np.random.default_rng(0), TRIALS)
    is_near(found[LOSS], p @ np.log(p / q))
    is_near(found[NEIGHBOUR], q @ np.log(p / q))
    obvious = candidates("obvious_answer", family="gaussian", scale=1.0)
    found = obvious.draw_losses(np.random.default_rng(0), TRIALS)
    is_near(np.exp(-found[LOSS]), 1.0)
    is_near(np.exp(found[NEIGHBOUR]), 1.0)
    assert candidates("permute_and_flip", epsilon=1.0).unknown_loss in PrivateCandidates.unknown_losses
