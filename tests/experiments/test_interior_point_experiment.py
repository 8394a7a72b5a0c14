"""The study of interior points, from a small run."""

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from tcdp_sim import plots, results
from tcdp_sim.experiments import interior_point
from tcdp_sim.experiments.interior import curves, series, spent
from tcdp_sim.interior import stability

WORDS = ("experiment=interior_point", "cluster=serial", "trials=2000", "chunk=2000", "sweep.log2_k=[4,8]", "also=null")


def test_a_small_study(command, tmp_path, capsys):
    words = (
        "sweep.shape=[point,solo]",
        "sweep.method=[one_level,binary_search]",
        "sweep.n_share=[0.2,0.4,0.6,0.9,1.2]",
    )
    code, _, err = command(*WORDS, *words)
    assert code == 0, err
    table = interior_point.reference(results.open_cells(tmp_path / "results" / "interior_point").load())
    agrees_with_the_exact_laws(table)
    finds_the_n_for_95_percent(table)
    interior_point.report(table, Console(width=100))
    assert "outside the simulated 95% interval" in capsys.readouterr().out
    with plots.style():
        saved = plots.save_all(interior_point.figures(table), tmp_path)
    assert {path.stem for path in saved} == {"success_vs_n_rho_0.5", "n95_vs_k_rho_0.5", "budget_rho_0.5"}
    assert all(path.with_suffix(".csv").stat().st_size > 100 for path in saved)


def agrees_with_the_exact_laws(table):
    known = table[table["success_exact"].notna()]
    assert len(known) == len(table)
    # 5 standard errors in 40 cells: false alarm below 3e-5
    error = np.sqrt(known["success_exact"] * (1 - known["success_exact"]) / 2000)
    assert ((known["success"] - known["success_exact"]).abs() <= 5 * error + 1e-9).all()


def finds_the_n_for_95_percent(table):
    found = series.least_n(table).set_index(["method", "log2_k"])
    assert found.loc[("binary_search", 8), "n95"] == pytest.approx(14, abs=1.5)
    assert 10 < found.loc[("one_level", 8), "n95"] < found.loc[("one_level", 8), "required_n"]
    assert found.loc[("binary_search", 4), "zcdp_least_n"] == pytest.approx(1.97, abs=0.01)
    for row in series.worst(table).to_dict("records"):
        peers = table[
            (table["method"] == row["method"]) & (table["log2_k"] == row["log2_k"]) & (table["n"] == row["n"])
        ]
        assert row["success"] == peers["success"].min()


def test_crossing():
    n = np.array([1.0, 2.0, 3.0, 4.0])
    assert series.crossing(n, np.array([0.1, 0.96, 0.94, 0.98]), 0.95) == pytest.approx(3.25)
    assert np.isnan(series.crossing(n, np.array([0.1, 0.2, 0.3, 0.4]), 0.95))
    assert np.isnan(series.crossing(n, np.ones(4), 0.95))


def test_where_the_search_wins_is_read_off_the_cells():
    def found(*best):
        rows = [(method, v, n) for v, names in best for n, method in enumerate(names)]
        return pd.DataFrame(rows, columns=["method", "log2_k", "n95"])

    search, tree = ("binary_search", "one_level"), ("one_level", "binary_search")
    assert curves._search_wins(found((4, search), (16, search), (64, tree), (70, search))) == 16
    assert curves._search_wins(found((4, search))) == 4
    assert curves._search_wins(found((4, tree), (16, search))) == 0


def test_recursion_pays_late():
    table = spent.depth_table(0.5, 2 / np.sqrt(0.5))
    assert spent._verdict(table) == (
        "one level is best up to k = 2^(2^128), more are better from 2^(2^200) on at the latest"
    )
    assert spent.depth_figure(table).axes


def test_nothing_is_said_to_be_proved_of_algorithms_21_and_22(command, tmp_path):
    words = ("sweep.method=[algorithm_21,algorithm_22,surrogate]", "sweep.shape=point", "sweep.n_share=0.5")
    code, _, err = command(*WORDS, *words)
    assert code == 0, err
    table = interior_point.reference(results.open_cells(tmp_path / "results" / "interior_point").load())
    assert (table["required_n"].isna() == (table["method"] != "surrogate")).all()


def test_the_weaker_baseline_is_marked_and_left_out_of_comparisons(command, tmp_path, capsys):
    words = ("sweep.method=[stability,one_level]", "sweep.shape=[point,solo]", "sweep.n_share=[0.2,0.5,0.95]")
    code, _, err = command(*WORDS, *words)
    assert code == 0, err
    table = interior_point.reference(results.open_cells(tmp_path / "results" / "interior_point").load())
    weak = table[table["method"] == "stability"]
    assert (weak["guarantee"] == str(stability.implied(0.5, 2 / np.sqrt(0.5)))).all()
    assert weak[["zcdp_least_n", "tcdp_least_n"]].isna().all(axis=None)
    assert ((weak["success"] - weak["success_exact"]).abs() <= 5 * np.sqrt(0.25 / 2000)).all()
    found = series.least_n(table)
    assert set(series.like_for_like(found)["method"]) == {"one_level"}
    interior_point.report(table, Console(width=150))
    said = capsys.readouterr().out
    assert "stability: weaker" in said
    assert "stability" not in said[said.index("Fewest records") :]
    look = series.styles(table)
    assert [name for name in (style["label"] for style in look.values()) if "WEAKER" in name]
    figure = curves.needed_figure(found, look)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum("WEAKER" in label for label in labels) == 2


def test_one_n_that_is_too_small_is_told_how_many_it_takes():
    cell = {"method": "one_level", "noise": "x", "rho": 0.5, "omega": 3.0, "log2_k": 8, "n": 20, "required_n": 62}
    one = [cell | {"beta": 0.05, "shape": shape} for shape in ("point", "solo")]
    said = "one_level x, k = 2^8: n = 20 records, success with probability 95% is proved from n = 62 on."
    assert interior_point._too_few(pd.DataFrame(one)) == [said]
    assert interior_point._too_few(pd.DataFrame([*one, one[0] | {"n": 21}])) == []
    assert interior_point._too_few(pd.DataFrame([one[0] | {"required_n": np.nan}])) == []
