"""The page that is checked in says what the claims say now: verdicts, errata and three digits of certified evidence."""

import csv
import re
from pathlib import Path

import pytest
from claim_changes import CLAIMS, by_claim

from tcdp_sim.claims import Simulated, judge

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results" / "reference" / "papers"
ROWS = {row["id"]: row for row in csv.DictReader((FOLDER / "claims.csv").open(encoding="utf-8", newline=""))}
AGAIN = "made again by: make papers"


def test_the_table_has_all_claims_and_no_other():
    assert list(ROWS) == list(CLAIMS), AGAIN


@by_claim()
def test_verdict_and_evidence_are_those_of_the_table(claim, evidence):
    """Simulated sides are compared within their intervals, never digit by digit."""
    judgement, row = judge(claim.kind, evidence(claim)), ROWS[claim.id]
    assert (row["verdict"], row["recorded"], row["erratum"]) == (judgement.verdict, claim.expected, claim.erratum), AGAIN
    for name, side in (("value", judgement.left), ("limit", judgement.right)):
        if side is None:
            assert row[name] == "", AGAIN
        elif isinstance(side, Simulated):
            assert side.lower <= float(row[name]) <= side.upper, AGAIN
        elif judgement.where == row["where"]:
            assert float(row[name]) == pytest.approx(side.estimate, rel=1e-3), AGAIN


def test_page_and_docs_are_of_that_table():
    page = (FOLDER / "index.html").read_text("utf-8")
    docs = (ROOT / "docs" / "papers.md").read_text("utf-8")
    for verdict in ("holds", "false", "consistent"):
        count = sum(row["verdict"] == verdict for row in ROWS.values())
        assert re.search(rf"\b{count}\b", page), AGAIN
        assert f"{count} {verdict}" in docs, AGAIN
    pictures = re.findall(r"\]\((\.\./[^)]+)\)", docs)
    assert pictures
    assert all((ROOT / "docs" / picture).exists() for picture in pictures)


def test_readme_shows_the_counts_and_leads_to_the_page():
    readme = (ROOT / "README.md").read_text("utf-8")
    counts = {verdict: sum(row["verdict"] == verdict for row in ROWS.values()) for verdict in ("holds", "false")}
    assert f"{len(ROWS)} claims" in readme
    assert all(f"{count} {verdict}" in readme for verdict, count in counts.items())
    assert "docs/papers.md" in readme
