"""Section 1.2: the shape of sinh-normal noise."""

from collections.abc import Callable

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.noise import Gaussian, SinhNormal
from tcdp_sim.numerics import Bounds, closed_form


@claim("T.1.2a")
def even(budget: Budget) -> Points:
    """arsinh(-y) = arsinh(y)?"""
    yield from [_reflected(y, 1.0) for y in (0.1, 1.0, 10.0)]


@claim("T.1.2a odd")
def odd(budget: Budget) -> Points:
    """arsinh(-y) = -arsinh(y)."""
    yield from [_reflected(y, -1.0) for y in (0.1, 1.0, 10.0)]


@claim("T.1.2a near zero")
def near_zero(budget: Budget) -> Points:
    """1/y grows."""
    yield from growing(range(0, 9), lambda x: float(np.arcsinh(1 / x)), lambda x: 1 / x, "1/y")


@claim("T.1.2a large")
def large(budget: Budget) -> Points:
    """As a ratio; the difference tends to log 2."""
    yield from growing([1, 2, 4, 8, 16, 32, 64, 128], lambda y: float(np.arcsinh(y)), lambda y: float(np.log(y)), "y")


@claim("T.1.2b")
def gaussian_up_to_the_knee(budget: Budget) -> Points:
    """The densities at the knee."""
    return [_densities(m, 1.0) for m in (1.0, 2.0, 4.0)]


@claim("T.1.2b repaired")
def gaussian_before_the_knee(budget: Budget) -> Points:
    """The densities at that point, where they are farthest apart."""
    return [_densities(m, share / np.sqrt(m)) for m in (2.0, 4.0, 16.0, 1e3) for share in (0.5, 1.0)]


@claim("T.1.2c")
def doubly_exponential(budget: Budget) -> Points:
    """That the tail is the exponential of an exponential in t√ρ/Δ: log log 1/P over it, which tends to 2."""
    return growing(np.arange(0.25, 2.6, 0.25), lambda u: float(np.log(_log_tail(u))), lambda u: u, "t√ρ/Δ")


@claim("T.1.2c to the letter")
def printed_rate(budget: Budget) -> Points:
    """The printed inner rate."""
    return _rate(lambda u: float(np.exp(u)), "log 1/P[|X| > t] over exp(t√ρ/Δ), ω = 1/√ρ")


@claim("T.1.2c rate")
def true_rate(budget: Budget) -> Points:
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


def _rate(form: Callable[[float], float], measures: str) -> Points:
    return growing(np.arange(0.25, 2.6, 0.25), _log_tail, form, "t√ρ/Δ")
