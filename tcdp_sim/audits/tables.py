"""Counts in cells become log likelihood ratios: neighbours that chance may have told apart are one."""

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints

TOLD_APART = 2.5  # standard errors by which neighbouring cells differ that stay two


def log_ratio(first, second) -> Floats:
    """log(first / second) of counts of equally many outputs, drawn towards 0 by half an output each."""
    return np.log((np.asarray(first) + 0.5) / (np.asarray(second) + 0.5))


def merged(edges: Floats, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """(edges, counts of shape (2, cells)) once neighbouring cells are merged, the most alike first.

    edges: ascending, shape (cells - 1,); first, second: counts of each input's outputs in the cells.
    """
    counts = np.stack([first, second]).astype(np.float64)
    keep = counts.sum(axis=0) > 0  # a cell without outputs goes with the one below
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
    ratios, variance = log_ratio(*counts), (1 / (counts + 0.5)).sum(axis=0)
    return np.abs(np.diff(ratios)) / np.sqrt(variance[1:] + variance[:-1])
