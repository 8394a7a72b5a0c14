"""What the cells simulated of the losses of one record, as rows beside what is known and printed."""

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
from tcdp_sim.mechanisms import PerRecordLoss
from tcdp_sim.mechanisms.record_axes import WORDS
from tcdp_sim.results import NUMBERS, Cell, Row, divergence_interval
from tcdp_sim.store import columns

OBSERVABLES = {"mean": "privacy_loss", "tail": "loss_tail", "profile": "hockey_stick", "divergence": "renyi_excess"}
PUBLISHED = {"mean": LOSS, "tail": TAIL, "profile": PROFILE, "divergence": RENYI}
AXES = ("release", "power", "rate", "population", "accounting", "delta", "guarantee")
NOTE = "Influences read off the records are confidential: policies at them are an illustration, not to be released."


def labels(cell: Cell) -> Row:
    """Return what is said of a cell's release in each of its rows; `note` where it depends on confidential records."""
    words = [cell.get(name) for name in ("influence", "influence_low", "influence_high")]
    note = NOTE if any(isinstance(word, str) and word in WORDS for word in words) else ""
    return cell.only(*AXES) | {"label": label(cell.mechanism.release), "note": note}


def rows(cell: Cell) -> Iterator[Row]:
    """Give a row for each number that a cell simulated.

    `quantity` is "mean" of the loss, "tail" P[L > at], "profile" delta(at), or "divergence" of order `at`, all of
    losses in nats, each `simulated` with `mcse`, 95% interval, `exact` and `bound` (what is printed of it). `t` is the
    influence; `printed` and `policy` are printed and exact zCDP of the record, `pure` is its largest loss.
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
    """Of each release and influence the largest simulated divergence over its order."""
    table = pd.DataFrame([row for row in rows if row["quantity"] == "divergence" and np.isfinite(row["simulated"])])
    if not len(table):
        return
    table = table.assign(**{name: table[name] / table["at"] for name in (*NUMBERS, "exact", "bound")})
    for _, group in table.groupby(["label", "t"], sort=False):
        best = records(group.nlargest(1, "simulated"))[0]
        yield best | {"quantity": "supremum", "on_grid": group["exact"].max(), "exact": np.nan, "skewness": np.nan}


def _simulated(cell: Cell) -> Iterator[tuple[str, float, tuple[float, ...]]]:
    """Give quantity, argument and (estimate, MCSE, lower, upper) of what a cell simulated."""
    mechanism: PerRecordLoss = cell.mechanism
    if mechanism.epsilon is not None:
        for quantity in ("tail", "profile"):
            estimate, mcse, low, high = cell.mean(OBSERVABLES[quantity])
            yield quantity, mechanism.epsilon, (estimate, mcse, max(low, 0.0), min(high, 1.0))
    if mechanism.order is not None:
        yield "divergence", mechanism.order, divergence_interval(cell, mechanism.order, mechanism.largest)
    if mechanism.epsilon is None and mechanism.order is None:
        yield "mean", np.nan, cell.mean("privacy_loss")
