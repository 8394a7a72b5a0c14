"""The privacy loss of unequal releases together: simulated numbers beside the ledger's brackets."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from tcdp_sim.experiments.ledger.drawing import figures
from tcdp_sim.experiments.ledger.exact_values import DELTA, EPSILON, EXACT, UNITS, delta_bracket
from tcdp_sim.experiments.ledger.inverse import epsilon_interval
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results import NUMBERS, Cell, Row
from tcdp_sim.store import columns

__all__ = ["EXACT", "UNITS", "figures", "known", "report", "rows"]

NEIGHBOURS = {"add_remove": "add-remove", "substitute": "substitute"}
FINE = 25  # points of an exact curve


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each quantity of a cell: "delta" at the epsilon `at`, and "epsilon" at the delta `at`.

    - `simulated`, `mcse`, `lower`, `upper`: the simulated number, its standard error and its 95% interval. Epsilon is
      in nats.
    - `exact_low`, `exact_high`: the ends of the ledger's bracket.
    - `exact`: the number in the bracket that is closest to the simulated one, with which it is compared.
    """
    mechanism, labels = cell.mechanism, _labels(cell)
    delta = cell.mean("hockey_stick")
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
    for cell in cells:
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
    return cell.only("list", "trials") | counted | {"neighbours": NEIGHBOURS[mechanism.relation]}


def _compared(numbers: tuple[float, ...], low: float, high: float) -> Row:
    ends = {"exact": float(np.clip(numbers[0], low, high)), "exact_low": low, "exact_high": high}
    return dict(zip(NUMBERS, numbers)) | ends


def report(table: pd.DataFrame, console) -> None:
    """Print the simulated numbers beside the brackets, and how well they agree."""
    drawn = table[table["trials"] > 0].drop_duplicates(["list", "direction", "quantity", "at"])
    for quantity, title in (("epsilon", "ε at δ (nats)"), ("delta", "δ at ε")):
        part = drawn[drawn["quantity"] == quantity]
        if len(part):
            argument = "δ" if quantity == "epsilon" else "ε"
            headings = ("list", argument, "simulated", "± MCSE", "exact, from", "to")
            texts = map(_terminal_row, part.to_dict("records"))
            console.print(terminal_table(f"Simulated {title}", headings, texts), soft_wrap=False)
    console.print(agreement("value", *(drawn[name] for name in (*NUMBERS, "exact")), things="numbers"))


def _terminal_row(row) -> list[str]:
    name = row["list"] + (", backward" if row["direction"] == "backward" else "")
    ends = (f"{row[end]:.6g}" for end in ("exact_low", "exact_high"))
    return [name, f"{row['at']:.4g}", f"{row['simulated']:.5g}", f"{row['mcse']:.2g}", *ends]
