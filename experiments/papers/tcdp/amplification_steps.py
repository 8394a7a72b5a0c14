"""Section 3: the steps of the sampling proof, the exact divergence at integer orders, and what cannot be better."""

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.amplification import by_lemma_15, gaussian

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.noise import Laplace, Noise, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form, integrate
from tcdp_sim.privacy.amplification.concentrated import largest_omega


@claim("T.L13 L14")
def calculus(budget: Budget) -> Points:
    """Both lemmas on a grid."""
    for alpha in (1.1, 1.5, 2.0, 3.7, 20.0):
        for x in (-0.95, -0.5, 0.3 / (alpha - 1), 1 / (alpha - 1)):
            right = 1 + alpha * x + alpha * (alpha - 1) * x * x
            name = f"Lemma 13, α = {alpha:g}, x = {x:.4g}"
            yield Point(name, closed_form(float((1 + x) ** alpha)), closed_form(right))
        for x in (-0.7, 0.2, 1.5, 8.0):
            for beta in (0.0, 2.0):
                over = max(x, 0.0)
                right = 1 + alpha * x + alpha * (alpha - 1) * x * x
                right += (alpha * over) ** alpha * ((alpha - 1) * over) ** beta
                name = f"Lemma 14, α = {alpha:g}, β = {beta:g}, x = {x:g}"
                yield Point(name, closed_form(float((1 + x) ** alpha)), closed_form(right))


@claim("T.3c")
def constant_13(budget: Budget) -> Points:
    """4(e^2ρ - 1)/ρ + e, which rises with ρ."""
    yield from [Point(f"ρ = {rho:g}", _proved(rho), constant(13.0)) for rho in (0.1, 0.01, 1e-4)]


@claim("T.3c ten")
def constant_10(budget: Budget) -> Points:
    """It is at least 8 + e."""
    yield from [Point(f"ρ = {rho:g}", _proved(rho), constant(10.0)) for rho in (0.1, 0.01, 1e-4)]


@claim("T.3c second moment")
def second_moment(budget: Budget) -> Points:
    """Z = (P - Q)/U under U = sQ + (1-s)R: Gaussians at 0, 1/2 and 1, and with Q = R."""
    for rho, s in [(0.1, 0.1), (0.1, 1.0), (0.01, 0.1)]:
        for name, places in [("Q = R", (1.0, 0.0, 0.0)), ("R between", (1.0, 0.0, 0.5)), ("R = P", (1.0, 0.0, 1.0))]:
            left = _square(gaussian(rho), places, s)
            right = closed_form(4 * float(np.expm1(2 * rho)))
            yield Point(f"ρ = {rho:g}, s = {s:g}, {name}", left, right)


@claim("T.3c remainder")
def remainder(budget: Budget) -> Points:
    """At the largest ω' that (5) admits, and the orders up to half of it."""
    for rho, s in [(0.1, 0.01), (0.1, 1e-5), (0.05, 0.05), (0.01, 0.01)]:
        omega = largest_omega(rho, s)
        for share in (0.05, 0.5, 1.0):
            alpha = 1 + share * (omega / 2 - 1)
            log_left = alpha * np.log(alpha * s) + (omega - alpha) * np.log((alpha - 1) * s) + omega * (omega - 1) * rho
            log_right = 1 + np.log(alpha * (alpha - 1) * s * s * rho)
            left = closed_form(float(np.exp(log_left - log_right)), 1e-9)
            yield Point(f"ρ = {rho:g}, s = {s:g}, ω' = {omega:.4g}, α = {alpha:.4g}", left, constant(1.0))


@claim("T.L15")
def integer_orders(budget: Budget) -> Points:
    """The binomial formula over exact divergences, against quadrature of the mixture."""
    for name, noise in [("Gaussian", gaussian(0.1)), ("sinh-normal", SinhNormal(3.0, 40.0)), ("Laplace", Laplace(1.0))]:
        for s, order in [(0.01, 2), (0.1, 5), (0.5, 12)]:
            left = exact.subsampled_renyi(noise, 1.0, float(order), s)
            yield Point(f"{name}, s = {s:g}, α = {order}", left, by_lemma_15(noise, s, order))


@claim("T.3.1a")
def least_constant(budget: Budget) -> Points:
    """Gaussian noise at order 2."""
    for rho, s in [(0.1, 0.1), (0.1, 1e-3), (1e-3, 0.1), (1e-4, 1e-6)]:
        right = exact.subsampled_renyi(gaussian(rho), 1.0, 2.0, s)
        yield Point(f"ρ = {rho:g}, s = {s:g}", closed_form(2 * s * s * rho), right)


@claim("T.3.1b")
def largest_order(budget: Budget) -> Points:
    """At the printed bound of ω, Gaussian noise has more than 10 s²ρα: no larger ω can be promised."""
    for rho, s in [(0.1, 0.1), (0.1, 0.01), (0.1, 1e-5), (0.01, 0.1), (0.01, 1e-3)]:
        order = 1 + float(np.log(1 / s)) / (rho * (1 - 10 * s * s))
        right = exact.subsampled_renyi(gaussian(rho), 1.0, order, s)
        left = closed_form(10 * s * s * rho * order)
        yield Point(f"ρ = {rho:g}, s = {s:g}, α = {order:.4g}", left, right)


def _proved(rho: float) -> Bounds[float]:
    return closed_form(4 * float(np.expm1(2 * rho)) / rho + float(np.exp(1)))


def _square(noise: Noise, places: tuple[float, float, float], s: float) -> Bounds[float]:
    """The integral of (P - Q)²/U for copies of the noise at three places, P, Q and R."""

    def integrand(x: Floats) -> Floats:
        p, q, r = (noise.pdf(x - place) for place in places)
        return np.asarray((p - q) ** 2 / (s * q + (1 - s) * r))

    reach = 25 * float(np.sqrt(noise.var()))
    return integrate(integrand, np.linspace(-reach, reach, 60), relative=1e-9)
