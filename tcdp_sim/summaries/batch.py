"""The statistics of many cells of one chunk each, computed together.

Every number equals, bit by bit, the number that `summarise` and `estimates` give for the cell alone. NumPy's sums over
rows that are contiguous in memory add in the same order as sums of single rows.
"""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.summaries.bins import MIXED, SMALL_KEY, keys_of, places_within, repeat
from tcdp_sim.summaries.estimates import NORMAL, proportion, ranks_of, read_off
from tcdp_sim.summaries.places import edges_of
from tcdp_sim.summaries.scales import exponents

TOGETHER = 512  # trials of a chunk up to which cells are computed together
VALUES = 1 << 18  # values of one number that are computed together, at most


@dataclass(frozen=True, eq=False)
class Rows:
    """The trials of one observable in many cells, all of them finite.

    - moments: the columns mean, MCSE, lower and upper end, standard deviation, least and largest of each cell.
    - keys, counts, atoms: the occupied bins of all cells, one cell after the other, by ascending key.
    - bins: the number of occupied bins of each cell.
    - quantiles: estimates, MCSEs and interval ends, shape (4, cells, levels).
    """

    moments: np.ndarray
    keys: np.ndarray
    counts: np.ndarray
    atoms: np.ndarray
    bins: np.ndarray
    quantiles: np.ndarray


def rows_of(x: np.ndarray, q: np.ndarray) -> Rows | None:
    """Return the statistics of trials of shape (cells, trials), or None for numbers that need a cell of their own.

    Those are infinite numbers, NaN, and numbers below 2^-64, whose bins have another order.
    """
    sums = sums_of(x)
    if not np.isfinite(sums).all():
        return None
    keys, counts, atoms, bins = bins_of(x)
    if max(-keys.min(), keys.max()) >= SMALL_KEY:
        return None
    return rows_of_bins(sums, keys, counts, atoms, bins, q)


def rows_of_bins(
    sums: np.ndarray, keys: np.ndarray, counts: np.ndarray, atoms: np.ndarray, bins: np.ndarray, q: np.ndarray
) -> Rows:
    """Return the statistics of cells with equally many trials, given the results of `sums_of` and `bins_of`.

    All numbers are finite, and no key reaches SMALL_KEY in size.
    """
    return Rows(_published(sums), keys, counts, atoms, bins, _quantiles(sums, keys, counts, atoms, bins, q))


def sums_of(x: np.ndarray) -> np.ndarray:
    """Return the moments of each row as a `Distribution` has them, shape (cells, 5).

    Not all of a row are finite if its trials are not.
    """
    n = x.shape[1]
    least, most = x.min(axis=1, initial=np.inf), x.max(axis=1, initial=-np.inf)
    exponent = exponents(least, most)[:, None]
    with np.errstate(all="ignore"):
        scaled = np.ldexp(x, -exponent) if exponent.any() else x
        total = scaled.sum(axis=1)
        squares = np.square(scaled - (total / n)[:, None]).sum(axis=1)
    return np.stack([np.full(len(x), float(n)), total, squares, least, most], axis=1)


def bins_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return `histogram` of rows of finite numbers, one row after the other, and how many bins each row has."""
    x = np.sort(x, axis=1)
    with_atoms, keys = repeat(x), keys_of(x)
    if max(-keys.min(), keys.max()) >= SMALL_KEY:  # the keys have another order
        order = np.argsort(keys, axis=1, kind="stable")
        x, keys = (np.take_along_axis(each, order, axis=1) for each in (x, keys))
    first = np.ones(x.shape, dtype=bool)
    np.not_equal(keys[:, 1:], keys[:, :-1], out=first[:, 1:])
    starts = np.flatnonzero(first)
    counts, bins = np.diff(starts, append=x.size), first.sum(axis=1)
    atoms = np.full(len(starts), MIXED)
    if with_atoms.any():  # equal numbers are the first and the last of their bin
        low, high = (places_within(x.ravel()[ends]) for ends in (starts, starts + counts - 1))
        atoms = np.where((low == high) & np.repeat(with_atoms, bins), low, MIXED)
    return keys.ravel()[starts].astype(np.int32), counts, atoms, bins


def spreads(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, MCSE and standard deviation of each row of `sums_of`, as `estimates.mean` does."""
    n, total, squares, least, most = sums.T
    exponent = exponents(least, most)
    with np.errstate(all="ignore"):
        deviation = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
        mean, mcse, deviation = (np.ldexp(each, exponent) for each in (total / n, deviation / np.sqrt(n), deviation))
    return mean, mcse, deviation


def _published(sums: np.ndarray) -> np.ndarray:
    """Return the seven moments of each row, as the published table has them."""
    (mean, mcse, deviation), (least, most) = spreads(sums), sums.T[3:]
    with np.errstate(all="ignore"):
        ends = [np.where(least == most, np.nan, mean + side * mcse) for side in (-NORMAL, NORMAL)]
    ends = [np.where(np.isfinite(end), end, np.nan) for end in ends]
    return np.stack([mean, mcse, *ends, deviation, least, most])


def _quantiles(
    sums: np.ndarray, keys: np.ndarray, counts: np.ndarray, atoms: np.ndarray, bins: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Return the quantiles of cells with equally many trials."""
    n = int(sums[0, 0])
    ranks, within = (np.array(part) for part in ranks_of(n, tuple(q)))
    before = n * np.arange(len(bins))[:, None, None]
    total, last = np.cumsum(counts), np.cumsum(bins)[:, None, None] - 1
    found = np.searchsorted(total, np.ceil(ranks).astype(np.int64) + before)
    found = np.clip(found, last + 1 - bins[:, None, None], last)
    below = total[found] - counts[found] - before
    edges = edges_of(keys[found], atoms[found], sums[:, 3], sums[:, 4])
    return read_off(np.broadcast_to(ranks, found.shape), np.broadcast_to(within, (len(bins), *within.shape)),
                    edges, counts[found], below)  # fmt: skip


def proportions(hits: np.ndarray, trials: int) -> np.ndarray:
    """Return estimates, MCSEs and interval ends of frequencies, shape (4, cells); equal counts are computed once."""
    distinct, where = np.unique(hits, return_inverse=True)
    return np.array([proportion(int(one), trials) for one in distinct]).reshape(-1, 4).T[:, where.ravel()]
