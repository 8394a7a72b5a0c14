"""Exact laws of private quantiles against enumeration and quadrature."""

from itertools import combinations_with_replacement, pairwise
from math import factorial, prod

import numpy as np
import pytest
from scipy.integrate import quad

from tcdp_sim.exact.quantiles import joint_mean_error, joint_success, recursive_mean_error, single_law

RECORDS = [1.0, 1.5, 4.0, 7.5]
GAPS = np.diff([0.0, *RECORDS, 12.0])
LEVELS = (0.2, 0.55, 0.9)


def test_the_law_of_a_single_selection_by_quadrature():
    def distance(z):
        return abs(sum(x <= z for x in RECORDS) - 0.3 * 4)

    pieces = [0.0, *RECORDS, 12.0]

    def integral(weight):
        return sum(quad(lambda z: weight(distance(z)), a, b)[0] for a, b in pairwise(pieces))

    errors, chances = single_law(np.array(RECORDS), 12.0, 0.0, 0.3, 0.8)
    total = integral(lambda d: np.exp(-0.8 * d))
    assert errors @ chances == pytest.approx(integral(lambda d: d * np.exp(-0.8 * d)) / total, rel=1e-9)
    inside = integral(lambda d: np.exp(-0.8 * d) * (d <= 1.2)) / total
    assert chances[errors <= 1.2].sum() == pytest.approx(inside, rel=1e-9)


def test_the_law_on_integers_is_a_sum_over_elements():
    records = [2, 2, 2, 5, 9]
    weights, errors = [], []
    for z in range(16):
        below, upto = sum(x < z for x in records), sum(x <= z for x in records)
        errors.append(max(below - 3, 3 - upto, 0))
        weights.append(np.exp(-0.4 * errors[-1]))
    distances, chances = single_law(np.array(records, dtype=np.uint64), 16, 1.0, 0.6, 0.4)
    assert distances @ chances == pytest.approx(np.dot(weights, errors) / sum(weights), rel=1e-12)


def test_integers_of_64_bits_are_exact():
    top = 2**64 - 1
    errors, chances = single_law(np.array([top - 3, top - 3, top], dtype=np.uint64), 2**64, 1.0, 0.5, 0.0)
    assert errors.tolist() == [1.5, 0.0, 0.5, 0.5]  # the gap after the greatest integer is empty
    assert chances[1:] * 2.0**64 == pytest.approx([1, 1, 2])  # two integers, and those between


def test_tiny_probabilities_do_not_vanish():
    errors, chances = single_law(np.array([0.0]), 2.0**64, 0.0, 0.5, 3000.0)
    assert chances.sum() == pytest.approx(1)
    assert errors.tolist() == [0.5]


@pytest.mark.parametrize("eta", [0.1, 2.5])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_joint_selections_by_enumeration(m, eta):
    levels = LEVELS[:m]
    targets = 4 * np.diff([0, *levels, 1])
    weights, errors = [], []
    for gaps in combinations_with_replacement(range(5), m):
        volume = prod(GAPS[list(gaps)]) / prod(factorial(gaps.count(i)) for i in set(gaps))
        weights.append(volume * np.exp(-eta * np.abs(np.diff([0, *gaps, 4]) - targets).sum()))
        errors.append(np.abs(np.array(gaps) - 4 * np.array(levels)))
    weights = np.array(weights) / sum(weights)
    assert joint_mean_error(GAPS, levels, eta) == pytest.approx(weights @ np.mean(errors, axis=1), rel=1e-10)
    for radius in (0.3, 0.9, 1.5):
        inside = weights[np.max(errors, axis=1) <= radius].sum()
        assert joint_success(GAPS, levels, eta, radius) == pytest.approx(inside, rel=1e-10, abs=1e-15)


def node_error(edges, target, eta, own):
    """The mean error of one node on the gaps between these edges."""
    sizes = np.diff(edges)
    ranks = np.arange(len(sizes))
    weight = sizes * np.exp(-eta * np.abs(ranks - target))
    return weight @ np.abs(ranks - own) / weight.sum()


@pytest.mark.parametrize("eta", [0.2, 1.7])
@pytest.mark.parametrize("records", [RECORDS, [1.0, 1.0, 4.0, 4.0]])
def test_recursive_selections_by_quadrature(records, eta):
    edges = [0.0, *records, 12.0]
    levels, etas = LEVELS, (eta, 0.5 * eta, 2 * eta)

    def density(z):
        return np.exp(-etas[1] * abs(sum(x <= z for x in records) - levels[1] * 4))

    def error(z):
        left, right = [x for x in records if x <= z], [x for x in records if x > z]
        own = abs(len(left) - levels[1] * 4)
        low = node_error([0, *left, z], levels[0] / levels[1] * len(left), etas[0], levels[0] * 4)
        share = (levels[2] - levels[1]) / (1 - levels[1])
        high = node_error([z, *right, 12], share * len(right), etas[2], levels[2] * 4 - len(left))
        return own + low + high

    pieces = [(a, b) for a, b in pairwise(edges) if b > a]
    total = sum(quad(density, a, b)[0] for a, b in pieces)
    mean = sum(quad(lambda z: density(z) * error(z), a, b, epsabs=1e-12)[0] for a, b in pieces) / total / 3
    assert recursive_mean_error(np.diff(edges), levels, etas) == pytest.approx(mean, rel=1e-8)


def test_two_quantiles_begin_with_the_upper_one():
    value = recursive_mean_error(GAPS, (0.4, 0.8), (1.0, 1.0))
    mirrored = recursive_mean_error(GAPS[::-1], (0.4, 0.8), (1.0, 1.0))
    assert value != pytest.approx(mirrored)
    assert recursive_mean_error(GAPS, (0.4,), (1.0,)) == pytest.approx(joint_mean_error(GAPS, (0.4,), 0.5))
    with pytest.raises(ValueError, match="m = 4"):
        recursive_mean_error(GAPS, (0.1, 0.2, 0.3, 0.4), (1.0,) * 4)
