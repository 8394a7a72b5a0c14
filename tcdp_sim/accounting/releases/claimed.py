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
    added up before their profile is taken. Lower ends use releases that meet each guarantee: the best test after all
    other answers for the largest one, and Gaussian noise or randomised response for the others.

    Source: Kairouz et al. (2015) [KOV15]; Murtagh and Vadhan (2016) [MV16], for unequal (epsilon, delta); Bun and
    Steinke (2016) [BS16]; the profile of the class is derived in `class_profile`.

    Parameters
    ----------
    guarantee : Guarantee
        PureDP, ApproxDP, ZCDP, TCDP, ApproxZCDP, ApproxTCDP or RDP.

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
            raise ValueError(f"guarantee = {self.guarantee!r} guarantees nothing; valid: delta < 1")

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
        return example_cases([(self.guarantee, times)])

    def attained_last(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return the best tests for one release, and examples for the others."""
        if isinstance(self.guarantee, PureDP | ApproxDP):
            return None
        return tests_cases([(self.guarantee, times)])


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


def tests_cases(claims: Iterable[tuple[Guarantee, int]]) -> tuple[Case, ...]:
    """Return the pairs of the best tests for the largest claim and examples for the others.

    A test is chosen after all other answers. Two claims together allow less than a single one of their sum.
    """
    claims = list(claims)
    largest = max((guarantee for guarantee, _ in claims), key=_size)
    rest = [(guarantee, times - (guarantee is largest)) for guarantee, times in claims]
    rest = [(guarantee, times) for guarantee, times in rest if times]
    alone = added([(largest, 1)])
    test: tuple[LossLaw, int] = (_class(alone).tests(alone.delta), 1)
    if not rest:
        return (both_ways(test),)
    return tuple(both_ways(test, *case.forward) for case in example_cases(rest))


@lru_cache(maxsize=16)
def _class(total: Renyi) -> ClassProfile:
    most = min(total.omega, 1 + 4 * sqrt(_RAREST / total.rho) if total.rho else 1e6)
    least = most if total.single else min(1 + _LEAST_ORDER, most)
    return ClassProfile(lambda order: total.xi + total.rho * order, (least, most))


def example_cases(claims: Iterable[tuple[Guarantee, int]]) -> tuple[Case, ...]:
    """Return releases that meet each claim: randomised response, and Gaussian noise."""
    claims = list(claims)
    delta = added(claims).delta
    kept = AtomicLoss(np.array([0.0]), np.array([1 - delta]), (delta, delta), 0.0)
    lost: tuple[tuple[LossLaw, int], ...] = ((kept, 1),) if delta else ()
    rhos = [(rho, times) for rho, times in ((_growth(guarantee), times) for guarantee, times in claims) if rho]
    if not rhos:
        return (both_ways(*lost),)
    # randomised response with epsilon tanh(epsilon / 2) = rho meets the bound at every order
    responses = [(response_loss(pure_epsilon(rho) * (1 - 1e-14)), times) for rho, times in rhos]
    total = fsum(rho * times for rho, times in rhos)
    gaussian = additive_loss(Gaussian(1.0), sqrt(2 * total) * (1 - 1e-9))
    return both_ways(*lost, *responses), both_ways(*lost, (gaussian, 1))


def _growth(guarantee: Guarantee) -> float:
    """Return a rho with rho a below the bound at every order a that it covers."""
    return guarantee.epsilon / guarantee.order if isinstance(guarantee, RDP) else float(getattr(guarantee, "rho", 0.0))


def _size(guarantee: Guarantee) -> float:
    return _growth(guarantee) + _intercept(guarantee)


@lru_cache(maxsize=64)
def _pure_loss(epsilon: float, delta: float) -> AtomicLoss:
    if epsilon == 0 or exp(-epsilon) == 0:
        mass = np.array([1 - delta])
        return AtomicLoss(np.array([epsilon]), mass, (delta, delta), 0.0)
    return response_loss(epsilon, 2, delta)
