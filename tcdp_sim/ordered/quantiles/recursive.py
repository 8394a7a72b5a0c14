"""Quantiles by recursion: the middle one first, then the others on both sides of it (Kaplan, Schnapp, Stemmer 2022)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.ordered.quantiles.choose import SMALLEST, choose_gaps, window
from tcdp_sim.ordered.quantiles.equal_shares import EqualShares
from tcdp_sim.ordered.quantiles.line import Gaps, Line, Values
from tcdp_sim.ordered.quantiles.method import ledger_of
from tcdp_sim.privacy import ZCDP
from tcdp_sim.privacy.least_rho import bounded_range_epsilon

TILE = 2**19  # gaps looked at together


class Node(NamedTuple):
    """A quantile of the recursion, between two quantiles that were released before: their numbers, 0 and m + 1 outside.

    `share` is its level relative to theirs.
    """

    low: int
    middle: int
    high: int
    share: float


def rounds_of(levels: tuple[float, ...]) -> tuple[tuple[Node, ...], ...]:
    """Return the nodes of each round of a recursion that begins with the middle quantile."""
    outer = (0.0, *levels, 1.0)
    rounds, spans = [], [(0, len(levels) + 1)]
    while spans:
        nodes, inner = [], []
        for low, high in spans:
            middle = low + 1 + (high - low - 1) // 2
            nodes.append(Node(low, middle, high, (outer[middle] - outer[low]) / (outer[high] - outer[low])))
            inner += [(low, middle), (middle, high)]
        rounds.append(tuple(nodes))
        spans = [(low, high) for low, high in inner if high - low > 1]
    return tuple(rounds)


@dataclass(frozen=True)
class Recursive(EqualShares):
    """ApproximateQuantiles: log2 m + 1 rounds, in each of which a record takes part in one exponential mechanism.

    The middle quantile is released first. The records below it answer the lower quantiles, those above it the upper
    ones, by recursion. Levels are relative to the levels of the quantiles around, and ranks to the records between
    them. Records on integers are first moved to uniform places within their units, which breaks ties. (The paper's
    code adds small Gaussian noise.) Ties of reals stay, as gaps of length 0.

    Privacy. A node is an exponential mechanism on the records between two public places, with exp(-eta |rank - share
    times their number|). Addition of a record changes one node of each round. The losses of that node have a range of
    2 eta M with M = max(share, 1 - share) (see `Independent`). Substitution changes one node of a round by a
    substitution, with range 2 eta, or two nodes by a record each. The range of both together is 4 eta M, which is no
    less because M >= 1/2. In the first round only the former happens. `epsilon` is the range of a round, and eta
    follows from it. Under zCDP the least rho of both cases is compared instead, which allows a larger eta if M > 1/2.

    The parameters are those of `Method` and this one.

    Source: Kaplan et al. (2022) [KSS22] (from its abstract and published code; the text was not available).

    Parameters
    ----------
    epsilon : float
        The range of the losses of a round, in nats.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> method = Recursive.of((0.25, 0.5, 0.75), "add_remove", PureDP(2.0))
    >>> method.rounds, method.epsilon
    (2, 1.0)
    """

    @staticmethod
    def releases_of(m: int) -> int:
        return m.bit_length()  # a release is a round

    @property
    def rounds(self) -> int:
        """The number of rounds, floor(log2 m) + 1."""
        return self.m.bit_length()

    @cached_property
    def nodes(self) -> tuple[tuple[Node, ...], ...]:
        """The nodes of each round."""
        return rounds_of(self.levels)

    def eta(self, node: Node) -> float:
        """Return the log-probability that a node loses per record."""
        most = max(node.share, 1 - node.share)
        if self.relation == "add_remove":
            return self.epsilon / (2 * most)
        if (node.low, node.high) == (0, self.m + 1):
            return self.epsilon / 2
        if self.guarantee.rho_omega is not None:
            half = bounded_range_epsilon(self.guarantee.rho_omega[0] / (2 * self.rounds))
            return min(self.epsilon / 2, half / (2 * most))
        return self.epsilon / (4 * most)

    @property
    def ledger(self) -> Any:
        from tcdp_sim.accounting import Claimed  # imported late: no simulation needs it

        if self.relation == "substitute" and self.guarantee.rho_omega is not None:
            share = ZCDP(self.guarantee.rho_omega[0] / self.rounds)
            return ledger_of([(Claimed(share), self.rounds)], self.relation)
        return super().ledger

    def work(self, line: Line) -> float:
        return 5.0 * self.rounds * (line.n + self.m) + 50

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        size = max(TILE // (line.n + 1), 1)
        parts = [self._sample(line, min(size, trials - done), rng) for done in range(0, trials, size)]
        return np.concatenate(parts)

    def _sample(self, line: Line, trials: int, rng: np.random.Generator) -> Values:
        gaps = Gaps.of(line, trials, rng=rng)
        with np.errstate(divide="ignore"):
            logs = np.log(gaps.sizes)
        row = np.arange(trials) % len(logs)
        place = np.zeros((trials, self.m + 2), dtype=np.int64)  # the gap of each quantile, and of both ends
        offset = np.zeros((trials, self.m + 2))
        place[:, -1], offset[:, -1] = line.n, gaps.sizes[row, -1]
        least = SMALLEST if line.kind == "integers" else float(line.gaps[line.gaps > 0].min())
        for nodes in self.nodes:
            low, middle, high = (np.array([node[i] for node in nodes]) for i in range(3))
            eta = np.array([self.eta(node) for node in nodes])
            first, last = place[:, low].ravel(), place[:, high].ravel()
            begin, end = offset[:, low].ravel(), offset[:, high].ravel()
            rows = np.repeat(row, len(nodes))
            same = first == last
            lengths = np.where(same, end, gaps.sizes[rows, first]) - begin, np.where(same, end - begin, end)
            target = np.tile([node.share for node in nodes], trials) * (last - first)
            reach = window(line.k, least, line.most_equal, float(eta.min()))
            each = np.tile(eta, trials)
            chosen = choose_gaps(logs, rows, first, last, lengths, target, each, reach, rng=rng)
            bottom = np.where(chosen == first, begin, 0.0)
            top = np.where(chosen == last, end, gaps.sizes[rows, chosen])
            drawn = bottom + (top - bottom) * rng.random(len(chosen))
            place[:, middle], offset[:, middle] = chosen.reshape(trials, -1), drawn.reshape(trials, -1)
        rows = np.broadcast_to(row[:, None], (trials, self.m))
        return gaps.outputs(rows, place[:, 1:-1], offset[:, 1:-1])
