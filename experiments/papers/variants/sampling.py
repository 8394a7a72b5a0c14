"""Table 2: the effect of sampling without replacement on a guarantee, where neighbours substitute one record.

A query counts the records with a property. If the substituted record alone has it, the answer is noise (Q), or noise
moved by one (P) with probability s. No guarantee may miss this pair.
"""

from collections.abc import Iterator
from math import expm1, log, log1p, sqrt
from typing import cast

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.privacy import TCDP, amplify

MORE, FEWER = "more records with the property", "fewer"
DIRECTIONS = {MORE: "forward", FEWER: "reverse"}


@claim("V.T2 dp")
def sampled_dp(budget: Budget) -> Points:
    """Yield both directions. The one with more records of the property attains the bound, for any noise."""
    noises = budget.choose((Gaussian(1.0), Laplace(2.0)), (Gaussian(1.0), Laplace(2.0), SinhNormal(2.0, 4.0)))
    for noise in noises:
        for s in budget.choose((0.01, 0.5), (1e-6, 0.01, 0.1, 0.5, 0.99)):
            for epsilon in budget.choose((0.1, 0.4), (0.0, 0.1, 0.4, 2.0)):
                yield from _sampled_points(noise, s, epsilon)


def _sampled_points(noise: Noise, s: float, epsilon: float) -> Iterator[Point]:
    delta = pair_divergences.delta(*pair_divergences.moved(noise, 1.0)[::-1], epsilon)
    if delta.estimate == 0:
        return
    for name, direction in DIRECTIONS.items():
        left = pair_divergences.delta(*pair_divergences.sampled(noise, s, direction), log1p(s * expm1(epsilon)))
        yield Point(f"{noise!r}, s = {s:g}, ε = {epsilon:g}, {name}", left, s * delta)


@claim("V.T2 tcdp")
def sampled_tcdp(budget: Budget) -> Points:
    """Yield the exact share of the sampled Gaussian, both ways."""
    cases = [(0.1, 0.1), (0.01, 0.1)]
    more = [(0.1, 1e-4), (0.01, 1e-4), (1e-3, 0.1), (1e-3, 1e-3)]
    return _shares(budget.choose(cases, [*cases, *more]), budget)


@claim("V.T2 tcdp outside")
def sampled_tcdp_of_large_rho(budget: Budget) -> Points:
    """Yield large ρ: Gaussian noise has every ω, and its loss is s²(e^2ρ - 1)/2 per order, far above 13s²ρ."""
    return _shares(budget.choose([(5.0, 1e-40)], [(5.0, 1e-40), (2.0, 1e-12), (3.0, 1e-20)]), budget)


def _shares(cases: list[tuple[float, float]], budget: Budget) -> Points:
    for rho, s in cases:
        for name in budget.choose([MORE], [MORE, FEWER]):
            share = sampled_share(rho, s, log(1 / s) / (4 * rho), DIRECTIONS[name])
            yield Point(f"ρ = {rho:g}, s = {s:g}, {name}", share / 13, constant(1.0))


def sampled_share(rho: float, s: float, omega: float, direction: str) -> Bounds[float]:
    """Return the largest D_α/(s²ρα) of Gaussian noise, sensitivity one, of rho-zCDP, over 1 <= α < omega."""
    noise = Gaussian(1 / sqrt(2 * rho))

    def divergence(orders: Floats) -> Bounds[Floats]:
        return pair_divergences.renyi(*pair_divergences.sampled(noise, s, direction), orders)

    return largest_over_order(divergence, omega, relative=9e-3) / (s * s * rho)


@claim("V.T2 tcdp any")
def bound_for_any_mechanism(budget: Budget) -> Points:
    """Yield our bound on the constant, on a grid with the corners, and the exact constant of Gaussian noise below it.

    The bound rises with ρ and falls with s. It tends to 2.7397 as s tends to 0 at ρ = 0.1.
    """
    fractions = budget.choose((0.1, 1e-4, 1e-20), (0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-20))
    for rho in budget.choose((0.1,), (0.1, 0.05, 0.01, 1e-3)):
        for s in fractions:
            yield Point(f"any mechanism, ρ = {rho:g}, s = {s:g}", _bound_on_constant(rho, s), constant(2.78))
    for rho, s in budget.choose([(0.1, 0.1)], [(0.1, 0.1), (0.1, 1e-4), (1e-3, 0.1), (1e-3, 1e-4)]):
        gaussian = sampled_share(rho, s, log(1 / s) / (4 * rho), "forward")
        yield Point(f"Gaussian noise, ρ = {rho:g}, s = {s:g}", gaussian, _bound_on_constant(rho, s))


def _bound_on_constant(rho: float, s: float) -> Bounds[float]:
    """Return c such that (c s²ρ, log(1/s)/4ρ)-tCDP holds for any sampled (ρ, log(1/s)/2ρ)-tCDP mechanism."""
    base = TCDP(rho, log(1 / s) / (2 * rho))
    sampled = cast(TCDP, amplify(base, s, "without_replacement", "certified", omega=base.omega / 2))
    return closed_form(sampled.rho / (s * s * rho), 1e-6)


@claim("V.T2 zcdp")
def sampled_zcdp(budget: Budget) -> Points:
    """Yield orders up to 10^4 times the first one: sampled Gaussian noise of ρ-zCDP needs the same ρ again."""
    rho = 0.1
    for s in budget.choose((1e-2,), (0.5, 0.1, 1e-2, 1e-4, 1e-6)):
        start = 1 + log(1 / s) / rho
        for order in (start * factor for factor in budget.choose((1.02, 10, 1e4), (1.02, 10, 100, 1e4))):
            right = pair_divergences.renyi(*pair_divergences.sampled(Gaussian(1 / sqrt(2 * rho)), s), order) / (
                rho * order
            )
            left = closed_form(1 - log(1 / s) / (rho * (order - 1)), 1e-12)
            yield Point(f"ρ = {rho:g}, s = {s:g}, α = {order:.6g}", left, right)
