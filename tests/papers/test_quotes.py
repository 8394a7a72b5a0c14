"""What is quoted stands in the papers: word for word where their texts are at hand, and by its digest everywhere.

The texts are not part of the project. Their folder is named by the environment variable TCDP_SIM_PAPERS.
"""

import hashlib
import os
from pathlib import Path

import pytest
from claim_changes import CLAIMS

from tcdp_sim.experiments.papers.judge.classes import ClaimClass
from tcdp_sim.experiments.papers.library import papers, parsed

TEXTS = {
    "Z": "zcdp-2016.txt",
    "T": "tcdp-2018.txt",
    "V": "dp-variants-2019.txt",
    "S": "subsampling-couplings-2018.txt",
    "P": "per-record-2024.txt",
}
QUOTED = [one for one in CLAIMS.values() if one.quote]


def squashed(text):
    return "".join(text.split())


@pytest.fixture(scope="module")
def texts():
    folder = os.environ.get("TCDP_SIM_PAPERS", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the texts of the papers are not at hand: set TCDP_SIM_PAPERS to their folder")
    return {letter: (Path(folder) / name).read_text("utf-8") for letter, name in TEXTS.items()}


@pytest.mark.parametrize("letter", TEXTS)
def test_every_quote_stands_in_the_text_and_begins_in_its_line(texts, letter):
    whole = squashed(texts[letter])
    ends = []  # of the lines, in characters that are no white space
    for line in texts[letter].split("\n"):
        ends.append((ends[-1] if ends else 0) + len(squashed(line)))
    for one in QUOTED:
        if one.paper == letter:
            words = squashed(one.quote)
            assert words in whole, one.id
            begin = ends[one.place.line - 2] if one.place.line > 1 else 0
            assert words in whole[begin:], one.id
            start = begin + whole[begin:].index(words)
            assert begin <= start < ends[one.place.line - 1], f"{one.id} does not begin in line {one.place.line}"


@pytest.mark.parametrize("letter", TEXTS)
def test_a_quote_and_its_place_are_as_they_were_compared(letter):
    """A quote that is edited without the text at hand no longer has its digest."""
    for one in QUOTED:
        if one.paper == letter:
            place = one.place
            text = f"{squashed(one.quote)}|{place.section}|{place.number}|{place.line}"
            assert one.digest == hashlib.blake2b(text.encode(), digest_size=6).hexdigest(), one.id


def test_a_statement_of_a_paper_has_a_quote_or_says_why_not():
    for one in CLAIMS.values():
        assert bool(one.quote) != bool(one.no_quote), one.id
        assert len(one.quote.split()) <= 40
        assert not one.ours or one.no_quote
        if one.claim_class is ClaimClass.FALSE:
            assert one.quote, f"{one.id} is called false without the paper's own words"


def test_every_paper_says_which_text_was_read():
    for paper in papers().values():
        assert len(paper.text.split()) > 5


GOOD = """
paper: {letter: Q, name: A paper, title: A paper, short: "Q: one", version: the text, text: the text}
statements: {Lemma 1: Q.L1}
claims:
  Q.L1:
    title: x is small
    place: {section: "1", number: Lemma 1, line: 3}
    class: holds
    quote: x is at most one
    digest: abc
    kind: inequality
    expected: holds
    measures: x, against 1
  Q.L1 repaired:
    title: x is smaller
    of: Q.L1
    place: {section: "1"}
    class: ours
    no_quote: a sentence of ours
    kind: inequality
    expected: holds
    measures: x, against 1/2
"""


def test_a_data_file_becomes_claims():
    paper = parsed(GOOD, "here.yaml")
    assert list(paper.claims) == ["Q.L1", "Q.L1 repaired"]
    assert paper.claims["Q.L1 repaired"].ids == ("Q.L1",)
    assert str(paper.claims["Q.L1"].place) == "section 1, Lemma 1, line 3"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class: holds", "class: perhaps", "here.yaml: Q.L1: class"),
        ("quote: x is at most one", "no_qoute: none", "here.yaml: Q.L1"),
        ("    quote: x is at most one\n    digest: abc\n", "", "give a quote, or no_quote"),
        ("quote: x is at most one", "quote: " + "word " * 41, "41 words; valid: at most 40"),
        ("kind: inequality", "kind: feeling", "here.yaml: Q.L1: kind"),
        ("of: Q.L1", "of: Q.L2", "is no statement that stands before it"),
        ("    no_quote: a sentence of ours\n", "    quote: x\n", "a sentence of ours has no quote"),
        ("    measures: x, against 1\n", "", "needs `measures`"),
        ("letter: Q", "letter: long", "here.yaml: letter"),
    ],
)
def test_a_data_file_that_is_not_valid_is_refused_by_name(old, new, message):
    assert old in GOOD
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        parsed(GOOD.replace(old, new, 1), "here.yaml")


def test_a_part_belongs_to_a_statement_and_not_to_another_part():
    part = GOOD[GOOD.index("  Q.L1 repaired:") :].replace("Q.L1 repaired:", "Q.L1 again:")
    assert list(parsed(GOOD + part, "here.yaml").claims) == ["Q.L1", "Q.L1 repaired", "Q.L1 again"]
    with pytest.raises(ValueError, match=r"here\.yaml: Q\.L1 again: of = 'Q\.L1 repaired' is no statement"):
        parsed(GOOD + part.replace("of: Q.L1", "of: Q.L1 repaired"), "here.yaml")
