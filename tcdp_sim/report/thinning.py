"""What figures show of a large sweep: a few levels, a few markers of a line, evenly chosen."""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Ints

MOST_MARKERS = 40  # of a line: more of them hide each other


def evenly(count: int, most: int) -> Ints:
    """Up to `most` places among 0 .. count - 1, evenly, both ends with them; of one place the middle."""
    if most == 1:
        return np.array([count // 2])
    return np.unique(np.round(np.linspace(0, count - 1, min(most, count))).astype(np.int64))


def some_levels(values: ArrayLike, most: int) -> Floats:
    """Up to `most` of the distinct values, evenly over them in order."""
    levels = np.unique(values)
    return np.asarray(levels[evenly(len(levels), most)])


def marked(x: Floats, there: np.ndarray) -> Ints:
    """The places of MOST_MARKERS points, evenly along x; `there`: which points there are, as a mask.

    Up to twice as many are all shown: where one of several is left out, its place looks like a gap.
    """
    places = np.flatnonzero(there)
    if len(places) <= 2 * MOST_MARKERS:
        return places
    return places[np.argsort(x[places], kind="stable")[evenly(len(places), MOST_MARKERS)]]
