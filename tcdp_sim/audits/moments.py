"""Renyi divergences from below: a bounded function of the score, whose moments have exact confidence bounds.

D_a(P || Q) = sup over bounded g of a/(a-1) log E_P e^((a-1) g) - log E_Q e^(a g), reached at g = log(P/Q). (Birrell,
Dupuis, Katsoulakis, Rey-Bellet, Wang 2021, Theorem 3.1, in the scale of Renyi 1961.) A g that one sample has chosen
gives a bound on another: the first mean is bounded from below, the second from above.
"""

from dataclasses import dataclass, replace

import numpy as np

from tcdp_sim.arrays import Floats, Ints
from tcdp_sim.audits.claims import Measure
from tcdp_sim.audits.scores import Score
from tcdp_sim.audits.tables import log_ratio, merged

CLIPS = 8  # largest |g| that are tried
MOST_STAKED = 0.9  # of what a gambler has, on one output
BISECTIONS = 60


@dataclass(frozen=True, eq=False)
class Moment:
    """g, a step function of the score, for the divergence of `order` of one input from the other.

    edges: of the score, ascending; steps: g in the cells, in nats; first: whether it is D(first || second); stakes: of
    the gamblers that bound the two means, as chosen beforehand.
    """

    score: Score
    edges: Floats
    steps: Floats
    order: float
    first: bool
    stakes: tuple[float, float]

    @property
    def words(self) -> str:
        """What is averaged, for people."""
        of = "first from second" if self.first else "second from first"
        return f"Renyi divergence of order {self.order:.4g} of {of}, by {self.score.words} in {len(self.steps)} cells"

    @property
    def values(self) -> tuple[Floats, Floats]:
        """e^((order-1) g) and e^(order g), each over its largest."""
        top = self.steps.max()
        return np.exp((self.order - 1) * (self.steps - top)), np.exp(self.order * (self.steps - top))


def best(
    one: Measure, score: Score, edges: Floats, counts: tuple[Ints, Ints], trials: int, doubt: float
) -> tuple[float, Moment | None]:
    """(what it is expected to show, the Moment) in `trials` further outputs; (-inf, None) if one cell has all.

    counts: of the outputs of the first and second input in the cells of the score.
    """
    found: tuple[float, Moment | None] = (-np.inf, None)
    edges, cells = merged(edges, *counts)
    ratios = log_ratio(*cells)
    for first in (True, False):
        g, own = (ratios, cells) if first else (-ratios, cells[::-1])
        for clip in np.unique(np.quantile(np.abs(g), np.linspace(0.1, 1, CLIPS))) if len(edges) else ():
            for order in one.orders:
                moment = Moment(score, edges, np.clip(g, -clip, clip), order, first, (0.0, 0.0))
                value, stakes = _forecast(one, moment, own, trials, doubt)
                if value > found[0]:
                    found = value, replace(moment, stakes=stakes)
    return found


def _forecast(
    one: Measure, moment: Moment, counts: Floats, trials: int, doubt: float
) -> tuple[float, tuple[float, float]]:
    z = np.sqrt(-2 * np.log(doubt / 2))
    ends, stakes = [], []
    for sign, values, own in zip((-1, 1), moment.values, counts):
        total = own.sum()
        mean = float(values @ own / total)
        spread = max(float(np.sqrt(np.square(values - mean) @ own / total)), 1 / total)
        ends.append(max(mean + sign * z * spread / np.sqrt(trials), 1e-300))
        stakes.append(min(z / (spread * np.sqrt(trials)), MOST_STAKED))
    return float(one.of_divergence(_divergence(moment.order, *ends), moment.order)), (stakes[0], stakes[1])


def bound(one: Measure, moment: Moment, counts: tuple[Ints, Ints], doubt: float) -> float:
    """What the moment shows for certain, up to the doubt; at least 0. counts: of further outputs in its cells."""
    own = counts if moment.first else counts[::-1]
    low = _lower_mean(moment.values[0], own[0], moment.stakes[0], doubt / 2)
    high = 1 - _lower_mean(1 - moment.values[1], own[1], moment.stakes[1], doubt / 2)
    if low <= 0:
        return 0.0
    return max(0.0, float(one.of_divergence(_divergence(moment.order, low, high), moment.order)))


def _lower_mean(values: Floats, counts: Ints, stake: float, doubt: float) -> float:
    """Above the mean of independent values in [0, 1] with probability at most `doubt`.

    A gambler who stakes this share on every value being above m gains nothing on average where the mean is m: he ends
    with 1/doubt times his stake with probability at most `doubt` (Markov; Waudby-Smith and Ramdas 2024). The largest m
    at which he does is returned. stake < 1 must not come from these values.
    """

    def wins(m: float) -> bool:
        return float(counts @ np.log1p(stake * (values - m))) >= -np.log(doubt)

    low, high = 0.0, 1.0
    if not wins(low):
        return 0.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if wins(middle) else (low, middle)
    return low


def _divergence(order: float, first: float, second: float) -> float:
    """From the two means, each over the largest value: these cancel."""
    return order / (order - 1) * np.log(first) - np.log(second)


def estimate(one: Measure, moment: Moment, counts: tuple[Ints, Ints]) -> float:
    """What the moment is likely to be: by the means themselves."""
    own = counts if moment.first else counts[::-1]
    first, second = (float(values @ cells / cells.sum()) for values, cells in zip(moment.values, own))
    return float(one.of_divergence(_divergence(moment.order, first, second), moment.order))
