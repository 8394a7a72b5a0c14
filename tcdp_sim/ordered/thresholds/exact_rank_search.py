"""The exact law of a noisy binary search for an order statistic. The simulation `search_rank` is compared with it."""

from math import sqrt

import numpy as np
from scipy.special import ndtr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.ordered.thresholds.records import Records


def mean_rank_error(records: Records, rank: int, rho: float) -> float:
    """Return the mean of `Records.rank_error` of the search's output, in records.

    The search is rho-zCDP on a domain of 2^log2_k elements, log2_k <= 60.
    """
    below = records.below
    at, between = search_law(records, rank, rho)
    missed_at = np.maximum(np.maximum(rank - below[1:], below[:-1] - rank + 1), 0)
    missed_between = np.maximum(rank - below, below - rank + 1)  # F(j) = F(j - 1)
    return float(at @ missed_at + between @ missed_between)


def search_law(records: Records, rank: int, rho: float) -> tuple[Floats, Floats]:
    """Return the law of the search's output.

    The first array has the probability of each distinct value. The second one has the probability of some element
    before the first value, between two values, and beyond the last. At each node the search goes left with probability
    Phi((F(middle) - rank + 1/2) / scale).
    """
    values, levels = records.values, (records.k - 1).bit_length()
    scale = sqrt(levels / (2 * rho))
    node, probability, between = np.zeros(1, dtype=np.int64), np.ones(1), np.zeros(len(values) + 1)
    for level in range(levels - 1, -1, -1):
        lead = (records.below[np.searchsorted(values, (2 * node + 1) << level)] - rank + 0.5) / scale
        node = np.append(2 * node, 2 * node + 1)
        probability = np.append(probability * ndtr(lead), probability * ndtr(-lead))
        first, after = np.searchsorted(values, node << level), np.searchsorted(values, (node + 1) << level)
        np.add.at(between, first[first == after], probability[first == after])
        node, probability = node[first < after], probability[first < after]
    return probability[np.argsort(node)], between
