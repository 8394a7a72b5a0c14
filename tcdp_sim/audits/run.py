"""An audit from its arguments to its report."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_sim.audits import claims, events, kept, moments, pairs, sampling
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.counting import Counting, stage_streams
from tcdp_sim.audits.events import Event
from tcdp_sim.audits.identity import identity
from tcdp_sim.audits.report import AuditReport, Scores
from tcdp_sim.audits.sampling import Counts, Pair
from tcdp_sim.audits.search import Chosen, Scoring, search
from tcdp_sim.engine import clusters
from tcdp_sim.errors import UserError, real, whole
from tcdp_sim.log import Tell
from tcdp_sim.privacy import Guarantee

LEAST, MOST = 100, 10**12
MAX_SEED = 2**128
CHECKED = 50  # outputs that are drawn twice, to see whether they are the same


@dataclass(frozen=True, eq=False)
class Audit:
    """Checked arguments."""

    sampler: Callable[..., Any]
    pairs: list[Pair]
    claim: Guarantee | None
    measure: Measure
    trials: int
    level: float
    seed: int
    scoring: Scoring
    folder: Path | None

    @property
    def doubt(self) -> float:
        """The probability with which the bound may be too large."""
        return 1 - self.level


def checked(
    mechanism: Any,
    given: Any,
    claim: Any,
    trials: Any,
    level: Any,
    seed: Any,
    sensitivity: Any,
    learn: bool,
    bits: bool,
    name: str | None,
    results_dir: str | Path,
) -> Audit:
    """The arguments of `tcdp_sim.audit`, each once it is known to be valid. Raises UserError."""
    if not callable(mechanism):
        raise UserError(f"{mechanism!r} is no mechanism; valid: a function mechanism(data, rng, trials) -> outputs")
    try:
        trials, seed = whole("trials", trials, LEAST, MOST), whole("seed", seed, 0, MAX_SEED - 1)
        level = real("level", level, 0, 1)
        sensitivity = None if sensitivity is None else real("sensitivity", sensitivity, 0)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    folder = None if name is None else Path(results_dir) / _folder_name(name)
    scoring = Scoring(getattr(mechanism, "log_likelihood_ratio", None), bool(learn), bool(bits))
    measure = claims.measure(claim)
    listed = pairs.checked(given, sensitivity)
    return Audit(vectorised(mechanism), listed, claim, measure, trials, level, seed, scoring, folder)


def _folder_name(name: Any) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[\w-][\w.-]{0,99}", name):
        raise UserError(f"name = {name!r} is not valid; valid: letters, digits, '.', '_' and '-', at most 100")
    return name


def vectorised(mechanism: Callable[..., Any]) -> Callable[..., Any]:
    """The mechanism itself; one of two arguments, (data, rng) -> one output, is called for each trial."""
    try:
        needed = [each for each in inspect.signature(mechanism).parameters.values() if each.default is each.empty]
    except (ValueError, TypeError):
        return mechanism
    needed = [each for each in needed if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return partial(_one_by_one, mechanism) if len(needed) == 2 else mechanism


def _one_by_one(mechanism: Callable[..., Any], data: Any, rng: np.random.Generator, trials: int) -> Any:
    return np.array([mechanism(data, rng) for _ in range(trials)])


def run(audit: Audit, cluster: str | Mapping[str, Any], tell: Tell) -> AuditReport:
    """Search, bound, and say what was found. Raises UserError."""
    spec = {"name": cluster} if isinstance(cluster, str) else dict(cluster)
    clusters.worker_count(spec)
    notes: list[str] = []

    def say(line: str) -> None:
        notes.append(line)
        tell(line)

    if line := claims.warning(audit.measure, audit.trials, audit.doubt):
        say(line)
    reproducible = _reproducible(audit)
    if not reproducible:
        say("the mechanism is not a function of its rng: the same seed gives other outputs; not reproducible")
    known = identity(audit.sampler)
    if known is None and audit.folder is not None:
        say("the mechanism has no name or source to know it by, or carries more than plain data: nothing is resumed")
    resumes = audit.folder if reproducible and known is not None else None
    with kept.opened(resumes) as journal, clusters.connect(spec, tell=tell) as executor:
        counting = Counting(executor, journal, audit.sampler, known, audit.seed)
        found = search(
            counting,
            audit.sampler,
            audit.pairs,
            audit.measure,
            audit.trials,
            audit.doubt,
            audit.seed,
            audit.scoring,
        )
        counts = None if found is None else _bounding(counting, audit, found)
    report = _report(audit, found, counts, counting, reproducible, notes)
    if audit.folder is not None:
        kept.write_report(audit.folder, report.about())
    return report


def _reproducible(audit: Audit) -> bool:
    pair = audit.pairs[0]
    stream = stage_streams("again", pair)[0]
    try:
        twice = [next(sampling.drawn(audit.sampler, pair.data, stream, audit.seed, 0, CHECKED)) for _ in range(2)]
    except Exception as problem:  # whatever a mechanism may raise
        raise UserError(f"the mechanism cannot be audited: pair 0, pilot: {sampling.said(problem)}") from None
    return twice[0].tobytes() == twice[1].tobytes()


def _bounding(counting: Counting, audit: Audit, found: Chosen) -> Counts:
    def shows(counts: Counts) -> str:
        return f"{audit.measure.words} >= {_bound(audit, found, counts):.4g} so far"

    return counting.count("bound", found.pair, found.counted, audit.trials, shows)


def _cells(counts: Counts) -> tuple[Any, Any]:
    return counts.cells[0][0], counts.cells[1][0]


def _hits(event: Event, counts: Counts) -> tuple[int, int]:
    first, second = (int(cells[1 if event.upper else 0]) for cells in _cells(counts))
    return first, second


def _bound(audit: Audit, found: Chosen, counts: Counts) -> float:
    if isinstance(found.test, Event):
        return events.bound(audit.measure, found.test, _hits(found.test, counts), counts.trials, audit.doubt)
    return moments.bound(audit.measure, found.test, _cells(counts), audit.doubt)


def _violation(audit: Audit, found: Chosen, counts: Counts) -> float:
    """The smallest number at which the expected counts would have refuted the claim, were the rest as it was seen."""
    if audit.measure.claimed == np.inf:
        return float("nan")
    if isinstance(found.test, Event):
        hits = _hits(found.test, counts)
        return events.least_found(audit.measure, found.test, hits, counts.trials, audit.doubt)
    estimate = moments.estimate(audit.measure, found.test, _cells(counts))
    return audit.measure.claimed + estimate - _bound(audit, found, counts)


def _report(audit, found: Chosen | None, counts: Counts | None, counting: Counting, reproducible, notes) -> AuditReport:
    common: dict[str, Any] = dict(
        measure=audit.measure.words,
        claim=audit.claim,
        level=audit.level,
        trials=audit.trials,
        seed=audit.seed,
        drawn=counting.drawn,
        resumed=counting.resumed,
        reproducible=reproducible,
        notes=tuple(notes),
        folder=audit.folder,
    )
    if found is None or counts is None:
        none = np.zeros(0, np.int64)
        return AuditReport(
            bound=0.0,
            refuted=False,
            violation=float("nan"),
            pair=None,
            pair_index=-1,
            holds=None,
            toward="",
            event="none: all outputs are the same",
            hits=(0, 0),
            counts=(none, none),
            scores=None,
            **common,
        )
    bound, test, seen = _bound(audit, found, counts), found.test, found.seen.cells
    event = test if isinstance(test, Event) else None
    return AuditReport(
        bound=bound,
        refuted=bound > audit.measure.claimed,
        violation=_violation(audit, found, counts),
        pair=(found.pair.data, found.pair.other),
        pair_index=found.pair.index,
        event=test.words,
        holds=event,
        toward="first" if test.first else "second",
        hits=_hits(event, counts) if event else (counts.trials, counts.trials),
        counts=_cells(counts),
        scores=Scores(test.score.words, found.edges, seen[0][0], seen[1][0]),
        **common,
    )
