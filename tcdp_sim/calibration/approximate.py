"""Noise with the smallest error that meets (epsilon, delta)-DP exactly, by its privacy profile.

Scale families have one such noise; of the log-concave sinh-normals it is the one minimising an objective. A fast
profile searches, then the upper end of `exact.product_profile` certifies, and the scale grows until it does.
Log-concavity makes the largest shift, in all coordinates at once, the worst one.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtri

from tcdp_sim.calibration.concentrated import KNEE_DIGITS, SCALE_DIGITS, rounded_up
from tcdp_sim.exact.products import product_profile
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal

_WIDEST = 1e3  # knees beyond this many Gaussian scales are Gaussian noise for every purpose
ROUNDING = (1e-12, 1e-13)  # epsilon, delta: the fast profile is a difference of probabilities, good to about 1e-16
_OUTER, _LOSSES = 801, 1001  # points of the fast profile: over the other coordinate, and of the inverted loss


@lru_cache(maxsize=1024)
def profile_calibrated(
    family: str, epsilon: float, delta: float, coordinates: int, objective: Callable[[Noise], float]
) -> Noise:
    """The noise of `family` with delta(epsilon) <= delta when each of `coordinates` coordinates changes by one.

    epsilon >= 0 in nats, 0 < delta < 1; coordinates: any number for gaussian, 1 or 2 for laplace and sinh_normal.
    Raises ValueError beyond that.
    """
    if family == "sinh_normal":
        found = _sinh_normal(epsilon, delta, coordinates, objective)
    else:
        found = _scale_family({"gaussian": Gaussian, "laplace": Laplace}[family], epsilon, delta, coordinates)
    for attempt in range(40):
        if product_profile(found, 1.0, epsilon, coordinates).upper <= delta:
            return found
        found = _widened(found, 1 + 1e-9 * 2**attempt)
    raise ValueError(f"{family}: quadrature certifies no noise at epsilon = {epsilon:g}, delta = {delta:g}")


def _scale_family(make, epsilon, delta, coordinates):
    def excess(log_scale):
        return product_profile(make(np.exp(log_scale)), 1.0, epsilon, coordinates).estimate - delta

    low, high = _bracket(excess, 0.0)
    return make(rounded_up(np.exp(brentq(excess, low, high, xtol=1e-12)), SCALE_DIGITS))


def _sinh_normal(epsilon, delta, coordinates, objective):
    if epsilon < ROUNDING[0] and delta < ROUNDING[1]:
        least = "epsilon >= {:g} or delta >= {:g}".format(*ROUNDING)
        raise ValueError(f"sinh_normal at epsilon = {epsilon:g}, delta = {delta:g} is lost in rounding; valid: {least}")
    gaussian = _scale_family(Gaussian, epsilon, delta, coordinates).scale

    def both(log_knee):
        return _fast_profile(np.exp(log_knee), np.exp(log_knee), epsilon, delta, coordinates) - delta

    low = brentq(both, *_bracket(both, np.log(gaussian)), xtol=1e-6) + 1e-5
    high = np.log(_WIDEST) + max(low, np.log(gaussian))

    def error(log_knee):
        knee = np.exp(log_knee)
        return objective(SinhNormal(_least_scale(knee, epsilon, delta, coordinates), knee))

    best = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-3})
    knee = rounded_up(np.exp(best.x), KNEE_DIGITS)
    scale = _least_scale(knee, epsilon, delta, coordinates) * (1 + 1e-7)  # one certificate costs more than that
    return SinhNormal(rounded_up(scale, SCALE_DIGITS), max(knee, rounded_up(scale, SCALE_DIGITS)))


def _least_scale(knee, epsilon, delta, coordinates):
    """The smallest scale <= knee at which the fast profile meets delta."""

    def excess(log_scale):
        return _fast_profile(np.exp(log_scale), knee, epsilon, delta, coordinates) - delta

    high = np.log(knee)
    if excess(high) > 0:
        return knee
    low = high - 1
    while excess(low) <= 0:
        low -= 1
    return np.exp(brentq(excess, low, high, xtol=1e-11))


def _bracket(falling, start):
    """An interval on which a falling function changes its sign."""
    low = high = start
    while falling(low) <= 0:
        low -= 2
    while falling(high) > 0:
        high += 2
    return low, high


def _fast_profile(scale, knee, epsilon, delta, coordinates):
    """delta(epsilon) at shift one, uncertified; events much rarer than `delta` are left out.

    The loss falls with x, so it exceeds t below one point c(t), which is read off a table: where P - e^t Q is
    integrated up to its own zero, an error of c counts only squared.
    """
    noise = SinhNormal(scale, knee)
    reach = knee * np.arcsinh(38 * scale / knee)
    x = np.linspace(-reach, reach + 1, _LOSSES)
    loss = noise.privacy_loss(x, 1.0)

    def inner(t):
        cut = np.interp(-t, -loss, x)
        with np.errstate(over="ignore", invalid="ignore"):
            found = noise.cdf(cut) - np.exp(t + noise.logcdf(cut - 1))
        return np.where(found > 0, found, 0.0)

    if coordinates == 1:
        return float(inner(np.array([epsilon]))[0])
    rarest = ndtri(max(1e-10 * delta, 1e-300))
    z = np.linspace(rarest, -rarest, _OUTER)  # the other coordinate, on its own normal scale
    at = knee * np.arcsinh(scale / knee * z)
    weight = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    return float(weight @ inner(epsilon - noise.privacy_loss(at, 1.0)))


def _widened(noise, factor):
    if isinstance(noise, SinhNormal):
        scale = noise.scale * factor
        return SinhNormal(scale, max(noise.knee, scale))
    return type(noise)(noise.scale * factor)
