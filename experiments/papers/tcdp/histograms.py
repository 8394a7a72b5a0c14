"""Sections 1.2 and 4.1: the largest error of a histogram, by notion of privacy.

Neighbours substitute a record: two bins of a histogram move by one.
"""

from collections.abc import Callable

import numpy as np

from tcdp_sim import exact
from tcdp_sim.bounds.lower import packing_records
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import FAR, growing, growing_in_logs, largest_error
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.lower_bounds import printed_bound
from tcdp_sim.experiments.papers.tcdp.noise_shape import arsinh_of_exp
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, SinhSquared, TruncatedLaplace
from tcdp_sim.privacy import ZCDP, Guarantee, PureDP

RHO, OMEGA, EPSILON = 0.1, 2.5, 0.5


@claim("T.1.2f")
def histogram_error(budget: Budget) -> Points:
    """Return points of the noise of Theorem 17, for k so large that log log k differs from a constant."""
    noise = _corollary_18()
    return growing_in_logs(FAR, lambda log_k: largest_error(noise, log_k), lambda log_k: float(np.log(log_k)))


@claim("T.4.1a")
def pure_error(budget: Budget) -> Points:
    """Return points of Laplace noise of scale 2/ε."""
    return _errors(Laplace(2 / EPSILON), lambda log_k: log_k / EPSILON)


@claim("T.4.1a pure, least")
def least_pure_error(budget: Budget) -> Points:
    """Return points of the lower bound by packing."""
    return _least_error(PureDP(EPSILON), lambda log_k: log_k / EPSILON)


@claim("T.4.1a zCDP")
def concentrated_error(budget: Budget) -> Points:
    """Return points of Gaussian noise of variance 1/ρ."""
    noise = Gaussian(float(1 / np.sqrt(RHO)))
    return _errors(noise, lambda log_k: float(np.sqrt(log_k / RHO)))


@claim("T.4.1a zCDP, least")
def least_concentrated_error(budget: Budget) -> Points:
    """Return points of the lower bound by packing."""
    return _least_error(ZCDP(RHO), lambda log_k: float(np.sqrt(log_k / RHO)))


@claim("T.4.1a approximate")
def approximate_error(budget: Budget) -> Points:
    """Return points of the error for 1e300 bins, each with half of the budget."""

    def error(inverse: float) -> Bounds[float]:
        half = EPSILON / 2
        noise = TruncatedLaplace(1 / half, float(np.log1p(np.expm1(half) * inverse)) / half)
        return exact.max_abs_quantile(noise, 1e300, 0.5)

    return growing((2, 4, 8, 16, 32, 64, 128, 200), error, lambda x: float(np.log(x)) / EPSILON, "1/δ")


@claim("T.C18a")
def corollary_18_radius(budget: Budget) -> Points:
    """Yield exact points of sinh-normal and sinh-squared noise."""
    for rho, omega in [(0.1, 2.5), (1e-4, 71.0), (0.5, 20.0), (1e-4, 12.5), (0.01, 1.25)]:
        for name, family in (("sinh-normal", SinhNormal), ("sinh-squared", SinhSquared)):
            noise: Noise = family(scale=4 / np.sqrt(rho), knee=8 * omega)
            for k, beta in [(1.0, 0.9), (1.0, 0.05), (1e3, 0.05), (1e12, 1e-6), (1e300, 0.5)]:
                radius = 8 * omega * float(np.arcsinh(np.sqrt(np.log(k / beta) / (2 * omega**2 * rho))))
                where = f"{name}, ρ = {rho:g}, ω = {omega:g}, k = {k:g}, β = {beta:g}"
                yield Point(where, exact.max_abs_sf(noise, k, radius), constant(beta))


@claim("T.C18b")
def radius_for_large_omega(budget: Budget) -> Points:
    """Return points of the radius as ω grows, for k = 1e6, β = 0.05 and ρ = 0.1."""
    log_ratio = float(np.log(1e6 / 0.05))
    return growing(
        np.arange(0.5, 7, 0.5),
        lambda omega: 8 * omega * float(np.arcsinh(np.sqrt(log_ratio / (2 * omega**2 * RHO)))),
        lambda _: 4 * float(np.sqrt(2 * log_ratio / RHO)),
        "ω",
    )


@claim("T.C18b many bins")
def radius_for_many_bins(budget: Budget) -> Points:
    """Return points of the radius as log(k/β) grows, beyond all k that floats represent."""
    return growing_in_logs(
        (1, 5, *FAR),
        lambda log_logs: 8 * OMEGA * arsinh_of_exp((log_logs - float(np.log(2 * OMEGA**2 * RHO))) / 2),
        lambda log_logs: 4 * OMEGA * (log_logs + float(np.log(2 / (OMEGA**2 * RHO)))),
        "log(k/β)",
    )


@claim("T.4d")
def optimal_noise(budget: Budget) -> Points:
    """Return points of the records that Theorem 17's noise needs over those that Corollary 27 requires.

    Corollary 27 applies to log(k/4) > 2ω²ρ only.
    """
    noise = _corollary_18()
    return growing_in_logs(
        FAR, lambda log_k: 2 * largest_error(noise, log_k), lambda log_k: printed_bound(RHO, OMEGA, log_k)
    )


def _corollary_18() -> SinhNormal:
    return SinhNormal(scale=4 / np.sqrt(RHO), knee=8 * OMEGA)


def _errors(noise: Noise, form: Callable[[float], float]) -> Points:
    return growing_in_logs(FAR, lambda log_k: largest_error(noise, log_k), form)


def _least_error(promise: Guarantee, form: Callable[[float], float]) -> Points:
    """Yield half of the records that packing asks for: below that an error of n/2 shows nothing."""

    def least(log_k: float) -> Bounds[float]:
        return closed_form(0.5 * float(packing_records(promise, log_k, 0.5)), 1e-9)

    return growing_in_logs(FAR, least, form)
