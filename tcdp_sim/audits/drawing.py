"""The figure of an audit: the distribution of the scores under both inputs, with the event marked."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_sim.report import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure


COLOURS = ("#1F77B4", "#D1761A")


def figure(report: Any) -> "Figure":
    """Draw an `AuditReport`: P[score < t] and P[score >= t] under both inputs on log axes, with the event shaded."""
    with plots.style():
        drawn, grid = plots.new_figure(1, 2, 7.6, 3.6, sharey=True)
        if report.scores is not None:
            for axes, upper in zip(grid[0], (False, True)):
                _tail(axes, report, report.scores, upper)
            grid[0, 0].set_ylabel("share of the outputs")
            drawn.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        drawn.suptitle(report.verdict, fontsize=9.5)
    return drawn


def _tail(axes, report: Any, scores: Any, upper: bool) -> None:
    """Draw one tail of the scores under both inputs."""
    total = scores.first.sum()
    for cells, colour, linestyle, label in zip(
        (scores.first, scores.second), COLOURS, ("-", "--"), ("first input", "second input")
    ):
        below = np.cumsum(cells)[:-1]
        shares = (total - below if upper else below) / total
        axes.step(scores.edges, np.where(shares > 0, shares, np.nan), color=colour, linestyle=linestyle, label=label)
    event = report.holds.event if report.holds else None
    if event is not None and event.upper == upper:
        low, high = axes.get_xlim()
        ends = (event.threshold, max(high, event.threshold)) if upper else (min(low, event.threshold), event.threshold)
        axes.axvspan(*ends, color=plots.WRONG if report.refuted else plots.GREY, alpha=0.15, label="event")
    axes.set(yscale="log", xlabel=f"{scores.words} {'≥' if upper else '<'} t: t")
