"""Neighbouring inputs: vectors of query answers, each of sensitivity 1.

The patterns are those on which StatDP (Ding et al., CCS 2018) and DP-Sniper (Bichsel et al., S&P 2021) try a mechanism.
"""

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]


def one_changes(d: int) -> list[Pair]:
    """All ones against the same with 0, or with 2, in the first place: pairs of vectors of length d."""
    return [_pair([1] * d, [first] + [1] * (d - 1)) for first in (0, 2)]


def all_may_change(d: int) -> list[Pair]:
    """What `one_changes` gives, and pairs in which every answer moves by one: vectors of length d >= 2."""
    half, ones = d // 2, [1] * d
    others = [
        [2] + [0] * (d - 1),
        [0] + [2] * (d - 1),
        [2] * half + [0] * (d - half),
        [0] * half + [2] * (d - half),
        [2] * d,
        [0] * d,
    ]
    crossed = _pair([1] * half + [0] * (d - half), [0] * half + [1] * (d - half))
    return [*one_changes(d), *(_pair(ones, other) for other in others), crossed]


def _pair(data: list[int], other: list[int]) -> Pair:
    return np.array(data, dtype=np.float64), np.array(other, dtype=np.float64)
