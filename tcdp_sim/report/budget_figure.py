"""The figure of a budget: the error of each release against epsilon, and the success of an attacker against epsilon."""

from pathlib import Path
from typing import Any

from tcdp_sim.report.looks import COLOURS, DASHES, MARKERS
from tcdp_sim.report.plots import DARK, GREY, WRONG, new_figure, style

MOST_LINES = 12  # releases with a line of their own


def save(path: Path, curve: Any, chosen: int, delta: float) -> None:
    """Draw the curve with the plan marked, and save it as PNG.

    `curve` has names, errors, epsilon and success, and `chosen` is the place of the plan in it.
    """
    with style():
        figure, panels = new_figure(1, 2, 8.4, 3.6)
        _errors(panels[0, 0], curve, chosen)
        _risk(panels[0, 1], curve, chosen)
        for axes in panels[0]:
            axes.set_xscale("log")
            axes.set_xlabel(f"epsilon at delta = {delta:g}")
            axes.axvline(curve.epsilon[chosen], color=GREY, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
        figure.savefig(path, format="png", metadata={"Software": None})


def _errors(axes: Any, curve: Any, chosen: int) -> None:
    for i, (name, errors) in enumerate(list(zip(curve.names, curve.errors))[:MOST_LINES]):
        look = {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i // len(COLOURS)]}
        axes.plot(curve.epsilon, errors, label=_short(name), marker=MARKERS[i % len(MARKERS)], **look)
    left_out = len(curve.names) - MOST_LINES
    axes.set_yscale("log")
    axes.set_ylabel("error of each release")
    axes.set_title("Error against budget" + (f" ({left_out} more not shown)" if left_out > 0 else ""))
    axes.legend(fontsize=7)


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
    axes.set_ylabel("attacker's success at prior 1/2")
    axes.set_title("Attack risk against budget (0.5 is guessing)")


def _short(name: str) -> str:
    return name if len(name) <= 32 else f"{name[:31]}…"
