"""Sums by group: the share of groups close to their true sum, at equal privacy of every record."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.experiments.per_record.exact_values import EXACT, TYPICAL, UNITS, UNKNOWN
from tcdp_sim.experiments.per_record.series import (
    about_records,
    label_order,
    labels,
    lines_about,
    panels,
    records,
    styles,
    with_caption,
)
from tcdp_sim.report.findings import listed
from tcdp_sim.report.plots import GREY, headed, line_key, new_figure, note
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.cells import NORMAL, UNSEEN
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

__all__ = ["EXACT", "UNITS", "UNKNOWN", "figures", "report", "rows"]

SHARES = ("share_within_10_percent", "share_negative")
BAND = {"q05": 0.05, "q50": 0.5, "q95": 0.95}


def rows(cell: Cell) -> list[Row]:
    """Return one row for a cell of several sums, and none for a cell of one sum.

    - `groups`: the number of sums. `smallest`, `middle` and `largest` are the least, the median and the largest true
      sum.
    - `share_within_10_percent`, `share_negative`: means over trials and groups, with MCSE, 95% interval and exact
      value.
    - `within_q05` to `within_q95`: quantiles over trials of the share of groups within 10%.
    - `median_relative_error_q05`, `_q50`, `_q95`: quantiles over trials of the median over groups of |error| over the
      sum.
    - `typical_relative_error_exact`: the median over groups of each group's exact median, which is a similar number but
      not the same one.
    """
    sums = np.array(cell.mechanism.true_sums)
    if len(sums) == 1:
        return []
    row = labels(cell) | {"release_law": str(cell.mechanism.release), "groups": len(sums), "trials": cell["trials"]}
    row |= {"smallest": sums.min(), "middle": np.median(sums), "largest": sums.max()}
    for name in SHARES:
        row |= cell.numbers(columns.mean(name), name, endings=("", columns.MCSE, columns.EXACT))
        (upper,) = cell.numbers(columns.mean(name), name, endings=(columns.UPPER,)).values()
        row |= _interval(name, row, upper)
    for short, name in (("within", SHARES[0]), ("median_relative_error", "median_relative_error")):
        most = 1.0 if short == "within" else np.inf  # quantiles come from bins, whose ends may lie beyond
        for end, level in BAND.items():
            (value,) = cell.numbers(columns.quantile(name), "", level, ("",)).values()
            row[f"{short}_{end}"] = min(value, most)
    row |= cell.numbers(TYPICAL, TYPICAL, endings=(columns.EXACT,))
    row["records"] = "\n".join(about_records(row, cell.law))
    return [row | {f"{name}_skewness": cell.skewness(name) for name in SHARES}]


def _interval(name: str, row: Row, upper: float) -> Row:
    """Return the ends of the 95% interval of a share, widened for groups that may fail but never did in the run.

    `upper` is the end of the published interval, which is farther away in a run with a target. That of equal trials,
    unless nothing is known, counts trials, and here groups count.
    """
    value, mcse = row[name], row[name + columns.MCSE]
    published = upper - value if mcse > 0 or upper >= 1 else 0.0
    half = np.fmax(NORMAL * mcse, published) + UNSEEN / (row["groups"] * row["trials"])
    ends = {columns.LOWER: row[name] - half, columns.UPPER: row[name] + half}
    return {name + end: float(np.clip(value, 0, 1)) for end, value in ends.items()}


def report(table: pd.DataFrame, console: Any) -> None:
    """Print every grouping with its releases, best first, and how well simulation and exact values agree."""
    if not len(table):
        console.print("No cell releases several sums; valid: a group_by, such as state.")
        return
    for title, cells in panels(table):
        for group_by, part in cells.groupby("group_by", sort=False):
            first = part.iloc[0]
            heading = (
                f"{group_by}: {first['groups']} sums, {first['smallest']:,.6g} to {first['largest']:,.6g}\n{title}"
            )
            heading += "\nclose: share of sums within 10%; error: median over sums of |error| / sum"
            headings = ("release", "close", "exact", "error", "typical", "< 0")
            rows = part.sort_values(TYPICAL + columns.EXACT, kind="stable")
            console.print(terminal_table(heading, headings, map(_terminal_row, records(rows))), soft_wrap=False)
    for line in lines_about(table):
        console.print(line)
    for name, what in zip(SHARES, ("share of sums within 10%", "share of negative sums")):
        console.print(agreement(what, *(table[name + end] for end in columns.WITH_EXACT)))
    console.print("The median error over sums has no exact value here; beside it, the median of each sum's exact one.")


def _terminal_row(row: dict[str, Any]) -> list[str]:
    within = f"{row['share_within_10_percent']:.1%}", f"{row['share_within_10_percent_exact']:.1%}"
    errors = f"{row['median_relative_error_q50']:.3g}", f"{row['typical_relative_error_exact']:.3g}"
    return [row["label"], *within, *errors, f"{row['share_negative_exact']:.3f}"]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the share of groups within 10% and the median relative error by grouping, for each privacy accounting."""
    if not len(table):
        return
    looks = styles(table)
    for i, (title, part) in enumerate(panels(table)):
        figure = _groups(part, title, looks)
        yield f"groups_{i + 1}", with_caption(figure, part, "errors over the true sum"), part


def _groups(part: pd.DataFrame, title: str, looks: dict[str, Any]) -> Any:
    groupings = list(part.groupby("group_by", sort=False))
    order = label_order(part.sort_values(TYPICAL + columns.EXACT, ascending=False))
    figure, grid = new_figure(2, len(groupings), 3.1 * len(groupings) + 1.6, 0.5 * len(order) + 2.6, sharey=True)
    for (name, rows), top, bottom in zip(groupings, *grid):
        rows = rows.set_index("label").reindex(order)
        _dots(top, rows, "within", SHARES[0], SHARES[0] + columns.EXACT, looks)
        error = "median_relative_error"
        _dots(bottom, rows, error, f"{error}_q50", TYPICAL + columns.EXACT, looks)
        first = rows.dropna(subset="groups").iloc[0]
        sums = f"{first['groups']:.0f} sums\n{first['smallest']:.3g} to {first['largest']:.3g}"
        top.set(title=f"{name}: {sums}".replace("_", " "))
        most = max(rows["within_q95"].max(), rows[SHARES[0] + columns.EXACT].max())
        top.set(xlim=(-0.03, min(1.1 * most + 0.02, 1.03)), xlabel="share of sums within 10%")
        bottom.set(xscale="log", xlabel="median over sums of |error| / sum")
        bottom.axvline(0.1, color=GREY, linewidth=0.8, linestyle=":")
    for axes in grid[:, 0]:
        axes.set_yticks(range(len(order)), order)
    stroke = line_key("#000000", marker="|", markersize=11, linestyle="none")
    keys = {
        "simulated: mean (top) or median (bottom) of the trials, 5% to 95%": line_key(marker="o", linestyle="-"),
        "exact: mean share (top), median of the sums' own median errors (bottom)": stroke,
        "an error of 10%": line_key(linestyle=":", linewidth=0.8),
    }
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=1)
    note(figure, "setting", title)
    headed(figure, _finding(part))
    return figure


def _finding(part: pd.DataFrame) -> str:
    """Return the title: the release that brings most sums of each grouping within 10%, at equal privacy."""
    exact = SHARES[0] + columns.EXACT
    best = records(part.loc[part.groupby("group_by", sort=False)[exact].idxmax()])
    told = (f"{one[exact]:.0%} by {one['group_by']} ({one['label']})".replace("_", " ") for one in best)
    return f"The most sums that come out within 10% of the truth are {listed(told)}"


def _dots(axes: Any, rows: pd.DataFrame, name: str, simulated: str, exact: str, looks: dict[str, Any]) -> None:
    """Draw a marker at the simulated value, a line over the trials from 5% to 95%, and a stroke at the exact value."""
    for place, (label, row) in enumerate(rows.iterrows()):
        low, middle, high = row[f"{name}_q05"], row[simulated], row[f"{name}_q95"]
        look = looks[str(label)]
        axes.plot([low, high], [place, place], color=look["color"])
        axes.plot([middle], [place], linestyle="none", **look)
        axes.plot([row[exact]], [place], color="#000000", marker="|", markersize=11, linestyle="none")
