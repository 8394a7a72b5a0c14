"""The privacy loss of every notion's noise: its law, its tail, delta(epsilon) and Renyi curve, beside the promises."""

import json
from collections.abc import Iterator
from math import isnan
from typing import cast

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.experiments.privacy_loss.drawing import figures, middle_rho
from tcdp_sim.experiments.privacy_loss.exact_values import (
    BOUND,
    EXACT,
    LOSS,
    PROFILE,
    RENYI,
    TAIL,
    UNITS,
    exact_value,
    promised,
)
from tcdp_sim.mechanisms import PrivacyLoss
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results import (
    cell_mechanism,
    chance_of_quantiles,
    mean_interval,
    noise_labels,
    sample_skewness,
)
from tcdp_sim.store import columns

FINE = 200  # points of the exact curves
NEIGHBOURS = "move one query's answer by one count"

__all__ = ["BOUND", "EXACT", "UNITS", "figures", "reference", "report"]

LABELS = ("noise", "rho", "omega_sqrt_rho", "omega", "delta", "shift", "guarantee", "noise_law")
QUANTITIES = {  # name -> (what it is a function of, title on the terminal)
    "quantile": ("level", "Quantiles of the privacy loss L (nats)"),
    "tail": ("epsilon", "P[L > epsilon]"),
    "profile": ("epsilon", "delta(epsilon)"),
    "renyi": ("order", "Renyi divergence (nats)"),
}


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """Long form: one row for each quantity of a cell, then the exact curves on finer grids (trials = 0).

    `quantity`: "quantile" of the loss in nats at the level `at`; "tail", P[L > at]; "profile", delta(at); "renyi", the
    divergence of order `at` in nats. `simulated` with `mcse` and 95% interval `lower`, `upper`; `exact`; `promised`:
    the most that the noise's guarantee allows (NaN where it says nothing).
    """
    rows: list[dict] = []
    curves: dict[tuple[str, str], tuple[dict, PrivacyLoss, list]] = {}
    noises = noise_labels(flat)
    cells = flat.drop_dims([name for name in flat.dims if name != "cell"]).to_dataframe().to_dict("records")
    for i, cell in enumerate(cells):
        mechanism = cast(PrivacyLoss, cell_mechanism(flat, i))
        labels = {name: cell[name] for name in LABELS if name in cell} | noises[cell["noise"]]
        labels["accounting"] = json.loads(cell["law"])["noise"]["calibration"]
        for quantity, at, numbers in _simulated(mechanism, cell, flat.isel(cell=i)):
            published = _published(flat.isel(cell=i), quantity, at)
            drawn = _rows(labels | {"trials": cell["trials"]}, quantity, at, numbers, *published)
            rows += _judged(drawn, flat, i, quantity)
            curves.setdefault((repr(labels), quantity), (labels, mechanism, []))[-1].extend(at)
    for (_, quantity), (labels, mechanism, seen) in curves.items():
        at = (np.geomspace if quantity == "renyi" else np.linspace)(min(seen), max(seen), FINE)
        known = exact_value(mechanism, quantity, at), promised(mechanism, quantity, at)
        rows += _rows(labels | {"trials": 0}, quantity, at, np.full((4, FINE), np.nan), *known)
    return pd.DataFrame(rows).assign(neighbours=NEIGHBOURS)


PUBLISHED = {"quantile": LOSS, "tail": TAIL, "profile": PROFILE, "renyi": RENYI}
OBSERVABLES = {"tail": "loss_tail", "profile": "hockey_stick", "renyi": "renyi_excess"}


def _judged(rows, flat, i, quantity) -> list[dict]:
    """With what tells whether exact values are contradicted: p-values of quantiles, the skewness of means."""
    if quantity != "quantile":
        return [row | {"skewness": sample_skewness(flat, i, OBSERVABLES[quantity])} for row in rows]
    levels, values = ([row[name] for row in rows] for name in ("at", "exact"))
    chances = chance_of_quantiles(flat, i, "privacy_loss", levels, values).tolist()
    return [row | {"p_value": chance} for row, chance in zip(rows, chances)]


def _published(ds, quantity, at) -> Iterator[np.ndarray]:
    """The exact values and the most that is promised, as published; NaN where they are not."""
    for ending in (columns.EXACT, columns.BOUND):
        name = PUBLISHED[quantity] + ending
        yield np.broadcast_to(ds[name].values if name in ds else np.nan, len(at))


def _rows(labels, quantity, at, simulated, truth, allowed):
    parts = {"at": at} | dict(zip(("simulated", "mcse", "lower", "upper"), simulated))
    parts |= {"exact": truth, "promised": allowed}
    numbers = (dict(zip(parts, map(float, row))) for row in zip(*parts.values()))
    return [labels | {"quantity": quantity} | row for row in numbers]


def _simulated(mechanism: PrivacyLoss, cell, ds) -> Iterator[tuple]:
    """(quantity, its arguments, (estimates, MCSEs, lower, upper)) for everything that the cell simulated."""
    if mechanism.epsilon is not None:
        for quantity, name in (("tail", "loss_tail"), ("profile", "hockey_stick")):
            estimate, mcse, low, high = mean_interval(cell, name)
            ends = np.clip([low, high], 0, 1)
            yield quantity, np.array([mechanism.epsilon]), np.array([[estimate], [mcse], [ends[0]], [ends[1]]])
    if mechanism.order is not None:
        yield "renyi", np.array([mechanism.order]), _divergence(mechanism.order, cell)
    if mechanism.epsilon is None and mechanism.order is None:
        yield "quantile", ds["quantile"].values, np.array([ds[LOSS + end].values for end in columns.INTERVAL])


def _divergence(order, cell):
    """The divergence of an order from the mean of e^((order - 1) L) - 1, which is inf if infinite or above 1e150."""
    if cell["renyi_excess" + columns.NONFINITE] == cell["trials"] > 0:
        return np.array([[np.inf], [0.0], [np.log(PrivacyLoss.largest) / (order - 1)], [np.inf]])
    mean, mcse, low, high = mean_interval(cell, "renyi_excess")
    ends = np.maximum([low, mean, high], 0)
    low, middle, high = np.log1p(ends) / (order - 1)
    return np.array([[middle], [mcse / (1 + mean) / (order - 1)], [low], [high]])


def report(table: pd.DataFrame, console) -> None:
    """A digest on the terminal, and how well simulation and exact values agree over all rows."""
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
    numbers = (drawn[name] for name in ("simulated", "mcse", "lower", "upper", "exact"))
    console.print(agreement("value", *numbers, things="numbers"))


def _terminal_row(row) -> list[str]:
    omega = "" if isnan(row["omega"]) else f" ω={row['omega']:.4g}"
    numbers = [f"{row['at']:.3g}", f"{row['simulated']:.4g}", f"{row['mcse']:.2g}", f"{row['exact']:.4g}"]
    return [row["noise"] + omega, *numbers, "" if isnan(row["promised"]) else f"{row['promised']:.3g}"]
