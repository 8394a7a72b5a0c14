"""Released counts by level and query: the exact epsilon against the usual conversions, and the noise it allows."""

from math import ceil, floor

import numpy as np
import pandas as pd

from tcdp_sim.experiments.census.drawing import figures
from tcdp_sim.experiments.census.exact_values import (
    EXACT,
    HIGH,
    LARGEST,
    LOW,
    SQUARE,
    UNITS,
    UNKNOWN,
    published,
    releases,
)
from tcdp_sim.privacy.relation import written
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

__all__ = ["EXACT", "UNITS", "UNKNOWN", "figures", "report", "rows"]

QUANTILE = 0.95


def rows(cell: Cell) -> Row:
    """Return one row: the accounting of the whole list, and the errors of the shown counts.

    - `epsilon_low`, `epsilon_high`: the exact bracket of epsilon at delta, with the noise that is used.
    - epsilon_simple, epsilon_best and epsilon_continuous: the results of the formulas for that noise
      (`CountReleases.conversions`).
    - `target`: the epsilon that the variances were reduced to, which the conversion gives for the list itself; NaN for
      the list itself.
    - `factor`: the factor of all sigma^2.
    - `rms_error`: the root of the mean squared error of the shown counts. `largest_error_q95` is the 95% quantile of
      the largest of their errors. Both have exact values.
    """
    mechanism = cell.mechanism
    row = cell.only("list", "delta") | {"variances": mechanism.variances}
    row |= {axis: cell.get(axis) or "all" for axis in ("level", "query")} | cell.only("trials")
    row |= {"neighbours": written(mechanism.releases.relation), "histograms": len(mechanism.releases.levels)}
    row |= {"shown": len(mechanism.shown), "rho": releases(mechanism).rho, "factor": mechanism.factor}
    row |= {
        "epsilon_low": cell.get(LOW + columns.EXACT, np.nan),
        "epsilon_high": cell.get(HIGH + columns.EXACT, np.nan),
    }
    formulas = releases(mechanism).conversions(mechanism.delta)
    row |= {f"epsilon_{name}": value for name, value in formulas.items()}
    promised = published(mechanism).conversions(mechanism.delta)
    row["target"] = promised.get(mechanism.variances, np.nan)
    row |= cell.numbers(SQUARE, "mean_square_error")
    for end in ("", columns.LOWER, columns.UPPER, columns.EXACT):
        row[f"rms_error{end}"] = float(np.sqrt(max(row[f"mean_square_error{end}"], 0.0)))
    return row | cell.numbers(LARGEST, "largest_error_q95", QUANTILE)


def report(table: pd.DataFrame, console) -> None:
    """Print the exact brackets, the conversions, the factors of the variances, and the errors of counts."""
    whole = _accounts(table)
    own = whole[whole["variances"] == "published"]
    if len(own):
        headings = ("list", "δ", "ρ", "exact ε", "continuous", "best", "ρ + 2√(ρ log 1/δ)")
        title = "The exact ε of the lists, and what formulas give (continuous is no bound)"
        console.print(terminal_table(title, headings, map(_account, own.to_dict("records"))), soft_wrap=False)
    reduced = whole[whole["variances"] != "published"]
    if len(reduced):
        names = ("list", "δ", "equal to", "ε", "exact ε then", "all σ² smaller by")
        title = "Variances at equal privacy: the exact ε is the one that the conversion gives for the list itself"
        console.print(terminal_table(title, names, map(_reduced, reduced.to_dict("records"))), soft_wrap=False)
    for line in _unsafe(own):
        console.print(line)
    single = table[table["shown"] == 1]
    if len(single):
        errors = ("list: level, query", "variances", "rms error", "± MCSE", "exact", "95%", "exact")
        title = "Errors of one released count"
        console.print(terminal_table(title, errors, map(_error, single.to_dict("records"))), soft_wrap=False)
    ends = ("", columns.MCSE, columns.LOWER, columns.UPPER, columns.EXACT)
    console.print(agreement("mean squared error", *(table["mean_square_error" + end] for end in ends)))


def _accounts(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each list, delta and origin of the noise."""
    return table.drop_duplicates(["list", "delta", "variances"])


def _account(row) -> list[str]:
    bracket = f"{_rounded(row['epsilon_low'], floor)} to {_rounded(row['epsilon_high'], ceil)}"
    formulas = (f"{row[f'epsilon_{name}']:.4f}" for name in ("continuous", "best", "simple"))
    return [row["list"], f"{row['delta']:.0e}", f"{row['rho']:.4f}", bracket, *formulas]


def _rounded(value: float, outwards) -> str:
    """Return an end of a bracket with four decimals, rounded outwards."""
    return f"{outwards(1e4 * value) / 1e4:.4f}" if np.isfinite(value) else f"{value:g}"


def _reduced(row) -> list[str]:
    names = [row["list"], f"{row['delta']:.0e}", row["variances"]]
    return [*names, _rounded(row["target"], ceil), _rounded(row["epsilon_high"], ceil), f"{1 - row['factor']:.2%}"]


def _unsafe(own: pd.DataFrame) -> list[str]:
    """Return a line for every list whose exact epsilon is proved to exceed the epsilon of continuous noise."""
    wrong = own[own["epsilon_low"] > own["epsilon_continuous"]]
    return [
        f"{row['list']} at δ = {row['delta']:.0e}: the formula of continuous noise is too low by "
        f"{row['epsilon_low'] - row['epsilon_continuous']:.2g}. It is no bound."
        for row in wrong.to_dict("records")
    ]


def _error(row) -> list[str]:
    error = row["rms_error"]
    mcse = row["mean_square_error_mcse"] / (2 * error) if error else 0.0
    numbers = [f"{error:.3f}", f"{mcse:.2g}", f"{row['rms_error_exact']:.3f}"]
    tail = [f"{row['largest_error_q95']:.0f}", f"{row['largest_error_q95_exact']:g}"]
    return [f"{row['list']}: {row['level']}, {row['query']}", row["variances"], *numbers, *tail]
