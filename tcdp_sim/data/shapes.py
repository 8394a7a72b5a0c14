"""Synthetic data sets: n records laid out over k bins by a rule, without randomness and without O(k) work.

Each shape takes n, a whole number of records up to 10^12, and k, a real number of bins from 1 to 1e300. Only floor(k)
bins can hold records. A shape returns the counts of the occupied bins as int64, in descending order. Invalid arguments
raise UserError.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import UserError
from tcdp_sim.data.checks import LARGEST_DOMAIN, number, whole

MOST_OCCUPIED = 10**7
MOST_RECORDS = 10**12  # up to here the rounding error of an expected count stays below 0.01 records
EXACT_TERMS = 1000


def uniform(n: Any, k: Any) -> Ints:
    """Return the records spread as evenly as possible; if k > n, there are n bins of one record each."""
    n, k = _checked(n, k)
    each, more = divmod(n, k)
    occupied = _affordable(k if each else more)
    counts = np.full(occupied, each, dtype=np.int64)
    counts[:more] += 1
    return counts


def zipf(n: Any, k: Any, exponent: Any) -> Ints:
    """Return records with expectation n j^-exponent / H in bin j, rounded to whole records; H normalises.

    The exponent lies in [0, 100]. Rounding is by largest remainder with ties to the lower j, so that the sum is n
    exactly.
    """
    n, k = _checked(n, k)
    exponent = number("data.exponent", exponent, 0, 100)
    first = n / harmonic(k, exponent)
    # Bins that expect a whole record or more come first. The records left over by flooring reach at most as many
    # bins beyond them, because the remainders only fall from there on.
    certain = _affordable(min(k, n, _bins_expecting_one(first, exponent)))
    left = n - int(np.floor(_expected(first, exponent, certain)).sum())
    expected = _expected(first, exponent, _affordable(min(k, n, certain + left)))
    counts = np.floor(expected)
    counts[np.argsort(counts - expected, kind="stable")[:left]] += 1
    return counts[counts > 0].astype(np.int64)


def one_heavy(n: Any, k: Any, fraction: Any) -> Ints:
    """Return round(fraction * n) records in one bin, and the rest spread as evenly as possible over the others."""
    n, k = _checked(n, k)
    heavy = round(number("data.fraction", fraction, 0, 1) * n)
    if heavy < n and k < 2:
        raise UserError(f"k = {k}: {n - heavy} records have no bin; valid: k >= 2, or data.fraction = 1")
    rest = uniform(n - heavy, k - 1) if heavy < n else _none()
    return np.sort(np.append(rest, np.full(min(heavy, 1), heavy, dtype=np.int64)))[::-1]


def one_bin(n: Any, k: Any) -> Ints:
    """Return all records in one bin, the data set of packing lower bounds."""
    n, _ = _checked(n, k)
    return np.full(min(n, 1), n, dtype=np.int64)


SHAPES: dict[str, Callable[..., Ints]] = {shape.__name__: shape for shape in (uniform, zipf, one_heavy, one_bin)}


def harmonic(k: int, exponent: float) -> float:
    """Return the sum of j^-exponent over j = 1..k, to about 1e-14 (1e-12 if it exceeds 1e100), relative.

    Up to 1000 terms are added; the rest is Euler-Maclaurin summation.
    """
    s = float(exponent)
    head = min(k, EXACT_TERMS)
    total = float(np.sum(np.arange(1.0, head + 1) ** -s))
    if k == head:
        return total
    a, b = float(head), float(k)
    log_ratio = math.log(b / a)
    x = (1 - s) * log_ratio
    integral = a ** (1 - s) * log_ratio * (math.expm1(x) / x if x else 1.0)
    ends = (b**-s - a**-s) / 2  # the sum already has the term at a
    slopes = s / 12 * (a ** (-s - 1) - b ** (-s - 1))
    return total + integral + ends + slopes


def _expected(first: float, exponent: float, bins: int) -> Floats:
    """Return the expected counts of the first bins."""
    return first * np.arange(1.0, bins + 1) ** -exponent


def _bins_expecting_one(first: float, exponent: float) -> int:
    """Return how many bins would expect a whole record if k were infinite, and one more because of rounding."""
    if first < 1:
        return 1
    if exponent * 690 <= math.log(first):
        return int(LARGEST_DOMAIN)
    return int(math.exp(math.log(first) / exponent)) + 1


def _checked(n: Any, k: Any) -> tuple[int, int]:
    """Return n and floor(k). Raises UserError."""
    return whole("data.n", n, 0, MOST_RECORDS), math.floor(number("k", k, 1, LARGEST_DOMAIN))


def _affordable(occupied: int) -> int:
    """Return the number of occupied bins. Raises UserError if it is too large."""
    if occupied > MOST_OCCUPIED:
        raise UserError(
            f"data.n and k would occupy about {occupied:.3g} bins; valid: at most {MOST_OCCUPIED:,}; lower data.n or k"
        )
    return occupied


def _none() -> Ints:
    """Return the counts of no records."""
    return np.empty(0, dtype=np.int64)
