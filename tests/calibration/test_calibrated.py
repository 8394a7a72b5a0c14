"""What every search for a noise returns, and the objectives that they share."""

import numpy as np
import pytest

from tcdp_sim import calibration
from tcdp_sim.calibration import (
    VARIANCE,
    Calibrated,
    LargestError,
    calibrate,
    calibrate_records,
    calibrate_smooth,
    optimal,
    standard_deviation,
)
from tcdp_sim.calibration.optimal import MeanSquaredError, Tail, best_lattice_noise, optimal_noise
from tcdp_sim.exact import max_abs_quantile, record_epsilon
from tcdp_sim.noise import FAMILIES, Gaussian, Laplace
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP

ANCHORS = ((2e3, 1.0), (5e6, 10.0))
ANSWERS = [
    lambda: calibrate("gaussian", ZCDP(0.5)),
    lambda: calibrate("laplace", ZCDP(0.5), objective=LargestError(100, 0.9)),
    lambda: calibrate("sinh_normal", TCDP(0.5, 3.0), method="paper"),
    lambda: calibrate("lattice", PureDP(1.0)),
    lambda: calibrate_smooth("laplace_log_normal", ZCDP(0.1), 0.05, "paper"),
    lambda: calibrate_records("laplace", ANCHORS[:1], "pure"),
    lambda: calibrate_records("square_root", ANCHORS[:1], "printed"),
    lambda: optimal_noise(PureDP(1.0), Tail(2.0)),
    lambda: best_lattice_noise(PureDP(1.0), MeanSquaredError()),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_every_search_returns_one_type(answer):
    found = answer()
    assert type(found) is Calibrated
    assert found.bounds.lower <= found.bounds.estimate <= found.bounds.upper
    assert np.isfinite(found.bounds.upper)
    assert found.method
    with pytest.raises(AttributeError):
        found.noise = None
    with pytest.raises(TypeError):
        iter(found)  # no pair of former times


def test_the_guarantee_is_the_one_that_was_asked_for():
    assert calibrate("gaussian", ZCDP(0.5), 3.0).guarantee == ZCDP(0.5)
    assert optimal_noise(ApproxDP(0.5, 0.1), MeanSquaredError()).guarantee == ApproxDP(0.5, 0.1)
    assert calibrate_smooth("student_t", PureDP(1.0), 0.05, "paper").guarantee == PureDP(1.0)
    assert calibrate_records("laplace", ANCHORS[:1]).guarantee == ANCHORS[:1]


@pytest.mark.parametrize("family", ["gaussian", "laplace", "sinh_normal", "lattice"])
def test_the_estimate_is_the_objective_of_the_noise(family):
    """The variance in closed form, and the quantile of the largest error by its exact law."""
    guarantee = TCDP(0.5, 3.0)
    found = calibrate(family, guarantee, objective=VARIANCE)
    assert found.bounds.estimate == found.noise.var()
    if family != "lattice":
        found = calibrate(family, guarantee, objective=LargestError(1e6, 0.95))
        assert found.bounds.estimate == pytest.approx(max_abs_quantile(found.noise, 1e6, 0.95).estimate, rel=1e-12)
    assert found.bounds.lower == -np.inf  # a search within a family proves nothing about other noises


def test_the_sensitivity_is_in_the_bounds():
    assert calibrate("gaussian", ZCDP(0.5), 3.0).bounds.estimate == pytest.approx(9.0, rel=1e-14)
    assert calibrate("sinh_squared", TCDP(0.1, 5.0), 3.0).bounds.estimate == pytest.approx(
        9 * calibrate("sinh_squared", TCDP(0.1, 5.0)).bounds.estimate, rel=1e-5
    )


def test_calibration_on_a_lattice_reaches_the_proved_optimum():
    """It is the same convex problem, so its cost lies between the two bounds of the optimum."""
    best = optimal_noise(TCDP(0.2, 4.0), LargestError(1e4, 0.95))
    found = calibrate("lattice", TCDP(0.2, 4.0), objective=LargestError(1e4, 0.95))
    assert best.bounds.lower <= found.bounds.estimate <= best.bounds.upper
    squares = best_lattice_noise(ApproxDP(0.3, 0.1), MeanSquaredError()).bounds
    of_all = optimal_noise(ApproxDP(0.3, 0.1), MeanSquaredError()).bounds
    assert squares.lower == of_all.lower < of_all.upper < squares.estimate
    assert squares.upper == pytest.approx(2.8362, abs=5e-5)  # docs/explained/limits.md, by a linear program


def test_a_release_comes_with_its_noise_if_it_adds_one():
    laplace = calibrate_records("laplace", ANCHORS[1:])
    assert laplace.release == AdditiveRelease(laplace.noise)
    assert type(laplace.noise) is Laplace
    assert laplace.bounds == record_epsilon(laplace.release, 5e6, 1e-6)
    assert laplace.bounds.upper <= 10.0
    root = calibrate_records("square_root", ANCHORS[1:], "printed")
    assert root.noise is None
    assert root.bounds.upper == root.release.policy(5e6)
    assert calibrate("gaussian", ZCDP(0.5)).release is None
    two = calibrate_records("generalized_gaussian", ANCHORS, "pure")
    assert two.bounds.estimate == two.release.pure_policy(ANCHORS[-1][0]) > two.release.pure_policy(ANCHORS[0][0])


def test_the_bounds_of_smooth_noise_are_those_of_its_variance():
    found = calibrate_smooth("student_t", PureDP(1.0), 0.05, "paper")
    assert found.bounds.estimate == found.noise.var()
    assert standard_deviation(found) == np.sqrt(found.noise.var())


def test_one_objective_for_noise_with_a_density_and_on_a_lattice():
    assert calibration.LargestError is optimal.LargestError
    assert LargestError(4, 0.0625).tail == pytest.approx(0.5, rel=1e-15)
    assert LargestError(1, 0.9)(Gaussian(2.0)) == pytest.approx(2 * 1.6448536269514722, rel=1e-14)  # P[|N| < x] = 0.9
    assert MeanSquaredError() == VARIANCE
    assert VARIANCE(Laplace(3.0)) == 18.0


def test_no_family_is_lost():
    """The files beside the noises that hold objectives and answers define no family."""
    assert not {"calibrated", "objectives"} & set(FAMILIES)
