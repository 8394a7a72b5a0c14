"""What is published under which name, by literal numbers; and what is read off the published trials again."""

from functools import reduce
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from tcdp_sim import results
from tcdp_sim.mechanisms import Histogram, UserFunction
from tcdp_sim.mechanisms.base import Observable
from tcdp_sim.results.cells import cell_p_values, sample_skewness, table_p_values
from tcdp_sim.store import table
from tcdp_sim.summaries.encoding import from_bytes, parts_of, to_bytes
from tcdp_sim.summaries.many_summaries import together
from tcdp_sim.summaries.summary import merge, summarise

ABOUT = Observable("counts", "a number")


def distribution(*chunks):
    drawn = ({"x": np.array(x, dtype=float)} for x in chunks)
    parts = (summarise("0" * 64, i, len(x["x"]), x, {"x": {"two": 2.0}}) for i, x in enumerate(drawn))
    return reduce(merge, parts).observables["x"]


def published(*distributions):
    """The flat table of cells with these trials, as far as it is about them."""
    found = list(distributions)
    variables = table._moments("x", ABOUT, found) | table._quantiles("x", ABOUT, found)
    variables |= table._histogram("x", ABOUT, found)
    variables |= table._exceedances("x", ABOUT, found, [{"two": 2.0}] * len(found))
    return xr.Dataset(variables, {"quantile": table.QUANTILES})


def test_every_number_has_its_name():
    """1, 3 and 8: mean 4, variance (9 + 1 + 16) / 2 = 13, standard error sqrt(13 / 3)."""
    flat = published(distribution([1.0, 3.0], [8.0, np.nan, np.inf]))
    expected = {"mean": 4, "mean_mcse": np.sqrt(13 / 3), "sd": np.sqrt(13), "min": 1, "max": 8, "nonfinite": 2}
    expected |= {"minus_infinity": 0, "plus_infinity": 1, "two": 2.0, "exceeds_two": 3 / 4, "exceeds_two_count": 3}
    for name, value in expected.items():
        assert flat[f"x_{name}"].values == pytest.approx([value], rel=1e-12), name
    assert "standard error of the mean" in flat["x_mean_mcse"].attrs["long_name"]


def test_every_number_has_its_unit():
    """What is measured, and the threshold it is measured against, are counts; counts of trials and chances are none."""
    flat = published(distribution([1.0, 3.0], [8.0, 2.0]))
    counts = {"mean", "mean_mcse", "mean_lower", "mean_upper", "sd", "min", "max", "two"}
    counts |= {
        "histogram_value",
        "histogram_lower",
        "histogram_upper",
        *("quantile" + end for end in ("", "_mcse", "_lower", "_upper")),
    }
    assert {name.removeprefix("x_") for name in flat if flat[name].attrs["units"] == "counts"} == counts
    assert {flat[f"x_{name}"].attrs["units"] for name in ("exceeds_two", "exceeds_two_count", "nonfinite")} == {"1"}


def test_trials_that_are_finite_are_published_as_before():
    assert not [name for name in published(distribution([1.0, 2.0])) if "infinity" in name]


def test_infinite_trials_are_in_quantiles_and_probabilities():
    """3 of 4 are above the threshold, two of them infinite: not 3 of the 2 that are finite."""
    flat = published(distribution([1.0, 3.0, np.inf, np.inf] * 500), distribution([0.0] * 2000))
    assert flat["x_exceeds_two"].values.tolist() == [0.75, 0]
    assert flat["x_plus_infinity"].values.tolist() == [1000, 0]
    assert flat["x_quantile"].sel(quantile=0.75).values.tolist() == [np.inf, 0]
    assert flat["x_quantile_lower"].sel(quantile=0.75).values.tolist() == [np.inf, 0]


def test_p_values_of_quantiles_are_read_off_what_is_published():
    rng = np.random.default_rng(2)
    x = rng.normal(size=1000)
    x[:100], x[100:300] = np.inf, -np.inf
    flat = published(distribution([5.0]), distribution(x), distribution(1e-30 * rng.normal(size=400)))
    found = cell_p_values(flat, 1, "x", [0.1, 0.5, 0.95], [-np.inf, 2.0, np.inf])
    below = int((x < 2.0).sum())
    assert found[[0, 2]].tolist() == [1, 1]
    assert np.log(found[1]) == pytest.approx(np.log(2) + stats.binom(1000, 0.5).logsf(below - 1), abs=0.2)
    every = table_p_values(flat, "x", 0.5, [5.0, 2.0, 3e-30])
    tiny = float(cell_p_values(flat, 2, "x", 0.5, 3e-30))
    assert np.log(every) == pytest.approx(np.log([1.0, found[1], tiny]), rel=1e-12)
    assert 0 < every[2] < 1e-50


LAWS = [stats.expon(), stats.norm(), stats.gamma(0.5), stats.beta(9, 1), stats.expon(scale=1e-60)]


@pytest.mark.parametrize("law", LAWS)
def test_the_skewness_read_off_the_bins(law):
    x = law.rvs(5000, random_state=3)
    flat = published(distribution(x + 1), distribution(x))
    assert sample_skewness(flat, 1, "x") == pytest.approx(stats.skew(x / x.std()), rel=0.01, abs=0.003)


def test_the_skewness_of_what_the_bins_do_not_resolve():
    """Deviations of 1e-6 about 1: no more than the largest over the standard deviation, and that is told."""
    x = 1 + 1e-6 * np.random.default_rng(4).exponential(size=1000)
    flat = published(distribution(x), distribution([7.0] * 9))
    assert sample_skewness(flat, 0, "x") == pytest.approx((x.max() - x.mean()) / x.std(ddof=1), rel=1e-6)
    assert sample_skewness(flat, 0, "x") > stats.skew(x)
    assert sample_skewness(flat, 1, "x") == 0


def test_a_loss_that_is_infinite_once_in_ten_times(command, tmp_path):
    """Truncated Laplace noise at (1, 0.1): its 95% quantile is inf, simulated and exact, which is no contradiction."""
    words = ("experiment=privacy_loss", "cluster=serial", "trials=4000", "chunk=1000", "sweep.noise=truncated_laplace")
    code, out, err = command(*words, "sweep.rho=0.5", "sweep.delta=0.1", "also=null", "sweep.omega_sqrt_rho=null")
    assert (code, err) == (0, "")
    flat = results.open_cells(tmp_path / "results" / "privacy_loss").sel(quantile=[0.5, 0.95]).load()
    assert flat["privacy_loss_nonfinite"] == flat["privacy_loss_plus_infinity"]
    assert flat["privacy_loss_plus_infinity"].item() == pytest.approx(400, abs=5.5 * 19)
    for end in ("", "_lower", "_upper"):
        middle, high = flat[f"privacy_loss_quantile{end}"].values[0]
        assert abs(middle) <= 1.01
        assert high == np.inf
    assert "none contradicts" in out


@pytest.mark.parametrize("bound", [(-np.inf, np.inf), (0.0, 4.0), (0.0, np.inf)])
def test_cells_read_together_have_the_statistics_of_each_alone(bound):
    """Also where all trials are equal, and the interval follows from the bounds of the numbers."""
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.random((20, 12)), np.full((2, 12), 0.1), np.zeros((1, 12))])
    observables = {"x": Observable("counts", "x", *bound)}
    kind = type("Kind", (UserFunction,), {"observables": observables, "events": {"low": "low"}})
    encodings = [to_bytes(summarise("c" * 64, 0, 12, {"x": row, "low": row < 0.2}, {})) for row in x]
    alone = table.estimates(kind, [kind({}, {})] * len(x), [from_bytes(one) for one in encodings])
    names = table.names_together(kind)
    at_once = table.estimates_together(kind, together([parts_of(one) for one in encodings], names))
    assert list(at_once) == list(alone)
    for name, (dims, values, about) in alone.items():
        assert (at_once[name][0], at_once[name][2]) == (dims, about)
        assert np.asarray(at_once[name][1]).dtype == values.dtype
        np.testing.assert_array_equal(at_once[name][1], values, err_msg=name)


def test_mechanisms_with_thresholds_are_not_read_together():
    assert table.names_together(Histogram) is None


def test_batches_of_all_observables_share_one_width():
    parts = [SimpleNamespace(batches={"a": np.ones((1, 2))}), SimpleNamespace(batches={"b": np.ones((2, 2))}), None]
    found = table.batch_means(SimpleNamespace(observables={"a": ABOUT}), parts)
    assert [about["units"] for _, _, about in found.values()] == ["counts", "1"]
    assert [values.shape for _, values, _ in found.values()] == [(3, 4), (3, 4)]
    assert [np.isfinite(values).sum(axis=1).tolist() for _, values, _ in found.values()] == [[2, 0, 0], [0, 4, 0]]
