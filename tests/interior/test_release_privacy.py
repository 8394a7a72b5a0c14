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
    tree_levels,
    winner,
)
from scipy.special import betaincinv

from tcdp_sim.exact import renyi_divergence
from tcdp_sim.interior import LevelProfile, Recipe, outputs, sample
from tcdp_sim.interior.budget import CHARGES
from tcdp_sim.interior.exact_law import output_log_pmf
from tcdp_sim.interior.recursion import INNER_SHIFTS
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.privacy import TCDP, to_approx_dp

OMEGA = 2.5
ORDERS = np.linspace(1.05, OMEGA, 8)


def claimed(recipe, shifts=2):
    """The rho that the ledger of one tree claims, tight accounting."""
    ends = (recipe.epsilon_level**2 + recipe.epsilon_end**2) / 8
    return ends + shifts * noise_rho(recipe.noise, 1.0, OMEGA)


def worst_ratio(pairs, law, rho):
    """The largest D_a / (rho a) over the pairs and orders."""
    pairs = list(pairs)
    p, q = (np.array([law(pair[i]) for pair in pairs]) for i in (0, 1))
    return max(float(renyi_max(p, q, order) / (rho * order)) for order in ORDERS)


def renyi_max(p, q, order):
    """The largest D_order of paired rows; rows are laws of finitely many outcomes."""
    return np.log((p**order * q ** (1 - order)).sum(axis=1)).max() / (order - 1)


@pytest.mark.parametrize(
    ("k", "n", "recipe"),
    [
        (8, 4, Recipe(1.0, SinhNormal(1.5, 4.0), 1.0, 1.0, 3.0)),
        (7, 4, Recipe(3.0, SinhNormal(3.0, 6.0), 0.5, 1.5, 2.5)),
        (5, 5, Recipe(0.3, SinhNormal(1.2, 5.0), 2.0, 0.5, 4.0, candidates=2)),
        (6, 4, Recipe(1.0, Gaussian(1.0), 1.0, 1.0, 2.0)),
    ],
)
def test_one_tree_on_all_neighbours(k, n, recipe):
    law = cache(lambda xs: output_pmf(xs, k, recipe))
    ratio = worst_ratio(neighbours(k, n), law, claimed(recipe))
    assert 0.02 < ratio < 1


@pytest.mark.parametrize(("depth", "floor"), [(1, None), (2, None), (2, 1.13)])
def test_the_recursion_on_neighbours(depth, floor):
    """k = 6, n = 4: tree 0 in records, tree 1, of weight 1.3, in units of its nodes' sensitivity."""
    k, n = 6, 4
    outer = Recipe(1.0, SinhNormal(1.5, 4.0), 1.0, 1.0, 3.6)
    inner = Recipe(1.0, SinhNormal(1.5, 4.0), 2.0, 0.8, 1.1, "surrogate", floor=floor)
    recipes = (outer, inner)[:depth]
    law = cache(lambda xs: recursive_pmf(counts_below(xs, k), k, recipes))
    shifts = INNER_SHIFTS["default" if floor is None else "paper"]
    inside = shifts * noise_rho(inner.noise, 1.0, OMEGA) + 0.5**2 * inner.epsilon_end**2 / 8
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

    assert (worst_ratio(sensitivity_one(k, top), law, epsilon**2 / 8) < 1) == keeps


@pytest.mark.parametrize("depends", [False, True])
def test_thresholds_must_not_depend_on_the_data(depends):
    k, n, epsilon = 6, 4, 1.0

    def law(xs):
        levels = tree_levels(counts_below(xs, k), k)
        most = max(v for *_, v in levels[0])
        lower, upper = (2.0 * most - 1, 2.0 * most) if depends else (1.0, 3.0)
        return exponential(level_qualities(levels, lower, upper), epsilon)

    assert (worst_ratio(neighbours(k, n), law, epsilon**2 / 8) > 1) == depends


# An audit from outside: outputs alone, a lower bound on epsilon that holds with probability 1 - 2e-6.


def audited_epsilon(recipe, delta, trials=60000):
    k, home, far, rng = 16, 5, 14, np.random.default_rng(8)

    def hits(xs):
        profile = LevelProfile.of(xs, k)
        return sum(x == home for x in outputs(profile, sample(profile, recipe, rng, trials), rng))

    with_it, without = hits([home]), hits([far])
    low = betaincinv(max(with_it, 1), trials - with_it + 1, 1e-6)
    high = betaincinv(without + 1, trials - without, 1 - 1e-6)
    return np.log(max(low - delta, 1e-300) / high)


def test_an_audit_finds_the_promise_kept_and_noise_a_tenth_as_wide_out():
    delta = 0.01
    recipe = Recipe(1.0, SinhNormal(1.2, 4.0), 1.0, -1.0, 3.0)
    promise = to_approx_dp(TCDP(claimed(recipe), OMEGA), delta).epsilon
    broken = replace(recipe, noise=SinhNormal(0.12, 0.4))  # noise meant for tenths of counts
    assert audited_epsilon(recipe, delta) < promise < audited_epsilon(broken, delta)


@pytest.mark.parametrize("selection", ["surrogate", "surrogate_low", "algorithm_21", "algorithm_22"])
def test_other_selections_on_all_neighbours(selection):
    """Charged as in budget.CHARGES; their law is tested against simulation in test_release."""
    k, n = 5, 4
    recipe = Recipe(1.0, SinhNormal(2.0, 9.0), 1.0, 2.2, 3.0, selection.removesuffix("_low"))
    recipe = replace(recipe, floor=0.4) if selection == "surrogate_low" else recipe
    queries, shift = CHARGES[selection]
    rho = (recipe.epsilon_level**2 + recipe.epsilon_end**2) / 8 + queries * noise_rho(recipe.noise, shift, OMEGA)
    law = cache(lambda xs: np.exp(output_log_pmf(LevelProfile.of(xs, k), recipe)))
    assert 0.01 < worst_ratio(neighbours(k, n), law, rho) < 1
