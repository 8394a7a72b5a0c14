"""The two figures that are made of all verdicts: how loose bounds are, and how asymptotic ratios settle."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tcdp_sim.claims import Kind, ratio
from tcdp_sim.report.looks import COLOURS
from tcdp_sim.report.plots import GREY, new_figure
from tcdp_sim.reproduction.gather import Result
from tcdp_sim.reproduction.wording import looseness

PANELS = 4  # of asymptotic claims in a row
BAND = 4.0


def looseness_table(results: Sequence[Result]) -> pd.DataFrame:
    """id, title and factor of every bound that holds and is not vacuous, the loosest first."""
    rows = [
        {"id": r.claim.id, "claim": r.claim.title, "loose": looseness(r.judgement)}
        for r in results
        if np.isfinite(looseness(r.judgement)) and not r.judgement.vacuous
    ]
    table = pd.DataFrame(rows, columns=["id", "claim", "loose"])
    return table.sort_values("loose", ascending=False, ignore_index=True, kind="stable")


def draw_looseness(table: pd.DataFrame) -> Figure:
    """A dot for each bound, on a log axis."""
    figure, axes = new_figure(1, 1, 7.2, 1.2 + 0.2 * len(table))
    axes = axes[0, 0]
    places = np.arange(len(table))[::-1]
    axes.hlines(places, 1, table["loose"], color=GREY, linewidth=0.8)
    axes.plot(table["loose"], places, "o", color=COLOURS[2])
    axes.set_xscale("log")
    axes.set_yticks(places, table["id"])
    axes.set_ylim(-0.7, len(table) - 0.3)
    axes.set_xlabel("loose by a factor of (1: attained)")
    axes.grid(axis="y", visible=False)
    return figure


def asymptotics_table(results: Sequence[Result]) -> pd.DataFrame:
    """A row a point of every asymptotic claim: id, at (log10 of what grows), the ratio with its bounds, verdict."""
    rows = []
    for result in results:
        if result.claim.kind is Kind.ASYMPTOTIC:
            for point in sorted(result.evidence.points, key=lambda p: p.at):
                low, middle, high = ratio(point)
                about = {"id": result.claim.id, "at": point.at, "ratio": middle, "lower": low, "upper": high}
                rows.append(about | {"verdict": str(result.judgement.verdict)})
    return pd.DataFrame(rows, columns=["id", "at", "ratio", "lower", "upper", "verdict"])


def draw_asymptotics(table: pd.DataFrame) -> Figure:
    """A panel a claim: the ratio to the form over its last value, with the band that it may stay in."""
    names = list(dict.fromkeys(table["id"]))
    rows = -(-len(names) // PANELS)
    figure, axes = new_figure(rows, PANELS, 8.6, 1.7 * rows + 0.6)
    for panel in axes.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(axes.flat, names):
        points = table[table["id"] == name]
        last = points["ratio"].iloc[-1]
        panel.axhspan(1 / BAND, BAND, color=GREY, alpha=0.12, linewidth=0)
        panel.plot(points["at"], points["ratio"] / last, "-o", color=COLOURS[2], markersize=2.5)
        panel.set_yscale("log")
        low, high = (points["ratio"] / last).agg(["min", "max"])
        panel.set_ylim(min(low, 1 / BAND) / 1.15, max(high, BAND) * 1.15)
        if points["at"].max() > 30:
            panel.set_xscale("symlog", linthresh=1)
        panel.set_title(f"{name}: {points['verdict'].iloc[0]}", fontsize=8)
        panel.tick_params(labelsize=7)
        panel.minorticks_off()
    figure.supxlabel("log10 of what grows", fontsize=8)
    figure.supylabel("ratio to the form, over its last value", fontsize=8)
    return figure
