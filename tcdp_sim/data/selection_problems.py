"""Real selection problems: the most frequent first name of each year and sex in the US record."""

from functools import cache
from importlib import resources
from typing import NamedTuple

from tcdp_sim.core.errors import scalar
from tcdp_sim.data.readers import read_rows

FILE = "babynames_gaps.csv"
COLUMNS = ("year", "sex", "n", "k", "top1", "n1", "top2", "n2")


class SelectionProblem(NamedTuple):
    """A selection problem with k candidates and n records, whose best candidate leads the second best by `gap` records.

    Scores are counts of records, so under substitution of one record each changes by at most one. At most two of them
    change, which no method here exploits. The candidates are the published names, taken as the public list.
    """

    name: str
    best: str
    second: str
    k: float
    n: float
    gap: float

    def at(self, n: float) -> "SelectionProblem":
        """Return the same shares among n > 0 records; the gap changes in proportion and need not be whole."""
        n = scalar("n", n, 0)
        return self._replace(n=n, gap=self.gap * n / self.n)


@cache
def selection_problems() -> tuple[SelectionProblem, ...]:
    """Return all 276 problems, by year and sex."""
    with resources.as_file(resources.files(__name__.rpartition(".")[0]) / "files" / FILE) as path:
        rows = [tuple(cell or "" for cell in row) for row in read_rows(path, COLUMNS)]  # none of these is empty
    return tuple(
        SelectionProblem(f"{year} {sex}", best, second, float(k), float(n), float(n1) - float(n2))
        for year, sex, n, k, best, n1, second, n2 in rows
    )
