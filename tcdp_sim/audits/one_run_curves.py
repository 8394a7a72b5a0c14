"""Bounds for a claimed trade-off curve from guesses about the canaries of one run.

Let Z of r guesses about m canaries be correct. Flip the coin of a canary: the event that its guess is correct and
Z >= k becomes the event that its guess is wrong and Z >= k - 1. Under a claim, an event of probability a has at least
the probability g(a) after the flip, for a convex increasing g: Phi(Phi^-1(a) - mu) for mu-GDP, and the largest of the
lines e^-epsilon (a - delta) and 1 - delta - e^epsilon (1 - a) for a profile. So the mean over all canaries and coins
keeps the order:

    g(E[Z; Z >= k] / m) <= E[r - Z; Z >= k - 1] / m    for every k.

If P[Z >= v] >= p, then E[Z; Z >= v] >= v p, and downwards from k = v these inequalities need more and more mass at
k - 1. The least total mass is that of p at v and equalities: mass a beyond it at k or above needs at most
(r - k) / (r - k + 1) a less at k - 1, and never makes up for it. If the total exceeds 1, then P[Z >= v] < p. The
guesses may depend on the scores in any way, but not on the coins.

The inequality is that of Mahloujifar, Melis and Chaudhuri (2025) [MMC25] as far as the recursion in public code shows;
the proof is derived here.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.audits.tradeoff import Curve
from tcdp_sim.core.arrays import Bools, Floats

LANES, ROUNDS = 64, 3  # values that are tried at the same time, and how often the interval is cut
MOST_MU, MOST_EPSILON = 16.0, 60.0  # the largest values that are reported
MOST_DIGITS = 300.0  # of a p-value
_SURE = 1 + 1e-9  # times the largest total mass: rounding refutes nothing
Rarer = Callable[[Floats], Floats]  # g, from the probabilities of events to the least ones after a flip


def refuted(correct: int, made: int, canaries: int, failure: Any, rarer: Rarer) -> Bools:
    """Return True where so many correct guesses or more have a probability below `failure`, an array."""
    failure = np.asarray(failure, np.float64)
    right, wrong = failure * correct / canaries, failure * (made - correct) / canaries
    for fewer in range(correct - 1, -1, -1):
        least = np.maximum(wrong, rarer(right))
        grows = least > wrong
        if not grows.any():
            break
        right = np.minimum(right + fewer / (made - fewer) * (least - wrong), 1.0)
        wrong = least
        if (right + wrong > _SURE * made / canaries)[grows].all():
            break
    return np.asarray(right + wrong > _SURE * made / canaries)


def mu(correct: int, made: int, canaries: int, failure: float) -> float:
    """Return the lower confidence bound on mu of Gaussian DP, at least 0 and at most MOST_MU."""

    def tried(values: Floats) -> Bools:
        return refuted(correct, made, canaries, np.full(LANES, failure), lambda a: ndtr(ndtri(a) - values))

    return _last(tried, MOST_MU)


def epsilon(correct: int, made: int, canaries: int, delta: float, failure: float) -> float:
    """Return the lower confidence bound on epsilon at delta, in nats, at least 0 and at most MOST_EPSILON."""

    def tried(values: Floats) -> Bools:
        rarer = Curve(values, np.full(LANES, delta)).rarer_of_each
        return refuted(correct, made, canaries, np.full(LANES, failure), rarer)

    return _last(tried, MOST_EPSILON)


def digits(correct: int, made: int, canaries: int, rarer: Rarer) -> float:
    """Return minus the decimal logarithm of an upper bound on the p-value of a claim, at least 0."""

    def tried(values: Floats) -> Bools:
        return refuted(correct, made, canaries, 10.0**-values, rarer)

    return _last(tried, MOST_DIGITS)


def _last(tried: Callable[[Floats], Bools], most: float) -> float:
    """Return the last value from 0 upwards that is refuted, 0 if none is."""
    low, high = 0.0, most
    for _ in range(ROUNDS):
        values = np.linspace(low, high, LANES)
        found = tried(values)
        if not found[0]:
            return low
        last = int(np.flatnonzero(np.logical_and.accumulate(found))[-1])
        low, high = float(values[last]), float(values[min(last + 1, LANES - 1)])
    return low
