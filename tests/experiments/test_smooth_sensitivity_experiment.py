"""Smooth beside global sensitivity, from a small run; agreement of simulated and exact at a rate of 1e-5 a quantile."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tcdp_sim import results
from tcdp_sim.experiments import smooth_sensitivity
from tcdp_sim.experiments.smooth_sensitivity import cost, drawing
from tcdp_sim.report import plots
from tcdp_sim.results import published

SMALL = (
    *("experiment=smooth_sensitivity", "cluster=serial", "trials=4000", "chunk=2000"),
    *("sweep.method=[median,trimmed_mean,mean_global]", "sweep.records=delays", "sweep.n=[100,800]"),
)


def few_costs():
    """The costs of one noise at one target: all of them take some 15 seconds."""
    rows = [{"rho": 0.5, "smoothing": 0.05, "family": "arsinh_normal", "method": "paper", "sd": 2.9}]
    return pd.DataFrame(rows).assign(gaussian_global=1.0)


once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def table(command, tmp_path, monkeypatch):
    if not once:
        monkeypatch.setattr(smooth_sensitivity, "cost_table", few_costs)
        code, _, err = command(*SMALL)
        assert code == 0, err
        flat = results.open_cells(tmp_path / "results" / "smooth_sensitivity").load()
        once["table"] = published.table(smooth_sensitivity, flat)
    return once["table"].copy()


def test_every_exact_quantile_is_within_the_reach_of_chance(table):
    assert len(table) == 12
    assert (np.abs(table["abs_error"] - table["abs_error_exact"]) < 6 * table["abs_error_mcse"]).all()


def test_robust_statistics_win_with_many_records(table):
    worst = table[(table["n"] == 800) & (table["contamination"] > 0)].set_index("method")["abs_error_exact"]
    assert worst["trimmed_mean"] < 0.1 * worst["mean_global"]
    assert worst["median"] < 0.2 * worst["mean_global"]
    few = table[(table["n"] == 100) & (table["contamination"] == 0)].set_index("method")["abs_error_exact"]
    assert few["median"] > few["mean_global"]


def test_the_mean_s_error_is_that_of_its_gaussian(table):
    row = table[(table["method"] == "mean_global") & (table["contamination"] == 0) & (table["n"] == 800)].iloc[0]
    assert row["abs_error_exact"] == pytest.approx(stats.norm.isf(0.025) * 2047 / 800 / np.sqrt(0.2), rel=1e-6)


def test_the_error_figure_has_a_panel_for_each_contamination_and_a_line_for_each_method(table):
    with plots.style():
        figure = drawing.error_figure(table)
        assert len(figure.axes) == 2
        for axes in figure.axes:
            lines = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linestyle() != "None"]
            assert len(lines) == 3
            assert all(sorted(line.get_xdata()) == [100, 800] for line in lines)


def test_the_cost_figure_shows_every_noise_over_gaussian_noise(monkeypatch):
    monkeypatch.setattr(cost, "TARGETS", ((0.5, 0.05),))
    monkeypatch.setattr(cost, "NOISES", {"arsinh_normal": "arsinh-normal", "student_t": "Student's t"})
    cost.cost_table.cache_clear()
    table = cost.cost_table()
    own = table[table["family"] == "arsinh_normal"].set_index("method")["sd"]
    assert own["paper"] == pytest.approx(2.92, rel=3e-3)
    assert own["box"] == pytest.approx(1.044, rel=3e-3)
    assert own["tight"] < own["box"]
    with plots.style():
        axes = cost.cost_figure(table).axes[0]
        heights = sorted(line.get_ydata()[0] for line in axes.lines if len(line.get_xdata()) == 1)
        np.testing.assert_allclose(heights, sorted(table["sd"]), rtol=1e-12)
    cost.cost_table.cache_clear()
