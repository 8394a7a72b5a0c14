"""Asymmetric noises for selection: Gumbel (exponential mechanism) and exponential (permute-and-flip).

They have only the methods that `samplers` and `NoisyMax` need.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real


@dataclass(frozen=True)
class Gumbel:
    """Noise with distribution function exp(-exp(-x / scale)), for scale > 0 in counts.

    The largest of score + noise is candidate j with probability proportional to exp(score_j / scale).
    """

    scale: float
    shape = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", real("scale", self.scale, 0))

    def isf(self, p: Reals) -> Reals:
        """Return the x with P[Z > x] = p."""
        return -self.scale * np.log(-np.log1p(-p))

    def ppf(self, p: Reals) -> Reals:
        """Return the x with P[Z <= x] = p."""
        return -self.scale * np.log(-np.log(p))

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        """Fill `out` with independent draws."""
        rng.standard_exponential(out=out)
        np.log(np.maximum(out, 2.0**-60, out=out), out=out)
        out *= -self.scale


@dataclass(frozen=True)
class Exponential:
    """Noise with P[Z > x] = exp(-x / scale) for x >= 0, for scale > 0 in counts."""

    scale: float
    shape = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", real("scale", self.scale, 0))

    def isf(self, p: Reals) -> Reals:
        """Return the x with P[Z > x] = p."""
        return -self.scale * np.log(p)

    def ppf(self, p: Reals) -> Reals:
        """Return the x with P[Z <= x] = p."""
        return -self.scale * np.log1p(-p)

    def fill(self, out: NDArray[np.float64], *, rng: np.random.Generator) -> None:
        """Fill `out` with independent draws."""
        rng.standard_exponential(out=out)
        out *= self.scale
