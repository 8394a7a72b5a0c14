"""The power of evidence: the wrong statements that the same points would not have caught."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import e, log, nan, sqrt

from tcdp_sim.experiments.papers.judge.evidence import Evidence, Growth, Kind, Point, Side
from tcdp_sim.experiments.papers.judge.verdict import Judgement, Verdict, judge

LN_10 = log(10)
FACTORS: dict[str, Callable[[float], float]] = {  # name -> its value at log10 x
    "log": lambda at: 1 + LN_10 * max(at, 0.0),
    "sqrt log": lambda at: sqrt(1 + LN_10 * max(at, 0.0)),
    "log log": lambda at: log(e + LN_10 * max(at, 0.0)),
}
CONSTANT = "constant"
SIGNS = {
    Growth.BOTH: (1, -1),
    Growth.AT_MOST: (-1,),
    Growth.AT_LEAST: (1,),
}  # forms that would be wrong: too small, ...


@dataclass(frozen=True)
class Power:
    """The wrong statements that the points of a claim would not have caught.

    For an asymptotic claim `survives` has the names of the factors by which its form could be wrong and still be
    consistent, and `constant` if a constant would be consistent too. For a bound that holds, `factor` is the factor by
    which it could be smaller and still hold at all points. It is NaN for other claims.
    """

    survives: tuple[str, ...] = ()
    factor: float = nan


def power(kind: Kind, evidence: Evidence, judgement: Judgement) -> Power:
    """Return what the evidence would not have caught, found by the judge's own rule on changed statements."""
    if kind is Kind.ASYMPTOTIC and judgement.verdict is Verdict.CONSISTENT:
        return Power(survives=tuple(name for name in (*FACTORS, CONSTANT) if _survives(evidence, name)))
    if judgement.verdict is Verdict.HOLDS and judgement.tightness > 0:
        return Power(factor=1 / judgement.tightness)
    return Power()


def _survives(evidence: Evidence, name: str) -> bool:
    changed = _with_constant(evidence) if name == CONSTANT else _with_factor(evidence, FACTORS[name])
    return any(judge(Kind.ASYMPTOTIC, one).verdict is Verdict.CONSISTENT for one in changed)


def _with_factor(evidence: Evidence, factor: Callable[[float], float]) -> list[Evidence]:
    """Return the evidence with the form multiplied by the factor, divided by it, or both, as the claim bounds it."""
    return [
        replace(evidence, points=[_scaled(point, factor(point.at) ** sign) for point in evidence.points])
        for sign in SIGNS[evidence.growth]
    ]


def _with_constant(evidence: Evidence) -> list[Evidence]:
    """Return the evidence with the form replaced by a constant, where that is another and no weaker statement."""
    points = sorted(evidence.points, key=lambda point: point.at)
    first, last = points[0].right.estimate, points[-1].right.estimate
    stronger = {Growth.BOTH: first != last, Growth.AT_MOST: first < last, Growth.AT_LEAST: first > last}
    constant = [replace(point, right=points[-1].right) for point in points]
    return [replace(evidence, points=constant)] if stronger[evidence.growth] else []


def _scaled(point: Point, factor: float) -> Point:
    return replace(point, right=_times(point.right, factor))


def _times(side: Side, factor: float) -> Side:
    lower, estimate, upper = (end * factor for end in side[:3])
    return side._replace(lower=lower, estimate=estimate, upper=upper)
