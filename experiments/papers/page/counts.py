"""The number of claims in each class. The papers' own statements and this project's sentences are counted apart."""

from collections import Counter
from collections.abc import Sequence

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.classes import MEANINGS, ClaimClass
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.judge.verdict import Scope, Verdict
from tcdp_sim.experiments.papers.page.wording import CLASS_SHAPES

FACTOR = 2.0  # the summary counts the bounds that would survive an error by this factor


def printed(results: Sequence[Result]) -> list[Result]:
    """Return the results on statements of the papers, each quote once."""
    seen, kept = set(), []
    for result in results:
        words = (result.claim.statement, result.claim.quote)
        if not result.claim.ours and (not result.claim.quote or words not in seen):
            kept.append(result)
            seen.add(words)
    return kept


def ours(results: Sequence[Result]) -> list[Result]:
    """Return the results on sentences of this project."""
    return [result for result in results if result.claim.ours]


def of_classes(results: Sequence[Result]) -> list[dict[str, object]]:
    """Return a row for each class that occurs: its name, shape, meaning, and the number of printed statements."""
    counts = Counter(result.shown for result in printed(results))
    names = [each for each in ClaimClass if each is not ClaimClass.OURS and (counts[each] or each is ClaimClass.FALSE)]
    return [
        {"name": str(each), "shape": CLASS_SHAPES[each], "number": counts[each], "meaning": MEANINGS[each]}
        for each in names
    ]


def of_our_verdicts(results: Sequence[Result]) -> list[dict[str, object]]:
    """Return a row for each verdict on our own sentences: its name and how many there are."""
    counts = Counter(result.judgement.verdict for result in ours(results))
    return [{"name": str(each), "number": counts[each]} for each in Verdict if counts[each]]


def weak(results: Sequence[Result]) -> tuple[int, int]:
    """Return how many bounds hold on points alone, and how many of these would hold if FACTOR times smaller."""
    bounds = [r for r in results if r.claim.kind is Kind.INEQUALITY and r.judgement.verdict is Verdict.HOLDS]
    unproved = [r for r in bounds if r.judgement.scope is Scope.POINTS]
    return len(unproved), sum(r.power.factor >= FACTOR for r in unproved)
