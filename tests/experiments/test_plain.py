"""The plain table and figure of an experiment without a module, on results made by hand."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from figure_lines import keys
from rich.console import Console

from tcdp_sim.experiments import plain
from tcdp_sim.report import plots
from tcdp_sim.results import published


def cells(k=(10.0, 1000.0, 1e6, 10.0), noise=("a", "a", "a", "b")):
    """As `open_cells`: an observable "error" in counts and an event "wins", of four cells."""
    n = len(k)
    per_cell = {
        "error_mean": np.arange(1.0, n + 1),
        "error_mean_mcse": np.full(n, 0.1),
        "error_max": np.zeros(n),
        "error_histogram_bins": np.ones(n, int),
        "wins": np.linspace(0, 0.75, n),
        "wins_mcse": np.full(n, 0.01),
        "wins_lower": np.zeros(n),
        "wins_upper": np.ones(n),
        "wins_count": np.zeros(n, int),
        "trials": np.full(n, 100),
    }
    flat = xr.Dataset({name: ("cell", values) for name, values in per_cell.items()})
    flat["error_mean"].attrs["units"] = "counts"
    for part in ("lower", "upper", "count"):
        flat[f"error_histogram_{part}"] = "error_entry", np.ones(n), {"units": "counts"}
    flat = flat.assign_coords(k=("cell", list(k)), noise=("cell", list(noise)))
    return flat.assign_attrs(axes=json.dumps(["noise", "k"]))


def test_every_quantity_of_every_cell_has_its_95_percent_interval():
    table = published.table(plain, cells())
    assert len(table) == 8
    error = table[table["quantity"] == "error"]
    assert error["simulated"].tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(error["upper"] - error["simulated"], 1.959963984540054 * 0.1)
    np.testing.assert_allclose(error["simulated"] - error["lower"], 1.959963984540054 * 0.1)
    assert set(error["unit"]) == {"counts"}
    wins = table[table["quantity"] == "wins"]
    assert wins["lower"].iloc[0] == 0
    assert wins["upper"].iloc[0] == pytest.approx(1 - 0.025 ** (1 / 100))  # Clopper-Pearson of no hit in 100
    assert "exact" not in table  # nothing is compared


def test_cells_without_numbers_are_left_out():
    flat = cells()
    flat["error_mean"][1] = np.nan
    flat["wins"][1] = np.nan
    assert len(published.table(plain, flat)) == 6


def test_each_quantity_is_drawn_against_the_axis_with_most_levels():
    table = published.table(plain, cells())
    with plots.style():
        drawn = {name: (figure, part) for name, figure, part in plain.figures(table)}
    assert set(drawn) == {"error_vs_k", "wins_vs_k"}
    figure, part = drawn["error_vs_k"]
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "k"
    assert axes.get_ylabel() == "error (counts)"
    assert set(keys(figure)) == {text.get_text() for text in axes.texts} == {"a", "b"}
    assert figure.get_suptitle() == "The simulated error (counts) is 1 (k = 10, a) to 4 (k = 10, b)"
    assert "lines join the markers" in figure._supxlabel.get_text()
    (line,) = [line for line in axes.lines if line.get_linestyle() != "None" and len(line.get_xdata()) == 3]
    assert line.get_xydata().tolist() == [[10, 1], [1000, 2], [1e6, 3]]
    first = axes.containers[0]
    assert first[0].get_xydata().tolist() == [[10, 1], [1000, 2], [1e6, 3]]
    assert pd.testing.assert_frame_equal(part, table[table["quantity"] == "error"]) is None


def test_names_on_the_axis_and_no_axis_at_all():
    named = published.table(plain, cells(k=(1.0,) * 4, noise=("a", "b", "c", "d")))
    with plots.style():
        (figure, _), *_ = [(figure, part) for _, figure, part in plain.figures(named)]
        assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["a", "b", "c", "d"]
        single = published.table(plain, cells(k=(1.0,), noise=("a",)))
        assert [name for name, _, _ in plain.figures(single)] == ["error_vs_cell", "wins_vs_cell"]


def test_the_table_on_the_terminal(capsys):
    console = Console(width=160)
    plain.report(published.table(plain, cells()), console)
    out = capsys.readouterr().out
    assert "error (counts), 95% intervals" in out
    assert "1e+06" in out
    assert "a" in out
