"""From which order on the Renyi divergence of a noise from its shifted self is infinite."""

from functools import singledispatch

import numpy as np

from tcdp_sim.noise import Noise, SinhNormal

SURE = 1e-12  # relative: nearer to the largest order rounding decides whether it is infinite


@singledispatch
def max_order(noise: Noise, shift: float) -> float:
    """The order from which on the Renyi divergence of the noise from its shifted self is infinite (inf: none known).

    1 for noise of bounded support: its shifted self misses some of it.
    """
    return 1.0 if shift and np.isfinite(noise.isf(0.0)) else np.inf


@max_order.register
def _(noise: SinhNormal, shift: float) -> float:
    with np.errstate(divide="ignore", over="ignore"):  # a shift below the rounding of the knee
        return -1 / np.expm1(-2 * abs(shift) / noise.knee)
