"""Records on a line [0, k), as the quantile methods see them: sorted, with the gaps between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import UserError

KINDS = ("integers", "reals")
MOST_DOMAIN = 2**64
Values = NDArray[Any]  # float64 for reals, uint64 for integers


class Line:
    """A data set of n records on [0, k): real numbers, or the integers 0 to k - 1.

    Parameters
    ----------
    values : sequence of numbers
        The records, in any order, repeats allowed. On the integers, fractions are rounded down.
    k : int
        The length of the domain in units, from 2 to 2^64.
    kind : {"integers", "reals"}
        The kind of the domain's elements.

    Examples
    --------
    >>> line = Line([3, 5, 3], 8, "integers")
    >>> line.values.tolist(), line.gaps.tolist()
    ([3, 3, 5], [3.0, 0.0, 2.0, 3.0])
    """

    def __init__(self, values: Sequence[Any] | NDArray[Any], k: int, kind: str) -> None:
        if kind not in KINDS or not 2 <= k <= MOST_DOMAIN:
            raise UserError(f"a domain of {k} {kind} is not valid; valid: integers or reals, k from 2 to 2^64")
        if not len(values):
            raise UserError("the data set is empty; valid: at least 1 record")
        self.k, self.kind = int(k), kind
        if kind == "integers":
            given = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
            outside = given[~((given >= 0) & (given < k))].tolist()
            array: Values = np.sort(np.array([], np.uint64) if outside else given.astype(np.uint64))
        else:
            array = np.sort(np.asarray(values, dtype=np.float64))
            outside = array[~((array >= 0) & (array < k))].tolist()
        if outside:
            raise UserError(f"a record of {outside[0]} lies outside the domain; valid: 0 to below {k}")
        self.values = array

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.values)

    @cached_property
    def gaps(self) -> Floats:
        """The lengths of the n + 1 gaps that the records make of [0, k), in units; 0 between equal records."""
        inner = (self.values[1:] - self.values[:-1]).astype(np.float64)
        last = float(self.k - int(self.values[-1])) if self.kind == "integers" else self.k - self.values[-1]
        return np.concatenate([[float(self.values[0])], inner, [last]])

    @cached_property
    def most_equal(self) -> int:
        """The largest number of equal records."""
        return int(np.unique(self.values, return_counts=True)[1].max())

    def element(self, places: Floats) -> Values:
        """Return the elements at these places of [0, k]: the places themselves, or rounded down to integers."""
        if self.kind == "reals":
            return np.clip(places, 0.0, np.nextafter(float(self.k), 0.0))
        top = np.nextafter(2.0**64, 0.0)
        return np.minimum(np.clip(np.floor(places), 0, top).astype(np.uint64), np.uint64(self.k - 1))

    def beyond(self, record: Ints, offsets: Floats) -> Values:
        """Return the elements at distances `offsets` >= 0 above the records of these ranks; rank 0 is the point 0."""
        base = np.concatenate([np.zeros(1, self.values.dtype), self.values])[record]
        if self.kind == "reals":
            return np.asarray(np.minimum(base + offsets, np.nextafter(float(self.k), 0.0)))
        room = np.uint64(self.k - 1) - base
        step = np.clip(np.floor(offsets), 0, np.nextafter(2.0**64, 0.0)).astype(np.uint64)
        return np.asarray(base + np.minimum(step, room))

    def ranks(self, outputs: Values) -> tuple[Ints, Ints]:
        """Return the numbers of records below and up to each output."""
        return tuple(np.searchsorted(self.values, outputs, side) for side in ("left", "right"))  # type: ignore

    def quantile(self, levels: Floats) -> Values:
        """Return the order statistics of ranks ceil(level n)."""
        rank = np.clip(np.ceil(levels * self.n).astype(np.int64), 1, self.n)
        return np.asarray(self.values[rank - 1])

    def rank_errors(self, outputs: Values, levels: Floats) -> Floats:
        """Return the distance of level n from the interval [records below, records up to the output], in records."""
        below, upto = self.ranks(outputs)
        target = levels * self.n
        return np.maximum(np.maximum(target - upto, below - target), 0.0)

    def value_errors(self, outputs: Values, levels: Floats) -> Floats:
        """Return the distances of outputs from the order statistics of ranks ceil(level n), in units."""
        true = self.quantile(levels)
        return np.where(outputs > true, outputs - true, true - outputs).astype(np.float64)


@dataclass(frozen=True)
class Gaps:
    """The gaps of a data set for the methods that know gaps alone: one row for all trials, or a row for each.

    `sizes`: the lengths of the gaps. `shifts`: the distance by which the record left of each gap was moved upwards.
    """

    line: Line
    sizes: Floats
    shifts: Floats

    @classmethod
    def of(cls, line: Line, trials: int, *, rng: np.random.Generator) -> "Gaps":
        """Return the gaps. In each trial a record on an integer moves to a uniform place within its unit.

        This breaks ties without any change of the integers themselves. Every record moves independently, so neighbours
        stay neighbours.
        """
        if line.kind == "reals":
            return cls(line, line.gaps[None, :], np.zeros((1, line.n + 1)))
        group = np.cumsum(np.concatenate([[0.0], (line.values[1:] != line.values[:-1]).astype(np.float64)]))
        moved = np.sort(group + rng.random((trials, line.n)), axis=1) - group
        shifts = np.concatenate([np.zeros((trials, 1)), moved], axis=1)
        ends = np.concatenate([moved, np.zeros((trials, 1))], axis=1)
        return cls(line, np.maximum(line.gaps + (ends - shifts), 0.0), shifts)

    def outputs(self, rows: Ints, gap: Ints, offsets: Floats) -> Values:
        """Return the elements at these offsets within these gaps."""
        return self.line.beyond(gap, self.shifts[rows, gap] + offsets)
