"""The figure of an audit: the distribution of the scores under both inputs, with the event marked."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_sim.audits import tradeoff
from tcdp_sim.audits.stated_curves import Stated
from tcdp_sim.core.arrays import Floats
from tcdp_sim.report import plots
from tcdp_sim.report.looks import direction_look, line_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = direction_look("forward"), direction_look("backward")


def figure(report: Any) -> "Figure":
    """Draw an `AuditReport`: the tails of the score under both inputs, with the event shaded, and the trade-off."""
    with plots.style():
        drawn, grid = plots.new_figure(1, 3, 11.4, 3.6)
        if report.scores is not None:
            for axes, upper in zip(grid[0], (False, True)):
                _tail(axes, report, report.scores, upper)
            grid[0, 0].set_ylabel("share of the outputs")
            grid[0, 1].sharey(grid[0, 0])
            _tradeoff(grid[0, 2], report)
            drawn.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        plots.headed(drawn, report.verdict)
    return drawn


def _tradeoff(axes, report: Any) -> None:
    """Draw the empirical trade-off curve with its bands, and the curve that the claim allows."""
    found = report.tradeoff
    allowed = report.claim.curve if isinstance(report.claim, Stated) else tradeoff.curve(report.claim)
    if found is None:
        axes.set_axis_off()
        return
    grid = np.linspace(0, 1, 501)
    axes.fill_between(grid, *_band(found, grid), color=plots.GREY, alpha=0.3, lw=0)
    axes.plot(found.alpha, found.beta, color="black", lw=1)
    middle = int(np.argmin(np.abs(found.alpha - found.beta)))
    axes.annotate(
        "seen", (found.alpha[middle], found.beta[middle]), (-6, -6), textcoords="offset points", ha="right", va="top"
    )
    if allowed is not None:
        alpha = np.concatenate([np.geomspace(1e-6, 0.01, 100), np.linspace(0.01, 1, 200)])
        axes.plot(alpha, 1 - allowed.power(alpha), color=plots.WRONG, linestyle="--", lw=1)
        place = (0.3, 1 - float(allowed.power(0.3)))
        axes.annotate("least claimed", place, (6, 6), textcoords="offset points", color=plots.WRONG)
        _nearest(axes, found, allowed)
    axes.set(xlabel="type I error", ylabel="type II error", xlim=(0, 1), ylim=(0, 1))


def _nearest(axes, found: tradeoff.TradeOff, allowed: Any) -> None:
    """Mark the type I error at which the band comes nearest to the claimed curve, or lies farthest below it."""
    inside = np.linspace(0, 1, 501)[1:-1]
    _, high = _band(found, inside)
    room = high - (1 - allowed.power(inside))
    at = int(np.argmin(room))
    axes.plot(inside[at], high[at], marker="o", color=plots.WRONG, mfc="none", ls="none")
    name = "farthest below" if room[at] < 0 else "nearest"
    arrow = {"arrowstyle": "-", "color": plots.WRONG, "lw": 0.5}
    axes.annotate(name, (inside[at], high[at]), (0.45, 0.85), color=plots.WRONG, arrowprops=arrow)


def _band(found: tradeoff.TradeOff, alpha: Floats) -> tuple[Floats, Floats]:
    """Return both ends of the type II error at type I errors alpha. The curve falls, so each end holds further on."""
    higher = found.alpha_lower >= alpha[:, None]
    lower = np.where(higher, found.beta_lower, 0.0).max(axis=1)
    return lower, np.where(found.alpha_upper <= alpha[:, None], found.beta_upper, 1.0).min(axis=1)


def _tail(axes, report: Any, scores: Any, upper: bool) -> None:
    """Draw one tail of the scores under both inputs."""
    for cells, label, look in zip((scores.first, scores.second), report.inputs, LOOKS):
        below, total = np.cumsum(cells)[:-1], cells.sum()
        shares = (total - below if upper else below) / total
        axes.step(scores.edges, np.where(shares > 0, shares, np.nan), label=label, **line_of(look))
    event = report.holds.event if report.holds else None
    if event is not None and event.upper == upper:
        low, high = axes.get_xlim()
        place = float(np.clip(event.threshold, 2 * low - high, 2 * high - low))  # it may be the smallest float
        least = 0.05 * (high - low)  # also an event beyond all finite scores is seen
        ends = (place, max(high, place + least)) if upper else (min(low, place - least), place)
        axes.axvspan(*ends, color=plots.WRONG if report.refuted else plots.GREY, alpha=0.15, label="event")
    axes.set(yscale="log", xlabel=f"{scores.words} {'≥' if upper else '<'} t: t")
