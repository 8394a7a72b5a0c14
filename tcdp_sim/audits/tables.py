"""Log likelihood ratios from counts in cells; neighbouring cells that differ only by chance are merged."""

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints

TOLD_APART = 2.5  # neighbouring cells stay separate if they differ by this many standard errors


def log_ratio(first, second) -> Floats:
    """Return log(first / second) for counts of equally many outputs.

    Half an output is added to each count, which shrinks the ratio towards 0.
    """
    return np.log((np.asarray(first) + 0.5) / (np.asarray(second) + 0.5))


def merged(edges: Floats, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Return edges and counts of shape (2, cells) after merging neighbouring cells, the most alike first.

    `edges` is ascending with shape (cells - 1,). `first` and `second` count each input's outputs in the cells.
    """
    counts = np.stack([first, second]).astype(np.float64)
    keep = counts.sum(axis=0) > 0  # a cell without outputs joins the one below
    keep[0] = True
    counts = np.add.reduceat(counts, np.flatnonzero(keep), axis=1)
    edges = edges[keep[1:]]
    while len(edges):
        gaps = _gaps(counts)
        nearest = int(gaps.argmin())
        if gaps[nearest] >= TOLD_APART:
            break
        counts[:, nearest] += counts[:, nearest + 1]
        counts = np.delete(counts, nearest + 1, axis=1)
        edges = np.delete(edges, nearest)
    return edges, counts


def _gaps(counts: Floats) -> Floats:
    """Return the difference of the log ratios of neighbouring cells, in standard errors."""
    ratios, variance = log_ratio(*counts), (1 / (counts + 0.5)).sum(axis=0)
    return np.abs(np.diff(ratios)) / np.sqrt(variance[1:] + variance[:-1])
