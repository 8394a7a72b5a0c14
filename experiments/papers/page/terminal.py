"""Verdicts on the terminal: one claim with its evidence, or the number of claims of each verdict."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.verdict import Verdict
from tcdp_sim.experiments.papers.page.counts import ours, printed
from tcdp_sim.experiments.papers.page.wording import SHAPES, balls, evidence, looseness, number, power, scope, side
from tcdp_sim.report.tables import terminal_table

MOST_POINTS = 40  # points of a claim that are listed


def report_claim(result: Result, console: Any) -> None:
    """Print a claim: its statement, the verdict, and the evidence point by point."""
    claim, judgement = result.claim, result.judgement
    lines = [f"{claim.id}  {claim.title}  ({claim.place})", verdict_line(result)]
    lines += [f"  quoted: {claim.quote}" if claim.quote else f"  no quote: {claim.no_quote}"]
    lines += [f"  hypotheses: {claim.hypotheses}"] if claim.hypotheses else []
    lines += [f"  printed: {claim.printed}", f"  correct: {claim.correct}"] if claim.printed else []
    lines += [f"  so: {claim.consequence}"] if claim.consequence else []
    lines += [f"  power: {text}" for text in (power(result.power),) if text]
    lines += [f"  in ball arithmetic: {text}" for text in (balls(result),) if text]
    lines += [f"  withdrawn: {claim.withdrawn}"] if claim.withdrawn else []
    lines += [f"  vacuous: {judgement.vacuous}"] if judgement.vacuous else []
    lines += [f"  up to {number(result.evidence.tolerance)}, relative"] if result.evidence.tolerance else []
    lines += [f"  {result.evidence.proof}: {result.evidence.why}"] if result.evidence.proof else []
    if judgement.left is not None:
        loose = looseness(judgement)
        lines.append(f"  {evidence(result)}" + (f"; loose by {number(loose)}" if loose == loose else ""))
    for line in lines:
        console.print(line, markup=False)
    if result.evidence.points:
        console.print(_points(result), soft_wrap=False)


def verdict_line(result: Result) -> str:
    """Return the verdict, its scope, and the objections that are known."""
    judgement, claim = result.judgement, result.claim
    text = f"  {SHAPES[judgement.verdict]} {judgement.verdict}"
    text += f" {about}" if (about := scope(judgement)) else ""
    text += f" ({judgement.reason})" if judgement.verdict is Verdict.NOT_CHECKABLE else ""
    text += f", class {result.shown}" if str(result.shown) != str(judgement.verdict) else ""
    text += f" [erratum {claim.erratum}]" if claim.erratum else ""
    return text + (f"; recorded is {claim.expected}" if result.changed else "")


def _points(result: Result):  # type: ignore[no-untyped-def]
    rows = [(p.where, side(p.left), side(p.right)) for p in result.evidence.points[:MOST_POINTS]]
    return terminal_table(f"  {result.evidence.measures}", ("where", "left", "right"), rows, fold=True)


def plural(things: Sequence[object], noun: str) -> str:
    """Return "1 claim", "2 claims"."""
    return f"{len(things)} {noun}{'s' if len(things) != 1 else ''}"


def report_counts(results: Sequence[Result], console: Any) -> None:
    """Print the classes of the printed statements, the verdicts on our own sentences, and every changed verdict."""
    for what, classes in (
        (plural(printed(results), "printed statement"), Counter(str(one.shown) for one in printed(results))),
        (plural(ours(results), "sentence") + " of ours", Counter(str(one.judgement.verdict) for one in ours(results))),
    ):
        words = ", ".join(f"{count} {name}" for name, count in classes.most_common())
        console.print(f"{what}: {words}" if words else what, markup=False)
    for result in results:
        if result.changed:
            console.print(f"{result.claim.id}:{verdict_line(result)}", markup=False)
