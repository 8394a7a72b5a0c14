"""Smooth sensitivity of order statistics and trimmed means (Nissim, Raskhodnikova, Smith 2007), in O(n log n).

The local sensitivity at distance k from the data is a gap x_u - x_i between two order statistics, divided by the number
of averaged records (`width`), with u - i = width + k. So S = max e^(-smoothing k) (x_u - x_i) / width over all i up to
one rank and all u from another rank on. A larger x_i has a best u further out, which allows divide and conquer.
"""

from collections.abc import Sequence
from math import ceil
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import scalar

Statistic = str | tuple[str, float]
LEAST = 1e-300  # S is never 0: the maximum of a smooth sensitivity and a constant is one as well
_MEDIAN = ("quantile", 0.5)
_STATISTICS = 'valid: "median", ("quantile", q) with 0 < q < 1, ("trimmed_mean", cut) with 0 <= cut < n / 2'


class _Ranks(NamedTuple):
    """The ranks, counted from 1, whose records the statistic averages."""

    low: int
    high: int

    @property
    def width(self) -> int:
        """The number of averaged records."""
        return self.high - self.low + 1


def robust_statistic(records: ArrayLike, statistic: Statistic = "median") -> float:
    """Return the median (rank ceil(n / 2)), a quantile (rank ceil(q n)) or a trimmed mean of the records.

    `statistic` has the form that `smooth_sensitivity` takes. Raises ValueError without records and for NaN among them.
    """
    x = _sorted(records)
    ranks = _ranks(statistic, len(x))
    return float(x[ranks.low - 1 : ranks.high].mean())


def smooth_sensitivity(
    records: ArrayLike, bounds: tuple[float, float], smoothing: float, statistic: Statistic = "median"
) -> float:
    """Return the smooth sensitivity of a statistic, in the records' unit, at least 1e-300.

    It is the maximum over data sets y of e^(-smoothing d(x, y)) LS(y), where LS is the local sensitivity and d the
    number of records that differ. A million records take 0.1 s, or some seconds if smoothing < 10 / n.

    `records`: real numbers within `bounds`, at least one. `bounds`: the public range (low, high) of a record.
    `smoothing`: the decay per record, > 0. `statistic`: "median" (the record of rank ceil(n / 2)), ("quantile", q) (of
    rank ceil(q n)) or ("trimmed_mean", cut) (the mean without the `cut` smallest and the `cut` largest records).
    """
    x = _sorted(records)
    smoothing = scalar("smoothing", smoothing, 0)
    low, high = _ends(bounds)
    if not (x[0] >= low and x[-1] <= high):
        raise ValueError(
            f"records from {x[0]:g} to {x[-1]:g} are not valid; valid: from {low:g} to {high:g}, the bounds"
        )
    ranks = _ranks(statistic, len(x))
    padded = np.concatenate([[low], x, [high]])  # records may be moved to the values of ranks 0 and n + 1
    log_best = _log_best(padded, smoothing, ranks)
    return float(max(np.exp(log_best) / ranks.width, LEAST))


def _sorted(records: ArrayLike) -> Floats:
    """Return the records in order. Raises ValueError if there are none, or NaN among them."""
    x = np.sort(np.asarray(records, dtype=np.float64).ravel())
    if not len(x) or np.isnan(x[-1]):
        raise ValueError(f"records = {'NaN among them' if len(x) else 'none'} is not valid; valid: one number or more")
    return x


def _ends(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds. Raises ValueError unless low < high at a finite distance."""
    if np.shape(bounds) == (2,):
        low, high = (scalar("bounds", end, -np.inf) for end in bounds)
        if low < high < low + np.finfo(float).max:
            return low, high
    raise ValueError(f"bounds = {bounds!r} is not valid; valid: (low, high), low < high, their distance a float")


def _ranks(statistic: Statistic, n: int) -> _Ranks:
    """Return the ranks of a statistic. Raises ValueError if it is unknown."""
    name, value = _MEDIAN if statistic == "median" else _pair(statistic)
    known = isinstance(value, Real) and np.isfinite(value)
    if name == "quantile" and known and 0 < value < 1:
        rank = min(max(ceil(value * n), 1), n)
        return _Ranks(rank, rank)
    if name == "trimmed_mean" and known and float(value) == int(value) and 0 <= 2 * value < n:
        return _Ranks(int(value) + 1, n - int(value))
    raise ValueError(f"statistic = {statistic!r} of {n} records is not valid; {_STATISTICS}")


def _pair(statistic: Statistic) -> tuple[str, float]:
    """Return a statistic as (name, value)."""
    if isinstance(statistic, tuple) and len(statistic) == 2:
        return statistic
    return "", np.nan


def _log_best(x: Floats, smoothing: float, ranks: _Ranks) -> float:
    """Return log max of e^(-smoothing k) (x_u - x_i) with k = u - i - width >= 0, i <= low, u >= high."""

    def log_values(i: NDArray[np.int64] | int, u: NDArray[np.int64] | int) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(np.log(x[u] - x[i]) - smoothing * (np.subtract(u, i) - ranks.width))

    left, right = np.arange(ranks.low), np.arange(ranks.high + 1, len(x))  # the two ends together would make k = -1
    best = max(float(log_values(ranks.low, right).max()), float(log_values(left, ranks.high).max()))
    # k beyond which even the whole range gives less than the best so far
    furthest = 1 + (np.log(x[-1] - x[0]) - best) / smoothing
    left, right = left[left >= ranks.low - 1 - furthest], right[right <= ranks.high + 1 + furthest]
    left, right = _last_of_each(x, left), _first_of_each(x, right)
    todo: list[Sequence[int]] = [(0, len(left), 0, len(right))]
    while todo:
        first, last, start, end = todo.pop()
        if first == last:
            continue
        middle = (first + last) // 2
        row = log_values(int(left[middle]), right[start:end])
        at = int(row.argmax())
        best = max(best, float(row[at]))
        at = start + at if row[at] > -np.inf else end - 1  # all gaps are 0, and so are those of larger x_i
        todo += [(first, middle, start, at + 1), (middle + 1, last, at, end)]
    return best


def _last_of_each(x: Floats, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the last of each run of ranks with equal records."""
    return ranks[np.append(x[ranks][1:] != x[ranks][:-1], True)]


def _first_of_each(x: Floats, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first of each run of ranks with equal records."""
    return ranks[np.append(True, x[ranks][1:] != x[ranks][:-1])]
