"""Randomised response on k answers, and the pair of pure differential privacy."""

from dataclasses import dataclass
from math import exp

import numpy as np

from tcdp_sim.accounting.releases.release import Case, Release, both_ways
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.privacy.least_rho import response_rho


@dataclass(frozen=True)
class RandomisedResponse(Release):
    """An answer of k values that is true with odds e^epsilon to 1 against each other value.

    With k = 2 its pair dominates every epsilon-DP release, so it is also the class pair of `PureDP`. RAPPOR with a flip
    probability from epsilon / 2 per bit is two releases of RandomisedResponse(epsilon / 2) under substitution.

    Source: Kairouz et al. (2015), Theorem 3.3 [KOV15]; Kairouz et al. (2016) [KBR16], for k values.

    Parameters
    ----------
    epsilon : float
        The log of the odds, in nats, above 0.
    k : int
        The number of values, from 2 to 2^53.

    Examples
    --------
    >>> from tcdp_sim.accounting import Ledger, RandomisedResponse
    >>> round(Ledger([RandomisedResponse(1.0)]).advantage().estimate, 6)  # tanh(1/2)
    0.462117
    """

    epsilon: float
    k: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", scalar("epsilon", self.epsilon, 0))
        object.__setattr__(self, "k", whole("k", self.k, 2, 2**53))

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of two true values."""
        return (both_ways((response_loss(self.epsilon, self.k), times)),)

    def least_rho(self, omega: float) -> float:
        return response_rho(self.epsilon, self.k, omega)

    @property
    def largest_loss(self) -> float:
        return self.epsilon


def response_loss(epsilon: float, k: int = 2, delta: float = 0.0) -> AtomicLoss:
    """Return the law of the loss of randomised response, of which a share delta is infinite."""
    bottom = exp(-epsilon) / (1 + (k - 1) * exp(-epsilon))
    middle, top = (k - 2) * bottom, 1 / (1 + (k - 1) * exp(-epsilon))
    loss, mass = np.array([-epsilon, 0.0, epsilon]), (1 - delta) * np.array([bottom, middle, top])
    kept = mass > 0
    spacing = epsilon if k > 2 else 2 * epsilon
    if kept.sum() < 2:  # e^-epsilon underflows
        spacing = 0.0
    return AtomicLoss(loss[kept], mass[kept], (delta, delta), spacing, slack=0.0, cut_below=0.0 if bottom else 1e-300)
