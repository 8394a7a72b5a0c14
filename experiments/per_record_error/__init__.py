"""The error of one released sum against its true value: constant noise, growing noise, and their crossing."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.experiments.per_record.exact_values import EXACT, RMSE, UNITS, UNKNOWN, trials_for_rmse
from tcdp_sim.experiments.per_record.series import (
    SETTING,
    about_records,
    label_order,
    labels,
    lines_about,
    panels,
    records,
)
from tcdp_sim.experiments.per_record_error.drawing import figures
from tcdp_sim.mechanisms.per_record_sum import PerRecordSum
from tcdp_sim.per_record import TransformedRelease
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

__all__ = ["EXACT", "UNITS", "UNKNOWN", "figures", "known", "report", "rows"]

QUANTILES = {"q05": 0.05, "median": 0.5, "q95": 0.95}
ADDITIVE = ("gaussian", "laplace", "generalized_gaussian", "exponential_polylogarithmic")
TRANSFORMED = ("square_root", "fourth_root", "root", "log")
EVENTS = ("within_10_percent", "negative")
SHARES = np.geomspace(1e-4, 100, 61)  # t / q at which policies of equal RMSE are compared


def rows(cell: Cell) -> list[Row]:
    """Return one row (`figure` "error") for a cell of one sum, and none for a cell of several sums.

    - `sum`: the true sum, in values.
    - `median`, `q05`, `q95`: quantiles of |error| / sum over the trials, with MCSE, 95% interval and exact value.
    - `within_10_percent`, `negative`: probabilities.
    - `rmse_exact`: the exact RMSE in values, or inf.
    - `rmse`: the simulated RMSE, if there are as many `trials` as it needs (`rmse_needs`).
    """
    mechanism: PerRecordSum = cell.mechanism
    if len(mechanism.answers) > 1:
        return []
    row = {"figure": "error", **labels(cell), "release_law": str(mechanism.release)}
    row |= {"sum": mechanism.true_sums[0], "trials": cell["trials"]}
    row["records"] = "\n".join(about_records(row, cell.law))
    for name, level in QUANTILES.items():
        row |= cell.numbers(columns.quantile("relative_error"), name, level)
    for name in EVENTS:
        row |= cell.numbers(name, name)
    p_values = cell.p_value("relative_error", [*QUANTILES.values()], [row[name + columns.EXACT] for name in QUANTILES])
    return [row | _rmse(mechanism, cell) | dict(zip((f"{name}_p_value" for name in QUANTILES), p_values))]


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield rows (`figure` "equal_rmse") of unbiased transformed releases for each `at` = influence over sum.

    `policy_ratio` is the printed policy at that influence, divided by the policy of Gaussian noise with the same RMSE
    at that sum.
    """
    single = [cell.mechanism for cell in cells if len(cell.mechanism.answers) == 1]
    for mechanism, row in zip(single, rows):
        yield from _ratios(mechanism, row)


def _rmse(mechanism: PerRecordSum, cell: Cell) -> Row:
    """Return the exact RMSE, and the simulated one with its standard error if there are enough trials for it."""
    needed, square = trials_for_rmse(mechanism), columns.mean("squared_error")
    row = {"rmse_exact": cell.get(RMSE + columns.EXACT, np.nan), "rmse_needs": needed}
    mean = cell.get(square, np.nan) if cell["trials"] >= needed else np.nan
    root = np.sqrt(mean)
    return row | {"rmse": root, "rmse_mcse": cell.get(square + columns.MCSE, np.nan) / (2 * root)}


def _ratios(mechanism: PerRecordSum, row: Row) -> list[Row]:
    release, total = mechanism.release, mechanism.true_sums[0]
    if not isinstance(release, TransformedRelease) or release.estimator != "mean_unbiased" or release.nonnegative:
        return []
    if not 0 < (mse := float(release.mse(total))) < np.inf or total == 0:
        return []
    influence = SHARES * total
    ratio = np.asarray(release.policy(influence)) / (influence**2 / (2 * mse))
    same = {name: row[name] for name in row if name in ("label", "release", "sum", "release_law", *SETTING)}
    return [same | {"figure": "equal_rmse", "at": t, "policy_ratio": x} for t, x in zip(SHARES, ratio)]


def report(table: pd.DataFrame, console: Any) -> None:
    """Print the errors at a few sums, the crossings of the releases, and how well simulation and exact values agree."""
    if not len(table):
        console.print("No cell releases one sum alone; valid: an answer, or a population without group_by.")
        return
    drawn = table[table["figure"] == "error"]
    for title, part in panels(drawn):
        sums = np.sort(part["sum"].unique())
        for total in sums[np.unique([len(sums) // 4, (3 * len(sums)) // 4])]:
            rows = part[part["sum"] == total].sort_values("median_exact", kind="stable")
            heading = f"{title}\n|error| over a true sum of {total:,.6g}"
            headings = ("release", "median ± MCSE", "exact", "95%", "RMSE")
            console.print(terminal_table(heading, headings, map(_terminal_row, records(rows))), soft_wrap=False)
        for line in _crossings(part):
            console.print(line)
    for line in lines_about(drawn):
        console.print(line)
    console.print(_theorem(table))
    for name in ("median", "within_10_percent"):
        what = {"median": "median error", "within_10_percent": "probability of an error below 10%"}[name]
        console.print(agreement(what, *(drawn[name + end] for end in columns.WITH_EXACT)))


def _terminal_row(row: dict[str, Any]) -> list[str]:
    exact = (f"{row[name]:.3g}" for name in ("median_exact", "q95_exact"))
    rmse = row["rmse_exact"] / row["sum"] if row["sum"] > 0 else np.inf
    return [
        row["label"],
        f"{row['median']:.3g} ± {row['median_mcse']:.1g}",
        *exact,
        "-" if np.isnan(rmse) else f"{rmse:.3g}",
    ]


def _crossings(part: pd.DataFrame) -> Iterator[str]:
    """Yield lines on where a transformed release has a smaller exact median error than additive noise."""
    wide = (
        part[part["sum"] > 0].pivot_table(index="sum", columns="label", values="median_exact", sort=False).sort_index()
    )
    additive = [name for name in label_order(part[part["release"].isin(ADDITIVE)]) if name in wide]
    if len(wide) < 2 or not additive:
        return
    logs = np.log(wide)
    for name in label_order(part[part["release"].isin(TRANSFORMED)]):
        against = {other: logs[name] - logs[other] for other in additive}
        texts = [f"{other} {_below(gap)}" for other, gap in against.items()]
        yield f"{name} has a smaller median error than {', '.join(texts)}."


def _below(gap: pd.Series) -> str:
    """Return the sums at which a log ratio is negative, in words, interpolated between the sums of the grid."""
    x, y = np.log(gap.index.to_numpy(float)), gap.to_numpy(float)
    turns = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    if not len(turns):
        return "at every sum" if y[-1] < 0 else "at none"
    i = turns[-1]
    return f"below {np.exp(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])):.2g}"


def _theorem(table: pd.DataFrame) -> str:
    rows = table[table["figure"] == "equal_rmse"]
    if not len(rows):
        return "No unbiased transformed release here to compare with Gaussian noise of the same RMSE."
    part = rows[rows["at"] <= 1]
    return (
        "At equal RMSE Gaussian noise has the smaller policy for every record of the sum, as is proved: over "
        f"{len(part):,} pairs of influence and sum the policy of the transformed release is "
        f"{part['policy_ratio'].min():.4g} times as large or more."
    )
