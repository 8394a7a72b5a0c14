"""The study of threshold queries, from a small run."""

import numpy as np
import pandas as pd
from rich.console import Console

from tcdp_sim import plots, results
from tcdp_sim.experiments import thresholds

WORDS = ("experiment=thresholds", "cluster=serial", "trials=6", "chunk=3", "sweep.method=[medians_2,tree_2,median]")


def spoken(figure):
    """Every title of a figure."""
    own = figure.get_suptitle()
    return [text for text in (own, *(axes.get_title() for axes in figure.axes)) if text]


def test_table_report_and_figures(command, tmp_path, capsys):
    code, _, err = command(*WORDS, "sweep.records=[departures_AS,departures_HA]", "sweep.rho=[0.5,1]")
    assert code == 0, err
    table = thresholds.reference(results.open_cells(tmp_path / "results" / "thresholds").load())
    assert len(table) == 12
    whole = table[table["method"] != "median"]
    assert np.allclose(whole["sup_error_share"] * whole["n"], whole["sup_error"])
    assert (whole["cdf_at_q50_q05"] <= whole["cdf_at_q50_q95"]).all()
    assert table.loc[table["method"] == "medians_2", "sup_error_bound"].notna().all()
    thresholds.report(table, Console(width=120))
    said = " ".join(capsys.readouterr().out.split())
    assert "Smallest error of the CDF" in said
    with plots.style():
        figures = list(thresholds.figures(table))
        titles = [text for _, figure, _ in figures for text in spoken(figure)]
        bands_have_edges(figures[0][1])
        saved = {path.stem for path in plots.save_all(figures, tmp_path)}
    assert titles
    assert not any("_" in title for title in titles)  # names for people, not those of the program
    assert {"cdf_departures_AS", "error_departures_AS", "medians"} <= saved


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
