"""The noises of a family that a search may choose from: which parameters they have, and how these are rounded."""

import numpy as np

from tcdp_sim.noise import Noise

MOST_COORDINATES = 10**15  # far beyond any query, and a float still counts them
KNEE_DIGITS, SCALE_DIGITS = 5, 8  # few enough that every machine ends at the same noise
SCALE, SCALE_AND_KNEE = ("scale",), ("scale", "knee")  # the parameters that a search is known for
# What the search asks of a family with a knee:
_KNEE_METHODS = ("limit", "widest", "least_knee", "fast_divergences", "fast_profile")


def searched_over(noise_class: type[Noise]) -> tuple[str, ...]:
    """Return SCALE or SCALE_AND_KNEE, the parameters of a family; ValueError for a family with others."""
    names = noise_class.parameters()
    if names == SCALE or (names == SCALE_AND_KNEE and set(_KNEE_METHODS) <= set(dir(noise_class))):
        return names
    raise ValueError(f"{noise_class.family} has no tight calibration over ({', '.join(names)}); valid: method 'paper'")


def need_monotone_loss(noise: Noise) -> None:
    """Raise ValueError unless the noise is log-concave: else a smaller change may cost more than the largest."""
    if noise.is_discrete:
        message = f"{noise.family} is discrete, and this search moves a density by any amount"
        raise ValueError(f"{message}; valid: method 'paper', by a `by_theorem` of its own, or a noise with a density")
    if not noise.log_concave:
        message = f"{noise.family} is not known to be log-concave, and a smaller change may cost more"
        raise ValueError(f"{message}; valid: {noise.log_concave_if}, or method 'paper'")


def rounded_up(x: float, digits: int) -> float:
    """Return x > 0 rounded up to so many significant digits."""
    step = 10.0 ** (np.floor(np.log10(x)) - digits + 1)
    return float(f"{np.ceil(x / step) * step:.{digits}g}")
