"""A private centre by smooth sensitivity as a mechanism, against records worked out by hand and exact quantiles.

Seeds are fixed; for a fresh seed a comparison of proportions at 5 standard errors has a false-alarm rate of 6e-7.
"""

import json

import numpy as np
import pytest

from tcdp_sim.calibration import calibrate_smooth
from tcdp_sim.data.smooth_sensitivity import smooth_sensitivity
from tcdp_sim.experiments.smooth_sensitivity import chance_within, error_quantile
from tcdp_sim.mechanisms.smooth_sensitivity import SmoothSensitivity
from tcdp_sim.privacy import TCDP, ZCDP

VALUES = (3, 5, 5, 6, 7, 8, 9, 11, 12, 30)
TRIALS = 20_000


@pytest.fixture
def options(tmp_path):
    file = tmp_path / "small.csv"
    file.write_text("x\n" + "\n".join(map(str, VALUES)) + "\n")
    return {"records": {"small": {"path": str(file), "column": "x", "log2_k": 5}}, "trim": 0.2}


def point(method, **more):
    target = {"rho": 0.5, "omega": 4.0, "smoothing": 0.05, "smooth_noise": "arsinh_normal"}
    return {"method": method, "records": "small", "n": 10} | target | more


def built(options, method, **more):
    law = SmoothSensitivity.law(point(method, **more), options, None)
    assert json.loads(json.dumps(law)) == law
    return SmoothSensitivity.build(law, None)


def test_the_median_and_its_noise(options):
    mechanism = built(options, "median")
    assert (mechanism.answer, mechanism.target, mechanism.largest) == (7, 7, 31)
    assert mechanism.sensitivity == smooth_sensitivity(VALUES, (0, 31), 0.05)
    assert mechanism.noise == calibrate_smooth("arsinh_normal", TCDP(0.5, 4.0), 0.05).noise
    assert mechanism.guarantee == TCDP(0.5, 4.0)


def test_the_trimmed_mean_leaves_two_out_on_each_side(options):
    mechanism = built(options, "trimmed_mean", smooth_noise="student_t")
    assert mechanism.answer == pytest.approx(np.mean(VALUES[2:8]))
    assert mechanism.sensitivity == smooth_sensitivity(VALUES, (0, 31), 0.05, ("trimmed_mean", 2))
    assert mechanism.noise.family == "student_t"


def test_global_sensitivity_is_the_range_over_n_or_the_range(options):
    mean, median = built(options, "mean_global"), built(options, "median_global")
    assert mean.sensitivity == pytest.approx(3.1)
    assert mean.answer == pytest.approx(np.mean(VALUES))
    assert median.sensitivity == 31
    assert mean.noise.scale == pytest.approx(1.0)
    assert mean.guarantee == ZCDP(0.5)


def test_contamination_moves_records_to_the_upper_bound(options):
    mechanism = built(options, "mean_global", contamination=0.2)
    assert mechanism.records.n == 10
    assert sorted(mechanism.records.sorted)[-2:] == [31, 31]
    assert mechanism.target == pytest.approx(np.mean(VALUES))
    assert mechanism.answer > mechanism.target


@pytest.mark.parametrize(
    ("method", "expected"),
    [("median", 31 * np.exp(-6 * 0.05)), ("trimmed_mean", 31 * np.exp(-2 * 0.05) / 6)],
)
def test_the_sensitivity_is_that_of_the_contaminated_records(options, method, expected):
    """By hand: 3 5 6 8 9 12 31 31 31 31, four of which have been moved.

    The bounds are ranks 0 and 11. The median is at 0 or at 31, as its neighbour decides, once six records have been
    moved: of ranks 0 and 7 there are seven steps. Two do for a mean of six: of ranks 0 and 8 there are eight.
    """
    mechanism = built(options, method, contamination=0.4)
    assert mechanism.records.sorted.tolist() == [3, 5, 6, 8, 9, 12, 31, 31, 31, 31]
    assert mechanism.sensitivity == pytest.approx(expected, rel=1e-12)
    assert built(options, method).sensitivity < 0.95 * expected


def test_n_records_are_taken_at_evenly_spaced_ranks(options):
    assert built(options, "median", n=5).clean.sorted.tolist() == [5, 6, 8, 11, 30]
    with pytest.raises(ValueError, match="1 to 10"):
        built(options, "median", n=11)


@pytest.mark.parametrize("method", ["median", "trimmed_mean", "mean_global", "median_global"])
@pytest.mark.parametrize("contamination", [None, 0.2])
def test_simulated_errors_have_their_exact_quantiles(options, method, contamination):
    mechanism = built(options, method, contamination=contamination)
    errors = mechanism.simulate(np.random.default_rng(5), TRIALS)["abs_error"]
    assert errors.max() <= 31
    for level in (0.1, 0.5, 0.9):
        radius = error_quantile(mechanism, level)
        if radius >= max(mechanism.target, 31 - mechanism.target):
            assert (errors == radius).mean() > 1 - level - 0.02  # clamped to an end of the domain
            continue
        # A release clamped to 0 is an atom of the error.
        assert chance_within(mechanism, radius - 1e-4) <= level <= chance_within(mechanism, radius + 1e-4)
        share = (errors <= radius * (1 + 1e-9)).mean()
        assert abs(share - chance_within(mechanism, radius * (1 + 1e-9))) < 5 * np.sqrt(0.25 / TRIALS)


def test_interior_points_are_the_package_s_own(options):
    mechanism = built(options, "median_interior_point", omega=10.0)
    assert mechanism.noise is None
    assert np.isnan(error_quantile(mechanism, 0.5))
    errors = mechanism.simulate(np.random.default_rng(5), 20)["abs_error"]
    assert ((errors >= 0) & (errors <= 31)).all()
