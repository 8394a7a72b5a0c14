"""Figures of divergences over the claimed ones: against the order for Theorem 17, against omega for Corollary 18."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.experiments.tightness.claims import (
    COROLLARY,
    PRINTED,
    PRINTED_FROM,
    PROVED_FROM,
    THEOREM,
    TIGHT,
    highest,
    too_little_below,
)
from tcdp_sim.report.findings import listed
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_looks, noise_styles
from tcdp_sim.report.plots import GREY, KIND, WRONG, captioned, headed, new_figure, note, plain_log_axis, points

INFINITE = {"color": GREY, "linestyle": ":", "linewidth": 1.6}


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) Theorem 17's ratio against the order, (b) Corollary 18's largest one against omega sqrt(rho).

    There is a figure for each rho.
    """
    for given, name, draw in ((False, "theorem_17", _by_order_figure), (True, "corollary_18", _by_omega_figure)):
        part = table[(table["claim"] == COROLLARY) == given]
        for rho, rows in part.groupby("rho", sort=False):
            figure = captioned(draw(rows, rho), rows, "divergences in nats")
            yield name + f"_rho_{rho:.4g}" * (part["rho"].nunique() > 1), figure, rows


def _by_order_figure(part, rho):
    figure, grid = new_figure(1, 1, 7.8, 5.6)
    axes = grid[0, 0]
    axes.fill_between([0, 1], 0.01, 1, color="#009E73", alpha=0.12, linewidth=0)
    named = {_series_name(row): rows for row, rows in _groups(part)}
    styles = noise_styles(_series_of(name, rows.iloc[0]) for name, rows in named.items())
    for name, rows in named.items():
        style, rows = styles[name], rows.sort_values("order")
        drawn, curve = rows[(rows["trials"] > 0) & np.isfinite(rows["ratio"])], rows[rows["trials"] == 0]
        omega, end = rows["omega"].iloc[0], rows["infinite_from"].iloc[0]
        x = drawn["order"] / omega
        points(axes, x, drawn["ratio"], drawn["ratio_lower"], drawn["ratio_upper"], **marks_of(style))
        axes.plot(curve["order"] / omega, curve["ratio_exact"], **line_of(style))
        axes.plot([end / omega] * 2, [curve["ratio_exact"].iloc[-1], 10], **INFINITE | {"color": style["color"]})
    axes.axhline(1, color=GREY, linewidth=1.2)
    axes.annotate("claimed: at most 1 for α < ω", (0.03, 1.04), color=GREY, fontsize=8)
    if (part["claim"] == THEOREM).any():
        axes.axhline(1 / PRINTED, color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
        axes.annotate("1/16: Gaussian of the same scale", (0.03, 0.96 / PRINTED), color=GREY, fontsize=8, va="top")
    far = max((rows["infinite_from"] / rows["omega"]).max() for rows in named.values())
    plain_log_axis(axes)
    axes.set(xlim=(0, 1.04 * far), xlabel="order over the claimed limit, α / ω")
    axes.set(ylim=(0.045, 2), ylabel=r"$D_\alpha\,/\,(\rho\,\alpha)$")
    legend_below(figure, styles | {"α*: infinite from here on": INFINITE}, 2)
    note(figure, "kind", KIND)
    headed(figure, _used(named, rho))
    return figure


def _used(named, rho) -> str:
    """Return in words which share of the claimed divergence each kind of noise reaches below omega."""
    told = []
    for claim, words in ((THEOREM, "with the noise of Theorem 17"), (TIGHT, "calibrated tightly")):
        shares = [rows["worst"].iloc[0] for rows in named.values() if rows["claim"].iloc[0] == claim]
        if shares:
            ends = dict.fromkeys(f"{100 * share:.3g}%" for share in (min(shares), max(shares)))
            told.append(f"{' to '.join(ends)} ({words})")
    return f"Below ω sinh-normal noise of ρ = {rho:.4g} reaches {listed(told)} of the claimed divergence"


def _groups(part):
    for _, rows in part.groupby("noise_law", sort=False):
        yield rows.iloc[0], rows


def _series_of(name, row) -> Series:
    calibration = "paper" if row["claim"] == THEOREM else "tight"
    return Series(name, row["claim"], "sinh_normal", calibration, name)


def _series_name(row) -> str:
    at = f"ω√ρ = {row['omega_sqrt_rho']:.3g}"
    if row["claim"] == THEOREM:
        return f"{THEOREM}, {at}: its {PRINTED} could be {PRINTED * row['worst']:.3g}"
    return f"{row['claim']}, {at}: reaches {row['worst']:.3g}"


def _by_omega_figure(part, rho):
    figure, grid = new_figure(1, 1, 7.8, 4.8)
    axes = grid[0, 0]
    drawn = highest(part[part["trials"] > 0])
    curve = part[part["trials"] == 0].sort_values("omega")
    low, high = curve["omega_sqrt_rho"].min() / 1.05, max(curve["omega_sqrt_rho"].max(), 1.0) * 1.05
    edge = too_little_below(rho) if rho < 0.5 else np.nan
    bad = edge if edge > PRINTED_FROM else PRINTED_FROM
    for start, end, colour, text in (
        (low, PRINTED_FROM, "#FFFFFF", "not\nclaimed"),
        (PRINTED_FROM, bad, WRONG, "too little\nnoise"),
        (bad, PROVED_FROM, GREY, "enough noise, but\nthe proof does not reach here"),
        (PROVED_FROM, high, "#009E73", "proved:\nω ≥ 1/√(2ρ)"),
    ):
        if max(start, low) < end:
            axes.axvspan(max(start, low), end, color=colour, alpha=0.13, linewidth=0)
            axes.annotate(text, (np.sqrt(max(start, low) * end), 5.4), ha="center", va="top", fontsize=8)
    look = noise_looks([(COROLLARY, "sinh_normal", "paper")])[COROLLARY]
    axes.plot(curve["omega_sqrt_rho"], curve["worst"], color=look["color"], label="exact, worst order below ω")
    marks = look | {"label": "simulated at the highest order, 95% interval"}
    points(axes, drawn["omega_sqrt_rho"], drawn["ratio"], drawn["ratio_lower"], drawn["ratio_upper"], **marks)
    axes.axhline(1, color=GREY, linewidth=1.2)
    place = {"ha": "right", "color": GREY, "fontsize": 8}
    axes.annotate("claimed: at most 1 ", (high, 1), (0, 3), textcoords="offset points", **place)
    if edge > low:
        axes.annotate(f"ω√ρ = {edge:.4f}", (edge, 1), (6, 6), textcoords="offset points", fontsize=8, color=WRONG)
    axes.set_xscale("log")
    ticks = [t for t in (0.1, 0.125, 0.2, 0.3, 0.5, 0.7071, 1, 2, 5, 10) if low <= t <= high]
    axes.set_xticks(ticks, ["1/√2" if t == 0.7071 else "1/8" if t == 0.125 else f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    plain_log_axis(axes)
    axes.set(xlim=(low, high), xlabel="ω√ρ")
    axes.set(ylim=(0.05, 6), ylabel=r"largest of $2\,D_\alpha\,/\,(\rho\,\alpha)$ for α < ω")
    figure.legend(loc="outside lower center", ncols=2)
    headed(figure, f"At ρ = {rho:.4g} the noise in the proof of Corollary 18 reaches {_reached(curve)}")
    return figure


def _reached(curve) -> str:
    """Return in words how many times the claimed divergence is reached where it is claimed, and where it is proved."""
    told = []
    for start, words in ((PRINTED_FROM, "where it is claimed"), (PROVED_FROM, "where it is proved")):
        at, worst = curve["omega_sqrt_rho"], curve["worst"]
        first = np.exp(np.interp(np.log(start), np.log(at), np.log(worst))) if at.min() <= start <= at.max() else np.nan
        worst = np.fmax(worst[at >= start].max(), first)
        if np.isfinite(worst):
            told.append(f"{worst:.3g} times {words}")
    return f"the claimed divergence up to {', and '.join(told)}"
