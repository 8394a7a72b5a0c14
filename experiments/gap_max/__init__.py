"""Private selection: the gap that each method needs at equal privacy, and what it really spends."""

import json
from collections.abc import Iterator
from math import isnan

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.experiments.gap_max.drawing import (
    required_figure,
    rho_figure,
    success_figure,
    theorem_20_figure,
    top_m_figure,
)
from tcdp_sim.experiments.gap_max.exact_values import BETA, BOUND, EXACT, EXCEEDS, NEEDED, gap_scale
from tcdp_sim.experiments.gap_max.name_problems import with_problem
from tcdp_sim.experiments.gap_max.privacy_spent import privacy_figure, spent
from tcdp_sim.experiments.gap_max.series import size, styles, with_series
from tcdp_sim.report.plots import captioned
from tcdp_sim.report.tables import agreement as agreement_of
from tcdp_sim.report.tables import terminal_table
from tcdp_sim.results import cell_mechanism, chances_of_quantile, noise_labels
from tcdp_sim.store import columns
from tcdp_sim.store.columns import WITH_EXACT

UNIT = "gaps in counts"

__all__ = ["BETA", "BOUND", "EXACT", "agreement", "figures", "reference", "report"]


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """One row a cell: what was simulated, with MCSE and 95% interval, beside exact values and sufficient conditions.

    `required_gap...`: the gap at which success has probability 95%, in counts; `top_selected...` the probability of
    success at the cell's gap; `proved`, `theorem_20`: gaps that are claimed to be enough, and `fails_at_...` the
    probability of failure there; `claimed_at_proved`: what is claimed of it; `..._exact`: closed form or quadrature;
    `gap_scale`: the order that theory gives, in counts.
    """
    ragged = [name for name in flat.dims if name not in ("cell", "quantile")]
    simulated = flat.drop_dims(ragged).sel(quantile=1 - BETA).to_dataframe()
    noises = noise_labels(flat)
    rows = [_row(cell_mechanism(flat, i), row) for i, row in enumerate(simulated.to_dict("records"))]
    table = pd.DataFrame([row | noises[row["noise"]] for row in rows])
    chances = chances_of_quantile(flat, "needed_gap", 1 - BETA, table["required_gap_exact"])
    neighbours = flat.attrs.get("neighbouring_relation", "")
    return with_series(with_problem(table.assign(required_gap_p_value=chances, neighbours=neighbours)))


def _row(mechanism, ds) -> dict:
    law = json.loads(ds["law"])
    labels = (
        "data",
        "algorithm",
        "noise",
        "k",
        "gap",
        "m",
        "rho",
        "omega_sqrt_rho",
        "omega",
        "delta",
        "guarantee",
        "noise_law",
    )
    row = {name: ds[name] for name in (*labels, "trials") if name in ds}
    noise_name = ds.get("noise")
    row |= {"noise": noise_name if isinstance(noise_name, str) else ""}  # NaN where no cell has one
    row |= {"accounting": law.get("accounting", ""), "gap": mechanism.gap, "m": mechanism.m}
    row |= {f"required_gap{end}": ds.get(NEEDED + end, np.nan) for end in WITH_EXACT}
    row |= {f"top_selected{end}": ds.get(f"top_selected{end}", np.nan) for end in WITH_EXACT}
    for label, gap in mechanism.thresholds["needed_gap"].items():
        row[label] = gap
        row |= {f"fails_at_{label}{end}": ds.get(EXCEEDS[label] + end, np.nan) for end in WITH_EXACT}
        row["claimed_at_proved"] = ds.get(EXCEEDS["proved"] + columns.BOUND, np.nan)
    return row | {"gap_scale": gap_scale(mechanism.promise, mechanism.k), "law": ds["law"]}


def report(table: pd.DataFrame, console) -> None:
    """A digest on the terminal, and how well simulation and exact values agree over all cells."""
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


def _three(column):
    levels = sorted(column.unique())
    return sorted({levels[0], levels[len(levels) // 2], levels[-1]}) if levels else []


def _terminal_row(row) -> list[str]:
    numbers = (row[name] for name in ("required_gap", "required_gap_mcse", "required_gap_exact"))
    proved = row.get("proved", float("nan"))
    return [row["series"], *(f"{x:.4g}" for x in numbers), "" if isnan(proved) else f"{proved:.4g}"]


def agreement(table: pd.DataFrame) -> str:
    """In how many cells simulation and exact values disagree, in words: a line for each of the two quantities."""
    quantities = (("required_gap", "required gap"), ("top_selected", "probability of success"))
    return "\n".join(agreement_of(what, *(table[name + end] for end in WITH_EXACT)) for name, what in quantities)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Those that the cells allow: success against gap, required gap against k and m, Theorem 20, privacy."""
    for name, figure, rows in _figures(table):
        yield name, captioned(figure, rows, UNIT), rows.drop(columns="law", errors="ignore")


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
            title = f"{m:g} of k = {size(k)} candidates, which lead by {gap:g}"
            yield f"against_rho_m{m:g}_gap{gap:g}", rho_figure(part, looks, title), part
    if len(several := _with_most(table[table["rho"] == rho], "m", 2)):
        yield "top_m", top_m_figure(several, looks), several
    if "theorem_20" in table and table["k"].nunique() > 1 and len(claimed := _claimed(table)):
        yield "theorem_20", theorem_20_figure(claimed), claimed
    if len(spending := spent(plain)):
        yield "privacy_spent", privacy_figure(spending, looks), spending


def _claimed(table):
    """Gaussian noise where Theorem 20 is put to the test: at the smallest rho that has a fair number of k."""
    cells = table[(table["noise"] == "gaussian") & (table["m"] == 1) & (table["accounting"] != "paper")]
    sizes = cells.groupby("rho")["k"].nunique()
    if not len(sizes):
        return cells
    return cells[cells["rho"] == sizes.index[sizes > sizes.max() / 2].min()].drop_duplicates(["series", "k"])


def _with_most(table, axis, least):
    """The cells of series that have at least so many levels of the axis at one k."""
    return table.groupby(["series", "k"]).filter(lambda rows: rows[axis].nunique() >= least)
