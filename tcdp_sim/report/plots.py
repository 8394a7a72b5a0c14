"""The look of every figure, captions, axes, and points with intervals."""

import io
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator
from pandas import DataFrame

from tcdp_sim.core.figure_options import PLAIN, FigureOptions
from tcdp_sim.core.texts import unmathematical
from tcdp_sim.report.findings import Lines, close_pairs
from tcdp_sim.report.thinning import marked

BREAK_AT = 12  # log10 of the number up to which an axis of huge numbers is a plain log axis
BREAK_SHARES = {"near": 3, "far": 2}  # shares of such an axis
WRONG = "#B00020"
GREY = "#777777"
DARK = "#444444"
HEAD = 10.5  # size of a title's letters
FOOT = 7.5  # size of a caption's letters
MOST_LEVELS = 4  # levels of a parameter that a caption lists
KIND = "lines: exact; markers: simulated, 95% interval"  # for captions
ROW = 0.19  # inches: the height of a row of a legend
EM = 8 / 72  # inches: the size of a legend's letters
LENGTH = 4.2  # ems: the length of a sample in a legend
LETTER, GAP = 0.52, 3.0  # ems: the width of a letter, and the space around an entry
SIGNS = (("rho", "ρ"), ("omega", "ω"), ("delta", "δ"))
# neighbouring relations in words
NEIGHBOURS = {"add-remove": "add or remove one record", "substitute": "substitute one record"}
HELD = re.compile(r" [=<>≤] |\([^\s,()]+, [^\s,()]+\)|(Cor|Alg|Theorem|Lemma|Corollary|Algorithm|Section)\.? (?=\d)")
HIDDEN = 0.03  # share by which lines on a log axis differ without a gap between them
HUGE = 1e12  # from here on a number in a title has a power of ten
HARD = "\x1f"  # stands for a space at which no line ends
LONG = re.compile(r"\d+\.\d{3,}(e[+-]?\d+)?")  # a number that may have too many digits for a title
EITHER = "either"  # the relation of a row that concerns both

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
    "legend.handlelength": LENGTH,
    "figure.dpi": 200,  # that of the files, because the widths of letters depend on it
    "savefig.dpi": 200,
    "svg.hashsalt": "tcdp_sim",
    "pdf.fonttype": 42,
}


class Picture(Figure):
    """A matplotlib figure that shows itself at the end of a notebook's cell; no pyplot, no state.

    `notes` are sentences for the caption by their subject, such as on data that the figure shows in part only.
    """

    def __init__(self, *how: Any, **more: Any) -> None:
        super().__init__(*how, **more)
        self.notes: dict[str, str] = {}

    def legend(self, *entries: Any, **how: Any) -> Any:
        """Draw a legend. If the user chose the width of the figure, the legend has the columns that fit."""
        if _OPTIONS.get().width is not None and how.get("ncols", 1) > 1:
            labels = [*entries[1]] if len(entries) > 1 else _labels(self.axes)
            columns = columns_that_fit(labels, self.get_figwidth(), how["ncols"], how.get("handlelength", LENGTH))
            more = -(-len(labels) // columns) - -(-len(labels) // how["ncols"])
            self.set_figheight(self.get_figheight() + ROW * more)
            how["ncols"] = columns
        return super().legend(*entries, **how)

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()


_OPTIONS = ContextVar("_OPTIONS", default=PLAIN)  # of the figures that are made


@contextmanager
def style(options: FigureOptions = PLAIN) -> Iterator[None]:
    """Return a context with the house style, in which to make and save figures."""
    token = _OPTIONS.set(options)
    try:
        with mpl.rc_context(STYLE):  # type: ignore[arg-type]
            yield
    finally:
        _OPTIONS.reset(token)


def columns_that_fit(labels: Sequence[str], width: float, most: int, length: float = LENGTH) -> int:
    """Return how many columns of a legend fit side by side: one to `most`.

    `width` is the width of the figure in inches, and `length` the length of a sample in ems.
    """
    widest = EM * (length + GAP + LETTER * max(map(len, labels), default=0))
    return max(1, min(most, int(width / widest)))


def _labels(panels) -> list[str]:
    """Return the labels of the entries that a legend finds by itself."""
    return [label for axes in panels for label in axes.get_legend_handles_labels()[1]]


def new_figure(rows: int, columns: int, width: float, height: float, **shared):
    """Return a figure and its axes, always as a 2-d array. The width that the user chose comes before `width`."""
    figure = Picture(figsize=(_OPTIONS.get().width or width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def headed(figure, finding: str) -> None:
    """Write a title above all panels: one sentence that states the finding, on as many lines as it needs.

    Nothing is written if the user wants no titles.
    """
    if not _OPTIONS.get().title:
        return
    lines = wrapped(finding, int(figure.get_figwidth() * 72 / (0.6 * HEAD)))
    figure.suptitle("\n".join(lines), fontsize=HEAD)
    figure.set_figheight(figure.get_figheight() + 1.25 * HEAD * (len(lines) - 1) / 72)


def wrapped(text: str, letters: int) -> list[str]:
    """Return a text in as few lines of up to `letters` letters as it needs, of about equal length.

    No line ends next to an equals sign or inside one of the HELD names.
    """
    held = HELD.sub(lambda name: name[0].replace(" ", HARD), text)
    fewest = textwrap.wrap(held, letters, break_on_hyphens=False)
    for width in range(letters // 2, letters):
        lines = textwrap.wrap(held, width, break_on_hyphens=False)
        if len(lines) <= len(fewest):
            fewest = lines
            break
    return [line.replace(HARD, " ") for line in fewest]


def captioned(figure, rows: DataFrame, unit: str):
    """Add a caption below the panels, and return the figure, which grows by it. Call it once, after the legend.

    The caption states rho, omega and delta of the rows, the unit, the notes (`note`) and the neighbouring relation.
    `rows` has the columns `rho`, `omega`, `delta` and `neighbours` as far as there are any. `unit` is in words, such as
    "errors in counts".
    """
    levels = [_levels(sign, rows, name) for name, sign in SIGNS]
    text = "; ".join(filter(None, [*levels, unit, *getattr(figure, "notes", {}).values(), _neighbours(rows)]))
    lines = wrapped(text, int(figure.get_figwidth() * 72 / (0.54 * FOOT)))
    figure.set_figheight(figure.get_figheight() + (1.25 * FOOT * len(lines) + 6) / 72)
    if figure.legends:  # the caption becomes its heading, because a legend below leaves no room for other texts there
        figure.legends[0].set_title("\n".join(lines), prop={"size": FOOT})
        figure.legends[0].get_title().set(color=DARK, horizontalalignment="center")
    else:
        figure.supxlabel("\n".join(lines), fontsize=FOOT, color=DARK)
    return figure


def _levels(sign, rows, name) -> str:
    """Return the values of a parameter in words."""
    values = sorted(rows[name].dropna().unique()) if name in rows else []
    if len(values) > MOST_LEVELS:
        return f"{sign} = {values[0]:.3g} to {values[-1]:.3g}"
    return f"{sign} = " + ", ".join(f"{value:.4g}" for value in values) if values else ""


def _neighbours(rows) -> str:
    """Return the neighbouring relations of the rows in words."""
    relations = rows["neighbours"].dropna().unique() if "neighbours" in rows else []
    deeds = [NEIGHBOURS.get(relation, relation) for relation in relations if relation not in ("", EITHER)]
    return "neighbours " + ", or ".join(deeds) if deeds else ""


def size(k: float) -> str:
    """Return a number of bins or candidates as text for titles."""
    power = round(np.log10(k))
    return f"$10^{{{power}}}$" if power > 3 and np.isclose(k, 10.0**power, rtol=1e-9) else f"{k:,.6g}"


def power_of_two(exponent: float) -> str:
    """Return a power of two, such as the size of a domain, as text for titles."""
    return f"$2^{{{exponent:.0f}}}$"


def rounded(value: float, digits: int = 3) -> str:
    """Return a number with so many digits as text for titles; large ones have commas and no power of ten."""
    number = float(f"{value:.{digits}g}")
    return f"{number:,.0f}" if 10**digits <= abs(number) < HUGE else f"{number:g}"


def rounded_in(text: str, digits: int = 3) -> str:
    """Return a text, such as the name of a guarantee, in which no number has more than so many digits."""
    return LONG.sub(lambda number: f"{float(number[0]):.{digits}g}", text)


def note(figure, subject: str, words: str) -> None:
    """Add words to the figure's caption, such as on omitted data. The last call for a subject counts."""
    if isinstance(figure, Picture):
        figure.notes[subject] = words


def name_hidden(figure, lines: Lines) -> None:
    """Let the caption name the lines of a log axis that cannot be told apart because they lie on each other."""
    told = [f"{one} and {other} (within {share:.1%})" for one, other, share in close_pairs(lines, HIDDEN)]
    if told:
        note(figure, "hidden", f"on each other: {', '.join(told)}")


def points(axes, x, estimate, lower, upper, **style):
    """Draw Monte Carlo estimates with their intervals. Infinite estimates are not drawn.

    An arrow to the edge of the panel stands for an infinite end. If there are more than MOST_MARKERS, some of them are
    drawn evenly along x. The figure's caption says both.
    """
    x, estimate, lower, upper = (np.asarray(v, dtype=float) for v in (x, estimate, lower, upper))
    some, all_there = marked(x, np.isfinite(estimate)), int(np.isfinite(estimate).sum())
    if len(some) < all_there:
        note(axes.figure, "markers", f"markers at {len(some)} of up to {all_there:,} points of a line")
        x, estimate, lower, upper = (v[some] for v in (x, estimate, lower, upper))
    there = np.isfinite(estimate)
    below, above = np.zeros((2, *estimate.shape))
    np.subtract(estimate, lower, out=below, where=there & np.isfinite(lower))
    np.subtract(upper, estimate, out=above, where=there & np.isfinite(upper))
    below, above = np.maximum(below, 0), np.maximum(above, 0)
    axes.errorbar(x, estimate, yerr=[below, above], linestyle="none", elinewidth=1.0, capsize=1.5, **style)
    for ends, edge in ((lower, 0), (upper, 1)):
        _arrows(axes, x, estimate, there & np.isinf(ends), edge, style.get("color", GREY))


def _arrows(axes, x, y, where, edge, color):
    """Draw an arrow from each of the points `where` to the lower (0) or upper (1) edge of the panel."""
    for place, start in zip(x[where], y[where]):
        to = {
            "xy": (place, edge),
            "xycoords": ("data", "axes fraction"),
            "xytext": (place, start),
            "textcoords": "data",
        }
        look = {"arrowstyle": "->", "color": color, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", arrowprops=look, annotation_clip=False, **to)
    if where.any():
        note(axes.figure, "arrows", "an arrow is the end of a 95% interval that the trials do not bound")


def line_key(color=GREY, **style) -> Line2D:
    """Return a legend entry, for one series or for a kind of line that several share."""
    return Line2D([], [], color=color, **style)


def limit_styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return styles of thin grey lines by label, for limits of all mechanisms; the first is solid, four differ."""
    dashes: tuple[Any, ...] = ("-", (0, (1.5, 1.5)), (0, (9, 2, 1.5, 2)), (0, (5, 3)))
    return {
        label: {"color": GREY, "linewidth": 0.9, "linestyle": dashes[i % len(dashes)]} for i, label in enumerate(labels)
    }


def wide_log_axis(axes, low: float, high: float) -> None:
    """Draw a log x axis from a little below `low` to a little above `high`, where matplotlib's margins may overflow."""
    axes.set_autoscalex_on(False)
    axes.set_xscale("log")
    margin = 10 ** max(0.3, 0.02 * np.log10(high / low))
    axes.set_xlim(low / margin, high * min(margin, 1e307 / high))
    if high > 1e100:
        axes.xaxis.set_major_locator(FixedLocator([10.0**exponent for exponent in range(0, 301, 50)]))
        axes.xaxis.set_minor_locator(NullLocator())


def log10_pieces(low: float, high: float) -> list[str]:
    """Return the pieces of an axis of log10 k, from low to high: "near" for a plain log axis, "far" for log log k."""
    far = high > BREAK_AT
    return [piece for piece, there in (("near", low < BREAK_AT or not far), ("far", far)) if there]


def broken_log10_axis(name: str, pieces: dict, label: str) -> None:
    """Draw an axis for numbers up to 10^300, given as their log10: a log axis up to 10^12, then a break and log log.

    `name` is "x" or "y". `pieces` gives the axes of each of `log10_pieces`, side by side, or the far one above the
    near.
    """
    limits = {"near": (0, BREAK_AT + 0.3), "far": (BREAK_AT - 0.5, 330)}
    ticks = {"near": range(0, BREAK_AT + 1, 3), "far": (BREAK_AT, 30, 100, 300)}
    labels = {"near": f"{label} (log axis)", "far": f"beyond $10^{{{BREAK_AT}}}$: log log axis"}
    for piece, axes in pieces.items():
        getattr(axes, f"set_{name}scale")("log" if piece == "far" else "linear")
        getattr(axes, f"set_{name}lim")(*limits[piece])
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(FixedLocator(ticks[piece]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(_power_of_ten)
        axis.set_label_text(labels[piece])
    if len(pieces) == 2:
        _break_marks(name, pieces["near"], pieces["far"])


def _power_of_ten(exponent, _):
    return f"$10^{{{exponent:g}}}$"


def _break_marks(name, near, far):
    """Draw slanted strokes on both sides of a break; the far piece of an x axis gets no y axis of its own."""
    stroke = {"marker": [(-1, -0.6), (1, 0.6)] if name == "y" else [(-0.6, -1), (0.6, 1)], "markersize": 9}
    stroke |= {"linestyle": "none", "color": "k", "mew": 1.2, "clip_on": False, "zorder": 9}
    for axes, end in ((near, 1), (far, 0)):
        at = ([end], [0]) if name == "x" else ([0], [end])
        axes.plot(*at, transform=axes.transAxes, label="_break", **stroke)
    if name == "x":
        far.sharey(near)
        far.tick_params(axis="y", left=False, labelleft=False)
        far.spines["left"].set_visible(False)
    else:
        far.tick_params(axis="x", bottom=False, labelbottom=False)
        far.spines["bottom"].set_visible(False)


def plain_log_axis(axes) -> None:
    """Draw a log y axis labelled at 1, 2, 5, 10, ... in plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(_number)
    axes.yaxis.set_minor_locator(NullLocator())


def _number(value, _):
    return f"{value:g}"


def literal(figure: Figure, chosen: Iterable[str]) -> None:
    """Let each of the chosen texts be drawn literally."""
    special = {text: drawn for text in chosen if (drawn := unmathematical(text)) != text}
    for artist in figure.findobj(Text) if special else ():
        for text, drawn in special.items():
            artist.set_text(artist.get_text().replace(text, drawn))
