"""The privacy loss of every notion's noise: law, tail, delta(epsilon) and Renyi curve, against the guarantees."""

from collections.abc import Iterator
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.experiments.privacy_loss.drawing import figures, middle_rho
from tcdp_sim.experiments.privacy_loss.exact_values import (
    BOUND,
    DELTA,
    EXACT,
    LOSS,
    PROFILE,
    PROMISED,
    RENYI,
    SURVIVAL,
    TAIL,
    UNITS,
    UNKNOWN,
    exact_value,
    promised,
)
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.cells import divergence_interval
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

FINE = 200  # points of the exact curves
RELATION = "move one query's answer by one count"

__all__ = ["BOUND", "DELTA", "EXACT", "PROMISED", "SURVIVAL", "UNITS", "UNKNOWN", "figures", "known", "report", "rows"]

LABELS = ("noise", "rho", "omega_sqrt_rho", "omega", "delta", "shift", "guarantee", "noise_law")
QUANTITIES = {  # name -> (its argument, its title on the terminal)
    "quantile": ("level", "Quantiles of the privacy loss L (nats)"),
    "tail": ("epsilon", "P[L > epsilon]"),
    "profile": ("epsilon", "delta(epsilon)"),
    "renyi": ("order", "Renyi divergence (nats)"),
}


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each quantity of a cell: "quantile", "tail", "profile" or "renyi".

    - "quantile": the quantile of the loss at the level `at`, in nats.
    - "tail": P[L > at].
    - "profile": delta(at).
    - "renyi": the divergence of order `at`, in nats.

    Each row has `simulated`, `mcse`, the 95% interval `lower` to `upper`, and `exact`. `promised` is the most that the
    noise's guarantee allows, and NaN where the guarantee gives no bound.
    """
    labels = _labels(cell) | {"trials": cell["trials"]}
    for quantity, at in _asked(cell):
        row = labels | {"quantity": quantity, "at": at} | dict(zip(NUMBERS, _simulated(cell, quantity)))
        row |= {name: cell.get(PUBLISHED[quantity] + end, np.nan) for name, end in KNOWN.items()}
        yield row | {"skewness": cell.skewness(OBSERVABLES[quantity])}
    if not list(_asked(cell)):
        numbers = cell.quantiles(LOSS, (*columns.WITH_EXACT, columns.BOUND))
        p_values = cell.p_value("privacy_loss", cell.levels, numbers[-2])
        for at, number, p_value in zip(cell.levels, numbers.T.tolist(), p_values):
            row = labels | {"quantity": "quantile", "at": at} | dict(zip((*NUMBERS, *KNOWN), number))
            yield row | {"p_value": p_value}


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield the exact curve of each noise and quantity (trials = 0), on a finer grid over the simulated range."""
    curves: dict[tuple[str, str], tuple[Row, PrivacyLoss, list[float]]] = {}
    for cell in cells:
        labels = _labels(cell)
        for quantity, at in list(_asked(cell)) or [("quantile", level) for level in cell.levels]:
            curves.setdefault((repr(labels), quantity), (labels, cell.mechanism, []))[-1].append(at)
    for (_, quantity), (labels, mechanism, seen) in curves.items():
        grid = (np.geomspace if quantity == "renyi" else np.linspace)(min(seen), max(seen), FINE)
        values = np.array([grid, exact_value(mechanism, quantity, grid), promised(mechanism, quantity, grid)])
        for numbers in values.T.tolist():
            yield labels | {"trials": 0, "quantity": quantity} | dict(zip(("at", *KNOWN), numbers))


PUBLISHED = {"tail": TAIL, "profile": PROFILE, "renyi": RENYI}
OBSERVABLES = {"tail": "loss_tail", "profile": "hockey_stick", "renyi": "renyi_excess"}
KNOWN = {"exact": columns.EXACT, "promised": columns.BOUND}


def _labels(cell: Cell) -> Row:
    return cell.only(*LABELS) | cell.noise | {"accounting": cell.law["noise"]["calibration"]}


def _asked(cell: Cell) -> Iterator[tuple[str, float]]:
    """Yield the quantities that a cell simulates at its own argument. A cell without one simulates quantiles."""
    mechanism = cell.mechanism
    if mechanism.epsilon is not None:
        yield from (("tail", mechanism.epsilon), ("profile", mechanism.epsilon))
    if mechanism.order is not None:
        yield "renyi", mechanism.order


def _simulated(cell: Cell, quantity: str) -> tuple[float, ...]:
    if quantity == "renyi":
        return divergence_interval(cell, cell.mechanism.order, PrivacyLoss.largest)
    estimate, mcse, low, high = cell.mean(OBSERVABLES[quantity])
    return estimate, mcse, *np.clip([low, high], 0, 1).tolist()


def report(table: pd.DataFrame, console) -> None:
    """Print a digest, and how well simulation and exact values agree over all rows."""
    drawn = table[table["trials"] > 0]
    for quantity, part in drawn.groupby("quantity", sort=False):
        levels = np.sort(part["at"].unique())
        part = part[part["at"].isin(levels[np.unique([len(levels) // 4, (3 * len(levels)) // 4])])]
        rows = middle_rho(part).sort_values("at", kind="stable")
        argument, title = QUANTITIES[str(quantity)]
        title += "".join(f", ρ = {rho:.3g}" for rho in rows["rho"].dropna().unique())
        headings = ("noise", argument, "simulated", "± MCSE", "exact", "promised")
        texts = map(_terminal_row, rows.to_dict("records"))
        console.print(terminal_table(title, headings, texts), soft_wrap=False)
    console.print(f"{len(drawn)} simulated numbers in all: see the CSV files beside the figures.")
    console.print(agreement("value", *(drawn[name] for name in (*NUMBERS, "exact")), things="numbers"))


def _terminal_row(row) -> list[str]:
    omega = "" if isnan(row["omega"]) else f" ω={row['omega']:.4g}"
    numbers = [f"{row['at']:.3g}", f"{row['simulated']:.4g}", f"{row['mcse']:.2g}", f"{row['exact']:.4g}"]
    return [row["noise"] + omega, *numbers, "" if isnan(row["promised"]) else f"{row['promised']:.3g}"]
