"""Ordered records as threshold queries see them: sorted, with their true ranks."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints, Objects
from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.interior.domain_points import domain_size, short, whole_numbers
from tcdp_sim.ordered.thresholds.step_cdf import StepCdf

SMALL = 2**62  # domains up to this size have int64 elements


class Records:
    """A data set of n records in {0, ..., k - 1}, stored as distinct values with their counts.

    Parameters
    ----------
    values : sequence of int
        The distinct values, ascending whole numbers.
    counts : sequence of int
        The number of records with each value, positive.
    k : int
        Size of the domain, at least 1.

    Examples
    --------
    >>> records = Records.of([5, 3, 3, 900], k=1024)
    >>> records.n, records.quantile(0.5), records.ranks([4]).tolist()
    (4, 3, [2])
    """

    def __init__(self, values: Sequence[int], counts: Sequence[int], k: int) -> None:
        self.k = domain_size(k)
        self.kind = np.int64 if self.k <= SMALL else object
        if not len(values) or len(values) != len(counts):
            raise UserError("the data set is empty; valid: at least 1 record, and a count for each value")
        values, counts = whole_numbers(values), whole_numbers(counts, "a count")
        if values[0] < 0 or values[-1] >= self.k:
            outside = values[0] if values[0] < 0 else values[-1]
            raise UserError(f"a value of {short(outside)} lies outside the domain; valid: 0 to {short(self.k - 1)}")
        self.values, self.counts = np.array(values, dtype=self.kind), np.asarray(counts, dtype=np.int64)
        if (self.values[1:] <= self.values[:-1]).any() or (self.counts < 1).any():
            raise UserError("values and counts are not valid; valid: ascending distinct values, positive counts")

    @classmethod
    def of(cls, values: Sequence[int], k: int) -> "Records":
        """Return the data set of records in any order, repeats allowed."""
        distinct, counts = np.unique(np.array(whole_numbers(values), dtype=object), return_counts=True)
        return cls(distinct.tolist(), counts.tolist(), k)

    @cached_property
    def below(self) -> Ints:
        """The number of records up to each distinct value (F), with 0 in front."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.below[-1])

    @cached_property
    def sorted(self) -> Ints | Objects:
        """The records, ascending."""
        return np.repeat(self.values, self.counts)

    def distinct_among(self, m: int) -> float:
        """Return the approximate number of distinct values among m records of neighbouring ranks, from 1 to m."""
        return min(1 + len(self.values) * m / self.n, m)

    def ranks(self, places: Ints | Floats | Objects | Sequence[int]) -> Ints:
        """Return F, the number of records up to j, at these elements j."""
        return self.below[np.searchsorted(self.values, np.array(places, dtype=self.kind), side="right")]

    def quantile(self, level: float) -> int:
        """Return the order statistic of rank ceil(level n)."""
        return int(self.values[np.searchsorted(self.below, np.ceil(level * self.n), side="left") - 1])

    def rank_error(self, places: Ints | Objects | Sequence[int], rank: int) -> Floats:
        """Return the number of records by which each place j misses the order statistic of that rank.

        The error is 0 iff F(j - 1) < rank <= F(j).
        """
        upto = self.ranks(places)
        under = self.ranks([int(j) - 1 for j in places])
        return np.maximum(np.maximum(rank - upto, under - rank + 1), 0).astype(np.float64)

    def sup_error(self, cdf: StepCdf) -> float:
        """Return max_j |estimate - F(j)| over ALL j of the domain, in records.

        Both are step functions. So the maximum is at a value, at a breakpoint, or at the predecessor of one.
        """
        cuts = np.array(cdf.breakpoints, dtype=self.kind)
        places = np.concatenate([self.values, self.values - 1, cuts, cuts - 1])
        estimates = np.array(cdf.estimates)[np.searchsorted(cuts, places, side="right")]
        return float(np.abs(estimates - self.ranks(places))[places >= 0].max())
