"""Draws of log-normal likelihood ratios from a law that is tilted by any function, with exact weights.

The underlying normal variable is drawn by its cell and uniformly in the cell, so its density and the weights are exact.
"""

from collections.abc import Callable
from functools import cached_property
from math import log, pi, sqrt
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY

_START, _WIDTH, _CELLS = -10.0, 0.005, 4800  # of the cells, in standard deviations; 1e-23 of the law lies outside
_MIDDLE = _START + _WIDTH * (np.arange(_CELLS) + 0.5)
Exponent = Callable[[Floats], Floats]


class TiltedRatios:
    """The law of y = exp(s x - s^2 / 2) for x = mean + z with a standard normal z, tilted by e^exponent(y).

    `s`: the standard deviation of log y. `mean`: the mean of x: 0 for a step without the record, s for a step with it.
    `exponent`: the function of an array of ratios by whose exponential the law is tilted.
    """

    def __init__(self, s: float, mean: float, exponent: Exponent) -> None:
        self.s, self.mean = s, mean
        with np.errstate(over="ignore"):
            self._ratio = np.exp(s * (mean + _MIDDLE) - 0.5 * s * s)
            tilted = exponent(self._ratio) - 0.5 * _MIDDLE**2
        if not np.isfinite(tilted.max()):
            raise ValueError(f"no tilt of the likelihood ratios is known at sigma = {1 / s:g}; valid: a larger sigma")
        mass = np.exp(tilted - tilted.max())
        self._mass = mass / mass.sum()
        self._log_weight = log(_WIDTH / sqrt(2 * pi)) - np.log(np.maximum(self._mass, TINY))

    @property
    def mean_ratio(self) -> float:
        """The mean of the tilted law, up to the width of the cells."""
        return float(self._ratio @ self._mass)

    @cached_property
    def _cells(self) -> Any:
        from scipy.stats.sampling import DiscreteAliasUrn  # imported late, because it loads all of scipy.stats

        return DiscreteAliasUrn(self._mass)

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return independent ratios, and the log of the untilted density over the tilted one."""
        cell = self._cells.rvs(shape[0] * shape[1], random_state=rng).reshape(shape)
        z = _START + _WIDTH * (cell + rng.random(shape))
        return np.exp(self.s * z + (self.s * self.mean - 0.5 * self.s**2)), self._log_weight[cell] - 0.5 * z * z
