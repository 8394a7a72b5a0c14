"""The statistics of many cells of one chunk each, computed together.

Every number equals, bit by bit, the number that `summarise` and `estimates` give for the cell alone. NumPy's sums over
rows that are contiguous in memory add in the same order as sums of single rows.
"""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.summaries.bins import SMALL_KEY, bin_edges, keys_of
from tcdp_sim.summaries.estimates import NORMAL, proportion, ranks_of, read_off


@dataclass(frozen=True, eq=False)
class Rows:
    """The trials of one observable in many cells, all of them finite.

    - moments: the columns mean, MCSE, lower and upper end, standard deviation, least and largest of each cell.
    - keys, counts: the occupied bins of all cells, one cell after the other, by ascending key.
    - bins: the number of occupied bins of each cell.
    - quantiles: estimates, MCSEs and interval ends, shape (4, cells, levels).
    """

    moments: np.ndarray
    keys: np.ndarray
    counts: np.ndarray
    bins: np.ndarray
    quantiles: np.ndarray


def rows_of(x: np.ndarray, q: np.ndarray) -> Rows | None:
    """Return the statistics of trials of shape (cells, trials), or None for numbers that need a cell of their own.

    Those are infinite numbers, NaN, numbers whose sums overflow, and numbers below 2^-64, whose bins have another
    order.
    """
    if not np.isfinite(x).all():
        return None
    keys = keys_of(x)
    if max(-keys.min(), keys.max()) >= SMALL_KEY:
        return None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        moments, square = _moments(x)
    if not np.isfinite(square).all():
        return None
    keys.sort(axis=1)
    return _binned(keys, moments, q)


def _moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the seven moments of each row, as the published table has them, and the sums of squared deviations."""
    n = x.shape[1]
    mean = x.sum(axis=1) / n
    least, most = x.min(axis=1), x.max(axis=1)
    squares = np.square(x - mean[:, None]).sum(axis=1)
    deviation = np.sqrt(squares / (n - 1)) if n > 1 else np.full(len(x), np.nan)
    mcse = deviation / np.sqrt(n)
    ends = [np.where(least == most, np.nan, mean + side * mcse) for side in (-NORMAL, NORMAL)]
    ends = [np.where(np.isfinite(end), end, np.nan) for end in ends]
    return np.stack([mean, mcse, *ends, deviation, least, most]), squares


def _binned(keys: np.ndarray, moments: np.ndarray, q: np.ndarray) -> Rows:
    """Return the rows of sorted keys: each run of equal keys is a bin."""
    cells, n = keys.shape
    first = np.ones(keys.shape, dtype=bool)
    np.not_equal(keys[:, 1:], keys[:, :-1], out=first[:, 1:])
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=keys.size)
    used = keys.ravel()[starts]
    ranks, within = (np.array(part) for part in ranks_of(n, tuple(q)))
    place = np.clip(np.ceil(ranks).astype(np.int64) - 1, 0, n - 1)
    bins = (np.cumsum(first) - 1).reshape(cells, n)[:, place]
    below = starts[bins] - n * np.arange(cells)[:, None, None]
    shape = bins.shape
    table = read_off(np.broadcast_to(ranks, shape), np.broadcast_to(within, (cells, *within.shape)),
                     bin_edges(used[bins]), counts[bins], below)  # fmt: skip
    return Rows(moments, used.astype(np.int32), counts, first.sum(axis=1), table)


def proportions(hits: np.ndarray, trials: int) -> np.ndarray:
    """Return estimates, MCSEs and interval ends of frequencies, shape (4, cells); equal counts are computed once."""
    distinct, where = np.unique(hits, return_inverse=True)
    return np.array([proportion(int(one), trials) for one in distinct]).reshape(-1, 4).T[:, where.ravel()]
