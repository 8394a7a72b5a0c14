"""The discrete noise of a family that meets a guarantee for moves by whole steps, from sums over its lattice.

A rounded noise of any guarantee but (epsilon, delta)-DP is the rounded form of the continuous noise that meets it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from tcdp_sim.calibration.approximate import at_root, widened_until_met
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.products import product_profile
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.exact.renyi.policy import largest_ratio
from tcdp_sim.exact.work import MOST_POINTS, within
from tcdp_sim.noise.discrete import DiscreteNoise
from tcdp_sim.privacy import TCDP, ApproxDP, Guarantee, PureDP

WORDS = "sums over the points of its lattice"
OF_CONTINUOUS = "the continuous noise, rounded, which keeps its guarantee as post-processing"


def rounds_only(noise_class: Any, guarantee: Guarantee) -> bool:
    """Return True if a family of rounded noises meets the guarantee by its continuous noise."""
    two_parameters = len(noise_class.parameters()) > 2
    return noise_class.rounds is not None and (two_parameters or not isinstance(guarantee, ApproxDP))


@lru_cache(maxsize=1024)
@within(2 * MOST_POINTS, "valid: a larger epsilon or delta, or a wider step")
def on_lattice(
    noise_class: type[DiscreteNoise], guarantee: Guarantee, sensitivity: float, coordinates: int, step: float
) -> DiscreteNoise:
    """Return the least noise of a discrete family of one parameter and a step, for moves by `sensitivity` at most.

    Raises ValueError if no noise meets the guarantee, or the sensitivity is not a multiple of the step.
    """
    cost, goal = _cost(guarantee, sensitivity, coordinates)

    def made(log_scale: float) -> Any:
        return noise_class(np.exp(log_scale), step)  # type: ignore[call-arg]

    made(0.0).need_steps("sensitivity", sensitivity)
    noise = at_root(noise_class, lambda log_scale: min(cost(made(log_scale)).estimate, 1e300) - goal)
    return widened_until_met(replace(noise, step=step), lambda it: cost(it).upper <= goal, str(guarantee))


def _cost(guarantee: Guarantee, shift: float, coordinates: int) -> tuple[Callable[[Any], Bounds], float]:
    """Return the quantity of a noise that a guarantee bounds, and its bound."""
    if isinstance(guarantee, ApproxDP):
        epsilon, delta = real("epsilon", guarantee.epsilon, 0, closed=True), real("delta", guarantee.delta, 0, 1)
        return lambda noise: product_profile(noise, shift, epsilon, coordinates), delta
    if isinstance(guarantee, PureDP):
        epsilon = real("epsilon", guarantee.epsilon, 0)
        return lambda noise: renyi_divergence(noise, shift, inf), epsilon / coordinates
    omega = guarantee.omega if isinstance(guarantee, TCDP) else inf
    return lambda noise: largest_ratio(noise, shift, omega), guarantee.rho / coordinates  # type: ignore[attr-defined]
