"""Confidence sequences: intervals that hold at all numbers of trials together, so that a run may stop at any of them.

For means it is the asymptotic sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (Annals of Statistics 2024)
[WASKR24]: Robbins' normal mixture with the running standard deviation. It holds asymptotically, so it is widened for
few trials and for skewed laws. For the probability of an event it is a mixture of binomial likelihoods, which holds for
every number of trials.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln

from tcdp_sim.statistics.one_sample import SKEWED, counts_around
from tcdp_sim.summaries.bins import bin_edges
from tcdp_sim.summaries.estimates import SAME, mean
from tcdp_sim.summaries.summary import Distribution, batch_sizes

TIGHT = 10  # the sequence of a mean is tightest at so many times the least number of trials
PRIOR = 0.5  # both parameters of the beta law that mixes the binomial likelihoods
RESOLVED = 10.0  # widths of the widest bin in a standard deviation, from which the bins show the skewness


class Centre(NamedTuple):
    """A mean, or a difference of means, of the trials so far.

    - value, error: the estimate and its standard error.
    - asymmetry: the size of the skewness of the estimate, that is the trials' skewness over the root of their number,
      with one standard error of it added.
    - pieces: the number of independent values behind the standard error, at least 2.
    - trials: the number of trials.
    """

    value: float
    error: float
    asymmetry: float
    pieces: float
    trials: float


def centre(d: Distribution) -> Centre | None:
    """Return the mean of the finite trials, None if they are fewer than two, or show no spread."""
    value, error, deviation = mean(d)
    n = float(d.moments[:, 0].sum())
    if n < 2 or d.moments[:, 3].min() == d.moments[:, 4].max() or error <= SAME * abs(value):
        return None
    return Centre(value, error, _asymmetry(_skewness(d, value, deviation), n), n, n)


def centre_of_hits(hits: int, trials: int) -> Centre | None:
    """Return the frequency of an event, None if all trials have the same outcome."""
    if not 0 < hits < trials:
        return None
    value = hits / trials
    variance = value * (1 - value)
    skewness = abs(1 - 2 * value) / sqrt(variance)
    return Centre(value, sqrt(variance / (trials - 1)), _asymmetry(skewness, trials), trials, trials)


def difference(a: Centre, b: Centre) -> Centre:
    """Return the difference a - b of independent means."""
    error = sqrt(a.error**2 + b.error**2)
    asymmetry = (a.asymmetry * a.error**3 + b.asymmetry * b.error**3) / error**3
    pieces = error**4 / (a.error**4 / (a.pieces - 1) + b.error**4 / (b.pieces - 1)) + 1  # Welch and Satterthwaite
    return Centre(a.value - b.value, error, asymmetry, pieces, min(a.trials, b.trials))


def paired(a: np.ndarray, b: np.ndarray, chunk: int) -> Centre | None:
    """Return the difference of the means of two cells with the same random numbers, from the means of their batches.

    The means have the shape (chunks, batches), and a chunk has `chunk` trials. The result is None if the batches show
    no spread of the differences.
    """
    weights = np.tile(batch_sizes(chunk), len(a)).astype(float)
    gaps = (a - b).ravel()
    total, n = weights.sum(), len(gaps)
    value = float(np.average(gaps, weights=weights))
    off = np.sqrt(weights) * (gaps - value)  # of one variance
    square = float(np.square(off).sum())
    scale = float(np.abs(np.concatenate([a.ravel(), b.ravel()])).max())
    if n < 2 or sqrt(square / n / total) <= SAME * scale:
        return None
    deviation = sqrt(square / (n - 1))
    skewness = float(np.mean((off / deviation) ** 3))
    return Centre(value, deviation / sqrt(total), _asymmetry(skewness, n), n, total)


def times(of: Centre, factor: float) -> Centre:
    """Return the same estimate from so many times the trials."""
    root = sqrt(factor)
    return Centre(of.value, of.error / root, of.asymmetry / root, of.pieces * factor, of.trials * factor)


def _asymmetry(skewness: float, n: float) -> float:
    return (abs(skewness) + sqrt(6 / n)) / sqrt(n)


def _skewness(d: Distribution, value: float, deviation: float) -> float:
    """Return the skewness of the finite trials from their bins, or a bound on its size if these are too wide."""
    low, high = bin_edges(d.keys)
    off = (0.5 * low + 0.5 * high - value) / deviation
    if (high - low).max() * RESOLVED < deviation:
        return float(np.average(off**3, weights=d.counts))
    return max(d.moments[:, 4].max() - value, value - d.moments[:, 3].min()) / deviation


def half_width(of: Centre, failure: float, tight: float) -> float:
    """Return half the width of the interval that misses the mean at any number of trials with probability `failure`.

    It holds asymptotically. `failure` lies in (0, 1). The sequence is tightest at `tight` trials.
    """
    return of.error * widened(mixture(of.trials / tight, failure), of.asymmetry, of.pieces)


def mixture(times: float, failure: float) -> float:
    """Return half the width of Robbins' normal mixture in standard errors of the mean.

    `times` is the number of trials over the number at which the mixture is tightest [WASKR24].
    """
    size = -2 * log(failure)
    grown = times * (size + log(size + 1))  # n rho^2
    return sqrt((1 + 1 / grown) * (log1p(grown) + size))


def widened(z: float, asymmetry: float, pieces: float) -> float:
    """Return the distance in estimated standard errors that is as unlikely as z true ones.

    It undoes `one_sample.skewed`: first for the skewness, then by Student's law in the form of Wallace (Annals of
    Mathematical Statistics 1959), which has no underflow.
    """
    slope = SKEWED * asymmetry
    z = 0.5 * (slope * z * z + z * sqrt(slope * slope * z * z + 4))
    freedom = pieces - 1
    exponent = (z * (8 * freedom + 3) / (8 * freedom + 1)) ** 2 / freedom
    return sqrt(freedom * np.expm1(exponent)) if exponent < 700 else inf


def frequency(hits: int, trials: int, failure: float) -> tuple[float, float]:
    """Return the ends of an interval for a probability that misses it at any number of trials with at most `failure`.

    The interval has every p that the mixture of the binomial likelihoods does not exceed by a factor 1 / failure: by
    Ville's inequality the ratio does so for the true p with at most this probability.
    """
    if not trials:
        return 0.0, 1.0
    most = -log(failure)
    return _lower(hits, trials, most), 1 - _lower(trials - hits, trials, most) if hits else _upper(trials, most)


def _mixed(hits: float, trials: float) -> float:
    """Return the logarithm of the mixture of the likelihoods."""
    return float(betaln(hits + PRIOR, trials - hits + PRIOR) - betaln(PRIOR, PRIOR))


def _upper(trials: int, most: float) -> float:
    """Return the upper end after no hit, without the rounding of a difference from 1."""
    return -float(np.expm1((_mixed(0, trials) - most) / trials))


def _lower(hits: int, trials: int, most: float) -> float:
    """Return the lower end of the interval after at least one hit, 0 after none."""
    if not hits:
        return 0.0
    mixed, misses = _mixed(hits, trials), trials - hits

    def excess(log_p: float) -> float:
        missed = misses * log1p(-exp(log_p)) if misses else 0.0
        return mixed - hits * log_p - missed - most

    top = log(hits / trials)
    if excess(top) >= 0:  # no trial is needed for that, only a failure near 1
        return hits / trials
    return exp(_root(excess, top))


def _root(excess: Callable[[float], float], top: float) -> float:
    """Return the root of a decreasing function below `top`, where it is negative."""
    step = 1e-3
    while excess(top - step) < 0:
        step *= 2
    return float(brentq(excess, top - step, top, xtol=1e-14))


@lru_cache(maxsize=256)
def ranks(n: int, levels: tuple[float, ...], failure: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of the order statistics around quantiles that hold at any number of trials.

    Both have one entry for each level: the rank below, 0 where there is none, and the rank above, n + 1 where there is
    none. Each side fails with probability at most failure / 2: the number of trials up to the quantile is no less than
    binomial, that of trials below it no more.
    """
    found = [(_rank(n, level, failure), n + 1 - _rank(n, 1 - level, failure)) for level in levels]
    return np.array([low for low, _ in found]), np.array([high for _, high in found])


def _rank(n: int, level: float, failure: float) -> int:
    """Return the least number of trials up to the quantile that the sequence does not refute, 0 if it is none."""
    low, high = -1, int(level * n) + 1  # refuted, not refuted
    while high - low > 1:
        middle = (low + high) // 2
        likelihood = middle * log(level) + (n - middle) * log1p(-level)
        if _mixed(middle, n) - likelihood >= log(2 / failure):
            low = middle
        else:
            high = middle
    return high


def quantile_p_values(bins, level, exact) -> np.ndarray:
    """Return `one_sample.quantile_p_values` that hold at any number of trials.

    A p-value is twice the likelihood under the level over the mixture, for the side on which the trials lie, as for
    `ranks`.
    """
    level, exact = np.broadcast_arrays(np.asarray(level, dtype=float), np.asarray(exact, dtype=float))
    n, up_to, below = counts_around(bins, exact)
    if not n:
        return np.full(level.shape, np.nan)
    far = np.where(up_to < level * n, up_to, np.where(below > level * n, below, -1))
    hits = np.maximum(far, 0)
    mixed = betaln(hits + PRIOR, n - hits + PRIOR) - betaln(PRIOR, PRIOR)
    ratio = hits * np.log(level) + (n - hits) * np.log1p(-level) - mixed
    return np.where(np.isnan(exact), np.nan, np.where(far < 0, 1.0, np.minimum(2 * np.exp(ratio), 1.0)))


def joint(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the intersection of intervals that hold together."""
    return max(low for low, _ in intervals), min(high for _, high in intervals)
