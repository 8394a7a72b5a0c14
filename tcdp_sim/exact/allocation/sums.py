"""The law of the sum S of independent likelihood ratios, and both deltas of a random allocation.

The ratio of the laws with and without the record is S / t. With c = t e^epsilon, delta of (P, Q) is E (S - c)+ / t, or
the mean of (1 - c / S)+ under P, and delta of (Q, P) is E (1 - e^epsilon S / t)+. Both are means of convex functions of
S under Q. So the sum of ratios that were spread to the grid gives upper ends. By Jensen's inequality the sum of the
means given these points gives lower ends. It differs from the spread sum by distances d_1 + ... + d_t, and

    E (S' - d - c)+ >= E (S' - c)+ - E [d; S' > c],

where E [d; S' > c] = t E [d_1; S' > c] by a transform of its own. Under P one ratio has the law y f(y) instead of f(y).
Sums are kept on a window, modulo its length.
Values above the grid and sums outside the window are bounded by Chernoff's and Bernstein's inequalities.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
from scipy.fft import irfft, rfft
from scipy.special import log_ndtr, ndtr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import TINY
from tcdp_sim.exact.allocation.step import Step, mean_square, spread

FFT = 1e-15  # relative mean-square error of a transform for every doubling of its length
_CELLS = 4096  # in Chernoff's bounds
_FAR = 38.0  # standard deviations
_OUTSIDE = 1e-18  # the probability of sums below the window, roughly
_EXPONENTS = np.geomspace(0.01, 1e4, 60)  # Chernoff's, over the largest value


@dataclass(frozen=True)
class Law:
    """The mass of each sum, and a bound on the Euclidean norm of the errors of all masses."""

    mass: Floats
    norm: float

    def mean(self, weight: Floats, start: int = 0) -> tuple[float, float]:
        """Return the mean of a function of the sum that is 0 elsewhere, and a bound on its error."""
        found = float(weight @ self.mass[start : start + len(weight)])
        return found, self.norm * sqrt(float(weight @ weight))

    def most(self, first: int, last: int) -> float:
        """Return an upper bound of the mass of the sums from `first` to before `last`."""
        found = float(self._cumulative[last] - self._cumulative[first])
        return max(found, 0.0) + self.norm * sqrt(max(last - first, 0))

    @cached_property
    def _cumulative(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.mass)])


@dataclass(frozen=True)
class Sums:
    """The law of S on a window, with bounds on its errors.

    - `without`, `with_record`: the probabilities of the sums under Q and P.
    - `down`, `up`, `rounding`: the mean of d_1 together with the sum under Q, for the distances of the same names in
      `Step`.
    - `lost`: the probability under Q and P that some ratio is above the grid.
    - `above`: the probability under Q and P of sums above the window.
    - `below`: the probability of sums below the window, under Q. It is smaller under P.
    """

    sigma: float
    steps: int
    value: Floats
    without: Law
    with_record: Law
    down: Law
    up: Law
    rounding: Law
    lost: tuple[float, float]
    above: tuple[float, float]
    below: float

    def adding(self, epsilon: float) -> tuple[float, float]:
        """Return the ends of delta of (P, Q), where P has the record."""
        c, points = self.steps * exp(epsilon), len(self.value)
        first = int(np.searchsorted(self.value, c))
        found, error = self.with_record.mean(1 - c / self.value[first:], first)
        error += self.rounding.most(max(first - 1, 0), points) + self._outside
        low = found - error - self.down.most(first, points) - self.below
        return low, found + error + self.lost[1] + self.above[1]

    def removing(self, epsilon: float) -> tuple[float, float]:
        """Return the ends of delta of (Q, P)."""
        c = self.steps * exp(-epsilon)
        last = int(np.searchsorted(self.value, c))
        found, error = self.without.mean(1 - self.value[:last] / c)
        error += exp(epsilon) * (self.rounding.most(0, min(last + 1, len(self.value))) + self._outside)
        low = found - error - exp(epsilon) * self.up.most(0, last) - self.above[0]
        high = found + error + self.lost[0] + self.below
        return low, min(high, _chernoff_below(self.sigma, self.steps, c), _all_below(self.sigma, self.steps, c))

    @property
    def _outside(self) -> float:
        """A bound on the mean of d_1 on sums outside the window."""
        return (self.above[0] + self.below) * float(self.value[1] - self.value[0])


def sums(sigma: float, steps: int, largest: float, highest: float, points: int) -> Sums:
    """Return the law of the sum of ratios up to `largest`, on a window up to at least `highest`."""
    spare = sqrt(-2 * log(_OUTSIDE) * steps * mean_square(sigma)) if mean_square(sigma) < 1e12 else inf
    lowest = max(0.0, steps - spare)
    width = (highest - lowest) / (points - 2)
    first = int(lowest / width)
    step = spread(sigma, width, max(int(largest / width) + 1, 2))
    value = np.asarray(width * (first + np.arange(points)), np.float64)
    others = power(transform(step.mass, points), steps - 1)
    size = float(np.linalg.norm(step.mass))

    def joined(part: Floats) -> Law:
        """Return the law of the sum of t - 1 ratios and a last one with these masses."""
        joint = others * transform(part, points)
        norm = sqrt(2 * float((np.abs(joint) ** 2).sum()) / points)
        transforms = float(np.linalg.norm(part)) + steps * size * float(part.sum())  # no other factor exceeds these
        error = FFT * np.log2(points) * (transforms + norm) + 4e-16 * steps * norm
        return Law(np.roll(irfft(joint, points), -(first % points)), error)

    biased = width * np.arange(len(step.mass)) * step.mass
    without, with_record, down, up, rounding = map(joined, (step.mass, biased, step.down, step.up, step.rounding))
    lost = (steps * step.beyond[0], step.beyond[1] + (steps - 1) * step.beyond[0])
    below, above = _outside_window(step, steps, float(value[0]), float(value[-1]))
    return Sums(sigma, steps, value, without, with_record, down, up, rounding, lost, above, below)


def transform(mass: Floats, points: int) -> Any:
    """Return the transform of a law whose points are taken modulo the window."""
    if len(mass) > points:
        padded = np.zeros(-(-len(mass) // points) * points)
        padded[: len(mass)] = mass
        mass = padded.reshape(-1, points).sum(axis=0)
    return rfft(mass, points)


def power(x: Any, times: int) -> Any:
    """Return x to a whole power, at least 0, by squaring."""
    result = np.ones_like(x)
    while times:
        if times & 1:
            result = result * x
        times >>= 1
        if times:
            x = x * x
    return result


def _chernoff_below(sigma: float, steps: int, end: float) -> float:
    """Return Chernoff's bound on the probability that a sum of t ratios is below some value."""
    x = np.linspace(-_FAR, _FAR, _CELLS + 1)
    probability = ndtr(x[1:]) - ndtr(x[:-1]) + TINY
    ratio = np.exp((x[:-1] - 0.5 / sigma) / sigma)  # the least of each cell
    best = 0.0
    for theta in np.geomspace(1e-2, 1e4, 31):
        moment = log(float(probability @ np.exp(-theta * ratio)) + TINY) + 1e-12
        best = min(best, steps * moment + theta * end)
    return exp(best)


def _all_below(sigma: float, steps: int, end: float) -> float:
    """Return the probability that all t ratios are below some value, as they are if their sum is; rounded up."""
    return exp(steps * float(log_ndtr(sigma * log(end) + 0.5 / sigma))) * (1 + 1e-12 * steps)


def _outside_window(step: Step, steps: int, start: float, end: float) -> tuple[float, tuple[float, float]]:
    """Return Chernoff's bounds for sums below a window under Q, and for sums above it under Q and P."""
    index = np.unique(np.concatenate([[0], np.geomspace(1, len(step.mass), _CELLS).astype(int)]))
    mass = np.add.reduceat(step.mass, index[:-1]) + TINY
    low, high = step.width * index[:-1], step.width * (index[1:] - 1)
    below = above = above_with = 0.0
    for theta in _EXPONENTS:
        rate = theta / (high[-1] + step.width)
        moment = _log_moment(mass, rate * high)
        above = min(above, steps * moment - rate * end)
        last = _log_moment(mass * np.maximum(high, step.width), rate * high)
        above_with = min(above_with, (steps - 1) * moment + last - rate * end)
        below = min(below, steps * _log_moment(mass, -rate * low) + rate * start)
    return exp(below) if start > 0 else 0.0, (exp(above), exp(above_with))


def _log_moment(mass: Floats, exponent: Floats) -> float:
    top = float(exponent.max())
    return top + log(float(mass @ np.exp(exponent - top)))
