"""Lower confidence bounds on epsilon from outputs of a mechanism.

If a mechanism is (epsilon, delta)-DP, both functions return at most epsilon with the stated probability. A result
above a claimed epsilon is evidence against the claim. The bounds hold for every sample size, not only in the limit.
"""

from typing import Any

import numpy as np
from scipy.special import betaincinv

from tcdp_sim.core.errors import real, unmasked

CELLS = 2**16  # losses are rounded down to this many levels, which costs at most 1/65536 of the largest
BETS = 2.0 ** np.arange(-1, 4)
THRESHOLDS = 200  # thresholds that are tried from each end of each sample
BISECTIONS = 30
CHOOSING = 4  # every fourth output chooses the event; measured to be better than every second or eighth


def epsilon_from_losses(losses, delta: float, level: float = 0.95) -> float:
    """Return a lower confidence bound on the epsilon of a mechanism's (epsilon, delta)-DP, from its privacy losses.

    For each epsilon let X = (1 - e^(epsilon - L))_+. It is in [0, 1], and its mean is delta(epsilon) <= delta if the
    claim is true. A gambler who bets a share of his capital on X > delta in every round then gains nothing on average.
    So he ends with 20 times his stake with probability at most 1/20 (Markov). He spreads his stake over a few bets that
    are fixed in advance. X and his final capital fall with epsilon. The result is the largest epsilon at which he wins,
    and it exceeds the true epsilon only if he wins at the true one. So trying all epsilons costs no confidence.

    Source: Waudby-Smith and Ramdas (2024) [WR24].

    Parameters
    ----------
    losses : array of shape (n,), n >= 2
        L(y) = log(P(y) / Q(y)) in nats for independent outputs y ~ P. P and Q are the true densities of the mechanism
        on two neighbours. The loss is +inf where Q cannot give y.
    delta : float
        The delta of the claim, in [0, 1).
    level : float
        The confidence level, which is the probability with which the bound holds, in (0, 1).

    Returns
    -------
    float
        The bound, in nats; 0 if nothing is shown, inf if every epsilon is refuted.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> losses = 0.5 + rng.standard_normal(100_000)  # N(0, 1) and N(1, 1): epsilon is 2.32 at this delta
    >>> 2.1 < epsilon_from_losses(losses, delta=0.01) < 2.32
    True
    """
    delta, failure = real("delta", delta, 0, 1, closed=True), 1 - real("level", level, 0, 1)
    losses = _sample("losses", losses)
    count = len(losses)
    certain = np.count_nonzero(losses == np.inf)
    values, times = _rounded_down(losses[(losses > 0) & (losses < np.inf)])
    values, times = np.append(values, np.inf), np.append(times, certain)
    if delta == 0:
        return float(values[times > 0].max(initial=0.0))
    # The bet sqrt(2 log(1/failure) / (n V)) detects a deviation of sqrt(2 log(1/failure) n V), and V <= delta.
    bets = np.minimum(BETS * np.sqrt(-2 * np.log(failure) / (count * delta)), 0.5 / delta)

    def refuted(epsilon):
        gain = np.log1p(np.multiply.outer(bets, -np.expm1(np.minimum(epsilon - values, 0)) - delta)) @ times
        gain += (count - times.sum()) * np.log1p(-bets * delta)
        return np.logaddexp.reduce(gain) - np.log(len(bets)) >= -np.log(failure)

    return _largest(refuted, values[:-1].max(initial=0.0))


def epsilon_from_outputs(first, second, delta: float, level: float = 0.95) -> float:
    """Return a lower confidence bound on the epsilon of a mechanism's (epsilon, delta)-DP, from its outputs alone.

    A quarter of each sample chooses an event {number >= t} or {number <= t}, and the data set that makes it likelier.
    The rest gives exact (Clopper-Pearson) bounds on its two probabilities, p >= low and q <= high. Then epsilon >=
    log((low - delta) / high).

    Source: Clopper and Pearson (1934) [CP34].

    Parameters
    ----------
    first, second : array of shape (n,), n >= 2
        Independent real numbers (also +-inf), each a function of one output on a data set and on its neighbour.
        Examples are the output itself, a claimed log likelihood ratio, or any statistic that tells the two apart. An
        output that is withheld may be coded as -inf.
    delta : float
        The delta of the claim, in [0, 1).
    level : float
        The confidence level, which is the probability with which the bound holds, in (0, 1).

    Returns
    -------
    float
        The bound, in nats; 0 if nothing is shown.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.laplace(size=(2, 20_000))  # epsilon = 1 for answers that differ by 1
    >>> 0.8 < epsilon_from_outputs(noise[0], noise[1] + 1, delta=0) < 1
    True
    """
    delta, failure = real("delta", delta, 0, 1, closed=True), 1 - real("level", level, 0, 1)
    samples = [_sample("first", first), _sample("second", second)]
    chosen, tested = [x[::CHOOSING] for x in samples], [x[np.arange(len(x)) % CHOOSING > 0] for x in samples]
    best = -np.inf
    for sign in (1.0, -1.0):
        ordered = [np.sort(sign * x) for x in chosen]
        ends = np.unique(np.concatenate([_ranks(x) for x in ordered]))
        for one, other in ((0, 1), (1, 0)):
            hits: list[Any] = [len(ordered[i]) - np.searchsorted(ordered[i], ends) for i in (one, other)]
            bounds = _epsilon(hits[0], hits[1], len(ordered[one]), len(ordered[other]), delta, failure)
            if bounds.max() > best:
                best, event = bounds.max(), (sign, ends[bounds.argmax()], one, other)
    sign, threshold, one, other = event
    hits = [np.count_nonzero(sign * tested[i] >= threshold) for i in (one, other)]
    return max(0.0, float(_epsilon(hits[0], hits[1], len(tested[one]), len(tested[other]), delta, failure)))


def _epsilon(likely, rare, n, m, delta, failure):
    """Return log((p - delta) / q) for Clopper-Pearson ends p, q at half of `failure` each; -inf if none is shown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(np.equal(likely, 0), 0.0, betaincinv(likely, n - np.asarray(likely) + 1, failure / 2))
        high = np.where(np.equal(rare, m), 1.0, betaincinv(np.asarray(rare) + 1, m - np.asarray(rare), 1 - failure / 2))
        return np.where(low > delta, np.log((low - delta) / high), -np.inf)


def _ranks(ordered):
    """Return order statistics from the upper end, spaced evenly in the logarithm of the rank."""
    rank = np.geomspace(1, len(ordered), THRESHOLDS).astype(int)
    return ordered[len(ordered) - np.unique(rank)]


def _largest(refuted, top: float) -> float:
    """Return the upper end of the interval of refuted epsilons, which begins at 0."""
    if not refuted(0.0):
        return 0.0
    if refuted(top):
        return np.inf  # above the largest finite loss only infinite losses count, equally at every epsilon
    low, high = 0.0, top
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return float(low)


def _rounded_down(losses):
    """Return the distinct positive losses and their frequencies. Rounding many losses down lowers every bound."""
    if len(losses) <= CELLS:
        return losses, np.ones(len(losses))
    step = losses.max() / CELLS
    times = np.bincount(np.floor(losses / step * (1 - 1e-12)).astype(np.int64))
    return step * np.arange(len(times)), times


def _sample(name: str, values):
    array = np.asarray(unmasked(name, values), dtype=np.float64)
    if array.ndim != 1 or len(array) < 2 or np.isnan(array).any():
        raise ValueError(f"{name} is not valid; valid: a list of at least two numbers, none of them NaN")
    return array
