"""Means and standard errors of numbers of any size: no sum overflows, and no square vanishes."""

from fractions import Fraction

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.summaries import batch
from tcdp_sim.summaries.decoding import decoded
from tcdp_sim.summaries.encoding import to_bytes
from tcdp_sim.summaries.estimates import mean
from tcdp_sim.summaries.summary import merged, summarise

CELL = "a" * 64
SIZES = (1e308, 1e200, 2.0**401, 2.0**400, 1e100, 1.0, 1e-100, 2.0**-400, 2.0**-401, 1e-170, 1e-250, 5e-310)


def summary(*chunks):
    return merged(summarise(CELL, i, len(x), {"x": x}, {}) for i, x in enumerate(chunks))


def exactly(x):
    """Mean and standard deviation, with fractions for everything but the last square root."""
    values = [Fraction(float(each)) for each in x]
    centre = sum(values) / len(values)
    unit = max(map(abs, values))
    variance = sum(((each - centre) / unit) ** 2 for each in values) / (len(values) - 1)
    return float(centre), float(unit * Fraction(np.sqrt(float(variance))))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chunks", [1, 3])
def test_means_of_numbers_of_any_size(size, chunks):
    rng = np.random.default_rng(3)
    parts = [size * rng.uniform(-0.2, 1, 50) for _ in range(chunks)]
    value, mcse, deviation = mean(summary(*parts).observables["x"])
    centre, spread = exactly(np.concatenate(parts))
    assert (value, deviation) == pytest.approx((centre, spread), rel=1e-12, abs=0)
    assert mcse == pytest.approx(spread / np.sqrt(50 * chunks), rel=1e-12, abs=0)


def test_chunks_of_different_sizes_are_merged():
    rng = np.random.default_rng(4)
    parts = [size * rng.uniform(0.5, 1, 20) for size in SIZES]
    value, _, deviation = mean(summary(*parts).observables["x"])
    assert (value, deviation) == pytest.approx(exactly(np.concatenate(parts)), rel=1e-12)
    tiny = [5e-310 * rng.uniform(0.5, 1, 20), np.zeros(20), np.full(20, np.nan)]
    assert mean(summary(*tiny).observables["x"])[0] == pytest.approx(exactly(np.concatenate(tiny[:2]))[0], rel=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_records_and_cells_that_are_computed_together_agree(size):
    x = size * np.random.default_rng(5).uniform(0.5, 1, (2, 50))
    one = summarise(CELL, 0, 50, {"x": x[0]}, {})
    again = decoded(to_bytes(one), 50)
    np.testing.assert_array_equal(again.observables["x"].moments, one.observables["x"].moments)
    rows = batch.rows_of(x, np.array([0.5]))
    assert (rows is None) == (size < 2.0**-64)
    if rows:
        assert rows.moments[:2, 0].tolist() == list(mean(one.observables["x"])[:2])


@pytest.mark.parametrize("size", [1e308, 1e160, 2.0**402])
def test_a_record_with_a_sum_that_is_not_scaled_is_of_an_older_version(size):
    one = summarise(CELL, 0, 50, {"x": size * np.random.default_rng(6).uniform(0.5, 1, 50)}, {})
    with np.errstate(over="ignore"):
        one.observables["x"].moments[0, 1] = size * 40.0
    with pytest.raises(ValueError, match="its sum cannot be"):
        decoded(to_bytes(one), 50)


@pytest.mark.parametrize("trials", [{"trials": 500}, {"trials": 600, "chunk": 200}, {"trials": 500, "share": "n"}])
def test_a_sweep_of_huge_numbers_beside_infinite_ones(trials):
    """7% of the trials are infinite; the mean of the others is 0.75e308 and was NaN."""

    def huge(rng, trials, n):
        return np.where(rng.random(trials) < 0.07, np.inf, 1e308 * rng.uniform(0.5, 1, trials))

    found = tcdp_sim.sweep(huge, {"n": [1, 2]}, exact={"value": 0.75e308}, **trials)
    assert (abs(found["value"] / 1e308 - 0.75) < 5 * found["value_mcse"] / 1e308).all()
    assert (found["value_mcse"] < 0.01e308).all()
