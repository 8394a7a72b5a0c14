"""Exact draws of the extremes of k independent draws, at a cost that does not depend on k.

If U is uniform, U^(1/k) is distributed as the largest of k uniforms. The distance of U^(1/k) from one is
-expm1(-E / k), where E = -log U is standard exponential. The noise's inverse survival function maps this distance to
the maximum without loss of digits for any k up to 1e300. (ppf(u**(1/k)) returns inf for a third of the draws at
k = 1e16.) This module uses nothing from the exact laws in `tcdp_sim.exact`, so each can test the other.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Real, Reals, Shape
from tcdp_sim.core.errors import real
from tcdp_sim.noise.distribution import Distribution

MOST_K = 1e300


class Drawable(Protocol):
    """A law whose extremes can be drawn: a `Noise` or a one-sided noise."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the law's parameters."""

    def isf(self, p: Any) -> Reals:
        """Return the x with P[Z > x] = p."""

    def ppf(self, p: Any) -> Reals:
        """Return the x with P[Z <= x] = p."""

    def fill(self, out: Any, *, rng: np.random.Generator) -> None:
        """Fill `out` with independent draws."""


def sample_max(noise: Drawable, k: ArrayLike, size: Shape | None = None, *, rng: np.random.Generator) -> Reals:
    """Return draws of the maximum of `k` independent draws of the noise.

    Source: Renyi (1953) [Ren53].

    Parameters
    ----------
    noise : Noise, or one-sided noise
        The noise, in counts.
    k : array_like of float
        The number of draws, from 1 to 1e300. For a real k the law has the distribution function cdf^k.
    size : int or tuple of int, optional
        The shape of the result; by default the shape of `k` broadcast against the noise's parameters.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    float or ndarray
        The maxima, in counts.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Gaussian
    >>> draws = sample_max(Gaussian(1.0), 1e12, 1000, rng=np.random.default_rng(0))
    >>> bool(7.0 < np.median(draws) < 7.3)
    True
    """
    draws, shape = _arguments(noise, k, size)
    return _upper(noise, _exponential(rng, shape) / draws)


def sample_abs_max(noise: Drawable, k: ArrayLike, size: Shape | None = None, *, rng: np.random.Generator) -> Reals:
    """Return draws of the maximum of the absolute values of `k` independent draws of the noise.

    Source: Renyi (1953) [Ren53].

    Parameters
    ----------
    noise : Noise, or one-sided noise
        The noise, in counts.
    k : array_like of float
        The number of draws, from 1 to 1e300. For a real k the law has the distribution function cdf^k.
    size : int or tuple of int, optional
        The shape of the result; by default the shape of `k` broadcast against the noise's parameters.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    float or ndarray
        The maxima, in counts.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Laplace
    >>> draws = sample_abs_max(Laplace(1.0), 1e12, 1000, rng=np.random.default_rng(0))
    >>> bool(abs(np.median(draws) - 28.0) < 0.3)
    True
    """
    draws, shape = _arguments(noise, k, size)
    tail = -np.expm1(-_exponential(rng, shape) / draws)
    return noise.isf(0.5 * tail)


def sample_extremes(
    noise: Drawable, k: ArrayLike, size: Shape | None = None, *, rng: np.random.Generator
) -> tuple[Reals, Reals]:
    """Return joint draws of the minimum and the maximum of `k` independent draws of the noise.

    Given a maximum with upper tail p, the other k - 1 draws are independent and lie below it. So the lower tail of
    their minimum is (1 - p) times the upper tail of the maximum of k - 1 uniforms.

    Source: Renyi (1953) [Ren53].

    Parameters
    ----------
    noise : Noise, or one-sided noise
        The noise, in counts.
    k : array_like of float
        The number of draws, from 1 to 1e300. For a real k the law has the distribution function cdf^k.
    size : int or tuple of int, optional
        The shape of the result; by default the shape of `k` broadcast against the noise's parameters.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    minimum, maximum : float or ndarray
        The extremes, in counts.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Laplace
    >>> low, high = sample_extremes(Laplace(1.0), 1e12, 1000, rng=np.random.default_rng(0))
    >>> bool((low < high).all())
    True
    """
    draws, shape = _arguments(noise, k, size)
    log_below = _exponential(rng, shape) / draws  # -log of the maximum's cdf
    maximum = _upper(noise, log_below)
    with np.errstate(divide="ignore"):
        rest = np.divide(_exponential(rng, shape), np.subtract(draws, 1))
    lower_tail = np.exp(-log_below) * -np.expm1(-rest)
    minimum: Reals = np.where(draws == 1, maximum, np.minimum(noise.ppf(lower_tail), maximum))
    return minimum[()], maximum


def sample_top(noise: Drawable, k: float, m: int, size: Shape = (), *, rng: np.random.Generator) -> Floats:
    """Return joint draws of the m largest of `k` independent draws of the noise, in descending order.

    Let P_(1) > P_(2) > ... be the order statistics of k uniforms. The first -log P_(1) is exponential with rate k.
    Given the first i of them, the next is the largest of k - i uniforms below P_(i), so its -log adds an exponential of
    rate k - i. The cost is O(m) and does not depend on k. For m = 1 it uses the random stream as `sample_max` does.

    Source: Renyi (1953) [Ren53].

    Parameters
    ----------
    noise : Noise, or one-sided noise
        The noise, in counts.
    k : float
        The number of draws, whole, from m to 1e300.
    m : int
        The number of largest draws, at least 1.
    size : int or tuple of int
        The number of joint draws, as a shape.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    ndarray of float
        The largest draws, in counts, shape (*size, m).

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.noise import Gaussian
    >>> top = sample_top(Gaussian(1.0), 1e9, 3, 5, rng=np.random.default_rng(0))
    >>> top.shape, bool((np.diff(top) <= 0).all())
    ((5, 3), True)
    """
    k = real("k", k, 1, MOST_K, closed=True, finite=False)
    if not isinstance(m, int | np.integer) or isinstance(m, bool) or not 1 <= m <= k:
        raise ValueError(f"m = {m!r} is not valid; valid: a whole number from 1 to k = {k:g}")
    if k != np.floor(k):
        raise ValueError(f"k = {k:g} is not valid; valid: a whole number of draws")
    shape = (*((size,) if isinstance(size, int | np.integer) else size), m)
    steps = _exponential(rng, shape) / (k - np.arange(m))
    return _upper(noise, np.cumsum(steps, axis=-1))


def first_above(noise: Distribution, threshold: float, size: Shape, *, rng: np.random.Generator) -> Floats:
    """Return the number of independent draws of the noise before the first one above the threshold.

    This number is geometric: floor(E / -log(1 - tail)), where E is standard exponential.
    """
    exponential = np.maximum(rng.standard_exponential(size), 2.0**-54)  # a draw of 0 would give 0 / 0
    with np.errstate(divide="ignore", over="ignore"):
        return np.floor(exponential / -np.log1p(-noise.sf(threshold)))


def _arguments(noise: Drawable, k: ArrayLike, size: Shape | None) -> tuple[Real, Shape]:
    draws = real("k", k, 1, MOST_K, closed=True, finite=False)
    return draws, np.broadcast_shapes(np.shape(draws), noise.shape) if size is None else size


def _exponential(rng: np.random.Generator, size: Shape) -> Floats:
    """Return standard exponential draws, none of them 0.

    The generator draws 0 once in 2^53 times, which would give an infinite maximum.
    """
    return np.maximum(rng.standard_exponential(size), 2.0**-54)


def _upper(noise: Drawable, log_below: Floats) -> Reals:
    """Return the x with log cdf(x) = -log_below, computed from the smaller of the two tails."""
    x = np.asarray(noise.isf(-np.expm1(-log_below)))
    low = np.greater(log_below, 1.0)
    if np.any(low):
        x = np.where(low, noise.ppf(np.exp(-log_below)), x)
    return x[()]
