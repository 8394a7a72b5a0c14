"""Divergences of a noise from its shifted and stretched self, with P = law of Z and Q = law of e^log_scale Z + shift.

A release f(x) + S(x) Z whose noise grows with a sensitivity that depends on the data has such a pair of laws on two
neighbours, in units of S(x). The reversed pair is (P, Q) at (-log_scale, -shift e^-log_scale). The sign of the shift
does not matter, since the noise is symmetric.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats, Reals
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.numerics import ArrayBounds, Bounds, integrate
from tcdp_sim.exact.renyi.divergence import reach, renyi_divergence
from tcdp_sim.exact.renyi.kernels import SURE, quadrature, share_above
from tcdp_sim.exact.work import MOST_POINTS, within
from tcdp_sim.noise import Noise
from tcdp_sim.noise.missing import cannot

LARGEST_LOG_SCALE = 5.0
_LOG_ERROR = 3e-14  # error of a difference of log densities where the noise has its mass
_NOTHING = 1e-300
_LEVELS = np.concatenate([np.linspace(0.45, 0.05, 9), 10.0 ** -np.geomspace(2, 307, 40)])
_FURTHEST = 1e20  # in units of the point with a tail of 1e-307


@within(MOST_POINTS, "valid: fewer orders, or a smaller shift")
def affine_divergence(noise: Noise, log_scale: float, shift: float, order: ArrayLike) -> Bounds[Any]:
    """Return the Renyi divergence between the laws of Z and e^log_scale Z + shift, the larger one of both directions.

    Gaussian and Laplace noise have closed forms. For sinh-normal noise the divergence is infinite at every order above
    1 unless log_scale is 0.

    Source: Bun and Steinke (2019) [BS19]. The bounds are derived here.

    Parameters
    ----------
    noise : Noise
        The noise Z.
    log_scale : float
        The log of the ratio of scales, in [-5, 5].
    shift : float
        The change of the answer in counts, of either sign.
    order : float or array
        The order, 1 <= order < inf. Order 1 is the Kullback-Leibler divergence.

    Returns
    -------
    Bounds
        D_order in nats, of the shape of `order`. By quadrature the ends are about 1e-11 apart (relative).

    Raises
    ------
    ValueError
        If an argument is out of range, or the noise does not know from which order on the divergence is infinite.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(affine_divergence(Gaussian(2.0), 0.0, 1.0, 2.0).estimate, 6)
    0.25
    """
    orders = np.atleast_1d(np.asarray(real("order", order, 1, closed=True)))
    log_scale = scalar("log_scale", log_scale, -LARGEST_LOG_SCALE, LARGEST_LOG_SCALE, closed=True, finite=False)
    shift = abs(scalar("shift", shift, -np.inf))
    one = directed_divergence(noise, log_scale, shift, orders)
    other = directed_divergence(noise, -log_scale, shift * np.exp(-log_scale), orders)
    bounds: Bounds[Any] = Bounds(*(np.maximum(*parts) for parts in zip(one, other)))
    return bounds if np.ndim(order) else Bounds(*(float(part[0]) for part in bounds))


def directed_divergence(noise: Noise, log_scale: float, shift: float, orders: Floats) -> ArrayBounds:
    """Return D_order(P || Q) in nats for shift >= 0 and finite orders >= 1, shape (n,)."""
    if log_scale == 0 and (noise.gives_loss or not noise.log_concave_size):
        return renyi_divergence(noise, shift, orders)
    largest = noise.affine_max_order(log_scale, shift)
    if np.isnan(largest):
        goal = f"compute divergences of {noise.family} when it is stretched"
        reason = "the orders at which they are finite are unknown"
        raise cannot(goal, reason, "affine_max_order", instead="another noise, such as student_t")
    low, middle, high = (np.full(orders.shape, np.inf) for _ in range(3))
    finite = (orders < largest * (1 - SURE)) | (orders == 1)
    if finite.any():
        parts = noise.closed_affine_renyi(log_scale, shift, orders[finite])
        parts = _quadrature(noise, log_scale, shift, orders[finite]) if parts is None else parts
        low[finite], middle[finite], high[finite] = parts
    unsure = ~finite & (orders < largest * (1 + SURE))
    low[unsure] = 0.0  # rounding decides whether the divergence is infinite, so the bounds are [0, inf]
    return Bounds(low, middle, high)


def affine_hockey_stick(noise: Noise, log_scales: tuple[float, float], shift: float, epsilon: float) -> Bounds:
    """Return the integral of (p - e^epsilon q)_+ with q the smaller density of e^log_scale Z + shift at two log-scales.

    With equal log-scales it is the hockey-stick divergence of P from Q. Otherwise, for a noise with `log_concave_size`,
    it is an upper bound for all log-scales in between. There log q is concave in the log-scale at every point, so it is
    nowhere below the smaller one of its ends. shift and epsilon are >= 0.
    """

    def excess(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            log_p = noise.logpdf(x)
            loss = np.maximum(*(np.asarray(noise.affine_loss(x, tau, shift)) for tau in log_scales))
            return np.where(loss > epsilon, np.exp(log_p) * share_above(epsilon, loss), 0.0)

    edges = _edges(noise, shift)
    kinks = [edges] if log_scales[0] == log_scales[1] else [edges, edges[1:] - 0.5 * np.diff(edges)]
    value = integrate(excess, _with_crossings(noise, log_scales, shift, epsilon, np.unique(np.concatenate(kinks))))
    error = _LOG_ERROR + 2 * float(noise.sf(edges[-1]))
    return Bounds(value.lower - error, value.estimate, value.upper + error).clipped(0.0, 1.0)


@dataclass(frozen=True)
class _Stretched:
    """A noise for `quadrature`, with the loss of its stretched self instead of its own."""

    noise: Noise
    log_scale: float

    def logpdf(self, x: ArrayLike) -> Reals:
        return self.noise.logpdf(x)

    @property
    def kinks(self) -> Floats:
        return self.noise.kinks

    def privacy_loss(self, x: ArrayLike, shift: float) -> Reals:
        return self.noise.affine_loss(x, self.log_scale, shift)


def _quadrature(noise: Noise, log_scale: float, shift: float, orders: Floats) -> ArrayBounds:
    pair: Any = _Stretched(noise, log_scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        edges, cut = reach(pair, shift, orders, _arm(noise))
        low, middle, high = quadrature(pair, shift, orders, edges)
        slack = _LOG_ERROR / np.sqrt(np.maximum(middle, _NOTHING))  # the mean is that of squared losses
    ends = low * (1 - slack), np.where(cut, np.inf, middle), np.where(cut, np.inf, high * (1 + slack))
    return Bounds(*ends).clipped(0.0)


@lru_cache(maxsize=256)
def _arm(noise: Noise) -> Floats:
    """Return points of one side where the integrands of all orders may have their mass.

    High orders peak far out in heavy tails.
    """
    arm = np.asarray(noise.isf(_LEVELS))
    beyond = arm[-1] * np.geomspace(1.02, min(_FURTHEST, 1e300 / arm[-1]), 80) if arm[-1] < 1e299 else arm[-1:]
    return np.unique(np.concatenate([arm, beyond]))


def _edges(noise: Noise, shift: float) -> Floats:
    """Return ends of panels: the noise's quantiles around both centres, where a density may have a kink."""
    arm = _short_arm(noise)
    edges = np.concatenate([-arm, [0.0], arm, shift - arm, [shift], shift + arm])
    return np.unique(edges[np.abs(edges) <= arm[-1]])


@lru_cache(maxsize=256)
def _short_arm(noise: Noise) -> Floats:
    """Return quantiles of one side, down to tails that are negligible against a delta."""
    arm = np.asarray(noise.isf(np.concatenate([np.linspace(0.49, 0.05, 23), 0.5 * 10.0 ** -np.linspace(1, 17, 40)])))
    return np.concatenate([arm[0] * 2.0 ** -np.arange(1, 20), arm])


def _with_crossings(noise: Noise, log_scales: tuple[float, float], shift: float, epsilon: float, x: Floats) -> Floats:
    """Return the edges, and the places where a loss crosses epsilon or the other loss, to the last digit."""

    def losses(x: Floats) -> tuple[Floats, ...]:
        first, second = (np.asarray(noise.affine_loss(x, tau, shift)) for tau in log_scales)
        return first - epsilon, second - epsilon, first - second

    roots = [x]
    with np.errstate(all="ignore"):
        for i, at in enumerate(losses(x)):
            signs = np.sign(at)
            change = np.flatnonzero(signs[1:] * signs[:-1] < 0)
            low, high, sign = x[change], x[change + 1], signs[change]
            for _ in range(60 if len(change) else 0):
                middle = 0.5 * (low + high)
                same = np.sign(losses(middle)[i]) == sign
                low, high = np.where(same, middle, low), np.where(same, high, middle)
            roots.append(low)
    return np.unique(np.concatenate(roots))
