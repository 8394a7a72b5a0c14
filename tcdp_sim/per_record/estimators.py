"""Estimators of the answer from its noisy transform: a function g of V = N(v, scale^2), and its exact law."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial
from typing import Any, ClassVar

import numpy as np
from scipy.special import eval_hermitenorm, ndtr, ndtri, roots_hermitenorm

from tcdp_sim.core.arrays import Floats, RealFunction, Reals
from tcdp_sim.core.numerics import gauss_panels
from tcdp_sim.per_record.transforms import Log, Transform

REACH = 39.0  # standard deviations beyond which the mass of a normal underflows
STEPS = 110  # halvings that find a root to the last digit of a double
MOST_DEGREE = 30  # the largest degree of a Hermite polynomial
Intervals = tuple[Floats, Floats]  # low and high ends, ascending along the last axis


class Estimator(ABC):
    """An estimator g of the answer; `scale` is the standard deviation of V, and `offset` is the a in f(q + a)."""

    scale: float
    offset: float
    monotone: ClassVar[bool] = True

    @abstractmethod
    def value(self, noisy: Any) -> Reals:
        """Return g(V)."""

    @abstractmethod
    def at_most(self, x: Floats) -> Intervals:
        """Return the intervals of V on which g(V) <= x, with one axis more than x."""

    @abstractmethod
    def bias(self, v: float) -> float:
        """Return E[g(V)] minus the answer, which is g without noise."""

    @abstractmethod
    def var(self, v: float) -> float:
        """Return the variance of g(V)."""

    def cdf(self, v: Any, x: Any) -> Reals:
        """Return P[g(V) <= x]."""
        low, high = self.at_most(np.asarray(x, dtype=np.float64))
        return _mass(low, high, v, self.scale)

    def sf(self, v: Any, x: Any) -> Reals:
        """Return P[g(V) > x], computed from the gaps between the intervals."""
        low, high = self.at_most(np.asarray(x, dtype=np.float64))
        end = np.full((*low.shape[:-1], 1), np.inf)
        return _mass(np.concatenate([-end, high], axis=-1), np.concatenate([low, end], axis=-1), v, self.scale)

    def lowest(self) -> float:
        """Return the infimum of g."""
        return -np.inf

    def turns(self) -> Floats:
        """Return the turning points of g in V, ascending; none if g is monotone."""
        return np.empty(0)

    def log_slope(self, noisy: Floats) -> Floats:
        """Return log |g'(V)| up to a constant; it is used only if g has turning points."""
        return np.zeros(np.shape(noisy))

    def quantile(self, v: float, u: float) -> float | None:
        """Return the u-quantile of g(V) in closed form, 0 < u < 1; None if g is not monotone."""
        return float(self.value(v + self.scale * ndtri(u))) if self.monotone else None

    def negative_moments(self, v: float) -> tuple[float, float]:
        """Return E[max(-g, 0)] and E[max(-g, 0)^2], by quadrature over the intervals on which g < 0."""
        first = second = 0.0
        for low, high in zip(*self.at_most(np.array(0.0))):
            low, high = max(low, v - REACH * self.scale), min(high, v + REACH * self.scale)
            if low < high:
                first += normal_mean(self._deficit, v, self.scale, low, high)
                second += normal_mean(lambda noisy: self._deficit(noisy) ** 2, v, self.scale, low, high)
        return first, second

    def _deficit(self, noisy: Floats) -> Floats:
        return np.maximum(-self.value(noisy), 0.0)


@dataclass(frozen=True)
class Hermite(Estimator):
    """The mean-unbiased inverse of the k-th root for whole k: scale^k He_k(V / scale) - offset."""

    degree: int
    scale: float
    offset: float
    monotone = False

    def lowest(self) -> float:
        return float(np.min(self.value(self.turns()))) if self.degree % 2 == 0 else -np.inf

    def turns(self) -> Floats:
        return roots_hermitenorm(self.degree - 1)[0] * self.scale if self.degree > 1 else np.empty(0)

    def log_slope(self, noisy: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(np.abs(eval_hermitenorm(self.degree - 1, np.divide(noisy, self.scale))))

    def value(self, noisy: Any) -> Reals:
        return self.scale**self.degree * eval_hermitenorm(self.degree, np.divide(noisy, self.scale)) - self.offset

    def at_most(self, x: Floats) -> Intervals:
        target = ((x + self.offset) / self.scale**self.degree)[..., None]
        turns = self.turns() / self.scale
        # Beyond its largest zero z, which is below 2 sqrt(k), He_k(x) >= (x - z)^k.
        reach = 2 * np.sqrt(self.degree) + 1 + np.abs(target) ** (1 / self.degree)
        inner = np.broadcast_to(turns, (*x.shape, self.degree - 1))
        edges = np.concatenate([-reach, inner, reach], axis=-1)
        rising = (np.arange(self.degree) - self.degree) % 2 == 1  # the last piece rises
        cut = self._cut(target, edges[..., :-1], edges[..., 1:], rising)
        left, right = edges[..., :-1].copy(), edges[..., 1:].copy()
        left[..., 0] = -np.inf
        right[..., -1] = np.inf
        return np.where(rising, left, cut) * self.scale, np.where(rising, cut, right) * self.scale

    def _cut(self, target: Floats, low: Floats, high: Floats, rising: Any) -> Floats:
        """Return the crossing of He_k with the target on each piece between two turns; an end if there is none."""
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            up = (eval_hermitenorm(self.degree, middle) <= target) == rising
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        return low

    def bias(self, v: float) -> float:
        return 0.0

    def var(self, v: float) -> float:
        k = self.degree
        with np.errstate(over="ignore"):
            sizes = (np.float64(self.scale) ** (2 * (k - i)) * v ** (2 * i) for i in range(k))
            terms = [comb(k, i) ** 2 * factorial(k - i) * size for i, size in enumerate(sizes)]
            return float(np.sum(terms))


@dataclass(frozen=True)
class SignedPower(Estimator):
    """The median-unbiased inverse sign(V) |V|^k - offset for real k >= 1; for odd k it is the plain inverse."""

    degree: float
    scale: float
    offset: float

    def value(self, noisy: Any) -> Reals:
        return np.copysign(np.abs(noisy) ** self.degree, noisy) - self.offset

    def at_most(self, x: Floats) -> Intervals:
        y = x + self.offset
        high = np.copysign(np.abs(y) ** (1 / self.degree), y)[..., None]
        return np.full_like(high, -np.inf), high

    def bias(self, v: float) -> float:
        if self.degree % 2 == 1:
            return float(sum(_plain_terms(int(self.degree), self.scale, v)[1:]))
        return _normal_mean_everywhere(lambda noisy: self._change(noisy, v), v, self.scale)

    def var(self, v: float) -> float:
        if self.degree % 2 == 1:
            return _plain_var(int(self.degree), self.scale, v)
        bias = self.bias(v)
        return _normal_mean_everywhere(lambda noisy: (self._change(noisy, v) - bias) ** 2, v, self.scale)

    def _change(self, noisy: Floats, v: float) -> Floats:
        """Return sign(V) |V|^k - v^k, without cancellation near v."""
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (noisy - v) / v if v > 0 else np.full_like(noisy, np.inf)
            near = v**self.degree * np.expm1(self.degree * np.log1p(step))
        return np.where(np.abs(step) < 0.5, near, self.value(noisy) + self.offset - v**self.degree)


@dataclass(frozen=True)
class EvenPower(Estimator):
    """The plain inverse V^k - offset of an even root, which folds negative V."""

    degree: int
    scale: float
    offset: float
    monotone = False

    def lowest(self) -> float:
        return -self.offset

    def turns(self) -> Floats:
        return np.zeros(1)

    def log_slope(self, noisy: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return (self.degree - 1) * np.log(np.abs(noisy))

    def value(self, noisy: Any) -> Reals:
        return np.power(noisy, self.degree) - self.offset

    def at_most(self, x: Floats) -> Intervals:
        y = (x + self.offset)[..., None]
        high = np.where(y >= 0, np.abs(y) ** (1 / self.degree), 0.0)
        return -high, high

    def bias(self, v: float) -> float:
        return float(sum(_plain_terms(self.degree, self.scale, v)[1:]))

    def var(self, v: float) -> float:
        return _plain_var(self.degree, self.scale, v)


@dataclass(frozen=True)
class Exponential(Estimator):
    """The inverse e^(V - c scale^2) - offset; c is 1/2 (mean-unbiased), 0 (median-unbiased) or 3/2 (least MSE)."""

    scale: float
    offset: float
    shrink: float

    def lowest(self) -> float:
        return -self.offset

    def value(self, noisy: Any) -> Reals:
        with np.errstate(over="ignore"):
            return np.exp(noisy - self.shrink * self.scale**2) - self.offset

    def at_most(self, x: Floats) -> Intervals:
        y = (x + self.offset)[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            high = np.where(y > 0, np.log(np.abs(y)) + self.shrink * self.scale**2, -np.inf)
        return np.full_like(high, -np.inf), high

    def bias(self, v: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(v) * np.expm1((0.5 - self.shrink) * self.scale**2))

    def var(self, v: float) -> float:
        s2 = self.scale**2
        with np.errstate(over="ignore"):
            return float(np.exp(2 * v + (1 - 2 * self.shrink) * s2) * np.expm1(s2))


def estimator_of(transform: Transform, scale: float, name: str) -> Estimator:
    """Return the estimator of this name; ValueError says why it does not exist for this transform."""
    a = transform.offset
    if isinstance(transform, Log):
        return Exponential(scale, a, {"mean_unbiased": 0.5, "least_mse": 1.5}.get(name, 0.0))
    if name == "least_mse":
        raise ValueError("estimator = 'least_mse' is not valid for roots; valid: mean_unbiased, median_unbiased, plain")
    degree = getattr(transform, "degree", 1.0)
    if name == "median_unbiased":
        return SignedPower(degree, scale, a)
    if degree != int(degree) or degree > MOST_DEGREE:
        raise ValueError(
            f"degree = {degree:g} with estimator = {name!r} is not valid; valid: a whole degree from 1 to "
            f"{MOST_DEGREE} (it is a polynomial), or estimator = 'median_unbiased'"
        )
    if name == "mean_unbiased":
        return Hermite(int(degree), scale, a)
    return EvenPower(int(degree), scale, a) if degree % 2 == 0 else SignedPower(degree, scale, a)


def normal_mean(function: RealFunction, v: float, scale: float, low: float, high: float) -> float:
    """Return the integral of the function, which may have a kink at 0, times the density of N(v, scale^2)."""
    edges = np.linspace(low, high, 41)
    if low < 0 < high:
        near = scale * 0.25 ** np.arange(20)
        edges = np.unique(np.concatenate([edges, -near, [0.0], near]))
        edges = edges[(edges >= low) & (edges <= high)]
    nodes, weights = gauss_panels(edges, 20)
    z = (nodes - v) / scale
    return float(weights @ (function(nodes) * np.exp(-0.5 * z * z))) / (scale * np.sqrt(2 * np.pi))


def _normal_mean_everywhere(function: Callable[[Floats], Floats], v: float, scale: float) -> float:
    return normal_mean(function, v, scale, v - REACH * scale, v + REACH * scale)


def _mass(low: Floats, high: Floats, v: Any, scale: float) -> Reals:
    """Return the mass of N(v, scale^2) on a union of intervals, without cancellation in the tails."""
    v = np.asarray(v, dtype=np.float64)[..., None]
    a, b = (low - v) / scale, (high - v) / scale
    inside = np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
    return np.maximum(inside, 0.0).sum(axis=-1)[()]


def _plain_terms(k: int, scale: float, v: float) -> list[float]:
    """Return the terms of E[V^k] by even powers of the noise; the first is v^k."""
    pairs = {j: comb(k, j) * factorial(j) // (2 ** (j // 2) * factorial(j // 2)) for j in range(0, k + 1, 2)}
    with np.errstate(over="ignore"):
        return [float(count * np.float64(scale) ** j * v ** (k - j)) for j, count in pairs.items()]


def _plain_var(k: int, scale: float, v: float) -> float:
    """Return the variance of V^k from its Hermite coefficients, as a sum of squares in which nothing cancels."""
    total = 0.0
    with np.errstate(over="ignore"):
        for i in range(1, k + 1):
            coefficient = comb(k, i) * np.float64(scale) ** i * sum(_plain_terms(k - i, scale, v))
            total += float(coefficient**2 * factorial(i))
    return total
