"""The figure of a budget: the error of each release against epsilon, and the success of an attacker against epsilon."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from tcdp_sim.report.looks import series_styles
from tcdp_sim.report.plots import DARK, GREY, WRONG, headed, new_figure, style

MOST_LINES = 8  # releases with a line of their own
BEHIND = {"frameon": True, "facecolor": "white", "edgecolor": "none", "framealpha": 1.0}
_PLACES = (1, 2, 5)  # leading digits of the marked places of an axis


def save(path: Path, curve: Any, factors: Sequence[float], delta: float) -> None:
    """Draw the curve with the plan marked, and save it as PNG; see `drawn`."""
    with style():
        drawn(curve, factors, delta).savefig(path, format="png", metadata={"Software": None})


def drawn(curve: Any, factors: Sequence[float], delta: float) -> Figure:
    """Return the figure of the curve with the plan marked.

    `curve` has names, errors, epsilon and success at each factor of the noise. The plan has factor 1.
    """
    chosen = factors.index(1.0)
    figure, panels = new_figure(1, 2, 9.0, 3.8)
    _errors(panels[0, 0], curve, chosen, factors.index(2.0))
    _risk(panels[0, 1], curve, chosen)
    for axes in panels[0]:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=_PLACES))
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(f"epsilon at delta = {delta:g}, an upper bound")
        axes.axvline(curve.epsilon[chosen], color=GREY, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    success = f"an attacker guesses right in at most {curve.success[chosen]:.1%} of all cases"
    headed(figure, f"Epsilon is at most {curve.epsilon[chosen]:.3g} by this plan, and {success}")
    return figure


def _errors(axes: Any, curve: Any, chosen: int, double: int) -> None:
    styles = series_styles((name, name) for name in curve.names[:MOST_LINES])
    for name, errors in list(zip(curve.names, curve.errors))[:MOST_LINES]:
        axes.plot(curve.epsilon, errors, label=_short(name), **styles[name])
    left_out = len(curve.names) - MOST_LINES
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.set_ylabel("error of each release, in counts or ranks")
    fall = f"{curve.epsilon[chosen]:.3g} to {curve.epsilon[double]:.3g}"
    axes.set_title(f"Errors twice as large take epsilon from {fall}")
    more = f"{left_out} more releases are not shown" if left_out > 0 else None
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, top * (top / bottom) ** (0.06 * min(len(curve.names), MOST_LINES)))  # room for the legend
    axes.legend(fontsize=7, title=more, title_fontsize=7, loc="upper right", **BEHIND)


def _risk(axes: Any, curve: Any, chosen: int) -> None:
    axes.plot(curve.epsilon, curve.success, color=WRONG, marker="o")
    axes.axhline(0.5, color=GREY, linewidth=0.9)
    axes.annotate(
        f"this plan: {curve.success[chosen]:.1%}",
        (curve.epsilon[chosen], curve.success[chosen]),
        xytext=(8, -14),
        textcoords="offset points",
        color=DARK,
        fontsize=8,
    )
    axes.set_ylim(0.48, 1.02)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    axes.set_ylabel("right guesses, at most (a coin: 50%)")
    axes.set_title(f"Right guesses of an attacker: at most {curve.success[chosen]:.1%}")


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
