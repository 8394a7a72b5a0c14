"""The integrands that all divergences share, the step from their means to divergences, and the ends of the orders.

P and Q are two laws, L = log(P / Q) and s = order - 1. E_P[e^(-L)] = 1 = E_Q[e^L] turns E_P[e^(sL)] - 1 into the mean
of a non-negative term, which is the same number in both of these forms:

    P (e^(sL) - 1 + s (e^(-L) - 1)) = Q (e^((s+1)L) - 1 - (s+1) (e^L - 1)).

So divergences of 1e-300 keep all their digits. `excess_over_p` computes the first form, which suits a noise that knows
its loss and density to the last digit. `excess_over_q` computes the second one divided by s, which suits mixtures, as
their loss is known relative to Q. Their last digits differ and both are published, so both stay. If the loss is
antisymmetric about the middle of the shift, half of the outputs are enough (see `scaled_moments`).
"""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from tcdp_sim.core.arrays import Floats, Real, Reals
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.numerics import ArrayBounds, Bounds, gauss_panels
from tcdp_sim.exact.resolution import ROUNDING
from tcdp_sim.exact.work import spend
from tcdp_sim.noise import Noise

RELATIVE = 1e-11  # relative accuracy of a mean at which panels are no longer halved
REFINEMENTS = 7
SURE = 1e-12  # relative distance to the largest order below which rounding decides whether it is infinite
_LARGEST_LOSS_ROUNDING = 1e-14  # relative; formulas of largest losses take powers, with errors of some 40 units
_SERIES_OVER_P, _SERIES_OVER_Q = 0.02, 0.05  # in nats; below these a power series beats differences


# The mean under P


def excess_over_p(log_p: Floats, loss: Floats, s: float, top: float) -> Floats:
    """Return P e^-top (e^(sL) - 1 + s (e^-L - 1)) without cancellation.

    For s = 0 it is the limit of that divided by s, P (L + e^-L - 1).
    """
    if s == 0:
        direct = np.exp(log_p) * (loss + np.expm1(-loss))
        series = np.exp(log_p) * loss**2 * (0.5 - loss * (1 / 6 - loss * (1 / 24 - loss * (1 / 120 - loss / 720))))
        far = np.exp(log_p) * (loss - 1) + np.exp(log_p - loss)
        return np.where(np.abs(loss) < 0.01, series, np.where(np.abs(loss) < 30, direct, far))
    scaled = log_p - top
    near = (np.abs(loss) < 30) & (np.abs(s * loss) < 30)
    small = max(1.0, s) * np.abs(loss) < _SERIES_OVER_P
    direct = np.exp(scaled) * (np.expm1(s * loss) + s * np.expm1(-loss))
    lifted, flat = np.exp(scaled + s * loss), np.exp(scaled)
    far = np.where(np.abs(s * loss) < 30, flat * np.expm1(s * loss), lifted - flat) + s * (np.exp(scaled - loss) - flat)
    term: Floats = np.exp(scaled)
    total: Any = 0.0
    for k in range(1, 9):
        term = term * loss / k
        if k > 1:
            total = total + term * (s**k + (-1) ** k * s)
    return np.where(small, total, np.where(near, direct, far))


def lost_over_p(log_p: Floats, loss: Floats, s: float, top: float) -> Floats:
    """Return the rounding of P e^(sL - top) where it is large.

    Near the largest order log P and sL nearly cancel.
    """
    height = log_p + s * loss
    lost = ROUNDING * np.exp(height - top) * (np.abs(log_p) + np.abs(s * loss))
    return np.where(np.isfinite(lost) & (s * loss > 1), lost, 0.0)


def density_and_loss(noise: Noise, shift: float, x: Floats) -> tuple[Floats, Floats]:
    """Return log P and the privacy loss at x, infinite or NaN where a density vanishes."""
    with np.errstate(all="ignore"):
        return noise.logpdf(x), noise.privacy_loss(x, shift)


def quadrature(noise: Noise, shift: float, orders: Floats, x: Floats) -> list[Floats]:
    """Return lower ends, estimates and upper ends of D_order(P || Q), shape (n,), from panels between the edges x."""
    for _ in range(REFINEMENTS):
        fine, coarse, top, rounding = _moments(noise, shift, orders, x)
        with np.errstate(invalid="ignore"):  # infinite moments give NaN, which stands for unknown
            error = np.abs(fine - coarse) + rounding * fine
        if (error <= (RELATIVE + 2 * rounding) * fine).all():
            break
        x = np.sort(np.concatenate([x, 0.5 * (x[1:] + x[:-1])]))
    return [divergence_of_moment(mean, top, orders) for mean in (fine - error, fine, fine + error)]


def _moments(noise: Noise, shift: float, orders: Floats, edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (20-node mean, 10-node mean, log scale, relative rounding) of `excess_over_p`, for each order.

    The means are divided by e^scale. It rounds log P and L, which have relative errors of 1e-12.
    """
    means: list[Floats] = []
    top: Any = None
    rounding: Any = 1e-13
    for nodes in (20, 10):
        x, weight = gauss_panels(edges, nodes)
        spend(x.size * len(orders))
        log_p, loss = density_and_loss(noise, shift, x)
        with np.errstate(all="ignore"):
            if top is None:
                height = log_p + np.multiply.outer(orders - 1, loss)
                peak = np.where(np.isnan(height), -np.inf, height).argmax(axis=1)
                top = np.maximum(height[np.arange(len(orders)), peak] - 600, 0)
                terms = np.abs(log_p[peak]) + np.abs((orders - 1) * loss[peak])
                rounding = rounding + np.where(top > 0, 1e-12 * terms, 0)
            rows = [excess_over_p(log_p, loss, s, t) @ weight for s, t in zip(orders - 1, top)]
            if nodes == 20:
                lost = [lost_over_p(log_p, loss, s, t) @ weight for s, t in zip(orders - 1, top)]
        means.append(np.array(rows))
    with np.errstate(invalid="ignore"):  # means that underflow give NaN, which stands for unknown
        return means[0], means[1], top, rounding + np.array(lost) / means[0]


def divergence_of_moment(moment: Reals, top: Reals, order: Reals) -> Reals:
    """Return D_order from e^-top times E[e^(sL)] - 1. At order 1 that mean is divided by s and is the divergence."""
    s = np.subtract(order, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logged = np.where(np.greater(top, 0), top + np.log(moment + np.exp(-top)), np.log1p(moment))
        return np.where(s == 0, moment, logged / s)[()]


# The mean under Q


def excess_over_q(s: float, loss: Floats, log_q: Floats) -> Floats:
    """Return Q (e^(aL) - 1 - a (e^L - 1)) / s for a = s + 1, without cancellation.

    For s = 0 it is the limit of that, Q (L e^L - e^L + 1).
    """
    p, q = np.exp(log_q + loss), np.exp(log_q)
    if s == 0:
        rise = np.where(p > 0, p * loss, 0.0)
    else:
        rise = np.where(np.abs(s * loss) < 30, p * np.expm1(s * loss), np.exp(log_q + (s + 1) * loss) - p) / s
    direct = rise - np.where(np.abs(loss) < 30, q * np.expm1(loss), p - q)
    small = (s + 1) * np.abs(loss) < _SERIES_OVER_Q
    term, powers = loss, 0.0
    total: Any = 0.0
    for k in range(2, 12):  # (a^k - a) / s = a + a^2 + ... + a^(k-1)
        term = term * loss / k
        powers += (s + 1) ** (k - 1)
        total = total + term * powers
    return np.where(small, q * total, direct)


def lost_over_q(s: float, loss: Floats, log_q: Floats, error: Floats) -> Floats:
    """Return the largest change of `excess_over_q` by an error of the loss, to second order.

    It is s + 1 times the slope of the tilted part.
    """
    tilted = np.exp(log_q + loss) * (np.abs(np.expm1(s * loss)) / s if s > 0 else np.abs(loss))
    tilted = np.where(np.abs(s * loss) < 30, tilted, np.exp(log_q + (s + 1) * loss) / max(s, 1e-300))
    second = 0.5 * (s + 1) * error**2 * np.exp(log_q + np.maximum((s + 1) * loss, 0))
    return np.asarray((s + 1) * tilted * error + second)


def divergence_of_mean(mean: float, order: float, top: float) -> float:
    """Return D_order from the mean of `excess_over_q`, which was divided by e^top."""
    return float(divergence_of_moment(mean if order == 1 else (order - 1) * mean, top, order))


# The mean over half of the outputs


class Curve(NamedTuple):
    """The curve (order - 1) D_order at several orders, in bounds, with an estimate of its derivative as `slope`."""

    lower: Floats
    estimate: Floats
    upper: Floats
    slope: Floats


class Nodes(NamedTuple):
    """Outputs below shift / 2: their probabilities, privacy losses and distances below the largest loss."""

    mass: Floats
    loss: Floats
    below: Floats


def kl_integrand(loss: Floats) -> Floats:
    """Return the integrand whose mean over the outputs below shift / 2 is D_1."""
    return -loss * np.expm1(-loss)


def log_moment(scaled: Floats, s: Floats, largest: float) -> Floats:
    """Return log(1 + e^(s P) scaled) for the largest loss P."""
    with np.errstate(divide="ignore"):
        return np.logaddexp(0.0, s * largest + np.log(np.maximum(scaled, 0.0)))


def scaled_moments(nodes: Nodes, s: Floats) -> tuple[Floats, Floats]:
    """Return e^(-s P) times E[e^(sL)] - 1 and E[L e^(sL)] for the largest loss P.

    E[e^(sL)] - 1 over all outputs is the sum over one half of them of P (e^(sL) - 1)(1 - e^(-(1+s) L)).
    """
    step = s[:, None]
    lift = np.exp(-step * nodes.below)
    gone = np.expm1(-step * nodes.loss)  # all factors have one sign, so nothing cancels
    less, kept = np.expm1(-nodes.loss), np.exp(-nodes.loss)
    moment = (lift * gone * (less + kept * gone)) @ nodes.mass
    slope = (lift * (less + kept * gone * (2 + gone))) @ (-nodes.loss * nodes.mass)
    return moment, slope


def slope_of_log(slope: Floats, scaled: Floats, s: Floats, largest: float) -> Floats:
    """Return the derivative of `log_moment` from the result of `scaled_moments`, or NaN where the moment underflows."""
    with np.errstate(invalid="ignore"):
        return slope / (np.exp(-s * largest) + scaled)


def divergences_of_curve(
    orders: Floats, curve: Callable[[Floats], Curve], at_one: Bounds, at_infinity: Bounds
) -> ArrayBounds:
    """Return D_order for orders >= 1, including inf, from the curve s -> s D_(1+s) and both of its ends."""
    inside = (orders > 1) & np.isfinite(orders)
    s = np.where(inside, orders - 1, 1.0)
    ends = zip(curve(s)[:3], at_one, at_infinity)
    parts = (np.where(orders == 1, one, np.where(inside, part / s, last)) for part, one, last in ends)
    return Bounds(*parts).clipped(most=at_infinity.upper)


# The hockey-stick divergence


def share_above(epsilon: Real, loss: Floats) -> Floats:
    """Return (1 - e^(epsilon - L))_+, whose mean under P is the hockey-stick divergence at epsilon."""
    return np.maximum(-np.expm1(epsilon - loss), 0.0)


# The ends of the orders


def max_order(noise: Noise, shift: float) -> float:
    """Return the order from which on the Renyi divergence from the shifted noise is infinite (inf: none).

    Source: Bun et al. (2018) [BDRS18], for sinh-normal noise.

    Parameters
    ----------
    noise : Noise
        The noise.
    shift : float
        The change of the answer, in counts, finite, of either sign.

    Returns
    -------
    float
        The order, >= 1.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> max_order(Gaussian(1.0), 1.0)
    inf
    """
    return noise.max_order(abs(scalar("shift", shift, -inf)))


def max_divergence(noise: Noise, shift: float) -> Bounds:
    """Return D_inf in nats, the supremum of the privacy loss, for shift > 0, or NaN if the noise does not know it."""
    loss = float(noise.largest_loss(shift))
    slack = _LARGEST_LOSS_ROUNDING * loss if loss < inf else 0.0
    return Bounds(loss - slack, loss, loss + slack)
