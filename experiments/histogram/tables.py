"""The table of private histograms, a row a cell, and its digest on the terminal."""

import json
from math import isnan

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim.bounds.lower import histogram_error, least_sample_size
from tcdp_sim.experiments.histogram.drawing import LEVEL
from tcdp_sim.experiments.histogram.exact_values import EXCEEDS, LINF
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.mechanisms.noise_axes import promised
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.report.thinning import some_levels
from tcdp_sim.results import chances_of_quantile, noise_labels
from tcdp_sim.store import columns
from tcdp_sim.store.columns import WITH_EXACT


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """One row a cell: what was simulated, with MCSE and 95% interval, beside the exact value and the bounds.

    Columns `linf_q95...` are the 95% quantile of the largest error in counts; `exceeds_bound...` and
    `exceeds_printed...` the probability that it exceeds the proved and the wrongly printed radius at beta;
    `..._exact` the value by closed form or quadrature; `least_error` what that quantile must reach for any mechanism
    with the guarantee, in counts; `least_n` Corollary 27's sample size in records; `beta` the failure probability of
    the bounds.
    """
    ragged = [name for name in flat.dims if name not in ("cell", "quantile")]
    cells = flat.drop_dims(ragged).sel(quantile=LEVEL).to_dataframe().reset_index(drop=True)
    laws = [json.loads(law) for law in flat["law"].values]
    noises = noise_labels(flat)
    parts = [_asked(cells, laws), _known(flat, laws), _simulated(cells)]
    table = pd.concat([*parts, pd.DataFrame([noises[name] for name in flat["noise"].values])], axis="columns")
    chances = chances_of_quantile(flat, "linf_error", LEVEL, table["linf_q95_exact"])
    return table.assign(linf_q95_p_value=chances, neighbours=flat.attrs.get("neighbouring_relation", ""))


def _asked(cells, laws) -> pd.DataFrame:
    """What was simulated, and how much of it."""
    labels = ("data", "noise", "k", "rho", "omega_sqrt_rho", "omega", "delta", "guarantee", "noise_law", "trials")
    accounting = [law["noise"]["calibration"] for law in laws]
    return cells[[name for name in labels if name in cells]].assign(accounting=accounting)


def _known(flat, laws) -> pd.DataFrame:
    """What formulas say of the cells; they take all k of a guarantee at once."""
    starts, sizes, counts = (flat[f"data_{name}"].values for name in ("start", "size", "counts"))
    total = np.append(0, np.cumsum(counts))
    table = pd.DataFrame({"n": total[starts + sizes] - total[starts], "beta": [law["beta"] for law in laws]})
    bins = np.array([law["bins"] for law in laws])
    of_noise = pd.Series([json.dumps([law["noise"]["family"], law["target"]]) for law in laws])
    for own in of_noise.groupby(of_noise, sort=False).groups.values():
        law = laws[own[0]]
        table.loc[own, "least_error"] = histogram_error(promised(law), bins[own], round(1 - LEVEL, 12))
        if "omega" in law["target"]:
            table.loc[own, "least_n"] = least_sample_size(law["target"]["rho"], law["target"]["omega"], bins[own])
    return table


def _simulated(cells) -> pd.DataFrame:
    """What was simulated, under the names of the table, beside exact values and the radii that are put to the test."""
    names = {LINF: "linf_q95"}
    for label, exceeds in EXCEEDS.items():
        radius = columns.threshold("linf_error", label)
        if radius in cells and cells[radius].notna().any():
            names |= {radius: label, exceeds: f"exceeds_{label}"}
    names |= {name: name for name in Histogram.events}
    found = {own + end: name + end for name, own in names.items() for end in WITH_EXACT if name + end in cells}
    means = (columns.mean(name) + end for name in Histogram.observables for end in ("", columns.MCSE))
    found |= {name: name for name in means}
    return cells[[*found.values()]].set_axis([*found], axis="columns")


def report(table: pd.DataFrame, console) -> None:
    """A digest on the terminal, and how well simulation and exact values agree over all cells."""
    for data, part in table.groupby("data", sort=False):
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
