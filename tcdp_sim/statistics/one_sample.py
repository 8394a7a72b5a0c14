"""Tests of one sample against an exact mean or quantile, valid also for small samples of skewed laws."""

import numpy as np
from scipy.special import bdtr, bdtrc, ndtri_exp, stdtr

SKEWED = 2.0  # the factor of the correction for skewness; see `skewed`
ROUNDING = 1e-9  # relative error of an exact value
LEAST_P = 1e-300  # of a number that cannot be: its distance is 37 standard errors


def skewed(distance, trials, skewness) -> np.ndarray:
    """Return the distances at which a normal number is as unlikely as a mean from a skewed law.

    The given distances are in standard errors of the mean's own sample.
    The distance is converted by Student's law to a normal z, and then to z / sqrt(1 + 2 g z / sqrt(n)). Here g is the
    size of the sample's skewness plus its standard error for normal trials, sqrt(6 / n). There are n >= 2 trials.

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

    Parameters
    ----------
    bins : tuple of three arrays
        Lower and upper edges of disjoint bins, in order, and the number of trials in each. Edges may be infinite.
    level : float or array
        Levels, in (0, 1).
    exact : float or array
        Supposed quantiles, which may be infinite.

    Returns
    -------
    numpy.ndarray
        Two-sided p-values; NaN without trials, or where `exact` is NaN.
    """
    low, high, counts = bins
    level, exact = np.broadcast_arrays(np.asarray(level, dtype=float), np.asarray(exact, dtype=float))
    n, total = int(np.sum(counts)), np.concatenate([[0], np.cumsum(counts)])
    if not n:
        return np.full(level.shape, np.nan)
    slack = np.where(np.isfinite(exact), ROUNDING * np.abs(exact), 0)
    up_to = total[np.searchsorted(low, exact + slack, side="right")]
    below = total[np.searchsorted(high, exact - slack, side="left")]
    few, many = bdtr(up_to, n, level), np.where(below > 0, bdtrc(np.maximum(below - 1, 0), n, level), 1.0)
    return np.where(np.isnan(exact), np.nan, np.minimum(2 * np.minimum(few, many), 1.0))


def equal_p_values(value, trials, exact) -> np.ndarray:
    """Return p-values for the hypothesis that `exact` is the mean of a law whose trials were all equal to `value`.

    A standard error of 0 says nothing about values that are too rare to be among the trials. Suppose that no value is
    further from `value` than R. Then a trial differs from it with a probability of at least |exact - value| / R, so
    that all n trials are equal with a probability of at most (1 - |exact - value| / R)^(n - 1). R is the larger size of
    the two numbers, and at least 1 if `value` is a whole number, such as the 0 of a rare event.

    Parameters
    ----------
    value : float or array
        The mean of the trials; NaN if there are none.
    trials : float or array
        The number of finite trials.
    exact : float or array
        Supposed means.

    Returns
    -------
    numpy.ndarray
        p-values, at least LEAST_P: that without any trial. NaN for one trial, and where `exact` is not finite.
    """
    value, trials, exact = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (value, trials, exact)))
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.abs(exact - value)
        reach = np.maximum(np.maximum(np.abs(exact), np.abs(value)), np.where(value == np.round(value), 1.0, 0.0))
        off = np.where(gap <= ROUNDING * np.abs(exact), 0.0, np.minimum(gap / reach, 1.0))
        chance = np.maximum(np.exp((trials - 1) * np.log1p(-off)), LEAST_P)
    unknown = (trials == 1) | ~np.isfinite(exact)
    return np.where(unknown, np.nan, np.where(trials > 0, chance, LEAST_P))
