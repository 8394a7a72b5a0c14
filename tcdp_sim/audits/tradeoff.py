"""Trade-off curves: the ones that a claim allows, and the empirical one of an audit with simultaneous bands."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.accounting import Claimed, Ledger
from tcdp_sim.audits import binomial
from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.core.errors import real
from tcdp_sim.privacy import Guarantee

EPSILONS = np.concatenate([[0.0], np.geomspace(0.01, 20, 40)])  # of the lines under which a claimed curve lies
LOOKS = 6  # samples that may have given the curve: three finalists, each looked at once or twice


@dataclass(frozen=True)
class GaussianDP:
    """Gaussian differential privacy: no test tells neighbours apart better than N(0, 1) from N(mu, 1).

    Source: Dong et al. (2022) [DRS22].

    Parameters
    ----------
    mu : float
        The distance of the two normal distributions, positive.

    Examples
    --------
    >>> from tcdp_sim.audits import GaussianDP
    >>> print(GaussianDP(0.5))
    0.5-GDP
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", real("mu", self.mu, 0))

    def __str__(self) -> str:
        return f"{self.mu:g}-GDP"

    def power(self, alpha: Any) -> Floats:
        """Return the largest power of a test at type I errors alpha."""
        return np.asarray(ndtr(ndtri(alpha) + self.mu))

    def rarer(self, likely: Floats) -> Floats:
        """Return the least probabilities that events with these probabilities have under a neighbour."""
        return np.asarray(ndtr(ndtri(likely) - self.mu))


@dataclass(frozen=True, eq=False)
class Curve:
    """The trade-off curve that an (epsilon, delta) profile allows: the lowest of the lines that bound a test's power.

    - epsilon, delta: points of the profile; delta is rounded up.
    """

    epsilon: Floats
    delta: Floats

    def power(self, alpha: Any) -> Floats:
        """Return an upper bound on the power of a test at type I errors alpha, elementwise."""
        x = np.asarray(alpha, np.float64)[..., None]
        steep = self.delta + np.exp(self.epsilon) * x
        flat = 1 - np.exp(-self.epsilon) * (1 - self.delta - x)
        return np.asarray(np.minimum(1.0, np.minimum(steep, flat).min(axis=-1)))

    def rarer(self, likely: Floats) -> Floats:
        """Return lower bounds on the probabilities that events with these probabilities have under a neighbour."""
        return self.rarer_of_each(likely[..., None]).max(axis=-1)

    def rarer_of_each(self, likely: Floats) -> Floats:
        """Return the bounds that each point of the profile alone gives, with the points along the last axis."""
        flat = np.exp(-self.epsilon) * (likely - self.delta)
        steep = 1 - self.delta - np.exp(self.epsilon) * (1 - likely)
        return np.asarray(np.maximum(0.0, np.maximum(flat, steep)))


def curve(claim: Any) -> GaussianDP | Curve | None:
    """Return the trade-off curve of a claim (a guarantee, a ledger or GaussianDP), or None for other claims."""
    match claim:
        case GaussianDP():
            return claim
        case Ledger():
            return of_ledger(claim)
        case Guarantee(epsilon_delta=(epsilon, delta)):
            return Curve(np.array([epsilon]), np.array([delta]))
        case Guarantee():
            try:
                return of_ledger(Ledger([Claimed(claim)]))
            except ValueError:  # a guarantee that no ledger takes
                return None
    return None


def of_ledger(ledger: Ledger) -> Curve:
    """Return the curve of a ledger from its exact profile."""
    return Curve(EPSILONS, np.array([float(ledger.delta(epsilon).upper) for epsilon in EPSILONS]))


@dataclass(frozen=True, eq=False)
class TradeOff:
    """The errors of the tests {score >= t} and {score < t}, with bands that hold for all of them at once.

    `alpha`, `beta`: type I and type II errors of each test, ascending in alpha, for the input that the score favours.
    `alpha_lower`, `alpha_upper`, `beta_lower`, `beta_upper`: the ends of their confidence intervals. All hold together
    at the report's level.
    """

    alpha: Floats
    beta: Floats
    alpha_lower: Floats
    alpha_upper: Floats
    beta_lower: Floats
    beta_upper: Floats


def of_counts(first: Ints, second: Ints, failure: float) -> TradeOff:
    """Return the empirical trade-off curve of a score whose larger values favour the first input.

    `first` and `second` count each input's outputs in the cells of the score. The sample must not have made the score.
    The bands are Clopper and Pearson's, with the failure probability shared by both errors, all thresholds and LOOKS.
    """
    trials = int(first.sum())
    accepted = np.concatenate([[0], np.cumsum(first)[:-1]])[::-1]  # outputs of the first input below each threshold
    rejected = trials - np.concatenate([[0], np.cumsum(second)[:-1]])[::-1]
    share = failure / (4 * LOOKS * max(len(first) - 1, 1))
    ends = [(binomial.lower_probability(hits, trials, share), binomial.upper_probability(hits, trials, share))
            for hits in (rejected, accepted)]  # fmt: skip
    return TradeOff(rejected / trials, accepted / trials, *ends[0], *ends[1])
