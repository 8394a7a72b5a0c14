"""The answer to threshold queries: a step function with public breakpoints."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_sim.core.arrays import Ints, Objects
from tcdp_sim.core.errors import UserError, real


@dataclass(frozen=True)
class StepCdf:
    """An estimate of F(j), the number of records up to j, for every j of the domain.

    `estimates`: the estimates in records, one more than breakpoints: estimates[i] if i breakpoints are <= j.
    """

    breakpoints: tuple[int, ...]
    estimates: tuple[float, ...]
    n: int

    def __call__(self, j: int) -> float:
        """Return the estimate of F(j), in records."""
        return self.estimates[bisect_right(self.breakpoints, j)]

    def quantile(self, level: float) -> int:
        """Return the first breakpoint at which the estimate reaches level n, else the last one; 0 < level < 1."""
        wanted = real("level", level, 0, 1) * self.n
        for i, place in enumerate(self.breakpoints):
            if self.estimates[i + 1] >= wanted:
                return place
        return self.breakpoints[-1]


def window(values: Sequence[int] | Ints | Objects, start: int, size: int, low: int, high: int) -> list[int]:
    """Return the order statistics of ranks start + 1 to start + size: `low` for ranks below 1, `high` beyond n.

    With `start` fixed, substituting a record changes the window by at most one substitution: its counting function
    clip(F - start, 0, size) moves by one on an interval.
    """
    if size < 1:
        raise UserError(f"window = {size} is not valid; valid: at least 1 record")
    below, above = min(max(-start, 0), size), min(max(start + size - len(values), 0), size)
    return [low] * below + list(values[max(start, 0) : max(start + size, 0)]) + [high] * above
