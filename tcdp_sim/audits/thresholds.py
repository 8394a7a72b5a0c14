"""Where events may begin: from outputs at hand, and from counts of a larger sample with its extremes."""

import numpy as np

from tcdp_sim.audits import features
from tcdp_sim.audits.events import Thresholds
from tcdp_sim.audits.sampling import Counts
from tcdp_sim.core.arrays import Floats

TAIL = 100  # thresholds from each end of each input's scores
DISTINCT = 512  # scores of no more values get a threshold between any two


def of_outputs(first: Floats, second: Floats) -> Floats:
    """Where events may begin: between any two values if there are few, else at ranks from both ends of both inputs."""
    values = np.unique(np.concatenate([first, second]))
    if len(values) <= DISTINCT:
        return features.middles(values)
    ordered = np.sort(first), np.sort(second)
    ranks = np.unique(np.geomspace(1, len(first), TAIL).astype(int))
    found = [side[ends] for side in ordered for ends in (len(side) - ranks, ranks - 1)]
    edges = np.unique(np.concatenate(found))
    return edges[edges > values[0]]


def of_counts(counts: Counts, column: int, edges: Floats) -> Thresholds:
    """Counts of a column as hits beyond thresholds: at its edges, and beyond them at the extremes, one by one."""
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
    """The extremes above an edge, ascending, each once, that no input has more of than it has kept.

    ends: the largest of each input. Of the least that is kept of an input there may be more.
    """
    complete = max((end[0] if len(end) else np.inf for end in ends), default=np.inf)
    values = np.unique(np.concatenate(ends))
    return values[(values > edge) & (values > complete)]


def _least(ends: list[Floats], edge: float) -> Floats:
    """The extremes below an edge, as above, but for the very least, below which nothing is.

    What lies below the largest that is kept of an input is known, also if there are more of it.
    """
    complete = min((end[-1] if len(end) else -np.inf for end in ends), default=-np.inf)
    values = np.unique(np.concatenate(ends))
    return values[(values < edge) & (values <= complete)][1:]
