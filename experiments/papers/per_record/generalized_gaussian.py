"""Section 5.1: noise with density proportional to exp(-(|z|/σ)^p)."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.special import gamma

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import GeneralizedGaussian, Noise
from tcdp_sim.per_record import AdditiveRelease

POWERS = (1.0, 0.75, 0.5, 0.25)
DEEP = 60.0  # nats of the density below its peak, beyond which e^-60 of the mass is left out


def printed_density(z: Floats, scale: float, power: float) -> Floats:
    """Return p / (2σ Γ(1/p)) exp(-(|z|/σ)^p) as printed, for p > 0."""
    return power / (2 * scale * float(gamma(1 / power))) * np.exp(-(np.abs(np.divide(z, scale)) ** power))


def moment(scale: float, power: float, k: int) -> Bounds[float]:
    """Return the integral of |z|^k times the printed density, by quadrature over one half."""
    edges = np.concatenate([[0.0], scale * DEEP ** (1 / power) * np.geomspace(1e-30, 1, 121)])
    half = integrate(lambda z: z**k * printed_density(z, scale, power), edges, relative=1e-12)
    return 2 * half * Bounds(1 - 1e-11, 1.0, 1 + 1e-11)


@claim("P.C5.6")
def policy(budget: Budget) -> Points:
    """Yield the exact policy at all orders, and the loss itself at the peak, where it is all of P."""
    for power in POWERS:
        for ratio in budget.choose((0.01, 1.0, 100.0), (1e-4, 0.01, 0.1, 1.0, 10.0, 100.0, 1e4)):
            noise = GeneralizedGaussian(3.0, power)
            yield from policy_and_peak(noise, 3.0 * ratio, ratio**power, f"p = {power:g}, Δ/σ = {ratio:g}")


def policy_and_peak(noise: Noise, influence: float, loss: float, at: str) -> Iterator[Point]:
    """Yield the exact policy of additive noise against P tanh(P/2), and the loss at the peak against P (nats)."""
    left = exact.record_policy(AdditiveRelease(noise), influence)
    yield Point(f"policy, {at}", left, closed_form(loss * float(np.tanh(loss / 2))))
    peak = closed_form(abs(float(noise.privacy_loss(0.0, influence))))
    yield Point(f"loss at the peak, {at}", peak, closed_form(loss))


@claim("P.C5.6 density")
def density(budget: Budget) -> Points:
    """Yield the mass of the density by quadrature."""
    for power, scale in product(POWERS, (1.0, 7.0)):
        yield Point(f"p = {power:g}, σ = {scale:g}", moment(scale, power, 0), constant(1.0))


@claim("P.C5.6 variance")
def variance(budget: Budget) -> Points:
    """Yield the second moment of the density by quadrature."""
    for power, scale in product(POWERS, (1.0, 7.0)):
        printed = closed_form(float(scale**2 * gamma(3 / power) / gamma(1 / power)))
        yield Point(f"p = {power:g}, σ = {scale:g}", moment(scale, power, 2), printed)
