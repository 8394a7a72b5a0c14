"""What the best noise makes small: mean costs of an error, which never fall with its size."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.lattice import LatticeNoise


class Objective(Protocol):
    """The mean of a cost that does not fall with the size of the error."""

    def cost(self, size: Floats) -> Floats:
        """Of errors of that absolute size, in counts."""

    def __call__(self, noise: LatticeNoise) -> float:
        """The mean cost of the noise."""


@dataclass(frozen=True)
class Tail:
    """P[|Z| > beyond]; beyond >= 0 in counts."""

    beyond: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "beyond", scalar("beyond", self.beyond, 0, closed=True))

    def cost(self, size: Floats) -> Floats:
        return (size > self.beyond).astype(np.float64)

    def __call__(self, noise: LatticeNoise) -> float:
        return float(2 * noise.sf(self.beyond))


@dataclass(frozen=True)
class LargestErrorQuantile:
    """The `level`-quantile of the largest of `count` absolute errors, in counts; count >= 1, up to 1e300."""

    count: float
    level: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", scalar("count", self.count, 1, 1e300, closed=True, finite=False))
        object.__setattr__(self, "level", scalar("level", self.level, 0, 1))

    @property
    def tail(self) -> float:
        """The two-sided tail that one error may have beyond the quantile."""
        return float(-np.expm1(np.log(self.level) / self.count))


@dataclass(frozen=True)
class MeanAbsoluteError:
    """E |Z|, in counts."""

    def cost(self, size: Floats) -> Floats:
        return np.asarray(size, dtype=np.float64)

    def __call__(self, noise: LatticeNoise) -> float:
        return noise.mean_abs()


@dataclass(frozen=True)
class MeanSquaredError:
    """E Z^2, in counts squared."""

    def cost(self, size: Floats) -> Floats:
        return np.asarray(size, dtype=np.float64) ** 2

    def __call__(self, noise: LatticeNoise) -> float:
        return float(noise.var())
