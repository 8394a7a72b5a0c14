"""The fixed bins of every distribution: log-linear, and the same for every observable, cell and machine.

There are 2^9 equal bins per octave of |x|, read off the bits of the number without a logarithm, so a bin is at most
0.2% of x wide. The bins cover all doubles. Zero has a bin of its own, and only numbers below 2^-1022 have relatively
wider bins, of width 2^-1031. Infinite numbers and NaN have none.
"""

import numpy as np

BITS = 9
RESOLUTION = 2.0**-BITS
_SHIFT = 52 - BITS
_FIRST = (1023 - 64) << BITS  # the place of the bin of 2^-64 among those of all positive doubles
# Keys 1 to _USUAL are the bins from 2^-64 to 2^64. The next key is unused, because old records have all larger numbers
# in it. Then come the bins above 2^64 and those below 2^-64. This order keeps the old keys of usual numbers.
_USUAL = 128 << BITS
LARGE_KEY = _USUAL + 2
SMALL_KEY = LARGE_KEY + (2047 << BITS) - (_FIRST + _USUAL)
LARGEST_KEY = SMALL_KEY + _FIRST - 1
_DENSE = 4 * _USUAL  # keys in a range up to this size are counted in one array
_LARGEST = np.finfo(np.float64).max


def histogram(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of the occupied bins, ascending (int32), and how many finite numbers fell in each (int64)."""
    if not len(x):
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    key = keys_of(x)
    low, high = key.min(), key.max()
    if high - low > _DENSE:
        used, counts = np.unique(key, return_counts=True)
        return used.astype(np.int32), counts
    counts = np.bincount(key - low)
    used = np.flatnonzero(counts)
    return (used + low).astype(np.int32), counts[used]


def keys_of(x: np.ndarray) -> np.ndarray:
    """Return the key of the bin of each finite number (int64), for an array of any shape that is not empty."""
    bits = x.view(np.int64)
    key = ((bits & 0x7FFFFFFFFFFFFFFF) >> _SHIFT) - (_FIRST - 1)
    least, most = key.min(), key.max()
    if most > _USUAL:
        key += key > _USUAL
    if least < 1:
        key = np.where(key > 0, key, np.where(x == 0, 0, key + (_FIRST - 1 + SMALL_KEY)))
    return np.where(bits < 0, -key, key)


def _places(size):
    """Return the places of bins among those of all positive doubles, from 0, given keys without their sign."""
    large = (size >= LARGE_KEY) & (size < SMALL_KEY)
    return np.where(size >= SMALL_KEY, size - SMALL_KEY, size + (_FIRST - 1) - large)


def bin_edges(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper edges of the bins with these keys; the bin of key 0 is [0, 0]."""
    size = np.abs(np.asarray(keys, dtype=np.int64))
    place = _places(size)
    near = np.where(size == 0, 0.0, (place << _SHIFT).view(np.float64))
    far = np.where(size == 0, 0.0, np.minimum(((place + 1) << _SHIFT).view(np.float64), _LARGEST))
    return np.where(keys < 0, -far, near), np.where(keys < 0, -near, far)


def in_order(keys: np.ndarray) -> np.ndarray:
    """Return integers in the order of the bins with these keys, so that np.argsort of them sorts bins by value."""
    size = np.abs(np.asarray(keys, dtype=np.int64))
    return np.where(size == 0, 0, np.sign(keys) * (_places(size) + 1))
