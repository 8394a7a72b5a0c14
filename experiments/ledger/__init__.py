"""Unequal releases together against the ledger's brackets, and adaptive analysts under filters against exact means."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from tcdp_sim.experiments.laws import WEIGHTS
from tcdp_sim.experiments.ledger import analysts, drawing
from tcdp_sim.experiments.ledger.analysts_drawing import filters
from tcdp_sim.experiments.ledger.exact_values import BRACKETS, DELTA, EPSILON, UNITS, delta_bracket
from tcdp_sim.experiments.ledger.inverse import epsilon_interval
from tcdp_sim.mechanisms.ledger import AdaptiveAnalyst, ComposedLoss
from tcdp_sim.privacy.relation import written
from tcdp_sim.report.plots import captioned
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

__all__ = ["BOUND", "EXACT", "UNITS", "UNKNOWN", "figures", "known", "report", "rows"]

FINE = 25  # points of an exact curve
COMPARED = (*NUMBERS, "exact")
SAME = ("list", "direction", "quantity", "at", "trials")  # equal in rows of directions that are the same
EXACT = BRACKETS | analysts.EXACT
BOUND = {columns.mean("hockey_stick"): BRACKETS[DELTA[1]]}
UNKNOWN = {
    columns.mean("slope"): "the brackets are of delta, and not of its derivative",
    **{columns.quantile(name): WEIGHTS for name in ("hockey_stick", "slope")},
    **analysts.UNKNOWN,
}


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each quantity of a cell: "delta" at the epsilon `at`, and "epsilon" at the delta `at`.

    - `simulated`, `mcse`, `lower`, `upper`: the simulated number, its standard error and its 95% interval. Epsilon is
      in nats.
    - `exact_low`, `exact_high`: the ends of the ledger's bracket.
    - `exact`: the number in the bracket that is closest to the simulated one, with which it is compared.

    Cells with an analyst have the rows of `analysts.rows`.
    """
    mechanism = cell.mechanism
    if isinstance(mechanism, AdaptiveAnalyst):
        yield from analysts.rows(cell)
        return
    labels, delta = _labels(cell), cell.mean("hockey_stick")
    low, high = (cell.get(name + columns.EXACT, np.nan) for name in DELTA)
    interval = (*delta[:2], *np.clip(delta[2:], 0, 1).tolist())
    skewness = {"skewness": cell.skewness("hockey_stick")}
    yield labels | {"quantity": "delta", "at": mechanism.epsilon} | _compared(interval, low, high) | skewness
    if mechanism.delta is not None:
        found = epsilon_interval(mechanism.epsilon, mechanism.delta, delta, cell.mean("slope"))
        low, high = (cell.get(name + columns.EXACT, np.nan) for name in EPSILON)
        yield labels | {"quantity": "epsilon", "at": mechanism.delta} | _compared(found, low, high) | skewness


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield the exact curve of delta for each list and direction (trials = 0), over the range that is simulated."""
    lists: dict[str, list[Cell]] = {}
    for cell in (cell for cell in cells if isinstance(cell.mechanism, ComposedLoss)):
        lists.setdefault(repr(_labels(cell)), []).append(cell)
    for same in lists.values():
        seen = [cell.mechanism.epsilon for cell in same]
        for epsilon in np.union1d(seen, np.linspace(min(seen), max(seen), FINE)).tolist():
            found = delta_bracket(replace(same[0].mechanism, epsilon=epsilon))
            ends = {"exact_low": found.lower, "exact_high": found.upper}
            yield _labels(same[0]) | {"trials": 0, "quantity": "delta", "at": epsilon} | ends


def _labels(cell: Cell) -> Row:
    mechanism = cell.mechanism
    counted = {"releases": sum(release["times"] for release in mechanism.releases), "direction": mechanism.direction}
    return cell.only("list", "trials") | counted | {"neighbours": written(mechanism.relation)}


def _compared(numbers: tuple[float, ...], low: float, high: float) -> Row:
    ends = {"exact": float(np.clip(numbers[0], low, high)), "exact_low": low, "exact_high": high}
    return dict(zip(NUMBERS, numbers)) | ends


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a, b) the lists with their brackets, (c) the analysts."""
    lists, asked = _parts(table)
    if len(lists):
        yield from drawing.figures(lists)
    if len(asked):
        yield "filters", captioned(filters(asked), asked.drop(columns="rho"), "Gaussian noise, responses"), asked


def _parts(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of lists, without the second of two equal directions, and the rows of analysts."""
    missing = pd.Series(np.nan, table.index)
    own = table.get("list", missing).notna()
    lists, asked = (table[rows].dropna(axis="columns", how="all") if rows.any() else table[:0] for rows in (own, ~own))
    return lists.drop_duplicates([key for key in SAME if key in lists]) if len(lists) else lists, asked


def report(table: pd.DataFrame, console) -> None:
    """Print the simulated and the exact numbers, and how well they agree."""
    lists, asked = _parts(table[table["trials"] > 0])
    if len(lists):
        _report_lists(lists, console)
    if len(asked):
        _report_analysts(asked, console)


def _report_lists(table: pd.DataFrame, console) -> None:
    for quantity, title in (("epsilon", "ε at δ (nats)"), ("delta", "δ at ε")):
        part = table[table["quantity"] == quantity]
        if len(part):
            argument = "δ" if quantity == "epsilon" else "ε"
            headings = ("list", argument, "simulated", "± MCSE", "exact, from", "to")
            texts = map(_terminal_row, part.to_dict("records"))
            console.print(terminal_table(f"Simulated {title}", headings, texts), soft_wrap=False)
    console.print(agreement("value", *(table[name] for name in COMPARED), things="numbers of lists"))


def _report_analysts(table: pd.DataFrame, console) -> None:
    headings = ("analyst", "ρ", "filter", "± MCSE", "exact", "split", "exact")
    for quantity, title in (("answered", "Queries answered"), ("wasted", "Share of the budget that answers nothing")):
        console.print(terminal_table(title, headings, _analyst_rows(table, quantity)), soft_wrap=False)
    console.print(agreement("value", *(table[name] for name in COMPARED), things="numbers of analysts"))


def _analyst_rows(table: pd.DataFrame, quantity: str) -> Iterator[list[str]]:
    """Yield a line for each analyst and budget, under the filter and with a budget split in advance."""
    for (name, rho), part in table.groupby(["analyst", "rho"], sort=False):
        rows = part.set_index("quantity")
        one, other = rows.loc[quantity], rows.loc[f"{quantity}_split"]
        numbers = (one["simulated"], one["mcse"], one["exact"], other["simulated"], other["exact"])
        yield [str(name), f"{rho:g}", *(f"{number:.4g}" for number in numbers)]


def _terminal_row(row) -> list[str]:
    name = row["list"] + (", backward" if row["direction"] == "backward" else "")
    ends = (f"{row[end]:.6g}" for end in ("exact_low", "exact_high"))
    return [name, f"{row['at']:.4g}", f"{row['simulated']:.5g}", f"{row['mcse']:.2g}", *ends]
