"""`tcdp-sim explore FOLDER`: one page on which a reader chooses what is drawn."""

import csv
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from browser import is_wider_than_the_window, least_contrast, opened

import tcdp_sim
from tcdp_sim import results
from tcdp_sim.core.errors import UserError
from tcdp_sim.report import html, looks
from tcdp_sim.results import explore
from tcdp_sim.results.tidy import tidy_blocks

SMALL = {"k": [10, 1e6], "noise": ["laplace", "gaussian"], "rho": [0.1, 1], "omega_sqrt_rho": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    tcdp_sim.run("histogram", sweep=SMALL, also=None, trials=500, chunk=500, cluster="serial", results_dir=place)
    return place / "histogram"


@pytest.fixture(scope="module")
def page(run):
    return explore.write(run)


def data_of(page):
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)[1]
    return json.loads(text)


def test_its_data_are_the_published_numbers(run, page):
    data, table = data_of(page), results.tidy(run)
    axes = {axis["name"]: axis for axis in data["axes"]}
    assert set(axes) == {"noise", "k", "rho", "level"}  # omega has one value: nothing to choose
    for name, axis in axes.items():
        values = [np.nan if place < 0 else axis["values"][place] for place in axis["rows"]]
        assert (
            values == table[name].tolist() if name == "noise" else np.array_equal(values, table[name], equal_nan=True)
        )
    for name in explore.NUMBERS:
        np.testing.assert_array_equal(np.array(data["numbers"][name], dtype=float), table[name])
    assert data["ids"] == table["id"].tolist()
    assert data["units"]["linf_error_quantile"] == "counts"


def test_a_noise_has_its_colour_of_the_figures(page):
    (noise,) = [axis for axis in data_of(page)["axes"] if axis["name"] == "noise"]
    shown = dict(zip(noise["values"], noise["looks"]))
    assert shown["gaussian"] == {"colour": looks.COLOURS[looks.NOISES["gaussian"]], "symbol": "circle"}
    assert shown["laplace"] == {"colour": looks.COLOURS[looks.NOISES["laplace"]], "symbol": "square"}


def test_equal_runs_give_equal_bytes_and_the_page_goes_where_it_is_asked(run, page, tmp_path):
    again = explore.write(run, tmp_path / "mine.html")
    assert again == tmp_path / "mine.html"
    assert again.read_bytes() == page.read_bytes()


def test_infinite_and_unknown_numbers():
    assert [explore._number(value) for value in (1.5, float("nan"), float("inf"), float("-inf"))] == [
        1.5,
        None,
        "inf",
        "-inf",
    ]


def test_mistakes_are_one_line(run, tmp_path, monkeypatch):
    with pytest.raises(UserError, match="holds no results"):
        explore.write(tmp_path)
    with pytest.raises(UserError, match="not a file that a page may replace"):
        explore.write(run, tmp_path)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(UserError, match=r"pip install 'tcdp_sim\[explore\]'"):
        explore.write(run)


def test_a_run_with_too_many_numbers_is_refused_before_they_are_in_memory(run, monkeypatch):
    """It is counted by parts, up to the first too many; a run of exactly the most is drawn."""
    exactly = len(results.tidy(run))
    monkeypatch.setattr(explore, "MOST_ROWS", exactly)
    explore.write(run)
    counted = []
    blocks = tidy_blocks
    monkeypatch.setattr(results.open, "ROWS", 1)
    monkeypatch.setattr(
        explore, "tidy_blocks", lambda flat: (counted.append(len(each)) or each for each in blocks(flat))
    )
    monkeypatch.setattr("tcdp_sim.results.published.loaded", None)
    for most in (exactly - 1, 10):
        counted.clear()
        monkeypatch.setattr(explore, "MOST_ROWS", most)
        with pytest.raises(UserError, match=rf"more than {most} numbers, and a page holds no more; `tcdp-sim table"):
            explore.write(run)
        assert sum(counted) > most >= sum(counted[:-1])


def test_the_command_names_the_file(run, tmp_path, command):
    code, out, _ = command("explore", str(run), str(tmp_path / "x.html"))
    assert (code, out.split()) == (0, ["explore:", str(tmp_path / "x.html")])


MENU = "select >> nth={}"


def traces(page):
    """Markers of the figure: their names, and the numbers that plotly draws."""
    drawn = "document.getElementById('plot').data.filter((t) => t.mode === 'markers')"
    return page.evaluate(f"{drawn}.map((t) => [t.name, t.x, t.y, t.xaxis])")


@pytest.mark.slow
def test_a_reader_chooses_in_a_browser(run, page):
    table = results.tidy(run)
    with opened(page) as (tab, messages, addresses):
        tab.wait_for_selector("#plot .legend")
        chosen = table[(table["quantity"] == "linf_error_quantile") & (table["level"] == 0.95) & (table["rho"] == 1)]
        for name, x, y, _ in traces(tab):  # the default: the 95% quantile against k, a colour for each noise
            mine = chosen[chosen["noise"] == name.removeprefix("noise = ")].sort_values("k")
            assert (x, y) == (mine["k"].tolist(), mine["value"].tolist())
        assert len(traces(tab)) == 2
        tab.select_option(MENU.format(3), "rho")
        assert [trace[3] for trace in traces(tab)] == ["x", "x", "x2", "x2"]
        tab.select_option(MENU.format(0), label="top_stays")
        shown = table[table["quantity"] == "top_stays"]
        assert sorted(y for trace in traces(tab) for y in trace[2]) == sorted(shown["value"])
        with tab.expect_download() as loading:
            tab.click("#download")
        rows = list(csv.DictReader(loading.value.path().open(newline="")))
        assert sorted((row["id"], float(row["value"])) for row in rows) == sorted(zip(shown["id"], shown["value"]))
        assert messages == []
        assert all(address.startswith(("file:", "blob:", "data:")) for address in addresses)


@pytest.fixture(scope="module")
def with_omega(tmp_path_factory):
    """A run in which two noises have no omega, and a third one has five: more than k and rho have values."""
    place = tmp_path_factory.mktemp("omega")
    sweep = {"k": [10, 1000], "noise": ["laplace", "gaussian", "sinh_normal_tight"], "rho": [0.1, 1]}
    omegas = {"omega": [2, 3, 5, 9, 20]}
    tcdp_sim.run(
        "histogram", sweep=sweep | omegas, also=None, trials=500, chunk=500, cluster="serial", results_dir=place
    )
    return place / "histogram"


DRAWN = "document.getElementById('plot').data.map((t) => [t.name, t.mode, t.x, t.y])"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["explore", "report"])
def test_what_does_not_depend_on_x_is_a_horizontal_line(with_omega, kind, tmp_path, command):
    """Whatever is on the x axis, each noise is drawn: along x where it depends on x, else as a line over all of x."""
    path = tmp_path / "page.html"
    assert command(kind, str(with_omega), str(path))[0] == 0
    table = results.tidy(with_omega)
    chosen = table[(table["quantity"] == "linf_error_quantile") & (table["level"] == 0.95) & (table["rho"] == 1)]
    with opened(path) as (tab, messages, _):
        tab.wait_for_selector("#plot .legend")
        for x in ("k", "omega", "rho", "level"):
            tab.select_option(MENU.format(1), x)
            names = {name for name, *_ in tab.evaluate(DRAWN)}
            assert names == {f"noise = {noise}" for noise in ("laplace", "gaussian", "sinh_normal_tight")}
        tab.select_option(MENU.format(1), "omega")
        flat = [trace for trace in tab.evaluate(DRAWN) if trace[1] == "lines+markers"]
        assert [name for name, *_ in flat] == ["noise = laplace", "noise = gaussian"]
        for name, _, x, y in flat:
            mine = chosen[(chosen["noise"] == name.removeprefix("noise = "))]
            assert x == [2, 20, None]
            assert y[0] == y[1]
            assert y[0] in mine["value"].tolist()
        tab.select_option(MENU.format(1), "k")
        tab.select_option(MENU.format(3), "omega")  # five panels, each with the noises that have no omega
        markers = [(name, axis) for name, _, _, axis in traces(tab)]
        assert len(markers) == 15
        assert {axis for name, axis in markers if name == "noise = laplace"} == {"x", "x2", "x3", "x4", "x5"}
        assert messages == []


@pytest.mark.slow
def test_the_first_x_axis_is_that_with_most_values(with_omega, tmp_path):
    """Rows without omega count as no value of omega: with two omegas, k comes first."""
    with opened(explore.write(with_omega, tmp_path / "x.html")) as (tab, _, _):
        tab.wait_for_selector("#plot .legend")
        assert tab.evaluate("state.x") == "omega"
        tab.evaluate(
            "for (const each of data.axes) if (each.name === 'omega') each.rows = each.rows.map((r) => Math.min(r, 1))"
        )
        tab.evaluate("state.x = ''; take(state.quantity)")
        assert tab.evaluate("state.x") in ("k", "rho")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(380, "dark"), (1400, "light")])
def test_it_can_be_read_on_small_and_dark_screens(page, width, scheme):
    with opened(page, width=width, scheme=scheme) as (tab, messages, _):
        tab.wait_for_selector("#plot .legend")
        ratio, element = least_contrast(tab)
        assert ratio >= 4.5, element
        assert not is_wider_than_the_window(tab)
        tab.focus("input[type=range]")
        before = tab.inner_text("output >> nth=0")
        tab.keyboard.press("ArrowRight")  # a slider moves by keys
        assert tab.inner_text("output >> nth=0") != before
        assert messages == []


def test_texts_of_the_user_stay_inside_of_the_data():
    evil = "</script><img src=x onerror=alert(1)>"
    data = html.json_data({"a": evil})
    assert "<" not in data
    assert json.loads(data) == {"a": evil}


def test_values_of_a_numeric_axis_are_in_their_order_and_others_as_they_come():
    coded = explore._coded("k", pd.Series([10, 2, 30, 2]))
    assert (coded["values"], coded["rows"]) == ([2, 10, 30], [1, 0, 2, 0])
    coded = explore._coded("noise", pd.Series(["b", "a", None, "b"]))
    assert (coded["values"], coded["rows"]) == (["b", "a"], [0, 1, -1, 0])
