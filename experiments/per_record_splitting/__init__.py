"""Unit splitting as Gaussian noise on a sum of clipped values: its law, policy and errors, and the paper's claims."""

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments.per_record.series import record_values, records
from tcdp_sim.experiments.per_record_splitting import paper
from tcdp_sim.experiments.per_record_splitting.drawing import figures
from tcdp_sim.experiments.per_record_splitting.errors import (
    ERROR,
    EXACT,
    QUANTILES,
    SQUARED,
    UNITS,
    UNKNOWN,
    bias,
    is_normal,
    rmse,
    scale,
)
from tcdp_sim.mechanisms.per_record_sum import PerRecordSum
from tcdp_sim.mechanisms.record_axes import is_illustration
from tcdp_sim.per_record import ClippedRelease, Release, UnitSplitRelease
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

__all__ = ["EXACT", "UNITS", "UNKNOWN", "figures", "known", "report", "rows"]

AXES = ("release", "rule", "threshold", "pieces", "exponent", "clip", "population", "accounting", "value_high")
FINE = 60  # number of clips of the exact curve
UNITS_OF_VALUE = np.geomspace(0.1, 40, 800)  # values over the threshold at which the staircase is drawn
NOTE = "Calibrated to the largest record, which is confidential: an illustration, not to be released."


RELATION = "add-remove"


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each simulated `quantity` of a cell, with `simulated`, `mcse`, 95% interval and `exact`.

    - `quantity`: "bias", "rmse" or "quantile" (of level `at`) of released minus true sum, in values.
    - `scale`: the scale of the noise.
    - `most`: the largest contribution of a record.

    The function raises UserError for any other release.
    """
    mechanism: PerRecordSum = cell.mechanism
    if not is_normal(mechanism):
        valid = "one sum by gaussian, clipped or unit_splitting, which may be negative"
        raise UserError(f"experiment per_record_splitting cannot use cell {cell.place}; valid: {valid}")
    about = _labels(cell)
    yield _row(about, "bias", np.nan, _values(cell, ERROR)) | {"skewness": cell.skewness("error")}
    square, mcse, *ends = _values(cell, SQUARED)
    root, *ends = np.sqrt(np.maximum([square, *ends], 0))
    yield _row(about, "rmse", np.nan, [root, mcse / (2 * root), *ends]) | {"skewness": cell.skewness("squared_error")}
    numbers = cell.quantiles(QUANTILES)
    p_values = cell.p_value("error", cell.levels, numbers[-1])
    for level, number, p_value in zip(cell.levels, numbers.T, p_values):
        yield _row(about, "quantile", level, number) | {"p_value": p_value}


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield the rows that are known without trials.

    - "clipped": the exact RMSE and bias over clips.
    - "policy": the printed and exact policy of rule `series` at `at`, the value over the threshold; one piece costs 1.
    - "claim": the claims of the paper: printed, computed, verdict.
    """
    yield from _clipped(cells[0].run, rows)
    yield from _policies()
    yield from (claim.row | {"quantity": "claim", "trials": 0} for claim in paper.claims())


def _labels(cell: Cell) -> Row:
    """Return the columns that each row of a cell has."""
    mechanism, row = cell.mechanism, cell.only(*AXES, "trials")
    row["value_high"] = value = cell.get("value_high", np.nan)  # NaN where the scale is given
    largest = scale(mechanism) * np.sqrt(2 * value) if cell.get("accounting") == "zcdp" else np.nan
    about = {"series": series(mechanism.release), "scale": scale(mechanism), "most": largest}
    about |= {"note": NOTE if is_illustration(cell) else "", "true_sum": mechanism.true_sums[0]}
    return row | about | {"exact_bias": bias(mechanism), "exact_rmse": rmse(mechanism)}


def series(release: Release) -> str:
    """Return the name of a release in figures: the rule of its splitting, or its family."""
    if isinstance(release, UnitSplitRelease):
        exponent = "" if release.exponent is None else f" {release.exponent:g}"
        return f"split, {release.rule}{exponent}"
    return "clipped" if isinstance(release, ClippedRelease) else "Gaussian"


def _values(cell: Cell, quantity: str) -> list[float]:
    """Return a simulated number, its MCSE, its interval and the exact value."""
    found = cell.numbers(quantity, "")
    return [found[end] for end in columns.WITH_EXACT]


def _row(about: Row, quantity: str, at: float, numbers: Any) -> Row:
    return about | {"quantity": quantity, "at": at} | dict(zip((*NUMBERS, "exact"), map(float, numbers)))


def _clipped(run: Mapping[str, Any], rows: list[Row]) -> Iterator[Row]:
    """Yield the exact errors of clipping for a grid of clips, at the policy of the largest record of each part."""
    drawn = [row for row in rows if isinstance(row.get("population"), str) and not isnan(row["most"])]
    parts = {(row["population"], row["value_high"]) for row in drawn}
    for population, value in sorted(parts):
        values, counts = record_values(run, population)
        for clip in np.geomspace(values[-1] / 100, values[-1], FINE) if len(values) else ():
            off = float(counts @ (np.minimum(values, clip) - values))
            known = {"exact_bias": off, "exact_rmse": float(np.hypot(clip / np.sqrt(2 * value), off))}
            about = {"quantity": "clipped", "population": population, "value_high": value, "trials": 0}
            yield about | {"series": "clipped", "most": float(clip)} | known


def _policies() -> Iterator[Row]:
    """Yield the policies of each rule, where a piece costs 1."""
    one = {"threshold": 1.0, "scale": np.sqrt(0.5)}
    capped = UnitSplitRelease(**one, rule="capped", pieces=5)
    for release in (UnitSplitRelease(**one), capped, UnitSplitRelease(**one, rule="sublinear", exponent=0.5)):
        printed, known = release.policy(UNITS_OF_VALUE), release.exact_policy(UNITS_OF_VALUE)
        for at, loose, tight in zip(UNITS_OF_VALUE.tolist(), printed.tolist(), known.tolist()):
            values = {"at": at, "printed": loose, "policy": tight, "trials": 0}
            yield {"quantity": "policy", "series": series(release)} | values


def report(table: pd.DataFrame, console: Any) -> None:
    """Print the errors of every rule, and the paper's claims with their verdicts."""
    errors = table[table["quantity"] == "rmse"]
    for _, part in errors.groupby("value_high", sort=False, dropna=False):
        best = part.sort_values("exact_rmse").drop_duplicates("series")
        rows = map(_terminal_row, records(best))
        value = part["value_high"].iloc[0]
        at = "scale given" if np.isnan(value) else f"P = {value:g} at the largest record"
        title = f"Sum of {part['true_sum'].iloc[0]:,.0f}, {at}: the best of each kind"
        headings = ("release", "counts", "bias", "RMSE", "simulated", "±")
        console.print(terminal_table(title, headings, rows), soft_wrap=False)
    for note in filter(None, errors["note"].unique()):
        console.print(note)
    _report_claims(table[table["quantity"] == "claim"], console)
    drawn = table[table["trials"] > 0]
    console.print(agreement("value", *(drawn[name] for name in (*NUMBERS, "exact")), things="numbers"))


def _report_claims(claims: pd.DataFrame, console: Any) -> None:
    """Print the paper's numbers that are not simply right."""
    fine = claims["verdict"].isin(["right", "tight"])
    rows = (
        [f"{row['where']}: {row['claim']}", row["printed_text"], f"{row['computed']:.6g}", row["verdict"]]
        for row in records(claims[~fine])
    )
    title = f"Finley et al. 2024: of {len(claims)} numbers {fine.sum()} are right (bounds: tight); the others"
    headings = ("claim", "printed", "computed", "verdict")
    console.print(terminal_table(title, headings, rows, fold=True), soft_wrap=False)
    console.print("All of them: claims.csv, beside the figures.")


def _terminal_row(row: dict[str, Any]) -> list[str]:
    numbers = [f"{row[name]:.4g}" for name in ("most", "exact_bias", "exact_rmse", "simulated")]
    return [row["series"], *numbers, f"{row['mcse']:.1g}"]
