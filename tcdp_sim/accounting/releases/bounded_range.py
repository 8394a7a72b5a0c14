"""The exponential mechanism and its kin: bounded range, and permute-and-flip."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tcdp_sim.accounting.releases.blocks import attained_block, block_loss
from tcdp_sim.accounting.releases.randomised_response import response_loss
from tcdp_sim.accounting.releases.range_law import RangeLoss
from tcdp_sim.accounting.releases.release import Case, Release, both_ways
from tcdp_sim.core.errors import scalar
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.privacy.least_rho import bounded_range_rho, pure_rho

SHARES = (0.5, 0.54, 0.58, 0.62, 0.66, 0.7, 0.74, 0.78, 0.86, 0.94, 0.99, 1 - 1e-12)
_NEAR_THE_END = (0.99, 0.999, 0.9999, 1 - 1e-6)  # for deltas of rare losses that are all near the largest one
_LONGEST = 128  # releases in one block


@dataclass(frozen=True)
class BoundedRange(Release):
    """A release whose losses lie in an interval of length epsilon, such as the exponential mechanism.

    The exponential mechanism with weights e^(eta u) and scores of sensitivity d has epsilon = 2 eta d, or eta d if
    every record moves all scores the same way. Noisy max with Gumbel noise is the exponential mechanism.

    The class profile (e^(epsilon/2) - e^(e/2))^2 / (e^epsilon - 1) is exact for one release. Several releases are
    chosen adaptively. Their profile is computed for an optimal adversary, in blocks of up to 128 releases. The upper
    end composes the blocks. The lower end assumes an adversary who chooses t from a grid in the last block of one
    entry, and a common t in all others.

    Source: Durfee and Rogers (2019) [DR19], for bounded range; Dong et al. (2020) [DDR20], for the composition.

    Parameters
    ----------
    epsilon : float
        The length of the range, in nats, above 0 and at most 300.

    Examples
    --------
    >>> from tcdp_sim.accounting import BoundedRange, Ledger
    >>> round(Ledger([BoundedRange(1.0)]).advantage().upper, 4)  # tanh(1/4)
    0.2449
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", scalar("epsilon", self.epsilon, 0, 300, finite=False))

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of the class: for one release its density, for several the adversary's blocks."""
        if times == 1:
            return _class_cases(self.epsilon)
        whole, rest = divmod(times, _LONGEST)
        laws = [
            (block_loss(self.epsilon, size), count) for size, count in ((_LONGEST, whole), (rest, 1)) if size * count
        ]
        return (both_ways(*laws),)

    def least_rho(self, omega: float) -> float:
        return bounded_range_rho(self.epsilon)

    @property
    def largest_loss(self) -> float:
        return self.epsilon

    def class_pairs(self, times: int) -> int:
        """Return the number of blocks."""
        return -(-times // _LONGEST)

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return pairs of two losses each, one for each share of t in epsilon."""
        return self._pairs(relation, times, SHARES)

    def attained_last(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of the class for one release, and the pair of an adversary for the last block of several."""
        if times == 1:
            return _class_cases(self.epsilon)
        last = ((attained_block(self.epsilon, min(times, _LONGEST)), 1),)
        if times <= _LONGEST:
            return both_ways(*last), *self._pairs(relation, times, _NEAR_THE_END)
        rest = self._pairs(relation, times - _LONGEST, SHARES)
        return tuple(Case(case.forward + last, case.backward + last) for case in rest)

    def _pairs(self, relation: str | None, times: int, shares: tuple[float, ...]) -> tuple[Case, ...]:
        return tuple(BoundedRangePair(self.epsilon, share * self.epsilon).cases(relation, times)[0] for share in shares)


@lru_cache(maxsize=256)
def _class_cases(epsilon: float) -> tuple[Case, ...]:
    """Return the pair of the class. Its profile equals the profile of the best pair at every epsilon."""
    return (both_ways((RangeLoss(epsilon), 1)),)


@dataclass(frozen=True)
class BoundedRangePair(Release):
    """The worst pair of bounded range with losses t and t - epsilon.

    Source: Dong et al. (2020) [DDR20].

    Parameters
    ----------
    epsilon : float
        The length of the range, in nats, above 0 and at most 300.
    t : float
        The larger loss when the record is there, in (0, epsilon). In the other direction it is epsilon - t.

    Examples
    --------
    >>> from tcdp_sim.accounting import BoundedRangePair, Ledger
    >>> pair = BoundedRangePair(1.0, 0.5)
    >>> round(Ledger([pair], relation="add_remove").advantage().estimate, 6)
    0.244919
    """

    epsilon: float
    t: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", scalar("epsilon", self.epsilon, 0, 300, finite=False))
        object.__setattr__(self, "t", scalar("t", self.t, 0, self.epsilon))

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair in both directions."""
        forward, backward = _two_losses(self.epsilon, self.t), _two_losses(self.epsilon, self.epsilon - self.t)
        return (Case(((forward, times),), ((backward, times),)),)


@lru_cache(maxsize=256)
def _two_losses(epsilon: float, t: float) -> AtomicLoss:
    """Return the losses t and t - epsilon, with masses that make the mean of e^-L equal to 1."""
    top = np.expm1(t - epsilon) / np.expm1(-epsilon)
    rest = np.exp(t - epsilon) * np.expm1(-t) / np.expm1(-epsilon)
    return AtomicLoss(np.array([t - epsilon, t]), np.array([rest, top]), spacing=epsilon, slack=4e-16 * epsilon)


@dataclass(frozen=True)
class PermuteAndFlip(Release):
    """A selection by permute-and-flip, which is noisy max with exponential noise.

    It is epsilon-DP and not epsilon-bounded range. The upper end uses the pair of randomised response. The lower end
    uses two candidates whose gap goes from 0 to epsilon.

    Source: McKenna and Sheldon (2020) [MS20]; Ding et al. (2021) [DKR21], for exponential noise.

    Parameters
    ----------
    epsilon : float
        The parameter of pure differential privacy, in nats, above 0.

    Examples
    --------
    >>> from tcdp_sim.accounting import Ledger, PermuteAndFlip
    >>> round(Ledger([PermuteAndFlip(1.0)]).delta(0.0).upper, 4)
    0.4621
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", scalar("epsilon", self.epsilon, 0))

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of randomised response, which is an upper bound."""
        return (both_ways((response_loss(self.epsilon), times)),)

    def least_rho(self, omega: float) -> float:
        return pure_rho(self.epsilon)

    @property
    def largest_loss(self) -> float:
        return self.epsilon

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of two candidates, in both orders."""
        up, down = _flip(self.epsilon)
        return (Case(((up, times),), ((down, times),)),)


def _flip(epsilon: float) -> tuple[AtomicLoss, AtomicLoss]:
    """Return the loss of (1 - r/2, r/2) against (1/2, 1/2) with r = e^-epsilon, in both directions."""
    r = np.exp(-epsilon)
    loss = np.array([-epsilon, np.log1p(-np.expm1(-epsilon))])
    forward = np.array([r / 2, 1 - r / 2])
    spacing = float(loss[1] - loss[0])
    back = AtomicLoss(-loss[::-1], np.array([0.5, 0.5]), spacing=spacing, slack=4e-16 * (1 + epsilon))
    kept = forward > 0
    return AtomicLoss(loss[kept], forward[kept], spacing=spacing, slack=4e-16 * (1 + epsilon)), back
