"""Section 5.1: noise with density proportional to exp(-(|z|/σ)^p)."""

import numpy as np
from scipy.special import gamma, rgamma
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.noise import GeneralizedGaussian
from tcdp_sim.numerics import Bounds, closed_form, integrate
from tcdp_sim.releases import AdditiveRelease

POWERS = (1.0, 0.75, 0.5, 0.25)
DEEP = 60.0  # nats of the density below its peak, beyond which e^-60 of the mass is left out


def printed_density(z: Floats, scale: float, power: float) -> Floats:
    """p / (2σ Γ(1/p)) exp(-(|z|/σ)^p) as it is printed, 0 <= p; 1/Γ(1/p) is 0 at p = 0."""
    inverse = 1 / power if power > 0 else np.inf
    return power / (2 * scale) * float(rgamma(inverse)) * np.exp(-(np.abs(np.divide(z, scale)) ** power))


def moment(scale: float, power: float, k: int) -> Bounds[float]:
    """The integral of |z|^k times the printed density, by quadrature over one half."""
    far = scale * (DEEP ** (1 / power) if power > 0 else 1e6)
    edges = np.concatenate([[0.0], far * np.geomspace(1e-30, 1, 121)])
    half = integrate(lambda z: z**k * printed_density(z, scale, power), edges, relative=1e-12)
    slack = 1e-11 * half.estimate
    return Bounds(2 * (half.lower - slack), 2 * half.estimate, 2 * (half.upper + slack))


@claim("P.C5.6")
def density_as_printed(budget: Budget) -> Points:
    """Its mass, with p = 0 among the powers."""
    return _masses((*POWERS, 0.0))


@claim("P.C5.6 density")
def density_repaired(budget: Budget) -> Points:
    """Its mass, without p = 0."""
    return _masses(POWERS)


@claim("P.C5.6 repaired")
def policy(budget: Budget) -> Points:
    """Exactly at all orders, and the loss itself at the peak, where it is all of P."""
    for power in POWERS:
        for ratio in budget.choose((0.01, 1.0, 100.0), (1e-4, 0.01, 0.1, 1.0, 10.0, 100.0, 1e4)):
            noise, loss = GeneralizedGaussian(3.0, power), ratio**power
            left = exact.record_policy(AdditiveRelease(noise), 3.0 * ratio)
            yield Point(f"policy, p = {power:g}, Δ/σ = {ratio:g}", left, closed_form(loss * float(np.tanh(loss / 2))))
            peak = closed_form(abs(float(noise.privacy_loss(0.0, 3.0 * ratio))))
            yield Point(f"loss at the peak, p = {power:g}, Δ/σ = {ratio:g}", peak, closed_form(loss))


@claim("P.C5.6 variance")
def variance(budget: Budget) -> Points:
    """By quadrature of the density."""
    for power in POWERS:
        for scale in (1.0, 7.0):
            printed = closed_form(float(scale**2 * gamma(3 / power) / gamma(1 / power)))
            yield Point(f"p = {power:g}, σ = {scale:g}", moment(scale, power, 2), printed)


def _masses(powers: tuple[float, ...]) -> Points:
    yield from [
        Point(f"p = {power:g}, σ = {scale:g}", moment(scale, power, 0), constant(1.0))
        for power in powers
        for scale in (1.0, 7.0)
    ]
