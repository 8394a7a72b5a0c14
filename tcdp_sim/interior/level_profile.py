"""What the dyadic tree over a domain of any size looks like from a data set: built once, at no cost in the domain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints, Weights
from tcdp_sim.core.errors import UserError
from tcdp_sim.interior import domain_points as tree
from tcdp_sim.interior.domain_points import Points, short


@dataclass(frozen=True, eq=False)
class Segments:
    """The occupied nodes of a level, left to right: their first and last point, their weight, and where they split.

    parting: level at which the children of the nodes are different from those one level up (the first of the run);
    split: for each node the first point in its right child at that level, or -1 where all points are in one child.
    counts, order, start: the distinct weights, the nodes sorted by weight, and where each weight starts among them.
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
        """How many nodes have each of the distinct weights."""
        return np.diff(self.start)


class LevelProfile:
    """The levels of the dyadic tree over {0, ..., k - 1} as data fill them: level 0 the leaves, `depth` the root.

    Node v of level l is [v 2^l, min((v + 1) 2^l, k) - 1]. Levels between which no two nodes merge form a run: `starts`
    (their first levels, ascending from 0), `ends` (their last), `heaviest` (the largest weight of one node in it).
    weight: of the distinct points, positive; `before[i]` the total of those left of point i, `before[-1]` = `total`.
    Source: Bun-Dwork-Rothblum-Steinke 2018, Section 5.3, with a node worth f(j2) - f(j1 - 1).
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
        """The profile of records: integers of any size and in any order, repeats allowed, 0 <= value < k."""
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
        """The profile of data known by the levels at which neighbours meet; k = 2^log2_k may be too large to write."""
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

    def fhat(self, levels: Ints | range) -> Weights:
        """The heaviest node's weight at these levels; 0 at level -1."""
        levels = np.asarray(levels)
        run = np.searchsorted(self.starts, levels, side="right") - 1
        return np.where(run < 0, 0, self.heaviest[run])

    def log_empty(self, levels: Ints, occupied: int) -> Floats:
        """The log of the number of nodes without points at each level: -inf where there is none."""
        shift = np.clip(levels - self.points.cut, 0, 63)
        top = self.points.head[-1] >> shift
        below = np.maximum(self.points.cut - levels, 0) * np.log(2.0)  # the levels that the head does not reach
        with np.errstate(divide="ignore"):
            few = np.log(np.maximum(top + 1 - occupied, 0))
            many = np.log(top) + below
        return np.where(levels < self.points.cut, many, few)

    def segments(self, run: int) -> Segments:
        """The occupied nodes at the levels of a run."""
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
    """First level and heaviest node of each run: neighbours are joined in the order of the levels where they meet."""
    total = weight.tolist()  # of each segment, kept at its first point
    left, right = list(range(len(total))), list(range(len(total)))  # the far end, kept at either end
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
