"""An audit from its checked arguments to its report."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tcdp_sim.audits import claims, events, kept, moments, sampling
from tcdp_sim.audits.arguments import Audit
from tcdp_sim.audits.counting import Changed, Counting, stage_streams
from tcdp_sim.audits.events import Event
from tcdp_sim.audits.report import AuditReport, Scores
from tcdp_sim.audits.sampling import Counts
from tcdp_sim.audits.search import Chosen, search, sizes
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.identity import identity
from tcdp_sim.core.log import Tell
from tcdp_sim.engine import clusters
from tcdp_sim.engine.schedule import Executor

NOT_REPRODUCIBLE = (
    "a mechanism that is not a function of its rng: every worker would copy the mechanism's own generator and repeat it"
)
CHANGED = (
    "the mechanism's outputs differ from the kept ones although its source is the same (its environment, a file or a "
    "library has changed): the kept counts are discarded and drawn again"
)
OTHER = "the counts in this folder belong to another mechanism, source, seed or size: none of them is used"
CHECKED = 50  # outputs that are drawn twice to test reproducibility


def run(audit: Audit, cluster: str | Mapping[str, Any], tell: Tell) -> AuditReport:
    """Run an audit on a cluster and return its report; `tell` gets every notice. Raises UserError."""
    spec = {"name": cluster} if isinstance(cluster, str) else dict(cluster)
    clusters.worker_count(spec)
    reproducible, known = _reproducible(audit), identity(audit.sampler)
    if not reproducible and spec["name"] != "serial":
        raise UserError(f"cluster = {spec['name']!r} is not valid for {NOT_REPRODUCIBLE}; valid: cluster='serial'")
    notes = tuple(_notes(audit, reproducible, known is not None))
    for line in notes:
        tell(line)
    resumes = audit.folder if reproducible and known is not None else None
    with kept.opened(resumes) as journal, clusters.connect(spec, tell=tell) as executor:
        notes += tuple(said := list(_damages(journal)))
        for line in said:
            tell(line)
        try:
            counting, found, counts = _counted(audit, executor, journal, known)
        except Changed:
            journal.discard()
            notes += (CHANGED,)
            tell(CHANGED)
            counting, found, counts = _counted(audit, executor, journal, known)
        if journal.before and not counting.resumed and CHANGED not in notes:
            notes += (OTHER,)
            tell(OTHER)
    report = _report(audit, found, counts, counting, reproducible, notes)
    if audit.folder is not None:
        kept.write_report(audit.folder, report.about())
    return report


def _counted(audit: Audit, executor: Executor, journal: Any, known: Any) -> tuple[Counting, Chosen | None, Any]:
    """Return the counting driver, the chosen test and the test's counts (None without a test)."""
    counting = Counting(executor, journal, audit.sampler, known, audit.seed)
    found = search(counting, audit)
    return counting, found, None if found is None else _bounding(counting, audit, found)


def _damages(journal: Any) -> Iterator[str]:
    """Yield one line for each journal file with damaged records."""
    for name, count in journal.damaged.items():
        yield f"journal/{name}: {count} damaged records; their chunks are drawn again"


def _notes(audit: Audit, reproducible: bool, known: bool) -> Iterator[str]:
    """Yield the notices about claim, reproducibility and resuming that are printed before the audit."""
    if line := claims.warning(audit.measure, audit.trials, audit.doubt):
        yield line
    if not reproducible:
        yield "the mechanism is not a function of its rng: the same seed gives other outputs; not reproducible"
    if not known and audit.folder is not None:
        yield "the mechanism cannot be identified (no name or source, or not only plain data): nothing is resumed"


def _reproducible(audit: Audit) -> bool:
    """Return True if two calls of the mechanism with the same random stream give the same outputs."""
    pair = audit.pairs[0]
    stream = stage_streams("again", pair)[0]
    try:
        twice = [next(sampling.drawn(audit.sampler, pair.data, stream, audit.seed, 0, CHECKED)) for _ in range(2)]
    except Exception as problem:  # a mechanism may raise anything
        raise UserError(f"the mechanism cannot be audited: pair 0, pilot: {sampling.said(problem)}") from None
    return twice[0].tobytes() == twice[1].tobytes()


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
        return events.bound(audit.measure, found.test, _hits(found.test, counts), counts.trials, audit.doubt)
    return moments.bound(audit.measure, found.test, _cells(counts), audit.doubt)


def _violation(audit: Audit, found: Chosen, counts: Counts) -> float:
    """Return the smallest true value at which the expected counts would have refuted the claim.

    The counts of the rarer input are taken as observed. The value is NaN without a claim.
    """
    if audit.measure.claimed == np.inf:
        return float("nan")
    if isinstance(found.test, Event):
        hits = _hits(found.test, counts)
        return events.least_found(audit.measure, found.test, hits, counts.trials, audit.doubt)
    estimate = moments.estimate(audit.measure, found.test, _cells(counts))
    return audit.measure.claimed + estimate - moments.shown(audit.measure, found.test, _cells(counts), audit.doubt)


def _report(audit, found: Chosen | None, counts: Counts | None, counting: Counting, reproducible, notes) -> AuditReport:
    report = AuditReport(
        audit.measure.words, audit.claim, audit.level, audit.trials, audit.seed,
        drawn=counting.drawn, resumed=counting.resumed, reproducible=reproducible, notes=notes, folder=audit.folder,
    )  # fmt: skip
    if found is None or counts is None:
        planned = sizes(audit.trials, len(audit.pairs))
        chose = f"none: all {planned.choose + planned.further:,} outputs that could choose one are the same"
        return replace(report, event=f"{chose}; rarer ones are not seen")
    bound, test, seen = _bound(audit, found, counts), found.test, found.seen.cells
    event = test if isinstance(test, Event) else None
    return replace(
        report, bound=bound, refuted=bound > audit.measure.claimed, violation=_violation(audit, found, counts),
        pair=(found.pair.data, found.pair.other), pair_index=found.pair.index, event=test.words, holds=event,
        toward="first" if test.first else "second", counts=_cells(counts),
        hits=_hits(event, counts) if event else (counts.trials, counts.trials),
        scores=Scores(test.score.words, found.edges, seen[0][0], seen[1][0]),
    )  # fmt: skip
