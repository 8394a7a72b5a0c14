"""Exact output laws on all neighbouring data sets stay below the ledger, and broken variants do not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from interior_dense import (
    counts_below,
    exponential,
    level_qualities,
    neighbours,
    noise_rho,
    output_pmf,
    recursive_pmf,
    renyi,
    tree_levels,
    winner,
)
from scipy.special import betaincinv

from tcdp_sim.exact import renyi_divergence
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.ordered.interior import LevelProfile, sample
from tcdp_sim.ordered.interior.budget import ledger, split_budget
from tcdp_sim.ordered.interior.exact_law import level_laws, output_log_pmf
from tcdp_sim.ordered.interior.release import ReleaseParameters, released_points
from tcdp_sim.privacy import TCDP, to_approx_dp

OMEGA = 2.5
ORDERS = np.linspace(1.05, OMEGA, 8)


def range_rho(epsilon):
    """The least rho of bounded range, in closed form (see tests/privacy/test_least_rho.py)."""
    return np.log(np.expm1(epsilon) / epsilon) - 1 + epsilon / np.expm1(epsilon)


def claimed(parameters, shifts=2):
    """The rho that the ledger of one tree claims, tight accounting."""
    ends = range_rho(parameters.epsilon_level) + range_rho(parameters.epsilon_end)
    return ends + shifts * noise_rho(parameters.noise, 1.0, OMEGA)


def worst_ratio(pairs, law, rho):
    """The largest D_a / (rho a) over the pairs and orders."""
    pairs = list(pairs)
    p, q = (np.array([law(pair[i]) for pair in pairs]) for i in (0, 1))
    return max(float(renyi_max(p, q, order) / (rho * order)) for order in ORDERS)


def renyi_max(p, q, order):
    """The largest D_order of paired rows; rows are laws of finitely many outcomes."""
    return np.log((p**order * q ** (1 - order)).sum(axis=1)).max() / (order - 1)


@pytest.mark.parametrize(
    ("k", "n", "parameters"),
    [
        (8, 4, ReleaseParameters(1.0, SinhNormal(1.5, 4.0), 1.0, 1.0, 3.0)),
        (7, 4, ReleaseParameters(3.0, SinhNormal(3.0, 6.0), 0.5, 1.5, 2.5)),
        (5, 5, ReleaseParameters(0.3, SinhNormal(1.2, 5.0), 2.0, 0.5, 4.0, candidates=2)),
        (6, 4, ReleaseParameters(1.0, Gaussian(1.0), 1.0, 1.0, 2.0)),
    ],
)
def test_one_tree_on_all_neighbours(k, n, parameters):
    law = cache(lambda xs: output_pmf(xs, k, parameters))
    ratio = worst_ratio(neighbours(k, n), law, claimed(parameters))
    assert 0.02 < ratio < 1


@pytest.mark.parametrize(("depth", "floor"), [(1, None), (2, None), (2, 1.13)])
def test_the_recursion_on_neighbours(depth, floor):
    """k = 6, n = 4: tree 0 in records, tree 1, of weight 1.3, in units of its nodes' sensitivity."""
    k, n = 6, 4
    outer = ReleaseParameters(1.0, SinhNormal(1.5, 4.0), 1.0, 1.0, 3.6)
    inner = ReleaseParameters(1.0, SinhNormal(1.5, 4.0), 2.0, 0.8, 1.1, "surrogate", floor=floor)
    trees = (outer, inner)[:depth]
    law = cache(lambda xs: recursive_pmf(counts_below(xs, k), k, trees))
    shifts = 1 if floor is None else 9  # above half of the weight; above a tenth of it and one
    inside = shifts * noise_rho(inner.noise, 1.0, OMEGA) + range_rho(0.5 * inner.epsilon_end)
    assert 0.01 < worst_ratio(neighbours(k, n), law, claimed(outer) + inside * (depth - 1)) < 1


def node_laws(f, k, floor, noise):
    """The law of the node chosen at every level of the tree over F, by its noisy excess over the floor; unit 2."""
    return [winner([max(value / 2 - floor, 0) for *_, value in nodes], noise) for nodes in tree_levels(f, k)]


@pytest.mark.parametrize(("share", "room", "keeps"), [(2, 1, True), (3, 1, True), (4, 1, True), (3, 0, False)])
def test_few_excesses_change_above_a_general_floor(share, room, keeps):
    """Functions of sensitivity one to {0, ..., 8}: above H / p + 1 fewer than p excesses move, by one unit at most.

    Without that one more of them do; and every level's choice of a node costs no more than its p - 1 shifts.
    """
    k, top, noise = 4, 8, SinhNormal(0.8, 5.0)
    floor, most, spent = top / 2 / share + room, 0, 0.0
    for f, g in sensitivity_one(k, top):
        for one, two in zip(tree_levels(f, k), tree_levels(g, k)):
            moved = [max(a[-1] / 2 - floor, 0) - max(b[-1] / 2 - floor, 0) for a, b in zip(one, two)]
            assert max(map(abs, moved)) <= 1 + 1e-12
            most = max(most, np.count_nonzero(moved))
    assert (most <= share - 1) == keeps
    if keeps:
        for f, g in list(sensitivity_one(k, top))[::7]:
            for p, q in zip(node_laws(f, k, floor, noise), node_laws(g, k, floor, noise)):
                spent = max(spent, *(float(renyi_max(p[None], q[None], a)) / a for a in ORDERS))
        assert 0.01 < spent / ((share - 1) * noise_rho(noise, 1.0, OMEGA)) < 1


def test_the_heavy_surrogate_is_one_shift():
    """Excesses over half of H of the two neighbours are at most one unit together where two nodes have them."""
    k, top = 4, 8
    for f, g in sensitivity_one(k, top):
        for one, two in zip(tree_levels(f, k), tree_levels(g, k)):
            moved = [max(a[-1] / 2 - top / 4, 0) - max(b[-1] / 2 - top / 4, 0) for a, b in zip(one, two)]
            assert sum(map(abs, moved)) <= 1


@pytest.mark.parametrize("noise", [SinhNormal(1.5, 1.5), SinhNormal(1.5, 4.0), Gaussian(1.0), Laplace(1.0)])
def test_shifts_together_cost_no_more_than_their_sum(noise):
    """Superadditivity of log-concave noise, at which one shift is charged for two that add up to it."""
    for a, b in ((0.1, 0.9), (0.3, 0.7), (0.5, 0.5), (1.0, 1.0)):
        together = renyi_divergence(noise, a + b, ORDERS).upper
        apart = renyi_divergence(noise, a, ORDERS).lower + renyi_divergence(noise, b, ORDERS).lower
        assert (apart <= together).all()


# Broken variants: the level is released on the way to the output, so its law must keep its own line of the ledger.


def sensitivity_one(k, top):
    """Pairs (F, F') of nondecreasing functions to {0, ..., top}, F(k - 1) = top, that differ by at most one."""
    grids = [f for f in np.ndindex(*[top + 1] * (k - 1)) if list(f) == sorted(f)]
    for f in grids:
        for g in grids:
            if f != g and max(abs(a - b) for a, b in zip(f, g)) <= 1:
                yield (0, *f, top), (0, *g, top)


def level_law(f, k, epsilon, unit, lower, upper):
    heavy = [max(v for *_, v in nodes) / unit for nodes in tree_levels(f, k)]
    g = [0, *(min(max(h - lower, 0), upper - lower) for h in heavy)]
    return exponential([min(g[j + 1], g[-1] - g[j]) for j in range(len(g) - 1)], epsilon)


@pytest.mark.parametrize(("unit", "keeps"), [(2.0, True), (1.0, False)])
def test_sensitivity_doubles_one_level_down(unit, keeps):
    """Node values of a function of sensitivity one move by two: taking them for one breaks the level's line."""
    k, top, epsilon = 4, 6, 1.0

    def law(f):
        return level_law(f, k, epsilon, unit, 0.0, top / unit)

    assert (worst_ratio(sensitivity_one(k, top), law, range_rho(epsilon)) < 1) == keeps


@pytest.mark.parametrize("depends", [False, True])
def test_thresholds_must_not_depend_on_the_data(depends):
    k, n, epsilon = 6, 4, 1.0

    def law(xs):
        levels = tree_levels(counts_below(xs, k), k)
        most = max(v for *_, v in levels[0])
        lower, upper = (2.0 * most - 1, 2.0 * most) if depends else (1.0, 3.0)
        return exponential(level_qualities(levels, lower, upper), epsilon)

    assert (worst_ratio(neighbours(k, n), law, range_rho(epsilon)) > 1) == depends


# An audit from outside: outputs alone, a lower bound on epsilon that holds with probability 1 - 2e-6.


def audited_epsilon(parameters, delta, trials=60000):
    k, home, far, rng = 16, 5, 14, np.random.default_rng(8)

    def hits(xs):
        profile = LevelProfile.of(xs, k)
        return sum(x == home for x in released_points(profile, sample(profile, parameters, trials, rng=rng), rng=rng))

    with_it, without = hits([home]), hits([far])
    low = betaincinv(max(with_it, 1), trials - with_it + 1, 1e-6)
    high = betaincinv(without + 1, trials - without, 1 - 1e-6)
    return np.log(max(low - delta, 1e-300) / high)


def test_an_audit_finds_the_promise_kept_and_noise_a_tenth_as_wide_out():
    delta = 0.01
    parameters = ReleaseParameters(1.0, SinhNormal(1.2, 4.0), 1.0, -1.0, 3.0)
    promise = to_approx_dp(TCDP(claimed(parameters), OMEGA), delta).epsilon
    broken = replace(parameters, noise=SinhNormal(0.12, 0.4))  # noise meant for tenths of counts
    assert audited_epsilon(parameters, delta) < promise < audited_epsilon(broken, delta)


# (how many numbers a substitution moves, by how much), worked out by hand: see the derivations in interior/budget.py.
CHARGED = {
    "histogram": (2, 1.0),
    "surrogate": (1, 1.0),
    "surrogate_low": (2, 1.0),
    "algorithm_21": (1, 2.0),
    "algorithm_22": (1, 1.0),
}


@pytest.mark.parametrize("selection", ["surrogate", "surrogate_low", "algorithm_21", "algorithm_22"])
def test_other_selections_on_all_neighbours(selection):
    """Their law is tested against simulation in test_release."""
    k, n = 5, 4
    parameters = ReleaseParameters(1.0, SinhNormal(2.0, 9.0), 1.0, 2.2, 3.0, selection.removesuffix("_low"))
    parameters = replace(parameters, floor=0.4) if selection == "surrogate_low" else parameters
    queries, shift = CHARGED[selection]
    ends = range_rho(parameters.epsilon_level) + range_rho(parameters.epsilon_end)
    rho = ends + queries * noise_rho(parameters.noise, shift, OMEGA)
    law = cache(lambda xs: np.exp(output_log_pmf(LevelProfile.of(xs, k), parameters)))
    assert 0.01 < worst_ratio(neighbours(k, n), law, rho) < 1


def leaf_law(xs, parameters, k):
    """P[each of the elements 0 and 1 is the leaf chosen, or any of the others]."""
    told = next(law for law in level_laws(LevelProfile.of(xs, k), parameters) if law.level == 0)
    named = dict(zip(sorted(set(xs)), told.occupied))
    each = told.empty / (k - len(named))
    return np.array([named.get(0, each), named.get(1, each), (k - 2) * each])


@pytest.mark.parametrize(
    ("selection", "scale", "k", "counts", "moved"),
    [
        ("histogram", 0.4, 8, (4, 2), (5, 1)),
        ("surrogate", 0.5, 4096, (3, 1), (2, 2)),
        ("surrogate_low", 0.4, 8, (4, 2), (5, 1)),
        ("algorithm_21", 1.0, 4096, (3, 1), (2, 2)),
        ("algorithm_22", 0.35, 4096, (8, 0), (7, 1)),
    ],
)
def test_no_smaller_charge_would_do(selection, scale, k, counts, moved):
    """The choice of the node alone, small noise, the leaves: it costs more than half of what it is charged."""
    queries, shift = CHARGED[selection]
    floor = 0.4 if selection == "surrogate_low" else None
    parameters = ReleaseParameters(1.0, Gaussian(scale), 1.0, 1.0, 3.0, selection.removesuffix("_low"), floor=floor)
    p, q = (leaf_law([0] * a + [1] * b, parameters, k) for a, b in (counts, moved))
    charged = queries * shift**2 / (2 * scale**2)  # a Gaussian's D_order is rho times the order
    spent = max(renyi(*pair, order) / order for order in ORDERS for pair in ((p, q), (q, p)))
    assert 0.6 < spent / charged < 1


@pytest.mark.parametrize("accounting", ["tight", "paper"])
@pytest.mark.parametrize("selection", CHARGED)
def test_the_noise_is_bought_for_what_is_charged(selection, accounting):
    """Gaussian noise to the last digit: queries shift^2 / (2 scale^2) is the node's share; by the ledger as well."""
    (queries, shift), split, rho = CHARGED[selection], (0.4, 0.35, 0.25), 0.6
    bought = split_budget(
        TCDP(rho, OMEGA), 64, split=split, family="gaussian", accounting=accounting, selection=selection
    )
    assert bought.noise.scale == pytest.approx(np.sqrt(queries * shift**2 / (2 * 0.35 * rho)), rel=1e-12)
    node = ledger(bought, TCDP(rho, OMEGA), split, accounting, accounting, selection)[1]
    assert node.guarantee.rho == pytest.approx(0.35 * rho, rel=1e-12)
    assert node.source.startswith(f"{queries} shift{'s' * (queries > 1)} of {shift:g} by")


@pytest.mark.parametrize("selection", CHARGED)
def test_sinh_normal_noise_is_bought_for_what_is_charged(selection):
    (queries, shift), split, rho = CHARGED[selection], (0.4, 0.35, 0.25), 0.6
    bought = split_budget(TCDP(rho, OMEGA), 64, split=split, selection=selection)
    assert 0.995 < queries * noise_rho(bought.noise, shift, OMEGA) / (0.35 * rho) < 1 + 1e-6
