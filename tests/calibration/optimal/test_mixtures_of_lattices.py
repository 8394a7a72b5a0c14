"""Lower bounds hold for noise on several lattices at once: against linear programs on fractions of a count."""

import re
from itertools import pairwise
from math import inf
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from lattice_programs import fine_linear_program

from tcdp_sim.calibration.optimal import (
    LargestError,
    LatticeMixture,
    MeanAbsoluteError,
    MeanSquaredError,
    Tail,
    best_lattice_noise,
    optimal_noise,
)
from tcdp_sim.calibration.optimal.best_on_lattice import best_on_lattice
from tcdp_sim.calibration.optimal.least_square import _Run
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP

# What linear programs cost that another hand wrote: on `cosets` lattices, 1 / cosets of a count apart.
FOUND = [
    (0.3, 0.1, 3, 14, 2.81093),
    (0.3, 0.1, 2, 14, 2.82098),
    (0.0687161, 0.0844941, 8, 14, 7.92578),
    (0.0297357, 0.00342732, 4, 120, 664.2458),
    (1.0, 0.2, 8, 10, 0.460587),
]
SMALL_DELTAS = [(1.0, 0.01, 14), (0.5, 0.001, 26), (1.0, 1e-6, 24), (2.0, 1e-6, 14)]


@pytest.mark.parametrize(("epsilon", "delta", "cosets", "reach", "cost"), FOUND)
def test_no_program_on_fractions_of_a_count_is_below_the_bound(epsilon, delta, cosets, reach, cost):
    program = fine_linear_program(np.square, cosets, epsilon, delta, reach)
    assert program == pytest.approx(cost, rel=2e-6)
    best = optimal_noise(ApproxDP(epsilon, delta), MeanSquaredError())
    noise, bounds = best.noise, best.bounds
    assert bounds.upper * (1 - 1e-9) < bounds.lower <= bounds.upper <= program * (1 + 1e-9)
    assert bounds.lower > program - (0.5 / cosets) ** 2  # moving a lattice to a multiple adds that much at most
    assert isinstance(noise, LatticeMixture)


@pytest.mark.parametrize(("epsilon", "delta", "reach"), SMALL_DELTAS)
@pytest.mark.parametrize("cosets", [1, 2, 4])
def test_small_deltas_mix_hardly(epsilon, delta, reach, cosets):
    program = fine_linear_program(np.square, cosets, epsilon, delta, reach)
    bounds = optimal_noise(ApproxDP(epsilon, delta), MeanSquaredError()).bounds
    assert bounds.lower <= program * (1 + 1e-9)
    assert bounds.upper > program * (1 - 3e-4)


def test_the_bound_is_reached_on_the_lattices_of_the_best_noise():
    """Under (0, 0.3)-DP the runs have 3 and 4 points: integers and half-integers, 0.9 by hand."""
    bounds = optimal_noise(ApproxDP(0.0, 0.3), MeanSquaredError()).bounds
    assert bounds.lower == pytest.approx(0.9, rel=1e-10)
    assert fine_linear_program(np.square, 2, 0.0, 0.3, 6) == pytest.approx(0.9, rel=1e-8)


@pytest.mark.parametrize("cosets", [2, 3, 5, 8])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.1), (0.07, 0.08), (1.0, 0.2), (0.5, 0.01), (0.0, 0.13)])
def test_one_lattice_is_best_for_tails_and_mean_absolute_errors(epsilon, delta, cosets):
    """What step 3 of the proof says: no program on fractions of a count costs less than the best lattice."""
    objectives = [MeanAbsoluteError(), Tail(1.0), Tail(2.5), Tail(2.7), Tail(3.2)]
    for objective in objectives:
        best = optimal_noise(ApproxDP(epsilon, delta), objective)
        noise, bounds = best.noise, best.bounds
        program = fine_linear_program(objective.cost, cosets, epsilon, delta, 16)
        assert bounds.lower <= program + 1e-8
        if (noise.offset * cosets) % 1 == 0:  # the best lattice is among those of the program
            assert bounds.upper == pytest.approx(program, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("cosets", [2, 3, 4])
def test_no_mixture_has_a_smaller_quantile_of_the_largest_error(cosets):
    """The program's least tail just below the quantile is larger than what one of the errors may have."""
    objective = LargestError(20, 0.9)
    quantile = optimal_noise(ApproxDP(0.4, 0.03), objective).bounds
    assert quantile.lower == quantile.upper
    below = fine_linear_program(Tail(quantile.upper - 1e-6).cost, cosets, 0.4, 0.03, 16)
    assert below > objective.tail


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.1), (1.0, 1e-3), (0.02, 0.05), (0.5, 0.7), (2.0, 1e-9)])
def test_the_bounds_contain_the_closed_form(epsilon, delta):
    """With 50 digits: the chord between the runs that spend just more and just less than delta."""
    with mp.workdps(50):
        corners = [corner(points, mp.exp(-mp.mpf(epsilon))) for points in range(1, 60)]
        (more, high), (less, low) = next((a, b) for a, b in pairwise(corners) if a[0] >= delta > b[0])
        truth = high + (low - high) * (more - mp.mpf(delta)) / (more - less)
    bounds = optimal_noise(ApproxDP(epsilon, delta), MeanSquaredError()).bounds
    assert mp.mpf(bounds.lower) <= truth <= mp.mpf(bounds.upper)
    assert bounds.upper - bounds.lower < 1e-9 * bounds.upper


def corner(points, q):
    """delta and mean square of a run, by the definition."""
    steps = range(-((points - 1) // 2), points // 2 + 1)
    mass = [q ** abs(i) for i in steps]
    total = mp.fsum(mass)
    mean = mp.fsum(p * i for p, i in zip(mass, steps)) / total
    return (mass[0] + mass[-1]) / (2 * total), mp.fsum(p * (i - mean) ** 2 for p, i in zip(mass, steps)) / total


def test_every_program_at_random_is_above_the_bound():
    """Forty promises at random, on thirds and on fifths of a count."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        epsilon, delta = rng.uniform(0.05, 1.5), 10 ** rng.uniform(-2.5, -0.4)
        bounds = optimal_noise(ApproxDP(epsilon, delta), MeanSquaredError()).bounds
        programs = [fine_linear_program(np.square, cosets, epsilon, delta, 24) for cosets in (3, 5)]
        assert bounds.lower <= min(programs) * (1 + 1e-8)
        assert bounds.upper > min(programs) - 0.01


@pytest.mark.parametrize(("epsilon", "most"), [(0.0, 40), (0.01, 40), (0.3, 30), (1.0, 16), (3.0, 8)])
def test_the_runs_are_the_corners_of_a_convex_curve(epsilon, most):
    """So that neighbouring runs are the ones to mix: V against delta, by plain sums."""
    runs = [_Run(points, epsilon) for points in range(1, most)]
    slopes = [(b.square - a.square) / (a.delta - b.delta) for a, b in pairwise(runs)]
    assert all(a < b * (1 + 1e-9) for a, b in pairwise(slopes))
    for run in runs:
        mass = np.exp(-epsilon * np.abs(run.steps))
        mean = mass @ run.steps / mass.sum()
        assert run.mean == pytest.approx(mean, abs=1e-14)
        assert run.square == pytest.approx(mass @ (run.steps - mean) ** 2 / mass.sum(), rel=1e-12, abs=1e-15)
        assert run.points == len(run.steps)
        assert abs(run.steps[0] + run.steps[-1]) == (run.points + 1) % 2


def test_under_concentrated_dp_the_bound_is_that_for_all_lattices():
    """It is below the one for the integers alone, by little: they are the best lattice."""
    best = best_on_lattice(0.25, inf, MeanSquaredError(), 0.0, 0.0)
    answer = optimal_noise(ZCDP(0.25), MeanSquaredError())
    noise, bounds = answer.noise, answer.bounds
    assert bounds.lower == best.lower_bound_of_squares() < best.lower_bound() <= bounds.upper
    assert bounds.lower > 0.9998 * bounds.upper
    assert noise.offset == 0


@pytest.mark.parametrize("guarantee", [ZCDP(0.01), ZCDP(0.5), ZCDP(1.5), ZCDP(15.0), TCDP(0.3, 1.2), TCDP(0.05, 2.4)])
def test_under_concentrated_dp_the_ends_are_near(guarantee):
    bounds = optimal_noise(guarantee, MeanSquaredError()).bounds
    assert bounds.upper * (1 - 1e-3) < bounds.lower < bounds.upper


def test_too_many_points_are_refused_at_once():
    """ZCDP(1e-6) took minutes: the line says how many points and seconds it would be."""
    for objective in (MeanSquaredError(), MeanAbsoluteError(), Tail(1e4), LargestError(1e6)):
        with pytest.raises(
            ValueError, match=r"would take .* points and a search of up to .* s, .* valid: a larger rho"
        ):
            optimal_noise(ZCDP(1e-6), objective)


def test_the_table_in_the_docs():
    text = (Path(__file__).parents[3] / "docs" / "explained" / "limits.md").read_text()
    rows = re.findall(
        r"^\| \(([\d.]+), ([\d.]+)\) \| ([\d.]+) \| ([\d.]+) \(n = (\d)\) \| \*\*([\d.]+)\*\* \|$", text, re.M
    )
    assert len(rows) == 4
    for epsilon, delta, lattice, program, cosets, best in rows:
        promise = ApproxDP(float(epsilon), float(delta))
        reach = 120 if float(best) > 100 else 16
        for printed, value in (
            (lattice, best_lattice_noise(promise, MeanSquaredError()).noise.var()),
            (program, fine_linear_program(np.square, int(cosets), promise.epsilon, promise.delta, reach)),
            (best, optimal_noise(promise, MeanSquaredError()).bounds.estimate),
        ):
            assert f"{value:.{len(printed.split('.')[1])}f}" == printed
