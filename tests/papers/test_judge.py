"""The verdicts of `judge` on evidence made by hand."""

import ast
import inspect
from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge import verdict
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Growth, Kind, Point, Proof, constant
from tcdp_sim.experiments.papers.judge.verdict import Scope, Verdict, judge, ratio
from tcdp_sim.statistics.intervals import Simulated

ONE = constant(1.0)


def at(*estimates, half=0.01, right=ONE, **about):
    """Evidence with these left sides, each plus or minus a half width."""
    points = [Point(f"x = {x}", Bounds(x - half, x, x + half), right) for x in estimates]
    return Evidence(points, **about)


def test_an_inequality_holds_on_the_points_tried():
    judgement = judge(Kind.INEQUALITY, at(0.2, 0.5, 0.4))
    assert (judgement.verdict, judgement.scope, judgement.where) == (Verdict.HOLDS, Scope.POINTS, "x = 0.5")
    assert judgement.tightness == pytest.approx(0.51)
    assert judgement.points == 3


def test_it_holds_for_all_only_with_a_proof():
    evidence = at(0.2, proof=Proof.MONOTONE, why="it falls")
    assert judge(Kind.INEQUALITY, evidence).scope is Scope.ALL
    with pytest.raises(ValueError, match="why"):
        at(0.2, proof=Proof.CHORD)


def test_one_counter_example_makes_it_false_whatever_else_is_open():
    judgement = judge(Kind.INEQUALITY, at(0.2, 1.005, 3.0, 2.0))
    assert (judgement.verdict, judgement.where) == (Verdict.FALSE, "x = 3.0")
    assert judgement.tightness == pytest.approx(2.99)


def test_an_interval_with_the_limit_inside_leaves_it_open():
    judgement = judge(Kind.INEQUALITY, at(0.2, 1.005))
    assert (judgement.verdict, judgement.where) == (Verdict.OPEN, "x = 1.005")
    assert isnan(judgement.tightness)


def test_a_tie_holds_only_within_a_stated_tolerance():
    tie = at(1.0, half=1e-12)
    assert judge(Kind.INEQUALITY, tie).verdict is Verdict.OPEN
    assert judge(Kind.INEQUALITY, replace(tie, tolerance=1e-11)).verdict is Verdict.HOLDS
    assert judge(Kind.INEQUALITY, replace(at(1.1, half=0), tolerance=0.05)).verdict is Verdict.FALSE


def test_an_ordering_has_no_tightness():
    assert isnan(judge(Kind.ORDERING, at(0.2)).tightness)
    assert judge(Kind.ORDERING, at(2.0)).verdict is Verdict.FALSE


def test_one_instance_proves_existence_and_only_all_disprove_it():
    judgement = judge(Kind.EXISTENCE, at(0.5, 1.005, 3.0))
    assert (judgement.verdict, judgement.scope, judgement.where) == (Verdict.HOLDS, Scope.ALL, "x = 0.5")
    assert judge(Kind.EXISTENCE, at(3.0, 2.0)).verdict is Verdict.OPEN
    exhaustive = {"proof": Proof.EXHAUSTIVE, "why": "these are all"}
    judgement = judge(Kind.EXISTENCE, at(3.0, 2.0, **exhaustive))
    assert (judgement.verdict, judgement.where) == (Verdict.FALSE, "x = 2.0")
    assert judge(Kind.EXISTENCE, at(3.0, 1.005, **exhaustive)).verdict is Verdict.OPEN


def test_an_identity_needs_overlap_and_narrow_sides():
    assert judge(Kind.IDENTITY, at(1.0, half=1e-9, tolerance=1e-8)).verdict is Verdict.HOLDS
    assert judge(Kind.IDENTITY, at(1.0, half=1e-7, tolerance=1e-8)).verdict is Verdict.OPEN
    judgement = judge(Kind.IDENTITY, at(1.0, 1.1, half=1e-7, tolerance=1e-8))
    assert (judgement.verdict, judgement.where) == (Verdict.FALSE, "x = 1.1")


def test_zero_equals_zero():
    assert judge(Kind.IDENTITY, at(0.0, half=0.0, right=constant(0.0))).verdict is Verdict.HOLDS
    assert judge(Kind.INEQUALITY, at(0.0, half=0.0, right=constant(0.0))).verdict is Verdict.HOLDS


def growing(values, growth=Growth.BOTH, width=0.0, start=1):
    points = [
        Point(f"{i}", Bounds(v * (1 - width), v, v * (1 + width)), ONE, at=float(start + i))
        for i, v in enumerate(values)
    ]
    return Evidence(points, growth=growth)


@pytest.mark.parametrize(
    ("values", "growth", "verdict"),
    [
        ([1, 2, 2.5, 2.51], Growth.BOTH, Verdict.CONSISTENT),
        ([1, 2, 2.5, 2.6], Growth.BOTH, Verdict.INCONSISTENT),  # 4% in the last decade
        ([1, 3, 4.5, 4.51], Growth.BOTH, Verdict.INCONSISTENT),  # out of the band
        ([8, 4, 2, 1], Growth.AT_MOST, Verdict.CONSISTENT),
        ([8, 4, 2, 1], Growth.AT_LEAST, Verdict.INCONSISTENT),
        ([8, 4, 2, 1], Growth.BOTH, Verdict.INCONSISTENT),
        ([1, 2, 4, 8], Growth.AT_LEAST, Verdict.CONSISTENT),
        ([1, 2, 4, 8], Growth.AT_MOST, Verdict.INCONSISTENT),
        ([1, 0.1, 0.5, 0.5], Growth.AT_MOST, Verdict.INCONSISTENT),  # five-fold up from its least value
    ],
)
def test_an_asymptotic_ratio_settles_or_does_not(values, growth, verdict):
    assert judge(Kind.ASYMPTOTIC, growing(values, growth)).verdict is verdict


def test_wide_ratios_leave_an_asymptotic_claim_open():
    assert judge(Kind.ASYMPTOTIC, growing([1, 2, 2.5, 2.51], width=0.05)).verdict is Verdict.OPEN


def test_the_last_move_counts_a_decade_also_where_the_points_are_far_apart():
    far = [Point(f"{x}", constant(y), ONE, at=x) for x, y in ((1.0, 1.0), (10.0, 1.5), (110.0, 3.0))]
    assert judge(Kind.ASYMPTOTIC, Evidence(far)).verdict is Verdict.CONSISTENT  # log 2 over 100 decades
    near = [*far[:2], Point("near", constant(3.0), ONE, at=12.0)]
    assert judge(Kind.ASYMPTOTIC, Evidence(near)).verdict is Verdict.INCONSISTENT


def test_what_cannot_be_checked_says_why():
    judgement = judge(Kind.NOT_CHECKABLE, Evidence(reason="complexity"))
    assert (judgement.verdict, judgement.reason) == (Verdict.NOT_CHECKABLE, "complexity")
    with pytest.raises(ValueError, match="reason"):
        judge(Kind.DEFINITION, Evidence())


def test_a_claim_without_points_is_refused():
    for kind in (Kind.INEQUALITY, Kind.IDENTITY, Kind.EXISTENCE):
        with pytest.raises(ValueError, match="points"):
            judge(kind, Evidence())
    with pytest.raises(ValueError, match="three points"):
        judge(Kind.ASYMPTOTIC, at(1.0, 1.0, 1.0))


@pytest.mark.parametrize("side", [Bounds(nan, 1.0, 2.0), Bounds(1.0, 1.0, nan)])
def test_a_side_that_is_no_interval_is_refused(side):
    for left, right in ((side, ONE), (ONE, side)):
        with pytest.raises(ValueError, match="lower <= upper"):
            Point("here", left, right)


def test_vacuous_is_said_of_what_holds_only():
    assert judge(Kind.INEQUALITY, at(0.5, vacuous="the bound is above 1")).vacuous
    assert not judge(Kind.INEQUALITY, at(2.0, vacuous="the bound is above 1")).vacuous


def test_infinite_sides_and_negative_left_ones_have_ratios():
    assert ratio(Point("", Bounds(-2.0, -1.0, 3.0), Bounds(2.0, 4.0, 5.0)))[::2] == (-1.0, 1.5)
    assert ratio(Point("", Bounds(0.0, 1.0, inf), Bounds(0.0, 1.0, inf)))[::2] == (0.0, inf)
    assert judge(Kind.INEQUALITY, at(-3.0)).verdict is Verdict.HOLDS


def test_numbers_of_numpy_become_pythons():
    point = Point(
        "", Bounds(*np.array([1.0, 2.0, 3.0])), Simulated(np.float64(0), np.float64(1), np.float64(2), 0.1, 9)
    )
    assert {type(end) for end in (*point.left, *point.right[:3])} == {float}


def test_nothing_here_reads_what_is_expected():
    """`expected` is a field of Claim; no function of the module mentions it, and none of them is given a Claim."""
    tree = ast.parse(inspect.getsource(verdict))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert {"judge", "_for_all", "_identity"} <= {function.name for function in functions}
    for function in functions:
        named = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
        named |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        named |= {node.value for node in ast.walk(function) if isinstance(node, ast.Constant)}
        assert not named & {"expected", "Claim", "claim_class", "getattr", "vars"}, function.name
