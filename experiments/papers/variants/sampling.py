"""Table 2: what sampling without replacement makes of a guarantee; neighbours substitute one record.

A query counts the records that have a property. If the one that is substituted has it and no other, the answer is
noise (Q), or with chance s noise moved by one (P): the pair below, which no guarantee may miss.
"""

from math import expm1, log, log1p, sqrt
from typing import cast

from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import TCDP, amplify

SECTION = "Amplification by subsampling"
MORE, FEWER = "more records with the property", "fewer"
DIRECTIONS = {MORE: "forward", FEWER: "reverse"}
SHARES = "largest D_α/(13s²ρα) over orders 1 ≤ α < log(1/s)/4ρ, against 1"


@claim("V.T2 dp")
def sampled_dp(budget: Budget) -> Points:
    """Attained by any noise, in the direction in which records with the property are more."""
    noises = budget.choose((Gaussian(1.0), Laplace(2.0)), (Gaussian(1.0), Laplace(2.0), SinhNormal(2.0, 4.0)))
    for noise in noises:
        for s in budget.choose((0.01, 0.5), (1e-6, 0.01, 0.1, 0.5, 0.99)):
            for epsilon in budget.choose((0.1, 0.4), (0.0, 0.1, 0.4, 2.0)):
                yield from _sampled_points(noise, s, epsilon)


def _sampled_points(noise: Noise, s: float, epsilon: float) -> list[Point]:
    pair = exact.Mixture(noise, (1.0,)), exact.Mixture(noise)
    delta = exact.hockey_stick_between(*pair, epsilon)
    if delta.estimate == 0:
        return []
    right, points = Bounds(*(s * end for end in delta)), []
    for name, direction in DIRECTIONS.items():
        left = exact.subsampled_hockey_stick(noise, 1.0, log1p(s * expm1(epsilon)), s, direction)
        points.append(Point(f"{noise!r}, s = {s:g}, ε = {epsilon:g}, {name}", left, right))
    return points


@claim("V.T2 tcdp")
def sampled_tcdp(budget: Budget) -> Points:
    """Gaussian noise has every ω; at large ρ its loss is s²(e^2ρ - 1), far above 13s²ρ·2."""
    cases = [(5.0, 1e-40)]
    more = [(0.1, 0.01), (0.1, 0.1), (2.0, 1e-12), (3.0, 1e-20)]
    return _tcdp_points(budget.choose(cases, [*cases, *more]), budget, "ρ > 0, 0 < s < 1")


@claim("V.T2 tcdp repaired")
def sampled_tcdp_repaired(budget: Budget) -> Points:
    """The exact loss of the sampled Gaussian, both ways."""
    cases = [(0.1, 0.1), (0.01, 0.1)]
    more = [(0.1, 1e-4), (0.01, 1e-4), (1e-3, 0.1), (1e-3, 1e-3)]
    return _tcdp_points(budget.choose(cases, [*cases, *more]), budget, "0 < ρ, s ≤ 0.1")


def _tcdp_points(cases: list[tuple[float, float]], budget: Budget, universe: str) -> Points:
    for rho, s in cases:
        omega = log(1 / s) / (4 * rho)
        for name in budget.choose([MORE], [MORE, FEWER]):
            left = sampled_share(rho, s, omega, DIRECTIONS[name])
            yield Point(f"ρ = {rho:g}, s = {s:g}, {name}", left, constant(1.0))


def sampled_share(rho: float, s: float, omega: float, direction: str) -> Bounds[float]:
    """The largest D_α/(13s²ρα) of Gaussian noise, sensitivity one, of rho-zCDP, over 1 <= α < omega."""
    noise, promised = Gaussian(1 / sqrt(2 * rho)), 13 * s * s * rho

    def divergence(orders: Floats) -> Bounds[Floats]:
        return exact.subsampled_renyi(noise, 1.0, orders, s, direction)

    share = largest_over_order(divergence, omega, relative=9e-3)
    return Bounds(share.lower / promised, share.estimate / promised, share.upper / promised)


@claim("V.T2 tcdp any")
def certified_tcdp(budget: Budget) -> Points:
    """The constant that the privacy profile of any (ρ, ω')-tCDP mechanism gives, ω' = log(1/s)/2ρ."""
    for rho, s in budget.choose(
        [(0.1, 0.1), (0.1, 1e-4)], [(0.1, 0.1), (0.1, 1e-4), (0.1, 1e-9), (0.01, 1e-2), (1e-3, 1e-3)]
    ):
        base = TCDP(rho, log(1 / s) / (2 * rho))
        sampled = cast(TCDP, amplify(base, s, "without_replacement", "certified", omega=base.omega / 2))
        c = sampled.rho / (s * s * rho)
        yield Point(f"ρ = {rho:g}, s = {s:g}", closed_form(c, 1e-6), constant(2.78))


@claim("V.T2 zcdp")
def sampled_zcdp(budget: Budget) -> Points:
    """zCDP is D_α ≤ ρ'α at all orders; sampled Gaussian noise of rho-zCDP needs ρ' = ρ, as if it were not sampled."""
    rho, points = 0.1, []
    noise = Gaussian(1 / sqrt(2 * rho))
    for s in budget.choose((1e-2,), (0.5, 0.1, 1e-2, 1e-4, 1e-6)):
        start = 1 + log(1 / s) / rho
        for order in (start * factor for factor in budget.choose((1.02, 10, 1e4), (1.02, 10, 100, 1e4))):
            divergence = exact.subsampled_renyi(noise, 1.0, order, s)
            right = Bounds(*(end / (rho * order) for end in divergence))
            left = closed_form(1 - log(1 / s) / (rho * (order - 1)), 1e-12)
            points.append(Point(f"ρ = {rho:g}, s = {s:g}, α = {order:.6g}", left, right))
    return points
