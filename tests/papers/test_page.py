"""The page of the papers: what it says, that every number of it is in its tables, and that texts stay texts."""

import re

import made_up_claims
import pandas as pd
import pytest
from browser import is_wider_than_the_window, least_contrast, opened
from page_numbers import numbers, parsed, stray_numbers
from tcdp_sim.experiments.papers.page import page
from tcdp_sim.experiments.papers.registry import Exhibit

from tcdp_sim.report.plots import new_figure

ABOUT = {"version": "1.2", "code": "0123abcd", "seed": 2018, "date": "2026-01-02", "budget": "fast"}
ABOUT |= {
    "command": "tcdp-sim reproduce",
    "runs": [{"name": "histogram", "trials": "2,000", "snapshot": "f0", "command": "x"}],
}


def draw(table):
    figure, axes = new_figure(1, 1, 3, 2)
    axes[0, 0].plot(table["x"], table["y"], color="#000000", label=made_up_claims.EVIL.replace("$", r"\$"))
    axes[0, 0].set_xlabel("x in counts")
    return figure


def results():
    return [made_up_claims.result(identity) for identity in made_up_claims.every()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page of made-up claims, a figure and a table."""
    folder = tmp_path_factory.mktemp("page")
    numbers = pd.DataFrame({"x": [1.0, 2.0], "y": [0.123456, 7.5]})
    texts = pd.DataFrame({"loss": [0.27951, 12.5], "who": ["a<b", made_up_claims.EVIL]})
    exhibits = {
        Exhibit("figure_one", "T", "Figure <1>", f"Lines & {made_up_claims.EVIL}", len, draw, ("histogram",)): numbers,
        Exhibit("table_one", "P", "Table 1", "Losses of two records.", len): texts,
    }
    page.write(folder, results(), exhibits, ABOUT)
    return folder


def test_the_page_has_no_number_that_is_in_no_table(folder):
    """But for those of its own order, its counts, which are the table's, and what it was made of."""
    assert not stray_numbers(folder)
    assert {"1.867", "0.8081", "0.2795"} <= numbers(folder)


def test_counts_are_the_tables(folder):
    counts = pd.read_csv(folder / "claims.csv")["verdict"].value_counts()
    text = (folder / "index.html").read_text("utf-8")
    for verdict, count in counts.items():
        assert re.search(rf'">{count}</b><span aria-hidden="true">.</span> {verdict}</li>', text), verdict


def test_tags_are_closed_and_names_are_there_once(folder):
    ids = parsed(folder).ids
    assert len(ids) == len(set(ids))
    links = re.findall(r'href="#([^"]+)"', (folder / "index.html").read_text("utf-8"))
    assert set(links) <= set(ids)


def test_texts_of_others_stay_texts(folder):
    for name in ("index.html", "papers.md"):
        text = (folder / name).read_text("utf-8")
        assert "<script>alert" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in (folder / "index.html").read_text("utf-8")
    assert "\\<script\\>alert(1)" in (folder / "papers.md").read_text("utf-8")


def test_nothing_comes_from_outside(folder):
    text = (folder / "index.html").read_text("utf-8")
    addresses = re.findall(r'(?:src|href|xlink:href)="([^#"][^"]*)"', text)
    assert set(addresses) == {"data:,"}
    assert "url(http" not in text
    assert "default-src 'none'" in text.replace("&#39;", "'")


def test_the_order_of_the_page(folder):
    text = (folder / "index.html").read_text("utf-8")
    names = ["verdicts", "wrong", "loose", *(f"paper-{letter}" for letter in "ZTVSP"), "asymptotics", "unchecked"]
    places = [text.index(f'<h2 id="{name}">') for name in [*names, "provenance"]]
    assert places == sorted(places)


def test_vacuous_bounds_are_marked_and_are_not_among_the_loose(folder):
    table = pd.read_csv(folder / "claims.csv").set_index("id")
    assert table.loc["S.T1", "vacuous"] == "the bound is above 1"
    assert "S.T1" not in set(pd.read_csv(folder / "figures" / "looseness.csv")["id"])
    loose = pd.read_csv(folder / "figures" / "looseness.csv").set_index("id")["loose"]
    assert loose["Z.L7"] == pytest.approx(1 / 0.1056)


def test_files_of_figures_stand_alone(folder):
    text = (folder / "figures" / "figure_one.svg").read_text("utf-8")
    assert text.startswith("<?xml")
    assert "currentColor" not in text
    assert "<date>" not in text


def test_an_inline_figure_is_told_in_words_and_takes_the_pages_colours(folder):
    text = (folder / "index.html").read_text("utf-8")
    picture = text[text.index('<svg role="img" aria-labelledby="figure_one-title') :]
    picture = picture[: picture.index("</svg>")]
    assert '<title id="figure_one-title">Figure &lt;1&gt;</title>' in picture
    assert "Lines &amp; &lt;script&gt;" in picture
    assert "#000000" not in picture
    assert "currentColor" in picture


# In a browser


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1400])
def test_a_browser_shows_it_without_complaint_and_overflow(folder, width, scheme):
    with opened(folder / "index.html", width, scheme) as (shown, messages, addresses):
        assert messages == []
        assert addresses == [(folder / "index.html").as_uri()]
        assert not is_wider_than_the_window(shown)
        ratio, where = least_contrast(shown)
        assert ratio >= 4.5, where


def test_filters_choose_rows(folder):
    with opened(folder / "index.html") as (shown, messages, _):

        def rows():
            return shown.locator("#table tbody tr:visible").count()

        whole = rows()
        assert whole == 9
        shown.get_by_role("button", name="false", exact=True).click()
        assert rows() == 1
        assert shown.get_by_text("1 of 9 shown").is_visible()
        shown.get_by_role("button", name="holds", exact=True).click()
        assert rows() == 6
        shown.get_by_role("button", name="Z: zCDP", exact=True).click()
        assert rows() == 2
        for name in ("false", "holds", "Z: zCDP"):
            shown.get_by_role("button", name=name, exact=True).click()
        assert rows() == whole
        assert messages == []


@pytest.mark.slow
def test_without_script_all_rows_are_there_and_no_filters(folder):
    with opened(folder / "index.html", script=False) as (shown, _, _):
        assert shown.locator("#table tbody tr:visible").count() == 9
        assert shown.locator(".chips button:visible").count() == 0


@pytest.mark.slow
def test_print_is_black_on_white_without_filters(folder):
    with opened(folder / "index.html", scheme="dark", media="print") as (shown, messages, _):
        assert shown.locator(".chips button:visible").count() == 0
        assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert least_contrast(shown)[0] >= 4.5
        assert messages == []


def test_a_screen_reader_finds_table_figure_and_landmarks(folder):
    with opened(folder / "index.html", 380) as (shown, _, _):
        assert shown.get_by_role("table").first.get_by_role("row").count() == 10
        assert shown.get_by_role("columnheader", name="Verdict").count() == 1
        assert shown.get_by_role("img", name="Figure <1>").count() == 1
        assert shown.get_by_role("main").count() == 1
