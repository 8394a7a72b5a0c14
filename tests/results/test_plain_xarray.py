"""A published dataset is complete for a reader who has xarray alone, and holds only what occurs."""

import shlex
import subprocess
import sys
import warnings

import numpy as np
import pytest
import xarray as xr

from tcdp_sim import results
from tcdp_sim.core.errors import UserError
from tcdp_sim.results.open import _check_layout
from tcdp_sim.store import columns
from tcdp_sim.summaries.bins import LARGEST_KEY, bin_edges, histogram, in_order, keys_between

# what the referee of the dataset of one cell asked for
ONE_CELL = (
    *("experiment=subsampling", "sweep.noise=gaussian", "sweep.rho=0.5", "sweep.sampling_fraction=0.01"),
    *("sweep.scheme=poisson", "also=null"),
)
ONE_RHO = ("sweep.rho=0.1", "sweep.omega_sqrt_rho=null", "also=null")
STUDIES = {
    "histogram": ("experiment=histogram", "sweep.k=[10,1000]", "sweep.noise=[gaussian,laplace]", *ONE_RHO),
    "privacy_loss": ("experiment=privacy_loss", "sweep.noise=[gaussian,truncated_laplace]", "also=null"),
    "thresholds": (
        *("experiment=thresholds", "sweep.records=departures_HA", "sweep.method=[median,binary_search]"),
        *("sweep.rho=0.5", "also=null"),
    ),
    "gap_max": ("experiment=gap_max", "sweep.noise=gaussian", "also=null"),
}


def opened(folder):
    """The dataset as plain xarray opens it, which must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xr.open_zarr(folder / "results.zarr").load()


@pytest.fixture
def folder_of(ran_once, tmp_path):
    """The folder of a small run: folder_of(*words)."""

    def run(*words):
        ran_once(*words, "cluster=serial", "trials=400", "chunk=200")
        (folder,) = (tmp_path / "results").iterdir()
        return folder

    return run


@pytest.fixture(params=STUDIES)
def plain(request, folder_of):
    """The published dataset of a study."""
    return opened(folder_of(*STUDIES[request.param]))


def check(ds):
    """Assert what holds of every published dataset."""
    for name, variable in ds.variables.items():
        assert variable.attrs["long_name"], name
        assert variable.attrs["units"], name
        assert variable.dtype.kind in "fiO", name  # and not numpy's StringDType
        assert variable.dtype.kind != "f" or not variable.size or not np.isnan(variable.values).all(), name
        if name + "_mcse" in ds:
            assert variable.attrs["error"] == name + "_mcse"
        assert variable.attrs.get("error", name) in ds.variables


def test_every_variable_is_described_and_has_a_number(plain):
    check(plain)
    assert plain.attrs["layout"] == 2


def test_trials_come_first_and_quantities_are_together(plain):
    names = list(plain.data_vars)
    assert names[0] == "trials"
    assert names[-3:] == ["data_counts", "data_start", "data_size"]
    estimates = [name for name in names if name + "_upper" in names and name + "_mcse" in names]
    assert estimates
    for name in estimates:
        place = names.index(name)
        together = [name + end for end in ("", "_mcse", "_lower", "_upper", "_exact", "_bound") if name + end in names]
        assert names[place : place + len(together)] == together, name


def test_edges_of_each_cell_ascend_and_hold_its_trials(plain):
    for name in columns.observables(map(str, plain.data_vars)):
        ends = np.cumsum(plain[f"{name}_histogram_bins"].values)
        assert plain[f"{name}_histogram_bins"].attrs["sample_dimension"] == f"{name}_entry"
        for row, end in enumerate(ends):
            own = slice(end - plain[f"{name}_histogram_bins"].values[row], end)
            low, high, count = (plain[f"{name}_histogram_{x}"].values[own] for x in ("lower", "upper", "count"))
            assert (np.diff(low) >= 0).all()
            assert (low[1:] >= high[:-1]).all()
            assert (high - low <= 0.002 * np.maximum(abs(low), abs(high))).all()
            assert count.sum() + plain[f"{name}_nonfinite"].values[row] in (0, plain["trials"].values[row])
            if len(low):
                assert low[0] <= plain[f"{name}_min"].values[row] <= high[0]
                assert low[-1] <= plain[f"{name}_max"].values[row] <= high[-1]


def test_one_cell_has_only_the_observables_that_occur(folder_of):
    """Seven of the 33 observables of the mechanism occur, with up to 19 variables each."""
    ds = opened(folder_of(*ONE_CELL))
    check(ds)
    errors = ("linf_error", "square_error", "square_sampling_error", "square_noise_error")
    assert columns.observables(ds.variables) == [*errors, "records_drawn", "privacy_loss", "privacy_loss_neighbour"]
    others = [name for name in ds.variables if not name.startswith((*errors, "records_drawn", "privacy_loss"))]
    axes = {"k", "noise", "data", "rho", "scheme", "s"}
    assert set(others) == axes | {"trials", "warned", "failed", "quantile", "id", "guarantee", "noise_law", "law"} | {
        *("data_counts", "data_start", "data_size")
    }
    assert len(ds.variables) < 150


def test_cells_go_to_the_grid_of_their_axes(folder_of):
    ds = opened(folder_of(*STUDIES["histogram"]))
    grid = ds["linf_error_mean"].set_index(cell=["noise", "k"]).unstack("cell")
    assert grid.sizes == {"noise": 2, "k": 2}
    assert float(grid.sel(noise="laplace", k=1000)) > float(grid.sel(noise="laplace", k=10))


def test_no_module_of_ours_is_needed(folder_of):
    folder = folder_of(*ONE_CELL)
    code = "import sys, xarray; print(xarray.open_zarr(sys.argv[1]).load()['trials'].item(), 'tcdp_sim' in sys.modules)"
    words = [sys.executable, "-W", "error::RuntimeWarning", "-W", "error::UserWarning", "-c", code]
    said = subprocess.run([*words, folder / "results.zarr"], capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("400 False\n", "")


def test_results_that_name_no_layout_are_refused(folder_of):
    folder = folder_of(*ONE_CELL)
    with pytest.raises(UserError, match="names no layout, and this version reads layout 2; to publish it anew"):
        _check_layout(folder, None)


def test_another_layout_is_refused_and_published_anew(folder_of, command, monkeypatch):
    folder = folder_of(*ONE_CELL)
    before = (folder / "results.zarr").resolve().name
    monkeypatch.setattr(columns, "LAYOUT", 3)
    code, _, err = command("table", str(folder), "all.csv")
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "layout 2, and this version reads layout 3" in err
    _, _, anew = err.partition("without simulating: tcdp-sim ")
    assert "code=any" in anew
    assert command(*shlex.split(anew))[0] == 0
    assert results.open_cells(folder).attrs["layout"] == 3
    assert (folder / "results.zarr").resolve().name != before


@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e300, 1e-30])
def test_keys_follow_from_edges(scale):
    x = scale * np.random.default_rng(5).standard_normal(2000)
    keys = histogram(np.concatenate([x, [0.0, 5e-324, -5e-324]]))[0]
    np.testing.assert_array_equal(keys_between(*bin_edges(keys)), keys)


def test_keys_of_all_kinds_follow_from_edges():
    keys = np.unique(np.linspace(-LARGEST_KEY, LARGEST_KEY, 20_001).astype(np.int64))
    keys = keys[in_order(keys) != 0]
    low, high = bin_edges(keys)
    real = (low < high) & np.isfinite(low) & np.isfinite(high)
    np.testing.assert_array_equal(keys_between(low[real], high[real]), keys[real])
    assert real.mean() > 0.9
