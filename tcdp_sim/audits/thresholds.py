"""Thresholds of events, from outputs at hand or from counts of a larger sample with its extremes."""

import numpy as np

from tcdp_sim.audits import features
from tcdp_sim.audits.events import Thresholds
from tcdp_sim.audits.sampling import Counts
from tcdp_sim.core.arrays import Floats

TAIL = 100  # thresholds in each tail of each input's scores
DISTINCT = 512  # scores with at most this many values get a threshold between any two


def of_outputs(first: Floats, second: Floats) -> Floats:
    """Return thresholds between any two values if there are few, else at ranks from both ends of both inputs."""
    values = np.unique(np.concatenate([first, second]))
    if len(values) <= DISTINCT:
        return features.middles(values)
    ordered = np.sort(first), np.sort(second)
    ranks = np.unique(np.geomspace(1, len(first), TAIL).astype(int))
    found = [side[ends] for side in ordered for ends in (len(side) - ranks, ranks - 1)]
    edges = np.unique(np.concatenate(found))
    return edges[edges > values[0]]


def of_counts(counts: Counts, column: int, edges: Floats) -> Thresholds:
    """Return the number of outputs above each edge of a column and above each stored extreme."""
    beyond = []
    for side in (0, 1):
        cells = counts.cells[side][column]
        beyond.append(counts.trials - np.cumsum(cells)[:-1])
    low, high = ([side[column] for side in ends] for ends in (counts.low, counts.high))
    below = _least(low, edges[0] if len(edges) else np.inf)
    known = np.concatenate([below, edges])
    above = _largest(high, known[-1] if len(known) else -np.inf)
    values = np.concatenate([known, above])
    hits = []
    for side in (0, 1):
        upper = len(high[side]) - np.searchsorted(high[side], above) if len(above) else np.zeros(0, int)
        under = counts.trials - np.searchsorted(low[side], below) if len(below) else np.zeros(0, int)
        hits.append(np.concatenate([under, beyond[side], upper]).astype(np.int64))
    return Thresholds(values, hits[0], hits[1], counts.trials)


def _largest(ends: list[Floats], edge: float) -> Floats:
    """Return the extremes above an edge whose hits are known exactly for both inputs, ascending and distinct.

    `ends` holds the largest numbers kept for each input. The least kept number may occur more often than it was kept.
    """
    complete = max((end[0] if len(end) else np.inf for end in ends), default=np.inf)
    values = np.unique(np.concatenate(ends))
    return values[(values > edge) & (values > complete)]


def _least(ends: list[Floats], edge: float) -> Floats:
    """Return the extremes below an edge whose hits are known exactly for both inputs, without the least of all.

    Nothing lies below the least. The largest kept number is included, because the hits below it are known even if it
    occurs more often than it was kept.
    """
    complete = min((end[-1] if len(end) else -np.inf for end in ends), default=-np.inf)
    values = np.unique(np.concatenate(ends))
    return values[(values < edge) & (values <= complete)][1:]
