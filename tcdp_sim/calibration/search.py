"""The search for the noise of a family that meets a guarantee, with one method for each kind of guarantee.

Workers never import this module, because they receive finished noises.
"""

from functools import lru_cache
from typing import Any

from numpy import inf

from tcdp_sim.calibration.approximate import loss_calibrated, profile_calibrated
from tcdp_sim.calibration.candidates import MOST_COORDINATES
from tcdp_sim.calibration.concentrated import calibrated
from tcdp_sim.calibration.on_lattice import OF_CONTINUOUS, WORDS, on_lattice, rounds_only
from tcdp_sim.calibration.optimal import best_lattice_noise
from tcdp_sim.core.errors import real
from tcdp_sim.noise import DiscreteNoise, Noise
from tcdp_sim.noise.missing import cannot, undefined
from tcdp_sim.noise.objectives import LargestError, MeanSquaredError, Objective
from tcdp_sim.privacy import TCDP, ApproxDP, Guarantee, PureDP


def least(
    noise_class: Any,
    guarantee: Guarantee,
    sensitivity: float,
    coordinates: int,
    objective: Objective,
    step: float = 1.0,
) -> tuple[Noise, str]:
    """Return the noise of a family with the least objective under the guarantee, and the method in words.

    Arguments and errors are those of `calibration.calibrate`.
    """
    if noise_class.is_optimized:
        lattice = _on_lattice(noise_class, guarantee, coordinates, objective)
        return lattice.scaled(sensitivity), "convex optimisation over all noises on a lattice"
    if issubclass(noise_class, DiscreteNoise):
        return _least_discrete(noise_class, guarantee, sensitivity, coordinates, objective, step)
    if isinstance(guarantee, ApproxDP):
        epsilon, delta = real("epsilon", guarantee.epsilon, 0, closed=True), real("delta", guarantee.delta, 0, 1)
        _check_coordinates(noise_class, guarantee, coordinates)
        found = profile_calibrated(noise_class, epsilon, delta, coordinates, objective, sensitivity)
        return found, "the upper end of its privacy profile at epsilon"
    if isinstance(guarantee, PureDP):
        epsilon = real("epsilon", guarantee.epsilon, 0)
        found = loss_calibrated(noise_class, epsilon / coordinates).scaled(sensitivity)
        return found, "the upper end of its largest privacy loss"
    rho, omega = guarantee.rho, guarantee.omega if isinstance(guarantee, TCDP) else inf  # type: ignore[attr-defined]
    found = calibrated(noise_class, rho / coordinates, omega, sensitivity, objective)
    return found, "upper ends of its Renyi divergences, which cover all orders by convexity"


def _least_discrete(
    noise_class: Any, guarantee: Guarantee, sensitivity: float, coordinates: int, objective: Objective, step: float
) -> tuple[Noise, str]:
    """Return the noise of a discrete family, from sums over its points or from the noise that it rounds."""
    if rounds_only(noise_class, guarantee):
        if noise_class.rounds.theorem_is_sharp(guarantee):
            continuous = noise_class.rounds.by_theorem(guarantee, sensitivity, coordinates)
        else:
            continuous, _ = least(noise_class.rounds, guarantee, sensitivity, coordinates, objective)
        return noise_class.of(continuous, step), OF_CONTINUOUS
    if isinstance(guarantee, ApproxDP):
        _check_coordinates(noise_class, guarantee, coordinates)
    return on_lattice(noise_class, guarantee, sensitivity, coordinates, step), WORDS


def _check_coordinates(noise_class: Any, guarantee: ApproxDP, coordinates: int) -> None:
    most = MOST_COORDINATES if noise_class.isotropic else 2
    if coordinates > most:
        raise cannot(
            f"calibrate {noise_class.family} tightly to {guarantee} for coordinates = {coordinates}",
            f"its exact profile is known for 1 or {most}",
            *undefined(noise_class, "by_theorem"),
            instead="method 'paper', ZCDP or TCDP",
        )


@lru_cache(maxsize=4096)
def _on_lattice(noise_class: Any, guarantee: Guarantee, coordinates: int, objective: Any) -> Any:
    """Return the noise of least cost on the integers or half-integers, at a shift by one in each coordinate."""
    if not isinstance(objective, LargestError | MeanSquaredError):
        raise ValueError(
            f"objective = {objective!r} is not valid for noise on a lattice; valid: VARIANCE, LargestError"
        )
    return noise_class.of_lattice(best_lattice_noise(guarantee, objective, coordinates).noise)
