"""The page that is checked in is whole, and so are the pages that are made of it. `make papers` writes it anew.

Its rows are compared with the evidence on each claim in test_verdicts.py.
"""

import re
from pathlib import Path

import pytest
from browser import is_wider_than_the_window, least_contrast, opened
from claim_changes import CLAIMS
from page_numbers import numbers, stray_numbers

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "results" / "reference" / "papers"


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


def test_the_page_has_no_number_that_is_in_no_table():
    assert len(numbers(PLACE)) > 20
    assert not stray_numbers(PLACE)


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
