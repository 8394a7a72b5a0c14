"""The study of threshold queries, from a small run."""

import numpy as np
from rich.console import Console

from tcdp_sim import plots, results
from tcdp_sim.experiments import thresholds

WORDS = ("experiment=thresholds", "cluster=serial", "trials=6", "chunk=3", "sweep.method=[medians_2,tree_2,median]")


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
    assert "Smallest error of the CDF" in capsys.readouterr().out
    with plots.style():
        saved = {path.stem for path in plots.save_all(thresholds.figures(table), tmp_path)}
    assert {"cdf_departures_AS", "error_departures_AS", "medians"} <= saved
