"""Differences between cells with common random numbers (`share`), which are far more precise than independent ones.

The same uniforms draw the noise of all these cells. So their errors rise and fall together, and the common part drops
out of the difference. The standard error comes from batches of consecutive trials, whose differences are independent.
"""

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from tcdp_sim.core.texts import write_csv
from tcdp_sim.store import columns
from tcdp_sim.summaries.summary import batch_sizes


def differences(flat) -> pd.DataFrame:
    """Return the differences of each cell from the first cell with the same random numbers, by observable or event."""
    names = columns.batched(flat)
    share, axes = json.loads(flat.attrs.get("share", "[]")), json.loads(flat.attrs["axes"])
    values = {axis: flat[axis].values for axis in axes}
    shared = [axis for axis in axes if axis in share]
    rows = []
    for first, other in _pairs(flat) if names else ():
        about = {axis: column[other] for axis, column in values.items()}
        about |= {f"{axis}_less": values[axis][first] for axis in shared}
        for name in names:
            comparison = _compared(flat, name, first, other)
            if comparison:
                rows.append(about | {"quantity": name} | comparison)
    return pd.DataFrame(rows)


def report(flat, path: Path, say) -> None:
    """Write all differences to a CSV file and report the gain by sharing. Do nothing if nothing is shared."""
    table = differences(flat)
    if table.empty:
        path.unlink(missing_ok=True)
        return
    write_csv(table, path)
    gain = table["times_fewer_trials"].median()
    summary = f"{len(table)} differences between cells with the same random numbers: {path}"
    say(f"{summary}; independent cells would need {gain:.3g} times as many trials (median)")


def _pairs(flat):
    """Yield (first cell, other cell) for each random stream that several cells share."""
    streams = [json.loads(law).get("stream", "") for law in flat["law"].values]
    order = sorted(range(len(streams)), key=lambda i: (streams[i], i))
    for stream, rows in groupby(order, key=streams.__getitem__):
        first, *others = rows
        for other in others if stream else ():
            yield first, other


def _compared(flat, name, first, other) -> dict[str, float] | None:
    a, b = (flat[columns.batch_mean(name)].values[i] for i in (other, first))
    chunk = int(flat.attrs["trials_per_chunk"])
    sizes = batch_sizes(chunk)
    pilots = [int(flat[columns.PILOT].values[i]) // chunk if columns.PILOT in flat else 0 for i in (other, first)]
    ends = [pilot + int(flat["trials"].values[i]) // chunk for pilot, i in zip(pilots, (other, first))]
    chunks = max(min(ends) - max(pilots), 0)  # that are in both estimates, and draw the same numbers
    n = chunks * len(sizes)
    a, b = (means[(max(pilots) - pilot) * len(sizes) :] for means, pilot in zip((a, b), pilots))
    if n < 2 or not np.isfinite([a[:n], b[:n]]).all():
        return None
    weights = np.tile(sizes, chunks)
    difference, mcse = _weighted(a[:n] - b[:n], weights)
    strangers = np.hypot(_weighted(a[:n], weights)[1], _weighted(b[:n], weights)[1])
    fewer = (strangers / mcse) ** 2 if mcse else np.nan
    return {"difference": difference, "mcse": mcse, "degrees_of_freedom": n - 1, "times_fewer_trials": fewer}


def _weighted(means, weights) -> tuple[float, float]:
    """Return mean and standard error from independent means over `weights` trials each.

    The variances of the means are proportional to 1 / trials.
    """
    centre = np.average(means, weights=weights)
    spread = (weights * (means - centre) ** 2).sum() / (len(means) - 1)
    return float(centre), float(np.sqrt(spread / weights.sum()))
