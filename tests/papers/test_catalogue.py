"""Nothing of the papers is left out: rows of the catalogue have claims, numbered statements have rows."""

import re
from dataclasses import fields

import pytest
from claim_changes import CLAIMS

from tcdp_sim.experiments.papers import registry
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Growth, Point, Proof, constant
from tcdp_sim.experiments.papers.library import CHECKED, papers
from tcdp_sim.experiments.papers.registry import claim, evidence_of, function_of

NUMBERED = {"Z": 39, "T": 27, "S": 13}  # papers that number their statements from 1 on, and how far


def test_every_claim_that_is_checked_has_a_function_and_no_other_has():
    for one in CLAIMS.values():
        assert (function_of(one) is not None) == (one.kind in CHECKED), one.id


def test_no_function_is_registered_for_a_claim_that_no_data_file_has():
    assert set(registry._POINTS) <= set(CLAIMS)
    with pytest.raises(ValueError, match="not known"):
        claim("T.T99")
    with pytest.raises(ValueError, match="has a function already"):
        claim("T.T17")(lambda budget: ())
    with pytest.raises(ValueError, match="no points"):
        claim("Z.1a")


def test_evidence_says_all_that_the_data_file_says_of_it():
    about = {"measures": "x, against 1", "universe": "all x", "why": "it falls", "tolerance": 1e-9}
    about |= {"proof": Proof.MONOTONE, "growth": Growth.AT_LEAST, "vacuous": "above 1", "reason": "none"}
    assert {"points", *about} == {field.name for field in fields(Evidence)}
    found = evidence_of(next(iter(CLAIMS.values())).model_copy(update=about), [Point("x", constant(0), constant(1))])
    assert {name: getattr(found, name) for name in about} == about
    assert len(found.points) == 1


def test_ids_of_statements_are_unique():
    ids = [identity for one in CLAIMS.values() if not one.of for identity in one.ids]
    assert len(ids) == len(set(ids))
    assert all(one.id.startswith(one.ids[0]) or len(one.ids) > 1 for one in CLAIMS.values() if not one.of)


def test_every_numbered_statement_has_a_row():
    ids = {identity for one in CLAIMS.values() for identity in one.ids}
    for letter, paper in papers().items():
        assert set(paper.statements.values()) <= ids
        assert all(identity.startswith(letter) for identity in paper.statements.values())


@pytest.mark.parametrize("letter", NUMBERED)
def test_no_number_is_skipped(letter):
    names = [name for name in papers()[letter].statements if name.split()[0] not in ("Figure", "Table")]
    numbers = [int(re.findall(r"\d+$", name)[0]) for name in names]
    assert sorted(numbers) == list(range(1, NUMBERED[letter] + 1))


def test_a_finding_names_claims_that_are_there():
    for paper in papers().values():
        for finding in paper.findings:
            assert finding.ids
            assert set(finding.ids) <= set(paper.claims)
