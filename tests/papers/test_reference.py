"""The page that is checked in says what the code says: verdicts to the letter, exact numbers to three digits.

`make papers` writes it anew. Simulated numbers are compared within their intervals, never by their bytes.
"""

import re
from pathlib import Path

import pandas as pd
import pytest
from browser import is_wider_than_the_window, least_contrast, opened
from claim_changes import CLAIMS, by_claim
from page_numbers import numbers, stray_numbers

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.judge.verdict import judge
from tcdp_sim.experiments.papers.page.rows import claims_table

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "results" / "reference" / "papers"
TEXTS = ("claim", "verdict", "scope", "vacuous", "erratum", "figure", "command", "kind", "section", "points")
TEXTS += ("class", "ours", "quote", "place", "hypotheses", "withdrawn")
TIED = 1e-6  # bounds that are attained are so at several points, of which rounding chooses one


@pytest.fixture(scope="module")
def reference():
    return pd.read_csv(PLACE / "claims.csv", keep_default_na=False, na_values=[]).set_index("id")


def test_every_claim_is_on_the_page_that_is_checked_in(reference):
    assert list(reference.index) == list(CLAIMS)
    assert {path.name for path in PLACE.iterdir()} >= {"index.html", "claims.csv", "figures"}


def test_docs_and_readme_say_what_the_page_says(reference):
    """docs/reference/papers.md is the page as Markdown; the README has its number of statements."""
    docs, readme = ((ROOT / name).read_text("utf-8") for name in ("docs/reference/papers.md", "README.md"))
    (count,) = re.findall(r"^(\d+ printed statements): .*$", docs, re.MULTILINE)
    assert count in readme
    for page in ("errata", "remarks"):
        links = set(re.findall(rf"\]\({page}\.md#(e\d+|s\d+)\)", docs))
        text = (ROOT / "docs" / "reference" / f"{page}.md").read_text("utf-8")
        headings = {heading.lower() for heading in re.findall(r"^## (\w+)$", text, re.MULTILINE)}
        assert links
        assert links == headings


def test_errata_are_mistakes_and_remarks_are_none(reference):
    mistakes = {"misprint", "proof gap", "hypothesis missing", "false"}
    for page, is_erratum in (("errata", True), ("remarks", False)):
        text = (ROOT / "docs" / "reference" / f"{page}.md").read_text("utf-8")
        for entry in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            classes = set(
                re.findall(r"\((misprint|proof gap|hypothesis missing|false|holds|ours|informal|[a-z ]+);", entry)
            )
            assert bool(classes & mistakes) is is_erratum, entry.split()[0]


def number(text):
    return float(text) if text else float("nan")


@by_claim()
def test_a_claim_is_as_it_was(claim, evidence, reference):
    found = evidence(claim)
    row = claims_table([Result(claim, found, judge(claim.kind, found))]).iloc[0]
    kept = reference.loc[claim.id]
    for name in TEXTS:
        assert str(row[name]) == str(kept[name]).removeprefix("'"), name
    if row["simulated"] or kept["simulated"] == "True":
        assert row["lower"] <= number(kept["upper"])
        assert number(kept["lower"]) <= row["upper"]
    elif claim.kind is Kind.ASYMPTOTIC or abs(row["tightness"] - 1) > TIED:
        for name in ("value", "limit", "tightness"):
            assert row[name] == pytest.approx(number(kept[name]), rel=1e-3, nan_ok=True), name


def test_the_page_has_no_number_that_is_in_no_table():
    assert len(numbers(PLACE)) > 20
    assert not stray_numbers(PLACE)


@pytest.mark.few(1)
@pytest.mark.parametrize(("width", "scheme"), [(380, "light"), (1400, "dark")])
def test_a_browser_shows_the_page_without_complaint_and_overflow(width, scheme):
    with opened(PLACE / "index.html", width, scheme) as (shown, messages, addresses):
        assert messages == []
        assert addresses == [(PLACE / "index.html").as_uri()]
        assert not is_wider_than_the_window(shown)
        if width == 1400:
            assert shown.evaluate("document.documentElement.scrollHeight") < 25_000, "folded, it is too tall"
        ratio, where = least_contrast(shown)
        assert ratio >= 4.5, where
