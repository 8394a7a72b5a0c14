"""What the moments of trials say about their places in bins: the ends of the sample, and trials on edges of bins."""

from collections.abc import Sequence

import numpy as np

from tcdp_sim.summaries.bins import bin_edges
from tcdp_sim.summaries.scales import exponents, with_common_exponent

ROUNDING = 1e-11  # relative error of a sum of squares; a trial between the edges changes its own square by up to 0.4%


def on_edges(moments: Sequence[np.ndarray], keys: np.ndarray, counts: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Return True for each cell whose trials all lie on that edge of their bin that is nearer to zero.

    Whole numbers up to 1024, halves and the like do. No square is smaller than that of this edge, so all trials lie
    there if the sum of squares does not exceed that of the edges.

    - moments: the rows of each cell's chunks, as a `Distribution` has them.
    - keys, counts: the occupied bins of all cells, one cell after the other; `bins` is their number in each cell.
    """
    found = np.zeros(len(bins), dtype=bool)
    used = bins > 0
    squares, exponent = np.array([_squares(rows) for rows, is_used in zip(moments, used) if is_used]).reshape(-1, 2).T
    near = np.min(np.abs(bin_edges(keys)), axis=0)
    scaled = np.ldexp(near, -np.repeat(exponent.astype(np.int64), bins[used]))
    starts = (np.cumsum(bins) - bins)[used]
    of_edges = np.add.reduceat(counts * scaled**2, starts) if len(starts) else squares
    found[used] = squares <= of_edges * (1 + ROUNDING)
    return found


def _squares(moments: np.ndarray) -> tuple[float, int]:
    """Return the sum of the squares of all trials, times 2^-2e, and e."""
    rows, exponent = with_common_exponent(moments)
    rows = rows[rows[:, 0] > 0]
    n, total, squares = rows.T[:3]
    return float((squares + total**2 / n).sum()), exponent


def narrowed(edges: tuple[np.ndarray, np.ndarray], least: np.ndarray, most: np.ndarray, exact: np.ndarray):
    """Return edges of bins between which trials were found: no further than the sample, and one value if `exact`.

    The arguments least, most and exact are those of the cells, along the first axis. Infinite edges stay as they are.
    """
    lower, upper = edges
    axes = (-1, *[1] * (lower.ndim - 1))
    finite, exact = np.isfinite(lower), exact.reshape(axes)
    near = np.where(np.abs(lower) < np.abs(upper), lower, upper)
    lower, upper = np.where(exact, near, lower), np.where(exact, near, upper)
    least, most = least.reshape(axes), most.reshape(axes)
    return np.where(finite, np.maximum(lower, least), lower), np.where(finite, np.minimum(upper, most), upper)


def moments_of(n: np.ndarray, mean: np.ndarray, deviation: np.ndarray, least: np.ndarray, most: np.ndarray):
    """Return moments as of one chunk for each cell, given published numbers; shape (cells, 1, 5)."""
    exponent = np.where(n > 0, exponents(least, most), 0)
    mean, deviation = (np.where(np.isnan(each), 0.0, np.ldexp(each, -exponent)) for each in (mean, deviation))
    return np.stack([n, n * mean, np.maximum(n - 1, 0) * deviation**2, least, most], axis=-1)[:, None]
