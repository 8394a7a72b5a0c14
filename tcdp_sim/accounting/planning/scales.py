"""Noises of one scale, and the largest scale of a discrete one at which an error stays within its bound."""

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any

from tcdp_sim.core import registry
from tcdp_sim.noise import Noise

_RELATIVE = 1e-12  # distance of the ends of a search


@lru_cache(maxsize=8192)
def unit_noise(family: str, step: float, scale: float) -> Noise:
    """Return the noise of a family with a scale and possibly a step. Raises ValueError for another family."""
    noise_class: Any = registry.noise(family, "noise")
    names = tuple(noise_class.parameters())
    if noise_class.is_optimized or len(names) != 1 + ("step" in names):
        raise ValueError(
            f"noise = {family!r} is not valid in a plan; valid: a noise with one scale, such as gaussian, laplace, "
            "discrete_gaussian or discrete_laplace"
        )
    noise: Noise = noise_class(scale, step) if "step" in names else noise_class(scale)
    return noise


def largest_scale(
    error_at: Callable[[float], float], error: float, step: float, excess: Callable[[float], float]
) -> float:
    """Return the largest scale at which a step function of the scale is at most `error`.

    The tails of discrete noises grow with the scale, so the error does not fall. `excess` is a continuous function of
    the scale that rises through 0 at the answer. The errors on both sides confirm its root. Else bisection decides.
    Raises ValueError if no scale has so small an error.
    """
    from scipy.optimize import brentq  # imported late, as in `core.numerics.root`

    low = high = error
    while excess(low) > 0:
        low /= 2
        if low < 1e-3 * step:
            raise ValueError(f"no discrete noise has an error of {error:g}; valid: an error of at least {step:g}")
    while excess(high) <= 0:
        high *= 2
        if not isfinite(high):
            raise ValueError(f"every scale has an error of at most {error:g}; valid: a smaller error")
    near = brentq(excess, low, high, rtol=_RELATIVE / 10, xtol=1e-300)
    beside = near * (1 - 0.4 * _RELATIVE), near * (1 + 0.4 * _RELATIVE)
    if error_at(beside[0]) <= error < error_at(beside[1]):
        return beside[0]
    low, high = low / 2, 2 * high
    while high - low > _RELATIVE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if error_at(middle) <= error else (low, middle)
    return low
