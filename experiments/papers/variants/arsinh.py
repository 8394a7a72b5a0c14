"""The section on tCDP: the noise A arsinh(N(σ²)/A), called sinh-normal noise here."""

from math import sqrt

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Noise, SinhNormal

ALONE, BOTH = (1.0,), (0.6, 0.8)  # moves of the answer's coordinates, of length one


@claim("V.asinh")
def arsinh_mechanism(budget: Budget) -> Points:
    """Yield knees from the least one on, which is 1/√ρ, and moves that several coordinates share."""
    cases = [(1e-4, 100.0, ALONE), (1e-4, 100.0, BOTH), (1e-4, 100.0, (0.5,) * 4)]
    more = [(1e-4, 100.0, (0.01, 0.99995)), (1e-6, 1000.0, ALONE), (0.5, 20.0, BOTH)]
    yield from [_of_knee(*case) for case in budget.choose(cases, [*cases, *more])]


@claim("V.asinh outside")
def arsinh_mechanism_with_little_knee(budget: Budget) -> Points:
    """Yield knees below 1/√ρ. A positive ω > 1 is promised for A > 8Δ only."""
    cases: list[tuple[float, float, tuple[float, ...]]] = [(1e-4, 16.0, ALONE), (1e-4, 30.0, ALONE)]
    more = [(1e-4, 20.0, ALONE), (1e-4, 16.0, BOTH)]
    yield from [_of_knee(*case) for case in budget.choose(cases, [*cases, *more])]


def _of_knee(rho: float, knee: float, moves: tuple[float, ...]) -> Point:
    share = loss_share(SinhNormal(scale=sqrt(1 / (2 * rho)), knee=knee), moves, knee / 8, 16 * rho)
    where = f"A/Δ = {knee:g}, ρ = {rho:g}" + (f", moves {moves}" if moves != ALONE else "")
    return Point(where, share, constant(1.0))


@claim("V.asinh2")
def arsinh_mechanism_without_knee(budget: Budget) -> Points:
    """Yield products ω√ρ from 1/2 on, which the proof covers, and smaller ones at a small ρ."""
    cases = [(1e-4, 0.1205), (1e-4, 0.25), (1e-4, 0.5), (0.01, 2.0)]
    yield from [_of_product(*case) for case in budget.choose(cases, [*cases, (1e-6, 0.5), (0.1, 0.5), (1.0, 4.0)])]


@claim("V.asinh2 outside")
def arsinh_mechanism_of_small_omega(budget: Budget) -> Points:
    """Yield products ω√ρ below the least one at which the sentence is true."""
    yield from [_of_product(1e-4, product) for product in (0.05, 0.1, 0.12)]


def _of_product(rho: float, product: float) -> Point:
    omega = product / sqrt(rho)
    share = loss_share(SinhNormal(scale=sqrt(8 / rho), knee=8 * omega), ALONE, omega, rho)
    return Point(f"ω√ρ = {product:g}, ρ = {rho:g}", share, constant(1.0))


def loss_share(noise: Noise, moves: tuple[float, ...], omega: float, rho: float) -> Bounds[float]:
    """Return the largest D_α over ρα, 1 <= α < omega, when independent noise covers coordinates that move.

    `moves` are the moves in counts. The function needs omega > 1 and rho > 0.
    """

    def divergence(orders: Floats) -> Bounds[Floats]:
        first, *others = (exact.renyi_divergence(noise, move, orders) for move in moves)
        return sum(others, start=first)

    return largest_over_order(divergence, omega) / rho
