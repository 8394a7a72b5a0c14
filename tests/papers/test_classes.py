"""The class of a claim can weaken its verdict and never create one."""

from dataclasses import replace
from itertools import product

import made_up_claims
import pytest
from claim_changes import CLAIMS

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge.balls import are_apart
from tcdp_sim.experiments.papers.judge.classes import PLAIN, ClaimClass, shown_class
from tcdp_sim.experiments.papers.judge.evidence import Kind, Point
from tcdp_sim.experiments.papers.judge.verdict import Verdict


@pytest.mark.parametrize(("declared", "verdict", "confirmed"), list(product(ClaimClass, Verdict, (False, True))))
def test_no_class_creates_a_verdict(declared, verdict, confirmed):
    shown = shown_class(declared, verdict, confirmed)
    if shown is ClaimClass.HOLDS:
        assert verdict is Verdict.HOLDS
    if shown is ClaimClass.CONSISTENT:
        assert verdict is Verdict.CONSISTENT
    if shown is ClaimClass.FALSE:
        assert verdict is Verdict.FALSE
        assert confirmed
    assert shown in {declared, ClaimClass.OPEN}


def test_a_wrong_class_cannot_turn_a_failing_claim_into_holds():
    failing = made_up_claims.result("T.C18p")
    for declared in ClaimClass:
        wrong = replace(failing, claim=failing.claim.model_copy(update={"claim_class": declared}))
        assert wrong.judgement.verdict is Verdict.FALSE
        assert wrong.shown not in {ClaimClass.HOLDS, ClaimClass.CONSISTENT}


def test_what_is_not_confirmed_in_balls_is_not_called_false():
    failing = made_up_claims.result("T.C18p")
    declared = replace(failing, claim=failing.claim.model_copy(update={"claim_class": ClaimClass.FALSE}))
    assert declared.shown is ClaimClass.OPEN
    apart = Point("here", Bounds(1.866, 1.867, 1.868), Bounds(1.0, 1.0, 1.0))
    assert replace(declared, balls=apart).shown is ClaimClass.FALSE
    touching = Point("here", Bounds(0.9, 1.867, 1.868), Bounds(1.0, 1.0, 1.0))
    assert replace(declared, balls=touching).shown is ClaimClass.OPEN


def test_balls_are_apart_in_the_direction_that_refutes():
    low, high = Bounds(0.0, 0.1, 0.2), Bounds(0.3, 0.4, 0.5)
    assert are_apart(Kind.INEQUALITY, Point("", high, low))
    assert not are_apart(Kind.INEQUALITY, Point("", low, high))
    assert are_apart(Kind.IDENTITY, Point("", low, high))
    assert not are_apart(Kind.IDENTITY, Point("", Bounds(0.0, 0.1, 0.3), high))


def test_every_declared_class_agrees_with_the_recorded_verdict():
    for one in CLAIMS.values():
        if one.claim_class in PLAIN:
            assert PLAIN[one.claim_class] is one.expected, one.id
        if one.claim_class is ClaimClass.HYPOTHESIS_MISSING and not one.of:
            assert one.expected in {Verdict.HOLDS, Verdict.CONSISTENT}, f"{one.id}: points lie outside the meant domain"


def test_corollary_18_holds_and_no_row_of_it_is_false():
    assert CLAIMS["T.C18p"].expected is Verdict.HOLDS
    rows = [one for one in CLAIMS.values() if one.statement == "T.C18p"]
    assert ClaimClass.FALSE not in {one.claim_class for one in rows}
