"""Lower bounds on Renyi divergences: a bounded function of the score, with exact confidence bounds on its moments.

D_a(P || Q) = sup over bounded g of a/(a-1) log E_P e^((a-1) g) - log E_Q e^(a g), reached at g = log(P/Q) (Birrell
et al. 2021 [BDKRW21], Theorem 3.1, in the scale of Renyi 1961 [Ren61]). One sample chooses g, and another gives the
bound: the first mean is bounded from below, the second from above.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.scores import Score
from tcdp_sim.audits.tables import log_ratio, merged
from tcdp_sim.core.arrays import Floats, Ints

CLIPS = 8  # number of limits on |g| that are tried
MOST_STAKED = 0.9  # largest share of the gambler's capital staked on an output that may be as large as 1
BISECTIONS = 60


@dataclass(frozen=True, eq=False)
class Moment:
    """A step function g of the score, for the Renyi divergence of `order` of one input from the other.

    - edges: the edges of the cells of the score, ascending.
    - steps: g in the cells, in nats.
    - first: True for D(first || second).
    - stakes: the stakes of the gamblers that bound the two means, fixed in advance.
    """

    score: Score
    edges: Floats
    steps: Floats
    order: float
    first: bool
    stakes: tuple[float, float]

    @property
    def words(self) -> str:
        """The moment in words."""
        of = "first from second" if self.first else "second from first"
        return f"Renyi divergence of order {self.order:.4g} of {of}, by {self.score.words} in {len(self.steps)} cells"

    @property
    def values(self) -> tuple[Floats, Floats]:
        """The values e^((order-1) g) and e^(order g) in the cells, each divided by its largest."""
        top = self.steps.max()
        return np.exp((self.order - 1) * (self.steps - top)), np.exp(self.order * (self.steps - top))


def best(
    one: Measure, score: Score, edges: Floats, counts: tuple[Ints, Ints], trials: int, failure: float
) -> tuple[float, Moment | None]:
    """Return the bound that the best moment is expected to show on `trials` fresh outputs, and the moment.

    The result is (-inf, None) if one cell holds all outputs. `counts` holds the outputs of the first and of the second
    input in the cells of the score.
    """
    found: tuple[float, Moment | None] = (-np.inf, None)
    edges, cells = merged(edges, *counts)
    ratios = log_ratio(*cells)
    orders = np.array(one.orders)
    for first in (True, False):
        g, own = (ratios, cells) if first else (-ratios, cells[::-1])
        for clip in np.unique(np.quantile(np.abs(g), np.linspace(0.1, 1, CLIPS))) if len(edges) else ():
            steps = np.clip(g, -clip, clip)
            values, stakes = _forecast(one, steps, orders, own, trials, failure)
            best_order = int(np.argmax(values))
            if values[best_order] > found[0]:
                chosen = float(stakes[0, best_order]), float(stakes[1, best_order])
                moment = Moment(score, edges, steps, float(orders[best_order]), first, chosen)
                found = float(values[best_order]), moment
    return found


def _forecast(
    one: Measure, steps: Floats, orders: Floats, counts: Floats, trials: int, failure: float
) -> tuple[Floats, Floats]:
    """Return each order's expected bound, and the two stakes that achieve it, shape (2, orders).

    A stake s costs about evidence / (s trials) + s variance / 2 of the mean.
    """
    evidence = -np.log(failure / 2)
    ends, stakes = [], []
    for sign, powers, own in zip((-1, 1), (orders - 1, orders), counts):
        values = np.exp(np.multiply.outer(powers, steps - steps.max()))
        total = own.sum()
        mean = values @ own / total
        variance = np.maximum(np.square(values - mean[:, None]) @ own / total, 1 / total**2)
        most = MOST_STAKED if sign > 0 else np.maximum(0.5 / np.maximum(mean, 1 / total), MOST_STAKED)
        stake = np.minimum(np.sqrt(2 * evidence / (variance * trials)), most)
        ends.append(mean + sign * (evidence / (stake * trials) + 0.5 * stake * variance))
        stakes.append(stake)
    shown = one.of_divergence(_divergence(orders, np.maximum(ends[0], 1e-300), ends[1]), orders)
    return np.where(ends[0] > 0, shown, -np.inf), np.stack(stakes)


def bound(one: Measure, moment: Moment, counts: tuple[Ints, Ints], failure: float) -> float:
    """Return the bound that a moment shows at the confidence level 1 - failure, at least 0.

    `counts` holds fresh outputs in the cells of the moment.
    """
    return max(0.0, shown(one, moment, counts, failure))


def shown(one: Measure, moment: Moment, counts: tuple[Ints, Ints], failure: float) -> float:
    """Return the same bound before it is raised to 0; -inf if nothing is shown."""
    own = counts if moment.first else counts[::-1]
    low = _lower_mean(moment.values[0], own[0], moment.stakes[0], failure / 2)
    high = 1 - _lower_mean(1 - moment.values[1], own[1], moment.stakes[1], failure / 2)
    if low <= 0:
        return -np.inf
    return float(one.of_divergence(_divergence(moment.order, low, high), moment.order))


def _lower_mean(values: Floats, counts: Ints, stake: float, failure: float) -> float:
    """Return a lower bound on the mean of independent values in [0, 1] that fails with probability at most `failure`.

    A gambler stakes a share of his capital on every value exceeding m. If m is the mean, he gains nothing on average,
    so he multiplies his capital by 1/failure with probability at most `failure` (Markov; Waudby-Smith and Ramdas 2024
    [WR24]). The bound is the largest m at which he does. Beyond 1 / stake he could lose more than he has, so m stays
    below. The stake must not depend on these values.
    """

    def wins(m: float) -> bool:
        return float(counts @ np.log1p(stake * (values - m))) >= -np.log(failure)

    low, high = 0.0, min(1.0, 0.99 / stake)
    if not wins(low):
        return 0.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if wins(middle) else (low, middle)
    return low


def _divergence(order: Any, first: Any, second: Any) -> Any:
    """Return the divergence from the two means, each divided by its largest value; these factors cancel."""
    return order / (order - 1) * np.log(first) - np.log(second)


def estimate(one: Measure, moment: Moment, counts: tuple[Ints, Ints]) -> float:
    """Return the point estimate of the moment, from the sample means."""
    own = counts if moment.first else counts[::-1]
    first, second = (float(values @ cells / cells.sum()) for values, cells in zip(moment.values, own))
    return float(one.of_divergence(_divergence(moment.order, first, second), moment.order))
