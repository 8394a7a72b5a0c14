"""Box searches in ball arithmetic: an inequality for all parameters of a box, by bisection.

A function gives a ball for a cell, a box of parameters. Its upper end is at least all values in the cell. A cell that
does not decide the inequality is halved where the ratio of its ends is largest.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, TypeAlias

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.balls.arithmetic import flint, floats
from tcdp_sim.experiments.papers.judge.evidence import Point, constant

if TYPE_CHECKING:
    from flint import arb

Cell: TypeAlias = tuple[tuple[float, float], ...]  # (lower, upper) of each parameter, 0 < lower <= upper
BITS = 80
MOST = 20_000  # number of cells after which a search gives up


@dataclass(frozen=True)
class Searched:
    """The result of a search.

    `largest`: upper bound of the function on the whole box if the inequality holds there; inf otherwise. `cells`:
    number of cells that were looked at. `refuted`: a cell on all of which the function is above the limit. `undecided`:
    number of cells that were left undecided.
    """

    largest: float
    cells: int
    refuted: Cell | None = None
    undecided: int = 0

    @property
    def holds(self) -> bool:
        """True if the inequality is certified on the whole box."""
        return self.refuted is None and self.undecided == 0


def search(box: Cell, function: "Callable[[Cell], arb]", limit: float, most: int = MOST) -> Searched:
    """Return whether function <= limit on the whole box, by at most `most` cells.

    The cell with the largest upper end is halved until that end is at most the limit, or a cell is refuted.
    """
    with flint().ctx.workprec(BITS):
        heap, cells = [_bounded(function, box)], 1
        while -heap[0][0] > limit:
            _, low, cell = heapq.heappop(heap)
            if low > limit:
                return Searched(inf, cells, refuted=cell)
            for half in _halves(cell):
                heapq.heappush(heap, _bounded(function, half))
            cells += 2
            if cells > most:
                return Searched(inf, cells, undecided=sum(-high > limit for high, _, _ in heap))
    return Searched(-heap[0][0], cells)


def _bounded(function: "Callable[[Cell], arb]", cell: Cell) -> tuple[float, float, Cell]:
    """Return minus the upper end of a cell's ball (inf if it is no number), the lower end, and the cell."""
    low, _, high = floats(function(cell))
    return (-high, low, cell) if isfinite(high) else (-inf, -inf, cell)


def as_point(where: str, found: Searched, limit: float) -> Point:
    """Return the point of a claim that a search gives: 0 to the certified largest value, against the claim's limit."""
    return Point(where, Bounds(0.0, found.largest, found.largest), constant(limit), box=True)


def _halves(cell: Cell) -> tuple[Cell, Cell]:
    """Return both halves of a cell, cut at the geometric mean of the side with the largest ratio of its ends."""
    widest = max(range(len(cell)), key=lambda i: cell[i][1] / cell[i][0])
    low, high = cell[widest]
    middle = sqrt(low * high)
    before, after = cell[:widest], cell[widest + 1 :]
    return (*before, (low, middle), *after), (*before, (middle, high), *after)
