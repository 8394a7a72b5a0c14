"""Noise for unequal moves, against divergences by plain sums over the density: no bracket, no convexity."""

import numpy as np
import pytest

from tcdp_sim.calibration import LargestError, calibrate_unequal
from tcdp_sim.calibration import unequal_moves as module
from tcdp_sim.ordered.prefix_sums import Optimum, SquareRoot, WeightedSquareRoot
from tcdp_sim.privacy import TCDP, ZCDP

PROMISE = TCDP(0.2, 5.0)
MILLION = LargestError(1e6)


def divergences(noise, moves, order):
    """D_a of the moved noise, by the trapezoid rule, which is exact to rounding for analytic densities."""
    x = np.linspace(-12, 12, 3001) * float(noise.var()) ** 0.5 + moves.max() / 2
    log_ratio = noise.logpdf(x - moves[:, None]) - noise.logpdf(x)
    return np.log(np.exp(noise.logpdf(x) + order * log_ratio).sum(axis=1) * (x[1] - x[0])) / (order - 1)


@pytest.mark.parametrize(
    "factorisation",
    [SquareRoot(12, "add_remove"), SquareRoot(12, "substitute"), WeightedSquareRoot(9, "add_remove"), Optimum(8)],
)
@pytest.mark.parametrize("objective", [module.VARIANCE, MILLION])
def test_divergences_of_all_moves_together_keep_the_promise(factorisation, objective):
    sizes = factorisation.largest_move, factorisation.sensitivity, factorisation.noises
    noise = calibrate_unequal("sinh_squared", PROMISE, *sizes, objective).noise
    right = np.linalg.solve(factorisation.errors(np.eye(factorisation.noises)).T, np.tril(np.ones((sizes[2],) * 2)))
    columns = right.T
    if factorisation.relation == "substitute":
        columns = np.array([a - b for i, a in enumerate(columns) for b in columns[i + 1 :]])
    spent = []
    for order in (1.001, 2.0, 4.999):
        entries, where = np.unique(np.round(np.abs(columns), 9), return_inverse=True)
        each = divergences(noise, entries, order)
        spent.append(each[where.reshape(columns.shape)].sum(axis=1).max() / (PROMISE.rho * order))
    assert max(spent) <= 1.0
    assert max(spent) > (0.97 if objective is module.VARIANCE else 0.8)  # the class of moves costs little


def test_the_least_variance_is_nearly_gaussian():
    noise = calibrate_unequal("sinh_squared", PROMISE, 1.0, 2.0, 1000).noise
    assert 1.0 < float(noise.var()) * 2 * PROMISE.rho / 4 < 1.012


def test_a_single_move_is_the_usual_calibration_but_for_the_margin():
    from tcdp_sim.calibration import calibrate

    alone = float(calibrate("sinh_squared", PROMISE, 2.0, objective=MILLION).noise.var())
    assert 1.0 < float(calibrate_unequal("sinh_squared", PROMISE, 2.0, 2.0, 1, MILLION).noise.var()) / alone < 1.015


def test_units_do_not_matter():
    one = calibrate_unequal("sinh_squared", PROMISE, 1.0, 3.0, 50, MILLION).noise
    ten = calibrate_unequal("sinh_squared", PROMISE, 10.0, 30.0, 50, MILLION).noise
    assert ten.scale == pytest.approx(10 * one.scale, rel=1e-6)


def test_moves_between_those_checked_are_below_the_parabola():
    """The margin by which chords exceed the parabola, from a dense grid of a quadratic divergence's chords."""
    moves = np.geomspace(module.LEAST, 1.0, module.MOVES)
    s = np.linspace(moves[:-1], moves[1:], 999)
    chord = moves[:-1] ** 2 + (s - moves[:-1]) * (moves[:-1] + moves[1:])
    assert (chord / s**2).max() == pytest.approx(module._CHORD, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": "laplace"}, "laplace: no noise with D_a"),
        ({"family": "lattice"}, "family = lattice is not valid for unequal moves"),
        ({"family": "discrete_gaussian"}, "family = discrete_gaussian"),
        ({"guarantee": ZCDP(0.5)}, "valid: TCDP with finite omega"),
        ({"distance": 0.5}, "distance = 0.5"),
        ({"largest": 0.0}, "largest = 0"),
        ({"coordinates": 0}, "coordinates = 0"),
    ],
)
def test_mistakes_are_one_line(change, message):
    given = {"family": "sinh_squared", "guarantee": PROMISE, "largest": 1.0, "distance": 2.0, "coordinates": 3}
    with pytest.raises(ValueError, match=message):
        calibrate_unequal(**(given | change))
