"""How numbers and evidence are written: the same words on the page, in its other forms and on the terminal."""

from math import inf, isfinite, isnan

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.evidence import Kind, Side
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
SIGNS = {Kind.IDENTITY: ("=", "≠"), Kind.ASYMPTOTIC: ("~", "≁")}
DIGITS = 4
LARGEST_WHOLE = 1e6


def number(value: float) -> str:
    """A number for people, four digits, whole numbers below a million with all of theirs; "" for NaN."""
    if isnan(value):
        return ""
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    if value == round(value) and abs(value) < LARGEST_WHOLE:
        return f"{value:.0f}"
    return f"{value:.{DIGITS}g}"


def side(value: Side) -> str:
    """A side: its estimate with its bounds where they show, or with its standard error."""
    if isinstance(value, Simulated):
        return f"{number(value.estimate)} ± {number(value.mcse)} MCSE"
    low, middle, high = map(number, value[:3])
    return middle if low == middle == high else f"{middle} [{low}, {high}]"


def evidence(result: Result) -> str:
    """What decided a verdict, in a line: "1.867 > 1 at ω√ρ = 0.125, ρ = 0.0001"."""
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
    """What a verdict speaks of: "for all", "on the 5 points tried"; "" where there are none."""
    if judgement.verdict is Verdict.NOT_CHECKABLE:
        return ""
    if judgement.verdict is Verdict.FALSE:
        return "by a counter-example"
    if judgement.verdict is Verdict.INCONSISTENT:
        return f"by the ratio at {judgement.points} points"
    if judgement.scope is Scope.ALL:
        return "for all"
    return f"on the {judgement.points} points tried" if judgement.points > 1 else "at the one point tried"


def looseness(judgement: Judgement) -> float:
    """By what factor a bound that holds is loose at its tightest point; NaN where there is none."""
    if judgement.verdict is not Verdict.HOLDS or not 0 < judgement.tightness < inf:
        return float("nan")
    return 1 / judgement.tightness


def simulated(result: Result) -> bool:
    """Whether any side of the evidence was simulated."""
    return any(isinstance(s, Simulated) for p in result.evidence.points for s in (p.left, p.right))


def estimate(value: Side | None) -> tuple[float, float, float]:
    """(estimate, lower, upper) of a side; NaN where there is none."""
    nan = float("nan")
    return (nan, nan, nan) if value is None else (value.estimate, value.lower, value.upper)
