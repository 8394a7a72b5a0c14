"""Nothing of the papers is left out: rows of the catalogue have claims, numbered statements have rows."""

import re

import pytest
from claim_changes import CLAIMS
from tcdp_sim.experiments.papers.registry import PAPERS, catalogue, claim, row_of, statements

from tcdp_sim.claims import Evidence, Kind, Verdict

NUMBERED = {"Z": 39, "T": 27, "S": 13}  # papers that number their statements from 1 on, and how far


def test_every_row_has_its_claim():
    assert set(catalogue()) == {row_of(one) for one in CLAIMS.values()}


def test_every_row_with_claims_has_one_on_the_printed_statement():
    assert {row_of(one) for one in CLAIMS.values()} <= set(CLAIMS)


def test_the_catalogue_has_no_id_twice():
    rows = catalogue()
    ids = [identity for row in rows.values() for identity in row.ids]
    assert len(rows) == 166
    assert len(ids) == len(set(ids))
    assert all(row.paper in PAPERS and row.title and row.ids for row in rows.values())
    assert all(row.label.startswith(row.ids[0]) or len(row.ids) > 1 for row in rows.values())


def test_every_numbered_statement_has_a_row():
    ids = {identity for row in catalogue().values() for identity in row.ids}
    assert {identity for _, _, identity in statements()} <= ids
    assert all(identity.startswith(paper) for paper, _, identity in statements())


@pytest.mark.parametrize("paper", NUMBERED)
def test_no_number_is_skipped(paper):
    others = ("Figure", "Table")
    numbers = [
        int(re.findall(r"\d+$", name)[0]) for p, name, _ in statements() if p == paper and name.split()[0] not in others
    ]
    assert sorted(numbers) == list(range(1, NUMBERED[paper] + 1))


def test_claims_are_in_the_order_of_the_catalogue():
    order = list(catalogue())
    places = [order.index(row_of(one)) for one in CLAIMS.values()]
    assert places == sorted(places)


def test_a_row_is_claimed_once_and_parts_have_titles():
    about = {"kind": Kind.IDENTITY, "section": "1", "expected": Verdict.HOLDS}
    with pytest.raises(ValueError, match="another `part`"):
        claim("T.T17", **about)(Evidence)
    with pytest.raises(ValueError, match="title"):
        claim("T.T17", part="repaired", **about)(Evidence)
    with pytest.raises(ValueError, match=r"T\.T9"):
        claim("T.T99", **about)
