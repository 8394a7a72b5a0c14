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
from tcdp_sim.privacy.definitions import Guarantee, RenyiLine
from tcdp_sim.privacy.least_rho import pure_epsilon, pure_rho

_LEAST_ORDER, _RAREST = 1e-6, 700.0


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
        if isinstance(self.guarantee, Guarantee) and not _has_pair(self.guarantee):
            implied = self.guarantee.simplest()
            object.__setattr__(self, "guarantee", implied)
        if not _has_pair(self.guarantee):
            valid = "PureDP, ApproxDP, ZCDP, TCDP, ApproxZCDP, ApproxTCDP or RDP"
            raise ValueError(f"guarantee = {self.guarantee!r} is not valid; valid: {valid}")
        if self.guarantee.epsilon_delta is not None and self.guarantee.epsilon_delta[1] == 1:
            raise ValueError(f"guarantee = {self.guarantee!r} guarantees nothing; valid: delta < 1")

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return the pair of the class."""
        if self.guarantee.epsilon_delta is not None:
            return (both_ways((_pure_loss(*self.guarantee.epsilon_delta), times)),)
        return class_cases(added([(self.guarantee, times)]))

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return releases that meet the guarantee."""
        if self.guarantee.epsilon_delta is not None:
            return None
        return example_cases([(self.guarantee, times)])

    def attained_last(self, relation: str | None, times: int) -> tuple[Case, ...] | None:
        """Return the best tests for one release, and examples for the others."""
        if self.guarantee.epsilon_delta is not None:
            return None
        return tests_cases([(self.guarantee, times)])

    def least_rho(self, omega: float) -> float | None:
        simple = self.guarantee.simplest()
        pair, line = simple.epsilon_delta, simple.renyi_line
        if pair is not None:
            return None if pair[1] else pure_rho(pair[0])
        if line is None or line.delta or line.single:
            return None
        return line.rho if line.omega >= omega and not line.xi else inf


def _has_pair(guarantee: object) -> bool:
    """Return True for a guarantee whose class has a known pair."""
    if not isinstance(guarantee, Guarantee):
        return False
    return guarantee.epsilon_delta is not None or guarantee.renyi_line is not None


def is_renyi(release: Release) -> bool:
    """Return True for a black box with a bound on Renyi divergences."""
    return isinstance(release, Claimed) and release.guarantee.epsilon_delta is None


def added(claims: Iterable[tuple[Guarantee, int]]) -> RenyiLine:
    """Return the bound on the Renyi divergences of several black boxes together.

    Their bounds add at every order that all of them cover. A bound at one order holds at lower orders too.
    """
    lines = [(_line(guarantee), times) for guarantee, times in claims]
    rho, xi = fsum(times * line.rho for line, times in lines), fsum(times * line.xi for line, times in lines)
    delta = -expm1(fsum(times * log1p(-line.delta) for line, times in lines))
    single = all(line.single for line, _ in lines)
    return RenyiLine(rho, xi, min(line.omega for line, _ in lines), delta, single)


def _line(guarantee: Guarantee) -> RenyiLine:
    line = guarantee.renyi_line
    assert line is not None  # `is_renyi`
    return line


def class_cases(total: RenyiLine) -> tuple[Case, ...]:
    """Return the pair that dominates all releases that meet the bound."""
    return (both_ways((_class(total).dominating(total.delta), 1)),)


def tests_cases(claims: Iterable[tuple[Guarantee, int]]) -> tuple[Case, ...]:
    """Return the pairs of the best tests for the largest claim and examples for the others.

    A test is chosen after all other answers. Two claims together allow less than a single one of their sum.
    """
    claims = list(claims)
    largest = max((guarantee for guarantee, _ in claims), key=lambda each: _line(each).growth + _line(each).xi)
    rest = [(guarantee, times - (guarantee is largest)) for guarantee, times in claims]
    rest = [(guarantee, times) for guarantee, times in rest if times]
    alone = added([(largest, 1)])
    test: tuple[LossLaw, int] = (_class(alone).tests(alone.delta), 1)
    if not rest:
        return (both_ways(test),)
    return tuple(both_ways(test, *case.forward) for case in example_cases(rest))


@lru_cache(maxsize=16)
def _class(total: RenyiLine) -> ClassProfile:
    most = min(total.omega, 1 + 4 * sqrt(_RAREST / total.rho) if total.rho else 1e6)
    least = most if total.single else min(1 + _LEAST_ORDER, most)
    return ClassProfile(lambda order: total.xi + total.rho * order, (least, most))


def example_cases(claims: Iterable[tuple[Guarantee, int]]) -> tuple[Case, ...]:
    """Return releases that meet each claim: randomised response, and Gaussian noise."""
    claims = list(claims)
    delta = added(claims).delta
    kept = AtomicLoss(np.array([0.0]), np.array([1 - delta]), (delta, delta), 0.0)
    lost: tuple[tuple[LossLaw, int], ...] = ((kept, 1),) if delta else ()
    rhos = [(rho, times) for rho, times in ((_line(guarantee).growth, times) for guarantee, times in claims) if rho]
    if not rhos:
        return (both_ways(*lost),)
    # randomised response with epsilon tanh(epsilon / 2) = rho meets the bound at every order
    responses = [(response_loss(pure_epsilon(rho) * (1 - 1e-14)), times) for rho, times in rhos]
    total = fsum(rho * times for rho, times in rhos)
    gaussian = additive_loss(Gaussian(1.0), sqrt(2 * total) * (1 - 1e-9))
    return both_ways(*lost, *responses), both_ways(*lost, (gaussian, 1))


@lru_cache(maxsize=64)
def _pure_loss(epsilon: float, delta: float) -> AtomicLoss:
    if epsilon == 0 or exp(-epsilon) == 0:
        mass = np.array([1 - delta])
        return AtomicLoss(np.array([epsilon]), mass, (delta, delta), 0.0)
    return response_loss(epsilon, 2, delta)
