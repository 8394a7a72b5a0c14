"""Section 1.2: the shape of sinh-normal noise."""

import numpy as np

from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import FAR, growing, growing_in_logs
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, SinhNormal

FAR_OUT = np.arange(0.25, 2.6, 0.25)  # log10 of t √ρ / Δ


@claim("T.1.2a")
def even(budget: Budget) -> Points:
    """Return points of arsinh(-y) against arsinh(y)."""
    return [_reflected(y, 1.0) for y in (0.1, 1.0, 10.0)]


@claim("T.1.2a odd")
def odd(budget: Budget) -> Points:
    """Return points of arsinh(-y) against -arsinh(y)."""
    return [_reflected(y, -1.0) for y in (0.1, 1.0, 10.0)]


@claim("T.1.2a near zero")
def near_zero(budget: Budget) -> Points:
    """Return points as 1/y grows."""
    return growing(range(0, 9), lambda x: float(np.arcsinh(1 / x)), lambda x: 1 / x, "1/y")


@claim("T.1.2a large")
def large(budget: Budget) -> Points:
    """Return points of the ratio. The difference tends to log 2."""
    return growing_in_logs(FAR, arsinh_of_exp, lambda log_y: log_y, "y")


@claim("T.1.2b")
def not_gaussian_up_to_the_knee(budget: Budget) -> Points:
    """Yield the densities at the knee, for larger knees."""
    for m, least in ((2.0, 2.97), (4.0, 288.0)):
        known = _densities(m, 1.0)
        yield Point(known.where, constant(least), known.left)


@claim("T.1.2b printed")
def gaussian_up_to_the_knee(budget: Budget) -> Points:
    """Return the densities on the way to the knee."""
    return [_densities(m, share) for m in (1.0, 2.0, 4.0) for share in (0.25, 0.5, 1.0)]


@claim("T.1.2b repaired")
def gaussian_before_the_knee(budget: Budget) -> Points:
    """Return the densities at that point, where they are farthest apart."""
    return [_densities(m, share / np.sqrt(m)) for m in (2.0, 4.0, 16.0, 1e3) for share in (0.5, 1.0)]


@claim("T.1.2c")
def doubly_exponential(budget: Budget) -> Points:
    """Return points of log log 1/P over t√ρ/Δ, which tends to 2: the tail is the exponential of an exponential."""
    return growing(FAR_OUT, lambda u: float(np.log(_log_tail(u))), lambda u: u, "t√ρ/Δ")


@claim("T.1.2c rate")
def true_rate(budget: Budget) -> Points:
    """Return points of the tail against an inner rate of twice the printed one."""
    return growing(FAR_OUT, _log_tail, lambda u: float(np.exp(2 * u)) / 4, "t√ρ/Δ")


def arsinh_of_exp(x: float) -> float:
    """Return arsinh(e^x), also where e^x is no float."""
    return x + float(np.log1p(np.sqrt(1 + np.exp(-2 * x))))


def _reflected(y: float, sign: float) -> Point:
    left, right = float(np.log(-y + np.sqrt(y * y + 1))), sign * float(np.arcsinh(y))
    return Point(f"y = {y:g}", _signed(left, 1e-13), _signed(right, 1e-15))


def _signed(value: float, error: float) -> Bounds[float]:
    return Bounds(value - error, value, value + error)


def _densities(m: float, share: float) -> Point:
    """Return the Gaussian over the sinh-normal density at `share` of the knee, for Δ = 1; it depends on m alone."""
    rho = 1e-4
    scale, knee = float(1 / np.sqrt(2 * rho)), float(m / np.sqrt(rho))
    x = share * knee
    ratio = float(np.exp(Gaussian(scale).logpdf(x) - SinhNormal(scale, knee).logpdf(x)))
    return Point(f"m = {m:g}, x = {share:.3g} ωΔ", closed_form(ratio, 1e-9), constant(2.0))


def _log_tail(u: float) -> float:
    """Return log 1/P[|X| > t] at t √ρ / Δ = u for ω = 1/√ρ, where scale/knee = 1/√2 for every ρ."""
    return float(-(SinhNormal(float(np.sqrt(0.5)), 1.0).logsf(u) + np.log(2)))
