"""The noises of a family that a search may choose from: which parameters they have, and how these are rounded."""

import numpy as np

from tcdp_sim.noise import Noise
from tcdp_sim.noise.missing import cannot, undefined

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
    goal = f"calibrate {noise_class.family} tightly over ({', '.join(names)})"
    if names == SCALE_AND_KNEE:
        lacking = [name for name in _KNEE_METHODS if not hasattr(noise_class, name)]
        raise cannot(goal, "its search over the knee is not defined", *lacking, instead="method 'paper'")
    reason = "a search is known for one parameter, `scale`"
    raise cannot(goal, reason, "by_theorem", instead="method 'paper', if the noise has a theorem")


def need_monotone_loss(noise: Noise) -> None:
    """Raise ValueError unless the noise is log-concave: else a smaller change may cost more than the largest."""
    goal = f"calibrate {noise.family} by a search"
    if noise.is_discrete:
        reason = "it is discrete, and the search moves a density by any amount"
        raise cannot(goal, reason, "by_theorem", instead="a noise with a density, or method 'paper'")
    noise.need_log_concave(goal, instead="method 'paper'")


def uncertified(noise: Noise, where: str) -> ValueError:
    """Return the one line for a guarantee that no noise is certified to meet; a loss without digits may be why."""
    goal = f"calibrate {noise.family} at {where}"
    lacking = undefined(noise, "privacy_loss")
    return cannot(
        goal, "quadrature certifies no noise", *lacking, instead="a less extreme guarantee, or method 'paper'"
    )


def without_largest_loss(noise: Noise, notion: str, instead: str) -> ValueError:
    """Return the one line for a noise whose privacy loss has no upper end: it is infinite, or not known."""
    lacking = undefined(noise, "privacy_loss", "largest_loss")
    reason = "the supremum of its privacy loss is unknown" if lacking else "its privacy loss is not bounded"
    return cannot(f"calibrate {noise.family} to {notion}", reason, *lacking, instead=instead)


def rounded_up(x: float, digits: int) -> float:
    """Return x > 0 rounded up to so many significant digits."""
    step = 10.0 ** (np.floor(np.log10(x)) - digits + 1)
    return float(f"{np.ceil(x / step) * step:.{digits}g}")
