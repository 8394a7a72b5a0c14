"""Audits: lower bounds on epsilon from outputs of a mechanism, whatever its authors claim.

If a mechanism is (epsilon, delta)-DP then both functions stay at or below epsilon with the stated probability; a result
above a claimed epsilon is evidence against the claim. Bounds hold for every sample size, not only in the limit.
"""

from typing import Any

import numpy as np
from scipy.special import betaincinv

from tcdp_sim.core.errors import real

CELLS = 2**16  # losses are rounded down to this many levels, which costs at most 1/65536 of the largest
BETS = 2.0 ** np.arange(-1, 4)
THRESHOLDS = 200  # tried from each end of each sample
BISECTIONS = 30
CHOOSING = 4  # every fourth output chooses the event: measured, better than every second or eighth


def epsilon_from_losses(losses, delta: float, confidence: float = 0.95) -> float:
    """A lower confidence bound on the epsilon at which a mechanism is (epsilon, delta)-DP, from its privacy losses.

    losses: L(y) = log(P(y) / Q(y)) in nats of independent outputs y ~ P, with the true densities P and Q of the
    mechanism on two neighbours; +inf where Q cannot give y. 0 <= delta < 1, 0 < confidence < 1. Returns 0 if nothing
    is shown, inf if every epsilon is refuted. Raises ValueError for no losses, NaN, or arguments out of range.

    For each epsilon, X = (1 - e^(epsilon - L))_+ is in [0, 1], with mean delta(epsilon) <= delta if the claim is true.
    A gambler who bets a share of what he has on X > delta in every round then gains nothing on average: he ends with 20
    times his stake with probability at most 1/20 (Markov; Waudby-Smith and Ramdas 2024). He spreads his stake over a
    few bets that are fixed in advance. As X falls with epsilon, so does what he ends with: the returned epsilon, the
    largest at which he wins, exceeds the true one only if he wins at the true one. Nothing is paid for trying all.
    """
    delta, doubt = real("delta", delta, 0, 1, closed=True), 1 - real("confidence", confidence, 0, 1)
    losses = _sample("losses", losses)
    count = len(losses)
    certain = np.count_nonzero(losses == np.inf)
    values, times = _rounded_down(losses[(losses > 0) & (losses < np.inf)])
    values, times = np.append(values, np.inf), np.append(times, certain)
    if delta == 0:
        return float(values[times > 0].max(initial=0.0))
    # A deviation of sqrt(2 log(1/doubt) n V) is found with the bet sqrt(2 log(1/doubt) / (n V)), and V <= delta.
    bets = np.minimum(BETS * np.sqrt(-2 * np.log(doubt) / (count * delta)), 0.5 / delta)

    def refuted(epsilon):
        gain = np.log1p(np.multiply.outer(bets, -np.expm1(np.minimum(epsilon - values, 0)) - delta)) @ times
        gain += (count - times.sum()) * np.log1p(-bets * delta)
        return np.logaddexp.reduce(gain) - np.log(len(bets)) >= -np.log(doubt)

    return _largest(refuted, values[:-1].max(initial=0.0))


def epsilon_from_outputs(first, second, delta: float, confidence: float = 0.95) -> float:
    """The same from outputs alone: one number of each output of the mechanism on a data set and on its neighbour.

    first, second: independent real numbers, +-inf allowed, each a function of one output: the output itself, a claimed
    log likelihood ratio, any statistic that tells the two apart (an output withheld may be coded as -inf). A quarter
    of each sample chooses an event {number >= t} or {number <= t} and which data set makes it likelier; the rest gives
    exact (Clopper-Pearson) bounds on its two probabilities, p >= low and q <= high, and epsilon >=
    log((low - delta) / high). Arguments, results and errors as in `epsilon_from_losses`.
    """
    delta, doubt = real("delta", delta, 0, 1, closed=True), 1 - real("confidence", confidence, 0, 1)
    samples = [_sample("first", first), _sample("second", second)]
    chosen, tested = [x[::CHOOSING] for x in samples], [x[np.arange(len(x)) % CHOOSING > 0] for x in samples]
    best = -np.inf
    for sign in (1.0, -1.0):
        ordered = [np.sort(sign * x) for x in chosen]
        ends = np.unique(np.concatenate([_ranks(x) for x in ordered]))
        for one, other in ((0, 1), (1, 0)):
            hits: list[Any] = [len(ordered[i]) - np.searchsorted(ordered[i], ends) for i in (one, other)]
            bounds = _epsilon(hits[0], hits[1], len(ordered[one]), len(ordered[other]), delta, doubt)
            if bounds.max() > best:
                best, event = bounds.max(), (sign, ends[bounds.argmax()], one, other)
    sign, threshold, one, other = event
    hits = [np.count_nonzero(sign * tested[i] >= threshold) for i in (one, other)]
    return max(0.0, float(_epsilon(hits[0], hits[1], len(tested[one]), len(tested[other]), delta, doubt)))


def _epsilon(likely, rare, n, m, delta, doubt):
    """log((p - delta) / q) with p, q the Clopper-Pearson ends, each at half the doubt; -inf if nothing is shown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(np.equal(likely, 0), 0.0, betaincinv(likely, n - np.asarray(likely) + 1, doubt / 2))
        high = np.where(np.equal(rare, m), 1.0, betaincinv(np.asarray(rare) + 1, m - np.asarray(rare), 1 - doubt / 2))
        return np.where(low > delta, np.log((low - delta) / high), -np.inf)


def _ranks(ordered):
    """Order statistics from the upper end, evenly over the logarithm of the rank."""
    rank = np.geomspace(1, len(ordered), THRESHOLDS).astype(int)
    return ordered[len(ordered) - np.unique(rank)]


def _largest(refuted, top: float) -> float:
    """The end of the interval from 0 on in which epsilon is refuted."""
    if not refuted(0.0):
        return 0.0
    if refuted(top):
        return np.inf  # above the largest finite loss only infinite ones count, at every epsilon alike
    low, high = 0.0, top
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return float(low)


def _rounded_down(losses):
    """The values of positive losses and how often each occurs; many are rounded down, which lowers every bound."""
    if len(losses) <= CELLS:
        return losses, np.ones(len(losses))
    step = losses.max() / CELLS
    times = np.bincount(np.floor(losses / step * (1 - 1e-12)).astype(np.int64))
    return step * np.arange(len(times)), times


def _sample(name: str, values):
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2 or np.isnan(array).any():
        raise ValueError(f"{name} is not valid; valid: a list of at least two numbers, none of them NaN")
    return array
