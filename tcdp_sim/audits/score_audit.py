"""An audit from scores, from its checked arguments to its report."""

from dataclasses import replace
from math import log10

import numpy as np

from tcdp_sim.audits import claims, looks, one_run, one_run_curves, rank_bounds
from tcdp_sim.audits.binomial import lower_probability, upper_probability
from tcdp_sim.audits.events import Event
from tcdp_sim.audits.rank_bounds import Events
from tcdp_sim.audits.report import Holds, Scores
from tcdp_sim.audits.score_arguments import ScoreAudit, epsilon_at
from tcdp_sim.audits.score_report import ScoreReport, bound_on
from tcdp_sim.audits.score_violation import least_found
from tcdp_sim.audits.scores import Column
from tcdp_sim.audits.tradeoff import GaussianDP
from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import ZCDP

CELLS = 200  # of the scores in the figure
LOOKS = 6  # the events with the largest bounds, which say what would have been found
RELATION = "one record, inside or outside"
SCORE = Column("value", 0, "score")


def run(audit: ScoreAudit) -> ScoreReport:
    """Return the report of an audit from scores."""
    if audit.runs == "one":
        return _of_one_run(audit)
    return _while_scores_arrive(audit) if audit.sequential else _of_many_runs(audit)


def _empty(audit: ScoreAudit) -> ScoreReport:
    """Return the report on nothing found."""
    sizes = len(audit.inside), len(audit.outside)
    pooled = np.concatenate([audit.inside, audit.outside])
    return ScoreReport(
        audit.measure.words, audit.claim, audit.level, min(sizes), 0, relation=RELATION, drawn=0, resumed=0,
        reproducible=True, notes=(), folder=None, sizes=sizes, runs=audit.runs,
        tested=bool(pooled.min() < pooled.max()), violation=float("nan"),
        finds_double=audit.measure.claimed in (0, np.inf), scores=_histogram(audit.inside, audit.outside, pooled),
    )  # fmt: skip


def _histogram(inside: Floats, outside: Floats, pooled: Floats) -> Scores:
    """Return the counts of the scores between quantiles of all scores, for the figure."""
    edges = np.unique(np.quantile(pooled, np.linspace(0, 1, CELLS), method="nearest"))
    edges = edges[np.isfinite(edges)]
    one, other = (
        np.bincount(np.searchsorted(edges, each, "right"), minlength=len(edges) + 1) for each in (inside, outside)
    )
    return Scores("score", edges, one, other)


def _of_many_runs(audit: ScoreAudit) -> ScoreReport:
    """Return the report on scores of independent runs."""
    found = rank_bounds.events(audit.inside, audit.outside, audit.failure, audit.directions)
    measures = (epsilon_at(audit.delta), claims.measure(GaussianDP(1.0)), claims.measure(ZCDP(1.0)), audit.measure)
    bounds = {one.words: bound_on(one, found) for one in measures}
    bound, line = bounds[audit.measure.words], _hopeless(audit)
    report = replace(
        _empty(audit), bound=bound, refuted=bound > audit.measure.claimed, bounds=bounds, events=found,
        notes=(line,) if line else (), event="none: no event is likelier on one side beyond chance",
    )  # fmt: skip
    order = np.argsort(-rank_bounds.of_each(audit.measure, found), kind="stable").tolist()
    if audit.claim is not None and report.tested:
        looks = order[:LOOKS] if bound > 0 else order[:: max(len(order) // LOOKS, 1)]
        value, double = least_found(audit.measure, found, looks)
        report = replace(report, violation=value, finds_double=bool(double or audit.measure.claimed == 0))
    return _with_event(report, found, order[0]) if bound > 0 else report


def _while_scores_arrive(audit: ScoreAudit) -> ScoreReport:
    """Return the report of the last look at first scores of both sides, or of the look that shows most if it refutes.

    All bounds of all looks hold together, also those of looks to come.
    """
    there = min(len(audit.inside), len(audit.outside))
    if there < looks.FIRST:
        raise UserError(f"{there} scores of a side are too few; valid: at least {looks.FIRST} with sequential=True")
    every = [_first(audit, size, share * audit.failure) for size, share in looks.of_scores(there)]
    best = max(every, key=lambda report: report.bound)
    report = best if best.refuted else every[-1]
    line = f"while scores arrive: of {len(audit.inside):,} inside and {len(audit.outside):,} outside"
    return replace(report, notes=(*report.notes, f"{line}, the first {report.trials:,} of each are used"))


def _first(audit: ScoreAudit, size: int, failure: float) -> ScoreReport:
    """Return the report on the first scores of each side, at a share of the failure probability."""
    first = replace(audit, inside=audit.inside[:size], outside=audit.outside[:size], level=looks.level(failure))
    return replace(_of_many_runs(first), level=audit.level, failure=failure)


def _with_event(report: ScoreReport, found: Events, place: int) -> ScoreReport:
    """Return the report with the event that shows most."""
    event = _event(found, place)
    return replace(
        report, event=f"score {'>' if event.upper else '<'} {found.thresholds[place]:.10g}",
        holds=Holds(event, np.asarray), hits=_of_sides(found.hits, found, place),
        toward="inside" if event.first else "outside",
    )  # fmt: skip


def _event(found: Events, place: int) -> Event:
    """Return one of the events as a function of scores."""
    upper, threshold = bool(found.upper[place]), float(found.thresholds[place])
    return Event(
        SCORE, float(np.nextafter(threshold, np.inf)) if upper else threshold, upper, bool(found.inside[place]), 0.5
    )


def _of_sides(numbers: Ints, found: Events, place: int) -> tuple[int, int]:
    """Return the numbers of one event for the scores inside and outside."""
    one, other = numbers[:: 1 if found.inside[place] else -1, place].tolist()
    return one, other


def _most(audit: ScoreAudit, inside: int, outside: int) -> float:
    """Return the largest bound that so many scores inside and outside can give: all of one are in the event."""
    shared = rank_bounds.doubt(inside, outside, audit.failure, audit.directions)
    n, m = np.array([inside, outside]), np.array([outside, inside])
    regions = audit.measure.of_event(*rank_bounds.corners(n, n, np.zeros(2), m, shared.region)).min(axis=0)
    ends = audit.measure.of_event(lower_probability(n, n, shared.main), upper_probability(0, m, shared.main))
    return float(np.max([regions, ends]))


def _hopeless(audit: ScoreAudit) -> str:
    """Return a line if no scores of these numbers could refute the claim, with numbers that could; else ""."""
    one, inside, outside = audit.measure, len(audit.inside), len(audit.outside)
    if one.claimed == np.inf or _most(audit, inside, outside) > one.claimed:
        return ""
    enough = claims.least_size(lambda size: _most(audit, size, size) > one.claimed, min(inside, outside))
    text = f"no {inside:,} scores inside and {outside:,} outside could refute {one.words} <= {one.claimed:g}"
    return text + (f"; about {enough:.2g} of each could" if enough else "; nor could 1e18 of each")


def _of_one_run(audit: ScoreAudit) -> ScoreReport:
    """Return the report on the canaries of one run."""
    canaries = len(audit.inside) + len(audit.outside)
    tried = [each for side in audit.directions for each in one_run.guesses(audit.inside, audit.outside, side)]
    share = audit.failure / len(tried)

    rarer = claims.rarer(audit.claim) if audit.measure.quantity == "digits" else None

    def shown(correct: int, made: int) -> float:
        if rarer is not None:
            return max(one_run_curves.digits(correct, made, canaries, rarer) - log10(len(tried)), 0.0)
        if audit.measure.quantity == "mu":
            return one_run_curves.mu(correct, made, canaries, share)
        given = correct, made, canaries, audit.delta, share
        return max(one_run.bound(*given), one_run_curves.epsilon(*given) if audit.delta else 0.0)

    bounds = [shown(each.correct, each.made) for each in tried]
    best = int(np.argmax(bounds))
    bound, chosen, report = bounds[best], tried[best], _empty(audit)
    most = max(shown(each.made, each.made) for each in tried)
    claimed = audit.measure.claimed
    hopeless = f"no guesses about {canaries:,} canaries of one run could refute {audit.measure.words} <= {claimed:g}"
    return replace(
        report, bound=bound, refuted=bound > claimed, bounds={audit.measure.words: bound}, event=chosen.words,
        hits=(chosen.correct, chosen.made), toward=chosen.larger, finds_double=claimed in (0, np.inf) or most > claimed,
        notes=(hopeless,) if most <= claimed < np.inf else (),
    )  # fmt: skip
