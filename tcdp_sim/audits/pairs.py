"""Pairs of neighbouring inputs: the user's own, or patterns for vectors of answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tcdp_sim.audits.data_sets import digestible
from tcdp_sim.audits.sampling import Pair
from tcdp_sim.core.errors import UserError, whole
from tcdp_sim.core.identity import digest

MOST = 10_000  # entries of a generated input


def answer_pairs(d: int, one: bool = False) -> list[tuple[Any, Any]]:
    """Return pairs of neighbouring vectors of d answers to queries of sensitivity 1.

    They follow the patterns of StatDP (Ding et al. 2018 [DWWZK18]). An audit looks at both directions of each pair.

    - The vector of ones is paired with vectors whose first entry is 0 or 2.
    - If all answers may change, it is also paired with the vectors of all 2 and all 0. Further partners move the first
      entry, or the first half, by 1 and the rest by 1 the other way.
    - In that case, a vector whose first half is 1 is also paired with its complement.

    Source: Ding et al. (2018) [DWWZK18].

    Parameters
    ----------
    d : int
        Number of answers, from 1 to 10,000.
    one : bool, default False
        True if only a single answer may change, as for the bins of a histogram. Otherwise all may, each by up to 1.

    Returns
    -------
    list of (ndarray, ndarray)
        Pairs of float arrays of shape (d,): two if `one` is true or d is 1, else nine.

    Examples
    --------
    >>> from tcdp_sim.audits import answer_pairs
    >>> [(data.tolist(), other.tolist()) for data, other in answer_pairs(2, one=True)]
    [([1.0, 1.0], [0.0, 1.0]), ([1.0, 1.0], [2.0, 1.0])]
    >>> len(answer_pairs(5))
    9
    """
    try:
        d = whole("d", d, 1, MOST)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    ones, half = np.ones(d), np.arange(d) < (d + 1) // 2
    single = [np.concatenate([[value], np.ones(d - 1)]) for value in (0.0, 2.0)]
    if one or d == 1:
        return [(ones, other) for other in single]
    first = np.arange(d) == 0
    changed = [np.where(first, 2.0, 0.0), np.where(first, 0.0, 2.0), np.where(half, 2.0, 0.0), np.where(half, 0.0, 2.0)]
    pairs = [(ones, other) for other in (*single, *changed, np.full(d, 2.0), np.zeros(d))]
    return [*pairs, (half.astype(np.float64), (~half).astype(np.float64))]


def listed(pairs: Sequence[tuple[Any, Any]]) -> list[Pair]:
    """Return pairs of inputs of any kind, with their streams. Raises UserError for two equal inputs."""
    return [_listed(index, data, other) for index, (data, other) in enumerate(pairs)]


def _listed(index: int, data: Any, other: Any) -> Pair:
    """Return one pair. Inputs without a digest get the streams of their place in the list."""
    try:
        sides, known = [digestible(data), digestible(other)], True
    except TypeError:
        sides, known = [index, 0], False
    if known and digest(sides[0]) == digest(sides[1]):
        raise UserError(f"pair {index}: both inputs are equal; valid: two that differ")
    return Pair(data, other, index, digest(["pair", *sides], by_name=True), digest(["pair", *sides]), known)
