"""Data sets on which interior points are hard to find: few places to hit, many to miss. Built without chance."""

from collections.abc import Callable
from hashlib import shake_128

from tcdp_sim.core.errors import UserError, choice

# The share of the lonely place of "solo", by draw. The hardest lies a little above the share at which a method's lower
# threshold lies: 40 to 50% for one level with tight sinh-normal noise, more for wider noise, less for the paper's 1/5.
SOLO_SHARES = (0.40, 0.42, 0.44, 0.46, 0.48, 0.50, 0.22, 0.26, 0.30, 0.34, 0.54, 0.58, 0.62, 0.66, 0.70, 0.74)

Spread = Callable[[int, int], list[int]]  # (how many, below) -> pseudorandom integers in [0, below)
Shape = Callable[[int, int, int, Spread], list[int]]  # n, k, draw, spread -> the records


def hard_data(shape: str, n: int, k: int, draw: int = 0) -> list[int]:
    """n records in {0, ..., k - 1} of one of the SHAPES; `draw` numbers pseudorandom variants of it.

    UserError for an unknown shape and for n < 1. Easy data (spread over the domain, say) flatter every method.
    """
    choice("shape", shape, SHAPES)
    if n < 1:
        raise UserError(f"n = {n} is not valid; valid: at least 1 record")

    def spread(count: int, below: int) -> list[int]:
        size = (below.bit_length() + 71) // 8  # 64 bits more than needed: the bias is below 2^-64
        stream = shake_128(f"{shape} {draw}".encode()).digest(size * count)
        numbers = (int.from_bytes(stream[i * size : (i + 1) * size], "little") for i in range(count))
        if below & (below - 1) == 0:
            return [x & (below - 1) for x in numbers]  # dividing huge integers takes a hundred times as long
        return [x % below for x in numbers]

    return SHAPES[shape](n, k, draw, spread)


def _point(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    return spread(1, k) * n


def _pair(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Halves on both sides of the middle: neighbours that meet at the root only."""
    middle = max(k // 2, 1)
    return [middle - 1] * (n - n // 2) + [min(middle, k - 1)] * (n // 2)


def _evenly(groups: int) -> Shape:
    def shape(n: int, k: int, draw: int, spread: Spread) -> list[int]:
        places = spread(groups, k)
        return [places[i % groups] for i in range(n)]

    return shape


def _skew(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Half of the records at one place, a quarter at another, and so on."""
    places, left, records = spread(64, k), n, []
    for place in places:
        records += [place] * ((left + 1) // 2)
        left //= 2
    return records[:n]


def _cluster(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """All in a pseudorandom node of half the depth."""
    return _around(n, k, spread)


def _half(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """Half at one place, the others anywhere."""
    place, *others = spread(n - n // 2 + 1, k)
    return [place] * (n // 2) + others


def _solo(n: int, k: int, draw: int, spread: Spread) -> list[int]:
    """A share of SOLO_SHARES (by draw) at one place, the others near it, in the node of half the depth."""
    alone = max(1, round(n * SOLO_SHARES[draw % len(SOLO_SHARES)]))
    return _around(n - alone + 1, k, spread, alone)


def _around(count: int, k: int, spread: Spread, repeats: int = 1) -> list[int]:
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
