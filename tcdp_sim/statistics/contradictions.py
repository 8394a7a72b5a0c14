"""Where simulation and exact value contradict each other beyond chance, over all cells of a study at once."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from tcdp_sim.core.texts import blank, write_csv
from tcdp_sim.statistics.one_sample import skewed
from tcdp_sim.statistics.two_samples import FALSE_DISCOVERIES, beyond_chance
from tcdp_sim.summaries.estimates import NORMAL, SAME, UNSEEN

ROWS = 65536  # of a table that are compared at a time


def find(table: pd.DataFrame) -> pd.DataFrame:
    """The comparisons of a table that chance does not explain, worst first.

    A comparison is a row and a name x with columns `x`, `x_mcse` and `x_exact`; with `x_lower` and `x_upper`, 95%
    intervals that allow for what is not normal, those are the yardstick instead of the MCSE. With `x_skewness`, that of
    the sample, and `trials` it is a mean, whose distance counts less the fewer trials there are of a skewed law; with
    `x_p_value` that one counts. Trials that are all equal have an MCSE of 0, which is no yardstick: without an interval
    they are not compared. A table that has one number a row calls them `quantity`, `simulated`, `mcse`, `exact`,
    `lower`, `upper`, `skewness` and `p_value`. Columns of the answer: row, quantity, simulated, exact, distance (in
    standard errors of a normal law with that p-value), p_value. `attrs["comparisons"]`: how many were made.
    """
    names = [name for name in table if f"{name}_exact" in table and f"{name}_mcse" in table]
    asked = [(name, f"{name}_") for name in names]
    if {"quantity", "simulated", "mcse", "exact"} <= set(table):
        asked.append(("simulated", ""))
    made, doubted = 0, [pd.DataFrame(columns=["row", "quantity", "simulated", "exact", "distance", "p_value"])]
    for name, prefix in asked:
        for start in range(0, len(table), ROWS):
            rows = table.iloc[start : start + ROWS]
            compared = _compared(rows, name if prefix else rows["quantity"], name, prefix)
            made += len(compared)
            doubted.append(compared[compared["p_value"] <= FALSE_DISCOVERIES])
    return beyond_chance(pd.concat(doubted[1:] or doubted, ignore_index=True), made)


def _compared(table, quantity, name, prefix):
    columns = (name, *(f"{prefix}{end}" for end in ("exact", "mcse", "lower", "upper")))
    given = simulated, exact, mcse, lower, upper = [_column(table, column) for column in columns]
    skewness, chance = (_column(table, f"{prefix}{end}") for end in ("skewness", "p_value"))
    with np.errstate(divide="ignore", invalid="ignore"):  # both may be infinite
        gap = exact - simulated
        side = np.where(gap > 0, upper - simulated, simulated - lower) / NORMAL
        equal = (mcse <= SAME * np.abs(simulated)) & ~(lower < upper)  # no trial differs: what is rarer is not known
        unit = np.where(np.isfinite(side) & (side > 0), np.fmax(side, _if_exact(*given)), np.where(equal, np.nan, mcse))
        agree = (np.abs(gap) <= 1e-12 * np.abs(exact)) | np.isposinf(side)  # no end on that side: anything goes
        distance = np.where(agree, 0.0, np.abs(gap) / unit)
        distance = np.where(np.isnan(skewness), distance, skewed(distance, _column(table, "trials"), skewness))
    has_chance = ~np.isnan(chance)
    distance = np.where(has_chance, np.where(chance > 0, -ndtri(chance / 2), np.fmax(distance, 0)), distance)
    out = pd.DataFrame({"row": table.index, "quantity": quantity, "simulated": simulated, "exact": exact})
    out = out.assign(distance=distance, p_value=np.where(has_chance, chance, 2 * ndtr(-distance)))
    return out[has_chance | (np.isfinite(simulated) & np.isfinite(exact) & ~np.isnan(distance))]


def _if_exact(simulated, exact, mcse, lower, upper):
    """The standard error of a count of few, over a scale, if the exact value is true; NaN where that is not asked for.

    The interval of few hits is too short for hits that failed to come: none where nine are expected happens once in
    8000 times, at 4.8 of its standard errors. Those of the exact value are 3, and the normal tail is the longer one.
    Hits, or of what lies in [0, 1] misses, come in steps of mcse^2 / simulated; of none at all, upper / 3.69.
    """
    shares = (lower >= 0) & (upper <= 1) & (exact <= 1)
    hit = np.where(simulated > 0, mcse**2 / simulated, upper / UNSEEN)
    miss = np.where(simulated < 1, mcse**2 / (1 - simulated), (1 - lower) / UNSEEN)
    fewer, more = (simulated >= 0) & (exact > simulated), shares & (exact < simulated)
    return np.sqrt(np.where(fewer, hit * exact, np.where(more, miss * (1 - exact), np.nan)))


def _column(table, name):
    return table[name].to_numpy(dtype=float) if name in table else np.full(len(table), np.nan)


def report(table: pd.DataFrame, path: Path, say, cells=None) -> int:
    """Say how many comparisons were made and which contradict, and write those to `path`; how many they are.

    cells: what `results.open_cells` gives, in which the cells of the table's rows are looked up. The worst is said with
    its cell, axes and values; all are written with theirs.
    """
    alarms = find(table)
    rows = table.loc[alarms["row"]].reset_index(drop=True)
    named = alarms.reset_index(drop=True).add_prefix("alarm_")
    named["alarm_cell"] = [_cell(row, cells) for row in rows.to_dict("records")]
    write_csv(pd.concat([named, rows], axis=1), path)
    made = alarms.attrs["comparisons"]
    if not made:
        say("no simulated number here has an exact value beside it: nothing was compared")
    elif alarms.empty:
        say(f"{made} simulated numbers have an exact one beside them; none contradicts it beyond chance.")
    else:
        worst = {**rows.iloc[0].to_dict(), **named.iloc[0].to_dict()}
        message = f"CONTRADICTION: {len(alarms)} of {made} simulated numbers differ from the exact ones beyond chance "
        message += f"({FALSE_DISCOVERIES:.0%} false discoveries); the worst by {worst['alarm_distance']:.1f}"
        message += " standard errors"
        values = f"{worst['alarm_simulated']:.6g} simulated, {worst['alarm_exact']:.6g} exact"
        say(f"{message}: {worst['alarm_quantity']} of {_where(worst, cells)}: {values}. All: {path}")
    return len(alarms)


def _axes(row, cells) -> list[str]:
    """The axes of the sweep whose values a row of a table has."""
    return [axis for axis in json.loads(cells.attrs["axes"]) if axis in row] if cells is not None else []


def _where(row, cells) -> str:
    names = [*_axes(row, cells), "at"]
    given = [(name, row[name]) for name in names if name in row and not blank(row[name])]
    axes = " ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in given)
    cell = f"cell={row['alarm_cell'][:16]}" if row["alarm_cell"] else f"row {row['alarm_row']}"
    return f"{cell} ({axes})" if axes else cell


def _cell(row, cells) -> str:
    """The id of the cell that has the values of a row on the axes, one of them perhaps as `at`; "" if several have."""
    if cells is None:
        return ""
    axes = _axes(row, cells)
    fits = np.ones(cells.sizes["cell"], dtype=bool)
    for axis in axes:
        fits &= _same(cells[axis].values, row[axis])
    others = [axis for axis in json.loads(cells.attrs["axes"]) if axis not in axes]
    narrower = [fits & _same(cells[axis].values, row["at"]) for axis in others if not blank(row.get("at"))]
    exact = [mask for mask in narrower if mask.sum() == 1]
    fits = exact[0] if exact and fits.sum() > 1 else fits
    return str(cells["id"].values[fits][0]) if fits.sum() == 1 else ""


def _same(column, value) -> np.ndarray:
    if blank(value):
        return np.array([blank(other) for other in column])
    return column == value
