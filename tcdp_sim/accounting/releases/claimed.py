"""Black boxes: releases of which a guarantee is all that is known."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import exp, expm1, fsum, inf, log1p, sqrt

import numpy as np

from tcdp_sim.accounting.releases.additive import additive_loss
from tcdp_sim.accounting.releases.class_profile import ClassProfile
from tcdp_sim.accounting.releases.randomised_response import response_loss
from tcdp_sim.accounting.releases.release import Case, Release, both_ways
from tcdp_sim.exact.losses.grid_law import AtomicLoss, LossLaw
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy.definitions import RDP, TCDP, ZCDP, ApproxDP, ApproxTCDP, ApproxZCDP, Guarantee, PureDP
from tcdp_sim.privacy.least_rho import pure_epsilon

_LEAST_ORDER, _RAREST = 1e-6, 700.0
_CONCENTRATED = (ZCDP, TCDP, ApproxZCDP, ApproxTCDP, RDP)


@dataclass(frozen=True)
class Claimed(Release):
    """A release of which only a guarantee is known, in the relation of the ledger.

    PureDP and ApproxDP have pairs that are exact for their class, also composed. ZCDP, TCDP, ApproxZCDP, ApproxTCDP and
    RDP have the best profile that their Renyi divergences allow. Several black boxes of these kinds in one ledger are
    added up before their profile is taken. Lower ends use releases that meet the guarantee: randomised response,
    Gaussian noise, or a single test.

    Parameters
    ----------
    guarantee : Guarantee
        PureDP, ApproxDP, ZCDP, TCDP, ApproxZCDP, ApproxTCDP or RDP.

    Raises
    ------
    ValueError
        If the guarantee is none of these.

    References
    ----------
    Kairouz, Oh, Viswanath (2015), https://arxiv.org/abs/1311.0776
    Murtagh, Vadhan (2016), https://arxiv.org/abs/1507.03113, for unequal (epsilon, delta)
    Bun, Steinke (2016), https://arxiv.org/abs/1605.02065; the profile of the class is derived in `class_profile`.

    Examples
    --------
    >>> from tcdp_sim.accounting import Claimed, Ledger
    >>> from tcdp_sim.privacy import TCDP
    >>> round(Ledger([Claimed(TCDP(0.1, 5.0))]).epsilon(1e-6).upper, 3)
    3.292
    """

    guarantee: Guarantee

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, (PureDP, ApproxDP, *_CONCENTRATED)):
            valid = "PureDP, ApproxDP, ZCDP, TCDP, ApproxZCDP, ApproxTCDP or RDP"
            raise ValueError(f"guarantee = {self.guarantee!r} is not valid; valid: {valid}")
        if isinstance(self.guarantee, ApproxDP) and self.guarantee.delta == 1:
            raise ValueError(f"guarantee = {self.guarantee!r} promises nothing; valid: delta < 1")

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of the class."""
        guarantee = self.guarantee
        if isinstance(guarantee, PureDP | ApproxDP):
            delta = getattr(guarantee, "delta", 0.0)
            return (both_ways((_pure_loss(guarantee.epsilon, delta), times)),)
        return class_cases(added([(guarantee, times)]))

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return releases that meet the guarantee."""
        if isinstance(self.guarantee, PureDP | ApproxDP):
            return None
        return example_cases(added([(self.guarantee, times)]))


@dataclass(frozen=True)
class Renyi:
    """The bound D_a <= xi + rho a for 1 < a < omega, or at omega alone if `single`, with delta for all to be lost."""

    rho: float
    xi: float = 0.0
    omega: float = inf
    delta: float = 0.0
    single: bool = False


def is_renyi(release: Release) -> bool:
    """Return True for a black box with a bound on Renyi divergences."""
    return isinstance(release, Claimed) and isinstance(release.guarantee, _CONCENTRATED)


def added(claims: Iterable[tuple[Guarantee, int]]) -> Renyi:
    """Return the bound on the Renyi divergences of several black boxes together.

    Their bounds add at every order that all of them cover. A bound at one order holds at lower orders too.
    """
    claims = list(claims)
    omega = min(_omega(guarantee) for guarantee, _ in claims)
    rho = fsum(times * getattr(guarantee, "rho", 0.0) for guarantee, times in claims)
    xi = fsum(times * _intercept(guarantee) for guarantee, times in claims)
    delta = -expm1(fsum(times * log1p(-getattr(guarantee, "delta", 0.0)) for guarantee, times in claims))
    return Renyi(rho, xi, omega, delta, all(isinstance(guarantee, RDP) for guarantee, _ in claims))


def _omega(guarantee: Guarantee) -> float:
    return guarantee.order if isinstance(guarantee, RDP) else getattr(guarantee, "omega", inf)


def _intercept(guarantee: Guarantee) -> float:
    return guarantee.epsilon if isinstance(guarantee, RDP) else getattr(guarantee, "xi", 0.0)


def class_cases(total: Renyi) -> tuple[Case, ...]:
    """Return the pair that dominates all releases that meet the bound."""
    return (both_ways((_class(total).dominating(total.delta), 1)),)


def tests_cases(total: Renyi) -> tuple[Case, ...]:
    """Return the pair whose profile single tests attain, each at one epsilon, if there is no other release."""
    return (both_ways((_class(total).tests(total.delta), 1)),)


@lru_cache(maxsize=16)
def _class(total: Renyi) -> ClassProfile:
    most = min(total.omega, 1 + 4 * sqrt(_RAREST / total.rho) if total.rho else 1e6)
    least = most if total.single else min(1 + _LEAST_ORDER, most)
    return ClassProfile(lambda order: total.xi + total.rho * order, (least, most))


def example_cases(total: Renyi) -> tuple[Case, ...]:
    """Return releases that meet a bound: randomised response, and Gaussian noise if the bound grows with the order."""
    rho = total.rho if not total.single else total.xi / total.omega
    kept = AtomicLoss(np.array([0.0]), np.array([1 - total.delta]), (total.delta, total.delta), 0.0)
    lost: tuple[tuple[LossLaw, int], ...] = ((kept, 1),) if total.delta else ()
    if not rho:
        return (both_ways(*lost),)
    # randomised response with epsilon tanh(epsilon / 2) = rho meets the bound at every order
    x = pure_epsilon(rho) * (1 - 1e-14)
    gaussian = additive_loss(Gaussian(1.0), sqrt(2 * rho) * (1 - 1e-9))
    return both_ways(*lost, (response_loss(x), 1)), both_ways(*lost, (gaussian, 1))


@lru_cache(maxsize=64)
def _pure_loss(epsilon: float, delta: float) -> AtomicLoss:
    if epsilon == 0 or exp(-epsilon) == 0:
        mass = np.array([1 - delta])
        return AtomicLoss(np.array([epsilon]), mass, (delta, delta), 0.0)
    return response_loss(epsilon, 2, delta)
