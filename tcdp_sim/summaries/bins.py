"""The fixed bins of every distribution: log-linear, and the same for every observable, cell and machine.

There are 2^9 equal bins per octave of |x|, read off the bits of the number without a logarithm, so a bin is at most
0.2% of x wide. The bins cover all doubles. Zero has a bin of its own, and only numbers below 2^-1022 have relatively
wider bins, of width 2^-1031. Infinite numbers and NaN have none.
"""

import numpy as np

BITS = 9
RESOLUTION = 2.0**-BITS
_SHIFT = 52 - BITS
WITHIN = (1 << _SHIFT) - 1  # the bits of a number that tell its place within its bin
_FIRST = (1023 - 64) << BITS  # the place of the bin of 2^-64 among those of all positive doubles
# Keys 1 to _USUAL are the bins from 2^-64 to 2^64. The next key is unused. The bins above 2^64 follow, then those below
# 2^-64. Stored records hold these keys, so they never change.
_USUAL = 128 << BITS
LARGE_KEY = _USUAL + 2
SMALL_KEY = LARGE_KEY + (2047 << BITS) - (_FIRST + _USUAL)
LARGEST_KEY = SMALL_KEY + _FIRST - 1
_DENSE = 4 * _USUAL  # keys in a range up to this size are counted in one array
_LARGEST = np.finfo(np.float64).max
MIXED = -1  # the atom of a bin whose numbers are not known to be equal
FEW, LOOKED_AT = 64, 1024  # numbers that are kept although no two are equal; numbers among which equal ones are sought


def histogram(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the keys of the occupied bins, ascending (int32), and for each its count and its atom (int64).

    The atom of a bin is the place within it of all its numbers, or MIXED (see `values_at`). Atoms are sought only if
    the numbers repeat (see `repeat`), because they cost a third of the time.
    """
    if not len(x):
        return np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)
    key = keys_of(x)
    low, high = key.min(), key.max()
    if high - low > _DENSE:
        distinct, place = np.unique(key, return_inverse=True)
        keys, counts = distinct.astype(np.int32), np.bincount(place)
    else:
        place = key - low
        counts = np.bincount(place)
        keys = (np.flatnonzero(counts) + low).astype(np.int32)
    used = counts > 0
    atoms = _atoms(x, place, len(counts)) if repeat(np.sort(x[:LOOKED_AT])[None])[0] else np.full(len(counts), MIXED)
    return keys, counts[used], atoms[used]


def repeat(x: np.ndarray) -> np.ndarray:
    """Return True for each row of sorted finite numbers, at most LOOKED_AT, that seems to come from a law with atoms.

    Two numbers are equal then, or all are edges of bins, or there are few.
    """
    if x.shape[1] <= FEW:
        return np.ones(len(x), dtype=bool)
    return (x[:, 1:] == x[:, :-1]).any(axis=1) | ~places_within(x).any(axis=1)


def _atoms(x: np.ndarray, place: np.ndarray, size: int) -> np.ndarray:
    """Return the atoms of `size` bins, given the bin of each number."""
    within = places_within(x)
    atoms = np.empty(size, np.int64)
    atoms[place] = within
    atoms[place[atoms[place] != within]] = MIXED
    return atoms


def places_within(x: np.ndarray) -> np.ndarray:
    """Return the place of each finite number within its bin: its distance from the near edge, in last bits."""
    return x.view(np.int64) & WITHIN


def values_at(keys: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """Return the number at a place within the bin of each key, NaN for MIXED."""
    size = np.abs(np.asarray(keys, dtype=np.int64))
    value = np.where(size == 0, 0.0, (_places(size) << _SHIFT | np.maximum(atoms, 0)).view(np.float64))
    return np.where(atoms < 0, np.nan, np.where(keys < 0, -value, value))


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
    """Return the places of bins among the bins of all positive doubles, from 0, given keys without their sign."""
    large = (size >= LARGE_KEY) & (size < SMALL_KEY)
    return np.where(size >= SMALL_KEY, size - SMALL_KEY, size + (_FIRST - 1) - large)


def bin_edges(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper edges of the bins with these keys; the bin of key 0 is [0, 0]."""
    size = np.abs(np.asarray(keys, dtype=np.int64))
    place = _places(size)
    near = np.where(size == 0, 0.0, (place << _SHIFT).view(np.float64))
    far = np.where(size == 0, 0.0, np.minimum(((place + 1) << _SHIFT).view(np.float64), _LARGEST))
    return np.where(keys < 0, -far, near), np.where(keys < 0, -near, far)


def keys_between(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the keys of the bins with these edges, as `bin_edges` gives them (int64)."""
    if not len(lower):
        return np.zeros(0, np.int64)
    return keys_of(np.nextafter(np.where(upper > 0, upper, lower), 0.0))  # the bin has the far edge's neighbour


def in_order(keys: np.ndarray) -> np.ndarray:
    """Return integers in the order of the bins with these keys, so that np.argsort of them sorts bins by value."""
    size = np.abs(np.asarray(keys, dtype=np.int64))
    return np.where(size == 0, 0, np.sign(keys) * (_places(size) + 1))
