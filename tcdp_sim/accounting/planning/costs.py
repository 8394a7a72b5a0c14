"""The privacy cost of a planned release: its divergence over the order, which adds up over releases."""

from functools import lru_cache
from math import inf, tanh
from typing import Any

import numpy as np

from tcdp_sim.accounting.planning.targets import Target
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.bounded_range import PermuteAndFlip
from tcdp_sim.accounting.releases.randomised_response import response_loss
from tcdp_sim.accounting.releases.range_law import range_renyi
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.rho import tight_rho
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.noise import DiscreteLaplace, Laplace, Noise
from tcdp_sim.privacy.least_rho import bounded_range_rho

RHO = 1.0  # the order whose divergence is the least rho, for every release of a plan
_PROVED = (Laplace, DiscreteLaplace)  # the divergence at order 1 is the least rho, by `privacy.least_rho`
_TIGHT = 2e-12  # relative error of `tight_rho`, with a margin
_AROUND = 1e-4  # relative step of a difference quotient
_SUPREMUM = 1e-6  # relative distance of rho and the divergence at order 1 that counts as none


def cost(target: Target, scale: float, order: float) -> float:
    """Return the cost of a target at a scale: rho for order RHO, D / order, or the largest loss for inf."""
    noise = target.noise_at(scale)
    if noise is not None:
        return target.copies * _additive(noise, target.sensitivity, order)
    return target.copies * _selection(target.release_at(scale)[0], order)


def slope(target: Target, scale: float, order: float) -> float:
    """Return -d cost / d log(scale)."""
    if order == inf and target.is_smooth:
        return cost(target, scale, order)
    noise = target.noise_at(scale) if order < inf else None
    if noise is not None and noise.linear_in_order and (order == RHO or not noise.is_discrete):
        return 2 * cost(target, scale, order)  # in proportion to 1 / scale^2
    near = [cost(target, scale * (1 + sign * _AROUND), order) for sign in (-1, 1)]
    return (near[0] - near[1]) / (2 * _AROUND)


def _selection(release: Release, order: float) -> float:
    epsilon = float(getattr(release, "epsilon"))  # noqa: B009
    if order == inf:
        return epsilon
    if isinstance(release, PermuteAndFlip):
        return epsilon * tanh(epsilon / 2) if order == RHO else response_loss(epsilon).renyi(order).upper / order
    return bounded_range_rho(epsilon) if order == RHO else range_renyi(epsilon, order).upper / order


def _additive(noise: Noise, shift: float, order: float) -> float:
    if order == inf:
        return float(noise.largest_loss(shift))
    closed = noise.closed_renyi(shift, np.array([order]))
    bounds = renyi_divergence(noise, shift, order) if closed is None else closed
    return float(np.ravel(bounds.upper)[0]) / order


@lru_cache(maxsize=8192)
def least_rho(release: Release) -> Bounds:
    """Return a bracket of the least rho of zCDP and of tCDP with any omega."""
    if isinstance(release, Additive) and type(release.noise) in _PROVED:
        value = tight_rho(release)
        return Bounds(value * (1 - _TIGHT), value, value * (1 + _TIGHT))
    if isinstance(release, Additive) and (rounded := _of_rounded(release)) is not None:
        return rounded
    if isinstance(release, Additive):
        found = largest_ratio(release.noise, release.sensitivity, inf)
        at_one = _additive(release.noise, release.sensitivity, RHO) * (1 - 1e-9)
        return Bounds(min(at_one, found.upper), found.estimate, found.upper)
    value = _selection(release, RHO)
    return Bounds(value * (1 - 1e-12), value, value * (1 + 1e-12))


def _of_rounded(release: Additive) -> Bounds | None:
    """Return a bracket for a rounded noise whose continuous form has its rho at every order, such as Gaussian noise.

    Rounding is post-processing, so the rho of the continuous noise is an upper bound.
    """
    noise: Any = release.noise
    continuous = noise.rounds if noise.is_discrete else None
    if continuous is None or not continuous.linear_in_order:
        return None
    upper = _additive(continuous(noise.scale), release.sensitivity, RHO)
    return Bounds(_additive(noise, release.sensitivity, RHO) * (1 - 1e-9), upper, upper * (1 + 1e-12))


@lru_cache(maxsize=64)
def errors_are_convex(family: Any) -> bool:
    """Return True if errors of a continuous noise are convex functions of its rho, so that a dual gap is a proof.

    With u = 1 / scale, c / u^p is a convex function of rho(u) if u^(p + 1) rho'(u) does not fall. It is enough that
    u^2 rho'(u) does not fall. This is proved for the selections of a plan, Gaussian and Laplace noise: there rho is
    u^2 / 2, u + e^-u - 1, or an epsilon-function whose (u^2 rho')' is positive. Other noises are checked on a grid.
    """
    if family.linear_in_order:
        return not issubclass(family, _discrete())
    if issubclass(family, _discrete()):
        return False
    u = np.exp(np.linspace(-6, 4, 41))
    rho = np.array([_additive(family(float(1 / each)), 1.0, RHO) for each in u])
    steep = np.diff(rho) / np.diff(u) * (u[1:] * u[:-1])
    return bool((np.diff(steep) > 0).all()) and at_order_one(family)


@lru_cache(maxsize=64)
def at_order_one(family: Any) -> bool:
    """Return True if rho is the divergence at order 1 for a continuous noise, at a few scales."""
    if family.linear_in_order or issubclass(family, _discrete()):
        return bool(family.linear_in_order)
    releases = [Additive(family(scale), 1.0) for scale in (0.3, 1.0, 10.0)]
    return all(
        largest_ratio(each.noise, 1.0, inf).upper <= _additive(each.noise, 1.0, RHO) * (1 + _SUPREMUM)
        for each in releases
    )


def _discrete() -> type:
    from tcdp_sim.noise import DiscreteNoise

    return DiscreteNoise


def class_of(target: Target) -> Any:
    """Return the class of the noise of a target, None for a selection."""
    noise = target.noise_at(target.sensitivity)
    return None if noise is None else type(noise)
