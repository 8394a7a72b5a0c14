"""Contradictions between simulated and exact values beyond chance, over all cells of a study at once."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from tcdp_sim.core.texts import blank, write_csv
from tcdp_sim.statistics.one_sample import LEAST_P, skewed, unseen_p_values
from tcdp_sim.statistics.two_samples import FALSE_DISCOVERIES, beyond_chance
from tcdp_sim.summaries.estimates import CONFIDENCE, NORMAL, SAME, UNSEEN

LOPSIDED = 1e-6  # the relative difference of the halves of an interval, from which it is that of a frequency
COLUMNS = ("row", "quantity", "simulated", "exact", "distance", "p_value")
ROWS = 65536  # rows of a table that are compared at a time
GIVEN_SUCCESS = "trials failed, and simulated numbers are those given success: exact ones are compared with these"
WITHIN_BOUND = "_within_bound"  # the ending of a quantity whose "exact" value is a bound that it must not exceed


def find(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of a table that chance does not explain, worst first.

    A comparison is a row and a name x with the columns `x`, `x_mcse` and `x_exact`. Further columns refine it:

    - `x_lower` and `x_upper`: a 95% interval for values that are not normal, used instead of the MCSE.
    - `x_skewness` (of the sample) and `trials`: x is a mean. The fewer the trials of a skewed law, the less a distance
      counts. Without a skewness it is taken as 0, so that Student's law holds for few trials.
    - `x_nonfinite`: the number of trials that are in no mean. A mean without any trial contradicts every exact value.
    - x_least and x_most: the range of the trials of a mean. A difference counts no more than values that no trial
      shows allow: see `unseen_p_values`.
    - `x_p_value`: a p-value, used instead of the distance.

    If all trials are equal, the MCSE is 0 and cannot serve as a unit. Then x is judged by its range or its interval. If
    it has neither, it is not compared, because a value too rare to be among the trials would explain any difference.

    A table with one number per row has these columns without the prefix x_. The number is in the column `simulated`,
    and its name is in the column `quantity`.
    """
    names = [name for name in table if f"{name}_exact" in table and f"{name}_mcse" in table]
    asked = [(name, f"{name}_") for name in names]
    if {"quantity", "simulated", "mcse", "exact"} <= set(table):
        asked.append(("simulated", ""))
    made, unjudged, doubted = 0, 0, [pd.DataFrame(columns=COLUMNS)]
    for name, prefix in asked:
        for start in range(0, len(table), ROWS):
            rows = table.iloc[start : start + ROWS]
            compared, left_out = _compared(rows, name if prefix else rows["quantity"], name, prefix)
            made, unjudged = made + len(compared), unjudged + left_out
            doubted.append(compared[compared["p_value"] <= FALSE_DISCOVERIES])
    found = beyond_chance(pd.concat(doubted[1:] or doubted, ignore_index=True), made)
    found.attrs["unjudged"] = unjudged
    return found


def _compared(table, quantity, name, prefix) -> tuple[pd.DataFrame, int]:
    """Return the comparisons of one number, and how many differences are not judged."""
    columns = (name, *(f"{prefix}{end}" for end in ("exact", "mcse", "lower", "upper")))
    simulated, exact, mcse, *interval = [_column(table, column) for column in columns]
    skewness, p_value, lost = (_column(table, f"{prefix}{end}") for end in ("skewness", "p_value", "nonfinite"))
    trials = _column(table, "trials")
    unseen = _unseen(table, prefix, simulated, exact, trials - np.where(np.isnan(lost), 0, lost))
    with np.errstate(all="ignore"):  # both may be infinite
        equal = mcse <= SAME * np.abs(simulated)
        distance = _distance(simulated, exact, mcse, *interval)
        of_few = skewed(distance, trials, np.where(np.isnan(skewness), 0.0, skewness))
        is_mean = ~np.isnan(skewness) | ~_lopsided(simulated, *interval)  # an interval of a frequency knows its trials
        distance = np.where(is_mean & ~np.isnan(trials), of_few, distance)
        distance = np.where(np.isnan(unseen) | equal, distance, np.fmin(distance, -ndtri(unseen / 2)))
    decided = (equal & ~np.isnan(unseen)) | (lost == trials)  # the distance of equal trials has no unit
    p_value = np.where(np.isnan(p_value) & decided & (trials > 0), unseen, p_value)
    has_p_value = ~np.isnan(p_value)
    distance = np.where(has_p_value, np.where(p_value > 0, -ndtri(p_value / 2), np.fmax(distance, 0)), distance)
    out = pd.DataFrame({"row": table.index, "quantity": quantity, "simulated": simulated, "exact": exact})
    out = out.assign(distance=distance, p_value=np.where(has_p_value, p_value, 2 * ndtr(-distance)))
    compared = has_p_value | (np.isfinite(simulated) & np.isfinite(exact) & ~np.isnan(distance))
    return out[compared], int(np.count_nonzero(equal & ~compared & np.isfinite(exact)))


def _unseen(table, prefix, simulated, exact, trials):
    """Return the p-values of `unseen_p_values` for means, NaN for other numbers."""
    least, most = (_column(table, f"{prefix}{end}") for end in ("least", "most"))
    least, most = np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
    is_mean = f"{prefix}skewness" in table
    return unseen_p_values(simulated, trials, exact, least, most) if is_mean else np.full(len(table), np.nan)


def _distance(simulated, exact, mcse, lower, upper):
    """Return the distances in standard errors; NaN where all trials are equal and there is no interval.

    The half of an interval of equal trials is no multiple of a standard error: see `ends_of_equal_trials`.
    """
    gap = exact - simulated
    half = np.where(gap > 0, upper - simulated, simulated - lower)
    equal = mcse <= SAME * np.abs(simulated)
    rare = _if_exact(simulated, exact, mcse, lower, upper)
    unit = np.where(np.isfinite(half) & (half > 0), np.fmax(half / NORMAL, rare), mcse)
    unit = np.where(equal & ~(lower < upper), np.nan, unit)
    distance = np.where(equal & (half > 0) & ~(rare > 0), _of_chance(np.abs(gap) / half), np.abs(gap) / unit)
    agree = (np.abs(gap) <= 1e-12 * np.abs(exact)) | np.isposinf(half)  # the interval has no end on that side
    return np.where(agree, 0.0, distance)


def _of_chance(halves):
    """Return the distances with the p-values of equal trials, given the distances in halves of an interval."""
    return -ndtri(np.maximum((1 - CONFIDENCE) ** halves, LEAST_P) / 2)


def _if_exact(simulated, exact, mcse, lower, upper):
    """Return the standard error of a rare-event frequency under the exact value; NaN where the frequency is not rare.

    The interval of a frequency with few hits is too short if hits failed to come. No hits where nine are expected
    happen once in 8000 times and are 4.8 standard errors of the interval away, but only 3 under the exact value. The
    normal tail at 3 is the larger one. Each hit (or miss, for values in [0, 1]) counts for mcse^2 / simulated. With no
    hits, use upper / 3.69 (the rule of three at 97.5%).

    The interval of a rare frequency reaches further on one side. That of a mean does not, and a mean is no count.
    """
    shares = (lower >= 0) & (upper <= 1) & (exact <= 1)
    hit = np.where(simulated > 0, mcse**2 / simulated, upper / UNSEEN)
    miss = np.where(simulated < 1, mcse**2 / (1 - simulated), (1 - lower) / UNSEEN)
    fewer, more = (simulated >= 0) & (exact > simulated), shares & (exact < simulated)
    rare = np.sqrt(np.where(fewer, hit * exact, np.where(more, miss * (1 - exact), np.nan)))
    return np.where(_lopsided(simulated, lower, upper), rare, np.nan)


def _lopsided(simulated, lower, upper):
    """Return True for the interval of a frequency: it reaches further on one side."""
    return np.abs((upper - simulated) - (simulated - lower)) > LOPSIDED * (upper - lower)


def _column(table, name):
    return table[name].to_numpy(dtype=float) if name in table else np.full(len(table), np.nan)


def report(table: pd.DataFrame, path: Path, say, cells=None) -> int:
    """Report the number of comparisons and of contradictions, write the latter to `path`, and return their number.

    The table of `results.open_cells` serves to find the cell of each row. The report names the worst contradiction with
    its cell, axes and values. The file lists all of them.
    """
    alarms = find(table)
    rows = table.loc[alarms["row"]].reset_index(drop=True)
    named = alarms.reset_index(drop=True).add_prefix("alarm_")
    named["alarm_cell"] = [_cell(row, cells) for row in rows.to_dict("records")]
    write_csv(pd.concat([named, rows], axis=1), path)
    made = alarms.attrs["comparisons"]
    unjudged = alarms.attrs["unjudged"]
    if not made and not unjudged:
        say("no simulated number here has an exact value beside it: nothing was compared")
    elif alarms.empty and made:
        say(f"{made} simulated numbers have an exact one beside them; none contradicts it beyond chance.")
    elif made:
        worst = {**rows.iloc[0].to_dict(), **named.iloc[0].to_dict()}
        name, values = worst_of(alarms)
        say(f"CONTRADICTION: {said(alarms)}: {name} of {_where(worst, cells)}: {values}. All: {path}")
    if unjudged:
        say(not_judged(unjudged))
    return len(alarms)


def not_judged(count: int) -> str:
    """Return a line about means of equal trials that differ from their exact value and are not judged."""
    return (
        f"{count} means differ from the exact value and are not judged, because all their trials are equal: a value "
        "too rare to be among the trials would explain any difference, unless the range of the number is known"
    )


def said(alarms: pd.DataFrame) -> str:
    """Return the number of contradictions that `find` has found, at least one, and the distance of the worst."""
    bounds = alarms["quantity"].str.endswith(WITHIN_BOUND)
    kinds = (("differ from the exact ones", not bounds.all()), ("exceed their bound", bounds.any()))
    how = " or ".join(kind for kind, there in kinds if there)
    found = f"{len(alarms)} of {alarms.attrs['comparisons']} simulated numbers {how} beyond chance"
    distance = alarms["distance"].iloc[0]
    return f"{found} ({FALSE_DISCOVERIES:.0%} false discoveries); the worst by {distance:.1f} standard errors"


def worst_of(alarms: pd.DataFrame) -> tuple[str, str]:
    """Return the name of the quantity of the worst contradiction, and its numbers in words."""
    worst = alarms.iloc[0]
    simulated, known = f"{worst['simulated']:.6g} simulated", f"{worst['exact']:.6g}"
    if worst["quantity"].endswith(WITHIN_BOUND):
        return worst["quantity"].removesuffix(WITHIN_BOUND), f"{simulated}, bound {known}"
    return worst["quantity"], f"{simulated}, {known} exact"


def _axes(row, cells) -> list[str]:
    """Return the axes of the sweep that a row of a table has a value for."""
    return [axis for axis in json.loads(cells.attrs["axes"]) if axis in row] if cells is not None else []


def _where(row, cells) -> str:
    names = [*_axes(row, cells), "at"]
    given = [(name, row[name]) for name in names if name in row and not blank(row[name])]
    axes = " ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in given)
    cell = f"cell={row['alarm_cell'][:16]}" if row["alarm_cell"] else f"row {row['alarm_row']}"
    return f"{cell} ({axes})" if axes else cell


def _cell(row, cells) -> str:
    """Return the id of the cell with a row's values on the axes; "" if several cells have them.

    The column `at` of a row may hold the value of one of the axes.
    """
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
