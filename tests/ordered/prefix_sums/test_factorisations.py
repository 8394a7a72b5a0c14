"""Factorisations of prefix sums against dense matrices: least squares by the pseudo-inverse, optima by duality.

The oracle of least squares is `numpy.linalg.pinv` of the matrix of nodes, written out row by row.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import svdvals
from scipy.optimize import minimize_scalar

from tcdp_sim.ordered.prefix_sums import (
    EachBin,
    EachPrefix,
    Optimum,
    SquareRoot,
    Tree,
    WeightedSquareRoot,
    WeightedTree,
    least_root_mean_square,
)
from tcdp_sim.ordered.prefix_sums.weighted_tree import _mean_variance, best_shares, noisy_levels
from tcdp_sim.privacy.relation import OF_COUNTS

SIZES = (2, 5, 8, 16, 27)


def left(factorisation):
    """Return the matrix L, column by column, from the errors of unit noises."""
    return factorisation.errors(np.eye(factorisation.noises)).T


def nodes(levels, branching, precisions):
    """Return the matrix of a tree's nodes from the leaves upwards, weighted by the roots of the precisions."""
    rows = []
    for height, precision in enumerate(precisions):
        width = branching**height
        rows += [
            np.sqrt(precision) * np.repeat(np.eye(branching ** (levels - height))[i], width)
            for i in range(branching ** (levels - height))
        ]
    return np.array(rows)


def in_closed_form(k, relation):
    return [kind(k, relation) for kind in (EachBin, EachPrefix, SquareRoot, WeightedSquareRoot)]


def right(factorisation):
    """Return the matrix R, by solving L R = P."""
    return np.linalg.lstsq(left(factorisation), np.tril(np.ones((factorisation.k,) * 2)), rcond=None)[0]


def trees(k, relation):
    for branching in (2, 3, 16):
        shares = np.arange(1.0, noisy_levels(k, relation, branching) + 1)
        yield Tree(k, relation, branching)
        for chosen in (np.ones_like(shares), shares, best_shares(k, relation, branching)):
            yield WeightedTree(k, relation, branching, tuple(map(float, chosen)))


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize("k", SIZES)
def test_variances_are_those_of_the_errors(k, relation):
    for one in (*in_closed_form(k, relation), *trees(k, relation)):
        assert np.square(left(one)).sum(axis=1) == pytest.approx(one.variances(), rel=1e-11, abs=1e-13), one


@pytest.mark.parametrize("k", SIZES)
def test_the_square_root_is_one(k):
    half = left(SquareRoot(k, "add_remove"))
    assert half @ half == pytest.approx(np.tril(np.ones((k, k))), abs=1e-13)


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize("k", [2, 5, 9, 40])
def test_the_square_root_is_as_sensitive_as_its_farthest_columns(k, relation):
    columns = left(SquareRoot(k, "add_remove")).T
    if relation == "add_remove":
        truth = max(map(np.linalg.norm, columns))
    else:
        truth = max(np.linalg.norm(a - b) for a, b in combinations(columns, 2))
    found = SquareRoot(k, relation).sensitivity
    assert truth <= found <= truth * (1 + 1e-11)


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize("k", [2, 5, 40])
def test_the_weighted_square_root_has_columns_of_equal_length(k, relation):
    columns = right(WeightedSquareRoot(k, relation)).T
    assert np.linalg.norm(columns, axis=1) == pytest.approx(np.ones(k), rel=1e-9)


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize("k", [*range(2, 14), 40, 300])
def test_the_weighted_square_root_is_as_sensitive_as_its_farthest_counts(k, relation):
    """R is found from L alone: neighbours move R counts by L^-1 P times a unit vector, or a difference of two."""
    one = WeightedSquareRoot(k, relation)
    columns = np.linalg.solve(left(one), np.tril(np.ones((k, k)))).T
    if relation == "add_remove":
        truth = np.linalg.norm(columns, axis=1).max()
    else:
        truth = max(np.linalg.norm(columns - column, axis=1).max() for column in columns)
    assert truth <= one.sensitivity <= truth * (1 + 1e-11)


@pytest.mark.parametrize("relation", OF_COUNTS)
def test_no_row_moves_by_more_than_the_largest_move(relation):
    found = [SquareRoot(20, relation), WeightedSquareRoot(20, relation), EachBin(20, relation)]
    found += [] if relation == "substitute" else [Optimum(20)]
    for one in found:
        columns = right(one).T
        moves = columns if relation == "add_remove" else [a - b for a, b in combinations(columns, 2)]
        largest = np.abs(moves).max()
        assert largest * (1 - 1e-9) <= one.largest_move
        if relation == "add_remove":
            assert one.largest_move == pytest.approx(largest, rel=1e-8)
    tree = WeightedTree(9, relation, 3, (4.0, 1.0) if relation == "substitute" else (4.0, 1.0, 1.0))
    assert tree.largest_move == pytest.approx(np.sqrt(4 / np.mean(tree.shares)))


def test_published_constants():
    """Errors of the square root at sensitivity 1: ln(k) / pi plus a constant and a term that vanishes.

    The constant is (Euler's constant + 4 ln 2) / pi for the square root (Mathias 1993), .846 and .748 for the largest
    and the mean square error of the normalised square root, and .701 for the lower bound (Henzinger, Kalinin, Upadhyay
    2025). The weighted square root lies a little above the normalised one.
    """
    k = 2**20
    plain, weighted = SquareRoot(k, "add_remove"), WeightedSquareRoot(k, "add_remove")

    def constant(error):
        return float(error) - np.log(k) / np.pi

    largest = plain.variances().max() ** 0.5 * plain.sensitivity
    assert constant(largest) == pytest.approx((np.euler_gamma + 4 * np.log(2)) / np.pi, abs=1e-6)
    assert 0.846 < constant(weighted.variances().max() ** 0.5 * weighted.sensitivity) < 0.88
    assert 0.748 < constant(weighted.variances().mean() ** 0.5 * weighted.sensitivity) < 0.78
    assert constant(least_root_mean_square(k, "add_remove")) == pytest.approx(0.701, abs=0.001)


@pytest.mark.parametrize(("levels", "branching"), [(1, 2), (3, 2), (2, 3), (1, 16)])
@pytest.mark.parametrize("relation", OF_COUNTS)
def test_two_passes_are_least_squares(levels, branching, relation):
    k = branching**levels
    shares = np.arange(2.0, noisy_levels(k, relation, branching) + 2)
    tree = WeightedTree(k, relation, branching, tuple(map(float, shares)))
    measured = nodes(levels, branching, shares / shares.mean())
    prefix = np.tril(np.ones((k, k)))
    if relation == "add_remove":
        expected = prefix @ np.linalg.pinv(measured)
    else:  # the sum is known: the estimate is least squares among the vectors of sum zero
        zero_sum = np.linalg.svd(np.ones((1, k)))[2][1:].T
        expected = prefix @ zero_sum @ np.linalg.pinv(measured @ zero_sum)
    assert left(tree) == pytest.approx(expected, abs=1e-12)
    moves = measured.T
    far = [moves[0]] if relation == "add_remove" else [moves[0] - moves[-1]]
    assert tree.sensitivity == pytest.approx(np.linalg.norm(far), rel=1e-12)


@pytest.mark.parametrize("branching", [2, 3])
def test_a_tree_adds_up_the_nodes_of_a_prefix(branching):
    """A literal walk from the left: take the largest node that begins here and ends within the prefix."""
    levels, k = 3, branching**3
    tree = Tree(k, "add_remove", branching)
    z = np.random.default_rng(1).standard_normal((2, tree.noises))
    starts = np.cumsum([0] + [branching**level for level in range(1, levels + 1)])
    for j in range(k):
        at, error = 0, np.zeros(2)
        while at <= j:
            widths = (branching ** (levels - level) for level in range(1, levels + 1))
            level, width = next((i, w) for i, w in enumerate(widths) if at % w == 0 and at + w <= j + 1)
            error += z[:, starts[level] + at // width]
            at += width
        assert tree.errors(z)[:, j] == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize("k", [2, 3, 8, 33])
def test_the_limit_is_a_sum_of_singular_values(k, relation):
    prefix = np.tril(np.ones((k, k)))
    if relation == "substitute":
        centred = svdvals(prefix - prefix.mean(axis=1, keepdims=True)).sum()
        expected = centred * np.sqrt(2 / (k * (k - 1)))
    else:
        expected = svdvals(prefix).sum() / k
    assert least_root_mean_square(k, relation) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize("k", SIZES)
def test_no_factorisation_is_below_the_limit(k, relation):
    for one in (*in_closed_form(k, relation), *trees(k, relation)):
        error = np.sqrt(one.variances().mean()) * one.sensitivity
        assert error >= least_root_mean_square(k, relation) * (1 - 1e-12), one


@pytest.mark.parametrize("k", [2, 16, 60])
def test_the_optimum_is_a_factorisation_and_better_than_all_others(k):
    best = Optimum(k)
    factor, right, lower = best.factors
    assert factor @ right == pytest.approx(np.tril(np.ones((k, k))), abs=1e-8)
    assert np.linalg.norm(right, axis=0).max() <= best.sensitivity
    below, above = best.root_mean_square
    assert least_root_mean_square(k, "add_remove") * (1 - 1e-12) <= below <= above <= below * (1 + 1e-6)
    assert lower == below
    closed = SquareRoot(k, "add_remove"), WeightedSquareRoot(k, "add_remove")
    for one in (*closed, *trees(k, "add_remove")):
        assert np.sqrt(one.variances().mean()) * one.sensitivity >= below * (1 - 1e-12)


def test_the_optimum_of_two_bins_in_closed_form():
    """L and R with unit columns for k = 2, by a search over the angle of R's columns."""

    def error(angle):  # R has the columns (1, 0) and (cos, sin)
        right = np.array([[1, np.cos(angle)], [0, np.sin(angle)]])
        return np.linalg.norm(np.tril(np.ones((2, 2))) @ np.linalg.inv(right)) / np.sqrt(2)

    least = minimize_scalar(error, bounds=(0.3, np.pi - 0.3), method="bounded", options={"xatol": 1e-9}).fun
    assert Optimum(2).root_mean_square[1] == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("relation", OF_COUNTS)
@pytest.mark.parametrize(("levels", "branching"), [(1, 2), (3, 2), (2, 3)])
def test_the_mean_variance_of_a_full_tree_is_that_of_its_prefixes(levels, branching, relation):
    k = branching**levels
    shares = np.arange(1.0, noisy_levels(k, relation, branching) + 1)
    tree = WeightedTree(k, relation, branching, tuple(map(float, shares)))
    found = _mean_variance(branching, levels, shares / shares.mean())
    assert found == pytest.approx(tree.variances().mean(), rel=1e-12)


def test_the_best_shares_are_a_minimum():
    def error(shares):
        tree = WeightedTree(64, "add_remove", 2, tuple(map(float, shares)))
        return np.sqrt(tree.variances().mean()) * tree.sensitivity

    best = np.array(best_shares(64, "add_remove", 2))
    assert best.sum() == pytest.approx(1, abs=1e-8)
    for i in range(len(best)):
        for factor in (0.9, 1.1):
            other = best.copy()
            other[i] *= factor
            assert error(other) > error(best)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeightedTree(8, "substitute", 2, (1.0,)), "valid: 3 numbers, one for each level"),
        (lambda: WeightedTree(8, "substitute", 2, (1.0, 0.0, 1.0)), "valid: finite numbers above 0"),
        (lambda: Optimum(513), "valid: 2 to 512"),
        (lambda: Optimum(8, "substitute"), "valid: add_remove"),
    ],
)
def test_mistakes_are_one_line(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("k", "branching"), [(1, 2), (0, 2), (8, 1), (2.5, 2)])
def test_shares_of_a_tree_without_levels_are_refused(k, branching):
    with pytest.raises(ValueError, match="valid: a whole number from 2"):
        best_shares(k, "substitute", branching)
