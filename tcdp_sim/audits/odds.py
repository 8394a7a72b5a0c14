"""One exact lower bound on the ratio of an event's probabilities, from the hits of both inputs.

Two separate bounds with half of the failure probability each waste some of it, because they rarely err together. Given
the total number of hits, the hits of one input follow Fisher's noncentral hypergeometric law. That law depends on the
odds ratio alone.
"""

from functools import partial

import numpy as np
from scipy.special import logsumexp, ndtri

from tcdp_sim.audits import binomial
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.search import brentq

SHARE = 0.02  # of the failure probability for the upper end of the likelier input; the odds ratio gets the rest
WIDTH = 12.0  # standard deviations around the counts that are summed; leaving out the rest lowers the bound
FURTHER = 60  # the sum extends at least this many counts


def lower_ratio(likely: int, rare: int, trials: int, failure: float) -> float:
    """Return a lower confidence bound on p / q, at least 0, that fails with probability at most `failure`.

    `likely` and `rare` are the hits of an event of probability p and of one of probability q, out of `trials`
    independent outputs each. With the odds ratio r, p / q = 1 + (r - 1)(1 - p). The bound combines an exact lower bound
    on r with an exact upper end of p.
    """
    odds = lower_odds(likely, rare, trials, (1 - SHARE) * failure)
    upper = float(binomial.upper_probability(likely, trials, SHARE * failure))
    return 1 + (odds - 1) * (1 - upper) if odds > 1 else 0.0


def lower_odds(likely: int, rare: int, trials: int, failure: float) -> float:
    """Return the exact conditional lower bound on the odds ratio of two probabilities (Cornfield 1956 [Cor56]).

    It takes the arguments of `lower_ratio`. `scipy.stats.contingency.odds_ratio` gives the same for small counts and is
    slow for large ones.
    """
    if likely == 0 or rare == trials:
        return 0.0
    counts, weights = _weights(likely, rare, trials, failure)
    excess = partial(_log_excess, counts - likely, weights, np.log(failure))
    guess = np.log((likely + 0.5) * (trials - rare + 0.5) / ((rare + 0.5) * (trials - likely + 0.5)))
    below = above = float(guess)
    step = 1e-3
    while excess(below) > 0:
        below, step = below - step, 2 * step
    while excess(above) < 0:
        above, step = above + step, 2 * step
    return float(np.exp(brentq(excess, below, above, xtol=1e-13) - 1e-12)) if above > below else float(np.exp(below))


def _weights(likely: int, rare: int, trials: int, failure: float) -> tuple[Floats, Floats]:
    """Return the first sample's possible hits near the observed ones, and their log weights at odds ratio 1.

    The total number of hits is fixed.
    """
    total = likely + rare
    deviation = (sum(1 / (hits + 1) for hits in (likely, rare, trials - likely, trials - rare))) ** -0.5
    reach = int((WIDTH + 2 * abs(float(ndtri(failure)))) * deviation) + FURTHER
    low, high = max(likely - reach, 0, total - trials), min(likely + reach, total, trials)
    k = np.arange(low, high, dtype=np.float64)
    steps = np.log((trials - k) / (k + 1)) + np.log((total - k) / (trials - total + k + 1))
    return np.arange(low, high + 1.0), np.concatenate([[0.0], np.cumsum(steps)])


def _log_excess(beyond: Floats, weights: Floats, log_doubt: float, log_odds: float) -> float:
    """Return log P(at least the observed hits) - log(failure) at an odds ratio; it increases with the ratio."""
    terms = weights + beyond * log_odds
    return float(logsumexp(terms[beyond >= 0]) - logsumexp(terms) - log_doubt)


def forecast(likely, rare, trials: float, failure: float) -> Floats:
    """Return an approximation of `lower_ratio` for real-valued hits.

    It is Paulson's cube-root approximation of a beta quantile, with the sample's variance.
    """
    likely, rare = np.maximum(np.asarray(likely, np.float64), 1e-9), np.asarray(rare, np.float64)
    z = -ndtri((1 - SHARE) * failure) * np.sqrt(np.clip(1 - (likely + rare) / (2 * trials), 0, 1))
    a, b = 1 / (9 * (rare + 1)), 1 / (9 * likely)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(a * (1 - b) ** 2 + b * (1 - a) ** 2 - a * b * z**2, 0))
        odds = likely / (rare + 1) * (((1 - b) ** 2 - b * z**2) / ((1 - a) * (1 - b) + z * root)) ** 3
    odds *= np.maximum(1 - (rare + 1) / trials, 0) / np.maximum(1 - likely / trials, 1 / trials)
    upper = binomial.forecast_upper(likely, trials, SHARE * failure)
    return np.where((b * z**2 < (1 - b) ** 2) & (odds > 1), 1 + (odds - 1) * (1 - upper), 1e-300)
