"""The dyadic tree over a domain of any size for a data set. The cost to build it does not depend on the domain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints, Weights
from tcdp_sim.core.errors import UserError
from tcdp_sim.ordered.interior import domain_points as tree
from tcdp_sim.ordered.interior.domain_points import Points, short


@dataclass(frozen=True, eq=False)
class Segments:
    """The occupied nodes of a level, left to right.

    - `first`, `last`: the first and last point of each node.
    - `parting`: the first level of the run. At its other levels the points of each node are in one child.
    - `split`: the first point in the right child of each node at that level; -1 where all points are in one child.
    - `counts`: the distinct weights.
    - `order`: the nodes sorted by weight.
    - `start`: the place of the first node of each distinct weight in that order.
    """

    first: Ints
    last: Ints
    weight: Weights
    parting: int
    split: Ints
    counts: Weights
    order: Ints
    start: Ints

    @property
    def multiplicity(self) -> Ints:
        """The number of nodes with each of the distinct weights."""
        return np.diff(self.start)


class LevelProfile:
    """The levels of the dyadic tree over {0, ..., k - 1} for a data set.

    Level 0 has the leaves, level `depth` the root. Node v of level l is [v 2^l, min((v + 1) 2^l, k) - 1]. Levels
    between which no two nodes merge form a run.

    Source: Bun et al. (2018), Section 5.3 [BDRS18] (a node is worth f(j2) - f(j1 - 1)).

    Parameters
    ----------
    points : Points
        The distinct points of the data.
    weight : array of shape (points,)
        The positive weight of each point, such as its number of records.

    Attributes
    ----------
    starts, ends : array of int
        The first and last level of each run, ascending from 0.
    heaviest : array
        The largest weight of a node in each run.
    before : array of shape (points + 1,)
        The weight of the points to the left of each point. The last entry is `total`.

    Examples
    --------
    >>> profile = LevelProfile.of([3, 3, 5, 900], k=1024)
    >>> profile.starts.tolist(), profile.heaviest.tolist()
    ([0, 3, 10], [2, 3, 4])
    """

    def __init__(self, points: Points, weight: Weights) -> None:
        self.points = points
        self.weight = np.asarray(weight)
        if self.weight.shape != (len(points.gaps) + 1,) or not (self.weight > 0).all():
            raise UserError(f"weights are not valid; valid: {len(points.gaps) + 1} positive numbers, one a point")
        self.before = np.concatenate([[0], np.cumsum(self.weight)])
        self.starts, self.heaviest = _merge(points.gaps, self.weight)
        self.ends = np.append(self.starts[1:] - 1, points.depth)
        self._segments: dict[int, Segments] = {}

    @classmethod
    def of(cls, values: Sequence[int], k: int) -> "LevelProfile":
        """Return the profile of records: integers of any size and in any order, repeats allowed, 0 <= value < k.

        Raises UserError for no records, and for a value that is not whole or outside the domain.
        """
        k = tree.domain_size(k)
        records = sorted(tree.whole_numbers(values))
        if not records:
            raise UserError("the data set is empty; valid: at least 1 record")
        if records[0] < 0 or records[-1] >= k:
            outside = records[0] if records[0] < 0 else records[-1]
            raise UserError(f"a value of {short(outside)} lies outside the domain; valid: 0 to {short(k - 1)}")
        distinct = list(dict.fromkeys(records))
        position = {x: i for i, x in enumerate(distinct)}
        weight = np.bincount([position[x] for x in records])
        return cls(tree.from_values(distinct, k), weight)

    @classmethod
    def of_bit_lengths(cls, gaps: Sequence[int], log2_k: int, weight: Sequence[int] | None = None) -> "LevelProfile":
        """Return the profile of data known by the levels at which neighbours meet.

        The domain has 2^log2_k elements, which may be too large a number to write down.
        """
        points = tree.from_bit_lengths(gaps, log2_k)
        return cls(points, np.ones(len(gaps) + 1, dtype=np.int64) if weight is None else np.asarray(weight))

    @property
    def depth(self) -> int:
        """The level of the root: the bits of k - 1, at least 1."""
        return self.points.depth

    @property
    def total(self) -> float:
        """The weight of all points: n for records."""
        return self.before[-1]

    def heaviest_at(self, levels: Ints | range) -> Weights:
        """Return the weight of the heaviest node at each of these levels; 0 at level -1."""
        levels = np.asarray(levels)
        run = np.searchsorted(self.starts, levels, side="right") - 1
        return np.where(run < 0, 0, self.heaviest[run])

    def log_empty(self, levels: Ints, occupied: int) -> Floats:
        """Return the log of the number of nodes without points at each level; -inf where there is none."""
        shift = np.clip(levels - self.points.cut, 0, 63)
        top = self.points.head[-1] >> shift
        below = np.maximum(self.points.cut - levels, 0) * np.log(2.0)  # the head has no bits of these levels
        with np.errstate(divide="ignore"):
            few = np.log(np.maximum(top + 1 - occupied, 0))
            many = np.log(top) + below
        return np.where(levels < self.points.cut, many, few)

    def segments(self, run: int) -> Segments:
        """Return the occupied nodes at the levels of a run."""
        if run not in self._segments:
            self._segments[run] = self._find_segments(int(self.starts[run]))
        return self._segments[run]

    def _find_segments(self, level: int) -> Segments:
        gaps = self.points.gaps
        edges = np.flatnonzero(gaps > level) + 1
        first = np.concatenate([[0], edges])
        last = np.append(edges, len(self.weight)) - 1
        weight = self.before[last + 1] - self.before[first]
        split = np.full(len(first), -1)
        parts = np.flatnonzero(gaps == level) + 1
        split[np.searchsorted(first, parts, side="right") - 1] = parts
        order = np.argsort(weight, kind="stable")
        counts, start = np.unique(weight[order], return_index=True)
        return Segments(first, last, weight, level, split, counts, order, np.append(start, len(order)))


def _merge(gaps: Ints, weight: Weights) -> tuple[Ints, Weights]:
    """Return the first level and the heaviest node of each run. Neighbours are joined in the order of their levels."""
    total = weight.tolist()  # the weight of a segment stands at its first point
    left, right = list(range(len(total))), list(range(len(total)))  # each end of a segment refers to the other one
    starts, heaviest = [0], [max(total)]
    for i in np.argsort(gaps, kind="stable").tolist():
        first, last = left[i], right[i + 1]
        total[first] += total[i + 1]
        right[first], left[last] = last, first
        if starts[-1] != gaps[i]:
            starts.append(int(gaps[i]))
            heaviest.append(heaviest[-1])
        heaviest[-1] = max(heaviest[-1], total[first])
    return np.array(starts, dtype=np.int64), np.array(heaviest, dtype=weight.dtype)
