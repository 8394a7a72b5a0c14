"""The law of the privacy loss of any dominating pair, which is composed with copies of itself alone."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.atoms import DENSITY, Atoms, Cells, cells
from tcdp_sim.exact.losses.questions import Question
from tcdp_sim.exact.renyi.mixture_divergences import renyi_of_pair
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.exact.work import MOST_POINTS, within

_NARROW = 1e-9  # nats: the ends of an epsilon need not be closer
_ROUNDING = 1e-14  # relative error of a sum of equal losses


@dataclass(frozen=True)
class AnyLoss:
    """The law of log(P/Q) under P of a pair whose loss may neither rise nor fall with the output."""

    pair: DominatingPair

    @cached_property
    def _coarse(self) -> Cells:
        return cells(self.pair, 1.0, None)

    def crude(self) -> Atoms:
        """Return atoms near the law, on neither side of it."""
        return self._coarse.at_nodes()

    def lost(self) -> tuple[float, float]:
        """Return the probability of an infinite loss, from below and from above."""
        return self._coarse.lost * (1 - DENSITY), min(self._coarse.at_ends().lost * (1 + DENSITY), 1.0)

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence of a pair without labels."""
        _, p, q = self.pair.parts[0]
        return renyi_of_pair(p, q, order)

    @within(MOST_POINTS, "valid: fewer releases")
    def ends(self, releases: int, question: Question, known: float) -> tuple[float, float]:
        """Return the ends of the answer for copies of this loss. Raises ValueError for questions of other kinds."""
        from tcdp_sim.exact.losses.any_pair import any_bracket, delta_query, epsilon_query  # slow to import

        if question.delta == 0:
            return self._largest(releases)
        if question.delta is not None:
            query = epsilon_query(question.delta, lambda high: max(question.allowed(high), _NARROW))
        elif question.epsilon is not None:
            query = delta_query(question.epsilon, question.allowed)
        else:
            valid = "valid: epsilon, delta and Renyi divergences"
            raise ValueError(f"the loss of {self.pair.parts[0][1:]} neither rises nor falls with the output; {valid}")
        return any_bracket(self.pair, releases, query, known)

    def _largest(self, releases: int) -> tuple[float, float]:
        """Return the ends of the largest sum of losses."""
        low, _, high = self.renyi(np.inf)
        return max(low, 0.0) * releases * (1 - _ROUNDING), high * releases * (1 + _ROUNDING)
