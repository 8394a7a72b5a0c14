"""An experiment without a module: every simulated observable and event against the axis with most levels."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.core.texts import blank
from tcdp_sim.report.labels import End, label_ends
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles
from tcdp_sim.report.plots import captioned, headed, new_figure, note, points
from tcdp_sim.report.tables import terminal_table
from tcdp_sim.report.thinning import evenly
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.statistics.one_sample import usual_range
from tcdp_sim.store import columns
from tcdp_sim.summaries.estimates import proportion

_LINES: dict[str, dict[str, Any]] = {"exact": {"linestyle": "-"}, "bound": {"linestyle": ":"}}
OF_MEAN = ("skewness", "nonfinite", "least", "most")  # what `contradictions.find` reads of a mean
DASH = {"marker": "_", "markersize": 24}
MOST_SERIES = 8  # beyond so many series nobody finds a name: the table has all
WIDE = 50.0  # a positive axis whose ends are further apart than that is logarithmic


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each quantity of a cell: the cell's axes, `quantity`, `unit` and the simulated value.

    `simulated` is the mean of an observable, in `unit`, or the probability of an event. `mcse` is its Monte Carlo
    standard error, and `lower` and `upper` are the ends of its 95% interval. Quantities without numbers are left out,
    and so are observables that a cell does not yield. `exact` and `bound` are there if any are published.
    """
    labels = cell.only(*json.loads(cell.run["axes"]), "trials") | cell.noise | {"neighbours": cell.neighbours}
    means = (
        (name, columns.mean(name), cell.unit(name), _mean(cell, name)) for name in sorted(columns.observables(cell))
    )
    probabilities = ((name, name, "1", _proportion(cell, name)) for name in sorted(columns.proportions(cell)))
    for name, quantity, unit, numbers in (*means, *probabilities):
        row = labels | {"quantity": name, "unit": unit} | dict(zip(NUMBERS, numbers))
        known = _known(cell, name, quantity, row)
        lost = 0 < cell["trials"] == known.get("nonfinite")
        if np.isfinite(numbers[0]) or (lost and np.isfinite(known.get("exact", np.nan))):
            yield row | known


def _known(cell: Cell, name: str, quantity: str, row: Row) -> Row:
    """Return the exact value and the bound of a quantity, and the columns that the comparison with them needs."""
    known = {kind for kind in (columns.EXACT, columns.BOUND) if any(each.endswith(kind) for each in cell)}
    found: Row = {kind.removeprefix("_"): cell.get(quantity + kind, np.nan) for kind in sorted(known, reverse=True)}
    judged = _of_mean(cell, name) if known and quantity != name else {}
    if columns.EXACT in known:
        found |= judged | _range_of_trials(cell, name, found["exact"]) if judged else dict.fromkeys(OF_MEAN, np.nan)
    if columns.BOUND in known:  # an upper bound is contradicted by larger numbers alone
        within = f"{name}_within_bound"
        exact = float(np.minimum(row["simulated"], found["bound"]))
        more = {key: row[key] for key in NUMBERS[1:]} | judged | (_range_of_trials(cell, name, exact) if judged else {})
        found |= {within: row["simulated"], f"{within}_exact": exact}
        found |= {f"{within}_{key}": value for key, value in more.items()}
    return found


def _of_mean(cell: Cell, name: str) -> Row:
    """Return the skewness of an observable and the number of its trials that are in no mean."""
    return {"skewness": cell.skewness(name), "nonfinite": cell[name + columns.NONFINITE]}


def _range_of_trials(cell: Cell, name: str, exact: float) -> Row:
    """Return the range of a trial by which the mean of equal trials is compared with an exact value."""
    declared = json.loads(cell.run.get("ranges", "{}"))
    mean, draws = cell.get(columns.mean(name), np.nan), json.loads(cell.run.get("draws", "true"))
    ends = (np.nan, np.nan) if draws else usual_range(mean, exact)
    return dict(zip(("least", "most"), map(float, declared.get(name, ends))))


def _mean(cell: Cell, name: str) -> tuple[float, ...]:
    """Return the mean of an observable with its MCSE and 95% interval.

    A user's function draws from the law itself, so its interval is the published one, and equal trials have none. Other
    mechanisms may use importance sampling: see `results.mean_interval`.
    """
    if "function" not in cell.run:
        return cell.mean(name)
    return tuple(float(cell.get(columns.mean(name) + end, np.nan)) for end in columns.INTERVAL)


def _proportion(cell: Cell, name: str) -> tuple[float, ...]:
    if not cell["trials"] or not np.isfinite(cell[name]):
        return (np.nan,) * 4
    return proportion(round(cell[name] * cell["trials"]), cell["trials"])


def _by_quantity(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each quantity; nothing if no cell has a finite number."""
    names = dict.fromkeys(table["quantity"]) if len(table) else ()
    return [(name, table[table["quantity"] == name]) for name in names]


def report(table: pd.DataFrame, console) -> None:
    """Print a table for each quantity: the axes that vary, the mean with its error, the 95% interval."""
    for _, part in _by_quantity(table):
        axes = [*_varying(table)]
        title = f"{_named(part)}, 95% intervals"
        known = [name for name in ("exact", "bound") if name in part and part[name].notna().any()]
        values = part[[*axes, "simulated", "mcse", "lower", "upper", *known]].itertuples(index=False, name=None)
        rows = [[f"{value:.6g}" if isinstance(value, float) else str(value) for value in row] for row in values]
        headings = (*axes, "simulated", "± MCSE", "from", "to", *known)
        console.print(terminal_table(title, headings, rows), soft_wrap=False)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the simulated values of each quantity, with 95% intervals, against the axis with most levels."""
    axes = _varying(table) if len(table) else {}
    x = max(axes, key=lambda axis: (axes[axis], table[axis].dtype.kind == "f"), default=None)
    for quantity, part in _by_quantity(table):
        series = part.apply(lambda row: _label(row, [axis for axis in axes if axis != x]), axis=1)
        unit = part["unit"].iloc[0]
        figure = captioned(_figure(part, series, x), part, f"{quantity} in {unit}" if _has_unit(unit) else "")
        yield f"{quantity}_vs_{x or 'cell'}", figure, part


def _figure(part, series, x):
    figure, grid = new_figure(1, 1, 7.4, 4.0)
    panel = grid[0, 0]
    numeric = x is not None and part[x].dtype.kind == "f"
    names = [] if numeric or x is None else list(dict.fromkeys(part[x]))
    shown = _some(series)
    if len(shown) < (count := series.nunique()):
        note(figure, "series", f"{len(shown)} of {count} series; the table has all")
    cells = part.assign(label=series)[series.isin(shown)].to_dict("records")
    known = [kind for kind in _LINES if kind in part and part[kind].notna().any()]
    if numeric and part[x].min() > 0 and part[x].max() / part[x].min() > WIDE:
        panel.set_xscale("log")
    styles = noise_styles(map(_series_of, cells))
    for label, style in styles.items():
        rows = part[series == label]
        rows = rows.sort_values(x) if numeric else rows
        places = rows[x] if numeric else [names.index(value) for value in rows[x]] if names else [0.0] * len(rows)
        points(panel, places, rows["simulated"], rows["lower"], rows["upper"], **marks_of(style), label=label)
        if numeric and "exact" not in known:
            panel.plot(places, rows["simulated"], linewidth=0.8, **line_of(style))
        for kind in known:
            if rows[kind].notna().any():
                look = _LINES[kind] | (DASH if len(rows) == 1 else {})  # a line through one point is not seen
                panel.plot(*zip(*sorted(zip(places, rows[kind]))), color=style.get("color"), linewidth=1, **look)
    if names:
        panel.set_xticks(range(len(names)), names)
    if x is None:
        panel.set_xticks([])
    panel.set(xlabel=x or "the only cell", ylabel=_named(part))
    _label_series(figure, panel, part.assign(label=series), x if numeric else None, styles)
    meant = {"exact": "lines: exact", "bound": "dots: bounds"}
    told = [meant[kind] for kind in known] or ["lines join the markers"] * numeric
    note(figure, "kind", "; ".join(["markers: simulated, 95% interval", *told]))
    headed(figure, _range(part, x))
    return figure


def _some(series) -> list[str]:
    """Return up to MOST_SERIES of the series, evenly chosen in order of appearance."""
    names = list(dict.fromkeys(series))
    return [names[place] for place in evenly(len(names), MOST_SERIES)]


def _label_series(figure, panel, part, x, styles) -> None:
    """Name the series at the ends of their lines along a numeric axis `x`, else in a legend."""
    if len(styles) < 2:
        return
    if x is None:
        legend_below(figure, {label: style | {"linestyle": "none"} for label, style in styles.items()}, 3)
        return
    last = part[part["simulated"].notna()].sort_values(x).drop_duplicates("label", keep="last")
    last = last[last["label"].isin(styles)].to_dict("records")
    label_ends(panel, [End(row["label"], row["label"], row[x], row["simulated"], styles[row["label"]]) for row in last])


def _range(part, x) -> str:
    """Return in words the least and the largest simulated value, and where they are."""
    known = part[part["simulated"].notna()].sort_values("simulated")
    ends = known.iloc[[0, -1]].to_dict("records") if len(known) > 1 else known.to_dict("records")
    axes = _varying(part)
    told = []
    for row in ends:
        where = _label(row, [axis for axis in axes if axis == x] + [axis for axis in axes if axis != x])
        told.append(f"{row['simulated']:.3g}" + (f" ({where})" if where else ""))
    return f"The simulated {_named(part)} is {' to '.join(told)}" if told else f"No {_named(part)} is simulated"


def _named(part) -> str:
    """Return the quantity of some rows with its unit."""
    quantity, unit = part["quantity"].iloc[0], part["unit"].iloc[0]
    return f"{quantity} ({unit})" if _has_unit(unit) else str(quantity)


def _has_unit(unit) -> bool:
    """Return True unless the unit is unknown or the unit of pure numbers."""
    return not blank(unit) and str(unit) not in ("", "1")


def _series_of(row) -> Series:
    label, noise = row["label"], row.get("noise") or ""
    if not noise:
        return Series(label, algorithm=label)
    return Series(label, noise, row["noise_family"], row["noise_calibration"], variant=label)


def _varying(table) -> dict[str, int]:
    """Return the number of levels of each axis with more than one."""
    given = list(table.columns[: list(table.columns).index("trials")])
    levels = {axis: table[axis].nunique() for axis in given}
    return {axis: count for axis, count in levels.items() if count > 1}


def _label(row, axes) -> str:
    values = ((axis, row[axis]) for axis in axes if not blank(row[axis]))
    return ", ".join(f"{axis} = {value:g}" if isinstance(value, float) else str(value) for axis, value in values)
