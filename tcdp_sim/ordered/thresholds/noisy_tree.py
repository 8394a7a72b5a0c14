"""The zCDP baselines: noisy counts of the nodes of a b-ary tree for CDFs, a noisy binary search for one quantile."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import log_ndtr

from tcdp_sim.core.arrays import Floats, Ints, Objects
from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.interior.ledger import Step
from tcdp_sim.privacy import ZCDP

MOST_DOMAIN = 2**62
# The measured cost of a level, in random numbers of 10 ns: fixed, per element looked up, per trial of a search.
A_LEVEL, AN_ELEMENT, A_COMPARISON = 1700, 2, 10


@dataclass(frozen=True)
class NoisyTree:
    """A `branching`-ary tree over k elements with noise N(0, levels / rho) in the count of every node: rho-zCDP.

    Substituting a record moves two nodes of each level by one. F(j) is the sum over the nodes that make up {0, ..., j}.
    """

    k: int
    rho: float
    branching: int = 2

    def __post_init__(self) -> None:
        if not (2 <= self.k <= MOST_DOMAIN and 2 <= self.branching <= 2**10):
            raise UserError(f"a tree of k = {self.k}, branching {self.branching} is not valid; valid: 2 <= k <= 2^62")

    @cached_property
    def levels(self) -> int:
        """The number of levels with noise: all but the root, whose count n is public."""
        count, reach = 0, 1
        while reach < self.k:
            count, reach = count + 1, reach * self.branching
        return count

    @property
    def scale(self) -> float:
        """The standard deviation of a node's noise, in records."""
        return sqrt(self.levels / self.rho)

    @property
    def ledger(self) -> tuple[Step, ...]:
        """The ledger, with one line for each level."""
        cost, noise = ZCDP(1 / self.scale**2), Gaussian(self.scale)
        return tuple(Step(f"level {i}", cost, "two shifts of 1", noise=noise, times=2) for i in range(self.levels))

    def work(self, places: int) -> float:
        """Return the forecast cost of one draw of `errors` at so many places, in random numbers.

        It is right within a factor of about 2. Each level draws noise for the siblings of the nodes that contain a
        place. Their number is at most the number of places, and at most the number of nodes.
        """
        parents = sum(min(places, 1 + self.k // self.branching**level) for level in range(1, self.levels + 1))
        return self.levels * (A_LEVEL + AN_ELEMENT * places) + (self.branching - 1) * parents

    def errors(self, places: Sequence[int], *, rng: np.random.Generator) -> Floats:
        """Return one draw of the errors of F at these elements (int64), in records. They do not depend on the data."""
        ends = np.asarray(places, dtype=np.int64) + 1  # F(j) = the nodes left of j + 1
        error = np.zeros(len(ends))
        for level in range(self.levels):
            parent, digit = np.divmod(ends // self.branching**level, self.branching)
            known, index = np.unique(parent, return_inverse=True)
            noise = np.zeros((len(known), self.branching))
            np.cumsum(rng.standard_normal((len(known), self.branching - 1)), axis=1, out=noise[:, 1:])
            error += noise[index, digit]
        return np.where(ends >= self.k, 0.0, self.scale * error)  # all records lie below k


def search_rank(
    values: Ints | Objects, rank: int, k: int, rho: float, trials: int, *, rng: np.random.Generator
) -> Ints:
    """Return the elements that a noisy binary search finds for the order statistic of that rank, int64, one per trial.

    The records `values` are int64 and ascending. The search is rho-zCDP: each of its ceil(log2 k) comparisons reads
    F(middle) + N(0, levels / (2 rho)).
    """
    if not 2 <= k <= MOST_DOMAIN:
        raise UserError(f"k = {k} is not valid; valid: 2 to 2^62")
    levels = (k - 1).bit_length()
    scale, element = sqrt(levels / (2 * rho)), np.zeros(trials, dtype=np.int64)
    for level in range(levels - 1, -1, -1):
        middle = element + (1 << level) - 1
        blurred = np.searchsorted(values, middle, side="right") + scale * rng.standard_normal(trials)
        element += np.where(blurred >= rank - 0.5, 0, 1 << level)
    return np.minimum(element, k - 1)


def search_log_law(values: Ints | Objects, rank: int, k: int, rho: float, elements: Ints) -> Floats:
    """Return the log probabilities of elements as results of `search_rank`, where k is a power of 2.

    An element says how each comparison went, and the noises of the comparisons are independent.
    """
    levels = (k - 1).bit_length()
    scale, logs = sqrt(levels / (2 * rho)), np.zeros(len(elements))
    for level in range(levels - 1, -1, -1):
        middle = (elements >> (level + 1) << (level + 1)) + (1 << level) - 1
        lead = (np.searchsorted(values, middle, side="right") - (rank - 0.5)) / scale
        logs += log_ndtr(np.where(elements >> level & 1, -lead, lead))
    return logs


def search_work(k: int) -> float:
    """Return the forecast cost of one trial of `search_rank`, in random numbers."""
    return A_COMPARISON * (k - 1).bit_length()
