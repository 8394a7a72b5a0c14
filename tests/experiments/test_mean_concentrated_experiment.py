"""The study of mean-concentrated DP, from a small run. Its exact values are tested with the mechanism."""

import numpy as np
import pytest
from figure_lines import curves, key
from rich.console import Console

from tcdp_sim import results
from tcdp_sim.experiments import mean_concentrated
from tcdp_sim.report import plots
from tcdp_sim.results import published

WORDS = ("experiment=mean_concentrated", "cluster=serial", "trials=2000", "chunk=1000")
SMALL = ("sweep.epsilon=[0.3,1]", "sweep.cut=[1,2,6,11]")
once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def table(command, tmp_path):
    if not once:
        code, out, err = command(*WORDS, *SMALL)
        assert (code, err) == (0, "")
        once["out"] = out
        flat = results.open_cells(tmp_path / "results" / "mean_concentrated").load()
        once["table"] = published.table(mean_concentrated, flat)
    return once["table"].copy()


def test_simulated_and_exact_stand_side_by_side(table):
    assert len(table) == 8
    assert ((table["loss"] - table["loss_exact"]).abs() <= 5.5 * table["loss_mcse"]).all()
    np.testing.assert_allclose(table["loss_exact"], table["mu"], rtol=1e-12)
    np.testing.assert_allclose(table["tau"] ** 2, 2 * table["mu"], rtol=1e-12)
    assert (table["bit_loss_lower"] <= table["bit_loss"]).all()
    assert (table["bit_loss_exact"] <= table["mu"]).all()
    assert (table["bit_loss_exact"] >= 0).all()
    assert (table["bit_root_two_rho"] <= table["tau"]).all()
    assert "none contradicts it" in once["out"]


def test_mean_losses_of_the_bit_are_divergences(table):
    """p log(p/q) + (1-p) log((1-p)/(1-q)); q by the binomial law of lies."""
    from scipy.stats import binom

    for row in table.to_dict("records"):
        lie = 1 / (1 + np.exp(row["epsilon"]))
        p, q = (binom.sf(row["cut"] - 1, 12, chance) for chance in (1 - lie, lie))
        assert row["bit_exact"] == pytest.approx(p, rel=1e-10)
        assert row["bit_loss_exact"] == pytest.approx(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)), rel=1e-7)


def test_the_figure_shows_what_is_in_the_table(table):
    with plots.style():
        ((name, figure, rows),) = mean_concentrated.figures(table)
    assert (name, len(rows)) == ("mean_concentrated", 8)
    least, mean = figure.axes
    for level in (0.3, 1.0):
        own = table[table["epsilon"] == level].sort_values("cut")
        handle = key(figure, f"ε = {level:g}")
        drawn = [list(line.get_ydata()) for line in least.lines if line.get_color() == handle.get_color()]
        assert list(own["bit_tau"] / own["tau"]) in drawn
        assert list(own["bit_root_two_rho"] / own["tau"]) in drawn
        assert list(own["bit_loss_exact"] / own["mu"]) in [list(y) for _, y in curves(mean, handle)]
    title = " ".join(figure.get_suptitle().split())
    ratio = (table["bit_tau"] / table["tau"]).max()
    assert title.startswith("Mean-concentrated DP does not survive postprocessing")
    assert f"{ratio:.3g} times the τ of its release (ε = 1, cut 2)" in title


def test_the_title_claims_no_failure_where_there_is_none(table):
    assert "survives these cuts" in mean_concentrated._finding(table[table["epsilon"] == 0.3])


def test_the_digest_is_short(table):
    console = Console(record=True, width=100)
    mean_concentrated.report(table, console)
    text = console.export_text()
    assert "8 cells in all" in text
    assert f"{table['bit_tau'].max():.4g}" in text
    assert max(map(len, text.splitlines())) <= 100
