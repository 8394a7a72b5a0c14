"""The table of private histograms, with a row for each cell, and its digest on the terminal."""

from functools import lru_cache
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.bounds.lower import histogram_error, least_sample_size
from tcdp_sim.experiments.histogram.drawing import LEVEL
from tcdp_sim.experiments.histogram.exact_values import EXCEEDS, LINF
from tcdp_sim.experiments.histogram.series import by_data
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.mechanisms.noise_axes import guarantee_of
from tcdp_sim.privacy import TCDP, Guarantee
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.report.thinning import some_levels
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns
from tcdp_sim.store.columns import WITH_EXACT

FAILURE = round(1 - LEVEL, 12)
LABELS = ("data", "noise", "k", "rho", "omega_sqrt_rho", "omega", "delta", "guarantee", "noise_law", "trials")
MEANS = tuple(columns.mean(name) + end for name in Histogram.observables for end in ("", columns.MCSE))
NAMES: dict[str, str] = {}  # published name -> name in the table
for label, exceeds in EXCEEDS.items():
    NAMES |= {columns.threshold("linf_error", label): label}
    NAMES |= {exceeds + end: f"exceeds_{label}{end}" for end in WITH_EXACT}
NAMES |= {name + end: name + end for name in Histogram.events for end in WITH_EXACT} | {name: name for name in MEANS}


def rows(cell: Cell) -> Row:
    """Return one row: simulated values with MCSE and 95% interval, the exact values and the bounds.

    - `linf_q95...`: the 95% quantile of the largest error, in counts.
    - `exceeds_bound...`, `exceeds_printed...`: the probability that the largest error exceeds the proved radius, and
      the wrongly printed radius, at beta.
    - `..._exact`: the value by a closed form or by quadrature.
    - `least_error`: the least 95% quantile of any mechanism with the guarantee, in counts.
    - `least_n`: the sample size of Corollary 27, in records.
    - `beta`: the failure probability of the bounds.
    """
    law, target = cell.law, cell.law["target"]
    row = cell.only(*LABELS) | {"accounting": law["noise"]["calibration"], "n": int(cell.counts.sum())}
    row |= {"beta": law["beta"], "least_error": _least_error(guarantee_of(law), law["bins"])}
    if "omega" in cell:
        tcdp = "omega" in target
        row["least_n"] = least_sample_size(TCDP(target["rho"], target["omega"]), law["bins"]) if tcdp else np.nan
    row |= cell.numbers(LINF, "linf_q95", LEVEL) | {NAMES[name]: cell[name] for name in NAMES if name in cell}
    return row | cell.noise | {"linf_q95_p_value": cell.p_value("linf_error", LEVEL, row["linf_q95_exact"])}


@lru_cache(maxsize=4096)  # noises and data sets share the value
def _least_error(guarantee: Guarantee, bins: float) -> float:
    return float(histogram_error(guarantee, bins, FAILURE))


def report(table: pd.DataFrame, console) -> None:
    """Print a digest, and how well simulation and exact values agree over all cells."""
    for data, part in by_data(table):
        rho = _nearest(part["rho"], np.exp(np.log(part["rho"]).mean()))
        cells = part[(part["rho"] == rho) & part["k"].isin(some_levels(part["k"], 3))].sort_values("k", kind="stable")
        title = f"{data}, ρ = {rho:.3g}: largest error, 95% quantile (counts)"
        headings = ("noise", "k", "simulated", "± MCSE", "exact", "bound", "P[top]")
        rows = map(_terminal_row, cells.to_dict("records"))
        console.print(terminal_table(title, headings, rows), soft_wrap=False)
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    console.print(agreement("quantile", *(table["linf_q95" + end] for end in WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    parameters = {sign: row.get(name, np.nan) for sign, name in (("ω", "omega"), ("δ", "delta"))}
    label = row["noise"] + "".join(f" {sign}={_number(x)}" for sign, x in parameters.items() if not isnan(x))
    numbers = (row["linf_q95"], row["linf_q95_mcse"], row["linf_q95_exact"], row["bound"])
    k = f"{row['k']:.0f}" if row["k"] < 1e6 else f"{row['k']:.3g}"
    return [label, k, *map(_number, numbers), f"{row['top_stays']:.3f}"]


def _number(x) -> str:
    return f"{x:.4g}" if abs(x) < 1e4 else f"{x:.0f}"


def _nearest(column, value):
    levels = np.sort(column.unique())
    return levels[np.argmin(np.abs(np.log(levels) - np.log(value)))]
