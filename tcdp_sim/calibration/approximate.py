"""Noise with the smallest error that meets (epsilon, delta)-DP by its privacy profile, or epsilon-DP.

A family with a scale alone has one such noise. Among the log-concave noises of a family with a scale and a knee, it is
the one that minimises an objective. A fast profile searches first. Then the scale grows until the upper end of
`exact.product_profile` meets delta. Log-concavity makes the largest shift, in all coordinates at once, the worst one.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from tcdp_sim.calibration.candidates import (
    KNEE_DIGITS,
    SCALE_AND_KNEE,
    SCALE_DIGITS,
    need_monotone_loss,
    rounded_up,
    searched_over,
    unconfirmed,
    without_largest_loss,
)
from tcdp_sim.core.search import brentq, minimize_scalar
from tcdp_sim.exact.products import product_profile
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.noise import Noise
from tcdp_sim.noise.objectives import Objective

_WIDEST = 1e3  # in scales of the family's limit: noise with a larger knee hardly differs from that limit
_LARGEST_LOG = 300.0  # largest log of a scale in counts that the search tries
ROUNDING = (1e-12, 1e-13)  # epsilon, delta: the fast profile is a difference of probabilities, good to about 1e-16

Falling = Callable[[float], float]  # a falling function of the log of a scale or a knee


@lru_cache(maxsize=1024)
def profile_calibrated(
    noise_class: type[Noise],
    epsilon: float,
    delta: float,
    coordinates: int,
    objective: Objective,
    sensitivity: float = 1.0,
) -> Noise:
    """Return the noise with delta(epsilon) <= delta when each of `coordinates` coordinates changes by `sensitivity`.

    The ranges are epsilon >= 0 in nats and 0 < delta < 1. Isotropic noise takes any number of coordinates, other noise
    1 or 2. The objective decides between noises of several parameters. Raises ValueError outside these ranges, and if
    no noise is known to meet the guarantee.
    """
    if searched_over(noise_class) == SCALE_AND_KNEE:
        noise = _least_knee_family(noise_class, epsilon, delta, coordinates, objective, sensitivity)
    else:
        noise = _least_scale_family(noise_class, epsilon, delta, coordinates)
    where = f"epsilon = {epsilon:g}, delta = {delta:g}"
    met = widened_until_met(noise, lambda it: product_profile(it, 1.0, epsilon, coordinates).upper <= delta, where)
    return met.scaled(sensitivity)


@lru_cache(maxsize=1024)
def loss_calibrated(noise_class: type[Noise], epsilon: float) -> Noise:
    """Return the noise of a family with a scale alone whose loss never exceeds epsilon > 0 nats at a move by one.

    Raises ValueError if the largest loss is infinite or has no finite upper end.
    """
    if searched_over(noise_class) == SCALE_AND_KNEE:
        raise ValueError(f"{noise_class.family} cannot be calibrated to {epsilon:g}-DP; valid: TCDP, ApproxDP")
    unit = noise_class(1.0)  # type: ignore[call-arg]
    need_monotone_loss(unit)
    if np.isinf(renyi_divergence(unit, 1.0, np.inf).upper):
        raise without_largest_loss(unit, f"{epsilon:g}-DP", "ApproxDP, TCDP with finite omega, or method 'paper'")

    def excess(log_scale: float) -> float:
        loss = renyi_divergence(noise_class(np.exp(log_scale)), 1.0, np.inf).estimate  # type: ignore[call-arg]
        return min(loss, 1e300) - epsilon

    noise = at_root(noise_class, excess)
    met = lambda it: renyi_divergence(it, 1.0, np.inf).upper <= epsilon  # noqa: E731
    return widened_until_met(noise, met, f"epsilon = {epsilon:g}, delta = 0")


def widened_until_met(noise: Any, met: Callable[[Any], bool], where: str) -> Any:
    """Return the noise, widened by as little as necessary until its upper end meets the guarantee."""
    for attempt in range(40):
        if met(noise):
            return noise
        noise = noise.widened(1 + 1e-9 * 2**attempt)
    raise unconfirmed(noise, where)


def _least_scale_family(noise_class: Any, epsilon: float, delta: float, coordinates: int) -> Any:
    need_monotone_loss(noise_class(1.0))

    def excess(log_scale: float) -> float:
        return float(product_profile(noise_class(np.exp(log_scale)), 1.0, epsilon, coordinates).estimate) - delta

    return at_root(noise_class, excess)


def at_root(noise_class: Any, excess: Falling) -> Any:
    """Return the noise whose first parameter, rounded up, is e to the root of a falling function of its log."""
    low, high = _bracket(excess, 0.0, noise_class.family)
    return noise_class(rounded_up(np.exp(brentq(excess, low, high, xtol=1e-12)), SCALE_DIGITS))


def _least_knee_family(
    noise_class: Any, epsilon: float, delta: float, coordinates: int, objective: Objective, sensitivity: float
) -> Noise:
    family: str = noise_class.family
    if epsilon < ROUNDING[0] and delta < ROUNDING[1]:
        least = "epsilon >= {:g} or delta >= {:g}".format(*ROUNDING)
        raise ValueError(f"{family} at epsilon = {epsilon:g}, delta = {delta:g} is lost in rounding; valid: {least}")
    limit = _least_scale_family(noise_class.limit, epsilon, delta, coordinates).scale

    def both(log_knee: float) -> float:
        widest = noise_class(noise_class.widest * np.exp(log_knee), np.exp(log_knee))
        return float(widest.fast_profile(epsilon, delta, coordinates)) - delta

    low = brentq(both, *_bracket(both, np.log(limit), family), xtol=1e-6) + 1e-5
    high = np.log(_WIDEST) + max(low, np.log(limit))

    def least_scale(knee: float) -> float:
        return _least_scale(noise_class, knee, epsilon, delta, coordinates)

    def error(log_knee: float) -> float:
        knee = np.exp(log_knee)
        return objective(noise_class(least_scale(knee), knee).scaled(sensitivity))

    best = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-3})
    knee = rounded_up(np.exp(best.x), KNEE_DIGITS)
    scale = least_scale(knee) * (1 + 1e-7)  # saves a second check, which costs more than this widening
    scale = rounded_up(scale, SCALE_DIGITS)
    noise: Noise = noise_class(scale, max(knee, scale / noise_class.widest))
    return noise


def _least_scale(noise_class: Any, knee: float, epsilon: float, delta: float, coordinates: int) -> float:
    """Return the smallest scale at which the fast profile meets delta.

    If even the widest scale does not meet delta, the widest one is returned.
    """

    def excess(log_scale: float) -> float:
        return float(noise_class(np.exp(log_scale), knee).fast_profile(epsilon, delta, coordinates)) - delta

    high = float(np.log(noise_class.widest * knee))
    if excess(high) > 0:
        return float(noise_class.widest * knee)
    low = high - 1
    while excess(low) <= 0:
        low -= 1
    return float(np.exp(brentq(excess, low, high, xtol=1e-11)))


def _bracket(falling: Falling, start: float, family: str) -> tuple[float, float]:
    """Return an interval on which a falling function changes its sign."""
    low = high = start
    while falling(low) <= 0 and low > -_LARGEST_LOG:
        low -= 2
    while falling(high) > 0:
        high += 2
        if high > _LARGEST_LOG:
            raise ValueError(f"{family}: no scale meets the guarantee; its loss or its divergence may be infinite")
    return low, high
