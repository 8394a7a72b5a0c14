"""Figures of success against the gap, the required gap against k and m, and success at the gap of Theorem 20."""

import numpy as np
import pandas as pd

from tcdp_sim.bounds.lower import selection_gap
from tcdp_sim.experiments.gap_max import series
from tcdp_sim.experiments.gap_max.exact_values import BETA, exact_arguments, failure, gap_scale, rebuilt, required
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee
from tcdp_sim.report.looks import line_of, marks_of
from tcdp_sim.report.plots import GREY, WRONG, limit_styles, new_figure, plain_log_axis, points
from tcdp_sim.selection.calibration import WITH_NOISE

MARKS = {"markers: simulated, 95% interval": {"color": GREY, "marker": "o", "linestyle": "none"}}
SIMULATED = {"lines: exact": {"color": GREY}} | MARKS
JOINED = {"lines join exact values": {"color": GREY}} | MARKS
SCALE = {"color": GREY, "linestyle": (0, (6, 1.5, 1, 1.5)), "linewidth": 0.8}
FINE = 61  # points of an exact curve
HUGE = 10.0 ** np.geomspace(1, 100, 40)  # numbers of candidates, up to where log log k shows


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
        axes.set(title=f"k = {series.size(k)}", xlabel="gap (counts)", ylim=(-0.03, 1.03))
    grid[0, 0].set_ylabel("P[the true top is selected]")
    series.legend(figure, part, looks, 2, SIMULATED)
    figure.suptitle(f"Private selection at equal privacy, ρ = {part['rho'].iloc[0]:g}", fontsize=11)
    return figure


def required_figure(part: pd.DataFrame, looks):
    """Return (figure, table) of the required gap against k: reductions, other methods, Algorithm 22 to k = 1e100."""
    reduced = part["algorithm"].isin(WITH_NOISE)
    best = part[(part["algorithm"] == "obvious_answer") & part["noise"].isin(["gaussian", "sinh_normal_tight"])]
    several = part["k"].nunique() > 1
    figure, grid = new_figure(1, 3 if several else 2, 12.4 if several else 8.4, 4.0, sharey=False)
    panels = ((part[reduced], "Algorithms 21 and 22"), (pd.concat([best, part[~reduced]]), "what else there is"))
    limits = _limits(part)
    for axes, (rows, title) in zip(grid[0], panels):
        for label, cells in rows.groupby("series", sort=False):
            cells = cells.sort_values("k")
            _markers(axes, cells, "k", "required_gap", looks[label])
            axes.plot(cells["k"], cells["required_gap_exact"], **line_of(looks[label]))
        axes.set(xscale="log", xlabel="number of candidates k", ylabel="gap for 95% success (counts)", title=title)
        plain_log_axis(axes)
        sizes = np.sort(part["k"].unique())
        _draw_limits(axes, limits, sizes, sizes)
    tables = [part]
    if several:
        tables.append(_far(grid[0, 2], part[part["algorithm"] == "obvious_answer"], looks))
        _draw_limits(grid[0, 2], limits, HUGE, np.log10(HUGE))
    lines = {label: style for label, (_, style) in limits.items()}
    series.legend(figure, part, looks, 2, SIMULATED | {"order of the gap by Section 1.2, scaled": SCALE} | lines)
    figure.suptitle(f"The gap that each method needs at equal privacy, ρ = {part['rho'].iloc[0]:g}", fontsize=11)
    return figure, pd.concat(tables)


def _limits(part) -> dict[str, tuple[Guarantee, dict]]:
    """Return label -> (guarantee, style) of the lower limits on any selection's gap: zCDP, and tCDP for each omega."""
    rho, omegas = float(part["rho"].iloc[0]), sorted(part["omega"].dropna().unique()) if "omega" in part else []
    named: dict[str, Guarantee] = {"no zCDP selection can do better": ZCDP(rho)}
    named |= {f"no tCDP selection can do better, ω = {omega:.3g}": TCDP(rho, float(omega)) for omega in omegas}
    styles = limit_styles(named)
    return {label: (promise, styles[label]) for label, promise in named.items()}


def _draw_limits(axes, limits, sizes, x):
    """Draw the largest whole gap that is not enough for 95% success under each guarantee, for k = sizes, at x."""
    for promise, style in limits.values():
        gaps = np.ceil(selection_gap(promise, sizes, BETA)) - 1
        axes.plot(x, np.where(gaps > 0, gaps, np.nan), **style)


def _far(axes, part, looks):
    """Draw the exact gap of Algorithm 22 up to k = 1e100, and its order of growth scaled to the last point."""
    rows = []
    for label, cells in part.groupby("series", sort=False):
        row = cells.iloc[-1]
        mechanism = rebuilt(row)
        gaps = [required(*exact_arguments(mechanism), float(k), BETA, 1) for k in np.round(HUGE)]
        axes.plot(np.log10(HUGE), gaps, **line_of(looks[label]))
        scale = np.array([gap_scale(mechanism.promise, k) for k in HUGE])
        axes.plot(np.log10(HUGE), scale * gaps[-1] / scale[-1], **SCALE | {"color": looks[label]["color"]})
        for k, gap, order in zip(HUGE, gaps, scale):
            rows.append({"series": label, "k": k, "required_gap_exact": gap, "gap_scale": order})
    axes.set(xscale="log", xlabel="log₁₀ k", title="Algorithm 22, exact, to k = $10^{100}$")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    plain_log_axis(axes)
    return pd.DataFrame(rows)


def rho_figure(part: pd.DataFrame, looks, title: str):
    """Draw P[success] and the required gap against rho, at one k, m and gap."""
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
    series.legend(figure, part, looks, 2, JOINED | {f"the gap there is: {gap:,.6g}": of_data})
    figure.suptitle(title, fontsize=11)
    return figure


def top_m_figure(part: pd.DataFrame, looks):
    """Draw the required gap against m."""
    figure, grid = new_figure(1, 1, 6.4, 3.6)
    axes = grid[0, 0]
    for label, cells in part.groupby("series", sort=False):
        cells = cells.drop_duplicates("m").sort_values("m")
        _markers(axes, cells, "m", "required_gap", looks[label])
        axes.plot(cells["m"], cells["required_gap_exact"], **line_of(looks[label]))
    ticks = sorted(part["m"].unique())
    axes.set(xscale="log", xlabel="number of winners m", ylabel="gap for 95% success (counts)")
    axes.set_xticks(ticks, [f"{m:g}" for m in ticks])
    axes.minorticks_off()
    plain_log_axis(axes)
    axes.set_title(f"The m best of k = {series.size(part['k'].iloc[0])} at equal privacy, ρ = {part['rho'].iloc[0]:g}")
    series.legend(figure, part, looks, 1, SIMULATED)
    return figure


def theorem_20_figure(part: pd.DataFrame):
    """Draw P[success] at the gap of Theorem 20, which the paper claims to be enough for both algorithms (E6)."""
    figure, grid = new_figure(1, 1, 6.4, 4.2)
    axes = grid[0, 0]
    keys = {}
    for algorithm, colour, marker, label in (
        ("generalized_histogram", "#0072B2", "o", "Alg. 21 at the gap of Theorem 20"),
        ("obvious_answer", WRONG, "X", "Alg. 22 at that gap: claimed to succeed as well, WRONG (E6)"),
    ):
        cells = part[part["algorithm"] == algorithm].sort_values("k")
        if len(cells):
            keys[label] = {"color": colour, "marker": marker}
            _success_at(axes, cells, "theorem_20", {"color": colour, "marker": marker})
    cells = part[part["algorithm"] == "obvious_answer"].sort_values("k")
    if len(cells):
        keys["Alg. 22 at 4 t_k + 2 (proved: 1 − 1/k)"] = {"color": "#009E73", "marker": "^"}
        _success_at(axes, cells, "proved", {"color": "#009E73", "marker": "^"})
    axes.set(xscale="log", xlabel="number of candidates k", ylabel="P[the true top is selected]", ylim=(None, 1.02))
    what = f"Gaussian noise at ρ = {part['rho'].iloc[0]:g}; lines: exact, markers: simulated, 95%"
    axes.set_title(f"Gap 2 z with P[|Z| ≥ z] = 0.01 / k\n{what}")
    series.legend(figure, part.iloc[:0], {}, 1, keys)
    return figure


def _success_at(axes, cells, name, style):
    right = [1 - cells[f"fails_at_{name}{end}"] for end in ("", "_upper", "_lower")]
    points(axes, cells["k"], *right, **style)
    axes.plot(cells["k"], 1 - cells[f"fails_at_{name}_exact"], color=style["color"])


def _markers(axes, cells, x, name, style):
    points(axes, cells[x], cells[name], cells[f"{name}_lower"], cells[f"{name}_upper"], **marks_of(style))
