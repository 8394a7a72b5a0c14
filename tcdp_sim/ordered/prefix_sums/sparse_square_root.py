"""The square-root factorisation on an enormous domain, evaluated at few prefix sums.

The errors of two prefix sums, i + 1 and i + d + 1 bins long, have the covariance c_0 c_d + ... + c_i c_(i+d) for noise
of variance 1, with the coefficients c of the square root. The first terms are added up. The others are an integral of
1 / (pi sqrt(y (y + d))) with y = x + 1/4, by the midpoint rule with its first correction. So the cost does not depend
on the number of bins.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log, pi, sqrt
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.ordered.prefix_sums.square_root import SquareRoot, square_root_coefficients

MOST_PLACES = 4096
LEAST_BINS, MOST_LOG2_BINS = 2, 500
_HEAD = 32  # terms that are added up
_ERROR = 1e-5  # absolute, of a covariance, at most
_RATIO = 1.0005  # of neighbouring distances in the search for the farthest columns
_ROWS = 64
_SMALL = 2**12  # bins up to which all distances are tried


@dataclass(frozen=True)
class SparseSquareRoot:
    """The square-root factorisation for neighbours that substitute a record, at few places of a domain of any size.

    Source: see `SquareRoot`; the evaluation at few places is ours.

    Parameters
    ----------
    k : int
        The number of bins, from 2 to 2^500.

    Examples
    --------
    >>> from tcdp_sim.ordered.prefix_sums import SquareRoot
    >>> plain = SquareRoot(1000, "substitute").sensitivity
    >>> bool(plain <= SparseSquareRoot(1000).sensitivity < 1.001 * plain)
    True
    """

    k: int

    def __post_init__(self) -> None:
        if not LEAST_BINS <= self.k <= 2**MOST_LOG2_BINS:
            raise ValueError(f"k = {float(min(self.k, 10**300)):.6g} is not valid; valid: 2 to 2^{MOST_LOG2_BINS}")

    @cached_property
    def sensitivity(self) -> float:
        """The largest distance of two columns of R, rounded up by a relative 1e-4 at most.

        The columns 0 and d are the farthest ones for some d (see `SquareRoot`). Their squared distance is the sum of
        c_i^2 over i < d, plus the sum of (c_l - c_(l + d))^2 over l < k - d. The first sum and the terms of the second
        one rise with d, and their number falls. So the ends of an interval of distances bound all of them.
        """
        if self.k <= _SMALL:
            return SquareRoot(self.k, "substitute").sensitivity
        d = np.geomspace(1, self.k / 2, max(int(log(self.k / 2) / log(_RATIO)) + 2, 2))
        near, far = d, self.k - d[::-1]  # the distances, and those of columns near the end
        high = np.concatenate([near, far[1:]])[1:]
        left = np.concatenate([self.k - near, d[::-1][1:]])[:-1]  # k minus the lower ends, without cancellation
        first, second = _covariance(high, 0 * high), _covariance(left, 0 * left)
        shifted = _covariance(left + high, 0 * high) - first
        squared = first + second + shifted - 2 * _covariance(left - 1, high)
        return sqrt(float(squared.max()) + 8 * _ERROR)

    def factor(self, places: Any) -> Floats:
        """Return a matrix A such that A z are the errors at the places, for independent z of variance 1.

        Parameters
        ----------
        places : sequence of int
            At most 4,096 different elements of 0, ..., k - 1, ascending. Place j stands for the sum of the first j + 1
            bins.

        Returns
        -------
        ndarray of float
            The lower-triangular matrix, shape (n, n). The prefix sum of all bins is the public number of records, so
            its row is 0.

        Raises
        ------
        ValueError
            If there are too many places.
        """
        return _factor(self.k, tuple(map(int, places)))


@lru_cache(maxsize=2)
def _factor(k: int, places: tuple[int, ...]) -> Floats:
    n = len(places)
    if n > MOST_PLACES:
        raise ValueError(f"{n:,} places are not valid; valid: at most {MOST_PLACES:,}")
    covariance = np.zeros((n, n))
    for i in range(n):
        distances = np.array([float(place - places[i]) for place in places[i:]])
        covariance[i:, i] = _covariance(np.full(n - i, float(places[i])), distances)
    factor: Floats = np.asarray(np.linalg.cholesky(np.tril(covariance) + np.tril(covariance, -1).T), np.float64)
    if places[-1] == k - 1:
        factor[-1] = 0.0
    return factor


@lru_cache(maxsize=1)
def _head() -> Floats:
    return square_root_coefficients(2 * _HEAD)


def _coefficient(x: Floats) -> Floats:
    """Return c at whole numbers x: from the table, or by its asymptotic series."""
    y = x + 0.25
    far = (1 - 1 / (64 * y**2)) / np.sqrt(pi * y)
    return np.where(x < 2 * _HEAD, _head()[np.minimum(x, 2 * _HEAD - 1).astype(int)], far)


def _covariance(last: Floats, distance: Floats) -> Floats:
    """Return the sum of c_l c_(l + distance) over 0 <= l <= last; both arrays hold whole numbers or nearly so."""
    parts = [slice(start, start + _ROWS * _HEAD) for start in range(0, len(last), _ROWS * _HEAD)]
    return np.concatenate([_some(last[part], distance[part]) for part in parts])


def _some(last: Floats, distance: Floats) -> Floats:
    total = np.zeros(len(last))
    for i in range(_HEAD):
        total += np.where(i <= last, _head()[i] * _coefficient(i + distance), 0.0)
    return total + np.where(last >= _HEAD, _tail(np.maximum(last, _HEAD), distance), 0.0)


def _tail(last: Floats, distance: Floats) -> Floats:
    """Return the sum from _HEAD on, as an integral from _HEAD - 1/2 to last + 1/2."""
    start, end = _HEAD - 0.25, last + 0.75
    integral = 2 * (np.log(np.sqrt(end) + np.sqrt(end + distance)) - np.log(sqrt(start) + np.sqrt(start + distance)))
    slopes = [-0.5 * (2 * y + distance) * (y * (y + distance)) ** -1.5 for y in (start, end)]
    return (integral - (slopes[1] - slopes[0]) / 24) / pi
