"""What a notebook shows of the result of a sweep, read back from its HTML and compared with the Dataset."""

import os
import re
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import browser
import nbclient
import nbformat
import numpy as np
import pytest
import xarray as xr
from IPython.core.formatters import DisplayFormatter

import tcdp_sim
from tcdp_sim.report import notebooks
from tcdp_sim.results import in_notebook

STRANGE = "<b>x&y<i>"


class Page(HTMLParser):
    """The lines, the headings and the rows of a result, without what stands behind the click."""

    def __init__(self, page):
        super().__init__()
        self.lines, self.headings, self.rows, self._tag = [], [], [], None
        self.feed(page.partition("<details>")[0])

    def handle_starttag(self, tag, attrs):
        self._tag = tag
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self._tag = None

    def handle_data(self, data):
        if self._tag == "th":
            self.headings.append(data)
        elif self._tag == "td":
            self.rows[-1][-1] += data
        elif data.strip():
            self.lines.append(data.strip())


@pytest.fixture
def formatter(monkeypatch):
    """The formatter of a running IPython."""
    formatters = DisplayFormatter()
    monkeypatch.setattr(notebooks, "shell", lambda: SimpleNamespace(display_formatter=formatters))
    return formatters.formatters["text/html"]


def coin(rng, trials, n, p):
    return {"mean": rng.random((trials, n)).mean(axis=1) + p, "hit": rng.random(trials) < p}


def number(text):
    """The number and the error of a text such as 0.5082(50)."""
    value, last = re.fullmatch(r"(-?[\d.]+)\((\d+)\)", text).groups()
    return float(value), int(last) * 10.0 ** -len(value.partition(".")[2])


def test_the_table_has_the_numbers_of_the_dataset(formatter):
    exact = {"hit": lambda n, p: p}
    ds = tcdp_sim.sweep(coin, {"n": [2, 30], "p": [0.1, 0.5, 0.9]}, trials=1000, exact=exact)
    page = Page(formatter(ds))
    assert re.fullmatch(r"sweep of coin: 6 cells, 1,000 trials each, [\d.e-]+ s", page.lines[0])
    assert page.lines[1:3] == ["n: 2, 30", "p: 0.1, 0.5, 0.9"]
    assert page.headings == ["n", "p", "mean", "hit", "hit, exact"]
    rows = [row for row in page.rows if row]
    assert len(rows) == 6
    for n, p, mean, hit, known in rows:
        cell = ds.sel(n=int(n), p=float(p))
        for name, text in (("mean", mean), ("hit", hit)):
            value, error = number(text)
            assert value == pytest.approx(cell[name].item(), abs=0.06 * error)
            assert error == pytest.approx(cell[f"{name}_mcse"].item(), rel=0.05)
        assert float(known) == float(p)
    assert "none contradicts it beyond chance" in page.lines[-2]
    assert page.lines[-1].startswith("Not kept")
    assert "trials=2_000" in page.lines[-1]


def test_contradictions_failed_trials_and_units_are_told(formatter):
    def half(rng, n):
        x = rng.random()
        return {"x": x if x > 0.25 * n else np.nan}

    with pytest.warns(tcdp_sim.Contradiction):
        ds = tcdp_sim.sweep(
            half, {"n": [0, 1]}, trials=200, on_error="count", exact={"x": lambda n: 9.0}, units={"x": STRANGE}
        )
    shown = formatter(ds)
    page, failed = Page(shown), int(ds["errors"].sum())
    assert STRANGE not in shown.partition("<details>")[0]
    assert page.headings == ["n", "errors", f"x ({STRANGE})", "x, exact"]
    assert [row[1] for row in page.rows if row] == ["0", f"{failed}"]
    assert "2 of 2 simulated numbers differ" in page.lines[1]
    assert f"{failed} of 400 trials failed, in 1 of 2 cells. They are in no mean." in page.lines


def test_trials_that_warn_or_are_drawn_again_are_told(formatter):
    def half(rng, n):
        x = rng.random()
        if x < 0.1 * n:
            warnings.warn("small", stacklevel=1)
        return x if x > 0.25 * n else np.nan

    ds = tcdp_sim.sweep(half, {"n": [0, 1]}, trials=200, on_error="count", redraw=True)
    page, failed, warned = Page(formatter(ds)), int(ds["errors"].sum()), int(ds["warnings"].sum())
    assert page.headings == ["n", "errors", "warnings", "value"]
    assert [row[1:3] for row in page.rows if row] == [["0", "0"], [f"{failed}", f"{warned}"]]
    assert f"{failed} of 400 trials failed, in 1 of 2 cells. They were drawn again." in page.lines


def test_ten_of_many_cells_are_shown_and_places_without_a_cell_are_not(formatter):
    one = {"one": {"n": 1, "p": 0.1}}
    ds = tcdp_sim.sweep(coin, {"n": range(2, 31), "p": [0.1, 0.2]}, also=one, trials=5)
    page = Page(formatter(ds))
    rows = [row for row in page.rows if row]
    assert [row[:2] for row in rows] == [
        ["1", "0.1"],
        *([f"{n}", p] for n in (2, 3, 4, 5) for p in ("0.1", "0.2")),
        ["6", "0.1"],
    ]
    assert page.lines[1] == "n: 1, 2, 3, 4, 5, 6, ..., 30 (30 values)"
    assert "The first 10 of 59 cells." in page.lines
    one = tcdp_sim.sweep(coin, {"n": 3, "p": 0.1}, trials=5)  # no dimension is left
    assert [row[:2] for row in Page(formatter(one)).rows if row] == [["3", "0.1"]]


def test_cells_without_numbers_are_told(formatter, capsys):
    def fails(rng, trials, n):
        return 1 / 0 if n == 2 else rng.random(trials)

    with pytest.warns(UserWarning, match="1 of 3 cells"):
        ds = tcdp_sim.sweep(fails, {"n": [1, 2, 3]}, trials=5, on_error="continue")
    page = Page(formatter(ds))
    assert [row[0] for row in page.rows if row] == ["1", "3"]
    assert "1 of 3 cells have no numbers, because the function raised an error." in page.lines


def test_the_trials_of_a_target_stand_in_the_table(formatter):
    target = {"value": {"absolute": 0.01}}
    ds = tcdp_sim.sweep(lambda rng, trials, n: n * rng.random(trials), {"n": [1, 9]}, trials=100, target_mcse=target)
    page = Page(formatter(ds))
    assert [int(row[1].replace(",", "")) for row in page.rows if row] == ds["trials"].values.tolist()
    assert "a smaller target_mcse" in page.lines[-1]


def test_only_what_a_sweep_has_returned_is_shown_so(formatter):
    """Selections, copies and other Datasets look as xarray shows them; so does a result that lacks its numbers."""
    ds = tcdp_sim.sweep(coin, {"n": [2, 3], "p": 0.1}, trials=5)
    assert type(ds) is xr.Dataset
    assert "<table>" in formatter(ds)
    for other in (ds.sel(n=2), ds.copy(), ds + 1, xr.Dataset({"x": 1})):
        assert "<table>" not in formatter(other)
        assert "xr-wrap" in formatter(other)
    with_more = ds.assign(more=1)
    ds["more"] = with_more["more"]
    assert "more" in formatter(ds).partition("<details>")[2]
    del ds["trials"]
    assert "<table>" not in formatter(ds)


def test_the_formatter_of_the_user_stays(formatter):
    formatter.for_type(xr.Dataset, lambda data: "mine")
    ds = tcdp_sim.sweep(coin, {"n": 2, "p": 0.1}, trials=5)
    assert formatter(ds).endswith("mine</details>\n</div>\n")
    assert formatter(xr.Dataset()) == "mine"


def test_a_result_that_is_gone_is_forgotten(formatter):
    before = len(in_notebook._known)
    ds = tcdp_sim.sweep(coin, {"n": 2, "p": 0.1}, trials=5)
    assert len(in_notebook._known) == before + 1
    del ds
    assert len(in_notebook._known) == before


def test_nothing_is_remembered_and_no_ipython_is_imported_without_one(monkeypatch):
    before = len(in_notebook._known)
    ds = [tcdp_sim.sweep(coin, {"n": 1, "p": 0.1}, trials=5)]  # IPython is loaded, but there is no shell
    monkeypatch.delitem(sys.modules, "IPython")
    ds.append(tcdp_sim.sweep(coin, {"n": 1, "p": 0.1}, trials=5))
    assert "IPython" not in sys.modules
    assert len(in_notebook._known) == before


CELLS = (
    """import time, numpy as np, tcdp_sim
def slow(rng, trials, n):
    time.sleep(0.005)
    return {"<b>x": rng.normal(n, 1, trials)}
tcdp_sim.sweep(slow, {"n": range(300)}, trials=10)""",
    """import os, signal
def stopped(rng, trials, n):
    if n == 290:
        os.kill(os.getpid(), signal.SIGINT)
    return slow(rng, trials, n)
tcdp_sim.sweep(stopped, {"n": range(300)}, trials=10)""",
)


@pytest.mark.slow
def test_a_kernel_shows_a_bar_and_a_table(tmp_path):
    """The outputs that a notebook keeps: one bar, which has been updated, the table, and how to go on after Ctrl-C."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    about = {"timeout": 300, "kernel_name": "python3", "allow_errors": True}
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": tmp_path}}, **about).execute(
        env=os.environ.copy()
    )
    (bar, table), (other, error) = (cell.outputs for cell in notebook.cells)
    assert re.match(r"100%  300/300 cells, 3e\+03 trials.*  done after \d", bar["data"]["text/plain"])
    assert '<progress value="1.000" max="1">' in bar["data"]["text/html"]
    assert len([row for row in Page(table["data"]["text/html"]).rows if row]) == 10
    assert table["data"]["text/plain"].startswith("<xarray.Dataset>")
    assert re.search(r"  stopped after \d", other["data"]["text/plain"])
    assert re.search(r"\d+ of 300 cells are finished .* the same call goes on from there", error["evalue"])
    page = tmp_path / "page.html"
    style = "@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } }"
    outputs = "".join(one["data"]["text/html"] for one in (bar, table, other))
    page.write_text(f"<!doctype html><meta charset='utf-8'><style>{style}</style><body>{outputs}", "utf-8")
    for scheme in ("light", "dark"):
        with browser.opened(page, scheme=scheme) as (opened, messages, addresses):
            assert not messages
            assert addresses == [Path(page).as_uri()]
            assert opened.locator("progress").count() == 2
            assert not opened.locator("details").first.evaluate("one => one.open")
            assert opened.locator("details").first.evaluate("one => one.previousElementSibling.tagName") == "BR"
            opened.locator("details").evaluate_all("all => all.forEach((one) => one.remove())")
            assert browser.least_contrast(opened)[0] > 4.5
            assert not browser.is_wider_than_the_window(opened)
