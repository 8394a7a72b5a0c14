"""The figure of the events that prove bounds: the tails of the privacy loss on two neighbours."""

from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.core.texts import blank
from tcdp_sim.experiments.audit.names import in_words
from tcdp_sim.mechanisms.audit import LARGEST
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import direction_look, line_of
from tcdp_sim.report.plots import GREY, WRONG, headed, new_figure, note

MOST_PANELS = 18
ACROSS = 3
SIDES = {"share_first": direction_look("forward"), "share_second": direction_look("backward")}
SAME = ("name", "shift", "guarantee")
REGION = {"alpha": 0.2, "linewidth": 0}


def has_losses(table: pd.DataFrame) -> pd.Series:
    """Return where the outputs of a row are the privacy losses of an answer, not labels."""
    answers = table["bug"] == ""
    return answers & table["algorithm"].map(blank) if "algorithm" in table else answers


def figure(curves: pd.DataFrame, answers: pd.DataFrame) -> Any:
    """Draw, for each answer, the shares of losses beyond a threshold on both neighbours, and shade the event."""
    parts = [part for _, part in curves.groupby(list(SAME), sort=False)]
    shown = parts[:MOST_PANELS]
    columns = min(ACROSS, len(shown))
    rows = -(-len(shown) // columns)
    drawn, grid = new_figure(rows, columns, max(2.65 * columns, 4.6), 2.0 * rows + 0.6, sharey=True)
    for axes, part in zip(grid.flat, shown):
        _tails(axes, part.sort_values("threshold_at"))
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    for axes in grid.flat[max(len(shown) - columns, 0) : len(shown)]:
        axes.set_xlabel("threshold t of the loss (nats)")
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_ylabel("share of losses beyond t")
    entries = {"first neighbour": line_of(SIDES["share_first"]), "second neighbour": line_of(SIDES["share_second"])}
    for words, colour in (("event, claim stands", GREY), ("event, claim refuted", WRONG)):
        entries[words] = {"color": colour, "linewidth": 6, "alpha": 0.3}
    legend_below(drawn, entries, 4)
    note(drawn, "beyond", "rising lines: shares of losses below t; falling lines: above t")
    _say_what_is_missing(drawn, len(parts), len(answers))
    headed(drawn, _finding(curves.drop_duplicates(list(SAME))))
    return drawn


def _tails(axes, part) -> None:
    first = part.iloc[0]
    part = part[part["threshold_at"].abs() < LARGEST / 2]  # infinite losses are beyond the axis
    for side, look in SIDES.items():
        share = part[side] if first["upper"] else 1 - part[side]
        axes.plot(part["threshold_at"], share.where(share > 0), **line_of(look))
    axes.set_yscale("log")
    axes.set_title(f"{in_words(first['name'])}, moved by {first['shift']:g}\n{_proof(first)}", fontsize=8)
    if first["event"].startswith("loss"):
        _shade(axes, first)


def _proof(row) -> str:
    """Return a sentence that states the proved bound and its source."""
    order = row["event"].partition("of order ")[2].partition(",")[0]
    by = f", by $D_{{{float(order):.3g}}}$" if order else ""
    return f"at least {row['bound']:.3g}, claimed {row['claimed']:.3g}{by}"


def _shade(axes, row) -> None:
    """Shade the event. An arrow at the edge stands for an event of infinite losses alone."""
    low, high = axes.get_xlim()
    colour = WRONG if row["refuted"] else GREY
    if abs(row["threshold"]) < LARGEST / 2:
        at = np.clip(row["threshold"], low + 0.01 * (high - low), high - 0.01 * (high - low))
        axes.axvspan(*((at, high) if row["upper"] else (low, at)), color=colour, **REGION)
    else:
        start, end = (0.85, 1) if row["upper"] else (0.15, 0)
        look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.5}
        axes.annotate("", (end, 0.9), (start, 0.9), xycoords="axes fraction", arrowprops=look)
        note(axes.figure, "infinite", "an arrow: the event is an infinite loss")
    axes.set_xlim(low, high)


def _say_what_is_missing(drawn, panels: int, answers: int) -> None:
    if panels > MOST_PANELS:
        note(drawn, "panels", f"{MOST_PANELS} of {panels} answers")
    if answers > panels:
        note(
            drawn, "labels", f"the other {answers - panels} audits have no losses to draw, because they release labels"
        )


def _finding(cells) -> str:
    """Return the title: how many claims the events refute, by whether a bug is planted."""
    told = []
    for planted, words in ((False, "answers that move as promised"), (True, "that move further")):
        part = cells[cells["planted"] == planted]
        if len(part):
            told.append(f"{int(part['refuted'].sum())} of {len(part)} {words}")
    return f"Events in the tails of privacy losses refute the claims of {', and '.join(told)}"
