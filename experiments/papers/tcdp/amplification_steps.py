"""Section 3: the steps of the sampling proof, the exact divergence at integer orders, and what cannot be better."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.amplification import by_lemma_15, gaussian

from tcdp_sim import exact
from tcdp_sim.arrays import Floats
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Laplace, Noise, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form, integrate
from tcdp_sim.privacy.amplification.concentrated import largest_omega


@claim("T.L13 L14", kind=Kind.INEQUALITY, section="3", expected=Verdict.HOLDS)
def calculus(budget: Budget) -> Evidence:
    """Both lemmas on a grid."""
    points = []
    for alpha in (1.1, 1.5, 2.0, 3.7, 20.0):
        for x in (-0.95, -0.5, 0.3 / (alpha - 1), 1 / (alpha - 1)):
            right = 1 + alpha * x + alpha * (alpha - 1) * x * x
            name = f"Lemma 13, α = {alpha:g}, x = {x:.4g}"
            points.append(Point(name, closed_form(float((1 + x) ** alpha)), closed_form(right)))
        for x in (-0.7, 0.2, 1.5, 8.0):
            for beta in (0.0, 2.0):
                over = max(x, 0.0)
                right = 1 + alpha * x + alpha * (alpha - 1) * x * x
                right += (alpha * over) ** alpha * ((alpha - 1) * over) ** beta
                name = f"Lemma 14, α = {alpha:g}, β = {beta:g}, x = {x:g}"
                points.append(Point(name, closed_form(float((1 + x) ** alpha)), closed_form(right)))
    return Evidence(points, measures="(1 + x)^α, against the lemma's right side", universe="x ≥ -1, α > 1, β ≥ 0")


@claim("T.3c", kind=Kind.INEQUALITY, section="3", expected=Verdict.HOLDS)
def constant_13(budget: Budget) -> Evidence:
    """4(e^2ρ - 1)/ρ + e, which rises with ρ."""
    points = [Point(f"ρ = {rho:g}", _proved(rho), constant(13.0)) for rho in (0.1, 0.01, 1e-4)]
    return Evidence(
        points,
        measures="4(e^2ρ - 1)/ρ + e, the constant that the proof gives, against 13",
        universe="0 < ρ ≤ 0.1",
        proof=Proof.MONOTONE,
        why="(e^2ρ - 1)/ρ rises with ρ, so that ρ = 0.1 is the worst",
    )


@claim(
    "T.3c",
    part="ten",
    title="The proof gives a constant of 10",
    kind=Kind.INEQUALITY,
    section="3.1",
    expected=Verdict.FALSE,
    erratum="E13",
    printed="Theorem 12 asserts that D_α(sP + (1-s)Q‖Q) ≤ 10 s²ρα (Section 3.1; the theorem itself has 13)",
    correct="the proof gives 4(e^2ρ - 1)/ρ + e, from 10.72 on",
    consequence="a stale constant; what is concluded from it needs no more than that it is a constant",
)
def constant_10(budget: Budget) -> Evidence:
    """It is at least 8 + e."""
    points = [Point(f"ρ = {rho:g}", _proved(rho), constant(10.0)) for rho in (0.1, 0.01, 1e-4)]
    return Evidence(
        points,
        measures="4(e^2ρ - 1)/ρ + e, the constant that the proof gives, against 10",
        universe="0 < ρ ≤ 0.1",
        proof=Proof.SYMBOLIC,
        why="e^x - 1 > x, so that it is above 8 + e for every ρ",
    )


@claim(
    "T.3c",
    part="second moment",
    title="A step of the sampling proof: E Z² ≤ 4(e^2ρ - 1)",
    kind=Kind.INEQUALITY,
    section="3",
    expected=Verdict.HOLDS,
)
def second_moment(budget: Budget) -> Evidence:
    """Z = (P - Q)/U under U = sQ + (1-s)R: Gaussians at 0, 1/2 and 1, and with Q = R."""
    points = []
    for rho, s in [(0.1, 0.1), (0.1, 1.0), (0.01, 0.1)]:
        for name, places in [("Q = R", (1.0, 0.0, 0.0)), ("R between", (1.0, 0.0, 0.5)), ("R = P", (1.0, 0.0, 1.0))]:
            left = _square(gaussian(rho), places, s)
            right = closed_form(4 * float(np.expm1(2 * rho)))
            points.append(Point(f"ρ = {rho:g}, s = {s:g}, {name}", left, right))
    return Evidence(points, measures="E Z², against 4(e^2ρ - 1)", universe="P, Q, R within ρα of each other, ρ ≤ 0.1")


@claim(
    "T.3c",
    part="remainder",
    title="A step of the sampling proof: the remainder is at most e α(α-1) s²ρ under condition (5)",
    kind=Kind.INEQUALITY,
    section="3",
    expected=Verdict.HOLDS,
)
def remainder(budget: Budget) -> Evidence:
    """At the largest ω' that (5) admits, and the orders up to half of it."""
    points = []
    for rho, s in [(0.1, 0.01), (0.1, 1e-5), (0.05, 0.05), (0.01, 0.01)]:
        omega = largest_omega(rho, s)
        for share in (0.05, 0.5, 1.0):
            alpha = 1 + share * (omega / 2 - 1)
            log_left = alpha * np.log(alpha * s) + (omega - alpha) * np.log((alpha - 1) * s) + omega * (omega - 1) * rho
            log_right = 1 + np.log(alpha * (alpha - 1) * s * s * rho)
            left = closed_form(float(np.exp(log_left - log_right)), 1e-9)
            points.append(Point(f"ρ = {rho:g}, s = {s:g}, ω' = {omega:.4g}, α = {alpha:.4g}", left, constant(1.0)))
    return Evidence(
        points,
        measures="(αs)^α ((α-1)s)^(ω'-α) e^(ω'(ω'-1)ρ) over eα(α-1)s²ρ, against 1",
        universe="condition (5), 1 < α ≤ ω'/2",
    )


@claim("T.L15", kind=Kind.IDENTITY, section="3.1", expected=Verdict.HOLDS)
def integer_orders(budget: Budget) -> Evidence:
    """The binomial formula over exact divergences, against quadrature of the mixture."""
    points = []
    for name, noise in [("Gaussian", gaussian(0.1)), ("sinh-normal", SinhNormal(3.0, 40.0)), ("Laplace", Laplace(1.0))]:
        for s, order in [(0.01, 2), (0.1, 5), (0.5, 12)]:
            left = exact.subsampled_renyi(noise, 1.0, float(order), s)
            points.append(Point(f"{name}, s = {s:g}, α = {order}", left, by_lemma_15(noise, s, order)))
    return Evidence(
        points,
        measures="D_α(sP + (1-s)Q‖Q) by quadrature, against the sum of Lemma 15 (nats)",
        universe="P, Q any laws, 0 ≤ s ≤ 1, α = 2, 3, …",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="the binomial theorem under the expectation over Q",
    )


@claim("T.3.1a", kind=Kind.INEQUALITY, section="3.1", expected=Verdict.HOLDS)
def least_constant(budget: Budget) -> Evidence:
    """Gaussian noise at order 2."""
    points = []
    for rho, s in [(0.1, 0.1), (0.1, 1e-3), (1e-3, 0.1), (1e-4, 1e-6)]:
        right = exact.subsampled_renyi(gaussian(rho), 1.0, 2.0, s)
        points.append(Point(f"ρ = {rho:g}, s = {s:g}", closed_form(2 * s * s * rho), right))
    return Evidence(
        points,
        measures="s²ρα at order α = 2, against D_2 of sampled Gaussian noise (nats)",
        universe="0 < ρ, s ≤ 0.1",
        proof=Proof.SYMBOLIC,
        why="1 + s²(e^2ρ - 1) is at least e^(2ρs²), as the latter is convex in s² and both agree at 0 and 1",
    )


@claim("T.3.1b", kind=Kind.INEQUALITY, section="3.1", expected=Verdict.HOLDS, erratum="E13")
def largest_order(budget: Budget) -> Evidence:
    """At the printed bound of ω, Gaussian noise has more than 10 s²ρα: no larger ω can be promised."""
    points = []
    for rho, s in [(0.1, 0.1), (0.1, 0.01), (0.1, 1e-5), (0.01, 0.1), (0.01, 1e-3)]:
        order = 1 + float(np.log(1 / s)) / (rho * (1 - 10 * s * s))
        right = exact.subsampled_renyi(gaussian(rho), 1.0, order, s)
        left = closed_form(10 * s * s * rho * order)
        points.append(Point(f"ρ = {rho:g}, s = {s:g}, α = {order:.4g}", left, right))
    return Evidence(
        points,
        measures="10 s²ρα, against D_α of sampled Gaussian noise, at α = 1 + log(1/s)/(ρ(1 - 10s²)) (nats)",
        universe="0 < ρ, s ≤ 0.1; the derivation leaves out a 1, the bound is true without",
    )


def _proved(rho: float) -> Bounds[float]:
    return closed_form(4 * float(np.expm1(2 * rho)) / rho + float(np.exp(1)))


def _square(noise: Noise, places: tuple[float, float, float], s: float) -> Bounds[float]:
    """The integral of (P - Q)²/U for copies of the noise at three places, P, Q and R."""

    def integrand(x: Floats) -> Floats:
        p, q, r = (noise.pdf(x - place) for place in places)
        return np.asarray((p - q) ** 2 / (s * q + (1 - s) * r))

    reach = 25 * float(np.sqrt(noise.var()))
    return integrate(integrand, np.linspace(-reach, reach, 60), relative=1e-9)
