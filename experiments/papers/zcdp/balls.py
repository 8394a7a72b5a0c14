"""Bun, Steinke 2016: Concentrated differential privacy."""

from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls import Says, confirms
from tcdp_sim.experiments.papers.balls.arithmetic import Given, ball, finite_delta, normal_tail

if TYPE_CHECKING:
    from flint import arb

BETA, RHO = "0.05", "0.1"


@confirms("Z.1.1c", Says.ABOVE)
def loss_of_two_outcomes() -> "tuple[arb, arb]":
    """P[Z > 2ε] against 10 δ(ε): ε = 0.01, an outcome of δ = 1e-6 whose loss is 2.000002 ε, and the rest."""
    rare, spent, _ = two_outcomes("0.01")
    return rare, 10 * spent


@confirms("Z.1.1c repaired", Says.AT_MOST)
def loss_of_two_outcomes_repaired() -> "tuple[arb, arb]":
    """P[Z > 2ε] against δ(ε)/(1 - e^-ε) at the same two outcomes."""
    rare, spent, epsilon = two_outcomes("0.01")
    return rare, spent / (1 - (-epsilon).exp())


def two_outcomes(given: Given) -> "tuple[arb, arb, arb]":
    """Return P of the rare outcome, the larger δ(ε) of both directions, and ε.

    The loss of the rare outcome is above 2ε, that of the other is below 0.
    """
    epsilon = ball(given)
    loss = 2 * epsilon * ball("1.000001")
    rare = ball("1e-6") / (1 - (epsilon - loss).exp())
    p, q = [rare, 1 - rare], [rare * (-loss).exp(), 1 - rare * (-loss).exp()]
    spent = finite_delta(p, q, epsilon.exp()).max(finite_delta(q, p, epsilon.exp()))
    return rare, spent, epsilon


@confirms("Z.6.1e", Says.ABOVE)
def printed_radius() -> "tuple[arb, arb]":
    """P[the largest of T = 1e6 Gaussian errors exceeds √(log(T/β)/ρ)] against β = 0.05, ρ = 0.1."""
    return _largest_exceeds(1)


@confirms("Z.6.1e repaired", Says.AT_MOST)
def proved_radius() -> "tuple[arb, arb]":
    """The same with the radius √(2 log(T/β)/ρ)."""
    return _largest_exceeds(2)


def _largest_exceeds(factor: int) -> "tuple[arb, arb]":
    """Return the probability that the largest error exceeds the radius, and β, for noise of variance 1/ρ.

    A substituted record moves two bins by one each.
    """
    bins, beta, rho = 10**6, ball(BETA), ball(RHO)
    radius = (factor * (bins / beta).log() / rho).sqrt()
    return 1 - (1 - 2 * normal_tail(radius * rho.sqrt())) ** bins, beta


@confirms("Z.P31 outside", Says.ABOVE)
def constant_answer() -> "tuple[arb, arb]":
    """√(log(α²T)/ρα²)/1000 against n = 1: the answer n/2 in every bin, α = 1/2, T = 1e300, ρ = 1e-9."""
    rho, alpha = ball("1e-9"), ball("0.5")
    return ((alpha**2 * ball(10) ** 300).log() / (rho * alpha**2)).sqrt() / 1000, ball(1)


@confirms("Z.6a", Says.ABOVE)
def group_of_one() -> "tuple[arb, arb]":
    """1 against the δ of a group of one record, which is that of one record: δ = 1e-6."""
    return ball(1), ball("1e-6")
