"""What the best noise makes small: mean costs of an error, which never fall with its size; linear in the noise's law."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.arrays import Floats
from tcdp_sim.errors import scalar
from tcdp_sim.noise import Noise


@dataclass(frozen=True)
class Tail:
    """P[|Z| > beyond]; beyond >= 0 in counts."""

    beyond: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "beyond", scalar("beyond", self.beyond, 0, closed=True))

    def cost(self, size: Floats) -> Floats:
        """Of an error of that absolute size."""
        return (size > self.beyond).astype(np.float64)

    def __call__(self, noise: Noise) -> float:
        return float(2 * noise.sf(self.beyond))


@dataclass(frozen=True)
class MeanAbsoluteError:
    """E |Z|, in counts."""

    def cost(self, size: Floats) -> Floats:
        """Of an error of that absolute size."""
        return np.asarray(size, dtype=np.float64)


@dataclass(frozen=True)
class MeanSquaredError:
    """E Z^2, in counts squared."""

    def cost(self, size: Floats) -> Floats:
        """Of an error of that absolute size."""
        return np.asarray(size, dtype=np.float64) ** 2
