"""Whether two independent samples can have one mean, or one probability of an event: many pairs at once."""

import numpy as np
from scipy.special import gammaln, ndtr, stdtr
from scipy.stats import hypergeom

SCREEN = 0.1  # normal p-values above this are not worth an exact one
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
