"""From which order on the Renyi divergence of a noise from its shifted self is infinite."""

from tcdp_sim.noise import Noise

SURE = 1e-12  # relative: nearer to the largest order rounding decides whether it is infinite


def max_order(noise: Noise, shift: float) -> float:
    """The order from which on the Renyi divergence of the noise from its shifted self is infinite (inf: none known)."""
    return noise.max_order(shift)
