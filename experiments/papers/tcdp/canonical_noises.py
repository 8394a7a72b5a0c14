"""Section 4: the canonical noises by notion, and what sinh-normal noise is near and far."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.sides import growing

from tcdp_sim import exact
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Gaussian, SinhNormal, TruncatedLaplace
from tcdp_sim.numerics import closed_form

DELTA = 1e-6


@claim(
    "T.4a",
    kind=Kind.INEQUALITY,
    section="4",
    expected=Verdict.FALSE,
    erratum="E28",
    printed="For (ε, δ)-DP: Laplace noise of standard deviation Δ/ε, truncated to ±O(Δ log(1/δ)/ε)",
    correct="Laplace noise of scale Δ/ε, truncated so",
    consequence="noise of that standard deviation has a loss of √2 ε: δ(1) = 0.187 at ε = 1, wherever it is truncated",
)
def truncated_laplace(budget: Budget) -> Evidence:
    """Standard deviation 1/ε is scale 1/(√2 ε)."""
    points = []
    for epsilon in (0.1, 1.0, 2.0):
        for factor in (1.0, 10.0):
            noise = TruncatedLaplace(1 / (np.sqrt(2) * epsilon), factor * float(np.log(1 / DELTA)) / epsilon)
            where = f"ε = {epsilon:g}, support ±{factor:g} log(1/δ)/ε"
            points.append(Point(where, exact.hockey_stick(noise, 1.0, epsilon), constant(DELTA)))
    return Evidence(points, measures="δ(ε), against δ = 1e-6", universe="ε > 0, δ < 1, all constants in the O")


@claim(
    "T.4a",
    part="repaired",
    title="Laplace noise of scale Δ/ε truncated to ±Δ log(1 + (e^ε - 1)/2δ)/ε or more is (ε, δ)-DP",
    kind=Kind.INEQUALITY,
    section="4",
    expected=Verdict.HOLDS,
    erratum="E28",
)
def truncated_laplace_repaired(budget: Budget) -> Evidence:
    """At the least bound, where it is attained, and beyond."""
    points = []
    for epsilon in (0.1, 1.0, 2.0):
        for factor in (1.0, 1.1):
            bound = float(np.log1p(np.expm1(epsilon) / (2 * DELTA))) / epsilon
            noise = TruncatedLaplace(1 / epsilon, factor * bound)
            where = f"ε = {epsilon:g}, {factor:g} times the least support"
            points.append(Point(where, exact.hockey_stick(noise, 1.0, epsilon), constant(DELTA)))
    return Evidence(points, measures="δ(ε), against δ = 1e-6", universe="ε > 0, δ < 1", tolerance=1e-9)


@claim("T.4b T.4c", kind=Kind.ASYMPTOTIC, section="4", expected=Verdict.CONSISTENT)
def tails(budget: Budget) -> Evidence:
    """A knee of 10 and a scale of 4."""
    noise = SinhNormal(scale=4.0, knee=10.0)
    factor = float(noise.knee**2 / (8 * noise.scale**2))
    return Evidence(
        growing(
            np.arange(0.5, 2.6, 0.25),
            lambda t: float(-(noise.logsf(10 * t) + np.log(2))),
            lambda t: factor * float(np.exp(2 * t)),
            "t/A",
        ),
        measures="log 1/P[|X| > t] over (A²/8σ²) exp(2t/A), A = 10, σ = 4",
        universe="t → ∞",
    )


@claim(
    "T.4b T.4c",
    part="Gaussian limit",
    title="Sinh-normal noise tends to N(0, σ²) as A grows",
    kind=Kind.ASYMPTOTIC,
    section="4",
    expected=Verdict.CONSISTENT,
)
def gaussian_limit(budget: Budget) -> Evidence:
    """A far quantile."""
    far = 1e-9
    return Evidence(
        growing(
            np.arange(0, 6.5, 0.5),
            lambda knee: float(SinhNormal(1.0, knee).isf(far)),
            lambda _: float(Gaussian(1.0).isf(far)),
            "A/σ",
        ),
        measures="the 1 - 1e-9 quantile over that of N(0, σ²)",
        universe="A → ∞",
    )


@claim("T.F2", kind=Kind.IDENTITY, section="4", expected=Verdict.HOLDS, figure="figure_2")
def figure_2(budget: Budget) -> Evidence:
    """The density of arsinh(Z) by change of variables, against the noise's own."""
    noise = SinhNormal(scale=float(np.sqrt(2)), knee=1.0)
    points = []
    for x in (0.0, 0.5, 0.8813735870195430, 2.0, 4.0):
        direct = np.exp(-(np.sinh(x) ** 2) / 4) / np.sqrt(4 * np.pi) * np.cosh(x)
        points.append(Point(f"x = {x:.4g}", closed_form(float(noise.pdf(x)), 1e-10), closed_form(float(direct), 1e-10)))
    return Evidence(
        points,
        measures="density of X, against that of Z ~ N(0, 2) at sinh x times cosh x",
        universe="real x",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="change of variables",
    )


@claim(
    "T.F2",
    part="two modes",
    title="The noise that Figure 2 draws has two modes, outside Theorem 17 (A ≥ √2 σ)",
    kind=Kind.INEQUALITY,
    section="4",
    expected=Verdict.HOLDS,
    erratum="E17",
)
def two_modes(budget: Budget) -> Evidence:
    """The density at zero and at ±arcosh √2 = ±0.881."""
    noise = SinhNormal(scale=float(np.sqrt(2)), knee=1.0)
    top = closed_form(float(noise.pdf(np.arccosh(np.sqrt(2)))), 1e-10)
    return Evidence(
        [Point("x = 0 against ±0.881", closed_form(float(noise.pdf(0.0)), 1e-10), top)],
        measures="density at 0, against that at ±0.881",
        universe="the figure",
        proof=Proof.EXHAUSTIVE,
        why="one figure, whose density rises from 0 to ±0.881",
    )
