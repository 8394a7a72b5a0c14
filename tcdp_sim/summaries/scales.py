"""Scales of the sums of a chunk, by which sums of huge numbers do not overflow, and squares of tiny ones do not vanish.

The sum and the sum of squares of a chunk are taken over its trials times 2^-e. The exponent e is 0 unless the largest
trial lies outside of 2^-400 to 2^400. It follows from the least and the largest trial, so it is not stored.
"""

import numpy as np

SAFE = 400  # 10^9 squares of numbers up to 2^400 have a finite sum, and deviations of the last bit from 2^-400 a square


def exponents(least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Return the exponents of chunks with these least and largest trials, 0 for a chunk without any."""
    largest = np.maximum(np.abs(least), np.abs(most))
    found = np.frexp(np.where(np.isfinite(largest), largest, 0.0))[1]
    return np.where((np.abs(found) > SAFE) & (largest > 0), found, 0)


def with_common_exponent(moments: np.ndarray) -> tuple[np.ndarray, int]:
    """Return rows of moments whose sums have one exponent, and this exponent."""
    each = exponents(moments[:, 3], moments[:, 4])
    if not each.any():
        return moments, 0
    used = moments[:, 0] > 0
    common = int(each[used].max())
    shift = np.where(used, np.maximum(each - common, -2 * 1074), 0)  # a smaller number vanishes beside the largest
    found = moments.copy()
    found[:, 1], found[:, 2] = np.ldexp(moments[:, 1], shift), np.ldexp(moments[:, 2], 2 * shift)
    return found, common


def unscaled(value: float, exponent: int) -> float:
    """Return a number times 2^exponent, infinite if it is beyond all doubles."""
    if not exponent:
        return value
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(value, exponent))
