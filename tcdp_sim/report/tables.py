"""What experiments say on the terminal: one form of table, one sentence on agreement with exact values."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from rich import box
from rich.markup import escape
from rich.table import Table

from tcdp_sim.summaries.estimates import CONFIDENCE

ROUNDING = 1e-12  # relative: an exact value of 1 may lie that far above an interval that ends at 1


def terminal_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], fold: bool = False) -> Table:
    """A table of texts under a title: the first column names the row and is on the left, the others are numbers.

    Texts are shown as they are, brackets and all. fold: whether long names in the first column go on in the next line.
    """
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for i, heading in enumerate(headings):
        number = bool(i)
        table.add_column(
            escape(heading), justify="right" if number else "left", no_wrap=number or not fold, overflow="fold"
        )
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def agreement(
    what: str,
    estimate: ArrayLike,
    mcse: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    exact: ArrayLike,
    *,
    things: str = "cells",
) -> str:
    """How often the exact values lie outside the simulated 95% intervals, in words, beside what chance explains.

    what: the quantity ("probability of success"); things: what there is one of for each number. Numbers: of one shape,
    in one unit; NaN where nothing was simulated or is known, infinite where all trials are. Those whose trials do not
    differ (mcse = 0) are counted by themselves: their intervals miss nothing by chance.
    """
    estimate, mcse, lower, upper, exact = (
        np.asarray(numbers, dtype=float) for numbers in (estimate, mcse, lower, upper, exact)
    )
    known = ~np.isnan(exact) & ~np.isnan(estimate)
    if not known.any():
        return f"No exact {what} is known to compare the simulated {things} with."
    with np.errstate(invalid="ignore"):
        slack = ROUNDING * np.where(np.isfinite(exact), np.maximum(np.abs(exact), 1), 1)
        within = (lower - slack <= exact) & (exact <= upper + slack)
    alike, random = known & (mcse == 0), known & (mcse != 0)
    counted = _outside(what, random & ~within, random, things)
    parts = [counted, _distance(estimate[random], exact[random], mcse[random])]
    if alike.any():
        parts.append(f"Of {alike.sum()} whose trials are all alike, {(alike & within).sum()} agree.")
    if not known.all():
        parts.append(f"{(~known).sum()} of {known.size} have no exact value.")
    return " ".join(filter(None, parts))


def by_chance(intervals: int) -> str:
    """How many of so many 95% intervals are expected to miss, in words for people: never 0 where there is one."""
    expected = (1 - CONFIDENCE) * intervals
    return f"{expected:.2g}" if expected < 10 else f"{expected:.0f}"


def _outside(what, outside, random, things) -> str:
    count = int(random.sum())
    if not count:
        return ""
    place = f"in {outside.sum()} of {count} {things}"
    chance = f"by chance at most about {by_chance(count)} are expected"
    return f"The exact {what} is outside the simulated 95% interval {place}; {chance}."


def _distance(estimate, exact, mcse) -> str:
    with np.errstate(invalid="ignore"):
        distances = np.abs(estimate - exact) / mcse
    finite = distances[np.isfinite(distances)]
    return f"Largest distance: {finite.max():.1f} standard errors." if len(finite) else ""
