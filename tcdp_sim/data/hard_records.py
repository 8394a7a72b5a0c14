"""Data sets that are hard for interior points, with few values to hit and many to miss; no randomness is used."""

from collections.abc import Callable
from hashlib import shake_128

from tcdp_sim.core.errors import UserError, choice

# The share of the records at the single value of "solo", by draw. The hardest share is a little above the one at a
# method's lower threshold: 40 to 50% for one level with tight sinh-normal noise, more for wider noise, less for the
# paper's 1/5.
SOLO_SHARES = (0.40, 0.42, 0.44, 0.46, 0.48, 0.50, 0.22, 0.26, 0.30, 0.34, 0.54, 0.58, 0.62, 0.66, 0.70, 0.74)

Spread = Callable[[int, int], list[int]]  # (count, below) -> pseudorandom integers in [0, below)
Shape = Callable[[int, int, int, Spread], list[int]]  # n, k, draw, spread -> the records


def hard_data(shape: str, n: int, k: int, draw: int = 0) -> list[int]:
    """Return n records in {0, ..., k - 1} of one of the SHAPES; `draw` numbers its pseudorandom variants.

    Easy data, such as records spread over the domain, flatter every method. Raises UserError for an unknown shape and
    for n < 1.
    """
    choice("shape", shape, SHAPES)
    if n < 1:
        raise UserError(f"n = {n} is not valid; valid: at least 1 record")

    def spread(count: int, below: int) -> list[int]:
        size = (below.bit_length() + 71) // 8  # 64 bits more than needed: the bias is below 2^-64
        stream = shake_128(f"{shape} {draw}".encode()).digest(size * count)
        numbers = (int.from_bytes(stream[i * size : (i + 1) * size], "little") for i in range(count))
        if below & (below - 1) == 0:
            return [x & (below - 1) for x in numbers]  # dividing huge integers is a hundred times slower
        return [x % below for x in numbers]

    return SHAPES[shape](n, k, draw, spread)


def _point(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Return n equal records."""
    return spread(1, k) * n


def _pair(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Return records in two halves on both sides of the middle, at neighbouring values that meet only at the root."""
    middle = max(k // 2, 1)
    return [middle - 1] * (n - n // 2) + [min(middle, k - 1)] * (n // 2)


def _evenly(groups: int) -> Shape:
    """Return the shape with the records spread evenly over `groups` values."""

    def shape(n: int, k: int, draw: int, spread: Spread) -> list[int]:
        places = spread(groups, k)
        return [places[i % groups] for i in range(n)]

    return shape


def _skew(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Return records with half at one value, a quarter at another, and so on."""
    places, left, records = spread(64, k), n, []
    for place in places:
        records += [place] * ((left + 1) // 2)
        left //= 2
    return records[:n]


def _cluster(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Return records in a pseudorandom node of half the depth."""
    return _around(n, k, spread)


def _half(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Return records with half at one value and the others anywhere."""
    place, *others = spread(n - n // 2 + 1, k)
    return [place] * (n // 2) + others


def _solo(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Return records with a share from SOLO_SHARES at one value, the others near it in a node of half the depth."""
    alone = max(1, round(n * SOLO_SHARES[draw % len(SOLO_SHARES)]))
    return _around(n - alone + 1, k, spread, alone)


def _around(count: int, k: int, spread: Spread, repeats: int = 1) -> list[int]:
    """Return records in a node of half the depth, the first of them repeated."""
    width = 1 << max((k - 1).bit_length() // 2, 1)
    base = spread(1, max(k // width, 1))[0] * width
    places = [min(base + x, k - 1) for x in spread(count, width)]
    return places[:1] * repeats + places[1:]


SHAPES: dict[str, Shape] = {
    "point": _point,
    "pair": _pair,
    "quad": _evenly(4),
    "oct": _evenly(8),
    "skew": _skew,
    "cluster": _cluster,
    "half": _half,
    "solo": _solo,
}
