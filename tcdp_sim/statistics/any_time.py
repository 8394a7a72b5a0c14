"""The 95% intervals of estimates that hold at any number of trials, so also at one that the data have chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_sim.statistics import sequences, stopped_counts
from tcdp_sim.summaries.estimates import CONFIDENCE, proportion, quantile_table
from tcdp_sim.summaries.fixed_trials import FixedTrials
from tcdp_sim.summaries.summary import Distribution

FAILURE = 1 - CONFIDENCE


@dataclass(frozen=True)
class AnyTime(FixedTrials):
    """The intervals of a run whose cells have stopped at a decision. Those of means hold asymptotically.

    - tight: the number of trials at which the intervals of means are tightest.
    - looks: the numbers of trials at which a cell may have stopped, ascending.
    - event, asked: the event whose number alone has stopped the cells, and this number; "" and 0 if others did too.
    """

    tight: float
    looks: tuple[int, ...]
    event: str = ""
    asked: int = 0

    of_mean = f"an asymptotic {CONFIDENCE:.0%} interval of the mean for any number of trials"
    of_frequency = of_quantile = f"a {CONFIDENCE:.0%} interval for any number of trials"

    def mean(self, d: Distribution, value: float, mcse: float) -> tuple[float, float]:
        """Return the ends for the mean of trials that are not all equal."""
        centre = sequences.centre(d)
        half = sequences.half_width(centre, FAILURE, self.tight) if centre else np.inf
        return value - half, value + half

    def proportion(self, name: str, hits: int, trials: int) -> tuple[float, float, float, float]:
        """Return the frequency of an event or exceedance, its MCSE and the ends."""
        value, mcse, *_ = proportion(hits, trials)
        if name == self.event and trials in self.looks:
            place = self.looks.index(trials)
            before = self.looks[place - 1] if place else 0
            return value, mcse, *stopped_counts.ends(hits, before, trials, self.asked)
        return value, mcse, *sequences.frequency(hits, trials, FAILURE)

    def quantiles(self, ds: Sequence[Distribution | None], levels: np.ndarray) -> np.ndarray:
        """Return estimates, MCSEs and ends of the quantiles, shape (4, distributions, levels)."""
        return quantile_table(ds, levels, _ranks)


def _ranks(n: int, levels: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of the order statistics around quantiles."""
    return sequences.ranks(n, levels, FAILURE)
