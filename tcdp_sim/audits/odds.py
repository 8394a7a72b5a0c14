"""How many times likelier an event is under one input than under the other: one exact bound from both counts.

Two ends, each with half of the doubt, would have to err together to be needed both. Given how many hits there are in
all, those of one input follow Fisher's noncentral hypergeometric law, which depends on the odds ratio alone.
"""

from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtri

from tcdp_sim.audits import binomial
from tcdp_sim.core.arrays import Floats

SHARE = 0.02  # of the doubt, for the upper end of the likelier probability; the odds ratio gets the rest
WIDTH = 12.0  # standard deviations around the counts that are added up: what is left out makes the bound smaller
FURTHER = 60  # and at least so many counts


def lower_ratio(likely: int, rare: int, trials: int, doubt: float) -> float:
    """The lower confidence bound on p / q, at least 0: above the truth with probability at most `doubt`.

    likely, rare: hits of an event of probability p and of one of probability q, of `trials` independent outputs each.
    With the odds ratio r, p / q = 1 + (r - 1)(1 - p): r has an exact lower bound, p an exact upper end.
    """
    odds = lower_odds(likely, rare, trials, (1 - SHARE) * doubt)
    upper = float(binomial.upper_probability(likely, trials, SHARE * doubt))
    return 1 + (odds - 1) * (1 - upper) if odds > 1 else 0.0


def lower_odds(likely: int, rare: int, trials: int, doubt: float) -> float:
    """The exact conditional lower bound on the odds ratio of two probabilities (Cornfield 1956); arguments as above.

    scipy's, in `stats.contingency.odds_ratio`, is the same for small numbers; it is slow for large ones.
    """
    if likely == 0 or rare == trials:
        return 0.0
    counts, weights = _weights(likely, rare, trials, doubt)
    excess = partial(_log_excess, counts - likely, weights, np.log(doubt))
    guess = np.log((likely + 0.5) * (trials - rare + 0.5) / ((rare + 0.5) * (trials - likely + 0.5)))
    below = above = float(guess)
    step = 1e-3
    while excess(below) > 0:
        below, step = below - step, 2 * step
    while excess(above) < 0:
        above, step = above + step, 2 * step
    return float(np.exp(brentq(excess, below, above, xtol=1e-13) - 1e-12)) if above > below else float(np.exp(below))


def _weights(likely: int, rare: int, trials: int, doubt: float) -> tuple[Floats, Floats]:
    """Counts of the first sample near the one seen, at one total, and the logs of their weights at odds ratio 1."""
    total = likely + rare
    deviation = (sum(1 / (hits + 1) for hits in (likely, rare, trials - likely, trials - rare))) ** -0.5
    reach = int((WIDTH + 2 * abs(float(ndtri(doubt)))) * deviation) + FURTHER
    low, high = max(likely - reach, 0, total - trials), min(likely + reach, total, trials)
    k = np.arange(low, high, dtype=np.float64)
    steps = np.log((trials - k) / (k + 1)) + np.log((total - k) / (trials - total + k + 1))
    return np.arange(low, high + 1.0), np.concatenate([[0.0], np.cumsum(steps)])


def _log_excess(beyond: Floats, weights: Floats, log_doubt: float, log_odds: float) -> float:
    """log P(at least as many as were seen) - log(doubt), at an odds ratio: grows with it."""
    terms = weights + beyond * log_odds
    return float(logsumexp(terms[beyond >= 0]) - logsumexp(terms) - log_doubt)


def forecast(likely, rare, trials: float, doubt: float) -> Floats:
    """About `lower_ratio`, for real hits: a beta quantile by Paulson's cube roots, with the sample's variance."""
    likely, rare = np.maximum(np.asarray(likely, np.float64), 1e-9), np.asarray(rare, np.float64)
    z = -ndtri((1 - SHARE) * doubt) * np.sqrt(np.clip(1 - (likely + rare) / (2 * trials), 0, 1))
    a, b = 1 / (9 * (rare + 1)), 1 / (9 * likely)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(a * (1 - b) ** 2 + b * (1 - a) ** 2 - a * b * z**2, 0))
        odds = likely / (rare + 1) * (((1 - b) ** 2 - b * z**2) / ((1 - a) * (1 - b) + z * root)) ** 3
    odds *= np.maximum(1 - (rare + 1) / trials, 0) / np.maximum(1 - likely / trials, 1 / trials)
    upper = binomial.forecast_upper(likely, trials, SHARE * doubt)
    return np.where((b * z**2 < (1 - b) ** 2) & (odds > 1), 1 + (odds - 1) * (1 - upper), 1e-300)
