"""Noise with the smallest error that meets a concentrated guarantee at every order, by quadrature.

For sinh-normal noise the constants of the theorems are about four times too large. Theorem 17 of
Bun-Dwork-Rothblum-Steinke 2018 is tight up to a factor 9.6 in rho. Here a fast divergence finds the scale, or the scale
and the knee. Then the scale grows until the upper ends of `exact.renyi_divergence` meet the guarantee. These upper ends
cover all orders by convexity. They rest on the agreement of two Gauss rules and on the accuracy of the density, so they
are no interval arithmetic.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_sim.calibration.all_orders import SLACK, holds_at_all_orders
from tcdp_sim.calibration.candidates import (
    KNEE_DIGITS,
    SCALE_AND_KNEE,
    SCALE_DIGITS,
    need_monotone_loss,
    not_linear_in_order,
    rounded_up,
    searched_over,
    unconfirmed,
)
from tcdp_sim.calibration.tail_orders import least_order
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.search import brentq, minimize_scalar
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.noise import Noise
from tcdp_sim.noise.light_tails import has_light_tails
from tcdp_sim.noise.objectives import Objective

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator

_FRONTIER = 28  # number of knees: interpolation between them costs at most 1e-4 of the error
_SHARES = np.array([1e-3, 0.1, 0.25, 0.5, 0.7, 0.85, 0.95, 1.0])
_WIDEST = 1e3  # in Gaussian scales: noise with a larger knee hardly differs from Gaussian noise
_LEAST_EPSILON = 1e-130  # one over the largest scale that the search tries
LARGEST = 1e7  # omega sqrt(rho) beyond which double precision is too coarse


def calibrated(noise_class: Any, rho: float, omega: float, sensitivity: float, objective: Objective) -> Noise:
    """Return the noise of a family with D_a <= rho a for all 1 < a < omega when an answer moves by `sensitivity`.

    rho is the share of one coordinate. An infinite omega stands for zCDP. Raises ValueError if quadrature confirms no
    noise.
    """
    if searched_over(noise_class) == SCALE_AND_KNEE:
        return least_knee_family(noise_class, rho, omega, sensitivity, objective)
    return least_scale_family(noise_class, rho, omega).scaled(sensitivity)


@lru_cache(maxsize=4096)
def least_knee_family(noise_class: Any, rho: float, omega: float, sensitivity: float, objective: Objective) -> Noise:
    """Return the noise that minimises `objective` among the log-concave noises of a family with scale and knee.

    rho and the finite omega belong to one coordinate, which moves by `sensitivity`. Log-concavity (knee >= scale) makes
    the largest shift the worst one, so every smaller shift is covered. Raises ValueError if quadrature confirms no
    noise.
    """
    if omega * np.sqrt(rho) > LARGEST:
        raise _unconfirmed(noise_class.family, rho, omega)
    log_knee, log_scale = _frontier(noise_class, rho, omega)

    def error(x: float) -> float:
        return objective(noise_class(sensitivity * np.exp(log_scale(x)), sensitivity * np.exp(x)))

    best = minimize_scalar(error, bounds=(log_knee[0], log_knee[-1]), method="bounded", options={"xatol": 1e-3})
    knee = rounded_up(np.exp(best.x), KNEE_DIGITS)
    scale = rounded_up(_least_scale(noise_class, rho, omega, knee) * (1 + SLACK / 2), SCALE_DIGITS)  # room for chords
    for attempt in range(12):
        if holds_at_all_orders(noise_class(scale, knee), 1.0, rho, omega):
            noise: Noise = noise_class(sensitivity * scale, sensitivity * knee)
            return noise
        scale = rounded_up(scale * (1 + SLACK * 2**attempt), SCALE_DIGITS)
        knee = max(knee, scale / noise_class.widest)
    raise _unconfirmed(noise_class.family, rho, omega)


def _unconfirmed(family: str, rho: float, omega: float) -> ValueError:
    message = f"{family}: quadrature confirms no noise at rho = {rho:g} a coordinate, omega = {omega:g}"
    return ValueError(f"{message}; valid: omega sqrt(rho) <= {LARGEST:g}, or method 'paper'")


@lru_cache(maxsize=1024)
def least_scale_family(noise_class: Any, rho: float, omega: float) -> Noise:
    """Return the noise of smallest scale with D_a <= rho a at shift one for all 1 < a < omega (inf for zCDP).

    rho is the share of one coordinate. D_a never exceeds the largest loss. If that is finite it is proportional to 1 /
    scale, because it is the slope of a log-concave noise's tail, so orders beyond largest loss / rho need no check. For
    Laplace noise the scale is slightly smaller than that of Bun-Steinke 2016, Proposition 4, which is tight for small
    rho only.
    """
    unit: Noise = noise_class(1.0)
    need_monotone_loss(unit)
    count = 40 if unit.closed_renyi(1.0, np.ones(1)) is None else 200  # quadrature costs a hundred times as much
    _, slope, upper = renyi_divergence(unit, 1.0, np.inf)
    bounded = np.isfinite(upper)
    if np.isinf(omega) and not bounded and has_light_tails(unit):
        raise not_linear_in_order(unit)

    def last(noise: Noise) -> float:
        """Return an order from which on the guarantee holds by itself."""
        return renyi_divergence(noise, 1.0, np.inf).upper / rho if bounded else least_order(noise, 1.0, rho)

    def worst(epsilon: float) -> float:
        noise = noise_class(1 / epsilon)
        end = min(omega, 1 + slope * epsilon / rho if bounded else omega if np.isfinite(omega) else last(noise))
        if np.isinf(end):
            return 1e300
        orders = 1 + np.concatenate([[0.0], (end - 1) * np.geomspace(1e-4, 1, count)])
        ratios = renyi_divergence(noise, 1.0, orders).estimate / orders
        return float(min(ratios.max(), 1e300)) - rho

    digits = 1e-12 if bounded else 1e-6  # `worst` jumps where no last order is known
    scale = rounded_up((1 + SLACK / 2) / _root(worst, np.sqrt(2 * rho), noise_class.family, digits), SCALE_DIGITS)
    for attempt in range(12):
        noise: Noise = noise_class(scale)
        if holds_at_all_orders(noise, 1.0, rho, min(omega, max(2.0, last(noise)))):
            return noise
        scale = rounded_up(scale * (1 + SLACK * 2**attempt), SCALE_DIGITS)
    raise unconfirmed(unit, f"rho = {rho:g} a coordinate, omega = {omega:g}")


def _root(rising: Callable[[float], float], guess: float, family: str, digits: float) -> float:
    """Return the zero of a rising function of 1 / scale."""
    low, high = guess / 2, 2 * guess
    while rising(low) > 0:
        low /= 16
        if low < _LEAST_EPSILON:
            raise ValueError(f"{family}: no scale meets the guarantee; valid: ApproxDP, or method 'paper'")
    while rising(high) < 0:
        high *= 2
    return float(brentq(rising, low, high, rtol=digits))


@lru_cache(maxsize=1024)
def _frontier(noise_class: Any, rho: float, omega: float) -> "tuple[Floats, PchipInterpolator]":
    """Return the candidate noises of every objective: log knees, and an interpolation of the log of the least scale."""
    from scipy.interpolate import PchipInterpolator  # slow to import

    least = noise_class.least_knee(omega)  # the divergence of order omega is finite for larger knees only
    gaussian = 1 / np.sqrt(2 * rho)
    low, high = np.log(max(least * 1.0001, gaussian)), np.log(_WIDEST * max(gaussian, least))
    low = _least_log_knee(noise_class, rho, omega, low, high)
    log_knee = low + (high - low) * np.linspace(0, 1, _FRONTIER) ** 3  # it bends where the knee is small
    log_scale = np.log([_least_scale(noise_class, rho, omega, np.exp(x)) for x in log_knee])
    return log_knee, PchipInterpolator(log_knee, log_scale)


def _least_log_knee(noise_class: Any, rho: float, omega: float, low: float, high: float) -> float:
    """Return the smallest log knee at which the widest noise for that knee meets the target."""

    def slack(log_knee: float) -> float:
        return _excess(noise_class, noise_class.widest * np.exp(log_knee), np.exp(log_knee), rho, omega)

    return low if slack(low) <= 0 else float(brentq(slack, low, high, xtol=1e-4))


def _least_scale(noise_class: Any, rho: float, omega: float, knee: float) -> float:
    """Return the smallest scale at which the fast divergence meets the target.

    If even the widest scale does not meet the target, the widest one is returned.
    """

    @cache  # brentq evaluates the two ends again
    def excess(scale: float) -> float:
        return _excess(noise_class, scale, knee, rho, omega)

    gaussian, widest = 1 / np.sqrt(2 * rho), noise_class.widest * knee
    if excess(widest) > 0:
        return float(widest)
    if excess(gaussian) <= 0:
        return float(gaussian)
    return float(brentq(excess, gaussian, widest, rtol=1e-12))


def _excess(noise_class: Any, scale: float, knee: float, rho: float, omega: float) -> float:
    """Return the largest log(D_a / (rho a)) over a few orders, at shift one and without bounds."""
    s = (omega - 1) * _SHARES
    worst = (noise_class(scale, knee).fast_divergences(s) / (rho * s * (s + 1))).max()
    return float(np.log(worst)) if np.isfinite(worst) else np.inf
