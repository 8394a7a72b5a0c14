"""The simulated privacy losses of one record, as rows with exact and printed values."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.experiments.per_record.series import records
from tcdp_sim.experiments.per_record_policy.exact_values import (
    LOSS,
    PROFILE,
    RENYI,
    TAIL,
    label,
    largest_loss,
    policy,
)
from tcdp_sim.mechanisms.per_record_loss import PerRecordLoss
from tcdp_sim.mechanisms.record_axes import WORDS
from tcdp_sim.results.cells import divergence_interval
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

OBSERVABLES = {"mean": "privacy_loss", "tail": "loss_tail", "profile": "hockey_stick", "divergence": "renyi_excess"}
PUBLISHED = {"mean": LOSS, "tail": TAIL, "profile": PROFILE, "divergence": RENYI}
AXES = ("release", "power", "rate", "population", "accounting", "delta", "guarantee")
NOTE = "Influences read off the records are confidential: policies at them are an illustration, not to be released."


def labels(cell: Cell) -> Row:
    """Return the columns that describe a cell's release; `note` is set if it depends on confidential records."""
    words = [cell.get(name) for name in ("influence", "influence_low", "influence_high")]
    note = NOTE if any(isinstance(word, str) and word in WORDS for word in words) else ""
    return cell.only(*AXES) | {"label": label(cell.mechanism.release), "note": note}


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each simulated number of a cell.

    - `quantity`: "mean" of the loss, "tail" P[L > at], "profile" delta(at), or "divergence" of order `at`, in nats.
    - `simulated`, `mcse`, `lower`, `upper`, `exact`, `bound`: its values; `bound` is the printed one.
    - `t`: the influence.
    - `printed`, `policy`: the printed and the exact zCDP of the record.
    - `pure`: the largest loss of the record.
    """
    release, t = cell.mechanism.release, cell.mechanism.influence
    about = labels(cell) | {"influence": cell["influence"], "t": t, "trials": cell["trials"]}
    about |= {"pure": largest_loss(release, t), "policy": policy(release, t), "printed": float(release.policy(t))}
    for quantity, at, numbers in _simulated(cell):
        row = about | {"quantity": quantity, "at": at} | dict(zip(NUMBERS, numbers))
        for name, ending in (("exact", columns.EXACT), ("bound", columns.BOUND)):
            row[name] = cell.get(PUBLISHED[quantity] + ending, np.nan)
        yield row | {"skewness": cell.skewness(OBSERVABLES[quantity])}


def suprema(rows: list[Row]) -> Iterator[Row]:
    """Yield the largest simulated divergence over its order, for each release and influence."""
    table = pd.DataFrame([row for row in rows if row["quantity"] == "divergence" and np.isfinite(row["simulated"])])
    if not len(table):
        return
    table = table.assign(**{name: table[name] / table["at"] for name in (*NUMBERS, "exact", "bound")})
    for _, group in table.groupby(["label", "t"], sort=False):
        best = records(group.nlargest(1, "simulated"))[0]
        yield best | {"quantity": "supremum", "on_grid": group["exact"].max(), "exact": np.nan, "skewness": np.nan}


def _simulated(cell: Cell) -> Iterator[tuple[str, float, tuple[float, ...]]]:
    """Yield quantity, argument and (estimate, MCSE, lower, upper) for the numbers that a cell simulated."""
    mechanism: PerRecordLoss = cell.mechanism
    if mechanism.epsilon is not None:
        for quantity in ("tail", "profile"):
            estimate, mcse, low, high = cell.mean(OBSERVABLES[quantity])
            yield quantity, mechanism.epsilon, (estimate, mcse, max(low, 0.0), min(high, 1.0))
    if mechanism.order is not None:
        yield "divergence", mechanism.order, divergence_interval(cell, mechanism.order, mechanism.largest)
    if mechanism.epsilon is None and mechanism.order is None:
        yield "mean", np.nan, cell.mean("privacy_loss")
