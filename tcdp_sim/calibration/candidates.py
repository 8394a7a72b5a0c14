"""The parameters of the noises that a search may choose from, and the rounding of these parameters."""

import numpy as np

from tcdp_sim.noise import Noise
from tcdp_sim.noise.missing import cannot, undefined

MOST_COORDINATES = 10**15  # far beyond any query, and still exact as a float
KNEE_DIGITS, SCALE_DIGITS = 5, 8  # few enough that every machine finds the same noise
SCALE, SCALE_AND_KNEE = ("scale",), ("scale", "knee")  # parameters for which there is a search
# The search over the knee calls these methods of a family:
_KNEE_METHODS = ("limit", "widest", "least_knee", "fast_divergences", "fast_profile")


def searched_over(noise_class: type[Noise]) -> tuple[str, ...]:
    """Return SCALE or SCALE_AND_KNEE, the parameters of a family.

    Raises ValueError for a family with other parameters.
    """
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
    """Raise ValueError unless the noise is log-concave.

    Without it a smaller change may cost more than the largest one.
    """
    goal = f"calibrate {noise.family} by a search"
    if noise.is_discrete:
        reason = "it is discrete, and the search moves a density by any amount"
        raise cannot(goal, reason, "by_theorem", instead="a noise with a density, or method 'paper'")
    noise.need_log_concave(goal, instead="method 'paper'")


def unconfirmed(noise: Noise, where: str) -> ValueError:
    """Return the error for a guarantee that no noise meets by quadrature.

    An inaccurate privacy loss may be the reason.
    """
    goal = f"calibrate {noise.family} at {where}"
    lacking = undefined(noise, "privacy_loss")
    return cannot(goal, "quadrature confirms no noise", *lacking, instead="a less extreme guarantee, or method 'paper'")


def not_linear_in_order(noise: Noise) -> ValueError:
    """Return the error for zCDP of a noise whose divergence no multiple of the order bounds."""
    notions = ["(rho, omega)-tCDP with finite omega"] if noise.max_order(1.0) > 1 else []
    notions += ["(epsilon, delta)-DP"] if noise.gives_loss else []
    reason = "its divergence of order a is not bounded by rho a, because its tails are lighter than Gaussian ones"
    return cannot(f"calibrate {noise.family} to zCDP", reason, instead=" or ".join(notions) or "another noise")


def without_largest_loss(noise: Noise, notion: str, instead: str) -> ValueError:
    """Return the error for a noise whose privacy loss is unbounded or has no known supremum."""
    lacking = undefined(noise, "privacy_loss", "largest_loss")
    reason = "the supremum of its privacy loss is unknown" if lacking else "its privacy loss is not bounded"
    return cannot(f"calibrate {noise.family} to {notion}", reason, *lacking, instead=instead)


def rounded_up(x: float, digits: int) -> float:
    """Return x > 0 rounded up to the given number of significant digits."""
    step = 10.0 ** (np.floor(np.log10(x)) - digits + 1)
    return float(f"{np.ceil(x / step) * step:.{digits}g}")
