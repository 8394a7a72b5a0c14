"""Section 3: the steps of the sampling proof, the exact divergence at integer orders, and limits of improvement."""

import numpy as np
from scipy.optimize import brentq

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.amplification import by_lemma_15, gaussian
from tcdp_sim.noise import Laplace, Noise, SinhNormal
from tcdp_sim.privacy.amplification.concentrated import largest_omega


@claim("T.L13 L14")
def calculus(budget: Budget) -> Points:
    """Yield points on a grid with both ends."""
    for alpha in (1.1, 1.5, 2.0, 3.7, 20.0):
        for x in (-1.0, -0.95, -0.5, 0.3 / (alpha - 1), 1 / (alpha - 1)):
            name = f"α = {alpha:g}, x = {x:.4g}"
            yield Point(name, closed_form(float((1 + x) ** alpha)), closed_form(_three_terms(alpha, x)))


@claim("T.L13 L14 Lemma 14")
def calculus_beyond(budget: Budget) -> Points:
    """Yield points on a grid with the ends of the domain, and just above 1/(α - 1), where the remainder is tightest."""
    for alpha in (1.0, 1.1, 2.0, 3.7, 20.0):
        least = -1.0 if alpha > 1 else -0.9  # at α = 1 both sides are 0 at -1
        for x in (least, -0.7, 0.2, 1.001 / max(alpha - 1, 0.1), 8.0):
            for beta in (0.0, 2.0):
                over = max(x, 0.0)
                right = _three_terms(alpha, x) + (alpha * over) ** alpha * ((alpha - 1) * over) ** beta
                name = f"α = {alpha:g}, β = {beta:g}, x = {x:.4g}"
                yield Point(name, closed_form(float((1 + x) ** alpha)), closed_form(right))


def _three_terms(alpha: float, x: float) -> float:
    return 1 + alpha * x + alpha * (alpha - 1) * x * x


@claim("T.3c")
def constant_13(budget: Budget) -> Points:
    """Yield points of 4(e^2ρ - 1)/ρ + e, which increases with ρ."""
    for rho in (0.1, 0.01, 1e-4):
        left = closed_form(4 * float(np.expm1(2 * rho)) / rho + float(np.exp(1)))
        yield Point(f"ρ = {rho:g}", left, constant(13.0))


@claim("T.3c second moment")
def second_moment(budget: Budget) -> Points:
    """Yield points of Z = (P - Q)/U under U = sQ + (1-s)R: Gaussians at 0, 1/2 and 1, and with Q = R."""
    for rho, s in [(0.1, 0.1), (0.1, 1.0), (0.01, 0.1)]:
        for name, places in [("Q = R", (1.0, 0.0, 0.0)), ("R between", (1.0, 0.0, 0.5)), ("R = P", (1.0, 0.0, 1.0))]:
            left = _square(gaussian(rho), places, s)
            right = closed_form(4 * float(np.expm1(2 * rho)))
            yield Point(f"ρ = {rho:g}, s = {s:g}, {name}", left, right)


@claim("T.3c remainder")
def remainder(budget: Budget) -> Points:
    """Yield the line and its consequence at the least and the largest ω' of (5), at orders up to half of ω'."""
    for rho, s in [(0.1, 0.01), (0.1, 1e-5), (0.05, 0.05), (0.01, 0.01)]:
        for omega in (_least_omega(rho, s), largest_omega(rho, s)):
            for share in (0.05, 0.5, 1.0):
                alpha = 1 + share * (omega / 2 - 1)
                where = f"ρ = {rho:g}, s = {s:g}, ω' = {omega:.4g}, α = {alpha:.4g}"
                line = (omega - 2) * np.log((alpha - 1) * s) + omega * (omega - 1) * rho - np.log(rho)
                rest = alpha * np.log(alpha * s) + (omega - alpha) * np.log((alpha - 1) * s) + omega * (omega - 1) * rho
                rest -= 1 + np.log(alpha * (alpha - 1) * s * s * rho)
                yield Point(f"the line, {where}", closed_form(float(np.exp(line)), 1e-9), constant(1.0))
                yield Point(f"the remainder, {where}", closed_form(float(np.exp(rest)), 1e-9), constant(1.0))


def _least_omega(rho: float, s: float) -> float:
    """Return the least ω' of condition (5), rounded up: where its left half is an equality."""
    return float(brentq(lambda w: w - 2 - np.log2(1 / rho) - np.log2(1 / ((w - 2) * s)), 2 + 1e-9, 1e4)) * (1 + 1e-12)


@claim("T.L15")
def integer_orders(budget: Budget) -> Points:
    """Yield the binomial formula over exact divergences, against quadrature of the mixture."""
    for name, noise in [("Gaussian", gaussian(0.1)), ("sinh-normal", SinhNormal(3.0, 40.0)), ("Laplace", Laplace(1.0))]:
        for s, order in [(0.01, 2), (0.1, 5), (0.5, 12)]:
            left = pair_divergences.renyi(*pair_divergences.sampled(noise, s), float(order))
            yield Point(f"{name}, s = {s:g}, α = {order}", left, by_lemma_15(noise, s, order))


@claim("T.3.1a")
def least_constant(budget: Budget) -> Points:
    """Yield points of Gaussian noise at order 2."""
    for rho, s in [(0.1, 0.1), (0.1, 1e-3), (1e-3, 0.1), (1e-4, 1e-6)]:
        right = pair_divergences.renyi(*pair_divergences.sampled(gaussian(rho), s), 2.0)
        yield Point(f"ρ = {rho:g}, s = {s:g}", closed_form(2 * s * s * rho), right)


@claim("T.3.1b step")
def step_without_one(budget: Budget) -> Points:
    """Yield an order above the printed bound at which Gaussian noise keeps 10 s²ρα."""
    rho, s, order = 0.01, 1e-3, 691.0
    spent = pair_divergences.renyi(*pair_divergences.sampled(gaussian(rho), s), order)
    yield Point("the premise, D_α over 10 s²ρα, against 1", spent / (10 * s * s * rho * order), constant(1.0))
    bound = float(np.log(1 / s)) / (rho * (1 - 10 * s * s))
    yield Point("the order, against the printed bound", constant(order), closed_form(bound))


@claim("T.3.1b")
def largest_order(budget: Budget) -> Points:
    """Yield Gaussian noise at the printed bound of ω, where it exceeds 10 s²ρα. No larger ω can be promised."""
    for rho, s in [(0.1, 0.1), (0.1, 0.01), (0.1, 1e-5), (0.01, 0.1), (0.01, 1e-3)]:
        order = 1 + float(np.log(1 / s)) / (rho * (1 - 10 * s * s))
        right = pair_divergences.renyi(*pair_divergences.sampled(gaussian(rho), s), order)
        left = closed_form(10 * s * s * rho * order)
        yield Point(f"ρ = {rho:g}, s = {s:g}, α = {order:.4g}", left, right)


def _square(noise: Noise, places: tuple[float, float, float], s: float) -> Bounds[float]:
    """Return the integral of (P - Q)²/U for copies of the noise at three places, P, Q and R."""

    def integrand(x: Floats) -> Floats:
        p, q, r = (noise.pdf(x - place) for place in places)
        return np.asarray((p - q) ** 2 / (s * q + (1 - s) * r))

    reach = 25 * float(np.sqrt(noise.var()))
    return integrate(integrand, np.linspace(-reach, reach, 60), relative=1e-9)
