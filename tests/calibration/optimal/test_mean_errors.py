"""The least mean errors under (epsilon, delta)-DP: against linear programs, and closed forms of the literature."""

from math import exp

import numpy as np
import pytest
from lattice_programs import linear_program

from tcdp_sim.calibration import calibrate
from tcdp_sim.calibration.optimal import (
    LatticeMixture,
    MeanAbsoluteError,
    MeanSquaredError,
    Tail,
    best_lattice_noise,
    optimal_noise,
)
from tcdp_sim.privacy import ApproxDP

PROMISES = [(0.5, 1e-2), (0.5, 1e-4), (0.0, 0.05), (0.0, 0.03), (2.0, 0.01), (0.2, 0.4), (1.0, 0.6), (0.05, 0.01)]


def profile(noise, epsilon, points=400):
    """delta(epsilon) at a shift by one: a sum over points; for a mixture the mean over runs and their mirror images."""
    if isinstance(noise, LatticeMixture):
        runs = [np.exp(each) for table in noise.log_mass for each in (table, table[::-1])]
        return sum(np.maximum(run - exp(epsilon) * np.append(run[1:], 0.0), 0).sum() for run in runs) / 2
    i = np.abs(np.arange(-points, points + 1 - int(2 * noise.offset)) + noise.offset) - noise.offset
    table = np.array(noise.log_mass)
    inside = np.minimum(i, len(table) - 1).astype(int)
    p = np.exp(table[inside] - noise.fall * np.maximum(i - len(table) + 1, 0))
    moved = np.append(0.0, p)
    return np.maximum(np.append(p, 0.0) - exp(epsilon) * moved, 0).sum()


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
@pytest.mark.parametrize("objective", [MeanAbsoluteError(), MeanSquaredError()])
def test_linear_programs_find_no_less(epsilon, delta, objective):
    best = optimal_noise(ApproxDP(epsilon, delta), objective)
    noise, bounds = best.noise, best.bounds
    assert profile(noise, epsilon) == pytest.approx(delta, rel=1e-10)
    least = min(linear_program(objective.cost, offset, epsilon, delta) for offset in (0.0, 0.5))
    on_lattice = best_lattice_noise(ApproxDP(epsilon, delta), objective).noise
    assert objective(on_lattice) == pytest.approx(least, rel=1e-9)
    assert profile(on_lattice, epsilon) == pytest.approx(delta, rel=1e-10)
    others = [linear_program(objective.cost, offset, epsilon, delta) for offset in (0.1, 0.25, 0.4)]
    assert bounds.lower <= min(least, *others) * (1 + 1e-9)
    assert bounds.lower <= bounds.estimate <= bounds.upper
    assert bounds.upper == pytest.approx(bounds.lower, rel=1e-8)
    assert objective(noise) == pytest.approx(bounds.estimate, rel=1e-12)


def test_squares_are_smaller_where_lattices_share_delta():
    """At delta = .3 the integers have 1, the points 1/4 + integers .9625, integers and half-integers together .9."""
    assert linear_program(np.square, 0.25, 0.0, 0.3) == pytest.approx(0.9625)
    assert MeanSquaredError()(best_lattice_noise(ApproxDP(0.0, 0.3), MeanSquaredError()).noise) == pytest.approx(1.0)
    bounds = optimal_noise(ApproxDP(0.0, 0.3), MeanSquaredError()).bounds
    assert bounds.lower == pytest.approx(0.9, rel=1e-10)
    assert bounds.upper == pytest.approx(0.9, rel=1e-10)


@pytest.mark.parametrize("n", [2, 5, 50])
def test_without_epsilon_uniform_noise_is_best(n):
    """(0, delta)-DP, delta = 1/(2n): E|Z| = 1/(4 delta) (Geng and Viswanath 2016, optimal for integers)."""
    assert optimal_noise(ApproxDP(0.0, 0.5 / n), MeanAbsoluteError()).bounds.estimate == pytest.approx(n / 2, rel=1e-12)


def test_small_deltas_are_pure():
    """The discrete Laplace law has E|Z| = 2q/(1 - q^2), which a delta of 1e-60 leaves as it is."""
    q = exp(-0.3)
    bounds = optimal_noise(ApproxDP(0.3, 1e-60), MeanAbsoluteError()).bounds
    assert bounds.estimate == pytest.approx(2 * q / (1 - q * q), rel=1e-11)
    assert bounds.lower == pytest.approx(bounds.upper, rel=1e-9)


@pytest.mark.parametrize("family", ["laplace", "truncated_laplace", "gaussian"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-2), (1.0, 1e-6)])
def test_no_other_noise_rounded_is_better(family, epsilon, delta):
    """Rounding is post-processing of noise and count together. Means of rounded noise are sums of its tails."""
    other = calibrate(family, ApproxDP(epsilon, delta), 1.0, "tight").noise
    above = 2 * np.asarray(other.sf(np.arange(400) + 0.5))  # P[|rounded| > i]
    mean, square = above.sum(), ((2 * np.arange(400) + 1) * above).sum()
    assert mean >= optimal_noise(ApproxDP(epsilon, delta), MeanAbsoluteError()).bounds.upper
    assert square >= optimal_noise(ApproxDP(epsilon, delta), MeanSquaredError()).bounds.lower
    for beyond in (2.0, 6.0):
        assert 2 * other.sf(beyond + 0.5) >= optimal_noise(ApproxDP(epsilon, delta), Tail(beyond)).bounds.lower
