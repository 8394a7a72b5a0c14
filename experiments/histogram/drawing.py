"""Figures of a private histogram: error against k, exceedance of the bounds, and the ranking against rho."""

from dataclasses import replace

import numpy as np

from tcdp_sim.bounds.lower import histogram_error
from tcdp_sim.experiments.histogram.best_additive import best_styles
from tcdp_sim.privacy import TCDP, ZCDP
from tcdp_sim.report.findings import listed, lowest_first, span, wins
from tcdp_sim.report.labels import End, label_ends, short
from tcdp_sim.report.legends import grouped, legend_below
from tcdp_sim.report.looks import line_of, marks_of
from tcdp_sim.report.plots import (
    GREY,
    KIND,
    WRONG,
    headed,
    limit_styles,
    name_hidden,
    new_figure,
    note,
    plain_log_axis,
    points,
    size,
    wide_log_axis,
    wrapped,
)
from tcdp_sim.report.thinning import some_levels

LEVEL = 0.95
MOST_KEYS = 8  # entries of a legend
MOST_PANELS = 4  # values of rho
STEPS = 800  # points of a lower bound, which rises in steps
BOUND_LINE = {"color": GREY, "linestyle": "-", "linewidth": 0.6, "alpha": 0.7}
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
        note(figure, "panels", f"{len(rhos)} of {levels} values of ρ")
    lines, best_lines = _least_styles(part), best_styles(best)
    for axes, rho in zip(grid.flat, rhos):
        for style, cells in _series(part[part["rho"] == rho], styles, "k"):
            _error(axes, cells, "k", style)
            axes.plot(cells["k"], cells.get("printed", np.nan * cells["k"]), **PRINTED)
        axes.set(title=f"ρ = {rho:g}")
        wide_log_axis(axes, part["k"].min(), part["k"].max())
        plain_log_axis(axes)
        for label, style in lines.items():
            axes.plot(*_least_line(part[(part["rho"] == rho) & (part["least"] == label)]), **style)
        for label, style in best_lines.items():
            ends = best[(best["rho"] == rho) & (best["series"] == label)]
            axes.plot(ends["k"], ends["least_additive_error"], **style)
    for axes in grid[-1]:
        axes.set_xlabel("number of bins k")
    for axes in grid[:, 0]:
        axes.set_ylabel("largest error, 95% quantile (counts)")
    wrong = {"zCDP radius as printed, too small by √2 (E1)": PRINTED} if _has_printed(part) else {}
    if (
        wrong
        and len(grouped({name: {} for name in [*part["series"].unique(), *wrong, *best_lines, *lines]})) > MOST_KEYS
    ):
        note(figure, "printed", f"red dots: {next(iter(wrong))}")
        wrong = {}
    _legend(figure, part, styles, 2, keys=wrong | best_lines | lines)
    headed(figure, _smallest(part, best, rhos))
    return figure


def _smallest(part, best, rhos) -> str:
    """Return the title: the lowest of all drawn lines at the largest number of bins, and the second lowest.

    The values of rho at which another line is the lowest are counted.
    """
    k = part["k"].max()
    ranks = [found for rho in rhos if (found := lowest_first(_heights(part, best, rho), k))]
    if not ranks:
        return f"No exact error is known of a private histogram of k = {size(k)} bins"
    (name, count), *others = wins([found[0][0] for found in ranks])
    where = f" at {count} of {len(ranks)} values of ρ" if others else ""
    told = f"At k = {size(k)} the smallest worst-case error{where} is that of {short(name)}"
    mine = [found for found in ranks if found[0][0] == name and len(found) > 1]
    seconds = wins([found[1][0] for found in mine])
    if len(seconds) != 1:
        return told
    ratios = [found[1][1] / found[0][1] for found in mine]
    return f"{told}, and {short(seconds[0][0])} is second with {span(ratios, '{:.3g}'.format)} times as much"


def _heights(part, best, rho) -> dict[str, tuple]:
    """Return x and y of every drawn line of a mechanism at one rho, by name."""
    cells = part[part["rho"] == rho].sort_values("k")
    lines = {str(name): (rows["k"], rows["linf_q95_exact"]) for name, rows in cells.groupby("series", sort=False)}
    own = best[best["rho"] == rho] if len(best) else best
    names = own["series"].unique() if len(own) else ()
    drawn = {name: own[own["series"] == name] for name in names}
    return lines | {name: (rows["k"], rows["least_additive_error"]) for name, rows in drawn.items()}


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


def _least_line(cells) -> tuple[np.ndarray, np.ndarray]:
    """Return k and the least error under the guarantee of some cells, which rises in steps of half a count.

    The steps show because it is computed on a fine grid from the smallest to the largest k of the cells.
    """
    if not len(cells):
        return np.array([]), np.array([])
    first = cells.iloc[0]
    rho, omega = float(first["rho"]), float(first.get("omega", np.nan))
    guarantee = ZCDP(rho) if str(first["guarantee"]).endswith("-zCDP") else TCDP(rho, omega)
    k = np.geomspace(cells["k"].min(), cells["k"].max(), STEPS)
    return k, np.asarray(histogram_error(guarantee, k, round(1 - LEVEL, 12)))


def exceedance(part, styles):
    """Draw the probability that the largest error exceeds its bounds, against k, at one rho."""
    beta = part["beta"].iloc[0]
    figure, grid = new_figure(1, 1, 8.6, 4.2)
    axes = grid[0, 0]
    axes.set(yscale="log", ylim=(beta / 200, 1.5), xlabel="number of bins k", ylabel="P[largest error > bound]")
    wide_log_axis(axes, part["k"].min(), part["k"].max())
    claimed = {"color": "#555555", "linewidth": 0.9, "linestyle": "-"}
    axes.axhline(beta, **claimed)
    most = part["k"].max()
    ends = [End(f"claimed: at most β = {beta:g}", f"claimed: at most β\u00a0=\u00a0{beta:g}", most, beta, claimed)]
    wrong = PRINTED | {"marker": "X"}
    for style, cells in _series(part, styles, "k"):
        _probability(axes, cells, "k", "exceeds_bound", style)
        last = cells.iloc[-1]
        ends.append(End(last["series"], _short(last["series"]), last["k"], last["exceeds_bound_exact"], style))
        if _has_printed(cells):
            _probability(axes, cells, "k", "exceeds_printed", wrong)
            label = "radius as printed, too small by √2 (E1)"
            ends.append(
                End(f"Gaussian, {label}", f"Gaussian, {label}", last["k"], last["exceeds_printed_exact"], wrong)
            )
    label_ends(axes, [replace(end, text="\n".join(wrapped(end.text, 30))) for end in ends])
    note(figure, "kind", KIND)
    _say_who_is_one(figure, part)
    headed(figure, _how_often(part))
    return figure


def _short(label: str) -> str:
    return short(label).replace(", δ\u00a0=\u00a01e-6", "")


def _how_often(part) -> str:
    """Return in words how often the bounds are exceeded at most."""
    proved, beta = part["exceeds_bound_exact"].max(), part["beta"].iloc[0]
    told = f"errors exceed their proved bounds with probability at most {proved:.2g} (claimed: {beta:g})"
    if _has_printed(part):
        told += f", and the radius printed for zCDP with up to {part['exceeds_printed_exact'].max():.2g}"
    return f"At ρ = {part['rho'].iloc[0]:g} {told}"


def _say_who_is_one(figure, part):
    """Let the caption say where the lines of sinh-normal and Gaussian noise coincide.

    knee arsinh(z scale / knee) increases with z. The largest of k sinh-normal errors therefore exceeds its bound
    exactly when the largest of the Gaussian ones exceeds its own.
    """
    images = part[part["noise_family"].isin(IMAGES)].sort_values("k")
    curves = {tuple(cells["exceeds_bound_exact"].round(12)) for _, cells in images.groupby("series")}
    if len(curves) == 1 < images["series"].nunique():
        text = f"one line for {images['series'].nunique()} series, Gaussian and sinh-normal: sinh-normal noise"
        note(figure, "one line", f"{text} and its bound are the same rising function of the Gaussian's")


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
    exact = {short(str(name)): rows.sort_values("rho") for name, rows in part.groupby("series", sort=False)}
    name_hidden(figure, {name: (rows["rho"], rows["linf_q95_exact"]) for name, rows in exact.items()})
    headed(figure, _how_often_on_top(part))
    return figure


def _how_often_on_top(part) -> str:
    """Return in words how often the true top bin stays on top, at the rho at which the noises differ most."""
    data, k, n = part["data"].iloc[0], part["k"].iloc[0], part["n"].iloc[0]
    bins = f"{k:,.0f}" if k < 1e7 else f"{k:.3g}"
    chances = part.groupby("rho")["top_stays"]
    rho = (chances.max() - chances.min()).idxmax()
    shown = part[part["rho"] == rho].set_index("series")["top_stays"].sort_values()
    ends = [f"in {shown.iloc[place]:.0%} of the trials with {_short(shown.index[place])}" for place in (0, -1)]
    head = f"At ρ = {rho:.3g} the true top of {n:,} records in {bins} bins ({data}) stays on top"
    return f"{head} {listed(ends)}"


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
