"""The experiments' output on the terminal: one form of table, and one sentence on agreement with exact values."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from rich import box
from rich.markup import escape
from rich.table import Table

from tcdp_sim.summaries.estimates import CONFIDENCE, SAME

ROUNDING = 1e-12  # relative: an exact value of 1 may exceed an interval that ends at 1 by this much


def terminal_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], fold: bool = False) -> Table:
    """Return a table of texts under a title: the first column names the row on the left, the others hold numbers.

    Texts are shown literally, brackets and all. `fold` lets long names in the first column continue on the next line.
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
    samples: int | None = None,
) -> str:
    """Return in words how often exact values lie outside the simulated 95% intervals, and how often by chance.

    `what` is the quantity, such as "probability of success", and `things` names the rows. The numbers have one shape
    and unit. They are NaN for rows without a simulated or exact value, and infinite for rows whose trials are all
    infinite. Rows whose trials are all equal, up to rounding, are counted separately, because their intervals do not
    miss by chance. `samples` is the number of independent samples that the rows are made of, by default one for each;
    rows of the same sample, such as quantiles of one cell, miss together, which the sentence says.
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
        alike = known & (mcse <= SAME * np.abs(estimate))
        within = np.where(alike & (np.abs(estimate - exact) <= slack), True, within)
    random = known & ~alike
    counted = _outside(what, random & ~within, random, things, samples)
    parts = [counted, _distance(estimate[random], exact[random], mcse[random])]
    if alike.any():
        parts.append(f"Of {alike.sum()} whose trials are all alike, {(alike & within).sum()} agree.")
    if not known.all():
        parts.append(f"{(~known).sum()} of {known.size} have no exact value.")
    return " ".join(filter(None, parts))


def by_chance(intervals: int) -> str:
    """Return in words how many of this many 95% intervals are expected to miss, never 0 if there is one."""
    expected = (1 - CONFIDENCE) * intervals
    return f"{expected:.2g}" if expected < 10 else f"{expected:.0f}"


def _outside(what, outside, random, things, samples) -> str:
    """Return how many exact values lie outside their intervals, in words."""
    count = int(random.sum())
    if not count:
        return ""
    place = f"in {outside.sum()} of {count} {things}"
    expected = f"by chance at most about {by_chance(count)} are expected"
    if samples is not None and samples < count:
        expected += f" on average, and often several together, since {count} {things} come from {samples} samples"
    return f"The exact {what} is outside the simulated 95% interval {place}; {expected}."


def _distance(estimate, exact, mcse) -> str:
    """Return the largest distance in standard errors, in words."""
    with np.errstate(invalid="ignore"):
        distances = np.abs(estimate - exact) / mcse
    finite = distances[np.isfinite(distances)]
    return f"Largest distance: {finite.max():.1f} standard errors." if len(finite) else ""
