"""Objectives: the quantities that a search for the best noise under a guarantee minimises."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import scalar
from tcdp_sim.noise.base import Noise

#: A function of a noise that calibration makes small. It is hashable, because results are cached.
Objective = Callable[[Any], float]


class MeanCost(Protocol):
    """An objective that is the mean of a cost, which must not decrease with the size of the error."""

    def cost(self, size: Floats) -> Floats:
        """Return the cost of errors of these absolute sizes, in counts."""

    def __call__(self, noise: Any) -> float:
        """Return the mean cost of the noise."""


@dataclass(frozen=True)
class LargestError:
    """The `level`-quantile of the largest of k absolute errors, in counts.

    Parameters
    ----------
    k : float
        The number of errors, from 1 to 1e300; it need not be whole.
    level : float
        The quantile's level, in (0, 1); 0.5 is the median.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(LargestError(1e6, 0.95)(Gaussian(1.0)), 3)
    5.447
    """

    k: float
    level: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", scalar("k", self.k, 1, 1e300, closed=True, finite=False))
        object.__setattr__(self, "level", scalar("level", self.level, 0, 1))

    @property
    def tail(self) -> float:
        """The two-sided tail probability that one error may have beyond the quantile."""
        return float(-np.expm1(np.log(self.level) / self.k))

    def __call__(self, noise: Noise) -> float:
        """Return the quantile for a noise with a density."""
        return float(noise.isf(0.5 * self.tail))


@dataclass(frozen=True)
class Tail:
    """The probability that an absolute error exceeds `beyond`.

    Parameters
    ----------
    beyond : float
        The size of the error, in counts, at least 0.

    Examples
    --------
    >>> from tcdp_sim.noise import Laplace
    >>> round(Tail(1.0)(Laplace(1.0)), 4)
    0.3679
    """

    beyond: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "beyond", scalar("beyond", self.beyond, 0, closed=True))

    def cost(self, size: Floats) -> Floats:
        """Return 1 for errors that exceed `beyond`, else 0."""
        return (size > self.beyond).astype(np.float64)

    def __call__(self, noise: Any) -> float:
        """Return the probability for a noise."""
        return float(2 * noise.sf(self.beyond))


@dataclass(frozen=True)
class MeanAbsoluteError:
    """The mean absolute error of a noise on a lattice, in counts.

    Examples
    --------
    >>> from tcdp_sim.noise import LatticeNoise
    >>> round(MeanAbsoluteError()(LatticeNoise(0.0, (0.0, -1.0), 1.0)), 4)
    0.8509
    """

    def cost(self, size: Floats) -> Floats:
        """Return the sizes themselves."""
        return np.asarray(size, dtype=np.float64)

    def __call__(self, noise: Any) -> float:
        """Return the mean of |Z|."""
        return float(noise.mean_abs())


@dataclass(frozen=True)
class MeanSquaredError:
    """The mean squared error, which is the variance of a noise, in counts squared.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> MeanSquaredError()(Gaussian(2.0))
    4.0
    """

    def cost(self, size: Floats) -> Floats:
        """Return the squares of the sizes."""
        return np.asarray(size, dtype=np.float64) ** 2

    def __call__(self, noise: Any) -> float:
        """Return the variance."""
        return float(noise.var())


#: The variance of a noise, which calibration makes small unless it is given another objective.
VARIANCE = MeanSquaredError()


def spec_objective(spec: Mapping[str, Any], k: float) -> Objective:
    """Return the objective of a spec of conf/noise, which is the variance unless the spec has one.

    `k`: the number of errors where the count is "k", from 1 to 1e300.
    """
    if "objective" not in spec:
        return VARIANCE
    count, level = spec["objective"]["count"], spec["objective"]["level"]
    return LargestError(k if count == "k" else count, level)
