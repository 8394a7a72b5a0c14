"""The common base of the noises for smooth sensitivity.

They have a scale, finite divergences when stretched, and no guarantee by the family's name alone.
"""

from dataclasses import replace
from typing import Self

import numpy as np

from tcdp_sim.noise.base import Noise
from tcdp_sim.privacy.definitions import Guarantee


class StretchableNoise(Noise):
    """A noise whose `scale` may be a smooth sensitivity: all orders stay finite when it is stretched and moved."""

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        """Return False, because the guarantee is one of smooth sensitivity."""
        return False

    def scaled(self, factor: float) -> Self:
        return replace(self, scale=self.scale * factor)  # type: ignore[type-var, attr-defined, no-any-return]

    def affine_max_order(self, log_scale: float, shift: float) -> float:
        return np.inf
