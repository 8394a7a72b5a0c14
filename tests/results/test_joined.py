"""Several runs as one Dataset along `mechanism`, or as a DataTree: each number is that of its own run."""

import json

import numpy as np
import pytest
import xarray as xr

import tcdp_sim
from tcdp_sim import results

SWEEP = {
    **{"rho": [0.01, 0.1], "omega_sqrt_rho": [1, 2], "noise": ["gaussian", "sinh_normal_tight"], "k": 65536},
    **{"algorithm": "generalized_histogram", "gap": 100, "log2_k": 16, "shape": "point", "n_share": 0.9},
}
TWO = {axis: value for axis, value in SWEEP.items() if axis not in ("log2_k", "shape", "n_share")}  # of two mechanisms
SMALL = {"also": None, "trials": 40, "chunk": 20, "cluster": "serial"}
EXPERIMENTS = ["histogram", "gap_max", "interior_point"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def joined(here):
    return tcdp_sim.run(EXPERIMENTS, sweep=SWEEP, **SMALL, results_dir="equal")


def check_numbers(joined, alone, label):
    """Every number of a run is in the joined dataset, at its own mechanism and nowhere else."""
    own = joined.sel(mechanism=label)
    names = [name for name, column in alone.data_vars.items() if set(column.dims) <= {*joined.dims}]
    assert len(names) > 20
    for name in set(names) - {"data_start", "data_size"}:
        there, here = xr.broadcast(own[name], alone[name])
        np.testing.assert_array_equal(there, here.transpose(*there.dims), name)


def test_runs_that_share_their_axes_are_one_dataset(joined, here):
    assert joined["trials"].sizes == {"mechanism": 3, "noise": 2, "rho": 2, "omega_sqrt_rho": 2}
    assert joined["mechanism"].values.tolist() == EXPERIMENTS
    for name in EXPERIMENTS:
        check_numbers(joined, tcdp_sim.open_results(here / "equal" / name), name)
    assert joined["needed_gap_mean"].sel(mechanism="histogram").isnull().all()
    assert joined["needed_gap_mean"].sel(mechanism="gap_max").notnull().all()
    assert joined["algorithm"].values.tolist() == ["", "generalized_histogram", ""]
    np.testing.assert_array_equal(joined["k"], [65536, 65536, np.nan])
    quantile = joined["linf_error_quantile"].sel(mechanism="histogram", noise="gaussian", quantile=0.95)
    assert quantile.to_pandas().shape == (2, 2)
    assert joined["linf_error_mean"].attrs["units"] == "counts"


def test_a_list_and_a_parent_folder_open_the_same(joined, here):
    folders = [here / "equal" / name for name in EXPERIMENTS]
    assert tcdp_sim.open_results(folders).identical(joined)
    parent = tcdp_sim.open_results("equal")
    assert parent["mechanism"].values.tolist() == sorted(EXPERIMENTS)
    assert parent.sel(mechanism=EXPERIMENTS).equals(joined)
    (here / "equal" / "notes").mkdir()  # a folder without results
    assert tcdp_sim.open_results("equal").identical(parent)
    one = tcdp_sim.open_results(folders[:1])
    assert one["mechanism"].item() == "histogram"
    assert tcdp_sim.open_results(folders[:1], squeeze=False).sizes["mechanism"] == 1
    whole = tcdp_sim.open_results(folders, squeeze=False)
    assert whole.sizes["mechanism"] == 3
    assert whole.squeeze().identical(joined.squeeze())


def test_a_tidy_frame_of_several_runs_has_the_numbers_of_each(joined, here):
    frame = results.tidy(joined)
    for name in EXPERIMENTS:
        alone = results.tidy(tcdp_sim.open_results(here / "equal" / name))
        own = frame[frame["mechanism"] == name]
        assert len(own) == len(alone)
        assert sorted(own["value"]) == sorted(alone["value"])
        assert set(own["id"]) == set(alone["id"])


def test_runs_with_axes_of_their_own_are_a_tree(joined, here):
    more = TWO | {"algorithm": ["generalized_histogram", "exponential_mechanism"]}
    tree = tcdp_sim.run(EXPERIMENTS[:2], sweep=more, **SMALL, results_dir="own")
    assert isinstance(tree, xr.DataTree)
    assert tree["experiment"].to_pandas().to_dict() == {"histogram": "histogram", "gap_max": "gap_max"}
    assert list(tree.children) == EXPERIMENTS[:2]
    for name in EXPERIMENTS[:2]:
        assert tree[name].to_dataset(inherit=False).identical(tcdp_sim.open_results(here / "own" / name))
    assert tree["gap_max"]["needed_gap_mean"].sizes["algorithm"] == 2
    whole = tcdp_sim.open_results("own", squeeze=False)
    assert whole["gap_max"]["needed_gap_mean"].sizes["m"] == 1


def test_values_that_differ_are_joined_and_the_rest_is_nan(here):
    for name, rho, k in (("histogram", [0.01, 0.1], 10), ("gap_max", [0.1, 1], 100)):
        sweep = {"rho": rho, "k": k, "noise": "gaussian"}
        more = {"algorithm": "generalized_histogram"} if name == "gap_max" else {}
        tcdp_sim.run(name, sweep=sweep | more, **SMALL)
    joined = tcdp_sim.open_results("results")
    assert joined["rho"].values.tolist() == [0.01, 0.1, 1]
    assert joined["k"].values.tolist() == [10, 100]
    mean = joined["linf_error_mean"].sel(mechanism="histogram")
    assert mean.notnull().sel(k=10).values.tolist() == [True, True, False]
    assert mean.sel(k=100).isnull().all()
    assert joined["trials"].sel(mechanism="gap_max", k=100, rho=1) == 40
    assert joined["id"].sel(mechanism="gap_max", k=10, rho=1) == ""


def test_runs_of_one_mechanism_are_called_like_their_folders(here):
    sweep = {"rho": 0.1, "k": 10, "noise": "gaussian"}
    for seed in (1, 2):
        tcdp_sim.run("histogram", sweep=sweep, **SMALL, seed=seed, name=f"seed={seed}")
    joined = tcdp_sim.open_results(["results/seed=1", "results/seed=2"])
    assert joined["mechanism"].values.tolist() == ["seed=1", "seed=2"]
    assert joined["linf_error_mean"].to_pandas().nunique() == 2
    with pytest.raises(tcdp_sim.UserError, match="several runs are called seed=1; give each run once"):
        tcdp_sim.open_results(["results/seed=1", "results/seed=1"])
    with pytest.raises(tcdp_sim.UserError, match="the list of runs is empty"):
        tcdp_sim.open_results([])
    with pytest.raises(tcdp_sim.UserError, match=r"nowhere.*holds no results"):
        tcdp_sim.open_results(["results/seed=1", "nowhere"])


def test_sweeps_of_functions_are_called_like_the_functions(here):
    def mean(rng, trials, n):
        return rng.random((trials, n)).mean(axis=1)

    def median(rng, trials, n):
        return np.median(rng.random((trials, n)), axis=1)

    for function in (mean, median):
        tcdp_sim.sweep(function, {"n": [1, 3]}, trials=20, name=function.__name__)
    joined = tcdp_sim.open_results("results")
    assert joined["value"].dims == ("mechanism", "n")
    assert joined["mechanism"].values.tolist() == ["mean", "median"]
    for name in ("mean", "median"):
        np.testing.assert_array_equal(
            joined["value"].sel(mechanism=name), tcdp_sim.open_results(f"results/{name}")["value"]
        )


def test_a_list_of_experiments_has_its_own_folders_and_axes(here, capsys):
    ds = tcdp_sim.run(EXPERIMENTS[:2], sweep={"rho": 0.1, "k": 10, "gap": 50, "algorithm": "generalized_histogram",
                                              "noise": "gaussian"}, **SMALL, name="x")  # fmt: skip
    assert ds["gap"].fillna(0).values.tolist() == [0, 50]
    assert {each.name for each in (here / "results").iterdir()} == {"x-experiment=histogram", "x-experiment=gap_max"}
    said = capsys.readouterr().err
    assert "left out" in " ".join(said.split())
    assert "gap_max: left out" not in said
    assert json.loads(ds.attrs["axes"])[0] == "mechanism"
    with pytest.raises(tcdp_sim.UserError, match=r"sweep.gapp is not an axis"):  # of no experiment
        tcdp_sim.run(EXPERIMENTS[:2], sweep={"gapp": 1}, **SMALL)
    with pytest.raises(tcdp_sim.UserError, match="valid: a name, or a list of different names"):
        tcdp_sim.run(["histogram", "histogram"], **SMALL)
    with pytest.raises(tcdp_sim.UserError, match="valid: a name, or a list of different names"):
        tcdp_sim.run([], **SMALL)


def test_a_failed_run_of_a_list_does_not_end_the_others(here, monkeypatch):
    def execute(prepared, *rest):
        return 1 if prepared.settings.name == "histogram" else whole(prepared, *rest)

    whole = tcdp_sim.api.execute
    monkeypatch.setattr("tcdp_sim.api.execute", execute)
    with pytest.raises(tcdp_sim.Failure, match=r"1 of 2 runs failed, and the others are done: histogram \(errors left"):
        tcdp_sim.run(EXPERIMENTS[:2], sweep=TWO, **SMALL)
    assert tcdp_sim.open_results("results/gap_max")["trials"].sizes["rho"] == 2
