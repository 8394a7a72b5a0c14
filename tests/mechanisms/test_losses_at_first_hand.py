"""Privacy losses of keys, answers with smooth sensitivity, subsampled counts and answered bits, against other code.

Statistical tests allow five standard errors, a false alarm of 6e-7 each.
"""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, stats

from tcdp_sim.mechanisms import MeanConcentrated, PartitionSelection, SmoothSensitivity
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.mechanisms.subsampled.histogram import SubsampledHistogram
from tcdp_sim.noise import DiscreteLaplace, Gaussian, Laplace, StudentT
from tcdp_sim.partition_selection import OptimalApproxDP, ThresholdCurve
from tcdp_sim.privacy import ZCDP, ApproxDP
from tcdp_sim.thresholds import Records

TRIALS = 100_000
COUNTS = np.array([9, 1, 4, 2])


def drawn(mechanism, seed=0):
    return mechanism.draw_losses(np.random.default_rng(seed), TRIALS)


def is_near(values, truth):
    assert abs(values.mean() - truth) <= 5 * values.std() / np.sqrt(TRIALS) + 1e-12, (values.mean(), truth)


def mass(p, q):
    """Return the mass that Q has where P has some."""
    return q[p > 0].sum()


CURVES = {
    "laplace": ThresholdCurve(Laplace(1.5), 3.0, ">", 2),
    "at_least": ThresholdCurve(DiscreteLaplace(1.5), 3.0, ">=", 2),
    "optimal": OptimalApproxDP(0.5, 0.05, 2),
}


def of_threshold(name, n):
    """Return the probability that a key with n records is released, by scipy."""
    if n == 0:
        return 0.0
    return stats.laplace(n, 1.5).sf(3.0) if name == "laplace" else stats.dlaplace(1 / 1.5).sf(3 - n - 1)


@pytest.mark.parametrize("name", CURVES)
def test_losses_of_keys_are_those_of_all_sets_of_them(name):
    """A person with three keys leaves, who has up to two records at each: (1, 2, 4) become (0, 0, 2)."""
    curve = CURVES[name]
    keys = PartitionSelection(curve, ApproxDP(0.5, 0.1), COUNTS, keys_per_person=3)
    assert [each.tolist() for each in keys.moved] == [[1, 2, 4], [0, 0, 2]]
    law = (lambda n: curve.released(n)) if name == "optimal" else (lambda n: of_threshold(name, n))
    p, q = (np.array([float(law(n)) for n in own]) for own in ([1, 2, 4], [0, 0, 2]))
    sets = np.array(list(product([False, True], repeat=3)))
    p, q = (np.where(sets, one, 1 - one).prod(axis=1) for one in (p, q))
    with np.errstate(divide="ignore"):
        loss = np.log(p) - np.log(q)
    found = drawn(keys)
    for values, chances in ((found[LOSS], p), (found[NEIGHBOUR], q)):
        for each in np.unique(loss[chances > 0]):
            same = np.isclose(values, each, rtol=1e-9) | (values == each)
            is_near(same.astype(float), chances[np.isclose(loss, each, rtol=1e-9) | (loss == each)].sum())
    is_near(np.exp(-found[LOSS]), mass(p, q))
    is_near(np.exp(found[NEIGHBOUR]), mass(q, p))


def test_no_keys_have_no_loss():
    keys = PartitionSelection(CURVES["laplace"], ApproxDP(0.5, 0.1), np.array([], int), keys_per_person=3)
    assert all((values == 0).all() for values in drawn(keys).values())


RECORDS = Records([100, 400, 500, 600, 900], [1, 1, 1, 1, 1], 1024)


@pytest.mark.parametrize("noise", [StudentT(2.0, 3.0), Gaussian(2.0), Laplace(1.0)], ids=lambda each: each.family)
def test_losses_of_a_median_with_smooth_sensitivity(noise):
    """The two densities of the release are integrated by scipy."""
    median = SmoothSensitivity("median", ZCDP(0.5), RECORDS, 0.0, 0.0, noise, smoothing=0.5)
    places = (median.answer, median.sensitivity), median.neighbour
    assert (places[0][0], places[1][0]) in ((500, 600), (500, 400))
    assert places[0][1] != places[1][1]

    def density(place, y):
        answer, scale = place
        return noise.pdf((y - answer) / scale) / scale

    def mean(world, function):
        def integrand(y):
            p, q = (density(place, y) for place in places)
            return (p, q)[world] * function(np.log(p / q)) if min(p, q) > 0 else 0.0

        edges = [-np.inf, -3000, 0, 400, 500, 600, 1000, 4000, np.inf]
        return sum(integrate.quad(integrand, *ends, limit=200)[0] for ends in pairwise(edges))

    found = drawn(median)
    is_near(np.tanh(found[LOSS]), mean(0, np.tanh))
    is_near(np.tanh(found[NEIGHBOUR]), mean(1, np.tanh))
    is_near(np.maximum(1 - np.exp(0.1 - found[LOSS]), 0), mean(0, lambda loss: max(1 - np.exp(0.1 - loss), 0)))


def test_losses_of_a_mean_are_normal():
    """The greatest of five records goes to 0: 900/5 units of 1023/5. The p-values are below 1e-6 with this chance."""
    mean = SmoothSensitivity("mean_global", ZCDP(0.5), RECORDS, 0.0, 0.0, Gaussian(1.0))
    assert mean.neighbour == (mean.answer + 923 / 5, 1023 / 5)
    rho = 0.5 * (923 / 1023) ** 2
    found = drawn(mean)
    for name, sign in ((LOSS, 1), (NEIGHBOUR, -1)):
        assert stats.kstest(found[name], stats.norm(sign * rho, np.sqrt(2 * rho)).cdf).pvalue > 1e-6


def test_an_interior_point_says_why():
    median = SmoothSensitivity("median_interior_point", ZCDP(0.5), RECORDS, 0.0, 0.0, None)
    assert median.unknown_loss in median.unknown_losses


@pytest.mark.parametrize("fraction", [0.2, 1.0])
def test_losses_of_a_subsample_in_both_worlds(fraction):
    """E_Q[e^L] = 1, and both worlds give one profile, which scipy integrates."""
    histogram = SubsampledHistogram(Gaussian(1.0), ZCDP(0.5), COUNTS, 10.0, "poisson", fraction)
    found = histogram.simulate(np.random.default_rng(0), TRIALS) | drawn(histogram, 1)
    ratio = np.exp(found[NEIGHBOUR])
    is_near(ratio, 1.0)
    is_near(np.exp(-found[LOSS]), 1.0)
    with_one, without = stats.norm(1, 1).pdf, stats.norm(0, 1).pdf

    def gap(y):
        mixture = fraction * with_one(y) + (1 - fraction) * without(y)
        return max(mixture - np.exp(0.1) * without(y), 0)

    truth = integrate.quad(gap, -10, 12, limit=400)[0]
    is_near(np.maximum(1 - np.exp(0.1 - found[LOSS]), 0), truth)
    is_near(np.maximum(ratio - np.exp(0.1), 0), truth)


def test_a_threshold_of_a_subsample_says_why():
    histogram = SubsampledHistogram(Gaussian(1.0), ZCDP(0.5), COUNTS, 10.0, "poisson", 0.2, threshold=1.0)
    assert histogram.unknown_loss in histogram.unknown_losses


def test_losses_of_answers_are_binomial():
    found = drawn(MeanConcentrated(answers=5, epsilon=0.8, cut=2))
    chance = np.exp(0.8) / (1 + np.exp(0.8))
    for name, p in ((LOSS, chance), (NEIGHBOUR, 1 - chance)):
        for ones in range(6):
            is_near(np.isclose(found[name], 0.8 * (2 * ones - 5)).astype(float), stats.binom(5, p).pmf(ones))
