"""Draws of the privacy loss of a record that takes part in random steps of a matrix mechanism.

If x are the steps of a record, with probability w_x, the worst pair is the mixture P of N(Cx, sigma^2) with the weights
w_x, against Q = N(0, sigma^2). This holds for adaptive queries too, because C >= 0. All draws are from the mixture
whose means are multiplied by one of some factors, each equally likely (`tcdp_sim.exact.training.stretched_means`).

For b bins with the means m_i and G = M'M, the loss depends on the output y only through z = M'y. Without the record, z
is N(0, sigma^2 G), and with it in bin i, N(G e_i, sigma^2 G). The loss is log mean exp((z - diag(G) / 2) / sigma^2). So
the number of steps is paid once, for G.

For separated participations and at most b bands, let d = C'y. Then e^f(i), the likelihood ratio of the steps from i on
for a record that is free at step i, follows from

    f(i) = log((1 - p) e^f(i + 1) + p exp((d_i - |c_i|^2 / 2) / sigma^2 + f(i + b))),  f = 0 beyond the last step,

because columns of C that are b apart do not overlap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, NamedTuple, Protocol

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.exact.correlated.moves import longest_move
from tcdp_sim.exact.correlated.participations import MinSeparation
from tcdp_sim.exact.correlated.strategies import Strategy


class Ratios(NamedTuple):
    """The logs of dP/dQ and dR/dQ at draws from R, shape (trials,) each."""

    record: Floats
    proposal: Floats


class LossDraws(Protocol):
    """Draws from the mixture with stretched means, and the largest |mean|^2 / sigma^2."""

    @property
    def kappa(self) -> float: ...

    @property
    def size(self) -> int: ...  # of a draw, in numbers

    def draw(self, factors: Floats, trials: int, rng: Any) -> Ratios: ...


@dataclass(frozen=True, eq=False)
class BinDraws:
    """Draws for a record in one of b bins, from the Gram matrix of the moves of the bins."""

    gram: Floats
    sigma: float

    @property
    def size(self) -> int:
        return len(self.gram)

    @property
    def kappa(self) -> float:
        return float(self._squares.max()) * (1 + 1e-12)

    @cached_property
    def _squares(self) -> Floats:
        return np.diag(self.gram) / self.sigma**2

    @cached_property
    def _root(self) -> Floats:
        """A symmetric root of G / sigma^2."""
        values, vectors = np.linalg.eigh(self.gram / self.sigma**2)
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

    def draw(self, factors: Floats, trials: int, rng: Any) -> Ratios:
        """Return the log ratios at draws from the mixture with means times one of the factors."""
        z = rng.standard_normal((trials, self.size)) @ self._root
        z += _stretched(self.gram[rng.integers(self.size, size=trials)] / self.sigma**2, factors, rng)
        return _ratios(lambda factor: self.log_ratio(z, factor), factors)

    def log_ratio(self, z: Floats, factor: float) -> Floats:
        """Return log mean exp(a z - a^2 diag(G) / 2), with z and G over sigma^2 and a = `factor`."""
        return _log_sum(factor * z - 0.5 * factor**2 * self._squares) - log(self.size)


@dataclass(frozen=True, eq=False)
class SeparatedDraws:
    """Draws for a record whose participations are at least b steps apart, with at most b bands."""

    strategy: Strategy
    participation: MinSeparation
    sigma: float

    @property
    def size(self) -> int:
        return 4 * self.strategy.steps

    @cached_property
    def kappa(self) -> float:
        most = longest_move(self.strategy, self.participation.separation, self.strategy.steps)[1]
        return (most / self.sigma) ** 2

    def draw(self, factors: Floats, trials: int, rng: Any) -> Ratios:
        """Return the log ratios at draws from the mixture with means times one of the factors."""
        y = _stretched(self.strategy.pushed(self._steps(trials, rng)), factors, rng)
        y += self.sigma * rng.standard_normal(y.shape)
        d = self.strategy.pulled(y)
        return _ratios(lambda factor: self.log_ratio(d, factor), factors)

    def _steps(self, trials: int, rng: Any) -> Floats:
        """Return 1 for the steps in which a record takes part, shape (trials, steps)."""
        p, b = self.participation.probability, self.participation.separation
        free = np.zeros(trials, dtype=int)  # the step from which on a record may take part
        if self.participation.warm:
            pause = rng.random(trials) * (1 + (b - 1) * p) - 1
            free = np.where(pause > 0, np.minimum(np.ceil(pause / p), b - 1).astype(int), 0)
        found = np.zeros((trials, self.strategy.steps))
        for step in range(self.strategy.steps):
            taken = (free <= step) & (rng.random(trials) < p)
            found[:, step] = taken
            free[taken] = step + b
        return found

    def log_ratio(self, d: Floats, factor: float) -> Floats:
        """Return the log of the likelihood ratio of means times a = `factor`, at d = C'y, shape (trials, steps)."""
        p, b = self.participation.probability, self.participation.separation
        n = self.strategy.steps
        each = (factor * d - 0.5 * factor**2 * self.strategy.lengths**2) / self.sigma**2 + log(p)
        f = np.zeros((n + b, len(d)))
        stays = np.log1p(-p) if p < 1 else -np.inf
        for i in range(n - 1, -1, -1):
            np.logaddexp(stays + f[i + 1], each[:, i] + f[i + b], out=f[i])
        if not self.participation.warm:
            return f[0]
        starts = np.concatenate([f[:1], log(p) + f[1:b]])
        return _log_sum(starts.T) - np.log1p((b - 1) * p)


def _stretched(means: Floats, factors: Floats, rng: Any) -> Floats:
    """Return each row times one of the factors."""
    return means * factors[rng.integers(len(factors), size=len(means))][:, None]


def _ratios(log_ratio: Callable[[float], Floats], factors: Floats) -> Ratios:
    proposals = np.stack([log_ratio(factor) for factor in factors.tolist()])
    return Ratios(log_ratio(1.0), _log_sum(proposals.T.copy()) - log(len(factors)))


def _log_sum(x: Floats) -> Floats:
    """Return log sum exp of each row. It overwrites x."""
    largest = x.max(axis=1)
    x -= largest[:, None]
    return np.asarray(np.log(np.exp(x, out=x).sum(axis=1)) + largest)
