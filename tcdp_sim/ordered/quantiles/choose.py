"""The exponential mechanism on many stretches of gaps at once: one gap from each, exactly."""

from math import log, log2

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints

NEGLIGIBLE = 40.0  # nats: the largest log-probability of all gaps left out together is -40
SMALLEST = 2.0**-60  # units: the length that gaps at the target are taken to have at least


def window(k: int, least: float, equal: int, eta: float) -> float:
    """Return the distance from the target, in records, beyond which all gaps together have probability e^-40 at most.

    `least`: the length of the shortest gap that is not empty. `equal`: the largest number of equal records: some gap
    that close to the target is not empty. `eta`: the log-probability lost per record.
    """
    return 1 + equal + (log(2) * log2(k) - log(least) + NEGLIGIBLE) / eta


def choose_gaps(
    logs: Floats,
    rows: Ints,
    first: Ints,
    last: Ints,
    ends: tuple[Floats, Floats],
    target: Floats,
    eta: Floats,
    reach: float,
    *,
    rng: np.random.Generator,
) -> Ints:
    """Return one gap of each stretch, with probability in proportion to length * exp(-eta |rank - target|).

    `rows`: the row of `logs` for each stretch. `first`, `last`: the first and the last gap of each stretch. The first
    gap has rank 0. `ends`: the lengths of the first and the last gap within the stretch, equal where these are the same
    gap. `reach`: the distance from the target beyond which gaps are left out (`window`).
    """
    # a target within its stretch keeps at least one gap
    low = np.maximum(np.floor(target - reach), 0).astype(np.int64)
    high = np.minimum(np.ceil(target + reach), last - first).astype(np.int64)
    counts = high - low + 1
    starts = np.cumsum(counts) - counts
    stretch = np.repeat(np.arange(len(counts)), counts)
    rank = np.arange(len(stretch)) - np.repeat(starts - low, counts)
    score = logs[np.repeat(rows, counts), rank + np.repeat(first, counts)]
    with np.errstate(divide="ignore"):
        for at_end, place, length in (
            (low == 0, starts, ends[0]),
            (high == last - first, starts + counts - 1, ends[1]),
        ):
            score[place[at_end]] = np.log(length[at_end])
    score -= np.repeat(eta, counts) * np.abs(rank - np.repeat(target, counts))
    score -= np.log(rng.standard_exponential(len(score)))
    best = np.maximum.reduceat(score, starts)
    winners = np.flatnonzero(score == np.repeat(best, counts))[::-1]
    chosen = np.empty(len(counts), dtype=np.int64)
    chosen[stretch[winners]] = rank[winners]  # of several winners, all empty, the first one counts
    return np.asarray(first + chosen)
