"""Section 5: the pure and the concentrated loss of a record by additive noise."""

from math import e

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.per_record.divergences import (
    ORDERS,
    finite_per_order,
    gaussian_per_order,
    named,
    response,
)
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian, Laplace, Noise
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.per_record.policies import printed_zcdp

NOISES: dict[str, Noise] = {
    "Laplace": Laplace(1.0),
    "generalised Gaussian, p = 1/2": GeneralizedGaussian(1.0, 0.5),
    "generalised Gaussian, p = 1/4": GeneralizedGaussian(1.0, 0.25),
    "exponential polylogarithmic, p = 1, a = 1, d = 4": ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0),
    "exponential polylogarithmic, p = 2, a = e, d = 1": ExponentialPolylogarithmic(1.0, 2.0, e, 1.0),
}  # all have scale 1
INFLUENCES = (0.01, 1.0, 100.0)


@claim("P.5a")
def gaussian_as_printed(budget: Budget) -> Points:
    """Yield Gaussian noise against the printed policy, which is twice the loss."""
    return _gaussian(1.0)


@claim("P.5a repaired")
def gaussian_repaired(budget: Budget) -> Points:
    """Yield Gaussian noise against half of the printed policy."""
    return _gaussian(0.5)


def _gaussian(factor: float) -> Points:
    for influence, scale in ((1.0, 1.0), (5.0, 2.0), (0.1, 3.0)):
        for order in (1.5, 8.0):
            left, right = gaussian_per_order(influence, scale, order), closed_form(factor * (influence / scale) ** 2)
            yield Point(f"Δ = {influence:g}, σ = {scale:g}, {named(order)}", left, right)


@claim("P.L5.2")
def pure_to_concentrated(budget: Budget) -> Points:
    """Yield the exact policies of five noises, and randomised response, which attains the bound as α falls to 1."""
    for name, noise in NOISES.items():
        for influence in budget.choose(INFLUENCES, (1e-4, *INFLUENCES, 1e4)):
            loss = noise.largest_loss(influence)
            left = exact.record_policy(AdditiveRelease(noise), influence)
            where = f"{name}, Δ/σ = {influence:g}, P = {loss:.4g}"
            yield Point(where, left, closed_form(float(printed_zcdp(loss))))
    for epsilon in (0.1, 1.0, 5.0):
        p, q = response(epsilon, 0), response(epsilon, 1)
        for order in ORDERS:
            left = finite_per_order(p, q, order)
            where = f"randomised response, P = {epsilon:g}, {named(order)}"
            yield Point(where, left, closed_form(float(epsilon * np.tanh(epsilon / 2))))


@claim("P.L5.2 one direction")
def one_direction(budget: Budget) -> Points:
    """Yield a P on one output, to which Q gives probability e^-ε: the other way round the divergence is infinite."""
    for epsilon in (0.1, 1.0, 5.0):
        noted = closed_form(float(np.tanh(epsilon / 2) * epsilon))
        for order in (1.0, 1.5):
            one_sided = closed_form(epsilon / order)  # log(p/q) is ε wherever P is
            yield Point(f"P[0] = 1, Q[0] = e^-ε, ε = {epsilon:g}, {named(order)}", one_sided, noted)


@claim("P.A2 P.T5.3–5.5")
def loss_of_additive_noise(budget: Budget) -> Points:
    """Yield the loss at many outputs. At the peak of the noise it equals the promise."""
    for name, noise in NOISES.items():
        for influence in INFLUENCES:
            promised = closed_form(_fall(noise, influence))
            more = (1e-6, 0.499, 0.7, 1.0, 100.0, -1e-3)
            for share in (0.0, 0.3, 1.5, -2.0, *budget.choose((), more)):
                left = closed_form(abs(float(noise.privacy_loss(share * influence, influence))))
                yield Point(f"{name}, Δ/σ = {influence:g}, output at {share:g} Δ", left, promised)


@claim("P.A2 P.T5.3–5.5 tight")
def loss_at_the_peak(budget: Budget) -> Points:
    """Yield the loss at the peak, which the loss beside it approaches, so that no smaller policy holds."""
    for name, noise in NOISES.items():
        for influence in (*INFLUENCES, 1e6):
            left, right = closed_form(float(noise.privacy_loss(0.0, influence))), closed_form(_fall(noise, influence))
            yield Point(f"{name}, Δ/σ = {influence:g}", left, right)


@claim("P.A2 P.T5.3–5.5 slack")
def slack_of_the_concentrated_policy(budget: Budget) -> Points:
    """Yield generalised Gaussian noise and small records. For power 1/4 and P = 0.01 the factor is 70.7."""
    for power, loss in ((0.25, 0.01), (0.25, 1.0), (0.5, 0.01)):
        noise = GeneralizedGaussian(1.0, power)
        influence = loss ** (1 / power)
        left = 50 * exact.record_policy(AdditiveRelease(noise), influence)
        yield Point(f"generalised Gaussian, p = {power:g}, P = {loss:g}", left, closed_form(loss * np.tanh(loss / 2)))


def _fall(noise: Noise, influence: float) -> float:
    """Return f(0) - f(Δ) from the log density, without `largest_loss`."""
    return float(noise.logpdf(0.0) - noise.logpdf(influence))
