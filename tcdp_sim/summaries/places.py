"""Where the trials of a bin lie: at its one value, or between its edges and no further than the sample reaches."""

import numpy as np

from tcdp_sim.summaries.bins import bin_edges, values_at


def edges_of(keys: np.ndarray, atoms: np.ndarray, least: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers between which the trials of bins lie; both are the value of a bin that has only one.

    `least` and `most` are the ends of the sample of each cell, along the first axis of the keys.
    """
    value, axes = values_at(keys, atoms), (-1, *[1] * (keys.ndim - 1))
    lower, upper = (np.where(np.isnan(value), edge, value) for edge in bin_edges(keys))
    return np.maximum(lower, least.reshape(axes)), np.minimum(upper, most.reshape(axes))
