"""The exact law of a sparse vector search that ends with the noisy VALUE of its first positive answer."""

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from audit_gallery.laws import laplace
from tcdp_sim.core.numerics import gauss_panels

PER_SCALE = 200  # grid points: the cubic between them errs by less than 1e-9
REACH = 40  # scales beyond which noise has probability e^-40


class FirstValue:
    """The law for one input, with Laplace noise of one scale > 0 on threshold and queries.

    Answer k (from 0) is the first positive one, with noisy value v, if the noisy threshold is at most v and the answers
    before k lie below it. So the density is f(v - data[k]) times an integral over the threshold up to v.
    """

    def __init__(self, data: np.ndarray, threshold: float, scale: float):
        self.data, self.threshold, self.scale = data, threshold, scale
        kinks = np.unique(np.append(data, threshold))
        self.low, self.high = kinks[0], kinks[-1] + REACH * scale
        inner = [np.linspace(a, b, 2 + int((b - a) * PER_SCALE / scale)) for a, b in pairwise(kinks)]
        above = np.linspace(kinks[-1], self.high, REACH * PER_SCALE // 2)
        self.grid = np.unique(np.concatenate([*inner, above]))  # where the cubics meet
        self._below = [self._cumulate(k, self.grid) for k in range(len(data) + 1)]

    def _slope(self, k: int, v: np.ndarray) -> np.ndarray:
        """Return the density of a noisy threshold v with the first k answers below it."""
        earlier = laplace.cdf(v - self.data[:k, None], self.scale).prod(axis=0)
        return laplace.density(v - self.threshold, self.scale) * earlier

    def _cumulate(self, k: int, grid: np.ndarray) -> CubicHermiteSpline:
        """Return a cubic for the log of the slope's integral up to v.

        Below the grid the slope is a multiple of e^((k + 1) v / scale).
        """
        slope, (x, weight) = self._slope(k, grid), gauss_panels(grid, 8)
        parts = (weight * self._slope(k, x)).reshape(-1, 8).sum(axis=1)
        total = slope[0] * self.scale / (k + 1) + np.append(0, np.cumsum(parts))
        return CubicHermiteSpline(grid, np.log(total), slope / total)

    def log_below(self, k: int, v: np.ndarray) -> np.ndarray:
        """Return log P(noisy threshold at most v, first k answers below it) for v of any shape."""
        tail = (k + 1) * np.minimum(v - self.low, 0) / self.scale
        return self._below[k](np.clip(v, self.low, self.high)) + tail

    def log_density(self, k: int, v: np.ndarray) -> np.ndarray:
        """Return the log density of a first positive answer k with noisy value v, for v of any shape."""
        return self.log_below(k, v) - np.abs(v - self.data[k]) / self.scale - np.log(2 * self.scale)

    def slope_of_log_below(self, k: int, v: np.ndarray) -> np.ndarray:
        """Return the derivative of `log_below` in v, shape (points,)."""
        return self._slope(k, v) / np.exp(self.log_below(k, v))

    @property
    def log_none(self) -> float:
        """The log of P(no answer is positive)."""
        return float(self.log_below(len(self.data), np.array(self.high)))


@lru_cache(maxsize=64)
def _first_value(data: tuple[float, ...], threshold: float, scale: float) -> FirstValue:
    return FirstValue(np.array(data), threshold, scale)


def first_value(data: np.ndarray, threshold: float, scale: float) -> FirstValue:
    """Return the `FirstValue` of an input, made once."""
    return _first_value(tuple(map(float, data)), threshold, scale)


class LogRatio:
    """The log of the ratio of two inputs' densities.

    One cubic for each answer is twice as fast as one for each input. The ratio is constant outside the grid.
    """

    def __init__(self, one: FirstValue, two: FirstValue):
        self._one, self._two = one, two
        grid = np.union1d(one.grid, two.grid)
        self._ends = grid[0], grid[-1]
        self._below = [self._difference(k, grid) for k in range(len(one.data))]
        self.none = one.log_none - two.log_none

    def _difference(self, k: int, grid: np.ndarray) -> CubicHermiteSpline:
        value = self._one.log_below(k, grid) - self._two.log_below(k, grid)
        slope = self._one.slope_of_log_below(k, grid) - self._two.slope_of_log_below(k, grid)
        return CubicHermiteSpline(grid, value, slope)

    def __call__(self, k: int, v: np.ndarray) -> np.ndarray:
        """Return the log ratio for a first positive answer k with noisy value v, of any shape."""
        a, b = self._one.data[k], self._two.data[k]
        apart = abs(b - a)
        nearer = np.sign(b - a) * np.clip(a + b - 2 * v, -apart, apart) if apart else 0.0  # |v - b| - |v - a|
        return self._below[k](np.clip(v, *self._ends)) + nearer / self._one.scale


@lru_cache(maxsize=64)
def _log_ratio(data: tuple[float, ...], other: tuple[float, ...], threshold: float, scale: float) -> LogRatio:
    return LogRatio(_first_value(data, threshold, scale), _first_value(other, threshold, scale))


def log_ratio(data: np.ndarray, other: np.ndarray, threshold: float, scale: float) -> LogRatio:
    """Return the `LogRatio` of two inputs, made once."""
    return _log_ratio(tuple(map(float, data)), tuple(map(float, other)), threshold, scale)


def value_cells(data: np.ndarray, other: np.ndarray, threshold: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities, under both inputs, of each first positive answer with its value in a short interval.

    The last cell is "no answer is positive". Values beyond 15 scales are left out: fewer than one output in 10^6.
    """
    kinks = np.unique(np.concatenate([data, other, [threshold]]))
    inner = [np.linspace(a, b, 101) for a, b in pairwise(kinks)]
    outside = scale * np.linspace(0, 15, 1501)
    edges = np.unique(np.concatenate([*inner, kinks[0] - outside, kinks[-1] + outside]))
    x, weight = gauss_panels(edges, 4)

    def probabilities(law: FirstValue) -> np.ndarray:
        by_index = [(weight * np.exp(law.log_density(k, x))).reshape(-1, 4).sum(axis=1) for k in range(len(law.data))]
        return np.concatenate([*by_index, [np.exp(law.log_none)]])

    one, two = (probabilities(first_value(each, threshold, scale)) for each in (data, other))
    return one, two
