"""Releases in tables and figures: their columns, names and looks, and lines about the records of a run."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.data.skewed import skewed_records
from tcdp_sim.report.looks import FILLS, Style, release_look
from tcdp_sim.report.plots import captioned

NAMES = {
    "laplace": "Laplace",
    "generalized_gaussian": "generalised Gaussian",
    "gaussian": "Gaussian",
    "exponential_polylogarithmic": "polylogarithmic",
    "square_root": "square root",
    "fourth_root": "fourth root",
    "log": "logarithm",
    "root": "root",
    "clipped": "clipped, Gaussian",
    "unit_splitting": "unit splitting",
    "discrete_laplace": "discrete Laplace",
    "discrete_gaussian": "discrete Gaussian",
}
POWER = 2.0  # of polylogarithmic noise that looks different from the others
PARAMETERS = ("power", "rate", "offset", "degree", "clip", "threshold", "rule", "estimator", "nonnegative", "scale")
SETTING = ("population", "accounting", "delta", "influence_low", "value_low", "influence_high", "value_high")
AXES = ("release", *PARAMETERS, *SETTING, "group_by", "answer")
CURRENCIES = {
    "printed": "printed zCDP",
    "zcdp": "exact zCDP",
    "approx_dp": "exact ε at δ",
    "pure": "pure ε",
}
ILLUSTRATION = (
    "Anchors are read off the data, which is confidential: this is an illustration, not a private release. "
    "For a release give public numbers as influence_low and influence_high."
)
WORDS = "anchors are read off the data: an illustration, not private"


def labels(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the coordinates of a cell that identify its release and population, and its `label`; NaN if absent."""
    own = {name: np.nan if cell.get(name) in (None, "") else cell[name] for name in AXES if name in cell}
    return own | {"label": label(own)}


def label(row: Mapping[str, Any]) -> str:
    """Return the name of a release: its family, and the parameters that a sweep has given."""
    given = [f"{name} {_text(row[name])}" for name in PARAMETERS if name in row and not pd.isna(row[name])]
    hidden = {"offset 0", "nonnegative false"}
    return ", ".join([NAMES.get(row["release"], row["release"]), *(text for text in given if text not in hidden)])


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def styles(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return label -> colour, marker and filling. A release looks the same in all figures; its variants differ."""
    looks: dict[str, dict[str, Any]] = {}
    taken: dict[str, int] = {}
    for row in records(table.drop_duplicates("label")):
        look = _look(row)
        nth = taken[look["color"]] = taken.get(look["color"], -1) + 1
        looks[row["label"]] = look | {"fillstyle": FILLS[nth % len(FILLS)]}
    return looks


def _look(row: Mapping[str, Any]) -> Style:
    """Return colour and marker of a release. Both powers of polylogarithmic noise are drawn side by side."""
    release = row["release"].removeprefix("discrete_")
    if release == "exponential_polylogarithmic" and row.get("power", 1.0) == POWER:
        return release_look(f"{release}, power {POWER:g}")
    return release_look(release)


def panels(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return (title, rows) for each population, privacy accounting and pair of anchors, in order of appearance.

    Releases with one anchor share a panel with releases of any lower anchor.
    """
    upper = pd.Series([_setting(row) for row in records(table)], index=table.index, dtype=object)
    if several_populations(table):
        upper = table["population"].astype(str) + ", " + upper
    found = []
    for title, part in table.groupby(upper, sort=False):
        lower = pd.Series([_lower(row) for row in records(part)], index=part.index, dtype=object)
        for low in [text for text in lower.unique() if text] or [""]:
            found.append((f"{title}{low}", part[lower.isin(["", low])]))
    return found


def several_populations(table: pd.DataFrame) -> bool:
    """Return True if the rows are about more than one population."""
    return "population" in table and table["population"].nunique() > 1


def _setting(row: Mapping[str, Any]) -> str:
    """Return the privacy accounting and the guarantee of the larger record, in words."""
    accounting = row.get("accounting")
    if accounting is None or pd.isna(accounting):
        return "parameters as given"
    currency = CURRENCIES[accounting]
    if accounting == "approx_dp":
        currency += f" = {row['delta']:g}".replace("e-0", "e-")
    return f"{currency}: {_anchor(row, 'high')}"


def _lower(row: Mapping[str, Any]) -> str:
    return "" if pd.isna(row.get("value_low", np.nan)) else f", {_anchor(row, 'low')}"


def _anchor(row: Mapping[str, Any], end: str) -> str:
    return f"{row[f'value_{end}']:g} at the {record(row[f'influence_{end}'])}"


def record(influence: Any) -> str:
    """Return the name of a record by its influence, a number or a word."""
    return f"{influence} record" if is_word(influence) else f"record of {float(influence):g}"


def is_word(influence: Any) -> bool:
    """Return True if an influence is a quantile of the records. Beside words on an axis, numbers are texts too."""
    try:
        return bool(np.isnan(float(influence))) and isinstance(influence, str)
    except ValueError:
        return True


def is_illustration(table: pd.DataFrame) -> bool:
    """Return True if any release of a table is calibrated at influences that were read off the records."""
    ends = [name for name in ("influence_low", "influence_high") if name in table]
    return any(is_word(value) for name in ends for value in table[name])


def lines_about(table: pd.DataFrame) -> list[str]:
    """Return the lines under a table: each line of its `records` once, and a warning if it is an illustration."""
    lines = list(dict.fromkeys(line for text in table["records"] for line in text.splitlines()))
    return [*lines, ILLUSTRATION] if is_illustration(table) else lines


def with_caption(figure: Any, rows: pd.DataFrame, unit: str) -> Any:
    """Return the figure with its caption, which says if anchors are confidential."""
    return captioned(figure, rows, f"{unit}; {WORDS}" if is_illustration(rows) else unit)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as mappings."""
    return [dict(zip(map(str, table), row)) for row in table.itertuples(index=False, name=None)]


LEFT_OUT = {
    "dropped": "rows with a negative value were dropped",
    "clipped": "negative values were moved to 0",
    "empty": "rows with an empty cell were left out",
    "summed": "rows beyond the first of a person were added to it",
}


ANCHORS_ONLY = "Anchors are quantiles of the population's records: persons, if it has an id, else rows."


def about_records(row: Mapping[str, Any], law: Mapping[str, Any]) -> list[str]:
    """Return lines on the records of a law: their changes, and the meaning of a record. `row` has the cell's labels."""
    if not pd.isna(row.get("answer", np.nan)):
        ends = (row.get("influence_low", np.nan), row.get("influence_high", np.nan))
        return [ANCHORS_ONLY] if any(map(is_word, ends)) else []
    lines = [f"{number:,} {LEFT_OUT[what]}." for what, number in law.get("left_out", {}).items()]
    if "persons" in law:
        return [*lines, f"A record is a person, of which there are {law['persons']:,}: the rows of each are summed."]
    return [*lines, "Each row is taken for a person; if a person may have several, give the population's id."]


def label_order(table: pd.DataFrame) -> list[str]:
    """Return the labels of a table, each once, in order of appearance."""
    return [str(name) for name in table["label"].unique()]


def record_values(run: Mapping[str, Any], population: str) -> tuple[Floats, Ints]:
    """Return the distinct positive values of a run's population, ascending, and the number of records with each.

    `run` has the attributes of the run's results. The population is read again by the run's config. Both arrays are
    empty if the config or the file is missing.
    """
    config = json.loads(run.get("provenance") or "{}").get("config") or {}
    spec = config.get("mechanism", {}).get("populations", {}).get(population)
    try:
        values = skewed_records(population, spec).values if spec else np.zeros(0)
    except ValueError:  # the user's file may be gone by now
        values = np.zeros(0)
    distinct, counts = np.unique(values[values > 0], return_counts=True)
    return distinct, counts
