"""Thinning of large sweeps for figures: a few levels, and a few markers on a line, evenly chosen."""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Ints

MOST_MARKERS = 40  # markers on a line; more would hide each other


def evenly(count: int, most: int) -> Ints:
    """Return up to `most` places among 0 .. count - 1, evenly and with both ends; a single place is the middle."""
    if most == 1:
        return np.array([count // 2])
    return np.unique(np.round(np.linspace(0, count - 1, min(most, count))).astype(np.int64))


def some_levels(values: ArrayLike, most: int) -> Floats:
    """Return up to `most` of the distinct values, evenly chosen from them in order."""
    levels = np.unique(values)
    return np.asarray(levels[evenly(len(levels), most)])


def marked(x: Floats, there: np.ndarray) -> Ints:
    """Return the places of MOST_MARKERS points, evenly along x, among the points in the mask `there`.

    Up to twice as many points are all kept, because leaving out one of several would look like a gap.
    """
    places = np.flatnonzero(there)
    if len(places) <= 2 * MOST_MARKERS:
        return places
    return places[np.argsort(x[places], kind="stable")[evenly(len(places), MOST_MARKERS)]]
