"""What a notebook shows of a plan, an audit and results: short, and with every text of the user shown as text."""

from html.parser import HTMLParser

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.privacy import PureDP

STRANGE = "<b>x&y<i>"
TEXT_OF_IT = "&lt;b&gt;x&amp;y&lt;i&gt;"
LAPLACE = {"noise": "laplace", "rho": [0.1, 0.2]}


class Page(HTMLParser):
    """The tags of a page and its texts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data.strip())


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_plan_has_its_cost_and_the_first_cells():
    sweep = {**LAPLACE, "k": list(range(10, 1010))}
    plan = tcdp_sim.plan("histogram", sweep=sweep, also=None, trials=1000, chunk=100, name=STRANGE, cluster="serial")
    shown = plan._repr_html_()
    assert len(shown) < 5000
    assert TEXT_OF_IT in shown
    page = Page(shown)
    assert page.texts[0].startswith("2000 cells x 1,000 trials; 20000 of 20000 chunks to simulate")
    assert f"folder: results/{STRANGE}" in page.texts
    assert set(page.tags) == {"b", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.tags.count("tr") == 11  # a head, and ten cells
    assert page.tags.count("b") == 1


def noisy(data, rng, trials):
    return data.sum() + rng.laplace(0, 1, trials)


def letters(data, rng, trials):
    return rng.random(trials) < 0.4 + 0.1 * (len(data) > 1000)


def test_an_audit_has_its_verdict_and_a_short_pair():
    data = np.arange(5000.0)
    pair = data, data + np.eye(1, 5000)[0]
    given = {"trials": 2000, "learn": False}
    report = tcdp_sim.audit(noisy, neighbours=[pair], claim=PureDP(1.0), **given)
    shown = report._repr_html_()
    assert len(shown) < 1000
    assert "epsilon &gt;= " in shown
    page = Page(shown)
    assert page.texts[0] == report.verdict
    assert set(page.tags) == {"b", "br"}


def test_an_audit_of_long_texts_is_short_and_shows_them_as_text():
    report = tcdp_sim.audit(letters, neighbours=[(STRANGE, "z" * 10**5)], trials=2000, learn=False)
    shown = report._repr_html_()
    assert len(shown) < 1500
    assert TEXT_OF_IT in shown
    assert set(Page(shown).tags) == {"b", "br"}


def test_results_of_a_sweep_and_of_a_run_show_names_as_text():
    def named(rng, trials, kind):
        return {STRANGE: rng.random(trials)}

    found = tcdp_sim.sweep(named, {"kind": [STRANGE, "<script>", "c"]}, trials=20)
    ran = tcdp_sim.run(
        "histogram", sweep={**LAPLACE, "k": 10}, also=None, trials=100, chunk=100, name=STRANGE, cluster="serial"
    )
    for results in (found, ran):
        shown = results._repr_html_()
        assert STRANGE not in shown
        assert "<script>" not in shown
        assert len(shown) < 250_000  # most of it is the style of xarray, which shows nothing before a click
    assert TEXT_OF_IT in found._repr_html_()


def test_results_of_many_cells_are_short():
    few, many = (
        tcdp_sim.sweep(lambda rng, trials, n: rng.random(trials), {"n": range(n)}, trials=5) for n in (4, 2000)
    )
    assert len(many._repr_html_()) < 1.5 * len(few._repr_html_())
    assert len(repr(many)) < 3000
