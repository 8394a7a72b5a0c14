"""Audits of an exhibit's two versions, from outputs alone."""

import json
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tcdp_sim
from museum.exhibit import Exhibit
from tcdp_sim.audits import AuditReport

POINTS = 80  # of a trade-off curve that is kept for the figure


@dataclass(frozen=True)
class Outcome:
    """What an audit of one version has shown.

    - measure: the bounded number in words, such as "epsilon"
    - bound: its lower confidence bound
    - hits: outputs of both inputs in the event, out of `trials` each
    - drawn: outputs of each input in all stages of the audit
    - cpu: the CPU seconds of the audit, with all its draws
    - type_one, power: upper ends of type I errors and lower ends of powers of the score's tests, which hold together
    """

    claim: str
    measure: str
    bound: float
    refuted: bool
    event: str
    hits: tuple[int, int]
    trials: int
    level: float
    drawn: int
    cpu: float
    type_one: tuple[float, ...] = ()
    power: tuple[float, ...] = ()


Version = Literal["broken", "repaired"]


def audit(
    exhibit: Exhibit, which: Version, trials: int, level: float, seed: int, until: str | None = None
) -> AuditReport:
    """Audit a version of an exhibit in this process and return the report."""
    mechanism, claim = exhibit.case(which)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries warn of deprecated names and of underflow
        return tcdp_sim.audit(
            mechanism, neighbours=exhibit.neighbours, claim=claim, trials=trials, level=level, seed=seed,
            bits=exhibit.bits, learn=False, until=until,
        )  # fmt: skip


def measured(
    exhibit: Exhibit, which: Version, scale: float, level: float, seed: int, until: str | None = None
) -> Outcome:
    """Audit a version with `scale` times the exhibit's trials, and return the outcome with its CPU time."""
    start = time.process_time()
    report = audit(exhibit, which, max(int(exhibit.trials * scale), 100), level, seed, until)
    return outcome(report, time.process_time() - start)


def outcome(report: AuditReport, cpu: float) -> Outcome:
    """Return what the table needs of a report."""
    type_one, power = _proved(report)
    return Outcome(
        claim=str(report.claim), measure=report.measure, bound=report.bound, refuted=report.refuted, event=report.event,
        hits=report.hits, trials=report.trials, level=report.level, drawn=report.drawn, cpu=cpu, type_one=type_one,
        power=power,
    )  # fmt: skip


def _proved(report: AuditReport) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return upper ends of type I errors and lower ends of powers, for at most POINTS tests of the score."""
    found = report.tradeoff
    if found is None:
        return (), ()
    chosen = np.unique(np.linspace(0, len(found.alpha) - 1, POINTS).astype(int))
    ends = found.alpha_upper[chosen], 1 - found.beta_upper[chosen]
    return tuple(tuple(float(f"{x:.4g}") for x in end) for end in ends)


def keep(folder: Path, name: str, outcomes: dict[str, Outcome]) -> None:
    """Write the outcomes of an exhibit into its file."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({which: asdict(each) for which, each in outcomes.items()}, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", "utf-8")


def kept(folder: Path, name: str) -> dict[str, Outcome] | None:
    """Return the stored outcomes of an exhibit, or None."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    stored: dict[str, Any] = json.loads(path.read_text("utf-8"))
    lists = ("hits", "type_one", "power")
    return {which: Outcome(**{**each, **{x: tuple(each[x]) for x in lists}}) for which, each in stored.items()}
