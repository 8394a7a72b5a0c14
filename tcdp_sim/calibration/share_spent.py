"""The share of a guarantee that a list of releases spends, as a measure that a search can compare with its bound."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from tcdp_sim.accounting import Additive, Claimed, Ledger, Release, Sampled, Thresholded, tight_rho
from tcdp_sim.accounting.joined import joined
from tcdp_sim.calibration.scaled_releases import Entry
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

ROUNDING = 1e-12  # relative, of a sum of values of rho


@dataclass(frozen=True)
class Spent:
    """A measure of a list of releases, and the value that a guarantee allows.

    Parameters
    ----------
    name : str
        The symbol of the measure: delta, epsilon or rho.
    of : callable
        The measure of a list in a relation, to a relative tolerance.
    allowed : float
        The largest valid value.
    concentrated : bool
        True for rho.
    """

    name: str
    of: Callable[[Sequence[Entry], str | None, float], Bounds]
    allowed: float
    concentrated: bool = False


def spent_by(guarantee: Guarantee) -> Spent:
    """Return the measure of a guarantee. Raises ValueError for a guarantee of another kind."""
    match guarantee:
        case ApproxDP(epsilon=epsilon, delta=delta):
            scalar("delta", delta, 0, 1)
            return Spent("delta", lambda entries, relation, share: _delta(entries, relation, epsilon, share), delta)
        case PureDP(epsilon=epsilon):
            return Spent("epsilon", _largest_loss, scalar("epsilon", epsilon, 0))
        case ZCDP(rho=rho, xi=0):
            return Spent("rho", lambda entries, _, __: _rho(entries, inf), scalar("rho", rho, 0), True)
        case TCDP(rho=rho, omega=omega):
            return Spent("rho", lambda entries, _, __: _rho(entries, omega), scalar("rho", rho, 0), True)
    raise ValueError(f"guarantee = {guarantee!r} is not valid for releases; valid: ApproxDP, PureDP, ZCDP, TCDP")


def _delta(entries: Sequence[Entry], relation: str | None, epsilon: float, tolerance: float) -> Bounds:
    return Ledger(joined(entries), relation).delta(epsilon, tolerance)


def _largest_loss(entries: Sequence[Entry], relation: str | None, tolerance: float) -> Bounds:
    return Ledger(entries, relation).renyi(inf)


def _rho(entries: Sequence[Entry], omega: float) -> Bounds:
    """Return a bracket of the least rho: the sum of the single ones from above, and the divergence at order 1."""
    low = middle = high = 0.0
    for release, times in entries:
        bounds = _single(release, omega)
        low, middle, high = (total + times * end for total, end in zip((low, middle, high), bounds))
    return Bounds(low * (1 - ROUNDING), middle, high * (1 + ROUNDING))


def _single(release: Release, omega: float) -> Bounds:
    if isinstance(release, Sampled | Thresholded):
        raise ValueError(f"{release!r} has no known rho; valid for ZCDP and TCDP: releases whose rho is known")
    if isinstance(release, Additive):
        high = largest_ratio(release.noise, release.sensitivity, omega)
        return Bounds(renyi_divergence(release.noise, release.sensitivity, 1.0).lower, high.estimate, high.upper)
    value = tight_rho(release, omega)
    lower = value if isinstance(release, Claimed) else Ledger([release]).renyi(1.0).lower
    return Bounds(min(lower, value), value, value)
