"""Sections 1.2 and 4: the shape of sinh-normal noise, and the canonical noises beside it."""

from collections.abc import Callable

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.sides import growing

from tcdp_sim import exact
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Gaussian, SinhNormal, TruncatedLaplace
from tcdp_sim.numerics import Bounds, closed_form

DELTA = 1e-6


@claim(
    "T.1.2a",
    kind=Kind.IDENTITY,
    section="1.2",
    expected=Verdict.FALSE,
    erratum="E29",
    printed="arsinh is an even function",
    correct="it is odd",
    consequence="a slip of the pen: what is used is that the noise is symmetric, which an odd function of N(0, 1) is",
)
def even(budget: Budget) -> Evidence:
    """arsinh(-y) = arsinh(y)?"""
    points = [_reflected(y, 1.0) for y in (0.1, 1.0, 10.0)]
    return Evidence(points, measures="arsinh(-y), against arsinh(y)", universe="real y", tolerance=1e-9)


@claim("T.1.2a", part="odd", title="arsinh is odd", kind=Kind.IDENTITY, section="1.2", expected=Verdict.HOLDS)
def odd(budget: Budget) -> Evidence:
    """arsinh(-y) = -arsinh(y)."""
    points = [_reflected(y, -1.0) for y in (0.1, 1.0, 10.0)]
    return Evidence(
        points,
        measures="log(-y + √(y² + 1)), against -arsinh(y)",
        universe="real y",
        tolerance=1e-9,
        proof=Proof.SYMBOLIC,
        why="(√(y² + 1) + y)(√(y² + 1) - y) = 1",
    )


@claim(
    "T.1.2a",
    part="near zero",
    title="arsinh(y) is near y for small y",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.CONSISTENT,
)
def near_zero(budget: Budget) -> Evidence:
    """1/y grows."""
    points = growing(range(0, 9), lambda x: float(np.arcsinh(1 / x)), lambda x: 1 / x, "1/y")
    return Evidence(points, measures="arsinh(y)/y", universe="y → 0")


@claim(
    "T.1.2a",
    part="large",
    title="arsinh(y) is near log|y| for large y",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.CONSISTENT,
    erratum="E18",
)
def large(budget: Budget) -> Evidence:
    """As a ratio; the difference tends to log 2."""
    points = growing([1, 2, 4, 8, 16, 32, 64, 128], lambda y: float(np.arcsinh(y)), lambda y: float(np.log(y)), "y")
    return Evidence(points, measures="arsinh(y)/log y; log(2y) is nearer", universe="y → ∞")


@claim(
    "T.1.2b",
    kind=Kind.INEQUALITY,
    section="1.2",
    expected=Verdict.FALSE,
    erratum="E30",
    printed="closely resembles a Gaussian with comparable variance up to noise values of about ωΔ",
    correct="up to about ωΔ/√m, m = ω√ρ",
    consequence="at ωΔ the density is 1/290 of the Gaussian's for ω = 4/√ρ; only for ω = 1/√ρ is it alike there",
)
def gaussian_up_to_the_knee(budget: Budget) -> Evidence:
    """The densities at the knee."""
    return Evidence(
        [_densities(m, 1.0) for m in (1.0, 2.0, 4.0)],
        measures="Gaussian density over the sinh-normal's at x = ωΔ, against 2",
        universe="ω ≥ 1/√ρ, |x| ≤ ωΔ",
    )


@claim(
    "T.1.2b",
    part="repaired",
    title="Sinh-normal noise looks Gaussian up to ωΔ/√m, m = ω√ρ",
    kind=Kind.INEQUALITY,
    section="1.2",
    expected=Verdict.HOLDS,
    erratum="E30",
)
def gaussian_before_the_knee(budget: Budget) -> Evidence:
    """The densities at that point, where they are farthest apart."""
    return Evidence(
        [_densities(m, share / np.sqrt(m)) for m in (2.0, 4.0, 16.0, 1e3) for share in (0.5, 1.0)],
        measures="Gaussian density over the sinh-normal's at x = ωΔ/√m and at half of that, against 2",
        universe="ω ≥ 1/√ρ",
    )


@claim("T.1.2c", kind=Kind.ASYMPTOTIC, section="1.2", expected=Verdict.CONSISTENT, erratum="E14")
def doubly_exponential(budget: Budget) -> Evidence:
    """That the tail is the exponential of an exponential in t√ρ/Δ: log log 1/P over it, which tends to 2."""
    return Evidence(
        growing(np.arange(0.25, 2.6, 0.25), lambda u: float(np.log(_log_tail(u))), lambda u: u, "t√ρ/Δ"),
        measures="log log 1/P[|X| > t] over t√ρ/Δ, ω = 1/√ρ",
        universe="t → ∞",
    )


@claim(
    "T.1.2c",
    part="to the letter",
    title="log 1/P of the sinh-normal tail is of the order of exp(t√ρ/Δ)",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.INCONSISTENT,
    erratum="E14",
)
def printed_rate(budget: Budget) -> Evidence:
    """The printed inner rate."""
    return _rate(lambda u: float(np.exp(u)), "log 1/P[|X| > t] over exp(t√ρ/Δ), ω = 1/√ρ")


@claim(
    "T.1.2c",
    part="rate",
    title="log 1/P of the sinh-normal tail is exp(2t√ρ/Δ)/4",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.CONSISTENT,
    erratum="E14",
)
def true_rate(budget: Budget) -> Evidence:
    """The inner rate is twice the printed one."""
    return _rate(lambda u: float(np.exp(2 * u)) / 4, "log 1/P[|X| > t] over exp(2t√ρ/Δ)/4, ω = 1/√ρ")


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


def _reflected(y: float, sign: float) -> Point:
    left, right = float(np.log(-y + np.sqrt(y * y + 1))), sign * float(np.arcsinh(y))
    return Point(f"y = {y:g}", _signed(left, 1e-13), _signed(right, 1e-15))


def _signed(value: float, error: float) -> Bounds[float]:
    return Bounds(value - error, value, value + error)


def _densities(m: float, share: float) -> Point:
    """The Gaussian density over the sinh-normal's at so many knees; Δ = 1, any ρ: the ratio depends on m alone."""
    rho = 1e-4
    scale, knee = float(1 / np.sqrt(2 * rho)), float(m / np.sqrt(rho))
    x = share * knee
    ratio = float(np.exp(Gaussian(scale).logpdf(x) - SinhNormal(scale, knee).logpdf(x)))
    return Point(f"m = {m:g}, x = {share:.3g} ωΔ", closed_form(ratio, 1e-9), constant(2.0))


def _log_tail(u: float) -> float:
    """log 1/P[|X| > t] at t √ρ / Δ = u for ω = 1/√ρ: then scale/knee = 1/√2 whatever ρ."""
    return float(-(SinhNormal(float(np.sqrt(0.5)), 1.0).logsf(u) + np.log(2)))


def _rate(form: Callable[[float], float], measures: str) -> Evidence:
    return Evidence(
        growing(np.arange(0.25, 2.6, 0.25), _log_tail, form, "t√ρ/Δ"), measures=measures, universe="t → ∞"
    )

