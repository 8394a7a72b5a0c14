"""Claims of papers, the evidence on them, and `judge`, which alone gives a verdict.

Evidence is points: a left side and a right side, each an interval that holds the truth, certified or simulated. A claim
says left <= right (or =, or ~) at every point that it speaks of. What is expected of it is never read here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf, isnan, log, nan
from typing import Any, NamedTuple

from tcdp_sim.numerics import Bounds

BAND = 4.0  # an asymptotic ratio may vary by that factor over all its points
DRIFT = 0.02  # and move that much, relative, over the last decade


class Kind(StrEnum):
    """What a claim says of its points."""

    INEQUALITY = "inequality"  # left <= right at all of them
    ORDERING = "ordering"  # the same, where by how much says nothing: who is better, what grows
    IDENTITY = "identity"  # left = right at all of them
    EXISTENCE = "existence"  # left <= right at one of them
    ASYMPTOTIC = "asymptotic"  # left over right settles as `at` grows
    DEFINITION = "definition"
    NOT_CHECKABLE = "not checkable"


class Verdict(StrEnum):
    """What the evidence says of a claim."""

    HOLDS = "holds"
    FALSE = "false"
    OPEN = "open"
    CONSISTENT = "consistent"
    INCONSISTENT = "inconsistent"
    NOT_CHECKABLE = "not checkable"


class Scope(StrEnum):
    """Whether a verdict is about all that the claim speaks of, or about the points that were tried."""

    ALL = "all"
    POINTS = "points"


class Proof(StrEnum):
    """What carries a verdict from the points to all that the claim speaks of."""

    CHORD = "chord"  # between the points lie certified chords
    MONOTONE = "monotone"  # the points are the worst ones
    EXHAUSTIVE = "exhaustive"  # there are no others
    IDENTITY = "identity"  # both sides are one function
    SYMBOLIC = "symbolic"  # derived


class Growth(StrEnum):
    """Which way an asymptotic claim bounds the ratio."""

    BOTH = "Θ"
    AT_MOST = "O"
    AT_LEAST = "Ω"


class Simulated(NamedTuple):
    """A simulated number: an interval at the page's level (`statistics.intervals`), its standard error, its trials."""

    lower: float
    estimate: float
    upper: float
    mcse: float
    trials: int


Side = Bounds | Simulated


def constant(value: float) -> Bounds:
    """A number that is what it is: 1, a beta that is given."""
    return Bounds(value, value, value)


@dataclass(frozen=True)
class Point:
    """Both sides of a claim at one place.

    where: in words ("ω√ρ = 0.125, ρ = 1e-4"); at: of an asymptotic claim, log10 of what grows. Raises ValueError for a
    side that is no interval.
    """

    where: str
    left: Side
    right: Side
    at: float = nan

    def __post_init__(self) -> None:
        for name, side in (("left", self.left), ("right", self.right)):
            if not side.lower <= side.upper:
                raise ValueError(f"the {name} side at {self.where!r} is {tuple(side)}; valid: lower <= upper")
            ends = (float(side.lower), float(side.estimate), float(side.upper))  # numpy's numbers are none of Python's
            plain = Bounds(*ends) if isinstance(side, Bounds) else Simulated(*ends, float(side.mcse), int(side.trials))
            object.__setattr__(self, name, plain)
        object.__setattr__(self, "at", float(self.at))


@dataclass(frozen=True)
class Evidence:
    """What was found out about a claim.

    points: where it was tried; measures: what the sides are, in words, with units; universe: what the claim speaks of;
    proof: what carries the points to the universe, and `why` in a line; tolerance: relative: by how much an inequality
    may be missed (rounding, where it is attained), and how wide an identity's sides and how far apart they may be;
    growth: of an asymptotic claim; vacuous: why a claim that holds says nothing; reason: of what cannot be checked.
    """

    points: Sequence[Point] = ()
    measures: str = ""
    universe: str = ""
    proof: Proof | None = None
    why: str = ""
    tolerance: float = 0.0
    growth: Growth = Growth.BOTH
    vacuous: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        if self.proof is not None and not self.why:
            raise ValueError(f"proof = {self.proof} needs `why`: one line that says what makes it one")


@dataclass(frozen=True)
class Judgement:
    """A verdict and what decided it.

    left, right: the sides at `where`, the worst or tightest point, of an asymptotic claim the ratio at the last point
    and None; tightness: left / right there, certified: at most that where the claim holds, at least that where it is
    false; NaN where there is none. points: how many were tried; vacuous, reason: see `Evidence`.
    """

    verdict: Verdict
    scope: Scope = Scope.POINTS
    left: Side | None = None
    right: Side | None = None
    where: str = ""
    tightness: float = nan
    points: int = 0
    vacuous: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the function that gathers the evidence on it.

    id: as in the catalogue, with the name of a part ("T.C18p repaired"); ids: all statements it covers; part: "" for
    the statement as printed; needs: studies whose results it reads; expected: what is recorded, to be compared with;
    erratum: "E4"; figure: that shows it; printed, correct, consequence: of a false claim, for people.
    """

    id: str
    ids: tuple[str, ...]
    title: str
    kind: Kind
    section: str
    expected: Verdict
    evidence: Callable[[Any], Evidence] = field(repr=False)
    part: str = ""
    needs: tuple[str, ...] = ()
    erratum: str = ""
    figure: str = ""
    printed: str = ""
    correct: str = ""
    consequence: str = ""


def judge(kind: Kind, evidence: Evidence) -> Judgement:
    """The verdict on a claim of that kind. Raises ValueError for a claim that can be checked and has no points."""
    if kind in (Kind.DEFINITION, Kind.NOT_CHECKABLE):
        if not evidence.reason:
            raise ValueError("what cannot be checked needs a reason")
        return Judgement(Verdict.NOT_CHECKABLE, reason=evidence.reason)
    if not evidence.points:
        raise ValueError(f"a claim of kind {kind.value} needs points")
    return _JUDGES[kind](evidence)


def ratio(point: Point) -> Bounds:
    """left / right at a point, for right >= 0; [-inf, inf] where either side leaves it open."""
    left, right = point.left, point.right
    lower = _over(left.lower, right.upper if left.lower >= 0 else right.lower, -inf if left.lower < 0 else 0.0)
    upper = _over(left.upper, right.lower if left.upper >= 0 else right.upper, inf if left.upper > 0 else 0.0)
    return Bounds(lower, _over(left.estimate, right.estimate, nan), upper)


def _over(number: float, by: float, otherwise: float) -> float:
    quotient = number / by if by > 0 else nan
    return otherwise if isnan(quotient) else quotient


def _is_true(point: Point, tolerance: float) -> bool | None:
    """Whether left <= right at a point; None if the intervals leave it open."""
    spare = tolerance * abs(point.right.estimate) if tolerance else 0.0
    if point.left.upper <= point.right.lower + spare:
        return True
    return False if point.left.lower > point.right.upper + spare else None


def _for_all(evidence: Evidence) -> Judgement:
    told = [(_is_true(point, evidence.tolerance), point) for point in evidence.points]
    scope = Scope.ALL if evidence.proof else Scope.POINTS
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
    """One point is enough to hold; to be false all that there are have to be tried."""
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
    """How far the sides are apart, relative to their size; negative where they overlap."""
    return max(point.left.lower - point.right.upper, point.right.lower - point.left.upper) / _size(point)


def _width(point: Point) -> float:
    """How wide the wider side is, relative to their size."""
    return max(point.left.upper - point.left.lower, point.right.upper - point.right.lower) / _size(point)


def _asymptotic(evidence: Evidence) -> Judgement:
    """Whether the ratio stays in the band and has come to rest: consistent if surely so, inconsistent if surely not."""
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
    return Judgement(verdict, Scope.POINTS, ratios[-1], None, points[-1].where, nan, len(points), evidence.vacuous)


def _spreads(growth: Growth, ratios: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """(most, least) that the log of the ratio may move over successive points, in the directions that count."""
    low = [log(lower) if lower > 0 else -inf for lower, _ in ratios]
    high = [log(upper) if upper > 0 else -inf for _, upper in ratios]
    pairs = [(i, j) for j in range(len(ratios)) for i in range(j)]
    up = max(high[j] - low[i] for i, j in pairs), max(low[j] - high[i] for i, j in pairs)
    down = max(high[i] - low[j] for i, j in pairs), max(low[i] - high[j] for i, j in pairs)
    moves = {Growth.AT_MOST: [up], Growth.AT_LEAST: [down], Growth.BOTH: [up, down]}[growth]
    return max(most for most, _ in moves), max(least for _, least in moves)


def _judged(evidence: Evidence, verdict: Verdict, scope: Scope, point: Point, tightness: float = nan) -> Judgement:
    vacuous = evidence.vacuous if verdict is Verdict.HOLDS else ""
    return Judgement(
        verdict, scope, point.left, point.right, point.where, tightness, len(evidence.points), vacuous, evidence.reason
    )


_JUDGES: dict[Kind, Callable[[Evidence], Judgement]] = {
    Kind.INEQUALITY: _for_all,
    Kind.ORDERING: _ordering,
    Kind.EXISTENCE: _for_one,
    Kind.IDENTITY: _identity,
    Kind.ASYMPTOTIC: _asymptotic,
}
