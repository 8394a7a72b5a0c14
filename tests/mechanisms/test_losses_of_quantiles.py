"""Privacy losses of private quantiles: densities against sums over grids, and identities of the two worlds.

Statistical tests allow five standard errors, a false alarm of 6e-7 each.
"""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.mechanisms.losses_of_quantiles import log_density, neighbour_of
from tcdp_sim.mechanisms.quantiles import Quantiles
from tcdp_sim.ordered.quantiles import AboveThreshold, FromPrefixSums, Independent, Joint, Line, Recursive, TreeSearch
from tcdp_sim.privacy import ZCDP, PureDP

TRIALS = 40_000
REALS = Line([1.0, 2.5, 2.5, 5.0, 7.0], 8, "reals")
INTEGERS = Line([0, 2, 2, 5, 7], 8, "integers")
RELATIONS = ("add_remove", "substitute")
LEVELS = (1 / 3, 2 / 3)


def drawn(method, line, seed=0):
    return Quantiles(method, line, 0.1).draw_losses(np.random.default_rng(seed), TRIALS)


def is_near(values, truth):
    assert abs(values.mean() - truth) <= 5 * values.std() / np.sqrt(TRIALS), (values.mean(), truth)


def density(method, line, point):
    """Return the density of one output up to a constant, from its definition."""
    below, upto = (np.array([sum(test(x, z) for x in line.values) for z in point]) for test in (np.less, np.less_equal))
    if isinstance(method, Joint):
        counts = np.diff([0, *upto, line.n])
        return np.exp(-method.eta * np.abs(counts - line.n * method.shares).sum()) * (point[0] < point[1])
    targets = line.n * np.array(method.levels)
    return np.exp(-method.eta @ np.maximum(np.maximum(targets - upto, below - targets), 0))


def grid(line):
    """Return outputs that stand for equal shares of the domain: all integers, or middles between the records."""
    return np.arange(8.0) if line.kind == "integers" else (np.arange(32) + 0.5) / 4


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("kind", "line"), [(Independent, REALS), (Independent, INTEGERS), (Joint, REALS)])
def test_losses_are_those_of_the_densities(kind, line, relation):
    method = kind.of(LEVELS, relation, PureDP(2.0))
    other = neighbour_of(line, relation)
    points = np.array([each for each in product(grid(line), repeat=2) if kind is Independent or each[0] < each[1]])
    p, q = (np.array([density(method, each, point) for point in points]) for each in (line, other))
    if kind is Independent:
        p, q = p / p.sum(), q / q.sum()
        loss = np.log(p / q)
        given = points.astype(line.values.dtype)
        np.testing.assert_allclose(
            log_density(method, line)(given) - log_density(method, other)(given), loss, rtol=1e-12, atol=1e-12
        )
    else:
        p, q, loss = ordered(method, line, other, points, p, q)
    found = drawn(method, line)
    is_near(found[LOSS], p @ loss)
    is_near(found[NEIGHBOUR], q @ loss)
    is_near(np.exp(-found[LOSS]), 1.0)
    is_near(np.exp(found[NEIGHBOUR]), 1.0)
    assert np.abs(np.concatenate(list(found.values()))).max() <= 2.0 + 1e-12  # pure DP


def ordered(method, line, other, points, p, q):
    """Return the laws of pairs of cells, of which those with equal cells have half the area."""
    cells = grid(line)
    equal = np.stack([cells, cells + 1e-9], axis=1)
    points, area = np.concatenate([points, equal]), np.append(np.ones(len(points)), np.full(len(equal), 0.5))
    p, q = (
        np.append(law, [density(method, each, point) for point in equal]) * area
        for law, each in ((p, line), (q, other))
    )
    p, q = p / p.sum(), q / q.sum()
    return p, q, np.log(p / q)


def test_neighbours():
    assert neighbour_of(REALS, "add_remove").values.tolist() == [0.0, 1.0, 2.5, 2.5, 5.0, 7.0]
    assert neighbour_of(INTEGERS, "substitute").values.tolist() == [2, 2, 5, 7, 7]
    top = neighbour_of(Line([3, 2**63], 2**64, "integers"), "substitute").values
    assert top.tolist() == [2**63, 2**64 - 1]


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_pair_attains_the_range_of_a_selection(relation):
    """The range of the losses, and not epsilon itself, is what the guarantee of a selection bounds."""
    method = Independent.of((0.25,), relation, PureDP(1.0))
    line = Line(np.arange(1.0, 40.0), 40, "reals")
    assert np.ptp(drawn(method, line)[LOSS]) == pytest.approx(method.epsilon, rel=1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", [TreeSearch, FromPrefixSums])
def test_losses_of_gaussian_counts_are_normal(kind, relation):
    """Their mean is rho and their variance 2 rho; the p-values are below 1e-6 with this chance."""
    more = (REALS,) if kind is TreeSearch else ("square_root", 8)
    found = drawn(kind.of(LEVELS, relation, ZCDP(0.3), *more), REALS)
    for name, mean in ((LOSS, 0.3), (NEIGHBOUR, -0.3)):
        assert stats.kstest(found[name], stats.norm(mean, np.sqrt(0.6)).cdf).pvalue > 1e-6


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_density_of_a_recursion_is_that_of_its_outputs(relation):
    """The density of pairs, integrated over cells of a grid, against the frequencies of the method's own draws."""
    method, fine = Recursive.of(LEVELS, relation, PureDP(3.0)), 400
    middle = (np.arange(fine) + 0.5) * 8 / fine
    pairs = np.array([(a, b) for a, b in product(middle, repeat=2) if a < b])
    chances = np.exp(log_density(method, REALS)(pairs)) * (8 / fine) ** 2
    assert chances.sum() == pytest.approx(1.0, abs=0.02)  # the cells on the diagonal are left out
    cells = np.floor(pairs) @ [8, 1]
    law = np.bincount(cells.astype(int), chances, 64)
    outputs = method.sample(REALS, TRIALS, rng=np.random.default_rng(2))
    hits = np.bincount((np.floor(outputs) @ [8, 1]).astype(int), minlength=64) / TRIALS
    sides = [a * 8 + b for a, b in product(range(8), repeat=2) if a < b]  # without the diagonal
    assert (np.abs(hits - law)[sides] <= 5 * np.sqrt(law[sides] / TRIALS) + 10 / TRIALS).all()
    found = drawn(method, REALS)
    is_near(np.exp(-found[LOSS]), 1.0)
    is_near(np.exp(found[NEIGHBOUR]), 1.0)
    assert np.abs(np.concatenate(list(found.values()))).max() <= 3.0 + 1e-9


def test_other_methods_say_why():
    for method in (Recursive, Joint, AboveThreshold):
        mechanism = Quantiles(method.of(LEVELS, "substitute", PureDP(0.3)), INTEGERS, 0.1)
        assert mechanism.unknown_loss in mechanism.unknown_losses
