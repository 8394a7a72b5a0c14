"""The study of Theorem 32, from a small run. Its exact values are tested with the mechanism."""

import numpy as np
import pytest
from figure_lines import curve, curves, key
from rich.console import Console

from tcdp_sim import results
from tcdp_sim.experiments import pure_from_zcdp
from tcdp_sim.report import plots
from tcdp_sim.results import published

WORDS = ("experiment=pure_from_zcdp", "cluster=serial", "trials=2000", "chunk=1000")
SMALL = ("sweep.n=[10,30,60]", "sweep.epsilon=[0.5,2]")
once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def table(command, tmp_path):
    if not once:
        code, out, err = command(*WORDS, *SMALL)
        assert (code, err) == (0, "")
        folder = tmp_path / "results" / "pure_from_zcdp"
        once["out"] = out
        once["flat"] = results.open_cells(folder).load()
        once["table"] = published.table(pure_from_zcdp, once["flat"])
    return once["table"].copy()


def test_promised_exact_and_simulated_stand_side_by_side(table):
    assert len(table) == 6
    for name in ("pure_error", "zcdp_error"):
        gap = (table[name] - table[f"{name}_exact"]).abs()
        assert (gap <= 5.5 * table[f"{name}_mcse"] + 1e-9).all()
    np.testing.assert_allclose(table["zcdp_error_exact"], table["alpha"], rtol=1e-15)
    np.testing.assert_allclose(table["pure_error_bound"], 10 * table["alpha"], rtol=1e-15)
    assert (table["pure_error_exact"] < table["pure_error_bound"]).all()
    assert (table["epsilon_spent"] <= table["epsilon"] * (1 + 1e-12)).all()
    assert (np.log(table["points"]) <= table["most_points_log"]).all()
    assert "none contradicts it" in once["out"]


def test_rho_is_the_largest_that_is_admitted(table):
    np.testing.assert_allclose(table["rho"], table["alpha"] ** 2, rtol=1e-12)
    np.testing.assert_allclose(table["alpha"], (np.pi * table["n"] ** 2) ** -0.25, rtol=1e-12)
    least = 4 / (table["epsilon"] * table["alpha"]) * (table["rho"] * table["n"] ** 2 + 1)
    assert ((table["records"] >= least) & (table["records"] < least + 1)).all()
    enough = 1 / (table["epsilon"] * table["alpha"])  # Laplace noise of scale 1/(epsilon n') has that mean error
    assert ((table["laplace_records"] >= enough) & (table["laplace_records"] < enough + 1)).all()


def test_what_is_known_is_published(table):
    numbers = results.tidy(once["flat"])
    spent = numbers[numbers["quantity"] == "epsilon_spent"]
    assert set(spent["unit"]) == {"nats"}
    assert sorted(spent["bound"]) == [0.5] * 3 + [2] * 3


def test_the_figure_shows_what_is_in_the_table(table):
    with plots.style():
        ((name, figure, rows),) = pure_from_zcdp.figures(table)
    assert (name, len(rows)) == ("pure_from_zcdp", 6)
    error, epsilon, records = figure.axes
    for level in (0.5, 2.0):
        own = table[table["epsilon"] == level].sort_values("n")
        label = f"ε = {level:g}"
        assert list(curve(error, key(figure, label), linewidth=plots.STYLE["lines.linewidth"])[1]) == pytest.approx(
            list(own["pure_error_exact"] / own["alpha"])
        )
        drawn = [list(y) for _, y in curves(epsilon, key(figure, label))]
        assert list(own["epsilon_spent"]) in drawn
        drawn = [list(y) for _, y in curves(records, key(figure, label))]
        assert list(own["records"] / own["n"] ** 2) in drawn
    assert any(list(line.get_ydata()) == [10, 10] for line in error.lines)
    most = (table["pure_error_exact"] / table["alpha"]).max()
    title = " ".join(figure.get_suptitle().split())
    assert f"at most {most:.2g}α where Theorem 32 promises 10α" in title
    assert f"up to {(table['records'] / table['laplace_records']).max():,.0f} times" in title


def test_given_rhos_and_values_are_series_of_their_own(table):
    more = table.assign(rho=table["rho"] / 2)
    labels = set(pure_from_zcdp._series(more))
    assert labels == {f"ε = {e:g}, ρ = {rho:g}" for e, rho in zip(more["epsilon"], more["rho"])}
    two = pure_from_zcdp._series(table.assign(values=[2, 3] * 3))
    assert {text.split(", ")[1] for text in two} == {"2 values", "3 values"}


def test_the_title_says_when_epsilon_is_not_spent(table):
    half = table.assign(epsilon_spent=table["epsilon"] * 0.9)
    assert "spends 90.0% of ε or more" in pure_from_zcdp._finding(half)
    assert "spends all of ε" in pure_from_zcdp._finding(table.assign(epsilon_spent=table["epsilon"]))


def test_the_digest_is_short(table):
    console = Console(record=True, width=100)
    pure_from_zcdp.report(table, console)
    text = console.export_text()
    assert "Theorem 32" in text
    assert f"{table['records'].max():,}" in text
    assert max(map(len, text.splitlines())) <= 100
