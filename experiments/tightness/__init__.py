"""The tightness of Theorem 17 and Corollary 18 for sinh-normal noise: Renyi divergences over their bounds."""

from collections.abc import Iterator
from functools import cache
from typing import cast

import numpy as np
import pandas as pd

from tcdp_sim import exact
from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments.laws import WEIGHTS
from tcdp_sim.experiments.tightness.claims import (
    COROLLARY,
    PRINTED,
    PRINTED_FROM,
    PROVED_FROM,
    THEOREM,
    TIGHT,
    below,
    corollary_18,
    highest,
    too_little_below,
    worst_ratio,
)
from tcdp_sim.experiments.tightness.drawing import figures
from tcdp_sim.mechanisms.privacy_loss import PrivacyLoss
from tcdp_sim.noise import SinhNormal
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.cells import divergence_interval
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

FINE = 100  # points of the exact curves

__all__ = ["EXACT", "UNITS", "UNKNOWN", "figures", "known", "report", "rows"]

MOVED = {1: "move one query's answer by one count", 2: "move two bins by one count each"}  # by coordinates
CLAIM = ("claim", "noise", "noise_law", "scale", "knee", "coordinates", "rho", "omega", "omega_sqrt_rho")
OF_CLAIM = ("infinite_from", "worst", "neighbours")
EXCESS, RENYI = columns.mean("renyi_excess"), "renyi_divergence"  # the latter is computed from the mean of the former


def _divergence(mechanism: PrivacyLoss) -> float:
    """Renyi divergence of the cell's order."""
    return float(exact.renyi_divergence(mechanism.noise, 1.0, _order(mechanism)).estimate)


def _order(mechanism: PrivacyLoss) -> float:
    """Return the order of a mechanism. Every mechanism that is drawn here has one."""
    return cast(float, mechanism.order)


def _excess(mechanism: PrivacyLoss) -> float:
    with np.errstate(over="ignore"):
        return float(np.expm1((_order(mechanism) - 1) * _divergence(mechanism)))


EXACT = {EXCESS: _excess, RENYI: _divergence}
UNITS = {RENYI: "nats"}
_OTHER = "this study compares divergences alone, and the experiment privacy_loss has this value"
UNKNOWN = {part(name): _OTHER for name in PrivacyLoss.observables for part in (columns.mean, columns.quantile)}
UNKNOWN |= {columns.quantile("renyi_excess"): WEIGHTS}


def rows(cell: Cell) -> Row:
    """Return one row, or raise UserError for a noise of another family.

    - `claim`: "Corollary 18" for a noise with given scale and knee, read as (16 / scale^2, knee / 8)-tCDP of two bins.
      For other noises it is the claim of one query that the noise was calibrated by.
    - `ratio...`: coordinates D_order / (rho order), simulated, with MCSE and 95% interval. `ratio_exact` is exact.
    - `worst`: the largest exact ratio over the orders below omega.
    - `infinite_from`: the order from which the divergence is infinite.
    """
    claimed = _claimed(cell)
    row = claimed | {"trials": cell["trials"], "ratio_skewness": cell.skewness("renyi_excess")}
    row |= _simulated(cell, claimed)
    worst = _worst(cell.mechanism.noise, claimed["rho"], claimed["omega"], claimed["coordinates"])
    return row | {"worst": worst, "neighbours": MOVED[claimed["coordinates"]]}


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield the exact curves (trials = 0): of each noise by order, and of Corollary 18 at each rho by omega."""
    curves: dict[tuple[str, str], tuple[Row, Cell]] = {}
    for row, cell in zip(rows, cells):
        curves.setdefault((row["claim"], row["noise_law"]), (row, cell))
    omegas: dict[float, list[float]] = {}
    for row, cell in curves.values():
        if row["claim"] == COROLLARY:
            omegas.setdefault(row["rho"], []).append(row["omega"])
        else:
            yield from _by_order({name: row[name] for name in (*CLAIM, *OF_CLAIM)}, cell.mechanism.noise)
    for rho, seen in omegas.items():
        yield from _by_omega(rho, seen)


_worst = cache(worst_ratio)


def _claimed(cell: Cell) -> Row:
    """Return the claim for a cell's noise, and the order at which its divergence becomes infinite."""
    mechanism, law = cell.mechanism, cell.law
    noise = mechanism.noise
    if not isinstance(noise, SinhNormal) or mechanism.order is None:
        valid = "sinh_normal, sinh_normal_tight or a scale and a knee, and an order"
        raise UserError(f"experiment tightness cannot use {noise}; valid: {valid}")
    claim, coordinates = {"paper": (THEOREM, 1), "tight": (TIGHT, 1), "given": (COROLLARY, 2)}[
        law["noise"]["calibration"]
    ]
    rho, omega = 16 / noise.scale**2, noise.knee / 8
    if "target" in law:
        rho, omega = law["target"]["rho"], law["target"]["omega"]
    if mechanism.shift != 1:
        raise UserError(f"experiment tightness cannot use shift = {mechanism.shift:g}; valid: 1, the sensitivity")
    if omega < 1:
        raise UserError(f"{noise} has omega = knee / 8 = {omega:.4g} in Corollary 18, below 1; valid: knee > 8")
    return {
        "claim": claim,
        "noise": cell["noise"],
        "noise_law": cell["noise_law"],
        "scale": noise.scale,
        "knee": noise.knee,
        "coordinates": coordinates,
        "rho": rho,
        "omega": omega,
        "omega_sqrt_rho": omega * np.sqrt(rho),
        "infinite_from": exact.max_order(noise, 1.0),
    }


def _simulated(cell: Cell, claimed: Row) -> Row:
    """Return the ratio that a cell simulated, and the exact one."""
    order = cell.mechanism.order
    per_nat = claimed["coordinates"] / (claimed["rho"] * order)
    row = {"order": order, "ratio_exact": per_nat * cell.get(RENYI + columns.EXACT, np.nan)}
    numbers = divergence_interval(cell, order, PrivacyLoss.largest, per_nat)
    return row | dict(zip(("ratio" + end for end in columns.INTERVAL), numbers))


def _by_order(claimed, noise) -> list[dict]:
    """Return the exact curve of one noise, from order 1 almost to the order at which it becomes infinite."""
    beyond = claimed["infinite_from"] - 1
    orders = 1 + beyond * np.concatenate([np.linspace(0, 0.9, FINE), 1 - np.geomspace(0.09, 1e-4, FINE // 4)])
    ratios = exact.renyi_divergence(noise, 1.0, orders).estimate / (claimed["rho"] * orders)
    return [claimed | {"trials": 0, "order": a, "ratio_exact": r} for a, r in zip(orders.tolist(), ratios.tolist())]


def _by_omega(rho, known: list[float]) -> list[dict]:
    """Return the exact curve of Corollary 18 at one rho, over the simulated omegas."""
    rows = []
    for omega in np.geomspace(min(known), max(known), FINE if min(known) < max(known) else 1).tolist():
        noise = corollary_18(rho, omega)
        names = {"claim": COROLLARY, "noise_law": repr(noise), "scale": noise.scale, "knee": noise.knee}
        claim = {"coordinates": 2, "rho": rho, "omega": omega, "omega_sqrt_rho": omega * np.sqrt(rho)}
        values = {"infinite_from": exact.max_order(noise, 1.0), "worst": worst_ratio(noise, rho, omega, 2)}
        rows.append(names | claim | values | {"trials": 0, "neighbours": MOVED[2]})
    return rows


def report(table: pd.DataFrame, console) -> None:
    """Print the constants, and how well simulation and exact values agree over all cells."""
    drawn = table[table["trials"] > 0]
    theorem, corollary = drawn[drawn["claim"] != COROLLARY], drawn[drawn["claim"] == COROLLARY]
    if len(theorem):
        console.print(_constants(theorem), soft_wrap=False)
    if len(corollary):
        console.print(_windows(corollary), soft_wrap=False)
        for rho in corollary["rho"].unique():
            edge = too_little_below(rho) if rho < 0.5 else np.nan
            where = "enough for all omega > 1" if np.isnan(edge) else f"too little for ω√ρ < {edge:.5f}"
            claim = "printed for ω√ρ >= 0.125, proved from 0.7071"
            console.print(f"ρ = {rho:.3g}: the noise of Corollary 18's proof is {where}; {claim}.")
        console.print("With sinh-squared noise Corollary 18 holds for all ω√ρ >= 0.125.")
    console.print(agreement("ratio", *(drawn["ratio" + end] for end in columns.WITH_EXACT)))


def _constants(rows):
    title = "One query: D/(ρα) at a simulated α <= ω, its largest, and where it is infinite"
    headings = ("noise", "ω√ρ", "ω", "α", "simulated", "±", "exact", "largest", "tight c", "α*/ω")
    texts = []
    for _, cells in rows.groupby(["claim", "rho", "omega"], sort=False):
        claimed = below(cells)
        row = (claimed if len(claimed) else cells).sort_values("order").iloc[-1 if len(claimed) else 0]
        constant = f"{PRINTED * row['worst']:.4f}" if row["claim"] == THEOREM else ""
        text = [{THEOREM: "Thm 17", TIGHT: "tight"}[row["claim"]], f"{row['omega_sqrt_rho']:.3g}"]
        text += [f"{row['omega']:.4g}", f"{row['order']:.4g}", f"{row['ratio']:.5f}", f"{row['ratio_mcse']:.0e}"]
        text += [f"{row['ratio_exact']:.5f}", f"{row['worst']:.5f}", constant]
        texts.append([*text, f"{row['infinite_from'] / row['omega']:.3f}"])
    return terminal_table(title, headings, texts)


def _windows(rows):
    title = "Corollary 18: 2D/(ρα) with the noise of its proof, which is to be at most 1"
    headings = ("ρ", "ω√ρ", "α", "simulated", "±", "exact", "largest", "the noise is")
    texts = []
    for row in highest(rows).to_dict("records"):
        text = [f"{row['rho']:.3g}", f"{row['omega_sqrt_rho']:.4g}", f"{row['order']:.4g}", f"{row['ratio']:.4f}"]
        text += [f"{row['ratio_mcse']:.0e}", f"{row['ratio_exact']:.4f}", f"{row['worst']:.4f}"]
        texts.append([*text, _verdict(row)])
    return terminal_table(title, headings, texts)


def _verdict(row) -> str:
    scaled = row["omega_sqrt_rho"] * (1 + 1e-9)
    if scaled < PRINTED_FROM:
        return "not claimed"
    if row["worst"] > 1:
        return "TOO LITTLE"
    return "proved" if scaled >= PROVED_FROM else "enough"
