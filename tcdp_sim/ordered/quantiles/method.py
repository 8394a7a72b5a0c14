"""The interface of a method that releases quantiles, and the parts that all methods share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.ordered.quantiles.line import Line, Values
from tcdp_sim.privacy import Guarantee
from tcdp_sim.privacy.relation import known_relation

MOST_QUANTILES = 1000


def even_levels(m: int) -> tuple[float, ...]:
    """Return m evenly spaced levels, i / (m + 1)."""
    return tuple((i + 1) / (m + 1) for i in range(m))


@dataclass(frozen=True)
class Method(ABC):
    """A method that releases the quantiles of records at several levels.

    Attributes
    ----------
    levels : tuple of float
        The levels in (0, 1), ascending.
    relation : {"add_remove", "substitute"}
        The neighbouring relation. Under substitution the number of records is public.
    guarantee : Guarantee
        The guarantee of all quantiles together.

    Examples
    --------
    >>> from tcdp_sim.ordered.quantiles import Recursive
    >>> issubclass(Recursive, Method)
    True
    """

    levels: tuple[float, ...]
    relation: str
    guarantee: Guarantee

    def __post_init__(self) -> None:
        known_relation(self.relation)
        inside = all(0 < level < 1 for level in self.levels)
        if not inside or list(self.levels) != sorted({*self.levels}) or not 1 <= self.m <= MOST_QUANTILES:
            raise ValueError(f"levels = {list(self.levels)} is not valid; valid: ascending numbers between 0 and 1")

    @property
    def m(self) -> int:
        """The number of quantiles."""
        return len(self.levels)

    @property
    @abstractmethod
    def ledger(self) -> Any:
        """The release as a `tcdp_sim.accounting.Ledger`."""

    @abstractmethod
    def work(self, line: Line) -> float:
        """Return the approximate cost of a trial, in random numbers of 10 ns."""

    @abstractmethod
    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        """Return the quantiles of independent trials, ascending along the last axis, shape (trials, m)."""


def scores_move(levels: Floats) -> Floats:
    """Return how far a record that is added or removed moves |rank - level n|, at most: max(level, 1 - level)."""
    return np.maximum(levels, 1 - levels)


def ledger_of(entries: list[Any], relation: str) -> Any:
    """Return the ledger of releases under a relation of this package."""
    from tcdp_sim.accounting import Ledger  # imported late: no simulation needs it

    return Ledger(entries, relation.replace("-", "_"))
