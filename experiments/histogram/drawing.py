"""Figures of a private histogram: error against k, exceedance of the bounds, and the ranking against rho."""

import numpy as np

from tcdp_sim.experiments.histogram.best_additive import best_styles
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import line_of, marks_of
from tcdp_sim.report.plots import (
    GREY,
    WRONG,
    leave_out,
    limit_styles,
    new_figure,
    plain_log_axis,
    points,
    wide_log_axis,
)
from tcdp_sim.report.thinning import some_levels

LEVEL = 0.95
MOST_PANELS = 4  # values of rho
BOUND_LINE = {"color": GREY, "linestyle": "-", "linewidth": 0.6, "alpha": 0.7}
KIND = "lines: exact; markers: simulated, 95% interval"
PRINTED = {"color": WRONG, "linestyle": ":", "linewidth": 1.6}
IMAGES = ("gaussian", "sinh_normal")  # families that are rising functions of Gaussian noise


def _series(part, styles, x):
    """Yield (style, rows in the order of x) of each series."""
    for label, rows in part.groupby("series", sort=False):
        yield styles[label], rows.sort_values(x)


def _legend(figure, part, styles, columns, keys):
    """Draw a legend of the series in `part` and of `keys` (label -> style)."""
    legend_below(figure, {label: styles[label] for label in part["series"].unique()} | keys, columns)


def error_against_k(part, best, styles):
    """Draw the quantile of the largest error against k, with a panel for each rho and the lines of `best_additive`."""
    rhos = some_levels(part["rho"], MOST_PANELS)
    columns = 2 if len(rhos) == 4 else len(rhos)
    rows = len(rhos) // columns
    figure, grid = new_figure(rows, columns, max(4.4 * columns, 7.8), 3.2 * rows + 0.3, sharex=True)
    if len(rhos) < (levels := part["rho"].nunique()):
        leave_out(figure, "panels", f"{len(rhos)} of {levels} values of ρ")
    lines, best_lines = _least_styles(part), best_styles(best)
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
        for label, style in best_lines.items():
            ends = best[(best["rho"] == rho) & (best["series"] == label)]
            axes.plot(ends["k"], ends["least_additive_error"], **style)
    for axes in grid[-1]:
        axes.set_xlabel("number of bins k")
    for axes in grid[:, 0]:
        axes.set_ylabel("largest error, 95% quantile (counts)")
    wrong = {"zCDP radius as printed, too small by √2 (E1)": PRINTED} if _has_printed(part) else {}
    _legend(figure, part, styles, 2, keys=wrong | best_lines | lines)
    figure.suptitle("Worst-case error of a private histogram at equal privacy", fontsize=11)
    return figure


def kinds(part) -> str:
    """Return the kinds of lines and markers of `error_against_k` for its caption, because its legend is full."""
    return f"{KIND}; thin lines: {_bound_label(part)}"


def _has_printed(part) -> bool:
    return "printed" in part and part["printed"].notna().any()


def _bound_label(part) -> str:
    """Return the label of the bound, which holds with probability 1 - beta."""
    beta = part["beta"].iloc[0]
    quantile = "" if np.isclose(1 - beta, LEVEL) else f" on the {100 * (1 - beta):.6g}% quantile"
    return f"proved bound{quantile} (β = {beta:g})"


def _least_styles(part) -> dict[str, dict]:
    """Return label -> style of the least error under a guarantee: one for zCDP and one for each omega."""
    return limit_styles(part["least"][part["least"] != ""].unique())


def exceedance(part, styles):
    """Draw the probability that the largest error exceeds its bounds, against k, at one rho."""
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
            keys = {"Gaussian, radius as printed, too small by √2 (E1)": wrong}
    axes.axhline(beta, color="#555555", linewidth=0.9)
    claim = f"what each bound claims: at most β = {beta:g}"
    axes.annotate(claim, (0.45, beta * 1.16), xycoords=("axes fraction", "data"), fontsize=8)
    _say_who_is_one(axes, part)
    axes.set(ylabel="P[largest error > bound]", title=f"How often each bound on the error is exceeded (ρ = {rho:g})")
    _legend(figure, part, styles, 2, keys=keys)
    return figure


def _say_who_is_one(axes, part):
    """Write a line of text where the lines of sinh-normal and Gaussian noise coincide.

    knee arsinh(z scale / knee) increases with z. The largest of k sinh-normal errors therefore exceeds its bound
    exactly when the largest of the Gaussian ones exceeds its own.
    """
    images = part[part["noise_family"].isin(IMAGES)].sort_values("k")
    curves = {tuple(cells["exceeds_bound_exact"].round(12)) for _, cells in images.groupby("series")}
    if len(curves) == 1 < images["series"].nunique():
        text = f"one line for {images['series'].nunique()} series, Gaussian and sinh-normal: sinh-normal noise\n"
        text += "and its bound are the same rising function of the Gaussian's"
        at = images["exceeds_bound_exact"].min()
        axes.annotate(text, (0.99, 0.8 * at), xycoords=("axes fraction", "data"), ha="right", va="top", fontsize=8)


def stability(part, styles):
    """Draw the error and the fate of the top bin against rho, at one k."""
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
    _legend(figure, part, styles, 3, keys={KIND: {"marker": "o"}, _bound_label(part): BOUND_LINE})
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
    if axes.get_yscale() == "log":  # a line that falls to zero leaves through the floor
        exact_values = exact_values.clip(lower=axes.get_ylim()[0] / 2)
    axes.plot(cells[x], exact_values, **line_of(style))


def _points(axes, cells, x, name, style):
    points(axes, cells[x], cells[name], cells[f"{name}_lower"], cells[f"{name}_upper"], **marks_of(style))
