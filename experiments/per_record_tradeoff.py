"""The error of a sum against the privacy losses of the largest and of the median record."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from tcdp_sim.experiments.per_record.exact_values import EXACT, RMSE, UNITS, UNKNOWN
from tcdp_sim.experiments.per_record.series import (
    CURRENCIES,
    about_records,
    label_order,
    labels,
    lines_about,
    record,
    records,
    several_populations,
    styles,
    with_caption,
)
from tcdp_sim.report.plots import headed, line_key, new_figure, note, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

__all__ = ["EXACT", "UNITS", "UNKNOWN", "figures", "report", "rows"]

LARGEST = 100.0  # largest error over the sum that is drawn
ENDS = {"high": "low", "low": "high"}  # the anchor that is swept -> the one that is held


def rows(cell: Cell) -> list[Row]:
    """Return one row for a cell of one sum, and none for a cell of several sums.

    - `value_low`, `value_high`: the privacy loss of the records at both anchors, in nats. Releases with one anchor have
      no `value_low`.
    - `median`: the median of |error| / sum over the trials, with MCSE, 95% interval and exact value.
    - `rmse_exact`: the RMSE over the sum, or inf.
    """
    mechanism = cell.mechanism
    if len(mechanism.answers) > 1:
        return []
    total = mechanism.true_sums[0]
    row = labels(cell) | {"release_law": str(mechanism.release), "sum": total, "trials": cell["trials"]}
    row |= cell.numbers(columns.quantile("relative_error"), "median", 0.5)
    row["rmse_exact"] = cell.get(RMSE + columns.EXACT, np.nan) / total
    row["value_low"] = row.get("value_low", np.nan)
    row["records"] = "\n".join(about_records(row, cell.law))
    return [row | {"median_p_value": cell.p_value("relative_error", 0.5, row["median_exact"])}]


class Sweep(NamedTuple):
    """A set of rows along which the value at one anchor ("low" or "high") is swept and the other is held."""

    swept: str
    held: float
    rows: pd.DataFrame
    population: str = ""


def sweeps(table: pd.DataFrame) -> list[Sweep]:
    """Return the sweeps of at least three values in a table, separately for each population.

    Releases with one anchor are in all sweeps of the larger value, because they hold nothing else.
    """
    if not several_populations(table):
        return list(_sweeps(table, ""))
    parts = table.groupby("population", sort=False)
    return [sweep for name, part in parts for sweep in _sweeps(part, f"{name}: ")]


def _sweeps(table: pd.DataFrame, population: str) -> Iterator[Sweep]:
    both, single = table[table["value_low"].notna()], table[table["value_low"].isna()]
    for swept, held in ENDS.items():
        for value, part in both.groupby(f"value_{held}"):
            if part[f"value_{swept}"].nunique() >= 3:
                beside = single[single["value_high"].isin(part["value_high"])] if swept == "low" else single
                yield Sweep(swept, cast(float, value), pd.concat([part, beside]), population)


def report(table: pd.DataFrame, console: Any) -> None:
    """Print the best point of every release along each sweep, and how well simulation and exact values agree."""
    if not len(table):
        console.print("No cell releases one sum alone; valid: a population without group_by, or an answer.")
        return
    for sweep in sweeps(table):
        both = sweep.rows[sweep.rows["value_low"].notna()]
        heading = f"{_held(sweep)}: the least median |error| / sum along {_axis(sweep)}"
        rows = [_best(rows, sweep.swept) for _, rows in both.groupby("label", sort=False)]
        headings = ("release", "there", "simulated", "exact", "RMSE", "shape")
        console.print(terminal_table(heading, headings, rows), soft_wrap=False)
    for line in lines_about(table):
        console.print(line)
    console.print(agreement("median error", *(table[f"median{end}"] for end in columns.WITH_EXACT)))


def _best(rows: pd.DataFrame, swept: str) -> list[str]:
    """Return the terminal row of a release's least median error, and whether it lies inside the sweep."""
    rows = rows.sort_values(f"value_{swept}")
    best = records(rows)[int(np.argmin(rows["median_exact"].to_numpy()))]
    shape = _shape(rows, swept)
    numbers = (f"{best[name]:.3g}" for name in (f"value_{swept}", "median", "median_exact", "rmse_exact"))
    return [best["label"], *numbers, shape]


def _shape(rows: pd.DataFrame, swept: str) -> str:
    """Return the shape of a release's median error along the sweep: "falls", "rises", or "U" for a minimum inside."""
    place = int(np.argmin(rows.sort_values(f"value_{swept}")["median_exact"].to_numpy()))
    return "U" if 0 < place < len(rows) - 1 else "falls" if place else "rises"


def _u_shaped(sweep: Sweep) -> str:
    """Return a line of a title: the number of releases whose median error has its minimum inside the sweep."""
    both = sweep.rows[sweep.rows["value_low"].notna()]
    shapes = [_shape(rows, sweep.swept) for _, rows in both.groupby("label")]
    count = shapes.count("U")
    return f"\nU-shaped: the median error of {count} of {len(shapes)} releases" if count else "\n"


def _axis(sweep: Sweep) -> str:
    """Return the meaning of the value at the swept anchor: epsilon or a policy, and the record it is about."""
    currencies = " or ".join(CURRENCIES[name] for name in sweep.rows["accounting"].unique())
    return f"{currencies} of the {_record(sweep, sweep.swept)} (nats)"


def _held(sweep: Sweep) -> str:
    return f"{sweep.population}{sweep.held:g} held at the {_record(sweep, ENDS[sweep.swept])}"


def _record(sweep: Sweep, end: str) -> str:
    return record(sweep.rows[f"influence_{end}"].dropna().iloc[0])


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw median error and RMSE against the swept value, with a panel for each value that is held."""
    found = sweeps(table) if len(table) else []
    if found:
        yield "tradeoff", with_caption(_tradeoff(found, styles(table)), table, "errors over the true sum"), table


def _tradeoff(found: list[Sweep], looks: dict[str, Any]) -> Any:
    figure, grid = new_figure(2, len(found), 4.8 * max(len(found), 1.6), 6.6, sharex="col", sharey="row")
    for sweep, top, bottom in zip(found, *grid):
        for name, rows in sweep.rows.groupby("label", sort=False):
            _draw(top, bottom, rows.sort_values(f"value_{sweep.swept}"), sweep.swept, looks[str(name)])
        _infinite_rmse(bottom, sweep, looks)
        top.set(xscale="log", yscale="log", title=f"{_held(sweep)}{_u_shaped(sweep)}")
        bottom.set(xscale="log", yscale="log", xlabel=_axis(sweep))
    for axes, name in ((grid[0, 0], "median_exact"), (grid[1, 0], "rmse_exact")):
        _limit(axes, pd.concat([sweep.rows[name] for sweep in found]))
    grid[0, 0].set_ylabel("median |error| / sum")
    grid[1, 0].set_ylabel("RMSE / sum (exact)")
    names = label_order(pd.concat([sweep.rows for sweep in found]))
    keys = {name: line_key(**looks[name], linestyle="-") for name in names}
    keys["one anchor: the largest record's"] = line_key(linestyle="--")
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    note(figure, "kind", "lines: exact; markers: simulated median, 95% interval; crosses at the top: infinite RMSE")
    headed(figure, _finding(found[0]))
    return figure


def _finding(sweep: Sweep) -> str:
    """Return the title: the release with the least median error in the middle of a sweep."""
    values = np.sort(sweep.rows[f"value_{sweep.swept}"].dropna().unique())
    middle = values[len(values) // 2]
    here = records(sweep.rows[sweep.rows[f"value_{sweep.swept}"] == middle])
    best = min(here, key=lambda one: one["median_exact"])
    where = f"{middle:g} at the {_record(sweep, sweep.swept)} and {_held(sweep)}"
    return f"The least median error with {where} is {best['median_exact']:.2g} of the sum, by {best['label']}"


def _limit(axes: Any, values: pd.Series) -> None:
    """Set the limits of the error axis. Lines beyond LARGEST times the sum leave at the top."""
    values = values[np.isfinite(values) & (values > 0)]
    axes.set_ylim(values.min() / 2, min(values.max() * 2, LARGEST))


def _draw(top: Any, bottom: Any, rows: pd.DataFrame, swept: str, look: dict[str, Any]) -> None:
    if rows["value_low"].isna().all() and swept == "low":  # nothing is held: a level
        for axes, name in ((top, "median_exact"), (bottom, "rmse_exact")):
            axes.axhline(rows[name].iloc[0], color=look["color"], linestyle="--")
        return
    x, line = (
        rows[f"value_{swept}"],
        {"color": look["color"], "linestyle": "--" if rows["value_low"].isna().all() else "-"},
    )
    points(top, x, rows["median"], rows["median_lower"], rows["median_upper"], **look)
    top.plot(x, rows["median_exact"], **line)
    bottom.plot(x, rows["rmse_exact"].where(np.isfinite(rows["rmse_exact"])), **line)


def _infinite_rmse(axes: Any, sweep: Sweep, looks: dict[str, Any]) -> None:
    """Draw a cross at the top of the panel for every point with infinite RMSE."""
    for one in records(sweep.rows[np.isinf(sweep.rows["rmse_exact"])]):
        place = {"transform": axes.get_xaxis_transform(), "color": looks[one["label"]]["color"]}
        axes.plot([one[f"value_{sweep.swept}"]], [0.97], marker="x", linestyle="none", **place)
