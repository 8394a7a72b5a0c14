"""Findings in words, for the titles of figures: one sentence that is true of what is drawn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

Lines = Mapping[str, tuple[ArrayLike, ArrayLike]]


def listed(words: Iterable[str]) -> str:
    """Return words as a list in a sentence, such as "a, b and c", "" for none. Equal words appear once."""
    *first, last = dict.fromkeys(words) or ("",)
    return f"{', '.join(first)} and {last}" if first else last


def span(values: ArrayLike, text: Callable[[float], str]) -> str:
    """Return the least and the largest of some numbers in words, such as "3% to 7%". NaN does not count."""
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return " to ".join(dict.fromkeys((text(float(known.min())), text(float(known.max()))))) if len(known) else "unknown"


def lowest_first(lines: Lines, at: float) -> list[tuple[str, float]]:
    """Return the names and the heights of drawn lines at a place, the lowest line first.

    `lines` has positive coordinates x and y by name. Two points are joined by a straight line on log axes. Lines that
    do not reach the place are left out.
    """
    found = {name: _height(np.asarray(x, float), np.asarray(y, float), at) for name, (x, y) in lines.items()}
    return sorted(((name, y) for name, y in found.items() if not np.isnan(y)), key=lambda line: line[1])


def close_pairs(lines: Lines, within: float) -> list[tuple[str, str, float]]:
    """Return the pairs of drawn lines that hide each other, and by how much they differ: a share of the height.

    Two lines are a pair if they have several common places x and differ by at most `within` at each of them.
    """
    points = {name: dict(zip(np.asarray(x, float), np.asarray(y, float))) for name, (x, y) in lines.items()}
    found = []
    for one, other in combinations(points, 2):
        common = [x for x in points[one] if x in points[other]]
        ratios = [abs(points[other][x] / points[one][x] - 1) for x in common if points[one][x] > 0]
        share = float(np.max(ratios)) if len(common) > 1 and len(ratios) == len(common) else np.nan
        if share <= within:  # not where a height is unknown
            found.append((one, other, share))
    return found


def _height(x: np.ndarray, y: np.ndarray, at: float) -> float:
    there = (x > 0) & (y > 0) & np.isfinite(x) & np.isfinite(y)
    x, y = np.log(x[there]), np.log(y[there])
    order = np.argsort(x, kind="stable")
    return float(np.exp(np.interp(np.log(at), x[order], y[order], left=np.nan, right=np.nan))) if len(x) else np.nan


def wins(winners: Sequence[str]) -> list[tuple[str, int]]:
    """Return who wins how often, the most frequent winner first."""
    counts = {name: list(winners).count(name) for name in dict.fromkeys(winners)}
    return sorted(counts.items(), key=lambda entry: -entry[1])
