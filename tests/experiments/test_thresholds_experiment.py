"""The study of threshold queries, from a small run."""

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from tcdp_sim import results
from tcdp_sim.experiments import thresholds
from tcdp_sim.experiments.thresholds import compared
from tcdp_sim.report import plots, saving
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

WORDS = ("experiment=thresholds", "cluster=serial", "trials=6", "chunk=3", "sweep.method=[medians_2,tree_2,median]")


def spoken(figure):
    """Every title of a figure."""
    own = figure.get_suptitle()
    return [text for text in (own, *(axes.get_title() for axes in figure.axes)) if text]


def test_table_report_and_figures(command, tmp_path, capsys):
    code, _, err = command(*WORDS, "sweep.records=[departures_AS,departures_HA]", "sweep.rho=[0.5,1]")
    assert code == 0, err
    table = published.table(thresholds, results.open_cells(tmp_path / "results" / "thresholds").load())
    assert len(table) == 12
    whole = table[table["method"] != "median"]
    assert np.allclose(whole["sup_error_share"] * whole["n"], whole["sup_error"])
    assert (whole["cdf_at_q50_q05"] <= whole["cdf_at_q50_q95"]).all()
    assert table.loc[table["method"] == "medians_2", "sup_error_bound"].notna().all()
    thresholds.report(table, Console(width=120))
    said = " ".join(capsys.readouterr().out.split())
    assert "Smallest error of the CDF" in said
    tells_what_is_compared(said, table)
    with plots.style():
        figures = list(thresholds.figures(table))
        titles = [text for _, figure, _ in figures for text in spoken(figure)]
        bands_have_edges(figures[0][1])
        saved = {path.stem for path in saving.save_all(figures, tmp_path)}
    assert titles
    assert not any("_" in title for title in titles)  # names for people, not those of the program
    assert {"cdf_departures_AS", "error_departures_AS", "medians"} <= saved


def tells_what_is_compared(said, table):
    """Every simulated number with its error; the trees' means beside exact ones; the rest is said to have none."""
    assert "Compared with its exact mean: the CDF of trees and square root at the median, in 4 of 12 cells." in said
    assert "Compared with its proved bound: the largest error of the CDF, in" in said
    assert "Not compared with anything exact: the errors of the CDFs and the medians of median," in said
    for row in table.to_dict("records"):
        assert f"{row['median_rank_error']:.3g} ± {row['median_rank_error_mcse']:.2g}" in said
        assert np.isnan(row["sup_error"]) or f"{row['sup_error']:.3g} ± {row['sup_error_mcse']:.2g}" in said
    assert contradictions.find(table).attrs["comparisons"] == 4


@pytest.mark.slow
def test_the_search_is_compared_with_its_law(command, tmp_path):
    words = ("sweep.method=binary_search", "sweep.records=[departures_OO,delays]", "also=null", "trials=2000")
    code, out, err = command(*WORDS[:2], *words, "chunk=2000")
    assert code == 0, err
    assert "Compared with its exact mean: the rank error of the search, in 4 of 4 cells." in out
    assert "Not compared" not in out
    table = published.table(thresholds, results.open_cells(tmp_path / "results" / "thresholds").load())
    found, exact = table["median_rank_error"], table["median_rank_error_exact"]
    assert (found - exact).abs().max() < 0.5
    assert exact[table["records"] == "departures_OO"].min() > 1
    assert (found[table["records"] == "delays"] == 0).all()  # not once in 2,000 trials: no alarm
    assert contradictions.find(table).empty
    assert contradictions.find(table).attrs["comparisons"] == 4
    wrong = contradictions.find(table.assign(median_rank_error_exact=1.1 * exact))
    assert set(table.loc[wrong["row"], "records"]) == {"departures_OO"}


@pytest.mark.slow
def test_records_that_do_not_fit_are_told(command, tmp_path):
    (tmp_path / "t.csv").write_text("age\n" + "".join(f"{i % 40}\n" for i in range(200)) + "900\n" * 3 + '""\n' * 2)
    spec = "+mechanism.records.ages={path: t.csv, column: age, log2_k: 6, outside: clip, nulls: drop}"
    words = (*WORDS[:4], "sweep.method=tree_2", "also=null", "sweep.rho=1", "sweep.records=ages")
    code, out, err = command(*words, spec)
    assert code == 0, err
    assert "3 records outside the declared domain were moved to its ends." in out
    assert "2 rows with an empty cell were left out." in out
    assert command(*words, spec.replace("outside: clip, ", ""))[0] == 2


def test_a_bound_that_is_broken_is_told():
    """Proved for 90% (T1: beta and as much again) and 95% of the trials: the lower end of the misses decides."""
    cell = {"method": "windows", "records": "x", "rho": 0.5, "beta": 0.05, "sup_error": 1.0, "sup_error_bound": 2.0}
    cell |= {"exceeds_bound": 0.2, "exceeds_bound_lower": 0.09}
    cell |= dict.fromkeys(["median_rank_error_exact", "cdf_at_q50_exact"], np.nan)
    kept = compared.lines(pd.DataFrame([cell]))
    assert "the bound holds in 80.0% of the trials or more (proved: 90% or more)." in kept[0]
    assert not any("MORE OFTEN" in line for line in kept)
    for broken in (cell | {"exceeds_bound_lower": 0.11}, cell | {"method": "medians_2"}):
        assert any("MORE OFTEN THAN PROVED" in line for line in compared.lines(pd.DataFrame([broken])))


def bands_have_edges(figure):
    """Two thin lines beside the truth in every panel, however narrow the band; no curve in the colour of the truth."""
    for axes in figure.axes:
        truth, *rest = axes.lines
        assert len(rest) == 3
        assert truth.get_color() not in {line.get_color() for line in rest}
        low, high = axes.get_ylim()
        assert all(low <= line.get_ydata().min() and line.get_ydata().max() <= high for line in rest)


def test_too_few_records_are_told_how_many_it_takes():
    cell = {"method": "median", "rho": 0.5, "n": 29, "window": 29.0, "proved_window": 66.0}
    rows = [cell, cell | {"method": "tree_2", "window": np.nan, "proved_window": np.nan}]
    said = "median at ρ = 0.5: n = 29 records, success is proved from n = 66 on; privacy holds anyway."
    assert thresholds._too_few(pd.DataFrame(rows)) == [said]
    assert thresholds._too_few(pd.DataFrame([cell | {"window": 66.0}])) == []
    assert thresholds._too_few(pd.DataFrame([{"method": "tree_2"}])) == []
