"""Figures of audited claims: the bounds beside the claims, and the events that prove the bounds."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.mechanisms.audit import LARGEST
from tcdp_sim.report.plots import GREY, WRONG, captioned, line_key, new_figure

MOST_PANELS = 12
MARKERS = {False: ("o", "as it is"), True: ("D", "with the bug on the right")}
TICKS = (0, 0.5, 1, 2, 5, 10)
COLOURS = ("#1F77B4", "#D1761A")


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the bounds over the claims of answers and of methods, and the tails of the losses of answers."""
    cells = table[table["trials"] > 0]
    answers, methods = cells[cells["bug"] == ""], cells[cells["bug"] != ""]
    if len(answers):
        yield "audit_bounds", captioned(_bounds(answers), answers, "bounds over claims"), answers
    if len(methods):
        yield "audit_methods", captioned(_methods(methods), methods, "bounds over claims, all at level 0.95"), methods
    curves = table[(table["trials"] == 0) & table["event"].str.startswith("loss") & (table["bug"] == "")]
    if len(curves):
        yield "audit_events", captioned(_events(curves), curves, "losses in nats"), curves


def _bounds(cells):
    figure, grid = new_figure(1, 1, 6.8, 0.28 * len(cells) + 1.4)
    axes = grid[0, 0]
    cells = cells.iloc[::-1]
    labels = [f"{row['name']}, moved by {row['shift']:g}" for row in cells.to_dict("records")]
    colours = [WRONG if refuted else GREY for refuted in cells["refuted"]]
    axes.barh(np.arange(len(cells)), cells["bound"] / cells["claimed"], color=colours, height=0.6)
    axes.axvline(1, color="black", linewidth=0.9)
    axes.set_yticks(np.arange(len(cells)), labels)
    axes.set(xlabel="lower bound / claim (beyond 1: refuted)", xlim=(0, None))
    figure.suptitle("Our own claims, audited: moved by 1 as promised; by 2, a planted bug", fontsize=9.5)
    return figure


def _methods(cells):
    """Draw a row for each method: its bound over its claim, as it is and with its bug."""
    names = list(dict.fromkeys(cells["name"]))[::-1]
    figure, grid = new_figure(1, 1, 7.2, 0.27 * len(names) + 1.8)
    axes = grid[0, 0]
    for planted, (marker, label) in MARKERS.items():
        part = cells[cells["planted"] == planted]
        places = [names.index(name) for name in part["name"]]
        colours = [WRONG if refuted else GREY for refuted in part["refuted"]]
        axes.scatter(part["bound"] / part["claimed"], places, c=colours, marker=marker, label=label, zorder=3)
    axes.axvline(1, color="black", linewidth=0.9)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.set_yticks(np.arange(len(names)), [name.replace("_", " ") for name in names])
    axes.grid(axis="y", linewidth=0.4)
    axes.set(xlabel="lower bound / claim (beyond 1: refuted; linear up to 1, then logarithmic)", xlim=(-0.05, 11))
    bugs = cells.drop_duplicates("name").set_index("name")["bug"]
    side = axes.secondary_yaxis("right")
    side.set_yticks(np.arange(len(names)), [bugs[name] for name in names])
    side.tick_params(length=0)
    keys = [line_key(color=GREY, marker=marker, linestyle="") for marker, _ in MARKERS.values()]
    figure.legend(keys, [label for _, label in MARKERS.values()], loc="outside lower center", ncols=2)
    figure.suptitle(_finding(cells), fontsize=9.5)
    return figure


def _finding(cells) -> str:
    wrong, found = (int((cells["refuted"] & (cells["planted"] == planted)).sum()) for planted in (False, True))
    right, bugs = (int((cells["planted"] == planted).sum()) for planted in (False, True))
    return (
        f"Our methods, audited: {wrong} of {right} claims refuted, {found} of {bugs} planted bugs found (red: refuted)"
    )


def _events(curves):
    names = list(dict.fromkeys(zip(curves["name"], curves["shift"])))[:MOST_PANELS]
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    figure, grid = new_figure(rows, columns, 7.2, 2.2 * rows + 1.0)
    for axes, (name, shift) in zip(grid.flat, names):
        part = curves[(curves["name"] == name) & (curves["shift"] == shift)].sort_values("threshold_at")
        part = part[part["threshold_at"].abs() < LARGEST / 2]  # infinite losses are beyond the axis
        for side, colour, line in zip(("share_first", "share_second"), COLOURS, ("-", "--")):
            share = part[side] if part["upper"].iloc[0] else 1 - part[side]
            axes.plot(part["threshold_at"], share.where(share > 0), color=colour, linestyle=line)
        _mark(axes, part.iloc[0])
        axes.set(yscale="log", title=f"{name}, moved by {shift:g}")
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("privacy loss t")
    for axes in grid[:, 0]:
        axes.set_ylabel("share beyond t")
    keys = [line_key(color=colour, linestyle=line) for colour, line in zip(COLOURS, ("-", "--"))]
    keys.append(line_key(color=GREY, linewidth=6, alpha=0.3))
    figure.legend(keys, ["first neighbour", "second neighbour", "the event"], loc="outside lower center", ncols=3)
    return figure


def _mark(axes, row) -> None:
    if np.isfinite(row["threshold"]):
        low, high = axes.get_xlim()
        at = np.clip(row["threshold"], low + 0.01 * (high - low), high - 0.01 * (high - low))
        ends = (at, high) if row["upper"] else (low, at)
        axes.axvspan(*ends, color=WRONG if row["refuted"] else GREY, alpha=0.15)
        axes.set_xlim(low, high)
