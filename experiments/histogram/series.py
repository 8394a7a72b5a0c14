"""The lines of the figures: their names and styles, and the choice of lines where there are too many."""

from collections.abc import Callable, Sequence
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.report.looks import Series, Style, noise_styles, of_omega
from tcdp_sim.report.thinning import evenly

MOST_SERIES = 8


def with_series(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with `series` and `least`: the names of a cell's line and of the line of its least error."""
    series = _by_distinct(table, ["noise_label", "omega_sqrt_rho", "omega", "delta"], _label)
    scaled = "omega_sqrt_rho" in table and table["omega_sqrt_rho"].notna().any()
    least = _by_distinct(table, ["guarantee", "omega_sqrt_rho", "omega"], lambda row: _least(row, scaled))
    there = table["least_error"].to_numpy() > 0 if "least_error" in table else False
    return table.assign(series=series, least=np.where(there, least, ""))


def _by_distinct(table: pd.DataFrame, names: Sequence[str], of: Callable[[dict], str]) -> np.ndarray:
    """Return of(row) for each row. The function is called once for all rows that agree in the columns `names`."""
    keys = table[[name for name in names if name in table]]
    number = keys.groupby([*keys], dropna=False, sort=False).ngroup()
    first = number.drop_duplicates().index
    return np.array([of(row) for row in keys.loc[first].to_dict("records")], dtype=object)[number]


def _label(row) -> str:
    """Return the name of a series, which distinguishes its cells from others at the same k and rho."""
    label, delta = row["noise_label"] + of_omega(row), row.get("delta", np.nan)
    return label if isnan(delta) else f"{label}, δ = {delta:g}".replace("e-0", "e-")


def _least(row, scaled) -> str:
    """Return the name of the line of a guarantee's least error. It states omega, which is infinite for zCDP."""
    notion = str(row.get("guarantee", "")).rpartition("-")[2]
    name = "no mechanism can do better"
    if notion == "zCDP":
        return f"{name}, {'ω√ρ' if scaled else 'ω'} = ∞ (zCDP)"
    return name + of_omega(row) if notion == "tCDP" else ""


def few_series(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Style], str]:
    """Return rows of at most MOST_SERIES series, the style of each, and the number left out in words ("" if none).

    Each of the first MOST_SERIES noises keeps at least one series, and later noises keep none. The remaining variants
    (omega, delta) of a noise are evenly chosen. The choice is the same for all data sets.
    """
    named = rows.drop_duplicates("series")
    if len(named) > MOST_SERIES:
        each = max(MOST_SERIES // named["noise"].nunique(), 1)
        named = pd.concat([own.iloc[evenly(len(own), each)] for _, own in named.groupby("noise", sort=False)])
        named = named.iloc[:MOST_SERIES]
    styles = noise_styles(_series(row) for row in named.to_dict("records"))
    everything = rows["series"].nunique()
    if len(named) == everything:
        return rows, styles, ""
    return rows[rows["series"].isin(named["series"])], styles, f"; {len(named)} of {everything} series"


def _series(row) -> Series:
    variant = row["series"].removeprefix(row["noise_label"])
    return Series(row["series"], row["noise"], row["noise_family"], row["noise_calibration"], variant)


def by_data(table) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each data set. A single data set gives the table itself, because a copy may be large."""
    if table["data"].nunique() == 1:
        return [(table["data"].iloc[0], table)]
    return list(table.groupby("data", sort=False))
