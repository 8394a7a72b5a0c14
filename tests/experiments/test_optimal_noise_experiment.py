"""The distance of noises to the best that there can be, from a small run.

Expected numbers are closed forms and those of an independent convex solver. Simulated and exact tails are compared
at 5.5 standard errors: for a fresh seed a false-alarm rate of 4e-8 each.
"""

import numpy as np
import pytest
from figure_lines import curves, key
from rich.console import Console
from scipy.stats import norm

from tcdp_sim import results
from tcdp_sim.experiments import optimal_noise
from tcdp_sim.report import plots
from tcdp_sim.results import published

WORDS = ("experiment=optimal_noise", "cluster=serial", "trials=4000", "chunk=2000")
SMALL = ("sweep.k=[1,1e6]", "sweep.omega_sqrt_rho=[0.75,inf]")
once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def table(command, tmp_path):
    if not once:
        code, out, err = command(*WORDS, *SMALL)
        assert (code, err) == (0, "")
        folder = tmp_path / "results" / "optimal_noise"
        once["out"] = out
        once["flat"] = results.open_cells(folder).load()
        once["table"] = published.table(optimal_noise, once["flat"])
        once["files"] = sorted(path.name for path in (folder / "figures").iterdir())
    return once["table"].copy()


def row(table, panel, k):
    (found,) = table[(table["panel"] == panel) & (table["k"] == k)].to_dict("records")
    return found


def test_the_quantiles_are_the_known_ones(table):
    far = row(table, "tCDP, ω√ρ = 0.75", 1e6)
    assert (far["optimum_at_least"], far["optimum"], far["linf_q95_exact"]) == (12.5, 12.5, 12.5)
    assert far["sinh_normal"] == pytest.approx(12.95, abs=0.005)
    assert far["sinh_squared"] == pytest.approx(12.86, abs=0.005)
    assert far["gaussian"] == pytest.approx(17.22, abs=0.005)
    for panel in ("tCDP, ω√ρ = 0.75", "zCDP"):
        for k in (1, 1e6):
            tail = -np.expm1(np.log(0.95) / k)  # two bins: sigma^2 = 2 / (2 rho)
            assert row(table, panel, k)["gaussian"] == pytest.approx(np.sqrt(10) * norm.isf(tail / 2), rel=1e-9)
    assert row(table, "zCDP", 1e6)["optimum"] == 17
    assert np.isnan(row(table, "zCDP", 1e6)["sinh_normal"])
    assert np.isnan(row(table, "zCDP", 1e6)["sinh_squared"])


def test_no_noise_is_better_than_the_optimum(table):
    ratios = table[["gaussian_ratio", "sinh_normal_ratio", "sinh_squared_ratio"]].to_numpy()
    assert (ratios[~np.isnan(ratios)] > 1).all()
    np.testing.assert_allclose(table["gaussian_ratio"], table["gaussian"] / table["optimum"], rtol=1e-15)


def test_simulated_and_exact_stand_side_by_side(table):
    assert len(table) == 4
    gap = (table["exceeds_optimum"] - table["exceeds_optimum_exact"]).abs()
    spread = np.sqrt(table["exceeds_optimum_exact"] * (1 - table["exceeds_optimum_exact"]) / table["trials"])
    assert (gap <= 5.5 * spread).all()
    assert (table["exceeds_optimum_exact"] <= 0.05).all()
    assert (table["linf_q95_lower"] <= table["linf_q95_exact"]).all()
    assert (table["linf_q95_exact"] <= table["linf_q95_upper"]).all()
    assert "none contradicts it" in once["out"]


def test_what_is_known_is_published(table):
    numbers = results.tidy(once["flat"])
    optimum = numbers[numbers["quantity"] == "optimum_q95"]
    assert sorted(optimum["exact"]) == [6, 6, 12.5, 17]
    assert (optimum["bound"] == optimum["exact"]).all()
    assert set(optimum["unit"]) == {"counts"}
    assert {"gaussian_q95", "sinh_normal_q95", "sinh_squared_q95", "linf_error_quantile"} <= set(numbers["quantity"])


def test_the_figures_show_what_is_in_the_table(table):
    with plots.style():
        drawn = {name: figure for name, figure, _ in optimal_noise.figures(table)}
    assert set(drawn) == {"distance_to_optimum", "quantiles"}
    title = " ".join(drawn["distance_to_optimum"].get_suptitle().split())
    assert title.endswith("4% with sinh-normal (tight, tuned to k) and 38% with Gaussian")
    for figure in drawn.values():
        assert [axes.get_title() for axes in figure.axes] == ["tCDP, ω√ρ = 0.75", "zCDP"]
        assert len(figure.legends[0].get_texts()) <= 8
    for name, column in (("distance_to_optimum", "gaussian_ratio"), ("quantiles", "gaussian")):
        for axes in drawn[name].axes:
            cells = table[table["panel"] == axes.get_title()].sort_values("k")
            ((x, y),) = curves(axes, key(drawn[name], "Gaussian"))
            assert (list(x), list(y)) == ([1, 1e6], list(cells[column]))
    ((x, y),) = curves(drawn["quantiles"].axes[0], key(drawn["quantiles"], "optimal"), drawstyle="steps-mid")
    assert list(y) == [6, 12.5]


def test_the_digest_says_how_far_each_noise_is(table):
    console = Console(record=True, width=80)
    optimal_noise.report(table, console)
    text = " ".join(console.export_text().split())
    assert "at k = 1e+06: 37.8% above" in text
    assert "at k = 1e+06: 3.6% above" in text
    assert "at k = 1: 3.3% above" in text
    assert "within 3% of the optimum nowhere" in text
    assert "at k = 1: 3.3% above" in text
    assert "within 3% of the optimum for k = 1e+06" in text
    assert "4 cells in all" in text
    assert "…" not in text
    assert {name.split(".")[0] for name in once["files"]} == {"distance_to_optimum", "quantiles"}


def test_an_optimum_between_two_ends_is_shown_as_an_interval(table):
    table["optimum_at_least"] = table["optimum"] - 0.5
    console = Console(record=True, width=80)
    optimal_noise.report(table, console)
    assert "12 to 12.5" in console.export_text()
    with plots.style():
        (_, figure, _), _ = optimal_noise.figures(table)
    assert figure.axes[0].collections[0].get_paths()[0].get_extents().ymin == pytest.approx(5.5 / 6)


def test_neighbouring_k_are_named_by_their_ends():
    k = np.array([1.0, 10, 100, 1000, 1e4])
    assert optimal_noise._where(k, np.array([True, True, False, True, True])) == "for k = 1 to 10, 1e+03 to 1e+04"
    assert optimal_noise._where(k, np.array([False, False, True, False, False])) == "for k = 100"
    assert optimal_noise._where(k, np.zeros(5, bool)) == "nowhere"
