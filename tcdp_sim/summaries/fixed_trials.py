"""The 95% intervals of estimates whose number of trials was fixed in advance."""

from collections.abc import Sequence

import numpy as np

from tcdp_sim.summaries.estimates import CONFIDENCE, NORMAL, proportion, quantile_table
from tcdp_sim.summaries.summary import Distribution


class FixedTrials:
    """The intervals of a table. Subclasses have other ones, for numbers of trials that the data choose."""

    of_mean = f"the mean's normal {CONFIDENCE:.0%} interval"
    of_frequency = of_quantile = f"the exact {CONFIDENCE:.0%} interval"

    def mean(self, d: Distribution, value: float, mcse: float) -> tuple[float, float]:
        """Return the ends for the mean of trials that are not all equal."""
        return value - NORMAL * mcse, value + NORMAL * mcse

    def proportion(self, name: str, hits: int, trials: int) -> tuple[float, float, float, float]:
        """Return the frequency of an event or exceedance, its MCSE and the ends."""
        return proportion(hits, trials)

    def quantiles(self, ds: Sequence[Distribution | None], levels: np.ndarray) -> np.ndarray:
        """Return estimates, MCSEs and ends of the quantiles, shape (4, distributions, levels)."""
        return quantile_table(ds, levels)


FIXED = FixedTrials()
