"""Of every claim: the verdict that is recorded, that it follows the evidence when that is changed, and its row.

The page that is checked in (`make papers`) says what the code says: verdicts to the letter, exact numbers to three
digits. Simulated numbers are compared within their intervals, never by their bytes.
"""

from dataclasses import replace

import pytest
from claim_changes import CLAIMS, bent, blinded, by_claim, one_by_one, scaled, swapped

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.judge.verdict import Scope, Verdict, judge, ratio
from tcdp_sim.experiments.papers.page.rows import claims_table
from tcdp_sim.statistics.intervals import MOST_SIDES, Simulated

ONE_SIDED = {Kind.INEQUALITY, Kind.ORDERING, Kind.EXISTENCE}
CHECKED = set(Kind) - {Kind.DEFINITION, Kind.NOT_CHECKABLE}
DECIDED = {Verdict.HOLDS, Verdict.FALSE}
TEXTS = ("claim", "verdict", "scope", "vacuous", "erratum", "figure", "command", "kind", "section", "points")
TEXTS += ("class", "ours", "quote", "place", "hypotheses", "withdrawn")
TIED = 1e-6  # bounds that are attained are so at several points, of which rounding chooses one


def is_the_recorded_one(claim, whole):
    judgement = judge(claim.kind, whole)
    assert judgement.verdict == claim.expected, judgement


def is_open_to_one_who_is_blind(claim, whole):
    assert judge(claim.kind, blinded(whole)).verdict is Verdict.OPEN


def turns_when_the_sides_are_swapped(claim, whole):
    """At every point that decides and is not a tie; at one of them at least."""
    turned = 0
    for single in one_by_one(whole):
        before = judge(Kind.INEQUALITY, single).verdict
        after = judge(Kind.INEQUALITY, swapped(single)).verdict
        tie = before is after is Verdict.HOLDS and ratio(single.points[0]).upper >= 1 - 4 * whole.tolerance
        assert tie or before is Verdict.OPEN or after is not before
        turned += after is not before
    assert turned


def turns_at_the_tightness(claim, whole):
    """A right side of 0.99 times the tightness makes what holds false, one of 1.01 times makes what is false hold."""
    judgement = judge(claim.kind, whole)
    if judgement.verdict is Verdict.HOLDS and judgement.tightness > 0:
        proof = whole.proof if claim.kind is Kind.INEQUALITY else "exhaustive"  # so that no instance is a counter-proof
        worse = replace(scaled(whole, 0.99 * judgement.tightness), proof=proof, why="as tried", tolerance=0.0)
        assert judge(claim.kind, worse).verdict in {Verdict.FALSE, Verdict.OPEN}
        point = next(p for p in worse.points if p.where == judgement.where)
        known_from_above = isinstance(point.left, Simulated) or point.left.lower == 0
        assert known_from_above or ratio(point).lower > 1
    if judgement.verdict is Verdict.FALSE:
        better = scaled(whole, 1.01 * judgement.tightness)
        point = next(p for p in better.points if p.where == judgement.where)
        assert isinstance(point.left, Simulated) or judge(claim.kind, replace(better, points=[point])).verdict in {
            Verdict.HOLDS,
            Verdict.OPEN,
        }


def breaks_when_one_side_is_a_little_larger(claim, whole):
    if judge(claim.kind, whole).verdict is Verdict.HOLDS:
        assert judge(claim.kind, scaled(whole, 1 + max(1e-6, 4 * whole.tolerance))).verdict is Verdict.FALSE


def breaks_when_its_form_grows_a_little_faster(claim, whole):
    if judge(claim.kind, whole).verdict is Verdict.CONSISTENT:
        assert judge(claim.kind, bent(whole)).verdict is Verdict.INCONSISTENT


def has_a_proof_if_it_holds_for_all_and_a_reason_if_it_cannot_be_checked(claim, whole):
    judgement = judge(claim.kind, whole)
    if judgement.verdict is Verdict.NOT_CHECKABLE:
        assert judgement.reason
    elif claim.kind is not Kind.EXISTENCE:
        assert (judgement.scope is Scope.ALL) == (whole.proof is not None)
    if judgement.verdict not in DECIDED:
        assert claim.kind in {Kind.ASYMPTOTIC, Kind.DEFINITION, Kind.NOT_CHECKABLE} or claim.expected is Verdict.OPEN


def has_what_people_read(claim, whole):
    assert claim.title
    assert claim.place.section
    if claim.kind in CHECKED:
        assert whole.measures
        places = [point.where for point in whole.points]
        assert len(set(places)) == len(places), "two points have one name"
    if claim.expected is Verdict.FALSE:
        assert all((claim.printed, claim.correct, claim.consequence))


CHECKS = {  # of which kinds of claims each is true
    is_the_recorded_one: set(Kind),
    is_open_to_one_who_is_blind: CHECKED,
    turns_when_the_sides_are_swapped: ONE_SIDED,
    turns_at_the_tightness: {Kind.INEQUALITY, Kind.EXISTENCE},
    breaks_when_one_side_is_a_little_larger: {Kind.IDENTITY},
    breaks_when_its_form_grows_a_little_faster: {Kind.ASYMPTOTIC},
    has_a_proof_if_it_holds_for_all_and_a_reason_if_it_cannot_be_checked: set(Kind),
    has_what_people_read: set(Kind),
}


def number(text):
    return float(text) if text else float("nan")


def is_as_on_the_page(claim, whole, kept):
    row = claims_table([Result(claim, whole, judge(claim.kind, whole))]).iloc[0]
    for name in TEXTS:
        assert str(row[name]) == str(kept[name]).removeprefix("'"), name
    if row["simulated"] or kept["simulated"] == "True":
        assert row["lower"] <= number(kept["upper"])
        assert number(kept["lower"]) <= row["upper"]
    elif claim.kind is Kind.ASYMPTOTIC or abs(row["tightness"] - 1) > TIED:
        for name in ("value", "limit", "tightness"):
            assert row[name] == pytest.approx(number(kept[name]), rel=1e-3, nan_ok=True), name


@by_claim()
def test_the_verdict_and_the_row(claim, evidence, reference):
    """One test of each claim, so that its evidence is gathered once."""
    whole = evidence(claim)
    for check, kinds in CHECKS.items():
        if claim.kind in kinds:
            check(claim, whole)
    is_as_on_the_page(claim, whole, reference.loc[claim.id])


def test_the_simulated_sides_are_no_more_than_their_shares_allow(evidence):
    """Of the fast subset; the full one has the same cells."""
    sides = [side for c in CLAIMS.values() if c.needs for p in evidence(c).points for side in (p.left, p.right)]
    assert 0 < sum(isinstance(side, Simulated) for side in sides) <= MOST_SIDES


@pytest.mark.parametrize("name", sorted({name for claim in CLAIMS.values() for name in claim.needs}))
def test_the_full_run_goes_on_where_the_fast_one_ends(name):
    from tcdp_sim.experiments.papers.gather.paper_studies import STUDIES

    study = STUDIES[name]
    assert study.fast % study.chunk == 0
    assert study.full % study.chunk == 0
    assert study.fast <= study.full
