"""Renyi divergences of a noise from its shifted self: P = law of Z, Q = law of Z + shift.

The closed form of a noise that has one (`Noise.closed_renyi`), else quadrature from its log density and loss; a noise
that may have a cusp at its peak goes through `folded_loss`, one that does not know its largest loss is taken as a
mixture of one (`mixture_divergences`).
With L = log(P / Q) and s = order - 1, E_P[e^(-L)] = 1 turns E_P[e^(sL)] - 1 into the mean of the non-negative
e^(sL) - 1 + s (e^(-L) - 1), so that divergences of 1e-300 keep all their digits.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Bools, Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import ArrayBounds, Bounds, gauss_panels
from tcdp_sim.exact.folded_loss import falls_away, folded_renyi
from tcdp_sim.exact.lattice import dithered_renyi, lattice_renyi
from tcdp_sim.exact.mixture_divergences import renyi_divergence_between
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.orders import SURE, max_divergence, max_order
from tcdp_sim.exact.resolution import ROUNDING, with_kinks
from tcdp_sim.noise import Noise
from tcdp_sim.noise.dithered_lattice import DitheredLattice
from tcdp_sim.noise.lattice import LatticeNoise

NEGLIGIBLE = 60.0  # an integrand e^-60 below its peak adds less than the rounding of the peak
RELATIVE = 1e-11
REFINEMENTS = 7
_LEVELS = np.concatenate([np.linspace(0.45, 0.05, 9), 10.0 ** -np.geomspace(2, 307, 40)])


@np.errstate(over="ignore", invalid="ignore")  # far out; what is undefined there leaves the bounds wide
def renyi_divergence(noise: Noise, shift: float, order: ArrayLike) -> Bounds[Any]:
    """D_order(P || Q) in nats; order >= 1 (1: Kullback-Leibler; inf: max-divergence), scalar or array.

    shift: in counts, of either sign (the noises are symmetric, so both directions are equal). Infinite where it is:
    for sinh-normal noise at order >= 1 / (1 - exp(-2 |shift| / knee)), for truncated Laplace noise at every order.
    Bounds hold to about 1e-10 relative, but for what rounding takes: near the largest finite order, and of a noise
    without its own `privacy_loss` at small shifts. Within 1e-12 of the largest order only the lower end is finite.
    Raises ValueError for order < 1, NaN, or a shift that is not finite.
    """
    orders = np.atleast_1d(np.asarray(real("order", order, 1, closed=True, finite=False)))
    size = abs(real("shift", shift, -np.inf))
    if size == 0:
        bounds: Bounds[Any] = Bounds(*(np.zeros(orders.shape) for _ in range(3)))
    elif isinstance(noise, LatticeNoise):
        bounds = lattice_renyi(noise, size, orders)
    elif isinstance(noise, DitheredLattice):
        bounds = dithered_renyi(noise, size, orders)
    elif not noise.bounded_slope and falls_away(noise, size):
        bounds = folded_renyi(noise, size, orders)
    elif np.isnan(noise.largest_loss(size)) or not (noise.gives_loss and noise.bounded_slope):
        bounds = renyi_divergence_between(Mixture(noise), Mixture(noise, (size,)), orders)
    else:
        largest, loss = max_order(noise, size), max_divergence(noise, size)
        finite = (orders < largest * (1 - SURE)) | ((orders == 1) & (largest > 1))
        parts = [np.where(np.isinf(orders), end, np.inf) for end in loss]
        if finite.any():
            for part, value in zip(parts, _finite_renyi(noise, size, orders[finite])):
                part[finite] = value
        unsure = ~finite & (orders < largest * (1 + SURE))
        if unsure.any() and largest > 1:
            parts[0][unsure] = _finite_renyi(noise, size, np.array([max(largest * (1 - 2 * SURE), 1.0)])).lower[0]
        ends = (np.where(np.isnan(part), least, part) for part, least in zip(parts, (0.0, np.inf, np.inf)))
        bounds = Bounds(*ends).clipped(0.0, loss.upper)
    return bounds if np.ndim(order) else Bounds(*(float(part[0]) for part in bounds))


def _finite_renyi(noise: Noise, shift: float, orders: Floats) -> ArrayBounds:
    if (closed := noise.closed_renyi(shift, orders)) is not None:
        return closed
    x, cut = reach(noise, shift, orders, _arm(noise))
    parts = np.full((3, len(orders)), np.inf)
    if not cut.all():
        parts[:, ~cut] = quadrature(noise, shift, orders[~cut], x)
    for i in np.flatnonzero(cut):  # these peak far outside of the noise's own tails: each on a grid around its peak
        order = orders[i : i + 1]
        x, cut_again = reach(noise, shift, order, _far_arm(noise, shift, orders[i]))
        low, middle, high = quadrature(noise, shift, order, x)
        parts[:, i] = (low[0], np.inf, np.inf) if cut_again[0] else (low[0], middle[0], high[0])
    return Bounds(*parts)


def quadrature(noise: Noise, shift: float, orders: Floats, x: Floats) -> list[Floats]:
    """Lower ends, estimates and upper ends of D_order(P || Q), shape (n,), from panels between the edges x."""
    for _ in range(REFINEMENTS):
        fine, coarse, top, rounding = _moments(noise, shift, orders, x)
        with np.errstate(invalid="ignore"):  # of infinite moments: then nothing is known of them
            error = np.abs(fine - coarse) + rounding * fine
        if (error <= (RELATIVE + 2 * rounding) * fine).all():
            break
        x = np.sort(np.concatenate([x, 0.5 * (x[1:] + x[:-1])]))
    return [_divergence(mean, top, orders) for mean in (fine - error, fine, fine + error)]


def _arm(noise: Noise) -> Floats:
    """Where the noise has its mass, on one side: down to tails of 1e-307 and a little beyond."""
    arm = noise.isf(_LEVELS)
    return np.concatenate([arm, arm[-1] * np.geomspace(1.02, 2, 14)])


def _far_arm(noise: Noise, shift: float, order: float) -> Floats:
    """The arm, and edges around the peak of P e^(sL), wherever it is (near (order - 1) shifts for Gaussian tails)."""
    arm = _arm(noise)
    near = np.geomspace(arm[0], max(arm[-1], order * shift), 400)
    far = near[-1] * np.geomspace(1, 1e6, 400)[1:]
    x = np.concatenate([near, far])
    for _ in range(60):
        height = _log_integrand(noise, shift, order, -x)
        best = int(np.argmax(height))
        low, high = x[max(best - 1, 0)], x[min(best + 1, len(x) - 1)]
        if height[best] - min(height[max(best - 1, 0)], height[min(best + 1, len(x) - 1)]) < 1:
            break
        x = np.linspace(low, high, 17)
    steps = (high - low) * np.concatenate([np.linspace(0.5, 40, 80), np.geomspace(42, 1e4, 60)])
    around = np.concatenate([x[best] - steps, x[best : best + 1], x[best] + steps])
    return np.unique(np.concatenate([arm, around[around > 0]]))


def _log_integrand(noise: Noise, shift: float, order: float, x: Floats) -> Floats:
    """log of P e^(sL); -inf where P vanishes or nothing is known."""
    with np.errstate(all="ignore"):
        value = noise.logpdf(x) + (order - 1) * noise.privacy_loss(x, shift)
    return np.where(np.isfinite(value), value, -np.inf)


def reach(noise: Noise, shift: float, orders: Floats, arm: Floats) -> tuple[Floats, Bools]:
    """Return panel edges over all x where some order's integrand matters, and the orders whose integrand goes on.

    The kinks of both densities are edges: between a kink and its image, `shift` away, the whole loss may fall. Only a
    lower bound is known of an integrand that is cut off.
    """
    arm = with_kinks(noise, arm)
    x = np.unique(np.concatenate([-arm, arm, arm + shift, shift - arm, [0.5 * shift]]))
    with np.errstate(all="ignore"):
        log_p, loss = noise.logpdf(x), noise.privacy_loss(x, shift)
        lift = np.maximum(np.multiply.outer(orders - 1, loss), np.maximum(-loss, 0))  # P e^(sL), P, and P e^-L = Q
        lifted = np.where(np.isfinite(log_p), log_p + lift, -np.inf)
        lifted = np.where(np.isfinite(lifted), lifted, -np.inf)
    matters = lifted > lifted.max(axis=1, keepdims=True) - NEGLIGIBLE
    cut = matters[:, 0] | matters[:, -1]
    kept = matters[~cut] if 0 < cut.sum() < len(cut) else matters
    if not kept.any():  # no finite integrand anywhere: orders beyond all numbers
        return x, np.ones_like(cut)
    first, last = np.flatnonzero(kept.any(axis=0))[[0, -1]]
    return x[max(first - 1, 0) : last + 2], cut


def _moments(noise: Noise, shift: float, orders: Floats, edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """(20-node mean, 10-node mean, log scale, relative rounding) of e^(sL) - 1 + s (e^(-L) - 1), for each order.

    The means are divided by e^scale. The rounding is that of log P and L, which are good to 1e-12 of themselves.
    """
    means: list[Floats] = []
    top: Any = None
    rounding: Any = 1e-13
    for nodes in (20, 10):
        x, weight = gauss_panels(edges, nodes)
        with np.errstate(all="ignore"):
            log_p, loss = noise.logpdf(x), noise.privacy_loss(x, shift)
            if top is None:
                height = log_p + np.multiply.outer(orders - 1, loss)
                peak = np.where(np.isnan(height), -np.inf, height).argmax(axis=1)
                top = np.maximum(height[np.arange(len(orders)), peak] - 600, 0)
                terms = np.abs(log_p[peak]) + np.abs((orders - 1) * loss[peak])
                rounding = rounding + np.where(top > 0, 1e-12 * terms, 0)
            rows = [_excess(log_p, loss, s, t) @ weight for s, t in zip(orders - 1, top)]
            if nodes == 20:
                lost = [_lost(log_p, loss, s, t) @ weight for s, t in zip(orders - 1, top)]
        means.append(np.array(rows))
    with np.errstate(invalid="ignore"):  # of means that underflow nothing is known
        return means[0], means[1], top, rounding + np.array(lost) / means[0]


def _lost(log_p: Floats, loss: Floats, s: float, top: float) -> Floats:
    """What rounding takes of P e^(sL - top) where it is large: near the largest order log P and sL nearly cancel."""
    height = log_p + s * loss
    lost = ROUNDING * np.exp(height - top) * (np.abs(log_p) + np.abs(s * loss))
    return np.where(np.isfinite(lost) & (s * loss > 1), lost, 0.0)


def _excess(log_p: Floats, loss: Floats, s: float, top: float) -> Floats:
    """P(x) e^-top (e^(sL) - 1 + s (e^-L - 1)); for s = 0 its limit over s, P(x) (L + e^-L - 1)."""
    if s == 0:
        direct = np.exp(log_p) * (loss + np.expm1(-loss))
        series = np.exp(log_p) * loss**2 * (0.5 - loss * (1 / 6 - loss * (1 / 24 - loss * (1 / 120 - loss / 720))))
        far = np.exp(log_p) * (loss - 1) + np.exp(log_p - loss)
        return np.where(np.abs(loss) < 0.01, series, np.where(np.abs(loss) < 30, direct, far))
    scaled = log_p - top
    near = (np.abs(loss) < 30) & (np.abs(s * loss) < 30)
    small = max(1.0, s) * np.abs(loss) < 0.02
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


def _divergence(mean: Floats, top: Floats, orders: Floats) -> Floats:
    s = orders - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        logged = np.where(top > 0, top + np.log(mean + np.exp(-top)), np.log1p(mean))
        return np.where(s == 0, mean, logged / s)
