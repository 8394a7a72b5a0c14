"""Independent, joint and recursive selections against brute force: their laws, and the range of their losses.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

from itertools import combinations_with_replacement, pairwise
from math import factorial, log, prod

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chisquare

from tcdp_sim.accounting import BoundedRange, Ledger
from tcdp_sim.ordered.quantiles import Independent, Joint, Line, Recursive
from tcdp_sim.ordered.quantiles.budget import epsilon_share
from tcdp_sim.ordered.quantiles.log_sums import laplace_sums
from tcdp_sim.ordered.quantiles.method import even_levels
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP
from tcdp_sim.privacy.least_rho import bounded_range_rho

RECORDS = [1.0, 1.5, 4.0, 4.0, 7.5]  # of two equal records, the gap between has length 0
SEVERAL = (0.2, 0.5, 0.9)


def distance(records, z, level):
    """How far the target is from the interval of ranks of z."""
    below, upto = sum(x < z for x in records), sum(x <= z for x in records)
    return max(below - level * len(records), level * len(records) - upto, 0)


def joint_score(records, outputs, levels, eta):
    """The log-density of JointExp at these outputs, up to a constant."""
    counts = np.diff([0, *(sum(x <= z for x in records) for z in sorted(outputs)), len(records)])
    return -eta * np.abs(counts - len(records) * np.diff([0, *levels, 1])).sum()


@pytest.mark.parametrize("eta", [0.3, 40.0])
@pytest.mark.parametrize("target", [0.0, 0.4, 1.0, 2.5, 6.0, 60.0])
def test_sums_by_their_logarithms(target, eta):
    for n in (1, 2, 7, 23):
        logs = 9 * np.random.default_rng(n).standard_normal(n)
        logs[n // 2] = -np.inf
        terms = [[logs[h] - eta * abs(i - h - target) for h in range(i)] for i in range(n)]
        with np.errstate(divide="ignore"):
            expected = [np.logaddexp.reduce(each) if each else -np.inf for each in terms]
        assert np.allclose(laplace_sums(logs, target, eta), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", ["reals", "integers"])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_a_single_selection_has_the_density_of_its_definition(relation, kind):
    line = Line(RECORDS, 12, kind)
    method = Independent.of((0.3,), relation, PureDP(1.5))
    eta = 1.5 / (2 * (0.7 if relation == "add_remove" else 1.0))
    records = line.values.tolist()
    if kind == "reals":
        edges = [0.0, 1.0, 1.5, 4.0, 7.5, 12.0]
        mass = [quad(lambda z: np.exp(-eta * distance(records, z, 0.3)), a, b)[0] for a, b in pairwise(edges)]
    else:
        edges = np.arange(13)
        mass = [np.exp(-eta * distance(records, z, 0.3)) for z in range(12)]
    out = method.sample(line, 40_000, rng=np.random.default_rng(2))[:, 0].astype(float)
    seen = np.histogram(out, bins=edges)[0]
    assert chisquare(seen, 40_000 * np.array(mass) / sum(mass)).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_joint_selections_have_the_weights_of_all_tuples_of_gaps(epsilon):
    line = Line(RECORDS, 12, "reals")
    method = Joint.of(SEVERAL, "add_remove", PureDP(epsilon))
    shares = np.diff([0, *SEVERAL, 1])
    assert method.eta == pytest.approx(epsilon / (4 * (1 - shares.min())))
    weights = {}
    for gaps in combinations_with_replacement(range(6), 3):
        volume = prod(line.gaps[list(gaps)]) / prod(factorial(gaps.count(i)) for i in set(gaps))
        counts = np.diff([0, *gaps, 5])
        weights[gaps] = volume * np.exp(-method.eta * np.abs(counts - 5 * shares).sum())
    rng, logs = np.random.default_rng(3), np.log(np.maximum(line.gaps, 1e-300))
    parts = [
        method.draw_gaps(logs, trials, rng=rng) for trials in (39_900, *range(1, 12), 34)
    ]  # 6 is the number of gaps
    drawn = np.concatenate(parts)
    total = sum(weights.values())
    possible = [gaps for gaps, weight in weights.items() if weight > 1e-4 * total]
    seen = [int((drawn == gaps).all(axis=1).sum()) for gaps in possible]
    expected = np.array([weights[gaps] for gaps in possible]) / total * 40_000
    rest = 40_000 - sum(seen), 40_000 - expected.sum()
    assert chisquare([*seen, rest[0]], [*expected, rest[1]]).pvalue > 1e-6
    assert not (drawn == 3).any()  # the empty gap between equal records


def test_numbers_of_trials_and_gaps_may_be_equal():
    """Trials on as many gaps as there are trials have the law of any others."""
    line, method = Line([2.0, 3.0, 4.0, 5.0, 6.0], 8, "reals"), Joint.of(even_levels(4), "substitute", PureDP(4.0))
    rng = np.random.default_rng(9)
    few = np.concatenate([method.sample(line, 6, rng=rng) for _ in range(1000)])
    many = method.sample(line, 6000, rng=rng)
    assert np.abs(few.mean(axis=0) - many.mean(axis=0)).max() < 5.5 * 8 / np.sqrt(12 * 3000)


def test_outputs_of_joint_selections_are_uniform_in_their_gaps():
    line = Line([8.0], 16, "reals")
    out = Joint.of((0.5,), "substitute", PureDP(1.0)).sample(line, 20_000, rng=np.random.default_rng(4))[:, 0]
    assert chisquare(np.histogram(out, bins=16, range=(0, 16))[0]).pvalue > 1e-6


def test_joint_selections_of_integers_spread_ties():
    """All records are equal: every quantile is that element, unless the noise prefers the empty rest."""
    line = Line([5] * 60, 256, "integers")
    out = Joint.of((0.25, 0.5, 0.75), "substitute", PureDP(40.0)).sample(line, 200, rng=np.random.default_rng(4))
    assert (out == 5).mean() > 0.98


def recursion_density(records, k, outputs, method):
    """The log-density of AQ at these distinct outputs, computed by recursion from its description."""

    def node(low, high, inner, indices):
        if not indices:
            return 0.0
        at = len(indices) // 2
        middle = indices[at]
        levels = (0.0, *method.levels, 1.0)
        outer = (indices[0], indices[-1] + 2)
        share = (levels[middle + 1] - levels[outer[0]]) / (levels[outer[1]] - levels[outer[0]])
        matching = [each for nodes in method.nodes for each in nodes if each.middle == middle + 1]
        eta = method.eta(matching[0])
        edges = [low, *sorted(inner), high]
        weights = [(b - a) * np.exp(-eta * abs(i - share * len(inner))) for i, (a, b) in enumerate(pairwise(edges))]
        z = outputs[middle]
        rank = sum(x <= z for x in inner)
        here = -eta * abs(rank - share * len(inner)) - log(sum(weights))
        left, right = [x for x in inner if x <= z], [x for x in inner if x > z]
        return here + node(low, z, left, indices[:at]) + node(z, high, right, indices[at + 1 :])

    return node(0.0, float(k), list(records), list(range(method.m)))


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_recursive_selections_have_the_density_of_their_description(m):
    """The density integrates to one, and probabilities of outputs in gaps are those of the simulation."""
    line = Line([1.0, 2.5, 4.0, 7.5], 8, "reals")
    method = Recursive.of(even_levels(m), "add_remove", PureDP(3.0))
    rng = np.random.default_rng(5)
    drawn = method.sample(line, 4000, rng=rng)
    assert (np.diff(drawn, axis=1) >= 0).all()
    # importance weights of uniform ascending outputs against the density: their mean is one
    flat = np.sort(8 * rng.random((20_000, m)), axis=1)
    density = np.exp([recursion_density(line.values, 8, z, method) for z in flat]) * 8**m / factorial(m)
    assert abs(density.mean() - 1) < 5.5 * density.std() / np.sqrt(len(density))
    for j in range(m):
        weighed, seen = density * flat[:, j], drawn[:, j]
        error = np.hypot(weighed.std() / np.sqrt(len(flat)), seen.std() / np.sqrt(len(drawn)))
        assert abs(weighed.mean() - seen.mean()) < 5.5 * error


def test_the_nodes_of_a_recursion():
    method = Recursive.of(even_levels(7), "substitute", PureDP(3.0))
    assert [[node.middle for node in nodes] for nodes in method.nodes] == [[4], [2, 6], [1, 3, 5, 7]]
    assert {node.share for nodes in method.nodes for node in nodes} == {0.5}
    assert method.epsilon == 1.0
    for m in (1, 2, 3, 4, 7, 8, 99, 120):
        recursion = Recursive.of(even_levels(m), "add_remove", PureDP(1.0))
        assert len(recursion.nodes) == recursion.rounds
        assert sorted(node.middle for nodes in recursion.nodes for node in nodes) == list(range(1, m + 1))


def neighbours(relation):
    """Pairs of data sets: a record beside, between and beyond the others."""
    base = [2.0, 2.5, 3.0, 3.5, 3.8, 4.2, 4.5, 5.0, 5.2, 5.4, 5.7, 6.0, 6.5, 6.6]
    if relation == "add_remove":
        return [(base, sorted([*base, x])) for x in (0.5, 4.0, 7.5)]
    return [(base, sorted([*base[:i], *base[i + 1 :], x])) for i, x in ((0, 7.5), (13, 0.5), (2, 2.6))]


def loss_range(densities):
    """The length of the range of losses."""
    losses = np.array([first - second for first, second in densities])
    return losses.max() - losses.min()


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.8])
def test_losses_of_single_selections_have_the_promised_range(relation, level):
    method = Independent.of((level,), relation, PureDP(1.0))
    places, ranges = np.linspace(0.05, 7.95, 80), []
    for pair in neighbours(relation):
        scores = [[-method.eta[0] * distance(data, z, level) for z in places] for data in pair]
        ranges.append(loss_range(zip(*scores)))
    assert max(ranges) <= 1.0 + 1e-12
    assert max(ranges) > 0.99  # no larger eta would do


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_losses_of_joint_selections_have_the_promised_range(relation):
    method = Joint.of((0.25, 0.5, 0.75), relation, PureDP(1.0))
    outputs = list(combinations_with_replacement(np.linspace(0.05, 7.95, 22), 3))
    ranges = [
        loss_range(
            (joint_score(a, z, method.levels, method.eta), joint_score(b, z, method.levels, method.eta))
            for z in outputs
        )
        for a, b in neighbours(relation)
    ]
    assert max(ranges) <= 1.0 + 1e-12
    assert max(ranges) > 0.7


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_losses_of_recursions_stay_within_epsilon(relation):
    method = Recursive.of((0.2, 0.5, 0.9), relation, PureDP(1.0))
    rng, worst = np.random.default_rng(6), 0.0
    outputs = np.sort(8 * rng.random((2500, 3)), axis=1)
    for a, b in neighbours(relation):
        losses = [recursion_density(a, 8, z, method) - recursion_density(b, 8, z, method) for z in outputs]
        worst = max(worst, np.abs(losses).max())
    assert worst <= 1.0 + 1e-9
    assert worst > 0.25


def test_a_record_that_changes_sides_costs_a_whole_round():
    """Given the median, one node loses a record and another one gets it: their losses together have the range."""
    method = Recursive.of((0.25, 0.5, 0.75), "substitute", PureDP(1.0))
    rest = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.2]
    outputs = [(a, 4.1, b) for a in np.linspace(0.05, 4.05, 25) for b in np.linspace(4.15, 7.95, 25)]
    densities = [[recursion_density(sorted([*rest, x]), 8, z, method) for z in outputs] for x in (0.5, 7.6)]
    assert 0.45 < loss_range(zip(*densities)) <= 0.5 + 1e-12


@pytest.mark.parametrize("levels", [(0.2, 0.5, 0.9), (0.1, 0.3, 0.4, 0.8)])
def test_rounds_of_recursions_under_pure_privacy(levels):
    method = Recursive.of(levels, "substitute", PureDP(1.0))
    for round_, nodes in enumerate(method.nodes):
        for node in nodes:
            most = max(node.share, 1 - node.share)
            ranges = 2 * method.eta(node) * (2 * most if round_ else 1)  # of two nodes, or of the first one
            assert ranges == pytest.approx(1.0 / method.rounds)


@pytest.mark.parametrize("levels", [(0.1, 0.5, 0.6), (0.25, 0.5, 0.75)])
def test_the_range_of_a_round_of_a_recursion_keeps_rho(levels):
    rho = 0.3
    method = Recursive.of(levels, "substitute", ZCDP(rho))
    for nodes in method.nodes:
        for node in nodes:
            eta, most = method.eta(node), max(node.share, 1 - node.share)
            two = 2 * bounded_range_rho(2 * eta * most) if node.high - node.low < 4 else 0.0
            assert max(bounded_range_rho(2 * eta), two) == pytest.approx(rho / 2, rel=1e-9)


@pytest.mark.parametrize("times", [1, 3, 20])
def test_budgets_of_single_releases_add_up(times):
    assert times * epsilon_share(PureDP(2.0), times, selections=True) == pytest.approx(2.0)
    assert times * bounded_range_rho(epsilon_share(ZCDP(0.2), times, selections=True)) == pytest.approx(0.2, rel=1e-12)
    share = epsilon_share(ApproxDP(1.0, 1e-6), times, selections=True)
    assert Ledger([(BoundedRange(share), times)]).delta(1.0).upper <= 1e-6
    assert Ledger([(BoundedRange(1.01 * share), times)]).delta(1.0).upper > 1e-6
    assert share >= 1.0 / times
    pure = epsilon_share(ApproxDP(1.0, 1e-6), times, selections=False)
    assert 1.0 / times <= pure < share or times == 1
    assert epsilon_share(PureDP(2.0), times, selections=False) == 2.0 / times


@pytest.mark.parametrize("method", [Independent, Joint, Recursive])
def test_ledgers_keep_the_guarantee(method):
    for relation in ("add_remove", "substitute"):
        made = method.of(even_levels(3), relation, ApproxDP(1.0, 1e-6))
        assert made.ledger.epsilon(1e-6).upper <= 1.0 + 2e-4
        assert made.ledger.epsilon(1e-6).upper > 0.9


@pytest.mark.parametrize("levels", [(), (0.0,), (0.5, 0.5), (0.7, 0.3), (1.0,)])
def test_levels_are_checked(levels):
    with pytest.raises(ValueError, match="valid: ascending numbers between 0 and 1"):
        Independent(levels, "substitute", PureDP(1.0), 1.0)


def test_data_with_many_ties_work():
    """Reals with ties have gaps of length 0, on which no output falls."""
    line = Line([3.0] * 50 + [9.0] * 50, 16, "reals")
    for method in (Independent, Joint, Recursive):
        out = method.of(even_levels(5), "substitute", PureDP(5.0)).sample(line, 300, rng=np.random.default_rng(8))
        assert out.shape == (300, 5)
        assert np.isfinite(out).all()
        assert not np.isin(out, [3.0, 9.0]).any()
