"""The section on tCDP: the noise A arsinh(N(σ²)/A), called sinh-normal noise here, without its preconditions."""

from collections.abc import Iterable
from math import sqrt

from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.noise import Noise, SinhNormal
from tcdp_sim.numerics import Bounds

SECTION = "tCDP"
ALONE, BOTH = (1.0,), (0.6, 0.8)  # by how much each coordinate of the answer moves: length one
Case = tuple[float, float, tuple[float, ...]]


@claim("V.asinh")
def arsinh_mechanism(budget: Budget) -> Points:
    """From small A on; promised is a positive ω, so that A > 8Δ."""
    cases = [(1e-4, 16.0, ALONE), (1e-4, 100.0, ALONE)]
    more = [(1e-4, 20.0, ALONE), (1e-4, 16.0, BOTH), (1e-4, 30.0, ALONE)]
    return _of_knees(budget.choose(cases, [*cases, *more]), "ρ > 0, A > 8Δ")


@claim("V.asinh repaired")
def arsinh_mechanism_repaired(budget: Budget) -> Points:
    """Also a move that two coordinates share; their divergences add."""
    cases = [(1e-4, 100.0, ALONE), (1e-4, 100.0, BOTH)]
    more = [(1e-4, 100.0, (0.01, 0.99995)), (1e-4, 100.0, (0.5,) * 4), (1e-6, 1000.0, ALONE), (0.5, 20.0, BOTH)]
    return _of_knees(budget.choose(cases, [*cases, *more]), "1 < 1/√ρ ≤ A/Δ, A > 8Δ, all moves of length Δ")


def _of_knees(cases: Iterable[Case], universe: str) -> Points:
    for rho, knee, moves in cases:
        noise = SinhNormal(scale=sqrt(1 / (2 * rho)), knee=knee)
        where = f"A/Δ = {knee:g}, ρ = {rho:g}" + (f", moves {moves}" if moves != ALONE else "")
        yield Point(where, loss_share(noise, moves, knee / 8, 16 * rho), constant(1.0))


@claim("V.asinh2")
def arsinh_mechanism_without_knee(budget: Budget) -> Points:
    """On both sides of where it becomes true."""
    products = budget.choose((0.05, 0.12, 0.122), (0.05, 0.1, 0.12, 0.1205, 0.122, 0.25))
    return _of_products([(1e-4, product) for product in products], "ρ > 0, ω > 1")


@claim("V.asinh2 repaired")
def arsinh_mechanism_without_knee_repaired(budget: Budget) -> Points:
    """From the least ω that the proof covers on."""
    cases = [(1e-4, 0.5), (0.01, 2.0)]
    return _of_products(budget.choose(cases, [*cases, (1e-6, 0.5), (0.1, 0.5), (1.0, 4.0)]), "ω ≥ 1/(2√ρ), ω > 1")


def _of_products(cases: Iterable[tuple[float, float]], universe: str) -> Points:
    for rho, product in cases:
        omega = product / sqrt(rho)
        noise = SinhNormal(scale=sqrt(8 / rho), knee=8 * omega)
        yield Point(f"ω√ρ = {product:g}, ρ = {rho:g}", loss_share(noise, ALONE, omega, rho), constant(1.0))


def loss_share(noise: Noise, moves: tuple[float, ...], omega: float, rho: float) -> Bounds[float]:
    """The largest D_α over ρα, 1 <= α < omega, when independent noise covers coordinates that make these moves.

    moves: counts; omega > 1, rho > 0.
    """

    def divergence(orders: Floats) -> Bounds[Floats]:
        parts = [exact.renyi_divergence(noise, move, orders) for move in moves]
        return Bounds(*(sum(ends) for ends in zip(*parts)))

    lower, estimate, upper = largest_over_order(divergence, omega)
    return Bounds(lower / rho * (1 - 1e-14), estimate / rho, upper / rho * (1 + 1e-14))
