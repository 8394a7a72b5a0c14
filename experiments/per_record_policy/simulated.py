"""What the cells simulated of the losses of one record, as rows beside what is known and printed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

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
from tcdp_sim.results import mean_interval, sample_skewness
from tcdp_sim.store import columns

OBSERVABLES = {"mean": "privacy_loss", "tail": "loss_tail", "profile": "hockey_stick", "divergence": "renyi_excess"}
PUBLISHED = {"mean": LOSS, "tail": TAIL, "profile": PROFILE, "divergence": RENYI}
NUMBERS = ("simulated", "mcse", "lower", "upper")
AXES = ("release", "power", "rate", "population", "accounting", "delta", "guarantee")
NOTE = "Influences read off the records are confidential: policies at them are an illustration, not to be released."


def labels(cell: dict[str, Any], mechanism: PerRecordLoss) -> dict[str, Any]:
    """What is said of a cell's release in each of its rows; `note` where it depends on confidential records."""
    words = [cell.get(name) for name in ("influence", "influence_low", "influence_high")]
    note = NOTE if any(isinstance(word, str) and word in WORDS for word in words) else ""
    return {name: cell[name] for name in AXES if name in cell} | {"label": label(mechanism.release), "note": note}


def cell_rows(flat: xr.Dataset, i: int, cell: dict[str, Any], mechanism: PerRecordLoss) -> list[dict[str, Any]]:
    """A row for each number that a cell simulated."""
    release, t = mechanism.release, mechanism.influence
    about = labels(cell, mechanism) | {"influence": cell["influence"], "t": t, "trials": cell["trials"]}
    about |= {"pure": largest_loss(release, t), "policy": policy(release, t), "printed": float(release.policy(t))}
    rows = []
    for quantity, at, numbers in _simulated(mechanism, cell):
        row = about | {"quantity": quantity, "at": at} | dict(zip(NUMBERS, numbers))
        for name, ending in (("exact", columns.EXACT), ("bound", columns.BOUND)):
            row[name] = cell.get(PUBLISHED[quantity] + ending, np.nan)
        rows.append(row | {"skewness": sample_skewness(flat, i, OBSERVABLES[quantity])})
    return rows


def suprema(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Of each release and influence the largest simulated divergence over its order."""
    table = pd.DataFrame([row for row in rows if row["quantity"] == "divergence" and np.isfinite(row["simulated"])])
    if not len(table):
        return
    table = table.assign(**{name: table[name] / table["at"] for name in (*NUMBERS, "exact", "bound")})
    for _, group in table.groupby(["label", "t"], sort=False):
        best = records(group.nlargest(1, "simulated"))[0]
        yield best | {"quantity": "supremum", "on_grid": group["exact"].max(), "exact": np.nan, "skewness": np.nan}


def _simulated(mechanism: PerRecordLoss, cell: dict[str, Any]) -> Iterator[tuple[str, float, tuple[float, ...]]]:
    """(quantity, its argument, (estimate, MCSE, lower, upper)) of what a cell simulated."""
    if mechanism.epsilon is not None:
        for quantity in ("tail", "profile"):
            estimate, mcse, low, high = mean_interval(cell, OBSERVABLES[quantity])
            yield quantity, mechanism.epsilon, (estimate, mcse, max(low, 0.0), min(high, 1.0))
    if mechanism.order is not None:
        yield "divergence", mechanism.order, _divergence(mechanism.order, cell)
    if mechanism.epsilon is None and mechanism.order is None:
        yield "mean", np.nan, mean_interval(cell, "privacy_loss")


def _divergence(order: float, cell: dict[str, Any]) -> tuple[float, ...]:
    """The divergence of an order from the mean of e^((order - 1) L) - 1, which is inf if infinite or above 1e150."""
    if cell["renyi_excess" + columns.NONFINITE] == cell["trials"] > 0:
        return np.inf, 0.0, np.log(PerRecordLoss.largest) / (order - 1), np.inf
    mean, mcse, low, high = mean_interval(cell, "renyi_excess")
    low, middle, high = (np.log1p(max(value, 0.0)) / (order - 1) for value in (low, mean, high))
    return middle, mcse / (1 + mean) / (order - 1), low, high
