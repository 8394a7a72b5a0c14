"""Exact draws of the extremes of k iid draws, at a cost that does not depend on k.

If U is uniform, U^(1/k) is distributed as the largest of k uniforms; its distance from one is
-expm1(-E / k) with E = -log U a standard exponential, and the noise's inverse survival function takes it from
there without loss of digits for any k up to 1e300. (ppf(u**(1/k)) returns inf for a third of the draws at
k = 1e16.) Nothing of the exact laws in `tcdp_sim.exact` is used here: each is the other's test.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Real, Reals, Shape
from tcdp_sim.core.errors import real
from tcdp_sim.noise.distribution import Distribution

MAX_COUNT = 1e300


class Drawable(Protocol):
    """What is needed of a law to draw extremes of it: a `Noise`, or a one-sided one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """That of its parameters."""

    def isf(self, p: Any) -> Reals:
        """The x with P[Z > x] = p."""

    def ppf(self, p: Any) -> Reals:
        """The x with P[Z <= x] = p."""

    def fill(self, rng: np.random.Generator, out: Any) -> None:
        """Fill `out` with independent draws."""


def sample_max(noise: Drawable, rng: np.random.Generator, count: ArrayLike, size: Shape | None = None) -> Reals:
    """Draws of the maximum of `count` iid draws of the noise.

    count: real, 1 <= count <= 1e300 (the law with distribution function cdf^count), scalar or broadcasting
    against `size`; size: shape of the result, default that of `count` and the noise. Returns counts.
    Raises ValueError for a count out of range.
    """
    draws, shape = _arguments(noise, count, size)
    return _upper(noise, _exponential(rng, shape) / draws)


def sample_abs_max(noise: Drawable, rng: np.random.Generator, count: ArrayLike, size: Shape | None = None) -> Reals:
    """Draws of the maximum of the absolute values of `count` iid draws of the noise; arguments as in sample_max."""
    draws, shape = _arguments(noise, count, size)
    tail = -np.expm1(-_exponential(rng, shape) / draws)
    return noise.isf(0.5 * tail)


def sample_extremes(
    noise: Drawable, rng: np.random.Generator, count: ArrayLike, size: Shape | None = None
) -> tuple[Reals, Reals]:
    """Joint draws (minimum, maximum) of `count` iid draws of the noise; arguments as in sample_max.

    Given that the maximum has upper tail p, the other count - 1 draws are iid below it, so the lower tail of
    their minimum is (1 - p) times the upper tail of the maximum of count - 1 uniforms.
    """
    draws, shape = _arguments(noise, count, size)
    log_below = _exponential(rng, shape) / draws  # minus the log of the maximum's cdf
    maximum = _upper(noise, log_below)
    with np.errstate(divide="ignore"):
        rest = np.divide(_exponential(rng, shape), np.subtract(draws, 1))
    lower_tail = np.exp(-log_below) * -np.expm1(-rest)
    minimum: Reals = np.where(draws == 1, maximum, np.minimum(noise.ppf(lower_tail), maximum))
    return minimum[()], maximum


def sample_top(noise: Drawable, rng: np.random.Generator, count: float, m: int, size: Shape = ()) -> Floats:
    """Return joint draws of the m largest of `count` iid draws of the noise, descending, in counts.

    Let P_(1) > P_(2) > ... be the order statistics of k uniforms. -log P_(1) is exponential with rate k, and given the
    first i of them the next is the largest of k - i uniforms below P_(i): its -log adds an exponential of rate k - i
    (Renyi 1953). So the cost is O(m), and does not depend on k = count.
    count: a whole number, or any real beyond 2^53, up to 1e300 (the law needs count - m + 1 >= 1); m: whole,
    1 <= m <= count; size: an integer or a tuple; the shape of the result is (*size, m).
    Raises ValueError. For m = 1 the stream is that of `sample_max`.
    """
    count = real("count", count, 1, MAX_COUNT, closed=True, finite=False)
    if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= count:
        raise ValueError(f"m = {m!r} is not valid; valid: a whole number from 1 to count = {count:g}")
    if count != np.floor(count):
        raise ValueError(f"count = {count:g} is not valid; valid: a whole number of draws")
    shape = (*((size,) if isinstance(size, int | np.integer) else size), m)
    steps = _exponential(rng, shape) / (count - np.arange(m))
    return _upper(noise, np.cumsum(steps, axis=-1))


def first_above(noise: Distribution, rng: np.random.Generator, threshold: float, size: Shape) -> Floats:
    """Return how many of iid draws of the noise come before the first one above the threshold, as float64.

    size: shape of the result. inf where none would come in any time (a tail of zero).
    The count is geometric: floor(E / -log(1 - tail)) with E standard exponential.
    """
    exponential = np.maximum(rng.standard_exponential(size), 2.0**-54)  # the generator's zero would be 0 / 0
    with np.errstate(divide="ignore", over="ignore"):
        return np.floor(exponential / -np.log1p(-noise.sf(threshold)))


def _arguments(noise: Drawable, count: ArrayLike, size: Shape | None) -> tuple[Real, Shape]:
    draws = real("count", count, 1, MAX_COUNT, closed=True, finite=False)
    return draws, np.broadcast_shapes(np.shape(draws), noise.shape) if size is None else size


def _exponential(rng: np.random.Generator, size: Shape) -> Floats:
    """Standard exponential draws; the generator's zero, one in 2^53, would be an infinite maximum."""
    return np.maximum(rng.standard_exponential(size), 2.0**-54)


def _upper(noise: Drawable, log_below: Floats) -> Reals:
    """The x with log cdf(x) = -log_below, from whichever tail is the smaller."""
    x = np.asarray(noise.isf(-np.expm1(-log_below)))
    low = np.greater(log_below, 1.0)
    if np.any(low):
        x = np.where(low, noise.ppf(np.exp(-log_below)), x)
    return x[()]
