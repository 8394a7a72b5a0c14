"""The look of every figure, and how figures are saved; the only module of the package that imports matplotlib."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

# Okabe-Ito: told apart with every common colour blindness; in grey, markers tell the series and dashes the kinds.
COLOURS = ("#000000", "#E69F00", "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#56B4E9", "#F0E442")
MARKERS = ("s", "D", "o", "^", "v", "<", ">", "P")
DASHES = (
    "-",
    (0, (7, 1.6)),
    (0, (5, 1.4, 1, 1.4)),
    (0, (2.6, 1.1)),
    (0, (8, 1.4, 1, 1.4, 1, 1.4)),
    (0, (3, 3)),
    (0, (12, 2)),
    (0, (4, 1.4, 4, 1.4, 1, 1.4)),
)
WRONG = "#B00020"
GREY = "#777777"

STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 4.2,
    "figure.dpi": 110,
    "savefig.dpi": 200,
    "svg.hashsalt": "tcdp_sim",
    "pdf.fonttype": 42,
}


def style():
    """The house style, as a context in which to make and save figures."""
    return mpl.rc_context(STYLE)


def new_figure(rows: int, columns: int, width: float, height: float, **shared):
    """A figure and its axes, always a 2-d array."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def series_styles(series: Iterable[tuple[str, str]]) -> dict[str, dict]:
    """Label -> colour, marker and dashes, for (label, kind) in order of appearance; a kind is one pattern of dashes.

    Colours and markers repeat after eight series, but up to 64 no pair of them does.
    """
    found, kinds = {}, {}
    for label, kind in dict.fromkeys(series):
        i, n = len(found), len(COLOURS)
        dash = DASHES[kinds.setdefault(kind, len(kinds)) % len(DASHES)]
        found[label] = {"color": COLOURS[i % n], "marker": MARKERS[(i + i // n) % n], "linestyle": dash}
    return found


def points(axes, x, estimate, lower, upper, **style):
    """Monte Carlo estimates with their intervals; infinite ones are off the axes, infinite ends are not drawn."""
    estimate, lower, upper = (np.asarray(v, dtype=float) for v in (estimate, lower, upper))
    there = np.isfinite(estimate)
    below, above = np.zeros((2, *estimate.shape))
    np.subtract(estimate, lower, out=below, where=there & np.isfinite(lower))
    np.subtract(upper, estimate, out=above, where=there & np.isfinite(upper))
    below, above = np.maximum(below, 0), np.maximum(above, 0)
    axes.errorbar(x, estimate, yerr=[below, above], linestyle="none", elinewidth=1.0, capsize=1.5, **style)


def line_key(color=GREY, **style) -> Line2D:
    """A legend entry: of one series, or of a kind of line that several share."""
    return Line2D([], [], color=color, **style)


def wide_log_axis(axes, low: float, high: float) -> None:
    """A log x axis from a little below `low` to a little above `high`; matplotlib's own margins overflow near 1e308."""
    axes.set_autoscalex_on(False)
    axes.set_xscale("log")
    margin = 10 ** max(0.3, 0.02 * np.log10(high / low))
    axes.set_xlim(low / margin, high * min(margin, 1e307 / high))
    if high > 1e100:
        axes.xaxis.set_major_locator(FixedLocator([10.0**exponent for exponent in range(0, 301, 50)]))
        axes.xaxis.set_minor_locator(NullLocator())


def plain_log_axis(axes) -> None:
    """A log y axis labelled at 1, 2, 5, 10, ... in plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())


def save_all(figures: Iterable[tuple[str, Figure, "object"]], folder: Path) -> list[Path]:
    """Save each (name, figure, table): name.png, name.pdf and the numbers it shows as name.csv. Returns the PNGs."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for name, figure, table in figures:
        table.to_csv(folder / f"{name}.csv", index=False)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, for both files
        figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
        figure.savefig(folder / f"{name}.png")
        saved.append(folder / f"{name}.png")
    return saved
