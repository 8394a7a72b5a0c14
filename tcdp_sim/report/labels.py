"""Labels at the ends of lines, next to a panel, which replace a legend."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.lines import Line2D
from scipy.optimize import isotonic_regression

from tcdp_sim.core.arrays import Floats
from tcdp_sim.report.looks import Style

SIZE = 7.5  # points: the size of a label's letters
SPACING = 1.3  # lines: the distance between two labels
SAMPLE = (0.022, 0.052, 0.082)  # places of a label's sample, in widths of the panel: start, marker, end
TEXT = 0.095  # the place of a label's text
SHORTER = {  # words of names that a label does without
    " (zCDP; tCDP for every ω)": "",
    " (for comparison: (ε, δ)-DP)": " (ε, δ)",
    " (= noisy max, exponential noise)": "",
    " selection can do better": " below",
    " = ": "\u00a0=\u00a0",
}
SLACK = 0.9  # share of the panel's height before the layout that the layout leaves at least


@dataclass(frozen=True)
class End:
    """The end of a line that gets a label.

    - name: the name of the line's series.
    - text: its label, which may be shorter than the name.
    - x, y: its place in data.
    - style: colour, marker and dashes of the line.
    """

    name: str
    text: str
    x: float
    y: float
    style: Style


def short(name: str) -> str:
    """Return the name of a series without the words that the text around a figure explains."""
    for words, fewer in SHORTER.items():
        name = name.replace(words, fewer)
    return name


def label_ends(axes, ends: Sequence[End]) -> None:
    """Write labels to the right of a panel, each with a sample of its line and a stroke to the line's end.

    Labels that would overlap move apart. Call it when the scales and limits of the panel are final.
    """
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    ends = [end for end in ends if np.isfinite(end.y)]
    if not ends:
        return
    places = (axes.transData + axes.transAxes.inverted()).transform([(end.x, end.y) for end in ends])
    lines = [1 + end.text.count("\n") for end in ends]
    height = SLACK * axes.get_window_extent().height / axes.figure.dpi * 72
    for end, (x, y), at in zip(ends, places, spread(np.clip(places[:, 1], 0, 1), lines, SPACING * SIZE / height)):
        start, middle, stop = (1 + share for share in SAMPLE)
        sample = Line2D(
            [min(x, 1), start, middle, stop], [np.clip(y, 0, 1), at, at, at], transform=axes.transAxes, label=end.name
        )
        sample.set(**{"linewidth": 1.0, "markevery": [2]} | end.style)
        axes.figure.add_artist(sample)
        axes.text(1 + TEXT, at, end.text, transform=axes.transAxes, va="center", fontsize=SIZE, linespacing=1.0)


def spread(wanted: Floats, lines: Sequence[int], line: float) -> Floats:
    """Return heights for labels that are closest to the wanted ones in least squares and do not overlap.

    `lines` gives the number of lines of each label and `line` the height of one. Labels stay between 0 and 1 if there
    is room.
    """
    order = np.argsort(wanted, kind="stable")
    tall = np.asarray(lines, dtype=float)[order] * line
    offsets = np.concatenate([[0.0], np.cumsum((tall[1:] + tall[:-1]) / 2)])
    heights = isotonic_regression(np.asarray(wanted)[order] - offsets).x
    top = 1 - offsets[-1]
    heights = np.clip(heights, min(0.0, top), top) + offsets
    found = np.empty(len(order))
    found[order] = heights
    return found
