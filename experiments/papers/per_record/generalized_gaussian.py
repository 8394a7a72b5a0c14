"""Section 5.1: noise with density proportional to exp(-(|z|/σ)^p)."""

import numpy as np
from scipy.special import gamma, rgamma
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
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


@claim(
    "P.C5.6",
    kind=Kind.IDENTITY,
    section="5.1",
    expected=Verdict.FALSE,
    erratum="E11",
    printed="density p/(2σΓ(1/p)) exp(-(|z|/σ)^p) with 0 ≤ p ≤ 1",
    correct="0 < p ≤ 1",
    consequence="at p = 0 there is no such noise: exp(-1) everywhere has no finite integral; small p need care, as the "
    "variance is no float below p = 0.02",
)
def density_as_printed(budget: Budget) -> Evidence:
    """Its mass, with p = 0 among the powers."""
    return _masses((*POWERS, 0.0))


@claim(
    "P.C5.6",
    part="density",
    title="Generalised Gaussian noise of power 0 < p ≤ 1 has the density printed",
    kind=Kind.IDENTITY,
    section="5.1",
    expected=Verdict.HOLDS,
    erratum="E11",
)
def density_repaired(budget: Budget) -> Evidence:
    """Its mass, without p = 0."""
    return _masses(POWERS)


@claim(
    "P.C5.6",
    part="repaired",
    title="Generalised Gaussian noise of power 0 < p ≤ 1 has the policy tanh(P/2) P, P = (Δ/σ)^p",
    kind=Kind.INEQUALITY,
    section="5.1",
    expected=Verdict.HOLDS,
    erratum="E11",
)
def policy(budget: Budget) -> Evidence:
    """Exactly at all orders, and the loss itself at the peak, where it is all of P."""
    points = []
    for power in POWERS:
        for ratio in budget.choose((0.01, 1.0, 100.0), (1e-4, 0.01, 0.1, 1.0, 10.0, 100.0, 1e4)):
            noise, loss = GeneralizedGaussian(3.0, power), ratio**power
            left = exact.record_policy(AdditiveRelease(noise), 3.0 * ratio)
            points.append(
                Point(f"policy, p = {power:g}, Δ/σ = {ratio:g}", left, closed_form(loss * float(np.tanh(loss / 2))))
            )
            peak = closed_form(abs(float(noise.privacy_loss(0.0, 3.0 * ratio))))
            points.append(Point(f"loss at the peak, p = {power:g}, Δ/σ = {ratio:g}", peak, closed_form(loss)))
    return Evidence(
        points,
        measures="largest D_α/α over all α > 1, and the loss at the peak, against P tanh(P/2) and P (nats)",
        universe="0 < p ≤ 1, all σ and Δ",
        tolerance=1e-9,
        proof=Proof.SYMBOLIC,
        why="-(z/σ)^p is decreasing and convex for 0 < p ≤ 1, so that Theorem 5.5 applies",
    )


@claim(
    "P.C5.6",
    part="variance",
    title="The variance of generalised Gaussian noise is σ² Γ(3/p)/Γ(1/p)",
    kind=Kind.IDENTITY,
    section="5.1",
    expected=Verdict.HOLDS,
)
def variance(budget: Budget) -> Evidence:
    """By quadrature of the density."""
    points = []
    for power in POWERS:
        for scale in (1.0, 7.0):
            printed = closed_form(float(scale**2 * gamma(3 / power) / gamma(1 / power)))
            points.append(Point(f"p = {power:g}, σ = {scale:g}", moment(scale, power, 2), printed))
    return Evidence(
        points,
        measures="variance by quadrature, against the printed one",
        universe="0 < p ≤ 1, all σ",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="with w = (z/σ)^p the second moment is σ² times the integral of w^(3/p - 1) e^-w, over Γ(1/p)",
    )


def _masses(powers: tuple[float, ...]) -> Evidence:
    points = [
        Point(f"p = {power:g}, σ = {scale:g}", moment(scale, power, 0), constant(1.0))
        for power in powers
        for scale in (1.0, 7.0)
    ]
    proved = min(powers) > 0
    return Evidence(
        points,
        measures="integral of the density, against 1",
        universe="0 < p ≤ 1, all σ" if proved else "0 ≤ p ≤ 1, all σ",
        tolerance=1e-8,
        proof=Proof.IDENTITY if proved else None,
        why="with w = (z/σ)^p the integral is that of w^(1/p - 1) e^-w over Γ(1/p)" if proved else "",
    )
