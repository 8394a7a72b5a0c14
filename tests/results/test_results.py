"""What a reader gets: labels, units, laziness, broadcasting, and the numbers of the summaries."""

import json
import shutil

import numpy as np
import pytest
import xarray as xr

from tcdp_sim import exact, results
from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal
from tcdp_sim.results.cells import cell_mechanism, mean_interval


@pytest.fixture
def run(tiny_once, folder):
    tiny_once("sweep.rho=[0.1,0.2]", "sweep.omega_sqrt_rho=[1,2]")
    return folder


def test_one_dimension_for_each_axis_and_lazy_if_it_is_large(run, monkeypatch):
    assert results.open_results(run)["linf_error_quantile"].chunks is None
    monkeypatch.setattr("tcdp_sim.results.open.LOADED", 0)
    ds = results.open_results(run)
    assert ds["linf_error_mean"].dims == ("noise", "k", "rho", "omega_sqrt_rho")
    assert ds.sizes["k"] == 2
    assert ds.sizes["omega_sqrt_rho"] == 2
    assert ds["linf_error_quantile"].chunks is not None
    assert list(ds["k"].values) == [10, 1e6]


@pytest.mark.parametrize("words", [("sweep.rho=[0.1,0.2]",), ("sweep.k=10", "sweep.noise=gaussian", "sweep.rho=0.1")])
def test_an_axis_with_one_value_is_no_dimension(tiny, folder, words):
    assert tiny("sweep.omega_sqrt_rho=1", *words)[0] == 0
    squeezed, whole = results.open_results(folder), results.open_results(folder, squeeze=False)
    ones = [axis for axis in json.loads(whole.attrs["axes"]) if whole.sizes.get(axis) == 1]
    assert "data" in ones
    assert not set(ones) & set(squeezed.dims)
    assert all(squeezed[axis].item() == whole[axis].item() for axis in ones)
    assert squeezed.identical(whole.squeeze(ones))
    assert results.tidy(squeezed).equals(results.tidy(whole))
    if len(squeezed["linf_error_mean"].dims) <= 2:
        assert np.array_equal(squeezed["linf_error_mean"].to_pandas(), squeezed["linf_error_mean"])


def test_a_law_that_ignores_an_axis_is_repeated_along_it(run):
    mean = results.open_results(run)["linf_error_mean"]
    laplace = mean.sel(noise="laplace", rho=0.1)
    np.testing.assert_array_equal(laplace.sel(omega_sqrt_rho=1), laplace.sel(omega_sqrt_rho=2))
    sinh_normal = mean.sel(noise="sinh_normal", rho=0.1)
    assert (sinh_normal.sel(omega_sqrt_rho=1) < sinh_normal.sel(omega_sqrt_rho=2)).all()


def test_units_meaning_and_provenance(run):
    ds = results.open_results(run)
    assert ds["linf_error_mean"].attrs["units"] == "counts"
    assert "largest absolute error" in ds["linf_error_mean"].attrs["long_name"]
    assert all({"units", "long_name"} <= set(ds[name].attrs) for name in ds.data_vars)
    about = json.loads(ds.attrs["provenance"])
    assert about["versions"]["numpy"] == np.__version__
    assert {"git", "time", "host", "config", "numerics_fingerprint"} <= set(about)
    assert ds.attrs["seed"] == "2018"


def test_cells_rebuild_their_mechanisms(run):
    flat = results.open_cells(run).load()
    families = {type(cell_mechanism(flat, i).noise) for i in range(flat.sizes["cell"])}
    assert {Gaussian, Laplace, SinhNormal} <= families
    assert all(repr(cell_mechanism(flat, i).noise) == flat["noise_law"].values[i] for i in range(4))


def test_histograms_add_up_to_the_trials(run):
    flat = results.open_cells(run).load()
    ends = np.cumsum(flat["linf_error_histogram_bins"].values)
    for i, end in enumerate(ends):
        part = slice(end - int(flat["linf_error_histogram_bins"][i]), end)
        counts = flat["linf_error_histogram_count"].values[part]
        low, high = (flat[f"linf_error_histogram_{end}"].values[part] for end in ("lower", "upper"))
        assert counts.sum() == flat["trials"][i] == 1000
        assert low[0] <= flat["linf_error_min"][i] < high[0]
        assert low[-1] <= flat["linf_error_max"][i] < high[-1]


def test_statistics_agree_with_the_exact_law(run):
    """The exact 95% quantile lies in the stored interval: 95% each, 12 cells; 4 misses or more: below 0.3%."""
    flat = results.open_cells(run).sel(quantile=0.95).load()
    missed = 0
    for i in range(flat.sizes["cell"]):
        mechanism = cell_mechanism(flat, i)
        truth = exact.max_abs_quantile(mechanism.noise, mechanism.bins, 0.95).estimate
        missed += not flat["linf_error_quantile_lower"][i] <= truth <= flat["linf_error_quantile_upper"][i]
    assert flat.sizes["cell"] == 20
    assert missed <= 4


def test_points_outside_the_sweep_are_nan(tiny, folder):
    code, _, err = tiny("data=zipf", "data.n=50", "sweep.k=[1e3]", "+also.b.k=100", "+also.b.rho=0.2")
    assert code == 0, err
    ds = results.open_results(folder)
    assert int(ds["linf_error_mean"].isnull().sum()) == 2 * 4 * 3
    assert (ds["guarantee"].sel(k=100, rho=0.1) == "").all()
    assert (ds["guarantee"].sel(k=100, rho=0.2) != "").all()


def test_nothing_to_open_is_said_in_one_line(tmp_path):
    with pytest.raises(UserError, match="holds no results"):
        results.open_results(tmp_path)
    with pytest.raises(UserError, match="holds no results"):
        results.open_results(tmp_path / "none")


@pytest.mark.parametrize("later", [True, False])
def test_results_that_vanish_after_they_were_opened_are_no_zeros(run, tmp_path, later):
    copy = shutil.copytree(run / "results.zarr", tmp_path / "copy" / "results.zarr")
    cells = results.open_cells(copy.parent, compute_later=later)
    shutil.rmtree(copy)
    with pytest.raises(UserError, match="has been removed or replaced since it was opened; open it again"):
        cells.load()


def test_two_names_of_one_law_both_have_their_row(tiny, folder):
    assert tiny("sweep.data=[one_bin,uniform]", "sweep.k=[1,100]", "sweep.noise=gaussian", "sweep.rho=0.1")[0] == 0
    found = results.open_results(folder)
    assert found.trials.values.all()  # with one bin, uniform and one_bin are the same data
    mean = found.linf_error_mean.sel(k=1)
    assert mean.sel(data="one_bin") == mean.sel(data="uniform")
    assert found.id.sel(k=100, data="one_bin") != found.id.sel(k=100, data="uniform")


def test_the_interval_of_a_nearly_constant_mean_covers():
    """Draws that are 1, but 0 with probability 1e-3: 200 of them often hold no zero, and then have no spread at all.

    Coverage of 95% over 2,000 repetitions: below 93.4% once in 1,000 times (binomial).
    """
    rng = np.random.default_rng(17)
    covered = 0
    for _ in range(2000):
        draws = (rng.random(200) >= 1e-3).astype(float)
        cell = {"x_mean": draws.mean(), "x_mean_mcse": draws.std(ddof=1) / np.sqrt(200), "x_max": 1.0, "trials": 200}
        mean, _, lower, upper = mean_interval(cell, "x")
        assert mean == draws.mean()
        covered += lower <= 1 - 1e-3 <= upper
    assert covered >= 0.934 * 2000


class Label(str):
    """A level of an axis that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Label.compared += 1
        return str(self) == str(other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("levels", [100, 1000])
def test_levels_are_found_without_comparing_them_with_each_other(monkeypatch, levels):
    """Each cell finds its place among the levels of its axes at once, so that opening takes linear time."""
    axis = np.array([Label(i) for i in range(levels)][::-1], dtype=object)
    flat = xr.Dataset(
        {"x_mean": ("cell", np.arange(levels) / 7), "x_histogram_bins": ("cell", np.ones(levels, int))}
        | {"x_nonfinite": ("cell", np.zeros(levels, int))},
        {"data": ("cell", axis)},
        {"axes": '["data"]', "seed": "1"},
    )
    monkeypatch.setattr("tcdp_sim.results.open.open_cells", lambda path: flat)
    Label.compared = 0
    found = results.open_results("anywhere")
    assert Label.compared < 60 * levels
    assert found["x_mean"].dims == ("data",)
    assert all(float(found["x_mean"][i]) == i / 7 for i in range(levels))
    assert list(found["data"].values) == list(axis)
