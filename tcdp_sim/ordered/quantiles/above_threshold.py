"""Unbounded quantiles by above-threshold: the first of growing candidates above enough records (Durfee 2023)."""

from dataclasses import dataclass
from math import log, log1p
from typing import ClassVar

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.ordered.quantiles.equal_shares import EqualShares
from tcdp_sim.ordered.quantiles.line import Line, Values
from tcdp_sim.ordered.quantiles.method import scores_move

GROWTH = 1.001
NEGLIGIBLE = 40.0  # nats: candidates and noise that are left out together have log-probability -40 at most
TILE = 2**20


@dataclass(frozen=True)
class AboveThreshold(EqualShares):
    """One above-threshold for each quantile, with the candidates 1.001^i - 1 for i = 0, 1, 2, ...

    A query is the number of records below a candidate. The answer is the first candidate whose query with noise reaches
    level n with noise. Both noises are exponential, with rate epsilon_2 for the queries and epsilon_1 for the level.
    The method needs no upper end of the domain and no sorted records. The end of the domain is the answer if no
    candidate below it passes.

    Privacy, by a proof of ours. Let f be the queries of one neighbour, and f' the queries of the other, with f' <= f <=
    f' + 1. This is true for addition and for substitution, where all queries move one way. Exponential noise may move
    upwards at the cost of its rate. Under substitution, an output for f' stays the same for f if the threshold moves up
    by 1 and the last query's noise by at most 1; in the other direction, if the last noise moves by at most 1. So the
    release is (epsilon_1 + epsilon_2)-DP. Under addition the threshold moves by the level too, which leaves 1 - level
    in one direction and level in the other. So it is (M epsilon_1 + epsilon_2)-DP with M = max(level, 1 - level). Half
    of `epsilon` goes to each part. The paper's own accounting, which may be better, was not available.

    The parameters are those of `Method` and this one.

    Source: Durfee (2023) [Dur23] (from its abstract and introduction; queries and growth from memory).

    Parameters
    ----------
    epsilon : float
        The epsilon of pure DP of one quantile, in nats.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> method = AboveThreshold.of((0.25, 0.75), "substitute", PureDP(1.0))
    >>> method.epsilon
    0.5
    """

    selections: ClassVar[bool] = False

    @property
    def rates(self) -> tuple[Floats, float]:
        """The rates of the noise of the threshold, for each quantile, and of the queries."""
        moves = scores_move(np.array(self.levels)) if self.relation == "add_remove" else np.ones(self.m)
        return 0.5 * self.epsilon / moves, 0.5 * self.epsilon

    def work(self, line: Line) -> float:
        return 3.0 * self.m * min(line.n, log(line.k) / log(GROWTH))

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        candidates = candidate_places(line.k)
        counts = below(line, candidates)
        begins = np.flatnonzero(np.diff(counts, prepend=-1))  # the first candidate of each run with equal counts
        runs = np.diff(begins, append=len(candidates))
        index = np.empty((trials, self.m), dtype=np.int64)
        rates, rate = self.rates
        deep = (log(len(candidates)) + NEGLIGIBLE) / rate
        for j, level in enumerate(self.levels):
            target, high = level * line.n, NEGLIGIBLE / rates[j]
            part = slice(
                int(np.searchsorted(counts[begins], target - deep)),
                int(np.searchsorted(counts[begins], target + high)) + 1,
            )
            values, lengths = counts[begins[part]], runs[part]
            size = max(TILE // max(len(values), 1), 1)
            for done in range(0, trials, size):
                bar = target + rng.standard_exponential(min(size, trials - done)) / rates[j]
                index[done : done + size, j] = begins[part][:1].sum() + first_passage(values, lengths, bar, rate, rng)
        places = np.append(candidates, float(line.k))
        return np.sort(line.element(places[np.minimum(index, len(candidates))]), axis=1)


def candidate_places(k: int) -> Floats:
    """Return the candidates below k."""
    most = int(log(k) / log1p(GROWTH - 1)) + 2
    places = np.power(GROWTH, np.arange(float(most))) - 1
    return np.asarray(places[places < k])


def below(line: Line, places: Floats) -> Ints:
    """Return the numbers of records below places in [0, k)."""
    if line.kind == "reals":
        return np.searchsorted(line.values, places)
    return np.searchsorted(line.values, np.ceil(places).astype(np.uint64))


def first_passage(counts: Ints, lengths: Ints, bar: Floats, rate: float, rng: np.random.Generator) -> Ints:
    """Return the number of the first candidate whose count with Exponential(1 / rate) noise reaches the bar.

    The candidates come in runs with equal counts. Their passages are independent given the bar, so the log-probability
    that none has passed adds up over candidates, and the first passage is where it falls below the logarithm of a
    uniform number. The answer is the number of all candidates if none passes.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        hazard = -np.log1p(-np.exp(-rate * np.maximum(bar[:, None] - counts, 0.0)))
        total = np.cumsum(lengths * hazard, axis=1)
        clock = rng.standard_exponential(len(bar))
        run = (total < clock[:, None]).sum(axis=1)
        inside = np.minimum(run, len(counts) - 1)
        row = np.arange(len(bar))
        before = np.where(inside > 0, total[row, inside - 1], 0.0)
        step = np.floor((clock - before) / hazard[row, inside])
    starts = np.cumsum(lengths) - lengths
    passed = starts[inside] + np.clip(step, 0, lengths[inside] - 1).astype(np.int64)
    return np.asarray(np.where(run < len(counts), passed, lengths.sum()))
