"""An audit from its checked arguments to its report."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tcdp_sim.audits import claims, events, kept, looks, moments, outputs, pace, sampling
from tcdp_sim.audits.arguments import Audit
from tcdp_sim.audits.counting import Changed, Counting, Unsteady, stage_streams
from tcdp_sim.audits.events import Event
from tcdp_sim.audits.report import AuditReport, Holds, Scores
from tcdp_sim.audits.sampling import Counts, Drawing
from tcdp_sim.audits.search import Chosen, search
from tcdp_sim.audits.stages import sizes
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.identity import identity
from tcdp_sim.core.log import Tell
from tcdp_sim.core.sources import sources_of
from tcdp_sim.core.streams import generator
from tcdp_sim.engine import clusters

NOT_REPRODUCIBLE = (
    "a mechanism that is not a function of its rng: every worker would copy the mechanism's own generator and repeat it"
)
CHANGED = (
    "the mechanism's outputs differ from the kept ones although its source is the same (its environment, a file or a "
    "library has changed): the kept counts are discarded and drawn again"
)
OTHER = "the counts in this folder belong to another mechanism, source, seed or size: none of them is used"
INTERLEAVED = (
    "the outputs depend on more than the input and rng (such as the number of calls, the time, or a generator of its "
    "own): the two inputs are drawn in turn, one call for each output; not reproducible"
)
CHECKED = 50  # outputs that are drawn twice to test reproducibility
COMPARED, MOST_COMPARED = 10, 200_000  # a tenth of the trials, at most, shows whether inputs give different outputs


def run(audit: Audit, cluster: str | Mapping[str, Any], tell: Tell) -> AuditReport:
    """Run an audit on a cluster and return its report; `tell` gets every notice. Raises UserError."""
    spec = {"name": cluster} if isinstance(cluster, str) else dict(cluster)
    workers = clusters.worker_count(spec)
    known = identity(audit.mechanism) if all(pair.known for pair in audit.pairs) else None
    began = time.perf_counter()
    if _reproducible(audit):
        try:
            paced = pace.paced(audit, began, workers if spec["name"] != "serial" else 1)
            return _run(paced, spec, known, tell, interleaved=False)
        except Unsteady:
            tell("two calls with one input and one random stream gave different outputs: the audit begins again")
    if spec["name"] != "serial":
        raise UserError(f"cluster = {spec['name']!r} is not valid for {NOT_REPRODUCIBLE}; valid: cluster='serial'")
    return _run(pace.paced(audit, began, 1, in_turn=True), spec, known, tell, interleaved=True)


def _run(audit: Audit, spec: dict[str, Any], known: Any, tell: Tell, interleaved: bool) -> AuditReport:
    """Run an audit whose calls are interleaved or not, and return its report. Raises Unsteady."""
    notes = tuple(_notes(audit, not interleaved, known is not None))
    for line in notes:
        tell(line)
    resumes = audit.folder if known is not None and not interleaved else None
    drawing = Drawing(sources_of(audit.mechanism), audit.sampler, np.asarray, interleaved)
    with kept.opened(resumes) as journal, clusters.connect(spec, tell=tell) as executor:
        notes += tuple(said := list(_damages(journal)))
        for line in said:
            tell(line)
        counting = Counting(executor, journal, drawing, known, audit.seed)
        try:
            report = _looked(audit, counting)
        except Changed:
            journal.discard()
            notes += (CHANGED,)
            tell(CHANGED)
            counting = Counting(executor, journal, drawing, known, audit.seed)
            report = _looked(audit, counting)
        if journal.before and not counting.resumed and CHANGED not in notes:
            notes += (OTHER,)
            tell(OTHER)
    report = replace(report, notes=notes)
    if not interleaved and not report.bound:
        report = replace(report, tested=_tells_apart(audit))
    if audit.folder is not None:
        kept.write_report(audit.folder, report.to_dict())
    return report


def _looked(audit: Audit, counting: Counting) -> AuditReport:
    """Return the report of the look that ends an audit: of its whole, unless it may end early."""
    for look in looks.parts(audit):
        found = search(counting, look)
        report = _report(look, found, None if found is None else _bounding(counting, look, found), counting)
        if looks.is_enough(audit, report):
            break
    if audit.until is None:
        return report
    return replace(report, level=audit.level, planned=audit.trials, until=audit.until, failure=look.failure)


def _damages(journal: Any) -> Iterator[str]:
    """Yield one line for each journal file with damaged records."""
    for name, count in journal.damaged.items():
        yield f"journal/{name}: {count} damaged records; their chunks are drawn again"


def _notes(audit: Audit, reproducible: bool, known: bool) -> Iterator[str]:
    """Yield the notices about claim, reproducibility and resuming that are printed before the audit."""
    if line := claims.warning(audit.measure, audit.trials, audit.failure):
        yield line
    if not reproducible:
        yield INTERLEAVED
    if not known and audit.folder is not None:
        yield "the mechanism cannot be identified (no name or source, or not only plain data): nothing is resumed"


def _reproducible(audit: Audit) -> bool:
    """Return True if calls with the same input and random stream give the same outputs, whatever came between them."""
    pair = audit.pairs[0]
    stream = stage_streams("again", pair)[0]
    found, inputs = [], sampling.fingerprint(pair)
    try:
        for data in (pair.data, pair.other, pair.data):
            found.append(outputs.called(audit.sampler, data, generator(audit.seed, stream, 0), CHECKED))
    except Exception as problem:  # a mechanism may raise anything
        raise UserError(f"the mechanism cannot be audited: pair 0, pilot: {sampling.said(problem)}") from None
    if sampling.fingerprint(pair) != inputs:
        raise UserError(f"the mechanism cannot be audited: {sampling.MUTATES}")
    return outputs.same(found[0], found[2])


def _tells_apart(audit: Audit) -> bool:
    """Return True if the two inputs of some pair give different outputs from the same random stream."""
    last = min(audit.trials // COMPARED, MOST_COMPARED) // sampling.BLOCK
    return any(_differ(audit, pair, block) for block in range(last + 1) for pair in audit.pairs)


def _differ(audit: Audit, pair: sampling.Pair, block: int) -> bool:
    """Return True if both inputs give different outputs from the same random stream, of one block."""
    stream = stage_streams("compare", pair)[0]
    trials = CHECKED if block == 0 else sampling.BLOCK
    one, other = (
        outputs.called(audit.sampler, data, generator(audit.seed, stream, block), trials)
        for data in (pair.data, pair.other)
    )
    return not outputs.same(one, other)


def _bounding(counting: Counting, audit: Audit, found: Chosen) -> Counts:
    """Count the fresh outputs that the bound is computed from."""

    def shows(counts: Counts) -> str:
        return f"{audit.measure.words} >= {_bound(audit, found, counts):.4g} so far"

    return counting.count("bound", found.pair, found.counted, audit.trials, shows)


def _cells(counts: Counts) -> tuple[Any, Any]:
    """Return the cell counts of the first column, for both inputs."""
    return counts.cells[0][0], counts.cells[1][0]


def _hits(event: Event, counts: Counts) -> tuple[int, int]:
    """Return how many outputs of each input lie in the event."""
    first, second = (int(cells[1 if event.upper else 0]) for cells in _cells(counts))
    return first, second


def _bound(audit: Audit, found: Chosen, counts: Counts) -> float:
    """Return the confidence bound that the counts give."""
    if isinstance(found.test, Event):
        return events.bound(audit.measure, found.test, _hits(found.test, counts), counts.trials, audit.failure)
    return moments.bound(audit.measure, found.test, _cells(counts), audit.failure)


def _violation(audit: Audit, found: Chosen, counts: Counts) -> tuple[float, bool]:
    """Return the smallest true value at which the expected counts would have refuted the claim, NaN without a claim.

    The flag says whether this would have happened at twice the claim.
    """
    one = audit.measure
    if one.claimed == np.inf:
        return float("nan"), True
    if isinstance(found.test, Event):
        hits = _hits(found.test, counts)
        value, double = events.least_found(one, found.test, hits, counts.trials, audit.failure)
    else:
        cells = _cells(counts)
        value = one.claimed + moments.estimate(one, found.test, cells)
        value -= moments.shown(one, found.test, cells, audit.failure)
        double = value <= 2 * one.claimed
    return value, bool(double or one.claimed == 0)


def _report(audit, found: Chosen | None, counts: Counts | None, counting: Counting) -> AuditReport:
    """Return the report on the chosen test, or on the lack of one."""
    report = AuditReport(
        audit.measure.words, audit.claim, audit.level, audit.trials, audit.seed, relation=audit.relation,
        tried=audit.tried, ordinary=audit.ordinary, drawn=counting.drawn, resumed=counting.resumed, notes=(),
        folder=audit.folder, reproducible=not counting.drawing.interleaved,
    )  # fmt: skip
    if found is None or counts is None:
        planned = sizes(audit.trials, len(audit.pairs))
        chose = f"none: all {planned.choose + planned.further:,} outputs that could choose one are the same"
        none = float("nan") if audit.claim is None else np.inf
        unseen = audit.claim is None or audit.measure.claimed == 0
        return replace(report, event=f"{chose}; rarer ones are not seen", violation=none, finds_double=unseen)
    bound, test, seen = _bound(audit, found, counts), found.test, found.seen.cells
    event = test if isinstance(test, Event) else None
    violation, double = _violation(audit, found, counts)
    return replace(
        report, bound=bound, refuted=bound > audit.measure.claimed, violation=violation, finds_double=double,
        pair=(found.pair.data, found.pair.other), pair_index=found.pair.index, event=test.words,
        holds=Holds(event, counting.drawing.read) if event else None,
        toward="first" if test.first else "second", counts=_cells(counts),
        hits=_hits(event, counts) if event else (counts.trials, counts.trials),
        scores=Scores(test.score.words, found.edges, seen[0][0], seen[1][0]),
    )  # fmt: skip
