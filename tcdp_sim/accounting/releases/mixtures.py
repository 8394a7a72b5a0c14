"""A release of which the user knows the two laws of the output, as mixtures of shifted copies of one noise."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tcdp_sim.accounting.releases.atoms import of_mixtures
from tcdp_sim.accounting.releases.release import NOTHING, Case, Release, need_relation
from tcdp_sim.core.errors import choice
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.any_loss import AnyLoss
from tcdp_sim.exact.losses.pair_law import PairLoss
from tcdp_sim.exact.mixtures import Mixture, SharedShifts
from tcdp_sim.exact.renyi.mixture_divergences import hockey_stick_between
from tcdp_sim.exact.subsampling import DominatingPair
from tcdp_sim.privacy.relation import ABSENT

DIRECTIONS = ("both", "forward")
_EQUAL, _TINY_EXTENT, _LARGE = 1e-9, 1e-13, 1e5  # losses that differ by less are equal; those above are very large


@dataclass(frozen=True)
class MixturePair(Release):
    """An output that is a mixture of shifted noise, with another mixture of the same noise on the neighbour.

    The loss need not rise with the output, and the noise need not be log-concave. The delta of a single release has
    ends that are about 1e-10 apart (relative). A loss that neither rises nor falls with the output, of continuous
    noise, is composed with further releases of the same pair, but with no others. It then has epsilon, delta and Renyi
    divergences, and no further answers.

    Source: Zhu et al. (2022) [ZDW22], for dominating pairs.

    Parameters
    ----------
    p, q : Mixture
        The laws of the output with the record and without it, of the same noise.
    direction : {"both", "forward"}
        "forward" is for the divergence of p from q alone, which is no guarantee. The default is the larger one of both.

    Raises
    ------
    ValueError
        If p and q are no mixtures of one noise, or the ledger's relation is substitution.

    Examples
    --------
    >>> from tcdp_sim.accounting import Ledger, MixturePair
    >>> from tcdp_sim.exact import subsampled
    >>> from tcdp_sim.noise import Gaussian
    >>> pair = MixturePair(*subsampled(Gaussian(1.0), 1.0, 0.5))
    >>> round(Ledger([pair], relation="add_remove").delta(0.0).estimate, 6)
    0.191462
    """

    p: Mixture
    q: Mixture
    direction: str = "both"

    def __post_init__(self) -> None:
        for name, mixture in (("p", self.p), ("q", self.q)):
            if not isinstance(mixture, Mixture):
                raise ValueError(f"{name} = {mixture!r} is not valid; valid: a Mixture, such as Mixture(Gaussian(1.0))")
        SharedShifts(self.p, self.q)  # refuses two noises
        choice("direction", self.direction, DIRECTIONS)

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair in both directions, or the forward one twice."""
        need_relation(self, relation, ABSENT)
        if self.p == self.q:
            return (NOTHING,)
        laws = [((_law(p, q), times),) for p, q in self.ways()]
        return (Case(laws[0], laws[-1]),)

    def ways(self) -> list[tuple[Mixture, Mixture]]:
        """Return the pairs of laws of the directions that count."""
        return [(self.p, self.q), (self.q, self.p)][: 1 if self.direction == "forward" else 2]

    @property
    def has_profile(self) -> bool:
        return True

    def profile(self, epsilon: float) -> Bounds:
        """Return delta(epsilon) of one release, by quadrature or a sum over the lattice."""
        found = [hockey_stick_between(p, q, epsilon) for p, q in self.ways()]
        return Bounds(*(max(ends) for ends in zip(*found)))


@lru_cache(maxsize=256)
def _law(p: Mixture, q: Mixture) -> Any:
    """Return the law of the loss: a `LossLaw`, or an `AnyLoss`, which is composed with itself alone.

    Grids with the step of the sum do not fit losses that are all equal or very large.
    """
    if p.noise.is_discrete:
        return of_mixtures(p, q)
    pair = DominatingPair(((1.0, p, q),))
    try:
        law = PairLoss(pair)
    except ValueError:
        return AnyLoss(pair)
    least, most = law.least(), law.most()
    is_spread = most - least > _EQUAL * abs(most) + _TINY_EXTENT and most < _LARGE and np.isfinite(least)
    return law if is_spread else AnyLoss(pair)
