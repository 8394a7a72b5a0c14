"""A noisy tree whose counts are made consistent by least squares, with equal or optimal noise on its levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import whole
from tcdp_sim.ordered.prefix_sums.factorisation import Factorisation
from tcdp_sim.ordered.prefix_sums.tree import levels_needed
from tcdp_sim.privacy.relation import Relation, known_relation

EPS = 2.0**-52


@dataclass(frozen=True)
class WeightedTree(Factorisation):
    """A tree with noise in every node, and prefix sums of the counts that fit all noisy nodes best by least squares.

    The node counts are computed in two passes (Hay et al. 2010 [HRMS10]). From the leaves to the root, the estimate of
    a node is the weighted mean of its own noisy count and the sum of its children's estimates. From the root to the
    leaves, the difference between a node's final count and the sum of its children is spread evenly over the children.

    Source: Hay et al. (2010) [HRMS10].

    Parameters
    ----------
    k : int
        The number of bins, at least 2. The tree has a power of `branching` leaves, at least k.
    relation : {"add_remove", "substitute"}
        The neighbouring relation. Under substitution the count of the root is public and has no noise.
    branching : int
        The number of children of a node, at least 2.
    shares : tuple of float
        The share of rho that each level with noise has, from the leaves upwards, each above 0. Under addition and
        removal the last one is the root's.

    Examples
    --------
    >>> WeightedTree(2, "substitute", 2, (1.0,)).variances()
    array([0.5, 0. ])
    """

    k: int
    relation: str
    branching: int
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.shares) != (needed := noisy_levels(self.k, self.relation, self.branching)):
            raise ValueError(f"shares = {self.shares} is not valid; valid: {needed} numbers, one for each level")
        if not all(np.isfinite(share) and share > 0 for share in self.shares):
            raise ValueError(f"shares = {self.shares} is not valid; valid: finite numbers above 0")

    @property
    def levels(self) -> int:
        """The number of levels below the root."""
        return levels_needed(self.k, self.branching)

    @property
    def noises(self) -> int:
        return sum(self._nodes(height) for height in range(len(self.shares)))

    @property
    def unit_shifts(self) -> int | None:  # type: ignore[override]
        """The nodes that a record moves, if all levels have equal noise."""
        paths = 1 if self.relation == "add_remove" else 2
        return paths * len(self.shares) if len({*self.shares}) == 1 else None

    @property
    def sensitivity(self) -> float:
        paths = 1 if self.relation == "add_remove" else 2
        return sqrt(paths * sum(self._precisions)) * (1 + 100 * EPS)

    @property
    def largest_move(self) -> float:
        return sqrt(max(self._precisions)) * (1 + 100 * EPS)

    @cached_property
    def _precisions(self) -> tuple[float, ...]:
        """The inverse of the variance of each level's noise, from the leaves upwards; their mean is 1."""
        return tuple(share * len(self.shares) / sum(self.shares) for share in self.shares)

    def _nodes(self, height: int) -> int:
        return int(self.branching ** (self.levels - height))

    def variances(self) -> Floats:
        """Return the variances by a recursion over heights.

        The final errors of the children of a node are e / branching + D_i. Here e is the final error of the node, and
        D_i are the deviations of the children's upward estimates from their mean, which are independent of e. So the
        error of a prefix inside a node is a e + (an error independent of e, of variance v).
        """
        upward, root = upward_variances(self.branching, self.levels, self._precisions)
        a, v = np.zeros(1), np.zeros(1)
        for below in upward:
            digit = np.arange(self.branching)[:, None]
            v = (v + below * (digit + a**2 - (digit + a) ** 2 / self.branching)).ravel()
            a = ((digit + a) / self.branching).ravel()
        inside = np.append(v + a**2 * root, root)  # the last one is the whole tree
        return inside[1 : self.k + 1]

    def errors(self, z: Floats) -> Floats:
        upward, variance = [], np.inf
        estimate, start = np.zeros((len(z), self._nodes(0))), 0
        for height in range(self.levels + 1):
            nodes = self._nodes(height)
            below = estimate if height == 0 else estimate.reshape(len(z), nodes, self.branching).sum(axis=2)
            variance_below = np.inf if height == 0 else variance * self.branching
            if height < len(self.shares):
                own = z[:, start : start + nodes] / sqrt(self._precisions[height])
                weight = self._precisions[height] / (self._precisions[height] + 1 / variance_below)
                estimate, start = weight * own + (1 - weight) * below, start + nodes
                variance = 1 / (self._precisions[height] + 1 / variance_below)
            else:
                estimate = np.zeros_like(below)  # the root under substitution
            upward.append(estimate)
        final = upward.pop()
        while upward:
            children = upward.pop().reshape(len(z), final.shape[1], self.branching)
            off = (final - children.sum(axis=2))[:, :, None] / self.branching
            final = (children + off).reshape(len(z), -1)
        return np.cumsum(final, axis=1)[:, : self.k]


def noisy_levels(k: int, relation: str, branching: int) -> int:
    """Return the number of levels with noise: all levels, without the root under substitution."""
    return levels_needed(k, branching) + (known_relation(relation) == Relation.ADD_REMOVE)


def upward_variances(branching: int, levels: int, precisions: Sequence[float]) -> tuple[list[float], float]:
    """Return the variances of the upward estimates of each height below the root, and of the root."""
    upward, information = [], 0.0
    for height in range(levels):
        information = precisions[height] + (information / branching if height else 0.0)
        upward.append(1 / information)
    if len(precisions) == levels:
        return upward, 0.0
    return upward, 1 / (precisions[levels] + information / branching)


@lru_cache(maxsize=256)
def best_shares(k: int, relation: str, branching: int) -> tuple[float, ...]:
    """Return the shares of rho with the least mean square error over all leaves of the tree, found numerically."""
    k, branching = whole("k", k, 2, 2**53), whole("branching", branching, 2, 2**53)
    levels, count = levels_needed(k, branching), noisy_levels(k, relation, branching)

    def cost(logs: Floats) -> float:
        shares = np.exp(logs - logs.max())
        return float(np.log(_mean_variance(branching, levels, shares / shares.mean())))

    from scipy.optimize import minimize  # slow to import

    found = np.exp(minimize(cost, np.zeros(count), method="BFGS", options={"gtol": 1e-7}).x)
    return tuple(float(f"{share:.9g}") for share in found / found.sum())


def _mean_variance(branching: int, levels: int, precisions: Floats) -> float:
    """Return the mean of the variances of all prefixes of a full tree, by the moments of a uniform place in it."""
    upward, root = upward_variances(branching, levels, precisions.tolist())
    b = branching
    mean, square = (b - 1) / 2, (b - 1) * (2 * b - 1) / 6  # of a uniform digit
    a, a2, v = 0.0, 0.0, 0.0
    for below in upward:
        sums = square + 2 * mean * a + a2  # E (digit + a)^2
        v += below * (mean + a2 - sums / b)
        a, a2 = (mean + a) / b, sums / b**2
    return v + root * (a2 + float(b) ** -levels)
