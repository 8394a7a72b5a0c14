"""The two figures about all verdicts: the looseness of bounds, and the course of asymptotic ratios."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.judge.verdict import BAND, Verdict, ratio
from tcdp_sim.experiments.papers.page.wording import looseness
from tcdp_sim.report.looks import COLOURS
from tcdp_sim.report.plots import GREY, WRONG, new_figure

PANELS = 5  # panels of asymptotic claims in a row
LOOSE = 1.1  # the figure shows bounds from this looseness on


def looseness_table(results: Sequence[Result]) -> pd.DataFrame:
    """Return id, title and factor of every bound that holds and is not vacuous, the loosest first."""
    rows = [
        {"id": r.claim.id, "claim": r.claim.title, "loose": looseness(r.judgement)}
        for r in results
        if np.isfinite(looseness(r.judgement)) and not r.judgement.vacuous
    ]
    table = pd.DataFrame(rows, columns=["id", "claim", "loose"])
    return table.sort_values("loose", ascending=False, ignore_index=True, kind="stable")


def draw_looseness(table: pd.DataFrame) -> Figure:
    """Draw a dot for each bound that is loose by a tenth or more, on a log axis."""
    table = table[table["loose"] >= LOOSE]
    figure, axes = new_figure(1, 1, 7.2, 1.2 + 0.19 * len(table))
    axes = axes[0, 0]
    places = np.arange(len(table))[::-1]
    axes.hlines(places, 1, table["loose"], color=GREY, linewidth=0.8)
    axes.plot(table["loose"], places, "o", color=COLOURS[2])
    axes.set_xscale("log")
    axes.set_yticks(places, table["id"])
    axes.set_ylim(-0.7, max(len(table) - 0.3, 0.3))
    axes.minorticks_off()
    axes.set_xlabel("loose by a factor of (1: attained)")
    axes.grid(axis="y", visible=False)
    return figure


def asymptotics_table(results: Sequence[Result]) -> pd.DataFrame:
    """Return a row for each point of every asymptotic claim: id, at (log10 of what grows), ratio, verdict."""
    rows = []
    for result in results:
        if result.claim.kind is Kind.ASYMPTOTIC:
            for point in sorted(result.evidence.points, key=lambda p: p.at):
                low, middle, high = ratio(point)
                about = {"id": result.claim.id, "at": point.at, "ratio": middle, "lower": low, "upper": high}
                rows.append(about | {"verdict": str(result.judgement.verdict)})
    return pd.DataFrame(rows, columns=["id", "at", "ratio", "lower", "upper", "verdict"])


def draw_asymptotics(table: pd.DataFrame) -> Figure:
    """Draw a panel for each claim: the ratio to the form over its last value, with the band that it may stay in."""
    names = list(dict.fromkeys(table["id"]))
    rows = -(-len(names) // PANELS)
    height = 1.25 * rows + 0.6
    figure, axes = new_figure(rows, PANELS, 8.6, height)
    figure.set_layout_engine(None)  # a grid of equal panels needs no layout solver, which takes seconds
    figure.subplots_adjust(0.075, 0.5 / height, 0.995, 1 - 0.25 / height, wspace=0.3, hspace=0.62)
    for panel in axes.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(axes.flat, names):
        _draw_ratio(panel, table[table["id"] == name], name)
    figure.supxlabel("log10 of what grows", fontsize=8, y=0.08 / height)
    figure.supylabel("ratio to the form, over its last value", fontsize=8, x=0.005)
    return figure


def _draw_ratio(panel: Axes, points: pd.DataFrame, name: str) -> None:
    ratios = points["ratio"] / points["ratio"].iloc[-1]
    panel.axhspan(1 / BAND, BAND, color=GREY, alpha=0.15, linewidth=0)
    panel.plot(points["at"], ratios, "-o", color=COLOURS[2], markersize=2, linewidth=0.9)
    panel.set_yscale("log")
    low, high = min(ratios.min(), 1 / BAND) / 1.3, max(ratios.max(), BAND) * 1.3
    panel.set_ylim(low, high)
    if low > 0.1 and high < 10:
        panel.set_yticks([1 / BAND, 1, BAND], ["¼", "1", "4"])
    if points["at"].min() > 0 and points["at"].max() > 30 * points["at"].min():
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(4))
    panel.minorticks_off()
    panel.tick_params(labelsize=6.5, length=2)
    wrong = points["verdict"].iloc[0] != Verdict.CONSISTENT
    title = f"{name}: {points['verdict'].iloc[0]}" if wrong else name
    panel.set_title(title, fontsize=7, color=WRONG if wrong else "#000000", pad=2)
