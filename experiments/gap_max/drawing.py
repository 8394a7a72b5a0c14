"""Figures of success against the gap, the required gap against k and m, and success at the gap of Theorem 20."""

import numpy as np
import pandas as pd

from tcdp_sim.bounds.lower import selection_gap
from tcdp_sim.experiments.gap_max import series
from tcdp_sim.experiments.gap_max.exact_values import BETA, exact_arguments, failure, gap_scale, rebuilt, required
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee
from tcdp_sim.report.findings import listed
from tcdp_sim.report.labels import End, label_ends, short
from tcdp_sim.report.looks import COLOURS, DASHES, MARKERS, line_of, marks_of
from tcdp_sim.report.plots import (
    GREY,
    KIND,
    WRONG,
    headed,
    limit_styles,
    new_figure,
    note,
    plain_log_axis,
    points,
    size,
)
from tcdp_sim.selection.calibration import WITH_NOISE

COUNTED = "counted as 2m queries"
SCALE = {"color": GREY, "linestyle": (0, (6, 1.5, 1, 1.5)), "linewidth": 0.8}
FINE = 61  # points of an exact curve
STEPS = 800  # points of a lower bound, which rises in steps
HUGE, HUGE_STEPS = (10.0 ** np.geomspace(1, 100, n) for n in (40, STEPS))  # k, up to where log log k shows
FAR = "Algorithm 22, exact, to k = $10^{100}$"
CLAIMED = "Alg. 22 at that gap: claimed\nto succeed as well, WRONG (E6)"
DRAWN = "the noise of k candidates is not listed: its largest value is drawn from its exact law"


def success_figure(part: pd.DataFrame, looks):
    """Draw P[success] against the gap, with a panel for each k."""
    sizes = sorted(part["k"].unique())[:4]
    figure, grid = new_figure(1, len(sizes), max(3.6 * len(sizes), 7.8), 3.2, sharey=True)
    gaps = np.linspace(0, part["gap"].max(), FINE)
    for axes, k in zip(grid[0], sizes):
        for label, cells in part[part["k"] == k].groupby("series", sort=False):
            _markers(axes, cells, "gap", "top_selected", looks[label])
            law = exact_arguments(rebuilt(cells.iloc[0]))
            axes.plot(gaps, [1 - failure(*law, k, gap, 1) for gap in gaps], **line_of(looks[label]))
        axes.set(title=f"k = {size(k)}", xlabel="gap (counts)", ylim=(-0.03, 1.03))
    grid[0, 0].set_ylabel("P[the true top is selected]")
    series.legend(figure, part, looks, 2)
    _explain(figure)
    headed(figure, _least_gaps(part.drop_duplicates(["series", "k"]), "k"))
    return figure


def _explain(figure) -> None:
    """Let the caption explain lines and markers, and how a few trials can stand for 10^12 candidates."""
    note(figure, "kind", KIND)
    note(figure, "drawn", DRAWN)


def _least_gaps(part, axis: str) -> str:
    """Return in words which series needs the smallest gap at the least and at the largest value of an axis."""
    known = part[part["required_gap_exact"].notna()]
    least = known.loc[known.groupby(axis)["required_gap_exact"].idxmin()]
    if not len(least):
        return "No gap for 95% success is known exactly"
    ends = least.iloc[[0, -1]].to_dict("records") if len(least) > 1 else least.to_dict("records")
    told: dict[str, list[str]] = {}
    for row in ends:
        words = f"{row['required_gap_exact']:.3g} counts at {axis} = {size(row[axis])}"
        told.setdefault(short(row["series"]), []).append(words)
    by = listed(f"{listed(words)} by {name}" for name, words in told.items())
    return f"The smallest gap for {1 - BETA:.0%} success at ρ = {part['rho'].iloc[0]:g} is {by}"


def required_figure(part: pd.DataFrame, looks):
    """Return (figure, table) of the required gap against k.

    There is a panel for each of Algorithms 22 and 21, one for other methods, and one of Algorithm 22 to k = 1e100.
    """
    several = part["k"].nunique() > 1
    reduced = part["algorithm"].isin(WITH_NOISE)
    best = part[(part["algorithm"] == "obvious_answer") & part["noise"].isin(["gaussian", "sinh_normal_tight"])]
    panels = {
        "Alg. 22": part[part["algorithm"] == "obvious_answer"],
        "Alg. 21": part[part["algorithm"] == "generalized_histogram"],
        "other methods": pd.concat([best, part[~reduced]]) if (~reduced).any() else part.iloc[:0],
    }
    panels = {title: rows for title, rows in panels.items() if len(rows)}
    count = len(panels) + (several and "Alg. 22" in panels)
    columns = min(2, count)
    figure, grid = new_figure(
        -(-count // columns), columns, 6.0 * columns, 3.5 * -(-count // columns) + 0.2, sharey=True
    )
    spaces, labelled = iter(grid.flat), []
    limits = _limits(part)
    steps = np.geomspace(part["k"].min(), part["k"].max(), STEPS)
    for (title, rows), axes in zip(panels.items(), spaces):
        for label, cells in rows.groupby("series", sort=False):
            cells = cells.sort_values("k")
            _markers(axes, cells, "k", "required_gap", looks[label])
            axes.plot(cells["k"], cells["required_gap_exact"], **line_of(looks[label]))
        axes.set(xscale="log", xlabel="number of candidates k", ylabel="gap for 95% success (counts)", title=title)
        plain_log_axis(axes)
        axes.tick_params(labelleft=True)
        labelled.append((axes, _single(rows, looks, title) + _draw_limits(axes, limits, steps, steps)))
    tables = [part]
    if several and "Alg. 22" in panels:
        axes = next(spaces)
        far, ends = _far(axes, panels["Alg. 22"], looks)
        tables.append(far)
        axes.tick_params(labelleft=True)
        labelled.append((axes, ends + _draw_limits(axes, limits, HUGE_STEPS, np.log10(HUGE_STEPS))))
        note(figure, "order", "dashes and dots: the order of the gap by Section 1.2, scaled")
    for axes in spaces:
        axes.set_axis_off()
    for axes, own in labelled:  # the panels share an axis, which is final now
        label_ends(axes, own)
    if part["series"].str.contains(COUNTED).any():
        note(figure, "counted", f"dotted: Algorithm 21 {COUNTED}, as the paper does")
    _explain(figure)
    headed(figure, _least_gaps(part, "k"))
    return figure, pd.concat(tables)


def _single(rows, looks, panel) -> list[End]:
    """Return the ends of the lines of a panel. A dotted line next to the same line by exact accounting has no label."""
    own = set(rows["series"])
    twins = rows["series"].str.removesuffix(f", {COUNTED}")
    return series.ends(rows[(twins == rows["series"]) | ~twins.isin(own)], "k", "required_gap_exact", looks, panel)


def _limits(part) -> dict[str, tuple[Guarantee, dict]]:
    """Return label -> (guarantee, style) of the lower limits on any selection's gap: zCDP, and tCDP for each omega."""
    rho, omegas = float(part["rho"].iloc[0]), sorted(part["omega"].dropna().unique()) if "omega" in part else []
    named: dict[str, Guarantee] = {"no zCDP selection can do better": ZCDP(rho)}
    named |= {f"no tCDP selection can do better, ω = {omega:.3g}": TCDP(rho, float(omega)) for omega in omegas}
    styles = limit_styles(named)
    return {label: (guarantee, styles[label]) for label, guarantee in named.items()}


def _draw_limits(axes, limits, sizes, x) -> list[End]:
    """Draw the largest whole gap that is not enough for 95% success under each guarantee, for k = sizes, at x."""
    ends = []
    for label, (guarantee, style) in limits.items():
        gaps = np.ceil(selection_gap(guarantee, sizes, BETA)) - 1
        axes.plot(x, np.where(gaps > 0, gaps, np.nan), **style)
        ends.append(End(label, series.text_of(label), x[-1], gaps[-1] if gaps[-1] > 0 else np.nan, style))
    return ends


def _far(axes, part, looks):
    """Draw the exact gap of Algorithm 22 up to k = 1e100, and its order of growth scaled to the last point.

    Return the table and the ends of the lines.
    """
    rows, ends = [], []
    for label, cells in part.groupby("series", sort=False):
        row = cells.iloc[-1]
        mechanism = rebuilt(row)
        gaps = [required(*exact_arguments(mechanism), float(k), BETA, 1) for k in np.round(HUGE)]
        axes.plot(np.log10(HUGE), gaps, markevery=8, **looks[label])
        scale = np.array([gap_scale(mechanism.promise, k) for k in HUGE])
        axes.plot(np.log10(HUGE), scale * gaps[-1] / scale[-1], **SCALE | {"color": looks[label]["color"]})
        ends.append(End(str(label), series.text_of(str(label), "Alg. 22"), 100.0, gaps[-1], looks[label]))
        for k, gap, order in zip(HUGE, gaps, scale):
            rows.append({"series": label, "k": k, "required_gap_exact": gap, "gap_scale": order})
    axes.set(xscale="log", xlabel="number of candidates k (log log axis)", title=FAR)
    axes.set_ylabel("gap for 95% success (counts)")
    axes.set_xticks(ticks := [1, 2, 5, 10, 20, 50, 100], [f"$10^{{{tick}}}$" for tick in ticks])
    axes.minorticks_off()
    plain_log_axis(axes)
    return pd.DataFrame(rows), ends


def rho_figure(part: pd.DataFrame, looks, what: str):
    """Draw P[success] and the required gap against rho, at one k, m and gap. `what` names the selected objects."""
    figure, grid = new_figure(1, 2, 9.6, 3.8)
    gap = part["gap"].iloc[0]
    for label, cells in part.groupby("series", sort=False):
        cells = cells.drop_duplicates("rho").sort_values("rho")
        for axes, name in zip(grid[0], ("top_selected", "required_gap")):
            _markers(axes, cells, "rho", name, looks[label])
            axes.plot(cells["rho"], cells[f"{name}_exact"], **line_of(looks[label]))
    of_data = {"color": GREY, "linewidth": 3, "alpha": 0.5}
    grid[0, 1].axhline(gap, **of_data)
    grid[0, 0].set(xscale="log", xlabel="privacy ρ", ylabel="P[the true top is selected]", ylim=(-0.03, 1.03))
    grid[0, 1].set(xscale="log", yscale="log", xlabel="privacy ρ", ylabel="gap for 95% success (counts)")
    series.legend(figure, part, looks, 2, {f"the gap there is: {gap:,.6g}": of_data})
    note(figure, "kind", f"{KIND}; the lines join exact values")
    headed(figure, _least_rho(part, what))
    return figure


def _least_rho(part, what: str) -> str:
    """Return in words at which rho of the sweep which series first succeeds with probability 95%."""
    enough = part[part["top_selected_exact"] >= 1 - BETA]
    if not len(enough):
        return f"No method selects {what} with probability {1 - BETA:.0%} at any ρ of the sweep"
    first = enough[enough["rho"] == enough["rho"].min()]
    best = (
        first.loc[first["required_gap_exact"].idxmin()] if first["required_gap_exact"].notna().any() else first.iloc[0]
    )
    least = f"{best['rho']:.2g}, with {short(best['series'])}"
    return f"The least ρ of the sweep that selects {what} with probability {1 - BETA:.0%} is {least}"


def top_m_figure(part: pd.DataFrame, looks):
    """Draw the required gap against m, with a panel for each k."""
    sizes = sorted(part["k"].unique())[:4]
    figure, grid = new_figure(1, len(sizes), 6.8 * len(sizes), 3.8)
    for axes, k in zip(grid[0], sizes):
        rows = part[part["k"] == k].drop_duplicates(["series", "m"])
        for label, cells in rows.groupby("series", sort=False):
            cells = cells.sort_values("m")
            _markers(axes, cells, "m", "required_gap", looks[label])
            axes.plot(cells["m"], cells["required_gap_exact"], **line_of(looks[label]))
        ticks = sorted(rows["m"].unique())
        axes.set(xscale="log", xlabel="number of winners m", ylabel="gap for 95% success (counts)")
        axes.set_title(f"k = {size(k)}")
        axes.set_xticks(ticks, [f"{m:g}" for m in ticks])
        axes.minorticks_off()
        plain_log_axis(axes)
        label_ends(axes, series.ends(rows, "m", "required_gap_exact", looks))
    _explain(figure)
    headed(figure, _least_gaps(part[part["k"] == sizes[-1]], "m"))
    return figure


def theorem_20_figure(part: pd.DataFrame):
    """Draw P[success] at the gap of Theorem 20, which the paper claims to be enough for both algorithms (E6)."""
    figure, grid = new_figure(1, 1, 7.6, 4.0)
    axes = grid[0, 0]
    gaussian = {"color": COLOURS[2], "marker": MARKERS[2]}
    lines = (
        (
            "generalized_histogram",
            "theorem_20",
            gaussian | {"linestyle": DASHES[1], "fillstyle": "none"},
            "Alg. 21 at the gap\nof Theorem 20",
        ),
        ("obvious_answer", "proved", gaussian, "Alg. 22 at 4 t(k) + 2\n(proved: 1 − 1/k)"),
        ("obvious_answer", "theorem_20", {"color": WRONG, "marker": "X"}, CLAIMED),
    )
    ends = []
    for algorithm, gap, style, label in lines:
        cells = part[part["algorithm"] == algorithm].sort_values("k")
        if len(cells):
            ends.append(_success_at(axes, cells, gap, style, label))
    axes.set(xscale="log", xlabel="number of candidates k", ylabel="P[the true top is selected]", ylim=(None, 1.02))
    label_ends(axes, ends)
    _explain(figure)
    note(figure, "gap", "the gap of Theorem 20 is 2 z with P[|Z| ≥ z] = 0.01 / k, for Gaussian noise Z")
    headed(figure, _at_theorem_20(part))
    return figure


def _at_theorem_20(part) -> str:
    """Return in words with which probability both algorithms succeed at the gap of Theorem 20."""
    told = []
    for algorithm in ("generalized_histogram", "obvious_answer"):
        rows = part[part["algorithm"] == algorithm]
        if len(rows):
            least = rows.loc[rows["fails_at_theorem_20_exact"].idxmax()]
            probability = 1 - least["fails_at_theorem_20_exact"]
            told.append(f"{_percent(probability)} by {series.ALGORITHMS[algorithm]} at k = {size(least['k'])}")
    head = "At the gap of Theorem 20, claimed to be enough for both (E6), the least success with Gaussian noise is"
    return f"{head} {listed(told)}"


def _percent(probability: float) -> str:
    return (
        f"{100 * probability:.3g}%" if probability < 0.999 else f"above {100 * np.floor(1e4 * probability) / 1e4:.2f}%"
    )


def _success_at(axes, cells, name, style, label) -> End:
    success = 1 - cells[[f"fails_at_{name}{end}" for end in ("", "_upper", "_lower", "_exact")]].to_numpy().T
    points(axes, cells["k"], *success[:3], **marks_of(style))
    axes.plot(cells["k"], success[3], **line_of(style))
    return End(label.replace("\n", " "), label, cells["k"].iloc[-1], success[3][-1], style)


def _markers(axes, cells, x, name, style):
    points(axes, cells[x], cells[name], cells[f"{name}_lower"], cells[f"{name}_upper"], **marks_of(style))
