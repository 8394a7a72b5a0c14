"""Quantiles by descent in a noisy binary tree over the whole domain, of which only the visited nodes are drawn."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from tcdp_sim.calibration import calibrate
from tcdp_sim.core import registry
from tcdp_sim.core.arrays import Bools, Floats
from tcdp_sim.noise import Noise
from tcdp_sim.ordered.quantiles.from_prefix_sums import family_for
from tcdp_sim.ordered.quantiles.line import Line, Values
from tcdp_sim.ordered.quantiles.method import Method, ledger_of
from tcdp_sim.privacy import Guarantee

FINER = 10  # levels below a unit, for reals
MOST_LEVELS = 64  # reals are told apart by the leading bits of their place
TILE = 2**17


@dataclass(frozen=True)
class TreeSearch(Method):
    """A noisy binary tree over the whole domain, in which each quantile descends from the root to a leaf.

    All nodes have noisy counts, and all quantiles of a trial see the same ones. From the root down, the difference
    between the estimate of a node and the noisy counts of its children is spread evenly over the children. A quantile
    goes to the left child if its remaining rank is at most the estimate of that child. The estimate of the root is n,
    or a noisy n under add_remove. A domain of any size is possible, because no other node need be drawn. The estimates
    use the counts above a node and of its siblings, but not the counts below it, unlike full least squares
    (`FromPrefixSums`).

    The parameters are those of `Method` and these.

    Source: Dwork et al. (2010) [DNPR10]; Hay et al. (2010) [HRMS10].

    Parameters
    ----------
    depth : int
        The number of levels below the root, from 1 to 64.
    noise : Noise
        The noise of a count, in counts.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> line = Line([100] * 1000, 2**64, "integers")
    >>> method = TreeSearch.of((0.5,), "substitute", ZCDP(10.0), line)
    >>> method.sample(line, 2, rng=np.random.default_rng(0)).tolist()
    [[100], [100]]
    """

    depth: int
    noise: Noise

    @classmethod
    def of(cls, levels: tuple[float, ...], relation: str, guarantee: Guarantee, line: Line) -> "TreeSearch":
        """Return the method with noise that meets the guarantee."""
        depth = min((line.k - 1).bit_length() + (FINER if line.kind == "reals" else 0), MOST_LEVELS)
        shifts = _shifts(depth, relation)
        family = family_for(guarantee)
        if registry.noise(family).isotropic:
            noise: Noise = calibrate(family, guarantee, sqrt(shifts)).noise
        else:
            noise = calibrate(family, guarantee, coordinates=shifts).noise
        return cls(levels, relation, guarantee, depth, noise)

    @property
    def shifts(self) -> int:
        """The number of noisy counts that neighbours move by one."""
        return _shifts(self.depth, self.relation)

    @property
    def ledger(self) -> Any:
        from tcdp_sim.accounting import Additive

        shifts = self.shifts
        if self.noise.isotropic:
            return ledger_of([Additive(self.noise, sqrt(shifts))], self.relation)
        return ledger_of([(Additive(self.noise), shifts)], self.relation)

    def work(self, line: Line) -> float:
        return 15.0 * self.depth * self.m

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        size = max(TILE // self.m, 1)
        return np.concatenate([self._sample(line, min(size, trials - i), rng) for i in range(0, trials, size)])

    def _sample(self, line: Line, trials: int, rng: np.random.Generator) -> Values:
        places, counts = leaves(line, self.depth)
        node = np.zeros((trials, self.m), dtype=np.uint64)  # its number among those of its level
        total = np.full((trials, 1), float(line.n))
        if self.relation == "add_remove":
            total += self.noise.sample(size=(trials, 1), rng=rng)
        estimate = np.broadcast_to(total, node.shape).copy()
        rank = np.array(self.levels) * estimate
        for height in range(self.depth - 1, -1, -1):
            begin, middle = _shifted(node, height + 1), _shifted(2 * node + np.uint64(1), height)
            low, cut = np.searchsorted(places, begin), np.searchsorted(places, middle)
            high = _count_to(places, node, height + 1)
            noise = self._shared(node, rng)
            left = 0.5 * (estimate + (2 * counts[cut] - counts[low] - counts[high]) + noise)
            right_side = rank > left
            rank = np.where(right_side, rank - left, rank)
            estimate = np.where(right_side, estimate - left, left)
            node = 2 * node + right_side.astype(np.uint64)
        leaf = np.sort(node, axis=1)
        if line.kind == "integers":
            return np.asarray(np.minimum(leaf, np.uint64(line.k - 1)))
        return line.element((leaf.astype(np.float64) + 0.5) * (line.k / 2.0**self.depth))

    def _shared(self, node: Values, rng: np.random.Generator) -> Floats:
        """Return left noise minus right noise at every node, the same for neighbouring quantiles at the same node.

        Equal nodes stand side by side up to the order in which quantiles cross.
        """
        order = np.argsort(node, axis=1, kind="stable")
        ordered = np.take_along_axis(node, order, axis=1)
        new: Bools = np.concatenate([np.ones((len(node), 1), bool), ordered[:, 1:] != ordered[:, :-1]], axis=1)
        both = self.noise.sample(size=(int(new.sum()), 2), rng=rng)
        drawn = (both[:, 0] - both[:, 1])[np.cumsum(new.ravel()) - 1].reshape(node.shape)
        noise = np.empty(node.shape)
        np.put_along_axis(noise, order, drawn, axis=1)
        return noise


def _shifts(depth: int, relation: str) -> int:
    """Return the number of noisy counts that neighbours move by one."""
    return depth + 1 if relation == "add_remove" else 2 * depth


def leaves(line: Line, depth: int) -> tuple[Values, Floats]:
    """Return the leaves of all records, ascending, and the numbers 0, 1, ..., n."""
    if line.kind == "integers":
        places = line.values
    else:
        places = np.floor(line.values * (2.0**depth / line.k)).astype(np.uint64)
    return places, np.arange(line.n + 1.0)


def _shifted(node: Values, height: int) -> Values:
    """Return the first leaf of each node of this height. The root of a tree of 2^64 leaves has height 64."""
    return np.zeros_like(node) if height >= MOST_LEVELS else np.left_shift(node, np.uint64(height))


def _count_to(places: Values, node: Values, height: int) -> Values:
    """Return the number of records before the end of each node."""
    if height >= MOST_LEVELS:
        return np.full(node.shape, len(places))
    last = _shifted(node, height) + np.uint64(2**height - 1)
    return np.searchsorted(places, last, side="right")
