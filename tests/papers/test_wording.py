"""How numbers, sides and verdicts are written for people."""

from math import inf, nan

import made_up_claims
import pytest

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge.evidence import Kind, constant
from tcdp_sim.experiments.papers.judge.verdict import Verdict
from tcdp_sim.experiments.papers.page import wording
from tcdp_sim.statistics.intervals import Simulated


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.86727, "1.867"),
        (1e-300, "1e-300"),
        (-31.6, "-31.6"),
        (0.0, "0"),
        (1e6, "1e+06"),
        (inf, "∞"),
        (-inf, "-∞"),
        (nan, ""),
    ],
)
def test_numbers_have_four_digits(value, text):
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (constant(1.0), "1"),
        (Bounds(1.86700, 1.86701, 1.86702), "1.867"),
        (Bounds(1.866, 1.867, 1.868), "1.867 [1.866, 1.868]"),
        (Bounds(0.0, 1.0, inf), "1 [0, ∞]"),
        (Simulated(0.79, 0.8081, 0.83, 0.00042, 2000), "0.8081 ± 0.00042 MCSE"),
    ],
)
def test_a_side_shows_how_well_it_is_known(side, text):
    assert wording.side(side) == text


def texts(identity):
    result = made_up_claims.result(identity)
    return wording.evidence(result), wording.scope(result.judgement)


@pytest.mark.parametrize(
    ("identity", "evidence", "scope"),
    [
        ("Z.D1", "a definition", ""),
        ("Z.L7", "0.1046 [0.1036, 0.1056] ≤ 1 at x = 0.1046", "on the 2 points tried"),
        ("Z.L8", "1 = 1 at x = 1", "for all"),
        ("T.F1", "ratio 2.501 at k = 1e8", "on the 8 points tried"),
        ("T.C18p", "1.867 [1.866, 1.868] > 1 at x = 1.867", "by a counter-example"),
        ("T.C18p repaired", "0.3 [0.299, 0.301] ≤ 1 at x = 0.3", "for all"),
        ("V.T2 dp", "1 [0.999, 1.001] ? 1 at x = 1", "at the one point tried"),
        ("P.T3", "0.8081 ± 0.0012 MCSE ≤ 0.95 at n = 3", "at the one point tried"),
    ],
)
def test_evidence_and_scope_in_words(identity, evidence, scope):
    assert texts(identity) == (evidence, scope)


def test_every_verdict_has_a_shape_of_its_own():
    assert set(wording.SHAPES) == set(Verdict)
    assert len(set(wording.SHAPES.values())) == len(Verdict)


def test_looseness_is_of_what_holds():
    found = {name: wording.looseness(made_up_claims.result(name).judgement) for name in made_up_claims.every()}
    assert found["Z.L7"] == pytest.approx(1 / 0.1056)
    assert found["T.C18p"] != found["T.C18p"]
    others = [name for name, one in made_up_claims.every().items() if one.kind is not Kind.INEQUALITY]
    assert all(found[name] != found[name] for name in others)
