"""Tests of one sample against an exact mean or quantile, valid also for small samples of skewed laws."""

import numpy as np
from scipy.special import bdtr, bdtrc, ndtri_exp, stdtr

SKEWED = 2.0  # the factor of the correction for skewness; see `skewed`
ROUNDING = 1e-9  # relative error of an exact value
LEAST_P = 1e-300  # of a number that cannot be: its distance is 37 standard errors


def skewed(distance, trials, skewness) -> np.ndarray:
    """Return the distances at which a normal number is as unlikely as a mean from a skewed law.

    The given distances are in standard errors of the mean's own sample. The distance is converted by Student's law to a
    normal z, and then to z / sqrt(1 + 2 g z / sqrt(n)). Here g is the size of the sample's skewness plus its standard
    error for normal trials, sqrt(6 / n). There are n >= 2 trials.

    A mean in standard errors of the same sample has tails exp(g z^3 / (3 sqrt(n))) times the normal ones, where g is
    the true skewness (Wang, Annals of Probability 33, 2005, on Student's statistic). Small samples without large values
    show less of it. So the function makes three times that correction to first order, in a form that is monotone in z
    like Bernstein's. In simulations (see the tests), exponential, squared normal, lognormal and Pareto trials give no
    more alarms than normal ones from 100 trials on. No test can allow for large values that are too rare to be in the
    sample.
    """
    distance, trials = np.abs(np.asarray(distance, dtype=float)), np.asarray(trials, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = stdtr(trials - 1, -distance)
        z = np.where(
            tail > 0, -ndtri_exp(np.log(tail)), distance
        )  # the tail underflows only with many trials, and then Student's law is nearly normal
        g = np.abs(skewness) + np.sqrt(6 / trials)
        corrected = z / np.sqrt(1 + SKEWED * g * z / np.sqrt(trials))
    return np.where(np.isposinf(distance), distance, np.where(distance == 0, 0.0, corrected))


def quantile_p_values(bins, level, exact) -> np.ndarray:
    """Return p-values for the hypothesis that the quantiles of a law at these levels are `exact`.

    The p-values come from the exact binomial law of the trials on either side. They hold for every law, also with
    atoms: P[X < exact] <= level <= P[X <= exact]. If a bin contains the exact value, its trials are counted in its
    favour.

    `bins`: lower and upper edges of disjoint bins, in order, and the number of trials in each. Edges may be infinite.
    """
    level, exact = np.broadcast_arrays(np.asarray(level, dtype=float), np.asarray(exact, dtype=float))
    n, up_to, below = counts_around(bins, exact)
    if not n:
        return np.full(level.shape, np.nan)
    few, many = bdtr(up_to, n, level), np.where(below > 0, bdtrc(np.maximum(below - 1, 0), n, level), 1.0)
    return np.where(np.isnan(exact), np.nan, np.minimum(2 * np.minimum(few, many), 1.0))


def counts_around(bins, exact) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of trials in bins, of those up to supposed quantiles, and of those below them."""
    low, high, counts = bins
    total = np.concatenate([[0], np.cumsum(counts)])
    slack = np.where(np.isfinite(exact), ROUNDING * np.abs(exact), 0)
    up_to = total[np.searchsorted(low, exact + slack, side="right")]
    return int(np.sum(counts)), up_to, total[np.searchsorted(high, exact - slack, side="left")]


def usual_range(mean, exact) -> tuple[np.ndarray, np.ndarray]:
    """Return the range that values of a number are supposed to keep to if it is not random as far as anybody can see.

    The range reaches as far from the mean as the larger of the two numbers is large, and by 1 at least if the mean is a
    whole number, such as the 0 of a rare event.
    """
    mean, exact = np.asarray(mean, dtype=float), np.asarray(exact, dtype=float)
    reach = np.maximum(np.maximum(np.abs(exact), np.abs(mean)), np.where(mean == np.round(mean), 1.0, 0.0))
    with np.errstate(over="ignore"):
        return mean - reach, mean + reach


def unseen_p_values(mean, trials, exact, least=-np.inf, most=np.inf) -> np.ndarray:
    """Return the probability with which trials show none of the values that explain their distance from an exact mean.

    Trials say nothing about values too rare to be among them. If a law on [least, most] has the mean `exact`, some part
    q of it may lie at an end of the range while the rest has the mean of the trials: q is the distance of `exact` from
    the mean of the trials, divided by the distance of the end. All of n trials miss that part with probability (1 -
    q)^n. The result is (1 - q)^(n - 1), because the value that all trials may share was not named beforehand. Without
    an end the probability is near 1 for every distance: a mean of equal trials then contradicts nothing.
    """
    given = (mean, trials, exact, least, most)
    mean, trials, exact, least, most = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in given))
    slack = ROUNDING * np.abs(exact)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = np.abs(exact - mean)
        part = np.minimum(gap / np.where(exact > mean, most - mean, mean - least), 1.0)
        probability = np.maximum(np.exp((trials - 1) * np.log1p(-part)), LEAST_P)
    probability = np.where((part > 0) & (trials > 1), probability, np.nan)
    probability = np.where((exact < least - slack) | (exact > most + slack) | (trials == 0), LEAST_P, probability)
    return np.where(np.isfinite(exact), np.where(gap <= slack, 1.0, probability), np.nan)
