"""Section 4: the noise for tCDP, and histograms with it."""

import numpy as np

from tcdp_sim import exact
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import SinhNormal, SinhSquared


@claim("T.T17")
def theorem_17(budget: Budget) -> Points:
    """Yield points from m = A sqrt(rho) / Delta = 1 on, where omega = A / 8 Delta is above 1."""
    pairs = [(1e-2, 1.0), (1e-6, 1.0), (0.1, 4.0)]
    for rho, m in budget.choose(
        pairs, [*pairs, (1e-3, 1.0), (1e-4, 1.0), (1e-4, 2.0), (1e-4, 4.0), (1e-4, 16.0), (0.5, 16.0)]
    ):
        yield _theorem_17(f"A√ρ/Δ = {m:g}", rho, m / np.sqrt(rho))
    yield _theorem_17("A√ρ/Δ = 1, moved by 1/2", 1e-4, 100.0, 0.5)


@claim("T.P4 eq4")
def proposition_4(budget: Budget) -> Points:
    """Yield points with the constants of Theorem 17, also for rho above 1, which that theorem excludes.

    O(omega) is taken to be at least omega/8. Up to omega = 8 no order above 1 is promised with these constants.
    """
    pairs = [(1e-3, 40.0), (0.5, 9.0), (10.0, 9.0)]
    for rho, omega in budget.choose(pairs, [*pairs, (1e-2, 10.5), (0.1, 30.0), (2.0, 12.0)]):
        yield _theorem_17(f"ω = {omega:g}", rho, omega)


def _theorem_17(where: str, rho: float, knee: float, shift: float = 1.0) -> Point:
    noise = SinhNormal(scale=1 / np.sqrt(2 * rho), knee=knee)
    return Point(f"{where}, ρ = {rho:g}", largest_cost(noise, knee / 8, shift) / (16 * rho), constant(1.0))


@claim("T.C18p")
def corollary_18(budget: Budget) -> Points:
    """Yield the privacy of sinh-squared noise, at the small end of the window and elsewhere, and its accuracy."""
    small = [(1e-2, 0.125), (1e-4, 0.125), (1e-6, 0.125), (0.99, 1.01), (1e-4, 1.0)]
    for rho, product in budget.choose(small, [*small, (1e-3, 0.125), (1e-9, 0.125), (0.5, 0.75), (0.1, 10.0)]):
        omega = product / np.sqrt(rho)
        noise = SinhSquared(scale=4 / np.sqrt(rho), knee=8 * omega)
        where = f"ω√ρ = {product:g}, ρ = {rho:g}"
        yield Point(f"privacy, {where}", largest_cost(noise, omega) * 2 / rho, constant(1.0))
        for k, beta in budget.choose([(1.0, 0.9), (1e300, 1e-9)], [(1.0, 0.9), (1e6, 0.05), (1e300, 1e-9)]):
            radius = 8 * omega * float(np.arcsinh(np.sqrt(np.log(k / beta) / (2 * omega**2 * rho))))
            left = exact.max_abs_sf(noise, k, radius)
            yield Point(f"accuracy, {where}, k = {k:g}, β = {beta:g}", left, constant(beta))


@claim("T.C18p proof's noise")
def noise_of_the_proof(budget: Budget) -> Points:
    """Return points of sinh-normal noise, from the small end of the printed window to where its proof covers it."""
    return _sinh_normal(budget.choose((0.125, 0.25, 0.7071068), (0.125, 0.15, 0.17, 0.2, 0.25, 0.5, 0.7071068)))


@claim("T.C18p repaired")
def noise_of_the_proof_in_its_window(budget: Budget) -> Points:
    """Return points from the least omega that the proof covers on."""
    return _sinh_normal(budget.choose((0.7071068, 2.0), (0.7071068, 0.8, 1.0, 2.0, 4.0)))


def _sinh_normal(products: tuple[float, ...]) -> Points:
    for rho in (1e-2, 1e-4):
        for product in products:
            if (omega := product / np.sqrt(rho)) > 1:
                noise = SinhNormal(scale=4 / np.sqrt(rho), knee=8 * omega)
                yield Point(f"ω√ρ = {product:g}, ρ = {rho:g}", largest_cost(noise, omega) * 2 / rho, constant(1.0))
