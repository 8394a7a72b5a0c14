"""Privacy losses of keys, answers with smooth sensitivity, subsampled counts and answered bits, against other code.

Statistical tests allow five standard errors, a false alarm of 6e-7 each.
"""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, stats

from tcdp_sim.data.hard_records import hard_data
from tcdp_sim.mechanisms.interior_point import InteriorPoint
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.mechanisms.mean_concentrated import MeanConcentrated
from tcdp_sim.mechanisms.partition_selection import PartitionSelection
from tcdp_sim.mechanisms.pure_from_zcdp import PureFromZCDP
from tcdp_sim.mechanisms.smooth_sensitivity import SmoothSensitivity
from tcdp_sim.mechanisms.subsampled.histogram import SubsampledHistogram
from tcdp_sim.mechanisms.thresholds import Thresholds
from tcdp_sim.noise import DiscreteLaplace, Gaussian, Laplace, StudentT
from tcdp_sim.ordered.thresholds import Records
from tcdp_sim.privacy import ZCDP, ApproxDP
from tcdp_sim.selection.keys import OptimalApproxDP, ThresholdCurve

TRIALS = 100_000
COUNTS = np.array([9, 1, 4, 2])


def drawn(mechanism, seed=0):
    return mechanism.draw_losses(np.random.default_rng(seed), TRIALS)


def is_near(values, truth):
    assert abs(values.mean() - truth) <= 5 * values.std() / np.sqrt(TRIALS) + 1e-12, (values.mean(), truth)


def is_as_frequent(hits, chance):
    """Five standard errors, and ten trials more for rare events."""
    assert abs(hits.mean() - chance) <= 5 * np.sqrt(chance * (1 - chance) / TRIALS) + 10 / TRIALS, (hits.mean(), chance)


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
            is_as_frequent(same, chances[np.isclose(loss, each, rtol=1e-9) | (loss == each)].sum())
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


@pytest.mark.parametrize("method", ["tree_2", "tree_16", "square_root"])
def test_losses_of_trees_and_prefix_sums_are_normal(method):
    """A substituted record moves two nodes of each level, or one column: rho. The p-values are below 1e-6 so often."""
    tree = Thresholds(method, ZCDP(0.3), RECORDS)
    if method != "square_root":
        assert 2 * tree.plan.levels / (2 * tree.plan.scale**2) == pytest.approx(0.3)
    found = drawn(tree)
    for name, sign in ((LOSS, 1), (NEIGHBOUR, -1)):
        assert stats.kstest(found[name], stats.norm(sign * 0.3, np.sqrt(0.6)).cdf).pvalue > 1e-6


def test_losses_of_a_binary_search_are_those_of_its_elements():
    """The probability of each of 16 elements is a product over comparisons, written out by scipy."""
    records = Records([2, 5, 6, 9], [1, 1, 1, 1], 16)
    search = Thresholds("binary_search", ZCDP(1.0), records)
    scale = np.sqrt(4 / 2.0)

    def chance_of(values, element):
        low, found = 0, 1.0
        for width in (8, 4, 2, 1):
            left = stats.norm.sf(2 - 0.5, sum(x <= low + width - 1 for x in values), scale)
            right = element >= low + width
            found *= 1 - left if right else left
            low += width * right
        return found

    p, q = (np.array([chance_of(own, j) for j in range(16)]) for own in ([2, 5, 6, 9], [5, 6, 9, 15]))
    assert p.sum() == pytest.approx(1.0)
    found = drawn(search)
    loss = np.log(p / q)
    for name, chances in ((LOSS, p), (NEIGHBOUR, q)):
        for each in np.unique(loss.round(9)):
            chance = chances[np.isclose(loss, each, atol=1e-8)].sum()
            is_as_frequent(np.isclose(found[name], each, atol=1e-8), chance)


def test_losses_of_an_interior_point_are_those_of_all_elements():
    """The exponential mechanism over 16 elements, from the definition of the depth."""
    data = hard_data("pair", 6, 16)
    values = sorted(data)
    other = sorted([*values[1:], values[-1]])
    assert values != other
    point = InteriorPoint("exponential", ZCDP(1.0), "pair", 0, 4, 6, scale=1.2)

    def law(records):
        depth = [min(sum(x <= j for x in records), sum(x >= j for x in records)) for j in range(16)]
        weight = np.exp(0.6 * np.array(depth))
        return weight / weight.sum()

    p, q = law(values), law(other)
    found = drawn(point)
    is_near(found[LOSS], p @ np.log(p / q))
    is_near(found[NEIGHBOUR], q @ np.log(p / q))
    assert {*found[LOSS].round(9)} == {*np.log(p / q).round(9)}
    is_near(np.exp(-found[LOSS]), 1.0)
    is_near(np.exp(found[NEIGHBOUR]), 1.0)


def test_a_domain_that_no_float_holds_has_losses():
    point = InteriorPoint("exponential", ZCDP(1.0), "pair", 0, 5000, 1000, scale=2.0)
    found = point.draw_losses(np.random.default_rng(0), 1000)
    assert max(np.abs(each).max() for each in found.values()) <= 2.0


def test_interior_points_say_why():
    windows = Thresholds("medians_1", ZCDP(0.3), RECORDS)
    assert windows.unknown_loss in windows.unknown_losses


def test_losses_of_a_net_are_those_of_its_points():
    """The exponential mechanism on the means of the worst data set and of a neighbour, from its definition."""
    net = PureFromZCDP(n=30, rho=0.01, epsilon=1.0, values=4)
    total = net.worst_sum
    weights = [
        np.exp(-0.5 * net.records * np.abs(s / (3 * net.records) - net.net)) for s in (total, total + 3, total - 3)
    ]
    p, *others = (each / each.sum() for each in weights)
    q = max(others, key=lambda other: np.abs(np.log(p / other)).max())
    found = drawn(net)
    for name, chances in ((LOSS, p), (NEIGHBOUR, q)):
        is_near(found[name], chances @ np.log(p / q))
    is_near(np.exp(-found[LOSS]), 1.0)
    is_near(np.exp(found[NEIGHBOUR]), 1.0)
    assert np.abs(found[LOSS]).max() <= 1.0


def test_losses_of_answers_are_binomial():
    found = drawn(MeanConcentrated(answers=5, epsilon=0.8, cut=2))
    chance = np.exp(0.8) / (1 + np.exp(0.8))
    for name, p in ((LOSS, chance), (NEIGHBOUR, 1 - chance)):
        for ones in range(6):
            is_as_frequent(np.isclose(found[name], 0.8 * (2 * ones - 5)), stats.binom(5, p).pmf(ones))
