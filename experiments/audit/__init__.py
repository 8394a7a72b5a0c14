"""Audits of our own claims: answers, selections and other methods, as promised and with a planted bug."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd

from tcdp_sim.audits import claims, events, moments
from tcdp_sim.experiments.audit.drawing import figures
from tcdp_sim.experiments.audit.histograms import Outputs, outputs
from tcdp_sim.mechanisms.audit import SAMPLES, Audit
from tcdp_sim.mechanisms.audited import AuditedRelease
from tcdp_sim.privacy.relation import written
from tcdp_sim.report.tables import terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

LEVEL = 0.95
_ALL = f"level {LEVEL} for all together"
SHARE = 1 - LEVEL  # failure probability of a whole table, which its cells share
LABELS = ("algorithm", "method", "rho", "omega", "delta", "shift", "guarantee", "trials")

__all__ = ["UNKNOWN", "figures", "report", "rows"]

_SAMPLES = "a trial is a loss, or the label of an output; an audit uses no law of them, which would beg its question"
UNKNOWN = {part(name): _SAMPLES for name in SAMPLES for part in (columns.mean, columns.quantile)}


def rows(cell: Cell) -> Iterator[Row]:
    """Yield the audit of a cell (bound, verdict, event, hits on both neighbours), then the rows of the figure's curves.

    - `bound`: the lower bound on `measure`. The bounds of the table hold together at confidence level 0.95.
    - `planted`: True if the answers move further than the guarantee allows for, or a method has its bug.
    - `bug`: the planted bug of a method in words, whether it is planted or not.
    - `likely`, `rare`: hits in `trials` on the neighbour that makes the event likelier, and on the other one.
    - `threshold`, `upper`: the event is {score >= threshold} if `upper`, else {score < threshold}.
    - `share_first`, `share_second`: the shares of outputs beyond `threshold_at`, in the rows with trials = 0.
    """
    mechanism = cast(Audit, cell.mechanism)
    row = cell.only(*LABELS) | cell.noise
    row |= {"noise": cell.get("noise"), "cell": cell.place, "name": _name(cell)} | _planted(cell, mechanism)
    label = ("output" if row["bug"] else "selected") if mechanism.labels else ""
    found = outputs(cell, label)
    row |= _audited(mechanism.guarantee, found, int(cell["trials"]), SHARE / cell.total)
    yield row
    yield from (row | {"trials": 0} | point for point in _curve(found))


def _name(cell: Cell) -> str:
    label = cell.noise["noise_label"].partition(" (")[0] if cell.get("noise") else ""
    names = [cell.get(axis) for axis in ("algorithm", "method")]
    return ", ".join(filter(None, [*(name for name in names if isinstance(name, str)), label]))


def _planted(cell: Cell, mechanism: Audit) -> Row:
    """Return whether a bug is planted in a cell, the bug of a method in words, and the neighbouring relation."""
    release = mechanism.release
    if isinstance(release, AuditedRelease):
        method = release.method
        return {"planted": release.planted, "bug": method.bug, "neighbours": written(method.neighbours)}
    return {"planted": cell["shift"] > 1, "bug": "", "neighbours": written(mechanism.neighbours)}


def _audited(claim, found: Outputs, trials: int, failure: float) -> dict[str, Any]:
    one = claims.measure(claim)
    value, event = events.best(one, found.score, found.choosing, trials, failure)
    row = {"measure": one.words, "claimed": one.claimed, "bound": 0.0, "likely": 0, "rare": 0}
    row |= {"threshold": np.nan, "upper": True, "event": "none: all outputs are the same"}
    if event is not None:
        hits = found.hits(event)
        likely, rare = hits if event.first else hits[::-1]
        row |= {"bound": events.bound(one, event, hits, trials, failure), "likely": likely, "rare": rare}
        row |= {"threshold": event.threshold, "upper": event.upper, "event": found.words(event)}
    if one.orders and event is not None:
        row |= _by_moments(one, found, trials, failure, value)
    return row | {"refuted": cast(float, row["bound"]) > one.claimed}


def _by_moments(one, found: Outputs, trials: int, failure: float, value: float) -> dict[str, Any]:
    """Return the bound from a moment of the score, or {} if the choosing sample expects no more of it than `value`."""
    larger, moment = moments.best(one, found.score, found.choosing.values, found.choosing_cells, trials, failure)
    if moment is None or larger <= value:
        return {}
    bound = moments.bound(one, moment, found.cells(moment.edges), failure)
    return {"bound": bound, "event": f"Renyi divergence of order {moment.order:.4g}, by losses in cells"}


def _curve(found: Outputs) -> Iterator[Row]:
    """Yield the shares of the outputs beyond some of the thresholds, for the figure."""
    tested = found.testing
    if len(tested.values):
        for i in np.unique(np.linspace(0, len(tested.values) - 1, 80).astype(int)):
            shares = {"share_first": tested.first[i] / tested.trials, "share_second": tested.second[i] / tested.trials}
            yield {"threshold_at": float(tested.values[i])} | shares


def report(table: pd.DataFrame, console) -> None:
    """Print the verdicts. No claim may be refuted, and every planted bug must be."""
    cells = table[table["trials"] > 0]
    answers, methods = cells[cells["bug"] == ""], cells[cells["bug"] != ""]
    if len(answers):
        headings = ("audited", "moved by", "at least", "claimed", "verdict")
        texts = [[row["name"], f"{row['shift']:g}", *_verdict(row)] for row in answers.to_dict("records")]
        console.print(terminal_table(f"Claims, audited ({_ALL})", headings, texts), soft_wrap=False)
    if len(methods):
        headings = ("audited", "planted bug", "at least", "claimed", "verdict")
        together = methods.sort_values("name", key=lambda names: pd.factorize(names)[0], kind="stable")
        texts = [[row["name"], row["bug"] * row["planted"], *_verdict(row)] for row in together.to_dict("records")]
        console.print(terminal_table(f"Methods, audited ({_ALL})", headings, texts), soft_wrap=False)
    wrong = cells[cells["refuted"] & ~cells["planted"]]
    found = cells[cells["refuted"] & cells["planted"]]
    console.print(
        f"{len(wrong)} of {(~cells['planted']).sum()} claims are refuted; "
        f"{len(found)} of {cells['planted'].sum()} planted bugs are found."
    )


def _verdict(row: Mapping[Any, Any]) -> list[str]:
    return [f"{row['bound']:.4g}", f"{row['claimed']:.4g}", "REFUTED" if row["refuted"] else "stands"]
