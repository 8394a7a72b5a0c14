"""Section 1.2: the shape of sinh-normal noise."""

from collections.abc import Callable

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.sides import growing

from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.noise import Gaussian, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form


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
    return Evidence(growing(np.arange(0.25, 2.6, 0.25), _log_tail, form, "t√ρ/Δ"), measures=measures, universe="t → ∞")
