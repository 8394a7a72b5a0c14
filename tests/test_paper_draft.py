"""The draft of a software paper says what the pages say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DRAFT = " ".join((ROOT / "docs" / "paper" / "paper.md").read_text("utf-8").split())
REFERENCE = ROOT / "docs" / "reference"


def test_it_cites_what_the_bibliography_has_and_nothing_else():
    entries = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs" / "paper" / "paper.bib").read_text("utf-8")))
    assert set(re.findall(r"\[@(\w+)\]", DRAFT)) == entries


def test_it_has_the_sections_and_the_length_that_the_journal_asks_for():
    """The list is that of the journal's author guide: https://joss.readthedocs.io/en/latest/paper.html."""
    text = (ROOT / "docs" / "paper" / "paper.md").read_text("utf-8")
    needed = {"Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"}
    assert needed | {"AI usage disclosure", "Acknowledgements", "References"} <= set(re.findall("^# (.*)$", text, re.M))
    assert 750 <= len(text.split()) <= 1750


def rows(page, begins):
    return len(re.findall(begins, (REFERENCE / page).read_text("utf-8"), re.M))


@pytest.mark.parametrize(
    ("said", "true"),
    [
        (r"museum of such bugs has (\d+) entries", lambda: rows("museum.md", r"^\| \w+: \[")),
        (r"compares all of them on (\d+) questions", lambda: rows("benchmarks.md", r"^## ") - 1),
    ],
)
def test_its_counts_are_those_of_the_pages(said, true):
    (count,) = re.findall(said, DRAFT)
    assert int(count) == true()


def test_its_verdicts_are_those_of_the_page_of_claims():
    """The page says how many statements have which class: "257 printed statements: 147 holds, ..."."""
    (line,) = re.findall(r"^.*\d printed statements: .*$", (REFERENCE / "papers.md").read_text("utf-8"), re.M)
    counts = {name: int(count) for count, name in re.findall(r"(\d+) ([a-z ]+)", line)}
    assert counts["false"] == 0
    assert f"Each of {counts['printed statements']} printed statements" in DRAFT
    assert f"{counts['misprint']} are misprints, {counts['proof gap']} have a gap" in DRAFT
