"""A noisy tree: the count of every node with equal noise, and prefix sums as sums of few nodes."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.ordered.prefix_sums.factorisation import Factorisation


def levels_needed(k: int, branching: int) -> int:
    """Return the number of levels below the root of a tree with at least k leaves."""
    levels, leaves = 0, 1
    while leaves < k:
        levels, leaves = levels + 1, leaves * branching
    return levels


@dataclass(frozen=True)
class Tree(Factorisation):
    """A tree with noise in every node but the root; a prefix sum is the sum of the nodes that make it up.

    The tree has a power of `branching` leaves, at least k.

    Source: Dwork et al. (2010) [DNPR10]; Chan et al. (2011) [CSS11].

    Parameters
    ----------
    k : int
        The number of bins, at least 2.
    relation : {"add_remove", "substitute"}
        The neighbouring relation. Under substitution the last sum, the number of records, is public.
    branching : int
        The number of children of a node, at least 2.

    Examples
    --------
    >>> Tree(4, "add_remove", 2).variances()
    array([1., 1., 2., 2.])
    """

    k: int
    relation: str
    branching: int

    @property
    def levels(self) -> int:
        """The number of levels with noise."""
        return levels_needed(self.k, self.branching)

    @property
    def noises(self) -> int:
        return sum(self.branching**i for i in range(1, self.levels + 1))

    @property
    def unit_shifts(self) -> int:  # type: ignore[override]
        """One node of each level, or two under substitution."""
        return self.levels * (1 if self.relation == "add_remove" else 2)

    @property
    def sensitivity(self) -> float:
        return sqrt(self.unit_shifts)

    @property
    def largest_move(self) -> float:
        return 1.0

    def variances(self) -> Floats:
        """Return the number of nodes that make up each prefix: the digits of its length in base `branching`."""
        left, count = np.arange(1, self.k + 1), np.zeros(self.k)
        for _ in range(self.levels - 1):
            left, digit = np.divmod(left, self.branching)
            count += digit
        count += left
        count[-1] *= self._last
        return count

    @property
    def _last(self) -> float:
        """Zero if the last prefix sum is public and the tree knows it."""
        return float(self.relation == "add_remove")

    def errors(self, z: Floats) -> Floats:
        """Return the errors, level by level from the root: a child's prefix is its parent's and its left siblings."""
        before, start = np.zeros((len(z), 1)), 0  # the errors of the prefixes that end where a node begins
        total = np.zeros((len(z), 1))
        for level in range(1, self.levels + 1):
            nodes = self.branching**level
            noise = z[:, start : start + nodes].reshape(len(z), -1, self.branching)
            through = np.cumsum(noise, axis=2)
            if level == 1:
                total = through[:, :, -1]
            children = before[:, :, None] + np.concatenate([np.zeros_like(noise[:, :, :1]), through[:, :, :-1]], axis=2)
            before, start = children.reshape(len(z), nodes), start + nodes
        errors = np.concatenate([before[:, 1:], total], axis=1)[:, : self.k]
        errors[:, -1] *= self._last
        return errors
