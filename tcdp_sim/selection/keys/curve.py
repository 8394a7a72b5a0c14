"""The probability that a private histogram releases a key, as a function of the key's number of records."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import scalar, whole

MOST_RECORDS = 2**53
MOST_PER_KEY = 10**6


class ReleaseCurve(ABC):
    """The probability pi(n) of releasing a key with n records. Keys are independent, and pi(0) = 0.

    A curve is a whole mechanism: it releases names of keys and nothing else. A person adds at most `per_key` records to
    a key.

    Examples
    --------
    >>> from tcdp_sim.selection.keys import OptimalApproxDP
    >>> OptimalApproxDP(1.0, 1e-6).records_needed(0.5)
    14
    """

    per_key: int

    @abstractmethod
    def released(self, records: ArrayLike) -> Floats:
        """Return pi(n).

        Parameters
        ----------
        records : array_like of int
            Numbers of records n, at least 0, of any shape.

        Returns
        -------
        ndarray
            Probabilities, of the same shape.
        """

    @abstractmethod
    def withheld(self, records: ArrayLike) -> Floats:
        """Return 1 - pi(n), accurate where it is small.

        Parameters
        ----------
        records : array_like of int
            Numbers of records n, at least 0, of any shape.

        Returns
        -------
        ndarray
            Probabilities, of the same shape.
        """

    def records_needed(self, probability: float) -> int:
        """Return the least n with pi(n) >= probability.

        Parameters
        ----------
        probability : float
            The probability of release, in (0, 1).

        Returns
        -------
        int
            The number of records.
        """
        probability = scalar("probability", probability, 0, 1)
        low, high = 0, 1
        while self.released(high) < probability:
            if high >= MOST_RECORDS:
                raise ValueError(f"no key of up to 2^53 records is released with probability {probability:g}")
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.released(middle) < probability else (low, middle)
        return high

    def spent_delta(self, epsilon: float) -> float:
        """Return the least delta of (epsilon, delta)-DP, for a person with one key.

        Neighbours add or remove a person. The largest delta over all n is taken, in both directions and for the
        key's release as well as its absence. It is exact up to rounding: a relative 1e-9 where delta is above 1e-12.

        Parameters
        ----------
        epsilon : float
            epsilon in nats, at least 0.

        Returns
        -------
        float
            delta.
        """
        factor = np.exp(scalar("epsilon", epsilon, 0, closed=True))
        n = np.arange(self.records_needed(1 - 2.0**-53) + 1)
        least = 0.0
        for step in range(1, min(self.per_key, len(n)) + 1):
            few, many = self.released(n), self.released(n + step)
            absent, absent_more = self.withheld(n), self.withheld(n + step)
            gaps = (
                many - factor * few,
                few - factor * many,
                absent - factor * absent_more,
                absent_more - factor * absent,
            )
            least = max(least, *(float(gap.max()) for gap in gaps))
        return least


def counts_of(records: ArrayLike) -> Floats:
    """Return numbers of records as floats. Raises ValueError for numbers below 0."""
    counts = np.asarray(records, dtype=np.float64)
    if np.any(counts < 0):
        raise ValueError(f"records = {counts.min():g} is not valid; valid: at least 0")
    return counts


def checked_per_key(value: object) -> int:
    """Return the largest number of records of a person at a key. Raises ValueError for no such number."""
    return whole("per_key", value, 1, MOST_PER_KEY)
