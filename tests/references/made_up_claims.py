"""Claims of nobody, quickly judged, one of each verdict and with texts that a page must not take for its own."""

from tcdp_sim.claims import Bounds, Claim, Evidence, Growth, Kind, Point, Proof, Simulated, Verdict, constant
from tcdp_sim.numerics import closed_form

EVIL = "<script>alert(1)</script> \x1b[31m $x^2$ | `code` \u202e&"


def claim(identity, kind, expected, evidence, **about):
    return Claim(
        identity,
        (identity.split()[0],),
        about.pop("title", "says so"),
        kind,
        "1",
        expected,
        lambda _: evidence,
        **about,
    )


def inequality(*estimates, half=0.001, **about):
    points = [Point(f"x = {x:g}", Bounds(x - half, x, x + half), constant(1.0)) for x in estimates]
    return Evidence(points, measures="x, against 1", universe="all x", **about)


def asymptotic():
    points = [Point(f"k = 1e{i}", closed_form(2.5 + 0.5 / i**3), constant(1.0), at=i) for i in range(1, 9)]
    return Evidence(points, measures="x over its form", growth=Growth.BOTH)


def every():
    """Id -> claim."""
    seen = Simulated(0.79, 0.8081, 0.83, 0.0012, 2000)
    wrong = {"printed": "x ≤ 1", "correct": "x ≤ 2", "consequence": f"too much {EVIL}", "erratum": "E99"}
    certain = {"proof": Proof.MONOTONE, "why": "it rises with x"}
    made = [
        claim("Z.D1", Kind.DEFINITION, Verdict.NOT_CHECKABLE, Evidence(reason="a definition")),
        claim("Z.L7", Kind.INEQUALITY, Verdict.HOLDS, inequality(0.1046, 0.02)),
        claim("Z.L8", Kind.IDENTITY, Verdict.HOLDS, inequality(1.0, half=1e-12, tolerance=1e-9, **certain)),
        claim("T.F1", Kind.ASYMPTOTIC, Verdict.CONSISTENT, asymptotic()),
        claim("T.C18p", Kind.INEQUALITY, Verdict.FALSE, inequality(1.867, 0.5), title=f"A claim {EVIL}", **wrong),
        claim("T.C18p repaired", Kind.INEQUALITY, Verdict.HOLDS, inequality(0.3, **certain), part="repaired"),
        claim("V.T2 dp", Kind.INEQUALITY, Verdict.OPEN, inequality(1.0)),
        claim("S.T1", Kind.INEQUALITY, Verdict.HOLDS, inequality(1e-9, vacuous="the bound is above 1")),
        claim(
            "P.T3", Kind.INEQUALITY, Verdict.HOLDS, Evidence([Point("n = 3", seen, constant(0.95))], measures="chance")
        ),
    ]
    return {one.id: one for one in made}
