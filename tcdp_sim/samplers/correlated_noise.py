"""Draws of delta of a training run with correlated noise, whose records are in bins, from the outputs themselves.

With the record, the output is the mixture of b normal laws N(m_i, sigma^2); without it, it is N(0, sigma^2).
Draws are from the mixture whose means are multiplied by a factor: by a > 1 for the outputs with the record, by 1 - a
for those without it. One half of the draws has the factor that is best for a single mean. The other half has that for
the largest of several means, whose loss is smaller, by the log of their number at most. The weights of the draws keep
delta unbiased. The factors affect the spread alone.

This shares no code with `tcdp_sim.exact.correlated`, and each is the oracle of the other.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, log, log1p

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.search import brentq

DIRECTIONS = ("adding", "removing")
_TILE = 2**18  # numbers that are drawn at once
_SHARE = 0.7  # of the log of the number of means, by which losses are smaller than those of a single mean


@dataclass(frozen=True, eq=False)
class BinOutputs:
    """Outputs of a record in one of b bins, by the b coordinates that its moves span.

    `moves`: the move of each bin over sigma, shape (steps, bins).
    """

    moves: Floats

    @cached_property
    def _corner(self) -> Floats:
        """The moves in the coordinates of an orthonormal basis, shape (coordinates, bins)."""
        return np.asarray(np.linalg.qr(self.moves, mode="r"))

    @property
    def size(self) -> int:
        return self.moves.shape[1]

    @property
    def longest(self) -> float:
        """The largest squared length of a move, over the variance."""
        return float(np.square(self.moves).sum(axis=0).max())

    def draw(self, factors: Floats, rng: np.random.Generator) -> Floats:
        """Return outputs from the mixture whose means are multiplied by the factors, one output for each."""
        bins = rng.integers(self.size, size=len(factors))
        return factors[:, None] * self._corner.T[bins] + rng.standard_normal((len(factors), len(self._corner)))

    def log_ratio(self, outputs: Floats, factor: float) -> Floats:
        """Return the log of the density of the mixture with this factor over that without the record."""
        squares = np.square(self._corner).sum(axis=0)
        exponents = factor * (outputs @ self._corner) - 0.5 * factor**2 * squares
        return np.asarray(logsumexp(exponents, axis=1)) - log(self.size)


def sample_delta(outputs: BinOutputs, epsilon: float, size: int, *, rng: np.random.Generator) -> Floats:
    """Return independent numbers whose means are delta of both directions, shape (2, size)."""
    rows = max(_TILE // outputs.size, 1)
    parts = [_drawn(outputs, epsilon, min(rows, size - start), rng) for start in range(0, size, rows)]
    return np.concatenate(parts, axis=1)


def _drawn(outputs: BinOutputs, epsilon: float, size: int, rng: np.random.Generator) -> Floats:
    stretch = [_stretch(outputs.longest, epsilon + more) for more in (0.0, _SHARE * log(outputs.size))]
    found = np.zeros((2, size))
    for way, factors in enumerate((stretch, [1 - each for each in stretch])):
        drawn = outputs.draw(np.array(factors)[rng.integers(2, size=size)], rng)
        proposal = np.logaddexp(*(outputs.log_ratio(drawn, factor) for factor in factors)) - log(2)
        record = outputs.log_ratio(drawn, 1.0)
        loss = record if way == 0 else -record
        gap = np.maximum(loss - epsilon, 0.0)
        weight = np.where(gap > 0, (record if way == 0 else 0.0) - proposal, -np.inf)
        found[way] = -np.expm1(-gap) * np.exp(weight)
    return found


def _stretch(longest: float, epsilon: float) -> float:
    """Return the factor a >= 1 at which the largest number that can be drawn for a single mean is least."""

    def slope(u: float) -> float:
        return longest * (0.5 + exp(u)) - log1p(exp(-u)) - epsilon

    top = log((epsilon + 1) / longest + 1)
    return 1 + exp(float(brentq(slope, -700.0, top))) if slope(-700.0) < 0 else 1.0
