"""Figures of audited claims: the bounds over the claims, and the events that prove the bounds."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.experiments.audit import tails
from tcdp_sim.experiments.audit.names import group, in_words
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.plots import DARK, GREY, WRONG, captioned, headed, new_figure, note

HELD, FALSE = {"color": GREY, "marker": "o"}, {"color": WRONG, "marker": "D"}  # a claim as it is, one that is false
TICKS = (0, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000, 10_000)
LIMIT = {"color": DARK, "linewidth": 0.9}
UNIT = "a line begins at the lower bound and has no end, because an audit proves no upper bound"
APART = 0.16  # distance of the lines of a row from its middle, in rows


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the bounds over the claims of answers and of methods, and the tails of the losses of answers."""
    cells = table[table["trials"] > 0]
    answers, methods = cells[cells["bug"] == ""], cells[cells["bug"] != ""]
    if len(answers):
        yield "audit_bounds", captioned(_answers(answers), answers, UNIT), answers
    if len(methods):
        yield "audit_methods", captioned(_methods(methods), methods, UNIT), methods
    curves = table[(table["trials"] == 0) & tails.has_losses(table)]
    if len(curves):
        yield "audit_events", captioned(tails.figure(curves, answers), curves, "losses in nats"), curves


def _answers(cells):
    """Draw a row for each answer or selection, with its guarantee on the right."""
    titles = cells["name"].map(in_words)
    if cells.duplicated(["name", "guarantee", "planted"]).any():  # several distances
        titles = titles + cells["shift"].map(", moved by {:g}".format)
    selects = ~tails.has_losses(cells)
    cells = cells.assign(title=titles, side=cells["guarantee"], group=selects)
    moved = {False: "moved as promised", True: "moved further than promised: a planted bug"}
    return _dots(cells, "answers and selections", moved)


def _methods(cells):
    """Draw a row for each method, with its planted bug on the right."""
    cells = cells.assign(title=cells["name"].map(in_words), side=cells["bug"], group=cells["name"].map(group))
    return _dots(cells, "methods", {False: "as it is", True: "with the bug on the right"})


def _sorted(cells):
    """Return the cells by group, and within a group from the largest ratio of bound and claim down.

    `row` numbers the rows of the figure, which have a title and a text on the right.
    """
    cells = cells.assign(ratio=over(cells["bound"], cells["claimed"]), group=pd.factorize(cells["group"])[0])
    largest = -cells.groupby(["title", "side"])["ratio"].transform("max")
    cells = cells.assign(largest=largest).sort_values(["group", "largest", "title", "side"], kind="stable")
    return cells.assign(row=cells.groupby(["title", "side"], sort=False).ngroup())


def over(bound, claimed) -> np.ndarray:
    """Return bounds over claims. A bound of 0 gives 0, and a positive bound on a claim of 0 gives inf."""
    bound, claimed = np.asarray(bound, dtype=float), np.asarray(claimed, dtype=float)
    ratio = np.divide(bound, claimed, out=np.full(bound.shape, np.inf), where=claimed > 0)
    return np.where((bound == 0) | np.isinf(claimed), 0.0, ratio)


def _dots(cells, audited: str, legend: dict[bool, str]):
    """Draw a line from each bound to the right, in a row for each audited claim. Claims stand or fall at 1."""
    cells = _sorted(cells)
    rows = cells.drop_duplicates("row")
    figure, grid = new_figure(1, 1, 8.0, 0.25 * len(rows) + 1.3)
    axes = grid[0, 0]
    finite = cells["ratio"][np.isfinite(cells["ratio"])]
    right = 1.25 * max(finite.max(), 2.0) if len(finite) else 2.0
    for planted in (False, True):
        part = cells[cells["planted"] == planted]
        for cell in part.to_dict("records"):
            _line(axes, cell["row"] + (APART if planted else -APART), cell, right)
    for place in np.flatnonzero(np.diff(rows["group"])):
        axes.axhline(place + 0.5, color="#BBBBBB", linewidth=0.7)
    axes.axvline(1, **LIMIT)
    axes.set_xscale("symlog", linthresh=1)
    ticks = [tick for tick in TICKS if tick <= right]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(rows)), rows["title"].tolist(), fontsize=8)
    axes.set(xlim=(-0.05, right), ylim=(len(rows) - 0.4, -0.6), xlabel="lower bound over claim")
    axes.grid(visible=False, axis="y")
    side = axes.secondary_yaxis("right")
    side.set_yticks(range(len(rows)), rows["side"].tolist(), fontsize=8)
    side.tick_params(length=0)
    entries = {text: (FALSE if planted else HELD) | {"color": GREY} for planted, text in legend.items()}
    legend_below(figure, entries | {"red: refuted": {"color": WRONG}}, 3)
    note(figure, "scale", "linear up to 1, then logarithmic; all bounds hold together at level 0.95")
    headed(figure, f"In audits of {audited}, {finding(cells)}")
    return figure


def _line(axes, place, cell, right) -> None:
    """Draw the one-sided interval of a cell: a marker at its lower end, and an arrow to the edge of the panel."""
    colour = WRONG if cell["refuted"] else GREY
    start = min(cell["ratio"], right)
    arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.8, "alpha": 0.6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (right, place), (start, place), arrowprops=arrow, annotation_clip=False)
    if np.isfinite(cell["ratio"]):
        axes.plot([start], [place], **(FALSE if cell["planted"] else HELD) | {"color": colour}, linestyle="none")
    else:
        note(axes.figure, "infinite", "an arrowhead without a marker: a claim of 0")


def finding(cells) -> str:
    """Return the title: how many claims are refuted, and how many planted bugs are found."""
    wrong, found = (int((cells["refuted"] & (cells["planted"] == planted)).sum()) for planted in (False, True))
    right, bugs = (int((cells["planted"] == planted).sum()) for planted in (False, True))
    told = [f"{wrong} of {right} claims are refuted"] if right else []
    return ", and ".join(told + ([f"{found} of {bugs} planted bugs are found"] if bugs else []))
