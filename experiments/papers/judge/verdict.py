"""The function `judge`, which alone gives a verdict on a claim, from its kind and the evidence.

A claim states left <= right (or =, or ~) at every point of its universe. The judge reads neither the expected verdict
of a claim nor its class.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, isnan, log, nan

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Growth, Kind, Point, Side

BAND = 4.0  # an asymptotic ratio may vary by that factor over all its points
DRIFT = 0.02  # and may move by that relative amount over the last decade


class Verdict(StrEnum):
    """The result of the evidence on a claim."""

    HOLDS = "holds"
    FALSE = "false"
    OPEN = "open"
    CONSISTENT = "consistent"
    INCONSISTENT = "inconsistent"
    NOT_CHECKABLE = "not checkable"


class Scope(StrEnum):
    """The range of a verdict: the whole universe of the claim, all of a box of parameters, or the points tried."""

    ALL = "all"
    BOX = "box"
    POINTS = "points"


@dataclass(frozen=True)
class Judgement:
    """A verdict and the point that decided it.

    `left` and `right` are the sides at `where`, the worst or tightest point. For an asymptotic claim they are the ratio
    at the last point and None. `tightness` is the upper end of left / right there if the claim holds, the lower end if
    it is false, and NaN for other verdicts and for claims without a ratio. `points` is the number of points tried, and
    `boxes` has the names of the boxes that were searched. `Evidence` documents `vacuous` and `reason`.
    """

    verdict: Verdict
    scope: Scope = Scope.POINTS
    left: Side | None = None
    right: Side | None = None
    where: str = ""
    tightness: float = nan
    points: int = 0
    boxes: tuple[str, ...] = ()
    vacuous: str = ""
    reason: str = ""


def judge(kind: Kind, evidence: Evidence) -> Judgement:
    """Return the verdict on a claim of that kind. Raise ValueError for a claim that needs points and has none."""
    if kind in (Kind.DEFINITION, Kind.NOT_CHECKABLE):
        if not evidence.reason:
            raise ValueError("what cannot be checked needs a reason")
        return Judgement(Verdict.NOT_CHECKABLE, reason=evidence.reason)
    if not evidence.points:
        raise ValueError(f"a claim of kind {kind.value} needs points")
    return _JUDGES[kind](evidence)


def ratio(point: Point) -> Bounds:
    """Return left / right at a point, for right >= 0; [-inf, inf] where either side leaves it open."""
    left, right = point.left, point.right
    lower = _over(left.lower, right.upper if left.lower >= 0 else right.lower, -inf if left.lower < 0 else 0.0)
    upper = _over(left.upper, right.lower if left.upper >= 0 else right.upper, inf if left.upper > 0 else 0.0)
    return Bounds(lower, _over(left.estimate, right.estimate, nan), upper)


def _over(number: float, by: float, otherwise: float) -> float:
    quotient = number / by if by > 0 else nan
    return otherwise if isnan(quotient) else quotient


def _is_true(point: Point, tolerance: float) -> bool | None:
    """Return whether left <= right at a point, or None if the intervals leave it open."""
    spare = tolerance * abs(point.right.estimate) if tolerance else 0.0
    if point.left.upper <= point.right.lower + spare:
        return True
    return False if point.left.lower > point.right.upper + spare else None


def _for_all(evidence: Evidence) -> Judgement:
    told = [(_is_true(point, evidence.tolerance), point) for point in evidence.points]
    boxed = Scope.BOX if any(point.box for point in evidence.points) else Scope.POINTS
    scope = Scope.ALL if evidence.proof else boxed
    if wrong := [point for is_true, point in told if is_true is False]:
        worst = max(wrong, key=lambda point: ratio(point).lower)
        return _judged(evidence, Verdict.FALSE, scope, worst, ratio(worst).lower)
    if undecided := [point for is_true, point in told if is_true is None]:
        return _judged(evidence, Verdict.OPEN, scope, max(undecided, key=lambda point: ratio(point).upper))
    tightest = max(evidence.points, key=lambda point: ratio(point).upper)
    return _judged(evidence, Verdict.HOLDS, scope, tightest, ratio(tightest).upper)


def _ordering(evidence: Evidence) -> Judgement:
    return replace(_for_all(evidence), tightness=nan)


def _for_one(evidence: Evidence) -> Judgement:
    """Judge an existence claim. One point is enough to hold; to be false, all possible points must have been tried."""
    told = [(_is_true(point, evidence.tolerance), point) for point in evidence.points]
    best = min(evidence.points, key=lambda point: ratio(point).upper)
    if right := [point for is_true, point in told if is_true]:
        best = min(right, key=lambda point: ratio(point).upper)
        return _judged(evidence, Verdict.HOLDS, Scope.ALL, best, ratio(best).upper)
    if evidence.proof and all(is_true is False for is_true, _ in told):
        return _judged(evidence, Verdict.FALSE, Scope.ALL, best, ratio(best).lower)
    return _judged(evidence, Verdict.OPEN, Scope.POINTS, best)


def _identity(evidence: Evidence) -> Judgement:
    scope = Scope.ALL if evidence.proof else Scope.POINTS
    farthest = max(evidence.points, key=_gap)
    if _gap(farthest) > 0:
        return _judged(evidence, Verdict.FALSE, scope, farthest)
    widest = max(evidence.points, key=_width)
    verdict = Verdict.HOLDS if _width(widest) <= evidence.tolerance else Verdict.OPEN
    return _judged(evidence, verdict, scope, widest)


def _size(point: Point) -> float:
    return max(abs(point.left.estimate), abs(point.right.estimate)) or 1.0


def _gap(point: Point) -> float:
    """Return the distance between the sides relative to their size, negative where they overlap."""
    return max(point.left.lower - point.right.upper, point.right.lower - point.left.upper) / _size(point)


def _width(point: Point) -> float:
    """Return the width of the wider side relative to their size."""
    return max(point.left.upper - point.left.lower, point.right.upper - point.right.lower) / _size(point)


def _asymptotic(evidence: Evidence) -> Judgement:
    """Judge whether the ratio stays in the band and has settled: consistent or inconsistent only if surely so."""
    points = sorted(evidence.points, key=lambda point: point.at)
    if len(points) < 3 or any(isnan(point.at) for point in points):
        raise ValueError("an asymptotic claim needs three points or more, each with `at`")
    ratios = [ratio(point) for point in points]
    decades = max(points[-1].at - points[-2].at, 1.0)
    widest, narrowest = _spreads(evidence.growth, [(r.lower, r.upper) for r in ratios])
    last = _spreads(evidence.growth, [(r.lower, r.upper) for r in ratios[-2:]])
    fastest, slowest = (spread / decades for spread in last)
    if widest <= log(BAND) and fastest <= DRIFT:
        verdict = Verdict.CONSISTENT
    elif narrowest > log(BAND) or slowest > DRIFT:
        verdict = Verdict.INCONSISTENT
    else:
        verdict = Verdict.OPEN
    where, vacuous = points[-1].where, evidence.vacuous
    return Judgement(verdict, Scope.POINTS, ratios[-1], None, where, nan, len(points), vacuous=vacuous)


def _spreads(growth: Growth, ratios: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return (most, least) that the log of the ratio may move over successive points, in the directions that count."""
    low = [log(lower) if lower > 0 else -inf for lower, _ in ratios]
    high = [log(upper) if upper > 0 else -inf for _, upper in ratios]
    pairs = [(i, j) for j in range(len(ratios)) for i in range(j)]
    up = max(high[j] - low[i] for i, j in pairs), max(low[j] - high[i] for i, j in pairs)
    down = max(high[i] - low[j] for i, j in pairs), max(low[i] - high[j] for i, j in pairs)
    moves = {Growth.AT_MOST: [up], Growth.AT_LEAST: [down], Growth.BOTH: [up, down]}[growth]
    return max(most for most, _ in moves), max(least for _, least in moves)


def _judged(evidence: Evidence, verdict: Verdict, scope: Scope, point: Point, tightness: float = nan) -> Judgement:
    vacuous = evidence.vacuous if verdict is Verdict.HOLDS else ""
    boxes = tuple(point.where for point in evidence.points if point.box)
    tried = len(evidence.points) - len(boxes)
    return Judgement(
        verdict, scope, point.left, point.right, point.where, tightness, tried, boxes, vacuous, evidence.reason
    )


_JUDGES: dict[Kind, Callable[[Evidence], Judgement]] = {
    Kind.INEQUALITY: _for_all,
    Kind.ORDERING: _ordering,
    Kind.EXISTENCE: _for_one,
    Kind.IDENTITY: _identity,
    Kind.ASYMPTOTIC: _asymptotic,
}
