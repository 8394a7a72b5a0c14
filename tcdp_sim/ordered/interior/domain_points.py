"""Distinct points of a domain {0, ..., k - 1} of any size, in the form that its dyadic tree needs."""

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite
from operator import index
from typing import Any, cast

import numpy as np

from tcdp_sim.core.arrays import Bools, Ints
from tcdp_sim.core.errors import UserError

HEAD = 62  # leading bits of a number that are kept as an int64
MOST_DEPTH = 2**62


@dataclass(frozen=True, eq=False)
class Points:
    """The distinct points x_0 < x_1 < ... of a data set, followed by the last leaf k - 1, which may be one of them.

    - `gaps`: the level at which x_i and x_(i+1) meet, which is the bit length of their XOR.
    - `head`: the bits of each point from `cut` upwards. This array and the next three have one more entry for the
      last leaf.
    - `zeros`, `ones`: the number of low bits of each point that are all 0, and all 1; `depth` if all bits are.
    - `to_end`: the level at which each point and the last leaf meet.
    - `bit`: a function (point, position) of arrays that returns bits of points by index, as a bool array.
    - `values`: the points and the last leaf as integers; None if they are too large to write down.
    """

    depth: int
    gaps: Ints
    head: Ints
    zeros: Ints
    ones: Ints
    to_end: Ints
    bit: Callable[[Ints, Ints], Bools]
    values: tuple[int, ...] | None = None

    @property
    def known_values(self) -> tuple[int, ...]:
        """The values. Raises ValueError for points that are known by bit lengths alone."""
        if self.values is None:
            raise ValueError("the data are known by bit lengths alone; valid: a profile of values")
        return self.values

    @property
    def cut(self) -> int:
        """The number of low bits that `head` leaves out."""
        return max(self.depth - HEAD, 0)


def domain_size(k: Any) -> int:
    """Return `k` as an integer of at least 1. Raises UserError for anything else."""
    try:
        size = int(k) if isinstance(k, float) and k.is_integer() else index(k)
    except TypeError:
        raise UserError(f"k = {k!r} is not a domain size; valid: a whole number >= 1") from None
    if size < 1 or isinstance(k, bool):
        raise UserError(f"k = {short(size)} is not a domain size; valid: a whole number >= 1")
    return size


def whole_numbers(values: Sequence[Any], what: str = "a value") -> list[int]:
    """Return the values as integers. Raises UserError for a value such as 1.5 or "2", because nothing is rounded."""
    try:
        return list(map(index, values))
    except TypeError:
        return [_whole_number(x, what) for x in values]


def _whole_number(x: Any, what: str) -> int:
    if isinstance(x, numbers.Real) and isfinite(x) and x == floor(x):
        return cast(int, floor(x))
    message = f"{what} of {x!r} is not a whole number; valid: whole numbers"
    raise UserError(f"{message}, so scale decimals first and declare the domain in that unit: 1.5 is 15 tenths")


def from_values(values: Sequence[int], k: int) -> Points:
    """Return the points with these values: ascending, distinct integers of any size with 0 <= value < k."""
    last = domain_size(k) - 1
    depth = max(last.bit_length(), 1)
    all_values = [*values, last]
    gaps = np.array([(a ^ b).bit_length() for a, b in pairwise(values)], dtype=np.int64)
    width = (depth + 7) // 8
    rows = np.frombuffer(b"".join(x.to_bytes(width, "little") for x in all_values), np.uint8).reshape(
        len(all_values), width
    )

    def bit(point: Ints, position: Ints) -> Bools:
        return (rows[point, position >> 3] >> (position & 7).astype(np.uint8)) & 1 == 1

    cut = max(depth - HEAD, 0)
    return Points(
        depth,
        gaps,
        np.array([x >> cut for x in all_values], dtype=np.int64),
        np.array([_low_zeros(x, depth) for x in all_values], dtype=np.int64),
        np.array([_low_zeros(x + 1, depth) for x in all_values], dtype=np.int64),
        np.array([(x ^ last).bit_length() for x in all_values], dtype=np.int64),
        bit,
        tuple(all_values),
    )


def from_bit_lengths(gaps: Sequence[int], depth: int) -> Points:
    """Return the canonical points in a domain of k = 2^depth elements whose neighbours meet at the levels `gaps`.

    x_0 = 0, and x_(i+1) is the first leaf after x_i that meets it at level gaps[i]. The cost is O(points^2) at every
    depth up to 2^62. Raises UserError unless 1 <= gaps[i] <= depth, and if there is no such leaf.
    """
    if not 1 <= depth <= MOST_DEPTH:
        raise UserError(f"log2_k = {depth} is not valid; valid: 1 <= log2_k <= 2^62")
    sets: list[frozenset[int]] = [frozenset()]  # the positions of the one bits of each point
    for i, gap in enumerate(map(int, gaps)):
        if not 1 <= gap <= depth or gap - 1 in sets[-1]:
            raise UserError(f"gaps[{i}] = {gap} is not valid; valid: 1 to log2_k = {depth}, and above what came before")
        sets.append(frozenset({p for p in sets[-1] if p >= gap} | {gap - 1}))
    cut = max(depth - HEAD, 0)

    def bit(point: Ints, position: Ints) -> Bools:
        pairs = zip(point.tolist(), position.tolist())
        return np.array([i == len(sets) or p in sets[i] for i, p in pairs], dtype=bool)

    return Points(
        depth,
        np.array(gaps, dtype=np.int64),
        np.array([*(sum(1 << p - cut for p in s if p >= cut) for s in sets), (1 << depth - cut) - 1], dtype=np.int64),
        np.array([*(min(s, default=depth) for s in sets), 0], dtype=np.int64),
        np.array([*(_low_ones(s) for s in sets), depth], dtype=np.int64),
        np.array([*(depth - _high_ones(s, depth) for s in sets), 0], dtype=np.int64),
        bit,
    )


def short(x: int) -> str:
    """Return an integer of any size as text for an error message."""
    return str(x) if abs(x) < 10**30 else f"a number of {x.bit_length()} bits"


def _low_zeros(x: int, depth: int) -> int:
    return (x & -x).bit_length() - 1 if x else depth


def _low_ones(positions: frozenset[int]) -> int:
    count = 0
    while count in positions:
        count += 1
    return count


def _high_ones(positions: frozenset[int], depth: int) -> int:
    count = 0
    while depth - 1 - count in positions:
        count += 1
    return count
