"""Draws of delta of a random allocation: a record takes part in some of several steps with Gaussian noise.

Let y_i = exp(s x_i - s^2 / 2) be the likelihood ratio of step i, for s = 1 / sigma. A record that takes part in k
random steps of t has the ratio R = e_k(y) / C(t, k), the mean of all products of k ratios. delta of the outputs with
the record against those without it is the mean of (1 - e^epsilon / R)+ with the record, and the other delta is the mean
of (1 - e^epsilon R)+ without it.

Both are rare events. The steps are drawn from laws that are tilted by e^(theta min(y, most)), which is constant on each
of many cells of x, so the weights are exact. They are bounded, because the event needs a large (or small) sum of y.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, lgamma, log

import numpy as np
from scipy.special import ndtr, ndtri

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.search import brentq

DIRECTIONS = ("adding", "removing")
MOST_STEPS, MOST_PARTICIPATIONS = 10**5, 100
_CELLS = np.linspace(-10.0, 14.0, 1201)  # edges of cells of x, in standard deviations
_STEEPEST = 60.0  # of theta times the largest ratio that is tilted
_LARGE = 1e100
_TILE = 2**19  # steps drawn at a time


@dataclass(frozen=True, eq=False)
class AllocationDraws:
    """A sampler of numbers whose means are delta(epsilon) of a random allocation and its slope.

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise, over the largest length of a record's vector.
    steps : int
        The number t of steps.
    participations : int
        The number k of steps in which the record takes part, from 1 to 100 and at most t.
    epsilon : float
        epsilon in nats, at least 0.
    direction : {"adding", "removing"}
        The delta of the outputs with the record against those without it, or the other one.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Chua, Ghazi, Harrison, Kamath, Kumar, Leeman, Manurangsi, Sinha, Zhang (2024), Balls-and-Bins sampling for DP-SGD,
    https://arxiv.org/abs/2412.16802

    Examples
    --------
    >>> import numpy as np
    >>> deltas, _ = AllocationDraws(1.0, 100, 1, 0.86, "adding").sample(10_000, rng=np.random.default_rng(0))
    >>> bool(abs(deltas.mean() / 9.825e-7 - 1) < 0.2)
    True
    """

    sigma: float
    steps: int
    participations: int
    epsilon: float
    direction: str

    def __post_init__(self) -> None:
        scalar("sigma", self.sigma, 0)
        whole("steps", self.steps, 1, MOST_STEPS)
        whole("participations", self.participations, 1, min(self.steps, MOST_PARTICIPATIONS))
        scalar("epsilon", self.epsilon, 0, closed=True)
        choice("direction", self.direction, DIRECTIONS)

    @cached_property
    def _laws(self) -> list[tuple["_Tilted", int]]:
        """The tilted laws of the steps in which the record takes part and of the others, with their numbers."""
        k = self.participations if self.direction == "adding" else 0
        theta, most = _tilt(self.sigma, self.steps, k, self.epsilon / self.participations, self.direction)
        s = 1 / self.sigma
        both = [(_Tilted(s, s, theta, most), k), (_Tilted(s, 0.0, theta, most), self.steps - k)]
        return [(law, count) for law, count in both if count]

    def sample(self, size: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return independent pairs of numbers in [0, inf), with the means delta(epsilon) and -d delta / d epsilon.

        Parameters
        ----------
        size : int
            The number of draws.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        deltas, slopes : ndarray of float
            The numbers, shape (size,).
        """
        rows = max(_TILE // self.steps, 1)
        parts = [self._draw(min(rows, size - start), rng) for start in range(0, size, rows)]
        deltas, slopes = (np.concatenate(part) for part in zip(*parts))
        return deltas, slopes

    def _draw(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        y, log_weight = self._steps(size, rng)
        loss = _log_mean_product(y, self.participations)
        gap = np.maximum((loss if self.direction == "adding" else -loss) - self.epsilon, 0.0)
        weight = np.where(gap > 0, np.exp(log_weight), 0.0)
        return weight * -np.expm1(-gap), weight * np.exp(-gap)

    def _steps(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the ratios of all steps, shape (size, t), and the log weights, shape (size,)."""
        drawn = [law.draw((size, count), rng) for law, count in self._laws]
        return np.concatenate([y for y, _ in drawn], axis=1), sum(weight.sum(axis=1) for _, weight in drawn)


class _Tilted:
    """The law of x = mean + z for a standard normal z, tilted by e^(theta min(y, most)) on cells of x."""

    def __init__(self, s: float, mean: float, theta: float, most: float) -> None:
        self.s, self.mean = s, mean
        self.tail = ndtr(-_CELLS)  # from 1 down, exact to the last digits far above
        middle = mean + 0.5 * (_CELLS[1:] + _CELLS[:-1])
        self.ratio = np.exp(s * middle - 0.5 * s * s)
        exponent = theta * np.minimum(self.ratio, most)
        chance = -np.diff(self.tail)
        top = exponent.max()
        weight = chance * np.exp(exponent - top)
        self.total = float(weight.sum())
        self.cumulative = np.cumsum(weight) / self.total
        self.log_weight = log(self.total / chance.sum()) + top - exponent
        self.mean_ratio = float(np.minimum(self.ratio, min(most, _LARGE)) @ weight / self.total)

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return ratios and their log weights."""
        cell = np.searchsorted(self.cumulative, rng.random(shape), side="right").clip(0, len(self.log_weight) - 1)
        tail = self.tail[cell + 1] + rng.random(shape) * (self.tail[cell] - self.tail[cell + 1])
        x = self.mean - ndtri(tail)
        return np.exp(self.s * x - 0.5 * self.s**2), self.log_weight[cell]


def _tilt(sigma: float, steps: int, with_record: int, part: float, direction: str) -> tuple[float, float]:
    """Return the tilt at which the mean of the sum of ratios is where the event begins, and the largest ratio tilted.

    `part` is epsilon for each step in which the record takes part. The tilt affects the spread of the draws alone.
    """
    s = 1 / sigma
    goal = steps * exp(min(part if direction == "adding" else -part, 200.0))
    most = max(goal - steps, exp(min(3 * s, 200.0))) if direction == "adding" else np.inf  # usual ratios are below

    def excess(theta: float) -> float:
        raised = _Tilted(s, s, theta, most).mean_ratio if with_record else 0.0
        return with_record * raised + (steps - with_record) * _Tilted(s, 0.0, theta, most).mean_ratio - goal

    if direction == "adding":
        end = _STEEPEST / most
        if excess(0.0) >= 0:
            return 0.0, most
        return (end if excess(end) <= 0 else float(brentq(excess, 0.0, end, rtol=1e-3))), most
    end = -_STEEPEST
    if excess(0.0) <= 0:
        return 0.0, most
    return (end if excess(end) >= 0 else float(brentq(excess, end, 0.0, rtol=1e-3))), most


def _log_mean_product(y: Floats, k: int) -> Floats:
    """Return the log of the mean product of k different entries of each row."""
    if k == 1:
        return np.log(y.mean(axis=1))
    scale = np.maximum(y.mean(axis=1, keepdims=True), 1e-300)
    y = y / scale
    steps = y.shape[1]
    sums = np.zeros((len(y), k + 1))  # e_j of the first entries, over C(t, j)
    sums[:, 0] = 1.0
    order = range(1, k + 1)
    shrink = np.array([exp(_log_choose(steps, j - 1) - _log_choose(steps, j)) for j in order])
    for column in y.T:
        sums[:, 1:] = sums[:, 1:] + column[:, None] * shrink * sums[:, :-1]
    return np.log(np.maximum(sums[:, k], 1e-300)) + k * np.log(scale[:, 0])


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
