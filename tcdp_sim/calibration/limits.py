"""The valid numbers of coordinates, and the valid steps of a lattice."""

from tcdp_sim.core.errors import scalar
from tcdp_sim.noise import Noise

FINE = "discrete_gaussian"
MOST_COORDINATES = 10**15  # far beyond any query, and still exact as a float


def valid_step(noise_class: type[Noise], step: float) -> float:
    """Return the step, which is 1 unless the family has a parameter of this name."""
    if scalar("step", step, 0) != 1 and "step" not in noise_class.parameters():
        raise ValueError(f"step = {step:g} is not valid for {noise_class.family}; valid: 1, or a noise such as {FINE}")
    return float(step)
