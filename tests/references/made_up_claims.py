"""Made-up claims that are quickly judged: one for each verdict, with texts that a page must escape."""

from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers import registry
from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.evidence import Point, constant
from tcdp_sim.experiments.papers.judge.verdict import judge
from tcdp_sim.experiments.papers.library import Claim
from tcdp_sim.statistics.intervals import Simulated

EVIL = "<script>alert(1)</script> \x1b[31m $x^2$ | `code` \u202e&"


def claim(identity, kind, expected, claim_class, **about):
    known = {"title": "says so", "measures": "x, against 1", "universe": "all x", "ids": (identity.split()[0],)}
    known |= {"place": {"section": "1", "number": "Lemma 7", "line": 12}}
    known |= {"no_quote": "a sentence of ours"} if claim_class == "ours" else {"quote": f"x is at most one {EVIL}"}
    return Claim.model_validate(
        {"id": identity, "kind": kind, "expected": expected, "class": claim_class, **known, **about}
    )


def inequality(*estimates, half=0.001):
    return tuple(Point(f"x = {x:g}", Bounds(x - half, x, x + half), constant(1.0)) for x in estimates)


def asymptotic():
    return tuple(Point(f"k = 1e{i}", closed_form(2.5 + 0.5 / i**3), constant(1.0), at=i) for i in range(1, 9))


SEEN = Simulated(0.79, 0.8081, 0.83, 0.0012, 2000)
POINTS = {
    "Z.L7": inequality(0.1046, 0.02),
    "Z.L8": inequality(1.0, half=1e-12),
    "T.F1": asymptotic(),
    "T.C18p": inequality(1.867, 0.5),
    "T.C18p repaired": inequality(0.3),
    "V.T2 dp": inequality(1.0),
    "S.T1": inequality(1e-9),
    "P.T3": (Point("n = 3", SEEN, constant(0.95)),),
}


def every():
    """Return id -> claim."""
    wrong = {"printed": "x ≤ 1", "correct": "x ≤ 2", "consequence": f"too much {EVIL}", "erratum": "E99"}
    certain = {"proof": "monotone", "why": "it rises with x"}
    part = {"of": "T.C18p", "withdrawn": f"The first version said false. {EVIL}"}
    made = [
        claim("Z.D1", "definition", "not checkable", "not checkable", reason="a definition"),
        claim("Z.L7", "inequality", "holds", "holds"),
        claim("Z.L8", "identity", "holds", "holds", tolerance=1e-9, **certain),
        claim("T.F1", "asymptotic", "consistent", "consistent"),
        claim("T.C18p", "inequality", "false", "misprint", title=f"A claim {EVIL}", **wrong),
        claim("T.C18p repaired", "inequality", "holds", "ours", **certain, **part),
        claim("V.T2 dp", "inequality", "open", "open"),
        claim("S.T1", "inequality", "holds", "holds", vacuous="the bound is above 1"),
        claim("P.T3", "inequality", "holds", "holds"),
    ]
    return {one.id: one for one in made}


def evidence(identity):
    """Return the evidence on one of them."""
    return registry.evidence_of(every()[identity], POINTS.get(identity, ()))


def result(identity):
    """Return one of them with its evidence and verdict."""
    found = evidence(identity)
    return Result(every()[identity], found, judge(every()[identity].kind, found))


def functions(points_of=lambda identity, budget: POINTS[identity]):
    """Return id -> function that computes points, for the registry."""

    def function(identity):
        def points(budget):
            return points_of(identity, budget)

        return points

    return {identity: function(identity) for identity in POINTS}
