"""Real selection problems: which first name was given most often, for every year and sex of the US record."""

from functools import cache
from importlib import resources
from typing import NamedTuple

from tcdp_sim.core.errors import scalar
from tcdp_sim.data.readers import read_rows

FILE = "babynames_gaps.csv"
COLUMNS = ("year", "sex", "n", "k", "top1", "n1", "top2", "n2")


class SelectionProblem(NamedTuple):
    """k candidates and n records; the best candidate leads the second best by `gap` records.

    Scores are counts of records: under substitution of one record each changes by at most one (two of them do, which
    no method here makes use of). The candidates are the published names, taken as the public list.
    """

    name: str
    best: str
    second: str
    k: float
    n: float
    gap: float

    def at(self, n: float) -> "SelectionProblem":
        """The same shares among n records, n > 0: the gap shrinks or grows in proportion, and need not be whole."""
        n = scalar("n", n, 0)
        return self._replace(n=n, gap=self.gap * n / self.n)


@cache
def selection_problems() -> tuple[SelectionProblem, ...]:
    """All 276 of them, by year and sex."""
    with resources.as_file(resources.files(__name__.rpartition(".")[0]) / "files" / FILE) as path:
        rows = [tuple(cell or "" for cell in row) for row in read_rows(path, COLUMNS)]  # none of these is empty
    return tuple(
        SelectionProblem(f"{year} {sex}", best, second, float(k), float(n), float(n1) - float(n2))
        for year, sex, n, k, best, n1, second, n2 in rows
    )
