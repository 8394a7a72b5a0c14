"""The two figures about all verdicts: the looseness of bounds, and the course of asymptotic ratios."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.judge.verdict import BAND, Verdict, ratio
from tcdp_sim.experiments.papers.page.wording import looseness
from tcdp_sim.report.plots import DARK, GREY, WRONG, headed, new_figure

PANELS = 4  # panels of asymptotic claims in a row
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
    whole, table = table, table[table["loose"] >= LOOSE]
    figure, axes = new_figure(1, 1, 7.2, 1.2 + 0.19 * len(table))
    axes = axes[0, 0]
    places = np.arange(len(table))[::-1]
    axes.hlines(places, 1, table["loose"], color=GREY, linewidth=0.8)
    axes.plot(table["loose"], places, "o", color=DARK)
    axes.set_xscale("log")
    axes.set_yticks(places, table["id"])
    axes.set_ylim(-0.7, max(len(table) - 0.3, 0.3))
    axes.minorticks_off()
    axes.set_xlabel("loose by a factor of (1: attained)")
    axes.grid(axis="y", visible=False)
    headed(figure, _loosest(whole))
    return figure


def _loosest(table: pd.DataFrame) -> str:
    """Return in words how many bounds are close to attained, and how loose the loosest one is."""
    close = int((table["loose"] < LOOSE).sum())
    told = f"{close} of {len(table)} bounds that hold are attained, or loose by less than a tenth"
    return f"{told}, and the loosest, {table['id'].iloc[0]}, could be {table['loose'].iloc[0]:,.3g} times as small"


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
    figure, axes = new_figure(rows, PANELS, 7.2, 1.2 * rows + 0.9)
    headed(figure, _settled(table))
    height = figure.get_figheight()
    figure.set_layout_engine(None)  # a grid of equal panels needs no layout solver, which takes seconds
    figure.subplots_adjust(0.075, 0.5 / height, 0.985, 1 - 0.75 / height, wspace=0.3, hspace=0.62)
    figure.texts[0].set_y(1 - 0.08 / height)
    for panel in axes.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(axes.flat, names):
        _draw_ratio(panel, table[table["id"] == name], name)
    for last in range(max(len(names) - PANELS, 0), len(names)):  # the lowest of every column
        axes.flat[last].set_xlabel("log10 of what grows", fontsize=7)
    for panel in axes[:, 0]:
        panel.set_ylabel("relative ratio", fontsize=7)
    return figure


def _settled(table: pd.DataFrame) -> str:
    """Return in words how many of the claims are consistent with their forms, and what the panels show."""
    verdicts = table.drop_duplicates("id").set_index("id")["verdict"]
    others = ", ".join(verdicts.index[verdicts != Verdict.CONSISTENT])
    count = int((verdicts == Verdict.CONSISTENT).sum())
    told = f"The exact values over their asymptotic forms settle for {count} of {len(verdicts)} claims"
    return f"{told}, and not for {others}" if others else told


def _draw_ratio(panel: Axes, points: pd.DataFrame, name: str) -> None:
    ratios = points["ratio"] / points["ratio"].iloc[-1]
    panel.axhspan(1 / BAND, BAND, color=GREY, alpha=0.15, linewidth=0)
    joined = "-" if points["at"].is_unique else "none"  # several series of points are not one line
    panel.plot(points["at"], ratios, linestyle=joined, marker="o", color=DARK, markersize=2, linewidth=0.9)
    panel.set_yscale("log")
    low, high = min(ratios.min(), 1 / BAND) / 1.3, max(ratios.max(), BAND) * 1.3
    panel.set_ylim(low, high)
    if low > 0.1 and high < 10:
        panel.set_yticks([1 / BAND, 1, BAND], ["¼", "1", "4"])
    if points["at"].min() > 0 and points["at"].max() > 30 * points["at"].min():
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(numticks=4))
        panel.xaxis.set_major_formatter(lambda x, _: f"{x:g}" if x < 1e3 else f"1e{np.log10(x):.0f}")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(4))
    panel.minorticks_off()
    panel.tick_params(labelsize=6.7, length=2)
    wrong = points["verdict"].iloc[0] != Verdict.CONSISTENT
    title = f"{name}: {points['verdict'].iloc[0]}" if wrong else name
    panel.set_title(title, fontsize=7, color=WRONG if wrong else "#000000", pad=2)
