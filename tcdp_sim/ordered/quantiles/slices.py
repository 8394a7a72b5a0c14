"""Quantiles from slices of records around noisy ranks: SliceQuantiles (Imola et al. 2025), under substitution."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import ceil, exp, log, log1p
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.search import minimize_scalar
from tcdp_sim.noise import DiscreteLaplace
from tcdp_sim.ordered.prefix_sums import Tree
from tcdp_sim.ordered.quantiles.line import Gaps, Line, Values
from tcdp_sim.ordered.quantiles.method import Method, ledger_of
from tcdp_sim.ordered.quantiles.recursive import rounds_of
from tcdp_sim.privacy import ApproxDP, Guarantee

FAILURE = 0.05  # probability, by design, that some selection leaves its slice
TILE = 2**20
Place = tuple[Ints, Floats]


@dataclass(frozen=True)
class Slices(Method):
    """SliceQuantiles: a quantile is the private median of a slice of records around a noisy rank.

    A tree with discrete Laplace noise in every node gives correlated noise for all ranks, as for running counts. A
    slice consists of the h records on either side of a noisy rank and the one between. An exponential mechanism selects
    from each slice, in the order of `Recursive`, between the outputs on both sides. Records on integers are first moved
    to uniform places within their units, because records must be distinct. With many equal reals the method fails.

    Privacy, by a proof of ours. Substitution of x by x' > x moves the records between them by one rank. If slices are
    disjoint, moving the noise of the slices between x and x' by one gives them the same records. That changes the tree
    along two paths, and costs epsilon / 2 at a scale of 4 levels / epsilon. The slices of x and x' change by one record
    each, which costs epsilon / 4 each at eta = epsilon / 8. Slices are disjoint, also after the move, if no rank is off
    by more than half the distance of neighbouring ranks, less h + 1. `of` refuses unless this fails with probability
    delta at most, by Chernoff's bound and a union bound. So the release is (epsilon, delta)-DP.

    The paper's text was not available. The slices, their size, the even split of epsilon and the recursion follow the
    authors' published code. It has another counter (a tree with subtraction, of about the same variance) and gives
    selections epsilon / 6 each. The paper also has a mechanism with pure DP, and a relation of addition and removal,
    which are not here.

    The parameters are those of `Method` and these.

    Source: Imola et al. (2025) [IBKARP25].

    Parameters
    ----------
    half : int
        h, the number of records of a slice on either side of its rank.

    Examples
    --------
    >>> line = Line(range(40_000), 2**16, "integers")
    >>> method = Slices.of((0.25, 0.5, 0.75), "substitute", ApproxDP(1.0, 1e-6), line)
    >>> method.half, method.needed_gap(1e-6)
    (212, 610)
    """

    half: int

    @classmethod
    def of(cls, levels: tuple[float, ...], relation: str, guarantee: Guarantee, line: Line) -> "Slices":
        """Return the method with slices for this domain.

        Raises UserError if the relation or guarantee is another one, or if neighbouring ranks are too close.
        """
        if relation != "substitute":
            raise UserError(f"neighbours = {relation} is not valid for slices; valid: substitute")
        if not isinstance(guarantee, ApproxDP):
            raise UserError(f"{guarantee} is not valid for slices; valid: ApproxDP, by epsilon and delta")
        half = ceil(8 / guarantee.epsilon * log(2 * len(levels) * line.k * line.n / FAILURE))  # gaps of 1 / n units
        made = cls(levels, relation, guarantee, half)
        found, needed = int(np.diff([0, *made.ranks(line.n), line.n]).min()), made.needed_gap(guarantee.delta)
        if found < needed:
            raise UserError(
                f"n = {line.n:,} is not valid for {made.m} slices: neighbouring ranks are {found} apart, and must be "
                f"{needed}; valid: about {ceil(needed * line.n / max(found, 1)):,} records, or fewer quantiles"
            )
        return made

    def ranks(self, n: int) -> Ints:
        """Return the ranks of the quantiles among n records."""
        return np.floor(np.array(self.levels) * n).astype(np.int64)

    @cached_property
    def tree(self) -> Tree:
        """The tree whose prefix sums are the noise of the ranks, with the branching of the least mean variance."""
        k = max(self.m, 2)
        trees = (Tree(k, "add_remove", branching) for branching in range(2, k + 1))
        return min(trees, key=lambda tree: tree.levels**2 * float(tree.variances()[: self.m].mean()))

    @cached_property
    def noise(self) -> DiscreteLaplace:
        """The noise of a node."""
        return DiscreteLaplace(4 * self.tree.levels / self.guarantee.epsilon)  # type: ignore[attr-defined]

    @property
    def eta(self) -> float:
        """The log-probability that a selection loses per record."""
        return float(self.guarantee.epsilon / 8)  # type: ignore[attr-defined]

    def needed_gap(self, delta: float) -> int:
        """Return the distance of neighbouring ranks from which on slices are disjoint with probability 1 - delta."""
        nodes = int(self.tree.variances().max())
        return 2 * (self.half + 1 + ceil(largest_noise(self.noise.scale, nodes, delta / self.m)))

    @property
    def ledger(self) -> Any:
        from tcdp_sim.accounting import Claimed

        return ledger_of([Claimed(self.guarantee)], self.relation)

    def work(self, line: Line) -> float:
        return 8.0 * self.m * (2 * self.half + 2) + 10 * self.tree.noises

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        rows = self.m * (2 * self.half + 2) + (line.n if line.kind == "integers" else 0)
        size = max(TILE // rows, 1)
        return np.concatenate([self._sample(line, min(size, trials - i), rng) for i in range(0, trials, size)])

    def _sample(self, line: Line, trials: int, rng: np.random.Generator) -> Values:
        z = np.empty((trials, self.tree.noises))
        self.noise.fill(out=z, rng=rng)
        centre = self.ranks(line.n) + np.rint(self.tree.errors(z)).astype(np.int64)[:, : self.m]
        places = _Places(Gaps.of(line, trials, rng=rng), trials)
        record = np.zeros((trials, self.m + 2), dtype=np.int64)  # the record below each output, and both ends
        offset = np.zeros((trials, self.m + 2))
        record[:, -1] = line.n + 1
        for node in chain(*rounds_of(self.levels)):
            low, high = ((record[:, [end]], offset[:, [end]]) for end in (node.low, node.high))
            ranks = centre[:, [node.middle - 1]] + np.arange(
                1 - self.half, self.half + 2
            )  # the least record has rank 1
            record[:, node.middle], offset[:, node.middle] = self._choose(places, ranks, low, high, rng)
        return places.outputs(record[:, 1:-1], offset[:, 1:-1])

    def _choose(self, places: "_Places", ranks: Ints, low: Place, high: Place, rng: np.random.Generator) -> Place:
        """Return the record below an output and the output's distance from it, for a slice of ranks in each row.

        The output lies between two places. Records of the slice beyond them count, but leave gaps of length 0.
        """
        inside = (ranks >= 1) & (ranks <= places.n)
        before = (ranks < 1).sum(axis=1, keepdims=True)  # ranks that no record has
        count = inside.sum(axis=1, keepdims=True)
        records = np.clip(ranks, 1, places.n)
        width = places.between(low, high)
        edges = np.clip(places.between(low, (records, np.zeros(records.shape))), 0.0, width)
        edges = np.where(inside, edges, np.where(ranks < 1, 0.0, width))
        sizes = np.diff(edges, axis=1, prepend=0.0, append=width)
        rank = np.clip(np.arange(sizes.shape[1]) - before, 0, count)
        with np.errstate(divide="ignore"):
            score = np.log(sizes) - self.eta * np.abs(rank - 0.5 * count)
        piece = np.argmax(score - np.log(rng.standard_exponential(sizes.shape)), axis=1)[:, None]
        drawn = np.take_along_axis(sizes, piece, axis=1) * rng.random(piece.shape)
        left = np.maximum(piece - 1, 0)
        begin = np.where(piece > 0, np.take_along_axis(edges, left, axis=1), 0.0)
        own = (piece > 0) & np.take_along_axis(inside, left, axis=1) & (begin > 0)
        found = np.where(own, np.take_along_axis(records, left, axis=1), low[0])
        return found[:, 0], np.where(own, drawn, low[1] + begin + drawn)[:, 0]


class _Places:
    """Places as pairs (number of the record below, distance from it); the end of the domain is record n + 1."""

    def __init__(self, gaps: Gaps, trials: int) -> None:
        line = gaps.line
        self.gaps, self.n = gaps, line.n
        last = np.array([line.k - 1 if line.kind == "integers" else line.k], dtype=line.values.dtype)
        self.values = np.concatenate([np.zeros(1, line.values.dtype), line.values, last])
        beyond = np.full((len(gaps.shifts), 1), 1.0 if line.kind == "integers" else 0.0)
        self.shifts = np.concatenate([gaps.shifts, beyond], axis=1)
        self.rows = (np.arange(trials) % len(gaps.shifts))[:, None]

    def between(self, first: Place, second: Place) -> Floats:
        """Return how far the second place is above the first one, in units."""
        start, stop = self.values[first[0]], self.values[second[0]]
        top = np.maximum(start, stop)  # unsigned integers are subtracted from larger ones only
        whole = (top - start).astype(np.float64) - (top - stop).astype(np.float64)
        moved = self.shifts[self.rows, second[0]] - self.shifts[self.rows, first[0]]
        return np.asarray(whole + moved + (second[1] - first[1]))

    def outputs(self, record: Ints, offset: Floats) -> Values:
        """Return the elements at these places, ascending in each row."""
        rows = np.broadcast_to(self.rows, record.shape)
        return np.sort(self.gaps.outputs(rows, record, offset), axis=1)


def largest_noise(scale: float, nodes: int, failure: float) -> float:
    """Return a bound on the absolute sum of independent discrete Laplace numbers that fails with probability `failure`.

    The moment generating function of one is (1 - b)^2 / ((1 - b e^s) (1 - b e^-s)) with b = e^(-1 / scale).
    """

    def bound(s: float) -> float:
        b = exp(-1 / scale)
        moment = 2 * log1p(-b) - log1p(-b * exp(s)) - log1p(-b * exp(-s))
        return (nodes * moment + log(2 / failure)) / s

    best = minimize_scalar(bound, bounds=(1e-6 / scale, (1 - 1e-6) / scale), method="bounded")
    return float(best.fun)
