"""Whether a sample can have a mean or quantile that is known exactly, also where it is small and the law is skewed."""

import numpy as np
from scipy.special import bdtr, bdtrc, ndtri_exp, stdtr

SKEWED = 2.0  # by how much skewness shortens distances; see `skewed`
ROUNDING = 1e-9  # relative: an exact value is known that well


def skewed(distance, trials, skewness) -> np.ndarray:
    """The distance of a normal number that is as likely as that of a mean, given in standard errors of its own sample.

    trials: at least 2; skewness: that of the sample, of which the size alone counts. Student's law, and then
    z / sqrt(1 + 2 g z / sqrt(n)), g the skewness and its standard error for normal trials, sqrt(6 / n).

    Means in standard errors of the same sample have tails exp(g z^3 / (3 sqrt(n))) times the normal ones (Wang,
    Annals of Probability 33, 2005, on Student's statistic), where g is the true skewness; small samples without large
    values show less of it. So three times that correction is made to first order, in a form that is monotone in z, as
    Bernstein's is. Simulated (see its tests): no more alarms than at normal laws, for exponential, squared
    normal, lognormal and Pareto trials from 100 on. No test allows for what a sample does not show at all: values that
    are large and rarer than one in so many trials.
    """
    distance, trials = np.abs(np.asarray(distance, dtype=float)), np.asarray(trials, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = stdtr(trials - 1, -distance)
        z = np.where(tail > 0, -ndtri_exp(np.log(tail)), distance)  # far out, Student's law is of many trials
        g = np.abs(skewness) + np.sqrt(6 / trials)
        corrected = z / np.sqrt(1 + SKEWED * g * z / np.sqrt(trials))
    return np.where(np.isposinf(distance), distance, np.where(distance == 0, 0.0, corrected))


def quantile_p_values(bins, q, exact) -> np.ndarray:
    """p-values that the q-quantiles of a law are `exact`, by the exact binomial law of the trials on either side.

    bins: lower and upper edges of disjoint bins, in order, and how many trials each has; edges and `exact` may be
    infinite. Where a bin has the exact value inside, its trials are counted as suits the exact value best. Holds for
    every law, atoms included: P[X < exact] <= q <= P[X <= exact]. NaN for no trials, or where `exact` is NaN.
    """
    low, high, counts = bins
    q, exact = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(exact, dtype=float))
    n, total = int(np.sum(counts)), np.concatenate([[0], np.cumsum(counts)])
    if not n:
        return np.full(q.shape, np.nan)
    slack = np.where(np.isfinite(exact), ROUNDING * np.abs(exact), 0)
    up_to = total[np.searchsorted(low, exact + slack, side="right")]
    below = total[np.searchsorted(high, exact - slack, side="left")]
    few, many = bdtr(up_to, n, q), np.where(below > 0, bdtrc(np.maximum(below - 1, 0), n, q), 1.0)
    return np.where(np.isnan(exact), np.nan, np.minimum(2 * np.minimum(few, many), 1.0))
