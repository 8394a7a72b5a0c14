"""The page of the papers: what it says, that every number of it is in its tables, and that texts stay texts."""

import re
from dataclasses import replace

import made_up_claims
import pandas as pd
import pytest
from browser import is_wider_than_the_window, least_contrast, opened
from page_numbers import numbers, parsed, stray_numbers

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge.classes import ClaimClass
from tcdp_sim.experiments.papers.judge.evidence import Point
from tcdp_sim.experiments.papers.judge.verdict import judge
from tcdp_sim.experiments.papers.page import counts, page
from tcdp_sim.experiments.papers.page.rows import claims_table
from tcdp_sim.experiments.papers.registry import Exhibit
from tcdp_sim.report.plots import new_figure
from tcdp_sim.report.svg import drawn

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
    page.write(folder, results(), exhibits, ABOUT, lambda exhibit, table: drawn(exhibit.draw, table))
    return folder


def test_the_page_has_no_number_that_is_in_no_table(folder):
    """But for those of its own order, its counts, which are the table's, and what it was made of."""
    assert not stray_numbers(folder)
    assert {"1.867", "0.8081", "0.2795"} <= numbers(folder)


def test_printed_statements_are_counted_by_class_and_ours_apart(folder):
    """The part T.C18p repaired is ours; nine claims, eight printed statements."""
    table = pd.read_csv(folder / "claims.csv")
    classes = table[table["ours"] == "no"]["class"].value_counts()
    text = (folder / "index.html").read_text("utf-8")
    assert '<h2 id="classes">8 printed statements</h2>' in text
    for name, count in classes.items():
        assert re.search(rf'">{count}</b><span aria-hidden="true">.</span> {name}</li>', text), name
    assert "1 sentence of this project: 1 holds." in text


def test_a_part_that_repeats_a_quote_is_no_second_statement():
    twice = made_up_claims.result("T.C18p")
    about = {"id": "T.C18p outside", "of": "T.C18p", "claim_class": ClaimClass.HYPOTHESIS_MISSING}
    part = replace(twice, claim=twice.claim.model_copy(update=about))
    assert counts.printed([twice, part]) == [twice]
    other = replace(twice, claim=part.claim.model_copy(update={"quote": "x is at most two"}))
    assert counts.printed([twice, other]) == [twice, other]


def test_bounds_that_would_survive_a_factor_2():
    """Of those without a proof: Z.L7 (0.1046 of 1), S.T1 (1e-9) and P.T3 (0.81 of 0.95)."""
    assert counts.weak(results()) == (3, 2)


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
    errata, remarks = "errata.html", "remarks.html"
    pages = {"index.html": {errata, remarks}, errata: {"index.html", errata, remarks}}
    for name, others in pages.items():
        text = (folder / name).read_text("utf-8")
        addresses = re.findall(r'(?:src|href|xlink:href)="([^#"][^"]*)"', text)
        assert {address.partition("#")[0] for address in addresses} == {"data:,", *others}
        assert "url(http" not in text
        assert "default-src 'none'" in text.replace("&#39;", "'")


def test_the_order_of_the_page(folder):
    text = (folder / "index.html").read_text("utf-8")
    names = ["papers", "classes", "findings", "claims", *(f"paper-{letter}" for letter in "ZTVSP")]
    places = [text.index(f'<h2 id="{name}">') for name in [*names, "loose", "asymptotics", "provenance"]]
    assert places == sorted(places)


def test_errata_are_linked_and_named_on_both_pages(folder):
    errata, text = ((folder / name).read_text("utf-8") for name in ("errata.html", "index.html"))
    assert 'href="errata.html#E99"' in text
    assert 'id="E99"' in errata
    anchor = re.search(r'href="index.html#([^"]+)"', errata)[1]
    assert f'id="{anchor}"' in text
    assert "[E99](errata.md#e99)" in (folder / "papers.md").read_text("utf-8")
    assert "\n## E99\n" in (folder / "errata.md").read_text("utf-8")


def test_errata_stand_in_the_order_of_their_numbers():
    rows = [{"errata": names} for names in (["E10"], ["E2", "S1"], ["E10", "E9"], [])]
    found = {one["name"]: len(one["rows"]) for one in page._entries(rows)}
    assert list(found.items()) == [("E2", 1), ("E9", 1), ("E10", 2), ("S1", 1)]


def test_a_card_quotes_the_paper_and_says_where_and_what_was_withdrawn(folder):
    with opened(folder / "index.html") as (shown, _, _):
        card = shown.locator("#claim-T-C18p")
        assert card.locator("blockquote").count() == 1
        assert not card.locator("blockquote").is_visible()
        card.locator("summary").click()
        assert card.locator("blockquote").is_visible()
        text = card.inner_text()
        assert "section 1, Lemma 7, line 12" in text
        assert "misprint" in text
        shown.locator("#withdrawals summary").click()
        assert "The first version said false." in shown.locator("#withdrawals").inner_text()


def test_a_link_to_a_claim_unfolds_it(folder):
    with opened(folder / "index.html") as (shown, _, _):
        shown.evaluate("location.hash = '#claim-Z-L7'")
        shown.wait_for_function("document.getElementById('claim-Z-L7').open")
        assert shown.locator("#claim-Z-L7 dl").is_visible()


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1400])
def test_a_browser_shows_it_without_complaint_and_overflow(folder, width, scheme):
    with opened(folder / "index.html", width, scheme) as (shown, messages, addresses):
        assert messages == []
        assert addresses == [(folder / "index.html").as_uri()]
        assert not is_wider_than_the_window(shown)
        ratio, where = least_contrast(shown)
        assert ratio >= 4.5, where


def test_filters_choose_cards(folder):
    with opened(folder / "index.html") as (shown, messages, _):

        def cards():
            return shown.locator("[data-filtered]:visible").count()

        whole = cards()
        assert whole == 9
        shown.get_by_role("button", name="misprint", exact=True).click()
        assert cards() == 1
        assert shown.get_by_text("1 of 9 shown").is_visible()
        shown.get_by_role("button", name="holds", exact=True).click()
        assert cards() == 5
        shown.get_by_role("button", name="Z: zCDP", exact=True).click()
        assert cards() == 2
        for name in ("misprint", "holds", "Z: zCDP"):
            shown.get_by_role("button", name=name, exact=True).click()
        assert cards() == whole
        assert messages == []


@pytest.mark.slow
def test_without_script_all_cards_are_there_and_no_filters(folder):
    with opened(folder / "index.html", script=False) as (shown, _, _):
        assert shown.locator("[data-filtered]:visible").count() == 9
        assert shown.locator(".chips button:visible").count() == 0


@pytest.mark.slow
def test_print_is_black_on_white_without_filters(folder):
    with opened(folder / "index.html", scheme="dark", media="print") as (shown, messages, _):
        assert shown.locator(".chips button:visible").count() == 0
        assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert least_contrast(shown)[0] >= 4.5
        assert messages == []


def test_a_screen_reader_finds_figure_and_landmarks(folder):
    with opened(folder / "index.html", 380) as (shown, _, _):
        shown.locator("summary", has_text="Figure <1>").click()
        assert shown.get_by_role("img", name="Figure <1>").count() == 1
        assert shown.get_by_role("main").count() == 1
        assert shown.get_by_role("navigation", name="Contents").count() == 1


def test_each_end_of_a_side_has_its_column():
    """Of the point that decided, as its evidence has it."""
    one = made_up_claims.result("Z.L7")
    point = Point("x = 1", Bounds(0.9, 1.0, 1.1), Bounds(2.0, 3.0, 4.0))
    evidence = replace(one.evidence, points=(point,))
    (row,) = claims_table([replace(one, evidence=evidence, judgement=judge(one.claim.kind, evidence))]).to_dict(
        "records"
    )
    assert [row[name] for name in ("lower", "value", "upper")] == [0.9, 1.0, 1.1]
    assert [row[name] for name in ("limit_lower", "limit", "limit_upper")] == [2.0, 3.0, 4.0]
