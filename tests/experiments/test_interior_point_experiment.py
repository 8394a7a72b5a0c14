"""The study of interior points, from a small run."""

import numpy as np
import pandas as pd
import pytest
from figure_lines import keys
from rich.console import Console
from scipy.special import betaincinv
from scipy.stats import norm

from tcdp_sim import results
from tcdp_sim.experiments import interior_point
from tcdp_sim.experiments.interior_point import budget, drawing, series
from tcdp_sim.ordered.interior import records_needed, stability_histogram
from tcdp_sim.privacy import TCDP
from tcdp_sim.report import plots, saving
from tcdp_sim.results import published

WORDS = ("experiment=interior_point", "cluster=serial", "trials=2000", "chunk=2000", "sweep.log2_k=[4,8]", "also=null")


def test_a_small_study(command, tmp_path, capsys):
    words = (
        "sweep.shape=[point,solo]",
        "sweep.method=[one_level,binary_search]",
        "sweep.n_share=[0.2,0.4,0.6,0.9,1.2]",
    )
    code, _, err = command(*WORDS, *words)
    assert code == 0, err
    table = published.table(interior_point, results.open_cells(tmp_path / "results" / "interior_point").load())
    agrees_with_the_exact_laws(table)
    finds_the_n_for_95_percent(table)
    interior_point.report(table, Console(width=100))
    said = capsys.readouterr().out
    assert "outside the simulated 95% interval" in said
    assert all(said.index("every data set") > said.index(word) for word in ("simulated (95%)", "proved", "hardest"))
    with plots.style():
        saved = saving.save_all(interior_point.figures(table), tmp_path)
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
    search = found.loc[("binary_search", 8)]
    exact = records_needed.binary_search_required_records(
        0.5, 8, 0.05
    )  # 14.1 on equal records, one of the two data sets
    assert search["n95_lower"] < exact < search["n95_upper"]
    assert search["n95_lower"] < search["n95"] < search["n95_upper"] < search["n95_lower"] + 2
    assert 10 < found.loc[("one_level", 8), "n95"] < found.loc[("one_level", 8), "required_n"]
    assert found.loc[("binary_search", 4), "zcdp_least_n"] == pytest.approx(1.97, abs=0.01)
    for row in series.worst(table).to_dict("records"):
        peers = table[
            (table["method"] == row["method"]) & (table["log2_k"] == row["log2_k"]) & (table["n"] == row["n"])
        ]
        assert row["success"] == peers["success"].min()


def test_crossing():
    """By hand: from .94 to .98 failures fall from .06 to .02, and log(6 / 5) / log(3) of the way is .05."""
    n = np.array([1.0, 2.0, 3.0, 4.0])
    assert series.crossing(n, np.array([0.1, 0.96, 0.94, 0.98]), 0.95) == pytest.approx(3.1659563, abs=1e-6)
    assert np.isnan(series.crossing(n, np.array([0.1, 0.2, 0.3, 0.4]), 0.95))
    assert np.isnan(series.crossing(n, np.full(4, 0.99), 0.95))


@pytest.mark.parametrize("log2_k", [16, 64, 1024])
def test_between_the_simulated_n_little_is_lost(log2_k):
    """On the default's grid of n, with the exact success (closed form, equal records): within 0.4% of the true n.

    A straight line between the successes is off by up to 1.5%.
    """
    scale, depth = np.sqrt(log2_k / (2 * 0.5)), log2_k
    needed = 2 * scale * norm.isf(-np.expm1(np.log(0.95) / depth))
    for offset in (0.0, 0.3, 0.7):
        n = np.round(np.ceil(needed) * (np.arange(0.6, 1.25, 0.1) + 0.1 * offset))
        success = np.exp(depth * norm.logcdf(n / (2 * scale)))
        assert series.crossing(n, success, 0.95) == pytest.approx(needed, rel=4e-3)


def cells(success, half=0.01, trials=1000, **more):
    """Rows of a table: one series, n = 10, 20, ..., one data set a row of `success`."""
    rows = []
    for shape, values in enumerate(success):
        for i, value in enumerate(values):
            told = {"method": "one_level", "noise": "x", "rho": 0.5, "omega": 3.0, "log2_k": 8, "shape": shape}
            told |= {"n": 10 * (i + 1), "success": value, "success_lower": value - half, "success_upper": value + half}
            told |= {"required_n": 62, "zcdp_least_n": 1.0, "tcdp_least_n": 1.0, "trials": trials, "beta": 0.05}
            rows.append(told | more)
    return pd.DataFrame(rows)


def test_the_interval_of_n_is_where_the_ends_of_the_successes_pass():
    """By hand: ends .01 above and below the successes."""
    found = series.least_n(cells([[0.90, 0.94, 0.98]])).iloc[0]
    assert found["n95"] == pytest.approx(20 + 10 * np.log(0.06 / 0.05) / np.log(0.06 / 0.02), rel=1e-9)
    assert found["n95_lower"] == pytest.approx(10 + 10 * np.log(0.09 / 0.05) / np.log(0.09 / 0.05), rel=1e-9)
    assert found["n95_upper"] == pytest.approx(20 + 10 * np.log(0.07 / 0.05) / np.log(0.07 / 0.03), rel=1e-9)
    assert np.isnan(series.least_n(cells([[0.90, 0.94, 0.955]])).iloc[0]["n95_upper"])


def test_the_hardest_of_many_data_sets_is_not_taken_for_harder_than_it_is():
    """Its upper end is widened as for four data sets at once: from 1.960 to 2.498 standard errors; its lower end is
    the least of all."""
    few, many = series.worst(cells([[0.9]])), series.worst(cells([[0.9], [0.93], [0.95], [0.92]]))
    assert few[["success", "success_lower", "success_upper"]].iloc[0].tolist() == pytest.approx([0.9, 0.89, 0.91])
    assert many["success"].tolist() == [0.9]
    assert many["success_lower"].iloc[0] == pytest.approx(0.89)
    assert many["success_upper"].iloc[0] == pytest.approx(0.9 + 0.01 * 2.497705 / 1.959964, rel=1e-6)


def test_intervals_of_n_cover_the_exact_one():
    """100 studies, 4,000 trials a cell: 95% intervals miss at most 14 (chance 1e-4), a third as wide ones far more."""
    needed, rng, missed, narrow = 2 * 32 * norm.isf(-np.expm1(np.log(0.95) / 1024)), np.random.default_rng(1), 0, 0
    n = np.round(249 * np.arange(0.6, 1.25, 0.1))
    p = np.exp(1024 * norm.logcdf(n / 64))
    for _ in range(100):
        hits = rng.binomial(4000, p)
        low, high = betaincinv(hits, 4001 - hits, 0.025), betaincinv(hits + 1, 4000 - hits, 0.975)
        ends = {"success_lower": low, "success_upper": np.nan_to_num(high, nan=1.0)}
        found = series.least_n(cells([hits / 4000], trials=4000).assign(n=n, **ends)).iloc[0]
        missed += not found["n95_lower"] <= needed <= found["n95_upper"]
        narrow += abs(found["n95"] - needed) > (found["n95_upper"] - found["n95_lower"]) / 6
    assert missed <= 14 < narrow


def test_who_needs_the_fewest_is_told_with_who_may():
    one = cells([[0.90, 0.94, 0.98]])
    close, far = (one.assign(method=name, n=one["n"] * by) for name, by in (("surrogate", 1.02), ("recursion_2", 2)))
    said = interior_point._verdict(series.least_n(pd.concat([one, close, far], ignore_index=True)))
    assert said == "Fewest records, as simulated (or: within the error): 2^8 one_level x or surrogate x."


def test_where_the_search_wins_is_read_off_the_cells():
    def found(*best):
        rows = [(method, v, n) for v, names in best for n, method in enumerate(names)]
        return pd.DataFrame(rows, columns=["method", "log2_k", "n95"])

    search, tree = ("binary_search", "one_level"), ("one_level", "binary_search")

    def wins(*best):
        return drawing._search_wins(drawing._fewest(found(*best)))

    assert wins((4, search), (16, search), (64, tree), (70, search)) == 16
    assert wins((4, search)) == 4
    assert wins((4, tree), (16, search)) == 0
    best = drawing._fewest(found((16, search), (4, tree)))
    assert [(log2_k, row["method"]) for log2_k, row in best.items()] == [(4, "one_level"), (16, "binary_search")]


def test_titles_name_the_methods_that_need_the_fewest_records():
    one = cells([[0.90, 0.94, 0.98]]).assign(noise_label="Gaussian")
    table = pd.concat([one, one.assign(method="recursion_2", n=2 * one["n"])], ignore_index=True)
    needed = series.least_n(table)
    n95 = needed["n95"].min()
    told = f"{n95:.3g} at k = $2^{{8}}$"
    for title in (drawing._largest_success(table, [8]), drawing._needed_title(needed)):
        assert told in title
        assert "one level" in title
        assert "recursion" not in title
    nothing = needed.assign(n95=np.nan)
    assert drawing._needed_title(nothing).startswith("No method reaches 95%")


def test_recursion_pays_late():
    table = budget.depth_table(0.5, 2 / np.sqrt(0.5))
    assert budget._verdict(table) == (
        "By proved bounds one level is best up to k = $2^{2^{128}}$, and more levels are better from "
        "k = $2^{2^{200}}$ on at the latest"
    )
    assert budget.depth_figure(table).axes


def test_nothing_is_said_to_be_proved_of_algorithms_21_and_22(command, tmp_path):
    words = ("sweep.method=[algorithm_21,algorithm_22,surrogate]", "sweep.shape=point", "sweep.n_share=0.5")
    code, _, err = command(*WORDS, *words)
    assert code == 0, err
    table = published.table(interior_point, results.open_cells(tmp_path / "results" / "interior_point").load())
    assert (table["required_n"].isna() == (table["method"] != "surrogate")).all()


def test_the_weaker_baseline_is_marked_and_left_out_of_comparisons(command, tmp_path, capsys):
    words = ("sweep.method=[stability,one_level]", "sweep.shape=[point,solo]", "sweep.n_share=[0.2,0.5,0.95]")
    code, _, err = command(*WORDS, *words)
    assert code == 0, err
    table = published.table(interior_point, results.open_cells(tmp_path / "results" / "interior_point").load())
    weak = table[table["method"] == "stability"]
    assert (weak["guarantee"] == str(stability_histogram.implied(TCDP(0.5, 2 / np.sqrt(0.5))))).all()
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
    figure = drawing.needed_figure(found, look)
    assert sum("WEAKER" in label for label in keys(figure)) == 2


def test_one_n_that_is_too_small_is_told_how_many_it_takes():
    cell = {"method": "one_level", "noise": "x", "rho": 0.5, "omega": 3.0, "log2_k": 8, "n": 20, "required_n": 62}
    one = [cell | {"beta": 0.05, "shape": shape} for shape in ("point", "solo")]
    said = "one_level x, k = 2^8: n = 20 records, success with probability 95% is proved from n = 62 on."
    assert interior_point._too_few(pd.DataFrame(one)) == [said]
    assert interior_point._too_few(pd.DataFrame([*one, one[0] | {"n": 21}])) == []
    assert interior_point._too_few(pd.DataFrame([one[0] | {"required_n": np.nan}])) == []
