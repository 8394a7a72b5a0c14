"""The worst-case error of a private histogram, and who comes out on top of it, at equal privacy."""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from rich import box
from rich.markup import escape
from rich.table import Table

from tcdp_sim import config, exact
from tcdp_sim.bounds import least_sample_size
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.plots import COLOURS, MARKERS, WRONG, line_key, new_figure, plain_log_axis, points
from tcdp_sim.results import cell_mechanism

LEVEL = 0.95
INTERVAL = ("", "_mcse", "_lower", "_upper")


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """One row a cell: what was simulated, with MCSE and 95% interval, beside the exact value and the bounds.

    Columns `linf_q95...` are the 95% quantile of the largest error in counts; `exceeds_bound...` and
    `exceeds_printed...` the probability that it exceeds the proved and the wrongly printed radius at beta;
    `..._exact` the value by closed form or quadrature; `least_n` Corollary 27's sample size in records.
    """
    ragged = [name for name in flat.dims if name not in ("cell", "quantile")]
    simulated = flat.drop_dims(ragged).sel(quantile=LEVEL).to_dataframe()
    return pd.DataFrame([_row(cell_mechanism(flat, i), row) for i, row in enumerate(simulated.to_dict("records"))])


def _row(mechanism: Histogram, ds: dict) -> dict:
    noise, bins, law = mechanism.noise, mechanism.bins, json.loads(ds["law"])
    labels = ("data", "noise", "k", "rho", "omega_sqrt_rho", "omega", "guarantee")
    row = {name: ds[name] for name in labels if name in ds}
    row |= {"accounting": law["noise"]["calibration"], "noise_law": ds["noise_law"], "trials": ds["trials"]}
    row["n"] = int(mechanism.counts.sum())
    row |= {f"linf_q95{end}": ds[f"linf_error_quantile{end}"] for end in INTERVAL}
    row["linf_q95_exact"] = exact.max_abs_quantile(noise, bins, LEVEL).estimate
    for label, radius in mechanism.thresholds["linf_error"].items():
        row |= {label: radius, f"exceeds_{label}_exact": exact.max_abs_sf(noise, bins, radius).estimate}
        row |= {f"exceeds_{label}{end}": ds[f"linf_error_exceeds_{label}{end}"] for end in INTERVAL}
    if "omega" in law["target"]:
        row["least_n"] = least_sample_size(law["target"]["rho"], law["target"]["omega"], bins)
    row |= {f"{name}_mean{end}": ds[f"{name}_mean{end}"] for name in mechanism.observables for end in ("", "_mcse")}
    row |= {f"{name}{end}": ds[f"{name}{end}"] for name in mechanism.events for end in INTERVAL}
    if len(mechanism.counts):
        row["top_stays_exact"] = exact.top_stays_probability(noise, mechanism.counts, bins).estimate
        row["spurious_wins_exact"] = exact.spurious_wins_probability(noise, mechanism.counts, bins).estimate
    return row


def report(table: pd.DataFrame, console) -> None:
    """A digest on the terminal, and how well simulation and exact values agree over all cells."""
    for data, part in table.groupby("data", sort=False):
        rho = _nearest(part["rho"], np.exp(np.log(part["rho"]).mean()))
        levels = np.sort(part["k"].unique())
        levels = levels[np.unique(np.linspace(0, len(levels) - 1, 3).astype(int))]
        shown = part[(part["rho"] == rho) & part["k"].isin(levels)]
        title = f"{data}, ρ = {rho:.3g}: largest error, 95% quantile (counts)"
        console.print(_terminal_table(title, shown), soft_wrap=False)
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    console.print(_agreement(table))


def _terminal_table(title, rows):
    out = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    out.add_column("noise", no_wrap=True)
    for heading in ("k", "simulated", "± MCSE", "exact", "bound", "P\\[top]"):
        out.add_column(heading, justify="right", no_wrap=True)
    for row in rows.sort_values("k", kind="stable").to_dict("records"):
        label = row["noise"] + ("" if row["omega"] != row["omega"] else f" ω={_number(row['omega'])}")
        numbers = (row["linf_q95"], row["linf_q95_mcse"], row["linf_q95_exact"], row["bound"])
        k = f"{row['k']:.0f}" if row["k"] < 1e6 else f"{row['k']:.3g}"
        out.add_row(escape(label), k, *(_number(x) for x in numbers), f"{row['top_stays']:.3f}")
    return out


def _number(x) -> str:
    return f"{x:.4g}" if abs(x) < 1e4 else f"{x:.0f}"


def _nearest(column, value):
    found = np.sort(column.unique())
    return found[np.argmin(np.abs(np.log(found) - np.log(value)))]


def _agreement(table) -> str:
    outside = ~table["linf_q95_exact"].between(table["linf_q95_lower"], table["linf_q95_upper"])
    distance = ((table["linf_q95"] - table["linf_q95_exact"]) / table["linf_q95_mcse"]).abs().max()
    return (
        f"The exact quantile is outside the simulated 95% interval in {int(outside.sum())} of {len(table)} cells; "
        f"by chance at most {0.05 * len(table):.0f} are expected. Largest distance: {distance:.1f} standard errors."
    )


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """(a) error against k, (b) exceedance of the bounds, (c) error and ranking against rho, for each data set."""
    for data, part in table.groupby("data", sort=False):
        if part["k"].nunique() > 1:
            yield f"error_vs_k_{data}", _error_against_k(part), part
            yield f"exceedance_{data}", _exceedance(part), part
        else:
            yield f"stability_{data}", _stability(part), part


def _series(part, x):
    """(label, style, rows in the order of x) for each noise and, where it matters, each omega."""
    groups = part.groupby(["noise", *(name for name in ("omega_sqrt_rho",) if name in part)], sort=False, dropna=False)
    for i, ((noise, *rest), rows) in enumerate(groups):
        label = config.named("noise", noise)["label"]
        if rest and rest[0] == rest[0]:
            label += f", ω√ρ = {rest[0]:g}"
        style = {"label": label, "color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        yield style, rows.sort_values(x)


def _error_against_k(part):
    rhos = _choose(part["rho"], 4)
    columns = min(2, len(rhos))
    rows = -(-len(rhos) // columns)
    figure, grid = new_figure(rows, columns, max(4.4 * columns, 7.8), 3.2 * rows + 1.4, sharex=True)
    for axes, rho in zip(grid.flat, rhos):
        for style, cells in _series(part[part["rho"] == rho], "k"):
            _error(axes, cells, "k", style)
            axes.plot(cells["k"], cells.get("printed", np.nan * cells["k"]), color=WRONG, linestyle=":", linewidth=1.6)
            if "least_n" in cells:
                told = cells["least_n"].where(cells["least_n"] >= 1)  # every data set has a record
                axes.plot(cells["k"], told, color=style["color"], linestyle="-.", linewidth=0.8)
        axes.set(xscale="log", title=f"ρ = {rho:g}")
        plain_log_axis(axes)
    for axes in grid[-1]:
        axes.set_xlabel("number of bins k")
    for axes in grid[:, 0]:
        axes.set_ylabel("largest error, 95% quantile (counts)")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    keys = {
        "exact (markers: simulated, 95% interval)": line_key(),
        "proved bound (β = 0.05)": line_key(linestyle="--", linewidth=0.8),
        "zCDP bound as printed: WRONG by √2 (E1)": line_key(WRONG, linestyle=":", linewidth=1.6),
        "Cor. 27: n (records) that every tCDP release needs": line_key(linestyle="-.", linewidth=0.8),
    }
    figure.legend([*handles, *keys.values()], [*labels, *keys], loc="outside lower center", ncols=2)
    figure.suptitle("Worst-case error of a private histogram at equal privacy", fontsize=11)
    return figure


def _exceedance(part):
    rho = _choose(part["rho"], 1)[0]
    figure, grid = new_figure(1, 1, 6.4, 4.6)
    axes = grid[0, 0]
    for style, cells in _series(part[part["rho"] == rho], "k"):
        _probability(axes, cells, "k", "exceeds_bound", style)
        if cells.get("printed", pd.Series(dtype=float)).notna().any():
            wrong = {"label": "Gaussian, bound as printed: WRONG (E1)", "color": WRONG, "marker": "X"}
            _probability(axes, cells, "k", "exceeds_printed", wrong)
    axes.axhline(0.05, color="#555555", linewidth=0.9, linestyle="--")
    claim = "what each bound claims: at most β = 0.05"
    axes.annotate(claim, (0.45, 0.058), xycoords=("axes fraction", "data"), fontsize=8)
    axes.set(xscale="log", yscale="log", ylim=(1e-3, 1.5), xlabel="number of bins k")
    axes.set(ylabel="P[largest error > bound]", title=f"How often each bound on the error is exceeded (ρ = {rho:g})")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _stability(part):
    figure, grid = new_figure(1, 3, 11.5, 4.6)
    error, stays, spurious = grid[0]
    for style, cells in _series(part, "rho"):
        _error(error, cells, "rho", style)
        _probability(stays, cells, "rho", "top_stays", style)
        _probability(spurious, cells, "rho", "spurious_wins", style)
    for axes, title, said in (
        (error, "Worst-case error (dashed: proved bound)", "largest error, 95% quantile (counts)"),
        (stays, "The true top bin stays on top", "P[true top bin is released as top]"),
        (spurious, "A spurious heavy hitter wins", "P[an empty bin overtakes the true top]"),
    ):
        axes.set(xscale="log", xlabel="privacy ρ", ylabel=said, title=title)
    for axes in (stays, spurious):
        axes.set_ylim(-0.03, 1.03)
    error.set_yscale("log")
    figure.legend(*error.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    data, k, n = part["data"].iloc[0], part["k"].iloc[0], part["n"].iloc[0]
    told = f"{data}: {n:,} records in {k:,.0f} bins (lines: exact; markers: simulated, 95% interval)"
    figure.suptitle(told, fontsize=11)
    return figure


def _error(axes, cells, x, style):
    points(axes, cells[x], cells["linf_q95"], cells["linf_q95_lower"], cells["linf_q95_upper"], **style)
    axes.plot(cells[x], cells["linf_q95_exact"], color=style["color"])
    axes.plot(cells[x], cells["bound"], color=style["color"], linestyle="--", linewidth=0.8)


def _probability(axes, cells, x, name, style):
    points(axes, cells[x], cells[name], cells[f"{name}_lower"], cells[f"{name}_upper"], **style)
    told = cells.get(f"{name}_exact", np.nan * cells[x])
    axes.plot(cells[x], told.where(told > 0), color=style["color"])


def _choose(column, most):
    """Up to `most` values of the column, evenly over its sorted levels; one: the middle."""
    levels = np.sort(column.unique())
    if most == 1:
        return levels[[len(levels) // 2]]
    return levels[np.unique(np.linspace(0, len(levels) - 1, min(most, len(levels))).astype(int))]
