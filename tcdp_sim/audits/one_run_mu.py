"""A lower bound on mu of Gaussian DP from guesses about the canaries of one run.

Let Z of r guesses about m canaries be correct. Flip the coin of a canary: the event that its guess is correct and
Z >= k becomes the event that its guess is wrong and Z >= k - 1. Under mu-GDP a probability a becomes at most G(a) =
Phi(Phi^-1(a) + mu), which is concave, so the mean over all canaries and coins keeps the order:

    E[Z; Z >= k] / m <= G(E[r - Z; Z >= k - 1] / m)    for every k.

If P[Z >= v] >= p, then E[Z; Z >= v] >= v p, and downwards from k = v these inequalities need more and more mass at
k - 1. The least total mass is that of p at v and equalities: mass a beyond it at k or above needs at most
(r - k) / (r - k + 1) a less at k - 1, and never makes up for it. If the total exceeds 1, then P[Z >= v] < p. The
guesses may depend on the scores in any way, but not on the coins.

The inequality is that of Mahloujifar, Melis and Chaudhuri (2025) [MMC25] as far as the recursion in public code shows;
the proof is derived here.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.core.arrays import Floats

LANES, ROUNDS = 64, 3  # values of mu that are tried at the same time, and how often the interval is cut
MOST = 16.0  # the largest mu that is reported
_SURE = 1 + 1e-9  # times the largest total mass: rounding refutes nothing


def refuted(correct: int, made: int, canaries: int, failure: float, mu: Floats) -> Floats:
    """Return True for each mu under which so many correct guesses or more have a probability below `failure`."""
    right = np.full(len(mu), failure * correct / canaries)
    wrong = np.full(len(mu), failure * (made - correct) / canaries)
    for fewer in range(correct - 1, -1, -1):
        least = np.maximum(wrong, ndtr(ndtri(right) - mu))
        grows = least > wrong
        if not grows.any():
            break
        right = np.minimum(right + fewer / (made - fewer) * (least - wrong), 1.0)
        wrong = least
        if (right + wrong > _SURE * made / canaries)[grows].all():
            break
    return right + wrong > _SURE * made / canaries


def bound(correct: int, made: int, canaries: int, failure: float) -> float:
    """Return the lower confidence bound on mu, at least 0 and at most MOST."""
    low, high = 0.0, MOST
    for _ in range(ROUNDS):
        tried = np.linspace(low, high, LANES)
        found = refuted(correct, made, canaries, failure, tried)
        if not found[0]:
            return low
        last = int(np.flatnonzero(np.logical_and.accumulate(found))[-1])
        low, high = float(tried[last]), float(tried[min(last + 1, LANES - 1)])
    return low
