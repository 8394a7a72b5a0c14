"""Tests whether two independent samples have the same mean or the same probability of an event, for many pairs at once.

A further function selects the comparisons that chance does not explain, with a bound on the rate of false alarms.
"""

import numpy as np
import pandas as pd
from scipy.special import gammaln, ndtr, stdtr

SCREEN = 0.1  # above this normal p-value no exact one is computed
FALSE_DISCOVERIES = 0.01  # at most this share of the alarms is expected to be false
ROUNDING = 1e-12  # relative difference that equal numbers from two kinds of CPU may have


def same_mean(a, b) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (in standard errors) and p-values of pairs of means.

    Each of a and b has the arrays (mean, standard deviation, trials), with at least 2 trials. The standard error is the
    larger one of two: with each run's own variance, and with a common one. So a long run cannot cause an alarm by rare
    large values that a short run missed, nor by one that it saw by luck. The p-value comes from Student's law with the
    smaller number of degrees of freedom. It is at least 2 / binomial(n + m, n), the p-value of the rank test for
    samples that do not overlap.
    """
    (mean_a, sd_a, n), (mean_b, sd_b, m) = a, b
    own = np.sqrt(sd_a**2 / n + sd_b**2 / m)
    both = np.sqrt(((n - 1) * sd_a**2 + (m - 1) * sd_b**2) / (n + m - 2) * (1 / n + 1 / m))
    gap = np.abs(mean_a - mean_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = gap <= ROUNDING * np.maximum(np.abs(mean_a), np.abs(mean_b))
        distance = np.where(near, 0.0, gap / np.maximum(own, both))
    least = np.log(2) + gammaln(n + 1) + gammaln(m + 1) - gammaln(n + m + 1)
    p_value = np.maximum(2 * stdtr(np.minimum(n, m) - 1.0, -distance), np.exp(least))
    return distance, np.where(near, 1.0, np.minimum(p_value, 1.0))


def same_share(hits_a, trials_a, hits_b, trials_b) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (in standard errors) and p-values of pairs of event counts by Fisher's exact test.

    The p-value is twice the smaller tail. Above SCREEN it is a normal approximation, which only serves to show that the
    pair is no alarm.
    """
    from scipy.stats import hypergeom  # takes half a second to import, and only comparisons of runs need it

    total, hits = trials_a + trials_b, hits_a + hits_b
    share = hits / total
    unit = np.sqrt(share * (1 - share) * (1 / trials_a + 1 / trials_b))
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(unit > 0, np.abs(hits_a / trials_a - hits_b / trials_b) / unit, 0.0)
    p_value = 2 * ndtr(-distance)
    worth = p_value <= SCREEN
    law = (total[worth], hits[worth], trials_a[worth])
    tails = hypergeom.cdf(hits_a[worth], *law), hypergeom.sf(hits_a[worth] - 1, *law)
    p_value[worth] = np.minimum(2 * np.minimum(*tails), 1.0)
    return distance, p_value


def beyond_chance(compared: pd.DataFrame, made: int | None = None) -> pd.DataFrame:
    """Return the rows that chance does not explain, worst first (Benjamini and Hochberg 1995 [BH95]).

    Each row is a comparison with its `p_value` and its `distance`, which orders equal p-values. The number `made` of
    comparisons may exceed the rows, because p-values above FALSE_DISCOVERIES are never alarms and may be left out. The
    attribute `comparisons` of the result repeats it.
    """
    made = len(compared) if made is None else made
    worst = compared.sort_values(["p_value", "distance"], ascending=[True, False], kind="stable", ignore_index=True)
    allowed = FALSE_DISCOVERIES * (np.arange(len(worst)) + 1) / max(made, 1)
    passed = np.flatnonzero(worst["p_value"].to_numpy(dtype=float) <= allowed)
    alarms = worst.iloc[: passed[-1] + 1 if len(passed) else 0].copy()
    alarms.attrs["comparisons"] = made
    return alarms
