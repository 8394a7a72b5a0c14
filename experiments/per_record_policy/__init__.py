"""The privacy loss of each record: the printed policy of a release, the exact policy, and simulated losses."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.experiments.per_record.series import record_values, records
from tcdp_sim.experiments.per_record_policy import looseness
from tcdp_sim.experiments.per_record_policy.drawing import figures
from tcdp_sim.experiments.per_record_policy.exact_values import (
    BOUND,
    EXACT,
    UNITS,
    UNKNOWN,
    delta,
    epsilon,
    largest_loss,
    policy,
)
from tcdp_sim.experiments.per_record_policy.simulated import labels, rows, suprema
from tcdp_sim.mechanisms.per_record_loss import PerRecordLoss
from tcdp_sim.per_record import Release
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import NUMBERS, Cell, Row

__all__ = ["BOUND", "EXACT", "UNITS", "UNKNOWN", "figures", "known", "report", "rows"]

FINE = 30  # points of the exact curves
DELTA = 1e-6  # profiles are compared at this delta


RELATION = "add-remove"


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield the suprema over orders and, without trials, the exact curves and the records.

    - "supremum": the largest simulated divergence over its order, which is `at`.
    - "curve": the printed and the exact policy over t.
    - "profile_curve": the exact delta(at).
    - "epsilon": the exact epsilon at delta = `at`.
    - "record": `count` records have the value `t`.
    - "looseness": printed over exact policy of unit noise whose largest loss is `pure`.
    """
    yield from suprema(rows)
    releases = {cell.mechanism.release: labels(cell) for cell in cells}
    sizes = [cell.mechanism.influence for cell in cells]
    yield from _curves(releases, min(sizes), max(sizes))
    yield from _profiles(releases, [cell.mechanism for cell in cells])
    yield from _records(cells)
    yield from (row | {"quantity": "looseness", "trials": 0} for row in looseness.rows())


def _curves(releases: dict[Release, dict[str, Any]], low: float, high: float) -> Iterator[dict[str, Any]]:
    """Yield the printed and exact policy of each release, and its largest loss, over the simulated influences."""
    for release, about in releases.items():
        for t in np.geomspace(low, high, FINE if low < high else 1).tolist():
            values = {"printed": float(release.policy(t)), "policy": policy(release, t)}
            yield about | {"quantity": "curve", "t": t, "trials": 0, "pure": largest_loss(release, t)} | values


def _profiles(releases: dict[Release, dict[str, Any]], mechanisms: list[PerRecordLoss]) -> Iterator[dict[str, Any]]:
    """Yield the exact delta(epsilon) for each simulated release and influence, and epsilon at DELTA."""
    seen: dict[tuple[Release, float], list[float]] = {}
    for mechanism in mechanisms:
        if mechanism.epsilon is not None:
            seen.setdefault((mechanism.release, mechanism.influence), []).append(mechanism.epsilon)
    for (release, t), epsilons in seen.items():
        about = releases[release] | {"t": t, "trials": 0, "printed": float(release.policy(t))}
        for at in _epsilon_grid(min(epsilons), max(epsilons), largest_loss(release, t)):
            yield about | {"quantity": "profile_curve", "at": at, "exact": delta(release, t, at)}
        yield about | {"quantity": "epsilon", "at": DELTA, "exact": epsilon(release, t, DELTA)}


def _epsilon_grid(low: float, high: float, largest: float) -> list[float]:
    """Return a log-uniform grid that is dense below the largest loss, where delta falls to 0."""
    near = largest * (1 - np.geomspace(1e-9, 0.9, FINE)) if largest < np.inf else np.zeros(0)
    grid = np.unique(np.concatenate([np.geomspace(low, high, FINE), near]))
    return [float(at) for at in grid if low <= at <= high]


def _records(cells: list[Cell]) -> Iterator[Row]:
    """Yield the records of the populations whose influences the cells have."""
    names = {cell.get("population") for cell in cells}
    for name in sorted(name for name in names if isinstance(name, str) and name):
        values, counts = record_values(cells[0].run, name)
        for t, count in zip(values.tolist(), counts.tolist()):
            yield {"quantity": "record", "population": name, "t": t, "count": count, "trials": 0}


def report(table: pd.DataFrame, console: Any) -> None:
    """Print the policies of every release, the largest factor between printed and exact, and epsilon at one delta."""
    for name, part in table[table["quantity"] == "supremum"].groupby("label", sort=False):
        rows = map(_terminal_row, records(part.sort_values("t")))
        headings = ("t", "printed", "exact", "simulated", "±", "order", "printed/exact")
        console.print(terminal_table(f"{name}: zCDP of one record (nats)", headings, rows), soft_wrap=False)
    curve = table[table["quantity"] == "curve"]
    if len(curve):
        worst = records(curve.assign(factor=curve["printed"] / curve["policy"]).nlargest(1, "factor"))[0]
        factor = f"{worst['factor']:.3g} times the exact one"
        console.print(f"Largest gap here: at t = {worst['t']:.4g} the policy printed for {worst['label']} is {factor}.")
    epsilons = table[table["quantity"] == "epsilon"]
    for t, part in epsilons.groupby("t"):
        texts = ([row["label"], f"{row['printed']:.4g}", f"{row['exact']:.5g}"] for row in records(part))
        title = f"(ε, {DELTA:g})-DP of a record of influence t = {t:.4g}"
        console.print(terminal_table(title, ("release", "printed zCDP", "exact ε"), texts), soft_wrap=False)
    for note in filter(None, table["note"].dropna().unique()):
        console.print(note)
    drawn = table[(table["trials"] > 0) & (table["quantity"] != "supremum")]
    console.print(agreement("value", *(drawn[name] for name in (*NUMBERS, "exact")), things="numbers"))


def _terminal_row(row: dict[str, Any]) -> list[str]:
    numbers = [f"{row[key]:.4g}" for key in ("t", "printed", "policy", "simulated")]
    return [*numbers, f"{row['mcse']:.1g}", f"{row['at']:.4g}", f"{row['printed'] / row['policy']:.3g}"]
