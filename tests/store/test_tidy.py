"""Tidy frames: each published number once, with what belongs to it, from a folder, a flat table or a grid."""

import numpy as np
import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.core.errors import UserError
from tcdp_sim.store import columns

COLUMNS = ["quantity", "level", "value", "mcse", "lower", "upper", "exact", "bound", "unit", "trials", "id"]


@pytest.fixture
def run(tiny_once, folder):
    tiny_once("sweep.noise=[laplace,gaussian,sinh_normal]")
    return folder


def test_every_number_is_there_once(run):
    flat, frame = results.open_cells(run).load(), results.tidy(run)
    axes = ["noise", "data", "k", "rho", "omega_sqrt_rho", "delta"]
    assert list(frame) == [*axes, *COLUMNS]
    assert not frame.duplicated([*axes, "quantity", "level"]).any()
    names = columns.quantities(flat)
    assert {"linf_error_mean", "linf_error_quantile", "linf_error_exceeds_bound", "top_stays"} <= set(names)
    assert len(frame) == sum(int(np.isfinite(flat[name].values).sum()) for name in names)
    for short, ending in (("value", ""), ("mcse", "_mcse"), ("exact", "_exact"), ("bound", "_bound")):
        stored = np.concatenate([flat[name + ending].values.ravel() for name in names if name + ending in flat])
        np.testing.assert_array_equal(np.sort(frame[short].dropna()), np.sort(stored[~np.isnan(stored)]))


def test_each_row_names_its_cell_as_replay_wants_it(run, command, folder):
    frame = results.tidy(run, histograms=True)
    ids = results.open_cells(run)["id"].values
    assert set(frame["id"]) == {cell[:16] for cell in ids}
    assert command("replay", str(folder), f"cell={frame['id'].iloc[-1]}")[0] == 0


def test_a_row_is_of_its_cell_and_level(run):
    frame, flat = results.tidy(run), results.open_cells(run).load()
    i = int(np.flatnonzero((flat["noise"].values == "gaussian") & (flat["k"].values == 1e6))[0])
    row = frame[(frame["noise"] == "gaussian") & (frame["k"] == 1e6) & (frame["quantity"] == "linf_error_quantile")]
    assert row["level"].tolist() == columns.QUANTILES.tolist()
    for short, ending in (("value", ""), ("lower", "_lower"), ("exact", "_exact")):
        np.testing.assert_array_equal(row[short], flat[f"linf_error_quantile{ending}"].values[i])
    assert set(row["unit"]) == {"counts"}
    assert set(row["trials"]) == {1000}


def test_a_grid_repeats_what_an_axis_does_not_change(run):
    """Two noises without omega, at two k: their rows come once in the flat table, three times on the grid."""
    flat, grid = results.tidy(run), results.tidy(results.open_results(run))
    once = (flat["noise"] != "sinh_normal").sum()
    assert len(grid) == len(flat) + 2 * once
    laplace = grid[(grid["noise"] == "laplace") & (grid["k"] == 10) & (grid["quantity"] == "linf_error_mean")]
    assert laplace["omega_sqrt_rho"].tolist() == [0.75, 1, 2]
    assert laplace["value"].nunique() == 1


def test_histograms_on_request_alone(run):
    plain, frame = results.tidy(run), results.tidy(run, histograms=True)
    bins = frame[frame["quantity"] == "linf_error_histogram"]
    assert not plain["quantity"].str.contains("histogram").any()
    pd.testing.assert_frame_equal(frame[frame["bin_lower"].isna()][list(plain)].reset_index(drop=True), plain)
    for _, part in bins.groupby(["noise", "k", "omega_sqrt_rho"], dropna=False):
        assert part["value"].sum() == 1000
        assert (part["bin_lower"].to_numpy()[1:] >= part["bin_upper"].to_numpy()[:-1]).all()
    with pytest.raises(ValueError, match="flat table"):
        results.tidy(results.open_results(run), histograms=True)


def test_export_by_the_ending(run, tmp_path):
    path = results.export(run, tmp_path / "numbers.csv")
    again = pd.read_csv(path)
    np.testing.assert_allclose(again["value"], results.tidy(run)["value"])
    table = results.export(run, str(tmp_path / "numbers.tex")).read_text("utf-8")
    assert table.count(r"\\") == len(results.tidy(run)) + 1
    assert r"linf\_error\_quantile" in table
    with pytest.raises(UserError, match=r"ends in none of \.csv, \.md, \.tex, \.txt"):
        results.export(run, tmp_path / "numbers.xlsx")
    with pytest.raises(UserError, match="cannot be written"):
        results.export(run, tmp_path / "none" / "numbers.csv")
    with pytest.raises(UserError, match="holds no results"):
        results.export(tmp_path / "none", tmp_path / "numbers.csv")
