"""The noise of a family whose whole table is found by convex optimisation: the best there is under the guarantee."""

from functools import lru_cache
from typing import Any, cast

from tcdp_sim.calibration.objectives import LargestError, variance
from tcdp_sim.noise import Noise, Objective
from tcdp_sim.optimal import LargestErrorQuantile, MeanSquaredError, best_lattice_noise
from tcdp_sim.privacy import Guarantee


@lru_cache(maxsize=4096)
def optimized(noise_class: type[Noise], guarantee: Guarantee, coordinates: int, objective: Objective) -> Noise:
    """Return the noise of least cost on the integers or half-integers, at a shift by one in `coordinates` coordinates.

    objective: `variance` or a `LargestError`. Raises ValueError for others, and as `optimal.optimal_noise`.
    """
    return cast(Any, noise_class).of_lattice(best_lattice_noise(guarantee, _cost(objective), coordinates))


def _cost(objective: Any) -> LargestErrorQuantile | MeanSquaredError:
    if isinstance(objective, LargestError):
        return LargestErrorQuantile(objective.count, objective.level)
    if objective is variance:
        return MeanSquaredError()
    raise ValueError(f"objective = {objective!r} is not valid for noise on a lattice; valid: variance, LargestError")
