"""The wording of numbers and evidence, which is the same on the page, in its other forms and on the terminal."""

from math import inf, isfinite, isnan

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.classes import ClaimClass
from tcdp_sim.experiments.papers.judge.evidence import Kind, Side
from tcdp_sim.experiments.papers.judge.power import CONSTANT, FACTORS, Power
from tcdp_sim.experiments.papers.judge.verdict import Judgement, Scope, Verdict
from tcdp_sim.statistics.intervals import Simulated

SHAPES = {  # a badge is a word and a shape, never a colour alone
    Verdict.HOLDS: "✓",
    Verdict.FALSE: "✗",
    Verdict.CONSISTENT: "≈",
    Verdict.INCONSISTENT: "≉",
    Verdict.OPEN: "?",
    Verdict.NOT_CHECKABLE: "–",
}
CLASS_SHAPES = {
    ClaimClass.HOLDS: "✓",
    ClaimClass.CONSISTENT: "≈",
    ClaimClass.OPEN: "?",
    ClaimClass.NOT_CHECKABLE: "–",
    ClaimClass.FALSE: "✗",
    ClaimClass.PROOF_GAP: "⋯",
    ClaimClass.HYPOTHESIS_MISSING: "+",
    ClaimClass.MISPRINT: "¶",
    ClaimClass.INFORMAL: "∼",
    ClaimClass.TEXT_DAMAGED: "□",
    ClaimClass.OURS: "○",
}
SIGNS = {Kind.IDENTITY: ("=", "≠"), Kind.ASYMPTOTIC: ("~", "≁")}
DIGITS = 4
LARGEST_WHOLE = 1e6


def number(value: float) -> str:
    """Return a number as text: four digits, or all digits of a whole number below a million; "" for NaN."""
    if isnan(value):
        return ""
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    if value == round(value) and abs(value) < LARGEST_WHOLE:
        return f"{value:.0f}"
    return f"{value:.{DIGITS}g}"


def side(value: Side) -> str:
    """Return a side as text: its estimate with its bounds if they differ, or with its standard error."""
    if isinstance(value, Simulated):
        return f"{number(value.estimate)} ± {number(value.mcse)} MCSE"
    low, middle, high = map(number, value[:3])
    return middle if low == middle == high else f"{middle} [{low}, {high}]"


def evidence(result: Result) -> str:
    """Return the evidence that decided a verdict, in a line: "1.867 > 1 at ω√ρ = 0.125, ρ = 0.0001"."""
    judgement = result.judgement
    if judgement.left is None:
        return judgement.reason
    if judgement.right is None:
        return f"ratio {side(judgement.left)} at {judgement.where}"
    return f"{side(judgement.left)} {_sign(result)} {side(judgement.right)} at {judgement.where}"


def _sign(result: Result) -> str:
    if result.judgement.verdict is Verdict.OPEN:
        return "?"
    equal, unequal = SIGNS.get(result.claim.kind, ("≤", ">"))
    return unequal if result.judgement.verdict is Verdict.FALSE else equal


def scope(judgement: Judgement) -> str:
    """Return the scope of a verdict: "for all", "on the 5 points tried", or both for a box; "" where there is none."""
    if judgement.verdict is Verdict.NOT_CHECKABLE:
        return ""
    if judgement.verdict is Verdict.FALSE:
        return "by a counter-example"
    if judgement.verdict is Verdict.INCONSISTENT:
        return f"by the ratio at {judgement.points} points"
    if judgement.scope is Scope.ALL:
        return "for all"
    tried = f"on the {judgement.points} points tried" if judgement.points > 1 else "at the one point tried"
    if judgement.scope is Scope.BOX:
        certified = f"for {' and '.join(judgement.boxes)}, by ball arithmetic"
        return f"{certified}, and {tried}" if judgement.points else certified
    return tried


def looseness(judgement: Judgement) -> float:
    """Return the factor by which a bound is loose at its tightest point, NaN for a bound that does not hold or is 0."""
    if judgement.verdict is not Verdict.HOLDS or not 0 < judgement.tightness < inf:
        return float("nan")
    return 1 / judgement.tightness


def simulated(result: Result) -> bool:
    """Return True if any side of the evidence was simulated."""
    return any(isinstance(s, Simulated) for p in result.evidence.points for s in (p.left, p.right))


def estimate(value: Side | None) -> tuple[float, float, float]:
    """Return (estimate, lower, upper) of a side, all NaN if there is no side."""
    nan = float("nan")
    return (nan, nan, nan) if value is None else (value.estimate, value.lower, value.upper)


def power(found: Power) -> str:
    """Return a sentence on the wrong statements that the points would not have caught; "" if nothing is known."""
    if found.factor == found.factor:
        factor = number(found.factor)
        attained = "the bound is attained on these points, to four digits"
        return attained if factor == "1" else f"a bound smaller by a factor {factor} would hold on these points too"
    factors = [f"{name} off" for name in FACTORS if name in found.survives]
    texts = [*factors, *([f"a {CONSTANT}"] if CONSTANT in found.survives else [])]
    return f"also consistent with: {', '.join(texts)}" if texts else ""


def caught(found: Power) -> str:
    """Return a sentence on the wrong forms of an asymptotic claim that the points catch; "" for other claims."""
    names = [name for name in (*FACTORS, CONSTANT) if name not in found.survives]
    return f"these points catch a wrong form by: {', '.join(names)}" if names else ""


def balls(result: Result) -> str:
    """Return both balls of a claim decided by ball arithmetic: "[1.867, 1.867] > [1, 1]"; "" if there are none."""
    if result.balls is None:
        return ""
    left, right = (f"[{end.lower:.9g}, {end.upper:.9g}]" for end in (result.balls.left, result.balls.right))
    return f"{left} {result.says} {right}: {result.balls.where}"
