"""Private selection: the gap that each method needs at equal privacy, and the privacy that it really spends."""

from collections.abc import Iterator
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.experiments.gap_max.drawing import (
    required_figure,
    rho_figure,
    success_figure,
    theorem_20_figure,
    top_m_figure,
)
from tcdp_sim.experiments.gap_max.exact_values import (
    BETA,
    BOUND,
    DELTA,
    EXACT,
    EXCEEDS,
    NEEDED,
    PROMISED,
    SURVIVAL,
    UNKNOWN,
    gap_scale,
)
from tcdp_sim.experiments.gap_max.name_problems import problem_of
from tcdp_sim.experiments.gap_max.privacy_spent import privacy_figure, spent
from tcdp_sim.experiments.gap_max.series import gained, series_of, styles
from tcdp_sim.report.plots import captioned, size
from tcdp_sim.report.tables import agreement as agreement_of
from tcdp_sim.report.tables import terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns
from tcdp_sim.store.columns import WITH_EXACT

UNIT = "gaps in counts"
COLUMNS = {"accounting", "algorithm", "noise", "rho", "m"}  # of what was simulated

__all__ = ["BETA", "BOUND", "DELTA", "EXACT", "PROMISED", "SURVIVAL", "UNKNOWN"]
__all__ += ["agreement", "figures", "report", "rows"]


LABELS = ("data", "algorithm", "noise", "k", "gap", "m", "rho", "omega_sqrt_rho", "omega", "delta", "guarantee")


def rows(cell: Cell) -> Row:
    """Return one row: simulated values with MCSE and 95% interval, exact values and sufficient conditions.

    - `required_gap...`: the gap at which success has probability 95%, in counts.
    - `top_selected...`: the probability of success at the cell's gap.
    - `proved`, `theorem_20`: gaps that are claimed to be enough, in counts.
    - `fails_at_...`: the probability of failure at those gaps.
    - `claimed_at_proved`: the claimed bound on the probability of failure at `proved`.
    - `..._exact`: the value by a closed form or by quadrature.
    - `gap_scale`: the order of the gap by theory, in counts.
    """
    mechanism, row = cell.mechanism, cell.only(*LABELS, "noise_law", "trials")
    noise = cell.get("noise")
    row |= {"noise": noise if isinstance(noise, str) else ""}  # NaN where no cell has one
    row |= {"accounting": cell.law.get("accounting", ""), "gap": mechanism.gap, "m": mechanism.m}
    row |= cell.numbers(NEEDED, "required_gap", 1 - BETA) | cell.numbers("top_selected", "top_selected")
    for label, gap in mechanism.thresholds["needed_gap"].items():
        row |= {label: gap} | cell.numbers(EXCEEDS[label], f"fails_at_{label}")
        row["claimed_at_proved"] = cell.get(EXCEEDS["proved"] + columns.BOUND, np.nan)
    row |= {"gap_scale": gap_scale(mechanism.promise, mechanism.k), "law": cell["law"]} | cell.noise
    row["required_gap_p_value"] = cell.p_value("needed_gap", 1 - BETA, row["required_gap_exact"])
    row["problem"] = problem_of(row["k"], row["gap"])
    return row | {"series": series_of(row)}


def report(table: pd.DataFrame, console) -> None:
    """Print a digest, and how well simulation and exact values agree over all cells."""
    rho = table["rho"].mode()[0]
    least = table[(table["rho"] == rho) & (table["m"] == table["m"].min())]
    for k in _three(least["k"]):
        part = least[least["k"] == k].drop_duplicates("series")
        title = f"gap needed for 95% success, k = {k:.3g}, ρ = {rho:.3g}"
        rows = map(_terminal_row, part.sort_values("required_gap_exact").to_dict("records"))
        headings = ("algorithm", "simulated", "± MCSE", "exact", "proved")
        console.print(terminal_table(title, headings, rows, fold=True), soft_wrap=False)
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    console.print(agreement(table))


def unit(rows: pd.DataFrame) -> str:
    """Return the unit of a figure, and the gain of the accounting, for its caption."""
    return "; ".join(filter(None, [UNIT, gained(rows) if set(rows) >= COLUMNS else ""]))


def _three(column):
    levels = sorted(column.unique())
    return sorted({levels[0], levels[len(levels) // 2], levels[-1]}) if levels else []


def _terminal_row(row) -> list[str]:
    numbers = (row[name] for name in ("required_gap", "required_gap_mcse", "required_gap_exact"))
    proved = row.get("proved", float("nan"))
    return [row["series"], *(f"{x:.4g}" for x in numbers), "" if isnan(proved) else f"{proved:.4g}"]


def agreement(table: pd.DataFrame) -> str:
    """Return the number of cells in which simulation and exact values disagree, in words: a line for each quantity."""
    quantities = (("required_gap", "required gap"), ("top_selected", "probability of success"))
    return "\n".join(agreement_of(what, *(table[name + end] for end in WITH_EXACT)) for name, what in quantities)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw success against the gap, the required gap against k and m, Theorem 20, and privacy, as the cells allow."""
    for name, figure, rows in _figures(table):
        yield name, captioned(figure, rows, unit(rows)), rows.drop(columns="law", errors="ignore")


def _figures(table):
    looks = styles(table)
    rho = table["rho"].mode()[0]
    plain = table[(table["rho"] == rho) & (table["m"] == 1)]
    if len(crossed := _with_most(plain, "gap", 4)):
        yield "success_vs_gap", success_figure(crossed, looks), crossed
    if len(plain) and (plain["k"].nunique() > 1 or table["rho"].nunique() == 1):
        yield "required_gap", *required_figure(plain.drop_duplicates(["series", "k"]), looks)
    for (k, m, gap), part in table.groupby(["k", "m", "gap"]):
        if table["k"].nunique() == 1 and part["rho"].nunique() > 1:
            what = f"the top {m:g} of k = {size(k)} candidates, which lead by {gap:g},"
            yield f"against_rho_m{m:g}_gap{gap:g}", rho_figure(part, looks, what), part
    if len(several := _with_most(table[table["rho"] == rho], "m", 2)):
        yield "top_m", top_m_figure(several, looks), several
    if "theorem_20" in table and table["k"].nunique() > 1 and len(claimed := _claimed(table)):
        yield "theorem_20", theorem_20_figure(claimed), claimed
    if len(spending := spent(plain)):
        yield "privacy_spent", privacy_figure(spending, looks), spending


def _claimed(table):
    """Return the cells of Gaussian noise that test Theorem 20, at the smallest rho that has many values of k."""
    cells = table[(table["noise"] == "gaussian") & (table["m"] == 1) & (table["accounting"] != "paper")]
    sizes = cells.groupby("rho")["k"].nunique()
    if not len(sizes):
        return cells
    return cells[cells["rho"] == sizes.index[sizes > sizes.max() / 2].min()].drop_duplicates(["series", "k"])


def _with_most(table, axis, least):
    """Return the cells of series that have at least `least` levels of the axis at one k."""
    return table.groupby(["series", "k"]).filter(lambda rows: rows[axis].nunique() >= least)
