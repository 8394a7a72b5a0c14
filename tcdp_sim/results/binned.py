"""The binned trials of several cells on common bins, and their probabilities and tails with intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Bools, Floats, Ints
from tcdp_sim.summaries.estimates import NORMAL, UNSEEN

LEVEL = 0.95
FEW = 128  # occupied bins up to which none are merged, and about as many as there are afterwards
INNER = 0.01  # of the trials lie outside of the bins of equal width, on each side


@dataclass(frozen=True)
class Binned:
    """Counts of several cells in common bins, which are in order and leave no gap between the first and the last.

    - lower, upper: the edges, shape (bins,). A bin holds its lower edge and not its upper one above zero, and the other
      way round below. A bin with equal edges holds this value alone.
    - belongs_above: True where the upper edge itself is above the bin, shape (bins,).
    - counts: shape (cells, bins).
    - minus, plus: infinite trials, shape (cells,).
    """

    lower: Floats
    upper: Floats
    belongs_above: Bools
    counts: Ints
    minus: Ints
    plus: Ints

    @property
    def trials(self) -> Ints:
        """The trials of each cell, shape (cells,)."""
        return self.counts.sum(axis=1) + self.minus + self.plus

    @property
    def above(self) -> Ints:
        """The trials above each bin, infinite ones included, shape (cells, bins)."""
        return self.plus[:, None] + self.counts.sum(axis=1, keepdims=True) - np.cumsum(self.counts, axis=1)

    def in_bins(self, edges: Iterable[float]) -> "Binned":
        """Return the counts in fewer bins, with those edges of these bins that lie nearest to `edges`."""
        with np.errstate(over="ignore"):  # of distances between the two ends of all floats
            starts = np.unique([0, *(int(np.abs(self.lower - edge).argmin()) for edge in edges)])
        ends = np.append(starts[1:], len(self.lower)) - 1
        counts = np.add.reduceat(self.counts, starts, axis=1)
        return Binned(self.lower[starts], self.upper[ends], self.belongs_above[ends], counts, self.minus, self.plus)

    def usual(self) -> "Binned":
        """Return the counts in about FEW bins: of equal width, but for the tails, where widths double."""
        if np.count_nonzero(self.counts.any(axis=0)) <= FEW:
            return self
        total = np.cumsum(self.counts.sum(axis=0))
        low, high = self.lower[np.searchsorted(total, [INNER * total[-1], (1 - INNER) * total[-1]])]
        with np.errstate(over="ignore"):  # a step may lead beyond all floats
            steps = (high / FEW - low / FEW or 1.0) * 2.0 ** np.arange(64)
            edges = np.concatenate([between(low, high, FEW + 1), low - steps, high + steps])
        return self.in_bins(edges[np.isfinite(edges)])


def between(low: float, high: float, count: int) -> Floats:
    """Return `count` numbers from `low` to `high` at equal distances, also where their difference is beyond floats."""
    share = np.linspace(0.0, 1.0, count)
    return low * (1 - share) + high * share


def together(cells: Sequence[tuple[Floats, Floats, Ints]], minus: Ints, plus: Ints) -> Binned:
    """Return cells on common bins; each is given by the edges of its occupied bins, ascending, and their counts."""
    edges = np.unique(np.concatenate([np.stack([low, high], axis=1) for low, high, _ in cells]), axis=0)
    lower, upper = _without_gaps(edges[:, 0], edges[:, 1])
    counts = np.zeros((len(cells), len(lower)), np.int64)
    for row, (low, high, found) in zip(counts, cells):
        row[_places(lower, upper, low, high)] = found
    belongs_above = (lower < upper) & (upper >= 0)  # 0 is in its own bin
    return Binned(lower, upper, belongs_above, counts, minus, plus)


def _without_gaps(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the edges of bins with an empty bin in each gap between them."""
    gaps = high[:-1] < low[1:]
    lower, upper = np.append(low, high[:-1][gaps]), np.append(high, low[1:][gaps])
    order = np.lexsort((upper, lower))
    return lower[order], upper[order]


def _places(lower: Floats, upper: Floats, low: Floats, high: Floats) -> Ints:
    """Return the places of bins, given by their edges, among all of them. Zero has a bin of its own."""
    first = np.searchsorted(lower, low)
    return first + (upper[first] != high)


def interval(hits: Ints, trials: Ints) -> tuple[Floats, Floats]:
    """Return the ends of the exact (Clopper-Pearson) 95% interval of probabilities; the shapes broadcast."""
    from scipy.special import betaincinv  # slow to import

    half, misses = (1 - LEVEL) / 2, trials - hits
    lower = np.where(hits > 0, betaincinv(np.maximum(hits, 1), misses + 1, half), 0.0)
    upper = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1), 1 - half), 1.0)
    return lower, upper


def deltas(binned: Binned, epsilons: Floats) -> tuple[Floats, Floats, Floats]:
    """Return delta(epsilon) = E[(1 - e^(epsilon - L))_+] of losses L, and its 95% interval, each (cells, epsilons).

    A loss counts at the middle of its bin, and at the bin's ends for the interval. The interval is the normal one,
    widened on both sides by the most that losses too rare for the trials may add. If fewer than 30 trials exceed
    epsilon, it reaches from 0 to the exact upper end of P[L > epsilon], which is above delta.
    """
    middle, low, high = (
        -np.expm1(np.minimum(epsilons[:, None] - at, 0.0))
        for at in (0.5 * binned.lower + 0.5 * binned.upper, binned.lower, binned.upper)
    )
    trials = binned.trials[:, None]
    mean, least, most = ((binned.counts @ part.T + binned.plus[:, None]) / trials for part in (middle, low, high))
    square = (binned.counts @ (middle**2).T + binned.plus[:, None]) / trials
    error = NORMAL * np.sqrt(np.maximum(square - mean**2, 0.0) / trials) + UNSEEN / trials
    exceed = binned.counts @ (high > 0).T.astype(np.int64) + binned.plus[:, None]
    few = exceed < 30
    lower = np.where(few, 0.0, np.maximum(least - error, 0.0))
    return mean, lower, np.where(few, interval(exceed, trials)[1], np.minimum(most + error, 1.0))
