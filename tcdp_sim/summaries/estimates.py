"""Statistics of summaries: means, proportions and quantiles, with Monte Carlo standard errors and intervals.

Floating-point sums over chunks are exact (math.fsum), so no statistic depends on how chunks were merged.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import fsum, isnan, log, nan, sqrt
from typing import Any

import numpy as np

from tcdp_sim.summaries.bins import MIXED, SMALL_KEY, in_order
from tcdp_sim.summaries.places import edges_of
from tcdp_sim.summaries.scales import unscaled, with_common_exponent
from tcdp_sim.summaries.summary import Distribution, Summary

CONFIDENCE = 0.95
NORMAL = 1.959963984540054  # half the width of the interval of a normal law, in standard errors
UNSEEN = -log(0.025)  # hits expected at the upper end of such an interval where there is none; 1 - 0.95 is rounded
SAME = 1e-14  # relative: a smaller standard error is a rounding remainder of equal trials
Around = Callable[[int, tuple[float, ...]], tuple[np.ndarray, np.ndarray]]  # ranks below and above quantiles
_UNIFORM = np.sqrt(12)  # width over standard deviation of the uniform law


def mean(d: Distribution) -> tuple[float, float, float]:
    """Return the mean of the finite trials, its MCSE and the standard deviation; NaN if there are too few trials."""
    moments, exponent = with_common_exponent(d.moments)
    sizes, sums, squares = moments[:, :3].T.tolist()
    n = fsum(sizes)
    if n < 2:
        return (unscaled(fsum(sums), exponent) if n else nan), nan, nan
    centre = fsum(sums) / n
    off = [(size, part / size - centre) for size, part in zip(sizes, sums) if size]
    between = fsum(size * gap * gap for size, gap in off)  # a power would raise an error where a product is infinite
    deviation = sqrt((fsum(squares) + between) / (n - 1))
    centre, mcse, deviation = (unscaled(value, exponent) for value in (centre, deviation / sqrt(n), deviation))
    return centre, mcse, deviation


def relative_mcse(summary: Summary) -> tuple[float, str]:
    """Return the largest relative MCSE of a mean, and its observable; (NaN, "") without any.

    Means that are zero, and means of a single trial, do not count.
    """
    errors = []
    for name, distribution in summary.observables.items():
        value, mcse, _ = mean(distribution)
        if value and not isnan(mcse):
            errors.append((float(mcse / abs(value)), name))
    return max(errors, default=(nan, ""))


def proportion(successes: int, trials: int) -> tuple[float, float, float, float]:
    """Return the estimate and MCSE of a binomial proportion, and the ends of its exact (Clopper-Pearson) interval."""
    from scipy.special import betaincinv  # slow to import

    estimate = successes / trials
    half = 0.5 * (1 - CONFIDENCE)
    lower = 0.0 if successes == 0 else betaincinv(successes, trials - successes + 1, half)
    upper = 1.0 if successes == trials else betaincinv(successes + 1, trials - successes, 1 - half)
    return estimate, np.sqrt(estimate * (1 - estimate) / trials), float(lower), float(upper)


def ends_of_equal_trials(
    value: float, trials: int, least: float, most: float, failure: float = 1 - CONFIDENCE
) -> tuple[float, float]:
    """Return the ends of an interval for the mean of a law on [least, most] whose trials were all equal to `value`.

    A standard error of 0 says nothing about values that occur less than once in so many trials. The interval misses the
    mean with probability at most `failure` for every law, by the following argument. Let a trial differ from the first
    with a probability above p = 1 - failure^(1 / (trials - 1)). Then all others repeat it with a probability below
    `failure`. An end is infinite where the law has no bound. `trials` is at least 1 and `failure` lies in (0, 1).
    """
    p = -np.expm1(np.log(failure) / (trials - 1)) if trials > 1 else 1.0
    return float(value - p * (value - least)), float(value + p * (most - value))


def quantiles(d: Distribution, q: np.ndarray) -> np.ndarray:
    """Return rows (estimate, MCSE, lower, upper) for each q in (0, 1); infinite trials are values, NaN is not.

    - The estimate is the value of its bin, if all trials of the bin are known to be equal: then it is the sample
      quantile. Otherwise it is linear inside its bin, so it is within one bin (0.2% of its size) of the sample
      quantile. It never leaves the sample.
    - The interval comes from the exact binomial law of the ranks, widened to the edges of bins with several values. It
      covers the true quantile with probability at least 95%.
    - The MCSE combines the interval without the widening (half its width over the normal 97.5% point) and the rounding
      to bins (width / sqrt(12)). It is inf if one end of that interval is infinite, 0 if both are.
    """
    return quantile_table([d], q)[:, 0]


def quantile_table(ds: Sequence[Distribution | None], q: np.ndarray, around: Around | None = None) -> np.ndarray:
    """Return `quantiles` of several distributions, shape (4, len(ds), len(q)); NaN for a None and for no trials.

    `around` gives the ranks at the ends of intervals, by default those of a fixed number of trials. The MCSE does not
    depend on it.
    """
    table = np.full((4, len(ds), len(q)), np.nan)
    rows = [row for row, d in enumerate(ds) if d and d.values]
    if rows:
        own = [d for d in ds if d and d.values]
        table[:, rows] = _quantiles_of(own, q, _binomial)
        if around:
            table[2:, rows] = _quantiles_of(own, q, around)[2:]
    return table


def _quantiles_of(ds: Sequence[Distribution], q: np.ndarray, around: Around) -> np.ndarray:
    """Return the quantiles of distributions with trials.

    Bins and cumulative counts of all distributions are concatenated, so that one search finds the bins of all ranks.
    """
    ranks, within = (np.array(part) for part in zip(*(ranks_of(d.values, tuple(q), around) for d in ds)))
    keys, counts, atoms, infinite = (np.concatenate(part) for part in zip(*map(_by_value, ds)))
    total = np.cumsum(counts)
    ends = np.cumsum([np.count_nonzero(d.infinite) + len(d.keys) for d in ds])[:, None, None]
    starts = np.concatenate([[0], ends.ravel()[:-1]])[:, None, None]
    before = np.where(starts > 0, total[starts - 1], 0)
    found = np.searchsorted(total, np.ceil(ranks).astype(np.int64) + before)
    bins = np.clip(found, starts, ends - 1)  # axes: distribution, (rank, below, above), q
    least, most = np.array([(d.moments[:, 3].min(), d.moments[:, 4].max()) for d in ds]).T
    edges, some = edges_of(keys[bins], atoms[bins], least, most), infinite[bins] != 0
    for edge in edges:
        np.copyto(edge, infinite[bins], where=some)
    return read_off(ranks, within, edges, counts[bins], total[bins] - before - counts[bins])


def read_off(ranks: np.ndarray, within: np.ndarray, edges: Any, count: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return estimates, MCSEs and interval ends of quantiles, shape (4, distributions, q).

    The axes of all arguments are distribution, (rank, below, above) and q.

    - ranks, within: the results of `ranks_of`.
    - edges: the lower and upper edges of the bins of the ranks.
    - count, below: the number of trials in these bins, and in all lower ones.
    """
    lower_edge, upper_edge = edges
    width = np.subtract(upper_edge, lower_edge, out=np.zeros(ranks.shape), where=np.isfinite(lower_edge))
    share = (ranks - below) / count
    estimate, left, right = np.moveaxis(lower_edge + np.minimum(np.maximum(share, 0), 1) * width, 1, 0)
    lower = np.where(within[:, 0], lower_edge[:, 1], -np.inf)
    upper = np.where(within[:, 1], upper_edge[:, 2], np.inf)
    spread = np.subtract(right, left, out=np.zeros(left.shape), where=left != right)  # both may be infinite
    mcse = np.hypot(0.5 * spread / NORMAL, width[:, 0] / _UNIFORM)
    return np.stack([estimate, mcse, lower, upper])


def _by_value(d):
    """Return the keys, counts and atoms of the occupied bins, ordered by value, and the infinite value of others.

    Infinite trials get bins with the key of zero. All other bins have zero for an infinite value.
    """
    keys, counts, atoms = d.keys, d.counts, d.atoms
    if len(keys) and max(-keys[0], keys[-1]) >= SMALL_KEY:
        order = np.argsort(in_order(keys))
        keys, counts, atoms = keys[order], counts[order], atoms[order]
    if not any(d.infinite):
        return keys, counts, atoms, np.zeros(len(keys))
    ends = np.zeros(len(keys) + 2)
    ends[0], ends[-1] = -np.inf, np.inf
    counts = np.concatenate([d.infinite[:1], counts, d.infinite[1:]])
    used = counts > 0
    atoms = np.concatenate([[MIXED], atoms, [MIXED]])
    return np.concatenate([[0], keys, [0]])[used], counts[used], atoms[used], ends[used]


def _binomial(n: int, q: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of the order statistics around the q-quantiles for a fixed number of trials."""
    from scipy.special import bdtrik  # slow to import

    half = 0.5 * (1 - CONFIDENCE)
    low = np.floor(bdtrik(half, n, q))  # P[Binomial(n, q) < low] <= half
    return low, np.floor(bdtrik(1 - half, n, q)) + 2


@lru_cache(maxsize=64)
def ranks_of(n: int, q: tuple[float, ...], around: Around = _binomial):
    """Return the ranks of the q-quantiles and of the order statistics around them, and where these statistics exist.

    `around` gives the latter. Outside of 1..n no order statistic lies on that side of the quantile, and the rank is
    clipped. The existence is given as rows (below, above).
    """
    low, high = around(n, q)
    return np.array([np.multiply(q, n), np.clip(low, 0, n), np.clip(high, 0, n)]), (low >= 1, high <= n)
