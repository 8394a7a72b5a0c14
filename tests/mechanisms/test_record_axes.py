"""The axes of a release: what it depends on, its anchors, plain data and back."""

import json
from math import e

import numpy as np
import pytest

from tcdp_sim.mechanisms import record_axes
from tcdp_sim.mechanisms.record_axes import built_release, influence_of, is_illustration, release_law, release_uses
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian, Laplace
from tcdp_sim.per_record import (
    AdditiveRelease,
    ClippedRelease,
    Log,
    Root,
    TransformedRelease,
    UnitSplitRelease,
)

ANCHORS = {"accounting": "approx_dp", "delta": 1e-6, "influence_low": "median", "value_low": 1.0}
ANCHORS |= {"influence_high": "max", "value_high": 10.0, "population": "breaches"}


@pytest.mark.parametrize(
    ("point", "release"),
    [
        ({"release": "gaussian", "scale": 2.5}, AdditiveRelease(Gaussian(2.5))),
        ({"release": "laplace", "scale": 2.5}, AdditiveRelease(Laplace(2.5))),
        ({"release": "generalized_gaussian", "scale": 3.0, "power": 0.5}, AdditiveRelease(GeneralizedGaussian(3, 0.5))),
        (
            {"release": "exponential_polylogarithmic", "scale": 3.0, "power": 2.0, "rate": 0.3},
            AdditiveRelease(ExponentialPolylogarithmic(3.0, 2.0, e, 0.3)),
        ),
        (
            {"release": "exponential_polylogarithmic", "scale": 3.0, "power": 1.0, "rate": 1.5, "offset": 2.0},
            AdditiveRelease(ExponentialPolylogarithmic(3.0, 1.0, 2.0, 1.5)),
        ),
        ({"release": "fourth_root", "scale": 2.0}, TransformedRelease(Root(4), 2.0)),
        (
            {"release": "root", "scale": 2.0, "degree": 3.0, "offset": 7.0, "nonnegative": "true"},
            TransformedRelease(Root(3, 7.0), 2.0, nonnegative=True),
        ),
        (
            {"release": "log", "scale": 0.5, "offset": 10.0, "estimator": "median_unbiased"},
            TransformedRelease(Log(10.0), 0.5, "median_unbiased"),
        ),
        ({"release": "clipped", "scale": 2.0, "clip": 50.0}, ClippedRelease(50.0, 2.0)),
        ({"release": "unit_splitting", "scale": 2.0, "threshold": 5.0}, UnitSplitRelease(5.0, 2.0)),
        (
            {"release": "unit_splitting", "scale": 2.0, "threshold": 5.0, "rule": "capped", "pieces": 3.0},
            UnitSplitRelease(5.0, 2.0, "capped", 3),
        ),
    ],
    ids=lambda part: part["release"] if isinstance(part, dict) else "",
)
def test_parameters_make_a_release_and_plain_data_bring_it_back(point, release):
    data = release_law(point)
    assert json.loads(json.dumps(data)) == data
    assert built_release(data) == release
    assert set(release_uses(point | ANCHORS)) == set(point)


def test_a_second_anchor_counts_where_the_shape_is_free():
    two = ("influence_low", "value_low")
    assert set(two) <= set(release_uses({"release": "generalized_gaussian"} | ANCHORS))
    assert set(two) <= set(release_uses({"release": "exponential_polylogarithmic", "power": 2.0} | ANCHORS))
    for alone in ({"release": "laplace"}, {"release": "square_root", "offset": 0.0}, {"release": "clipped"}):
        assert not set(two) & set(release_uses(alone | ANCHORS))
    assert "delta" not in release_uses({"release": "laplace"} | ANCHORS | {"accounting": "zcdp"})
    assert "population" not in release_uses({"release": "laplace"} | ANCHORS | {"influence_high": 5.0})


def test_anchors_read_off_data_are_said_to_be_an_illustration():
    assert is_illustration({"release": "laplace"} | ANCHORS)
    assert not is_illustration({"release": "laplace"} | ANCHORS | {"influence_high": 5.0})
    assert is_illustration({"release": "log"} | ANCHORS | {"influence_high": 5.0})
    assert not is_illustration({"release": "laplace", "scale": 2.0} | ANCHORS)


LEVELS = {"min": 0, "p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1}


def test_words_are_quantiles_by_the_inverted_cdf():
    """numpy's own definition of it is the oracle, on data with ties."""
    values = np.random.default_rng(3).integers(1, 300, 1151).astype(float)
    assert set(LEVELS) == set(record_axes.WORDS)
    for word, level in LEVELS.items():
        assert influence_of("influence", word, values) == np.quantile(values, level, method="inverted_cdf")
    assert influence_of("influence", 2.5) == 2.5


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"release": "laplase"}, "did you mean laplace"),
        ({"release": "laplace", "scale": -1.0}, "scale = -1"),
        ({"release": "generalized_gaussian", "scale": 1.0}, "needs power"),
        ({"release": "root", "scale": 1.0}, "needs degree"),
        ({"release": "log", "scale": 1.0}, "needs offset"),
        ({"release": "clipped", "scale": 1.0}, "needs clip"),
        ({"release": "fourth_root", "scale": 1.0, "nonnegative": "perhaps"}, "nonnegative = 'perhaps'"),
        ({"release": "laplace"} | ANCHORS | {"accounting": "exact"}, "accounting = 'exact'"),
        ({"release": "laplace"} | ANCHORS | {"value_high": None}, "needs value_high"),
        ({"release": "laplace"} | ANCHORS, "influence_high = max needs population"),
        ({"release": "laplace"} | ANCHORS | {"influence_high": "mean"}, "influence_high = 'mean'"),
        ({"release": "laplace"} | ANCHORS | {"influence_high": 3.0, "delta": None}, "needs delta"),
    ],
)
def test_mistakes_are_said_in_one_line(point, message):
    with pytest.raises(ValueError, match=message) as mistake:
        release_law(point)
    assert "\n" not in str(mistake.value)


def test_a_population_of_zeros_has_no_median():
    with pytest.raises(ValueError, match="influence_low = median is 0 in this population"):
        influence_of("influence_low", "median", np.array([0.0, 0.0, 5.0]))
