"""Sections 1.2 and 4.1: the largest error of a histogram, by notion of privacy.

Neighbours substitute a record: two bins of a histogram move by one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.sides import growing

from tcdp_sim import bounds, exact
from tcdp_sim.claims import Evidence, Growth, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ZCDP, Guarantee, PureDP

RHO, OMEGA, EPSILON = 0.1, 2.5, 0.5
EXPONENTS = (2, 4, 8, 16, 32, 64, 128, 200, 250, 300)


@claim("T.1.2f", kind=Kind.ASYMPTOTIC, section="1.2", expected=Verdict.CONSISTENT)
def histogram_error(budget: Budget) -> Evidence:
    """The noise of Corollary 18."""
    noise = _corollary_18()
    return Evidence(
        growing(EXPONENTS, lambda k: exact.max_abs_quantile(noise, k, 0.5), lambda k: float(np.log(np.log(k)))),
        measures=f"median of the largest of k errors over log log k (counts), ρ = {RHO}, ω = {OMEGA}",
        universe="k → ∞",
        growth=Growth.AT_MOST,
    )


@claim("T.4.1a", kind=Kind.ASYMPTOTIC, section="4.1", expected=Verdict.CONSISTENT)
def pure_error(budget: Budget) -> Evidence:
    """Laplace noise of scale 2/ε."""
    return _errors(Laplace(2 / EPSILON), lambda k: np.log(k) / EPSILON, "log k/ε, Laplace noise, ε = 0.5")


@claim(
    "T.4.1a",
    part="pure, least",
    title="No pure DP histogram has errors of less than the order of log k/ε",
    kind=Kind.ASYMPTOTIC,
    section="4.1",
    expected=Verdict.CONSISTENT,
)
def least_pure_error(budget: Budget) -> Evidence:
    """By packing."""
    return _least_error(PureDP(EPSILON), lambda k: np.log(k) / EPSILON, "log k/ε, ε = 0.5")


@claim(
    "T.4.1a",
    part="zCDP",
    title="The largest histogram error under ρ-zCDP by Gaussian noise is of the order of √(log k/ρ)",
    kind=Kind.ASYMPTOTIC,
    section="4.1",
    expected=Verdict.CONSISTENT,
)
def concentrated_error(budget: Budget) -> Evidence:
    """Gaussian noise of variance 1/ρ."""
    noise = Gaussian(float(1 / np.sqrt(RHO)))
    return _errors(noise, lambda k: np.sqrt(np.log(k) / RHO), "√(log k/ρ), Gaussian noise, ρ = 0.1")


@claim(
    "T.4.1a",
    part="zCDP, least",
    title="No ρ-zCDP histogram has errors of less than the order of √(log k/ρ)",
    kind=Kind.ASYMPTOTIC,
    section="4.1",
    expected=Verdict.CONSISTENT,
)
def least_concentrated_error(budget: Budget) -> Evidence:
    """By packing."""
    return _least_error(ZCDP(RHO), lambda k: np.sqrt(np.log(k) / RHO), "√(log k/ρ), ρ = 0.1")


@claim(
    "T.4.1a",
    part="approximate",
    title="The largest histogram error under (ε, δ)-DP by truncated Laplace noise is of the order of log(1/δ)/ε",
    kind=Kind.ASYMPTOTIC,
    section="4.1",
    expected=Verdict.CONSISTENT,
)
def approximate_error(budget: Budget) -> Evidence:
    """For 1e300 bins, each with half of the budget."""

    def error(inverse: float) -> Bounds[float]:
        half = EPSILON / 2
        noise = TruncatedLaplace(1 / half, float(np.log1p(np.expm1(half) * inverse)) / half)
        return exact.max_abs_quantile(noise, 1e300, 0.5)

    return Evidence(
        growing((2, 4, 8, 16, 32, 64, 128, 200), error, lambda x: float(np.log(x)) / EPSILON, "1/δ"),
        measures="median of the largest of 1e300 errors over log(1/δ)/ε, truncated Laplace noise, ε = 0.5",
        universe="δ → 0, whatever k",
    )


@claim("T.C18a", kind=Kind.INEQUALITY, section="4.1", expected=Verdict.HOLDS)
def corollary_18_radius(budget: Budget) -> Evidence:
    """Exactly."""
    points = []
    for rho, omega in [(0.1, 2.5), (1e-4, 71.0), (0.5, 20.0)]:
        noise = _corollary_18(rho, omega)
        for k, beta in [(1.0, 0.9), (1.0, 0.05), (1e3, 0.05), (1e12, 1e-6), (1e300, 0.5)]:
            radius = 8 * omega * float(np.arcsinh(np.sqrt(np.log(k / beta) / (2 * omega**2 * rho))))
            left = exact.max_abs_sf(noise, k, radius)
            points.append(Point(f"ρ = {rho:g}, ω = {omega:g}, k = {k:g}, β = {beta:g}", left, constant(beta)))
    return Evidence(
        points,
        measures="P[the largest of k errors exceeds the radius], against β",
        universe="ρ, ω > 0, k ≥ 1, β < 1",
        proof=Proof.SYMBOLIC,
        why="a union bound, with P[|N(0, 1)| ≥ x] ≤ exp(-x²/2)",
    )


@claim("T.C18b", kind=Kind.ASYMPTOTIC, section="4.1", expected=Verdict.CONSISTENT)
def radius_for_large_omega(budget: Budget) -> Evidence:
    """As ω grows, for k = 1e6, β = 0.05 and ρ = 0.1."""
    log_ratio = float(np.log(1e6 / 0.05))
    return Evidence(
        growing(
            np.arange(0.5, 7, 0.5),
            lambda omega: 8 * omega * float(np.arcsinh(np.sqrt(log_ratio / (2 * omega**2 * RHO)))),
            lambda _: 4 * float(np.sqrt(2 * log_ratio / RHO)),
            "ω",
        ),
        measures="the radius of Corollary 18 over 4√(2 log(k/β)/ρ), k = 1e6, β = 0.05, ρ = 0.1",
        universe="log(k/β)/2ω²ρ → 0",
    )


@claim(
    "T.C18b",
    part="many bins",
    title="For many bins the radius is 4ω(log log(k/β) + log(2/ω²ρ))",
    kind=Kind.ASYMPTOTIC,
    section="4.1",
    expected=Verdict.CONSISTENT,
)
def radius_for_many_bins(budget: Budget) -> Evidence:
    """As log(k/β) grows, beyond all k that floats hold."""
    omega = OMEGA
    return Evidence(
        growing(
            range(1, 60, 4),
            lambda logs: 8 * omega * float(np.arcsinh(np.sqrt(logs / (2 * omega**2 * RHO)))),
            lambda logs: 4 * omega * float(np.log(logs) + np.log(2 / (omega**2 * RHO))),
            "log(k/β)",
        ),
        measures="the radius of Corollary 18 over 4ω(log log(k/β) + log(2/ω²ρ)), ρ = 0.1, ω = 2.5",
        universe="log(k/β)/2ω²ρ → ∞",
    )


@claim("T.4d", kind=Kind.ASYMPTOTIC, section="4", expected=Verdict.CONSISTENT, erratum="E26")
def optimal_noise(budget: Budget) -> Evidence:
    """What Theorem 17's noise takes over what Corollary 27 says that all take; it speaks for log(k/4) > 2ω²ρ only."""
    noise = _corollary_18()
    return Evidence(
        growing(
            EXPONENTS[2:],
            lambda k: _doubled(exact.max_abs_quantile(noise, k, 0.5)),
            lambda k: float(bounds.least_sample_size(RHO, OMEGA, k)),
        ),
        measures="records at which sinh-normal noise works (errors below n/2 half of the time) over Corollary 27's",
        universe="k → ∞ at fixed ρ and ω",
    )


def _corollary_18(rho: float = RHO, omega: float = OMEGA) -> SinhNormal:
    return SinhNormal(scale=4 / np.sqrt(rho), knee=8 * omega)


def _doubled(error: Bounds[float]) -> Bounds[float]:
    return Bounds(2 * error.lower, 2 * error.estimate, 2 * error.upper)


def _errors(noise: Noise, form: Callable[[float], Any], name: str) -> Evidence:
    points = growing(EXPONENTS, lambda k: exact.max_abs_quantile(noise, k, 0.5), lambda k: float(form(k)))
    return Evidence(points, measures=f"median of the largest of k errors over {name}", universe="k → ∞")


def _least_error(promise: Guarantee, form: Callable[[float], Any], name: str) -> Evidence:
    """Half of the records that it takes: below that an error of n/2 shows nothing."""

    def least(k: float) -> Bounds[float]:
        return closed_form(0.5 * float(bounds.histogram_records(promise, k, 0.5)), 1e-9)

    return Evidence(
        growing(EXPONENTS, least, lambda k: float(form(k))),
        measures=f"lower bound of the median of the largest error (counts) over {name}",
        universe="k → ∞, all mechanisms",
        growth=Growth.AT_LEAST,
    )
