"""Whether two independent samples can have one mean, or one probability of an event: many pairs at once.

And which of many comparisons chance does not explain, with a promise about how many of those named are false alarms.
"""

import numpy as np
import pandas as pd
from scipy.special import gammaln, ndtr, stdtr

SCREEN = 0.1  # normal p-values above this are not worth an exact one
FALSE_DISCOVERIES = 0.01  # at most this share of the alarms is expected to be false
ROUNDING = 1e-12  # relative: no farther apart are the same numbers from two kinds of CPU


def same_mean(a, b) -> tuple[np.ndarray, np.ndarray]:
    """(distance, p-value) of pairs of means; a, b: arrays (mean, standard deviation, trials), at least 2 trials each.

    The standard error is the larger of two: each run's own variance, and one for both. So a long run cannot make an
    alarm of rare large values that a short one missed (of which its own variance knows nothing), nor of one that it
    was lucky to see. Student's law with the smaller number of degrees of freedom, and no p-value below that of the
    rank test of samples that do not overlap, 2 / binomial(n + m, n).
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
    """(distance, p-value) of pairs of counts of events in so many trials: Fisher's exact test, the smaller tail twice.

    p-values above SCREEN are normal approximations, of which it is only used that they are no alarms.
    """
    from scipy.stats import hypergeom  # half a second to import, and only comparing two runs needs it

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
    """The rows that chance does not explain (Benjamini and Hochberg, JRSS B 57, 1995), worst first.

    compared: one comparison a row, with its `p_value` and `distance`, by which equal p-values are ordered. made: how
    many comparisons there were; those with a p-value above FALSE_DISCOVERIES are never alarms and may be left out.
    `attrs["comparisons"]` of the answer repeats it.
    """
    made = len(compared) if made is None else made
    worst = compared.sort_values(["p_value", "distance"], ascending=[True, False], kind="stable", ignore_index=True)
    allowed = FALSE_DISCOVERIES * (np.arange(len(worst)) + 1) / max(made, 1)
    passed = np.flatnonzero(worst["p_value"].to_numpy(dtype=float) <= allowed)
    alarms = worst.iloc[: passed[-1] + 1 if len(passed) else 0].copy()
    alarms.attrs["comparisons"] = made
    return alarms
