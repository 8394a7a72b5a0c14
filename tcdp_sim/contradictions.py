"""Where simulation and exact value contradict each other beyond chance, over all cells of a study at once."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from tcdp_sim.discoveries import FALSE_DISCOVERIES, beyond_chance
from tcdp_sim.texts import write_csv

COVERAGE = 1.959963984540054  # normal half-width of the tables' 95% intervals
NO_HIT = -np.log(0.025)  # hits expected at the upper end of the interval of none


def find(table: pd.DataFrame) -> pd.DataFrame:
    """The comparisons of a table that chance does not explain, worst first.

    A comparison is a row and a name x with columns `x`, `x_mcse` and `x_exact`; with `x_lower` and `x_upper`, 95%
    intervals that allow for what is not normal, those are the yardstick instead of the MCSE. A table that has one
    number a row calls them `quantity`, `simulated`, `mcse`, `exact`, `lower` and `upper`. Columns of the answer:
    row, quantity, simulated, exact, distance (in standard errors), p_value. `attrs["comparisons"]`: how many were made.
    """
    names = [name for name in table if f"{name}_exact" in table and f"{name}_mcse" in table]
    found = [_compared(table, name, name, f"{name}_") for name in names]
    if {"quantity", "simulated", "mcse", "exact"} <= set(table):
        found.append(_compared(table, table["quantity"], "simulated", ""))
    empty = pd.DataFrame(columns=["row", "quantity", "simulated", "exact", "distance", "p_value"])
    return beyond_chance(pd.concat(found, ignore_index=True) if found else empty)


def _compared(table, quantity, name, prefix):
    columns = (name, *(f"{prefix}{end}" for end in ("exact", "mcse", "lower", "upper")))
    given = simulated, exact, mcse, lower, upper = [_column(table, column) for column in columns]
    with np.errstate(divide="ignore", invalid="ignore"):  # both may be infinite
        gap = exact - simulated
        side = np.where(gap > 0, upper - simulated, simulated - lower) / COVERAGE
        unit = np.where(np.isfinite(side) & (side > 0), np.fmax(side, _if_exact(*given)), mcse)
        agree = (np.abs(gap) <= 1e-12 * np.abs(exact)) | np.isposinf(side)  # no end on that side: anything goes
        distance = np.where(agree, 0.0, np.abs(gap) / unit)
    out = pd.DataFrame({"row": table.index, "quantity": quantity, "simulated": simulated, "exact": exact})
    out = out.assign(distance=distance, p_value=2 * ndtr(-distance))
    return out[np.isfinite(simulated) & np.isfinite(exact) & ~np.isnan(distance)]


def _if_exact(simulated, exact, mcse, lower, upper):
    """The standard error of a count of few, over a scale, if the exact value is true; NaN where that is not asked for.

    The interval of few hits is too short for hits that failed to come: none where nine are expected happens once in
    8000 times, at 4.8 of its standard errors. Those of the exact value are 3, and the normal tail is the longer one.
    Hits, or of what lies in [0, 1] misses, come in steps of mcse^2 / simulated; of none at all, upper / 3.69.
    """
    shares = (lower >= 0) & (upper <= 1) & (exact <= 1)
    hit = np.where(simulated > 0, mcse**2 / simulated, upper / NO_HIT)
    miss = np.where(simulated < 1, mcse**2 / (1 - simulated), (1 - lower) / NO_HIT)
    fewer, more = (simulated >= 0) & (exact > simulated), shares & (exact < simulated)
    return np.sqrt(np.where(fewer, hit * exact, np.where(more, miss * (1 - exact), np.nan)))


def _column(table, name):
    return table[name].to_numpy(dtype=float) if name in table else np.full(len(table), np.nan)


def report(table: pd.DataFrame, path: Path, console) -> None:
    """Say how many comparisons were made and which contradict; write those to `path`, with the cells they are of."""
    alarms = find(table)
    named = alarms.reset_index(drop=True).add_prefix("alarm_")
    write_csv(pd.concat([named, table.loc[alarms["row"]].reset_index(drop=True)], axis=1), path)
    made = alarms.attrs["comparisons"]
    if alarms.empty:
        console.print(f"{made} simulated numbers have an exact one beside them; none contradicts it beyond chance.")
        return
    worst = alarms.iloc[0]
    told = f"{worst['quantity']} of row {worst['row']}: {worst['simulated']:.6g} against {worst['exact']:.6g}"
    said = f"CONTRADICTION: {len(alarms)} of {made} simulated numbers differ from the exact ones beyond chance "
    said += f"({FALSE_DISCOVERIES:.0%} false discoveries); the worst by {worst['distance']:.1f} standard errors: {told}"
    console.print(f"{said}. All: {path}", markup=False)
