"""Many private quantiles: errors of all methods at equal privacy, exact values, and the best method."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.experiments import losses
from tcdp_sim.experiments.quantiles import by_records, curves, loss_laws, maps
from tcdp_sim.experiments.quantiles.by_records import errors_by_records
from tcdp_sim.experiments.quantiles.curves import error_curves
from tcdp_sim.experiments.quantiles.exact_values import exact_mean, exact_success, mean_bound
from tcdp_sim.experiments.quantiles.looks import PRIVACY, TARGET
from tcdp_sim.experiments.quantiles.maps import best_method_map
from tcdp_sim.report.plots import captioned
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

MEAN = columns.mean("mean_rank_error")
PARTS = (columns.mean, columns.quantile)
SUCCESS = "success"
RANKS = "rank errors in records"
LABELS = ("method", "neighbours", "records", "m", "guarantee", "trials")
SAME = ("neighbours", "records", "domain")
HEADINGS = ("domain", "n", "m", "best", "mean rank error", "largest", "units", "success", "second")
EXACT = {MEAN: exact_mean, SUCCESS: exact_success, **loss_laws.EXACT}
SURVIVAL, DELTA, PROMISED = loss_laws.SURVIVAL, loss_laws.DELTA, loss_laws.PROMISED
BOUND = {MEAN: mean_bound}
_SORTED = "the law of the sorted outputs of a method is computed for its mean rank error and success alone"
_DEARER = "exact means and successes are computed where their sums are short enough, and not for every method"
UNKNOWN = {
    MEAN: _DEARER,
    SUCCESS: _DEARER,
    columns.quantile("mean_rank_error"): _SORTED,
    **{part(name): _SORTED for name in ("largest_rank_error", "mean_value_error") for part in PARTS},
    **losses.UNKNOWN,
}


def rows(cell: Cell) -> Row:
    """Return one row: the errors and the probability of success of a method.

    - `mean_rank_error`: the mean over trials and quantiles, in records, with `_exact` where a law is known.
    - `largest_rank_error`: the largest error over the quantiles, its mean over trials, in records.
    - `mean_value_error`: the mean distance from the true quantiles, in units.
    - `success`: the probability that all rank errors are at most alpha n.
    """
    mechanism = cell.mechanism
    line, target = mechanism.line, cell.law["target"]
    row = cell.only(*LABELS) | {"m": mechanism.method.m, "n": line.n, "log2_k": cell.law["log2_k"], "domain": line.kind}
    row |= {name: target.get(name, np.nan) for name in PRIVACY} | {"alpha": mechanism.alpha}
    row |= cell.numbers(MEAN, "mean_rank_error", endings=columns.WITH_EXACT)
    row["mean_rank_error_bound"] = cell.get(MEAN + columns.BOUND, np.nan)
    for name in ("largest_rank_error", "mean_value_error"):
        row |= cell.numbers(columns.mean(name), name, endings=columns.INTERVAL)
    return row | cell.numbers(SUCCESS, "success", endings=columns.WITH_EXACT)


def report(table: pd.DataFrame, console) -> None:
    """Print the best and the second method for each m, n and domain, and how well simulated and exact values agree."""
    for _, part in _once(table).groupby([*SAME, *TARGET], sort=False, dropna=False):
        first = part.iloc[0]
        where = ", ".join(first[["records", "domain", "neighbours", "guarantee"]])
        title = f"{where}: the best method (± MCSE)"
        each = part.groupby(["log2_k", "n", "m"], sort=False)
        console.print(terminal_table(title, HEADINGS, [_terminal_row(found) for _, found in each]), soft_wrap=False)
    console.print(f"{len(table)} cells in all, with the other methods: see the CSV files beside the figures.")
    for name, what in (("mean_rank_error", "mean rank error"), ("success", "probability of success")):
        console.print(agreement(what, *(table[name + end] for end in columns.WITH_EXACT)))


def _terminal_row(found: pd.DataFrame) -> list[str]:
    best, *others = found.sort_values("mean_rank_error", kind="stable").to_dict("records")
    error = f"{best['mean_rank_error']:.3g} ± {best['mean_rank_error_mcse']:.1g}"
    more = (f"{best['largest_rank_error']:.3g}", f"{best['mean_value_error']:.3g}", f"{best['success']:.2g}")
    second = f"{others[0]['method']} {others[0]['mean_rank_error']:.3g}" if others else ""
    return [f"2^{best['log2_k']}", f"{best['n']:,}", f"{best['m']}", best["method"], error, *more, second]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw maps of the best method over n and m, errors against m and against the budget, and errors by the records.

    - `best_method`: the best method for each n and m, a panel for each domain.
    - `error_vs_m`: the rank errors of all methods against the number of quantiles.
    - `error_vs_epsilon`, `error_vs_rho`: the same against the budget.
    - `errors_by_records`: rank and value errors for each shape.
    """
    table = _once(table)
    for ending, part in _parts(table, [*SAME, *TARGET], n=2, m=2):
        yield f"best_method{ending}", captioned(best_method_map(part), part, maps.UNIT), part
    for ending, part in _parts(table, [*SAME, *TARGET], m=4):
        yield f"error_vs_m{ending}", captioned(error_curves(part, "m"), part, RANKS), part
    for axis, name in (("epsilon", "error_vs_epsilon"), ("rho", "error_vs_rho")):
        simple = table[table[axis].notna() & table["delta"].isna() & table["omega"].isna()]
        several = simple.groupby([*SAME, "log2_k", "m", "n"])[axis].transform("nunique") > 3
        for ending, part in _parts(simple[several], [*SAME, "m", "n"]):
            yield f"{name}{ending}", captioned(error_curves(part, axis), part, curves.UNIT), part
    for ending, part in _parts(table, ["neighbours", "m", *TARGET], records=3):
        yield f"errors_by_records{ending}", captioned(errors_by_records(part), part, by_records.UNIT), part


def _once(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table without the rows of cells that several blocks share."""
    return table.drop_duplicates(["method", *SAME, *PRIVACY, "log2_k", "n", "m"])


def _parts(table, alike, **least: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the groups of rows that are alike in some columns, with an ending for the names of figures.

    `least` is the number of different values that other columns must have in a group.
    """
    groups = [part for _, part in table.groupby(alike, sort=False, dropna=False)]
    found = [part for part in groups if all(part[name].nunique() >= count for name, count in least.items())]
    for number, part in enumerate(found):
        yield f"_{number + 1}" if number else "", part
