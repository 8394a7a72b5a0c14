"""Which wrong statements the evidence would not have caught, on laws whose growth is known."""

from math import e, log

import pytest
from claim_changes import by_claim

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Growth, Kind, Point, constant
from tcdp_sim.experiments.papers.judge.power import power
from tcdp_sim.experiments.papers.judge.verdict import Verdict, judge

SHORT = tuple(range(2, 21))
FAR = (*SHORT, 100, 1e4, 1e6, 1e8)  # log10 of what grows


def settled(exponents, form=lambda x: 1.0, growth=Growth.BOTH):
    """A claim that is true: the left side is the form itself; form is a function of log x."""
    points = [Point(f"{e}", constant(form(e * log(10))), constant(form(e * log(10))), at=e) for e in exponents]
    return Evidence(points, growth=growth)


def survivors(evidence):
    return set(power(Kind.ASYMPTOTIC, evidence, judge(Kind.ASYMPTOTIC, evidence)).survives)


def test_few_decades_do_not_tell_log_log_from_a_constant():
    """From 10^2 to 10^20 log(e + log x) moves by a factor 1.95, and by 1.2% in the last decade."""
    assert "log log" in survivors(settled(SHORT))
    assert "constant" in survivors(settled(SHORT, lambda log_x: log(e + log_x)))
    assert "log" not in survivors(settled(SHORT))


def test_exponents_up_to_1e8_do():
    """There 1 + log x, its root and log(e + log x) move by more than a factor 4."""
    assert survivors(settled(FAR)) == set()
    assert survivors(settled(FAR, lambda log_x: log(log_x))) == set()


def test_a_bound_from_above_is_tried_with_smaller_forms_only():
    """Left sides that fall as 1/log x: O(1) is true, and so is O(1/log x); O(1/log^2 x) would not be."""
    falling = [Point(f"{e}", constant(1 / e), constant(1.0), at=e) for e in FAR]
    evidence = Evidence(falling, growth=Growth.AT_MOST)
    assert {"log", "sqrt log", "log log"} <= survivors(evidence)
    tight = [Point(f"{e}", constant(1.0), constant(1.0), at=e) for e in FAR]
    assert survivors(Evidence(tight, growth=Growth.AT_MOST)) == set()


def test_a_constant_that_says_less_is_no_wrong_form():
    """Left sides that are constant: O(log x) is true, and O(1) too, which says more; Ω(1/log x) likewise."""
    forms = [constant(1.0 + e) for e in SHORT]
    points = [Point(f"{e}", constant(1.0), form, at=e) for e, form in zip(SHORT, forms)]
    assert "constant" in survivors(Evidence(points, growth=Growth.AT_MOST))
    rising = [Point(f"{e}", form, form, at=e) for e, form in zip(SHORT, forms)]
    assert "constant" not in survivors(Evidence(rising, growth=Growth.AT_LEAST))


def test_a_square_root_is_caught_where_it_moves_by_more_than_the_band():
    """From 10^100 to 10^300 the root of 1 + log x moves by a factor 1.7, and from 10 on by a factor 14."""
    assert "sqrt log" in survivors(settled((100, 200, 300)))
    assert "sqrt log" not in survivors(settled((1, 100, 200, 300)))


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_the_factor_is_the_inverse_of_the_tightness(share):
    evidence = Evidence([Point("a", constant(share), constant(1.0)), Point("b", constant(share / 2), constant(1.0))])
    found = power(Kind.INEQUALITY, evidence, judge(Kind.INEQUALITY, evidence))
    assert found.factor == pytest.approx(1 / share)


def test_what_does_not_hold_has_no_power():
    evidence = Evidence([Point("a", Bounds(2.0, 2.0, 2.0), constant(1.0))])
    judgement = judge(Kind.INEQUALITY, evidence)
    assert judgement.verdict is Verdict.FALSE
    assert power(Kind.INEQUALITY, evidence, judgement).factor != power(Kind.INEQUALITY, evidence, judgement).factor


@by_claim({Kind.ASYMPTOTIC})
def test_every_consistent_claim_would_have_been_caught_with_a_wrong_log(claim, evidence):
    whole = evidence(claim)
    if judge(claim.kind, whole).verdict is Verdict.CONSISTENT:
        assert "log" not in power(claim.kind, whole, judge(claim.kind, whole)).survives
