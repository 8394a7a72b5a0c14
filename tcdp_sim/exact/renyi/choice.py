"""The choice of the way in which divergences of a noise from its shifted self are computed."""

from enum import Enum

import numpy as np

from tcdp_sim.exact.renyi.folded_loss import falls_away
from tcdp_sim.noise import Noise
from tcdp_sim.noise.discrete import DiscreteNoise
from tcdp_sim.noise.dithered import DitheredNoise


class Quantity(Enum):
    """A quantity of a noise and its shifted self."""

    DIVERGENCE = "D_order"
    PROFILE = "delta(epsilon)"
    LARGEST_RATIO = "the supremum of D_order / order"


class Way(Enum):
    """A way to compute divergences of a noise from its shifted self, in words."""

    LATTICE = "sums over the points of a lattice"
    DITHERED = "sums over the points of two lattices"
    FOLDED = "quadrature in log |y| over half of the outputs y"
    LOSS = "quadrature from the noise's own privacy loss"
    MIXTURE = "quadrature from the log density"


def way(noise: Noise, shift: float, quantity: Quantity) -> Way:
    """Return the way to compute a quantity of a noise moved by shift > 0. Callers try a closed form first.

    - Noise on a lattice has sums. So has dithered noise, except for the ratio, which needs slopes.
    - A density that may be steep at its peak and falls away from it is folded. If slopes are needed, every density that
      falls away is folded, because no other quadrature gives slopes.
    - A noise that gives its privacy loss is integrated with it. For divergences at all orders it must also know its
      largest loss and have no cusp. A profile concerns one level of the loss and finds both ends by itself.
    - Every other noise goes through `mixture_divergences` as a mixture of one, which makes no assumptions.
    """
    if isinstance(noise, DiscreteNoise):
        return Way.LATTICE
    ratio = quantity is Quantity.LARGEST_RATIO
    if isinstance(noise, DitheredNoise) and not ratio:
        return Way.DITHERED
    if (ratio or not noise.bounded_slope) and falls_away(noise, shift):
        return Way.FOLDED
    if quantity is Quantity.PROFILE:
        return Way.LOSS if noise.gives_loss else Way.MIXTURE
    whole = noise.gives_loss and noise.bounded_slope and not np.isnan(noise.largest_loss(shift))
    return Way.LOSS if whole else Way.MIXTURE
