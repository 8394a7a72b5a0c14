"""The choice of a level of the tree by the exponential mechanism, at a cost that does not depend on their number."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats, Ints, Weights
from tcdp_sim.ordered.interior.level_profile import LevelProfile


@dataclass(frozen=True, eq=False)
class LevelCells:
    """Stretches of levels of equal quality: their first and last levels and their quality."""

    first: Ints
    last: Ints
    quality: Weights

    def log_pmf(self, epsilon: float) -> Floats:
        """Return the log-probability that the exponential mechanism chooses a level of each stretch."""
        weight = 0.5 * epsilon * self.quality + np.log(self.last - self.first + 1.0)
        return weight - logsumexp(weight)


def level_cells(profile: LevelProfile, lower: float, upper: float) -> LevelCells:
    """Return the quality min(heaviest(l) - lower, upper - heaviest(l - 1)) of every level l.

    The quality has the sensitivity of a node. It is positive iff some node of level l weighs more than `lower` and none
    of level l - 1 as much as `upper`. Within a run only its first level differs from the others.
    """
    heavy = profile.heaviest.astype(np.float64)
    below = np.concatenate([[0.0], heavy[:-1]])
    first = np.minimum(heavy - lower, upper - below)
    rest = np.minimum(heavy - lower, upper - heavy)
    longer = profile.ends > profile.starts
    return LevelCells(
        np.concatenate([profile.starts, profile.starts[longer] + 1]),
        np.concatenate([profile.starts, profile.ends[longer]]),
        np.concatenate([first, rest[longer]]),
    )


def sample_levels(cells: LevelCells, epsilon: float, trials: int, *, rng: np.random.Generator) -> tuple[Ints, Weights]:
    """Return the level of each trial and its quality."""
    edges = np.cumsum(np.exp(cells.log_pmf(epsilon)))
    chosen = np.minimum(np.searchsorted(edges, edges[-1] * rng.random(trials), side="right"), len(edges) - 1)
    return rng.integers(cells.first[chosen], cells.last[chosen] + 1), cells.quality[chosen]
