"""The worst-case error of a private histogram, and who comes out on top of it, at equal privacy."""

import json
from collections.abc import Iterator
from typing import cast

import numpy as np
import pandas as pd
import xarray as xr

from tcdp_sim import exact
from tcdp_sim.bounds.accuracy import histogram_error_bound
from tcdp_sim.bounds.lower import histogram_error, least_sample_size
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles, of_omega
from tcdp_sim.report.plots import (
    GREY,
    WRONG,
    captioned,
    limit_styles,
    line_key,
    new_figure,
    plain_log_axis,
    points,
    wide_log_axis,
)
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results import cell_mechanism, chances_of_quantile, noise_labels
from tcdp_sim.store import columns
from tcdp_sim.store.columns import WITH_EXACT
from tcdp_sim.store.exact_values import at_each_level

LEVEL = 0.95
BOUND_LINE = {"color": GREY, "linestyle": "-", "linewidth": 0.6, "alpha": 0.7}
KINDS = {"lines: exact; markers: simulated, 95% interval": {"marker": "o"}}
PRINTED = {"color": WRONG, "linestyle": ":", "linewidth": 1.6}
WITHOUT_DENSITY = ("lattice",)
IMAGES = ("gaussian", "sinh_normal")  # families that are rising functions of Gaussian noise


LINF = columns.quantile("linf_error")


def _largest_error_quantile(mechanism: Histogram, level: float) -> float:
    return exact.max_abs_quantile(mechanism.noise, mechanism.bins, level).estimate


def _quantile_bound(mechanism: Histogram, level: float) -> float:
    return histogram_error_bound(mechanism.noise, mechanism.bins, round(1 - level, 12))


def _exceedance(label: str):
    def chance(mechanism: Histogram) -> float:
        radius = mechanism.thresholds["linf_error"].get(label)
        return np.nan if radius is None else exact.max_abs_sf(mechanism.noise, mechanism.bins, radius).estimate

    return chance


def _claimed(label: str):
    def chance(mechanism: Histogram) -> float:
        return mechanism.beta if label in mechanism.thresholds["linf_error"] else np.nan

    return chance


def _ranking(probability):
    def chance(mechanism: Histogram) -> float:
        counts = mechanism.counts
        return probability(mechanism.noise, counts, mechanism.bins).estimate if len(counts) else np.nan

    return chance


EXCEEDS = {label: columns.exceeds("linf_error", label) for label in ("bound", "printed")}
EXACT = {
    LINF: at_each_level(_largest_error_quantile),
    **{name: _exceedance(label) for label, name in EXCEEDS.items()},
    "top_stays": _ranking(exact.top_stays_probability),
    "spurious_wins": _ranking(exact.spurious_wins_probability),
}
BOUND = {LINF: at_each_level(_quantile_bound), **{name: _claimed(label) for label, name in EXCEEDS.items()}}

BY_CELL = True  # `reference` makes a cell's rows from that cell alone


def reference(flat: xr.Dataset) -> pd.DataFrame:
    """One row a cell: what was simulated, with MCSE and 95% interval, beside the exact value and the bounds.

    Columns `linf_q95...` are the 95% quantile of the largest error in counts; `exceeds_bound...` and
    `exceeds_printed...` the probability that it exceeds the proved and the wrongly printed radius at beta;
    `..._exact` the value by closed form or quadrature; `least_error` what that quantile must reach for any mechanism
    with the guarantee, in counts; `least_n` Corollary 27's sample size in records; `beta` the failure probability of
    the bounds.
    """
    ragged = [name for name in flat.dims if name not in ("cell", "quantile")]
    simulated = flat.drop_dims(ragged).sel(quantile=LEVEL).to_dataframe()
    rows = (dict(zip(simulated, values)) for values in simulated.itertuples(index=False, name=None))
    noises = noise_labels(flat)
    table = pd.DataFrame(
        [_row(cast(Histogram, cell_mechanism(flat, i)), row) | noises[row["noise"]] for i, row in enumerate(rows)]
    )
    chances = chances_of_quantile(flat, "linf_error", LEVEL, table["linf_q95_exact"])
    return table.assign(linf_q95_p_value=chances, neighbours=flat.attrs.get("neighbouring_relation", ""))


def _row(mechanism: Histogram, ds: dict) -> dict:
    bins, law = mechanism.bins, json.loads(ds["law"])
    labels = ("data", "noise", "k", "rho", "omega_sqrt_rho", "omega", "delta", "guarantee")
    row = {name: ds[name] for name in labels if name in ds}
    row |= {"accounting": law["noise"]["calibration"], "noise_law": ds["noise_law"], "trials": ds["trials"]}
    row |= {"n": int(mechanism.counts.sum()), "beta": law["beta"]}
    row["least_error"] = histogram_error(mechanism.promise, bins, round(1 - LEVEL, 12))
    row |= {f"linf_q95{end}": ds.get(LINF + end, np.nan) for end in WITH_EXACT}
    for label, radius in mechanism.thresholds["linf_error"].items():
        row[label] = radius
        row |= {f"exceeds_{label}{end}": ds.get(EXCEEDS[label] + end, np.nan) for end in WITH_EXACT}
    if "omega" in law["target"]:
        row["least_n"] = least_sample_size(law["target"]["rho"], law["target"]["omega"], bins)
    means = [columns.mean(name) for name in mechanism.observables]
    row |= {f"{name}{end}": ds[f"{name}{end}"] for name in means for end in ("", columns.MCSE)}
    endings = WITH_EXACT if len(mechanism.counts) else columns.INTERVAL
    return row | {f"{name}{end}": ds.get(f"{name}{end}", np.nan) for name in mechanism.events for end in endings}


def report(table: pd.DataFrame, console) -> None:
    """A digest on the terminal, and how well simulation and exact values agree over all cells."""
    for data, part in table.groupby("data", sort=False):
        rho = _nearest(part["rho"], np.exp(np.log(part["rho"]).mean()))
        levels = np.sort(part["k"].unique())
        levels = levels[np.unique(np.linspace(0, len(levels) - 1, 3).astype(int))]
        cells = part[(part["rho"] == rho) & part["k"].isin(levels)].sort_values("k", kind="stable")
        title = f"{data}, ρ = {rho:.3g}: largest error, 95% quantile (counts)"
        headings = ("noise", "k", "simulated", "± MCSE", "exact", "bound", "P[top]")
        rows = map(_terminal_row, cells.to_dict("records"))
        console.print(terminal_table(title, headings, rows), soft_wrap=False)
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    console.print(agreement("quantile", *(table["linf_q95" + end] for end in WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    parameters = {sign: row.get(name, np.nan) for sign, name in (("ω", "omega"), ("δ", "delta"))}
    label = row["noise"] + "".join(f" {sign}={_number(x)}" for sign, x in parameters.items() if x == x)
    numbers = (row["linf_q95"], row["linf_q95_mcse"], row["linf_q95_exact"], row["bound"])
    k = f"{row['k']:.0f}" if row["k"] < 1e6 else f"{row['k']:.3g}"
    return [label, k, *map(_number, numbers), f"{row['top_stays']:.3f}"]


def _number(x) -> str:
    return f"{x:.4g}" if abs(x) < 1e4 else f"{x:.0f}"


def _nearest(column, value):
    levels = np.sort(column.unique())
    return levels[np.argmin(np.abs(np.log(levels) - np.log(value)))]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """(a) error against k, (b) exceedance of the bounds, (c) error and ranking against rho, for each data set."""
    cells = table.to_dict("records")
    named = table.assign(series=[_label(cell) for cell in cells], least=[_least(cell) for cell in cells])
    styles = noise_styles(_series_of(row) for row in named.to_dict("records"))
    for data, part in table.groupby("data", sort=False):
        rows, unit = named.loc[part.index], "errors in counts"
        if part["k"].nunique() > 1:
            yield f"error_vs_k_{data}", captioned(_error_against_k(rows, styles), rows, unit), part
            middle = rows[rows["rho"] == _choose(rows["rho"], 1)[0]]
            middle = middle[~middle["noise_family"].isin(WITHOUT_DENSITY)]  # a bound that is one of few values
            if len(middle):
                yield f"exceedance_{data}", captioned(_exceedance_figure(middle, styles), middle, unit), part
        else:
            yield f"stability_{data}", captioned(_stability(rows, styles), rows, unit), part


def _series_of(row) -> Series:
    variant = row["series"].removeprefix(row["noise_label"])
    return Series(row["series"], row["noise"], row["noise_family"], row["noise_calibration"], variant)


def _label(row) -> str:
    """The name of a series: what tells its cells from others at the same k and rho."""
    label, delta = row["noise_label"] + of_omega(row), row.get("delta", np.nan)
    return label if delta != delta else f"{label}, δ = {delta:g}".replace("e-0", "e-")


def _least(row) -> str:
    """The name of the line of the row's least error: that of zCDP, or of tCDP with its omega; nothing where it is 0."""
    notion = str(row.get("guarantee", "")).rpartition("-")[2]
    there = notion in ("zCDP", "tCDP") and row.get("least_error", 0) > 0
    return f"no {notion} mechanism can do better{of_omega(row) if notion == 'tCDP' else ''}" if there else ""


def _series(part, styles, x):
    """(style, rows in the order of x) of each series."""
    for label, rows in part.groupby("series", sort=False):
        yield styles[label], rows.sort_values(x)


def _legend(figure, part, styles, columns, keys):
    """A legend of the series in `part` and of `keys` (label -> style), below the figure, which grows by it."""
    keys = {label: styles[label] for label in part["series"].unique()} | keys
    figure.set_figheight(figure.get_figheight() + 0.19 * -(-len(keys) // columns))
    figure.legend([line_key(**style) for style in keys.values()], [*keys], loc="outside lower center", ncols=columns)


def _error_against_k(part, styles):
    rhos = _choose(part["rho"], 4)
    columns = 2 if len(rhos) == 4 else len(rhos)
    rows = len(rhos) // columns
    figure, grid = new_figure(rows, columns, max(4.4 * columns, 7.8), 3.2 * rows + 0.3, sharex=True)
    lines = _least_styles(part)
    for axes, rho in zip(grid.flat, rhos):
        for style, cells in _series(part[part["rho"] == rho], styles, "k"):
            _error(axes, cells, "k", style)
            axes.plot(cells["k"], cells.get("printed", np.nan * cells["k"]), **PRINTED)
        axes.set(title=f"ρ = {rho:g}")
        wide_log_axis(axes, part["k"].min(), part["k"].max())
        plain_log_axis(axes)
        for label, style in lines.items():
            cells = part[(part["rho"] == rho) & (part["least"] == label)].drop_duplicates("k").sort_values("k")
            axes.plot(cells["k"], cells["least_error"], **style)
    for axes in grid[-1]:
        axes.set_xlabel("number of bins k")
    for axes in grid[:, 0]:
        axes.set_ylabel("largest error, 95% quantile (counts)")
    wrong = {"zCDP bound as printed: WRONG by √2 (E1)": PRINTED} if _has_printed(part) else {}
    _legend(figure, part, styles, 2, keys=KINDS | {_bound_label(part): BOUND_LINE} | wrong | lines)
    figure.suptitle("Worst-case error of a private histogram at equal privacy", fontsize=11)
    return figure


def _has_printed(part) -> bool:
    return "printed" in part and part["printed"].notna().any()


def _bound_label(part) -> str:
    """What the bound in the figure bounds: it holds with probability 1 - beta."""
    beta = part["beta"].iloc[0]
    quantile = "" if np.isclose(1 - beta, LEVEL) else f" on the {100 * (1 - beta):.6g}% quantile"
    return f"proved bound{quantile} (β = {beta:g})"


def _least_styles(part) -> dict[str, dict]:
    """Label -> style of the least error under a guarantee, one for zCDP and for each omega, whatever the noise."""
    return limit_styles(part["least"][part["least"] != ""].unique())


def _exceedance_figure(part, styles):
    rho, beta = part["rho"].iloc[0], part["beta"].iloc[0]
    figure, grid = new_figure(1, 1, 7.8, 4.0)
    axes = grid[0, 0]
    axes.set(yscale="log", ylim=(beta / 50, 1.5), xlabel="number of bins k")
    wide_log_axis(axes, part["k"].min(), part["k"].max())
    wrong = PRINTED | {"marker": "X"}
    keys = {}
    for style, cells in _series(part, styles, "k"):
        _probability(axes, cells, "k", "exceeds_bound", style)
        if _has_printed(cells):
            _probability(axes, cells, "k", "exceeds_printed", wrong)
            keys = {"Gaussian, bound as printed: WRONG (E1)": wrong}
    axes.axhline(beta, color="#555555", linewidth=0.9)
    claim = f"what each bound claims: at most β = {beta:g}"
    axes.annotate(claim, (0.45, beta * 1.16), xycoords=("axes fraction", "data"), fontsize=8)
    _say_who_is_one(axes, part)
    axes.set(ylabel="P[largest error > bound]", title=f"How often each bound on the error is exceeded (ρ = {rho:g})")
    _legend(figure, part, styles, 2, keys=keys)
    return figure


def _say_who_is_one(axes, part):
    """A line of text where noises lie on each other: sinh-normal noise and its bound are one function of a Gaussian's.

    knee arsinh(z scale / knee) rises with z, so the largest of k exceeds the bound when the Gaussian's does its own.
    """
    images = part[part["noise_family"].isin(IMAGES)].sort_values("k")
    curves = {tuple(cells["exceeds_bound_exact"].round(12)) for _, cells in images.groupby("series")}
    if len(curves) == 1 < images["series"].nunique():
        text = f"one line for {images['series'].nunique()} series, Gaussian and sinh-normal: sinh-normal noise\n"
        text += "and its bound are the same rising function of the Gaussian's"
        at = images["exceeds_bound_exact"].min()
        axes.annotate(text, (0.99, 0.8 * at), xycoords=("axes fraction", "data"), ha="right", va="top", fontsize=8)


def _stability(part, styles):
    figure, grid = new_figure(1, 3, 11.5, 4.0)
    error, stays, spurious = grid[0]
    for style, cells in _series(part, styles, "rho"):
        _error(error, cells, "rho", style)
        _probability(stays, cells, "rho", "top_stays", style)
        _probability(spurious, cells, "rho", "spurious_wins", style)
    for axes, title, label in (
        (error, "Worst-case error", "largest error, 95% quantile (counts)"),
        (stays, "The true top bin stays on top", "P[true top bin is released as top]"),
        (spurious, "A spurious heavy hitter wins", "P[an empty bin overtakes the true top]"),
    ):
        axes.set(xscale="log", xlabel="privacy ρ", ylabel=label, title=title)
    for axes in (stays, spurious):
        axes.set_ylim(-0.03, 1.03)
    error.set_yscale("log")
    _legend(figure, part, styles, 3, keys=KINDS | {_bound_label(part): BOUND_LINE})
    data, k, n = part["data"].iloc[0], part["k"].iloc[0], part["n"].iloc[0]
    bins = f"{k:,.0f}" if k < 1e7 else f"{k:.3g}"
    figure.suptitle(f"{data}: {n:,} records in {bins} bins", fontsize=11)
    return figure


def _error(axes, cells, x, style):
    _points(axes, cells, x, "linf_q95", style)
    axes.plot(cells[x], cells["linf_q95_exact"], **line_of(style))
    axes.plot(cells[x], cells["bound"], **BOUND_LINE | {"color": style["color"]})


def _probability(axes, cells, x, name, style):
    _points(axes, cells, x, name, style)
    exact_values = cells.get(f"{name}_exact", np.nan * cells[x])
    if axes.get_yscale() == "log":  # what is zero leaves at the floor, and does not end in the air
        exact_values = exact_values.clip(lower=axes.get_ylim()[0] / 2)
    axes.plot(cells[x], exact_values, **line_of(style))


def _points(axes, cells, x, name, style):
    points(axes, cells[x], cells[name], cells[f"{name}_lower"], cells[f"{name}_upper"], **marks_of(style))


def _choose(column, most):
    """Up to `most` values of the column, evenly over its sorted levels; one: the middle."""
    levels = np.sort(column.unique())
    if most == 1:
        return levels[[len(levels) // 2]]
    return levels[np.unique(np.linspace(0, len(levels) - 1, min(most, len(levels))).astype(int))]
