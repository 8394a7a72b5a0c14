"""Chosen numbers of a run: rows, tables with sides, and files; each number is looked up in the tidy frame again."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim import results
from tcdp_sim.results.selected import arranged, selected


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("t")
    axes = {
        "noise": ["gaussian", "sinh_normal"],
        "k": [10, 1000],
        "rho": 0.1,
        "omega_sqrt_rho": [0.75, 2],
        "delta": None,
    }
    tcdp_sim.run(
        "histogram",
        sweep=axes | {"delta": None},
        also=None,
        trials=400,
        chunk=200,
        cluster="serial",
        results_dir=place,
        name="r",
    )
    return place / "r"


def number(folder, noise, k, omega, level):
    frame = results.tidy(folder)
    frame = frame[(frame["quantity"] == "linf_error_quantile") & (frame["level"] == level) & (frame["noise"] == noise)]
    frame = frame[
        (frame["k"] == k) & (frame["omega_sqrt_rho"].isna() if omega == "" else frame["omega_sqrt_rho"] == omega)
    ]
    (value,) = frame["value"]
    return value


def test_a_table_has_the_numbers_of_the_frame(folder):
    found = tcdp_sim.table(folder, quantity="linf_error_quantile", level=0.95, rows="k", columns="noise")
    assert found.index.tolist() == [10, 1000]
    assert found.columns.names == ["noise", "omega_sqrt_rho"]
    assert found.columns.tolist() == [("gaussian", ""), ("sinh_normal", 0.75), ("sinh_normal", 2.0)]
    for (noise, omega), column in found.items():
        for k, value in column.items():
            assert value == number(folder, noise, k, omega, 0.95)


def test_what_is_not_named_goes_to_the_other_side(folder):
    found = tcdp_sim.table(
        folder, quantity="linf_error_quantile", level=[0.5, 0.95], columns="level", where={"noise": "gaussian"}
    )
    assert found.index.tolist() == [10, 1000]
    assert found.columns.tolist() == [0.5, 0.95]
    assert found.loc[1000, 0.5] == number(folder, "gaussian", 1000, "", 0.5)
    alone = tcdp_sim.table(folder, quantity="linf_error_mean", where={"noise": "gaussian", "k": 10}, rows="k")
    assert alone.shape == (1, 1)


def test_rows_are_chosen_by_their_values(folder):
    frame = results.tidy(folder)
    found = tcdp_sim.table(folder, quantity=["top_stays", "spurious_wins"], where={"k": [10], "noise": "gaussian"})
    expected = frame[frame["quantity"].isin(["top_stays", "spurious_wins"]) & (frame["k"] == 10)]
    expected = expected[expected["noise"] == "gaussian"].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(tcdp_sim.table(folder), frame)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"quantity": "linf_mean"}, "quantity = 'linf_mean' is not there; valid: .*linf_error_mean"),
        ({"level": 0.7}, "level = 0.7 is not there; valid: 0.01"),
        ({"level": "x"}, "level = 'x' is not there"),
        ({"where": {"nois": 1}}, "where: no axis is called 'nois'; valid: noise.*did you mean noise"),
        ({"where": {"k": 11}}, "k = 11 is not there; valid: 10.0, 1000.0"),
        ({"rows": "q"}, "rows: no axis is called 'q'"),
        ({"rows": "k", "columns": ["noise", "k"]}, "k is in rows and in columns"),
        ({"histograms": True, "level": 0.5}, "histograms=True is not valid with"),
    ],
)
def test_mistakes_are_one_line(folder, words, said):
    with pytest.raises(tcdp_sim.UserError, match=said) as told:
        tcdp_sim.table(folder, **words)
    assert "\n" not in str(told.value)


def test_cells_that_no_axis_tells_apart_are_refused():
    frame = pd.DataFrame({"k": [1, 1], "quantity": "x", "level": np.nan, "value": [1.0, 2.0], "id": ["a", "b"]})
    with pytest.raises(tcdp_sim.UserError, match="several cells have the same axes"):
        arranged(frame, "k", None, lambda row: row["value"])
    assert len(selected(frame, quantity="x")) == 2


def test_files_hold_the_table(folder, command):
    words = ("quantity=linf_error_quantile", "level=0.95", "rows=k", "columns=noise")
    for ending in ("csv", "tex", "md", "txt"):
        assert command("table", folder, f"x.{ending}", *words)[0] == 0
    text = Path("x.tex").read_text("utf-8")
    assert text.count(r"\\") == 4
    assert r"\multicolumn{2}{c}{sinh\_normal}" in text
    value = number(folder, "gaussian", 10, "", 0.95)
    assert f"{value:.3g}"[:3] in text
    assert pd.read_csv("x.csv", header=[0, 1], index_col=0).iloc[0, 0] == value
    assert Path("x.md").read_text("utf-8").splitlines()[1] == "| --- | --- | --- | --- |"
    assert "sinh_normal" in Path("x.txt").read_text("utf-8")
    code, out, _ = command("table", folder, *words, "where={noise: gaussian}")
    assert code == 0
    assert f"{value:.6f}" in out
    for wrong in (["where=1"], ["quantity="], ["rows=q"]):
        code, _, err = command("table", folder, *wrong)
        assert (code, err.count("\n")) == (2, 1)
    assert command("table", folder, "y.md", "quantity=linf_error_mean")[0] == 0
    assert Path("y.md").read_text("utf-8").count("linf_error_mean") == 6
