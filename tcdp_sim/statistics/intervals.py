"""Intervals for the simulated sides of claims, so wide that a whole page of them errs with probability 1e-6."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import beta, binom

from tcdp_sim.core.errors import real, whole
from tcdp_sim.statistics.one_sample import skewed
from tcdp_sim.summaries.estimates import SAME, ends_of_equal_trials

CHANCE_OF_ERROR = 1e-6  # the probability that any simulated side of a page leaves out the truth
MOST_SIDES = 5000  # each side of a page has a fixed share of the error, so that a new one changes no older number
SHARE = CHANCE_OF_ERROR / MOST_SIDES


class Simulated(NamedTuple):
    """A simulated number: its interval at the page's level, its estimate, its standard error and the trials."""

    lower: float
    estimate: float
    upper: float
    mcse: float
    trials: int


def simulated_proportion(successes: int, trials: int, failure: float = SHARE) -> Simulated:
    """Return a probability with its exact (Clopper-Pearson) interval, from independent trials.

    The interval misses the probability with at most the probability `failure`, in (0, 1). There is at least one trial.
    Raises ValueError.
    """
    trials = whole("trials", trials, 1, 2**62)
    successes = whole("successes", successes, 0, trials)
    half = 0.5 * real("failure", failure, 0, 1)
    lower = float(beta.ppf(half, successes, trials - successes + 1)) if successes else 0.0
    upper = float(beta.isf(half, successes + 1, trials - successes)) if successes < trials else 1.0
    estimate = successes / trials
    return Simulated(lower, estimate, upper, float(np.sqrt(estimate * (1 - estimate) / trials)), trials)


def simulated_mean(
    mean: float,
    mcse: float,
    trials: int,
    skewness: float,
    failure: float = SHARE,
    support: tuple[float, float] = (-np.inf, np.inf),
) -> Simulated:
    """Return a mean from independent trials with Student's interval, wider for a skewed law (`one_sample.skewed`).

    `trials`: number of trials, at least 2. `failure`: the probability that the interval misses the mean, in (0, 1).
    `support`: the least and the largest value that a trial can have. If all trials are equal, `ends_of_equal_trials`
    gives the interval, which is infinite without a support.
    """
    trials = whole("trials", trials, 2, 2**62)
    mean, mcse = real("mean", mean, -np.inf), real("mcse", mcse, 0, closed=True)
    z = -float(ndtri(0.5 * real("failure", failure, 0, 1)))
    if mcse <= SAME * abs(mean):
        lower, upper = ends_of_equal_trials(mean, trials, *support, failure)
        return Simulated(lower, mean, upper, mcse, trials)

    def excess(log_distance: float) -> float:
        return float(skewed(np.exp(log_distance), trials, skewness)) - z

    top = np.log(z)
    while excess(top) < 0 and top < 600:
        top += 1.0
    half = float(np.exp(brentq(excess, np.log(z) - 1, top))) * mcse if top < 600 else np.inf
    return Simulated(mean - half, mean, mean + half, mcse, trials)


def simulated_quantile(low, high, counts, level: float, failure: float = SHARE) -> Simulated:
    """Return a quantile of the law of binned trials with an exact interval from the binomial law of the ranks.

    The standard error is half the difference of the trials whose ranks are one standard deviation away.

    `counts`: number of trials in each bin. `failure`: the probability that the interval misses the quantile, in (0, 1).
    """
    low, high, counts = (np.asarray(values, dtype=float) for values in (low, high, counts))
    n, total = int(counts.sum()), np.cumsum(counts)
    n = whole("trials", n, 1, 2**62)
    half = 0.5 * real("failure", failure, 0, 1)
    below, above = int(binom.ppf(half, n, level)), int(binom.isf(half, n, level)) + 1

    def bin_of(rank: float) -> int:
        return int(np.searchsorted(total, np.clip(rank, 1, n)))

    middle, spread = level * n, np.sqrt(n * level * (1 - level))
    centre = bin_of(np.ceil(middle))
    share = np.clip((middle - (total[centre] - counts[centre])) / counts[centre], 0, 1)
    estimate = float(low[centre] + share * (high[centre] - low[centre]))
    mcse = 0.5 * (high[bin_of(middle + spread)] - low[bin_of(middle - spread)])
    lower = float(low[bin_of(below)]) if below >= 1 else -np.inf
    upper = float(high[bin_of(above)]) if above <= n else np.inf
    return Simulated(lower, estimate, upper, float(mcse), n)
