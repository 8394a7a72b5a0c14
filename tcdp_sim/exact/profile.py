"""Privacy profiles: the hockey-stick divergence delta(epsilon) of a noise from its shifted self.

H_eps(P || Q) = E_P[(1 - e^(eps - L))_+], an integral of non-negative terms over the set where the loss L exceeds eps:
no digits are lost however small it is. Closed forms for Laplace and Gaussian noise (Balle-Barthe-Gaboardi 2018,
Theorems 3 and 4); for every other noise quadrature from `logpdf`, `sf` and `privacy_loss`.
"""

from functools import singledispatch

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from tcdp_sim.errors import real
from tcdp_sim.exact.level_sets import TINY, log_mass, loss_sets
from tcdp_sim.noise import Gaussian, Laplace, Noise, TruncatedLaplace
from tcdp_sim.numerics import Bounds, closed_form, gauss_panels, integrate

# Lower tails, relative to the one where the loss equals epsilon, at which panels end: the rest is below rounding.
_DECADES = np.concatenate([[0.0, 0.03, 0.1, 0.2, 0.35], np.linspace(0.6, 3, 7), [4, 5.5, 7, 9, 12, 16, 21, 28]])


def hockey_stick(noise: Noise, shift: float, epsilon) -> Bounds:
    """delta(epsilon) = sup over events of P - e^epsilon Q, P = law of Z, Q = law of Z + shift.

    epsilon: nats, finite, of any sign, scalar or array; shift: counts, of either sign (both directions are equal by
    symmetry). At epsilon = 0 this is the total variation distance. Bounds hold to about 1e-10 relative, from 1 down
    to 1e-300. Raises ValueError for NaN or infinite arguments.
    """
    epsilons = np.atleast_1d(np.asarray(real("epsilon", epsilon, -np.inf)))
    size = abs(real("shift", shift, -np.inf))
    if size == 0:
        found = closed_form(np.maximum(-np.expm1(epsilons), 0.0))
    else:
        # H_(-e)(P||Q) = 1 - e^-e + e^-e H_e(Q||P), and H(Q||P) = H(P||Q) for symmetric noise.
        with np.errstate(over="ignore", invalid="ignore"):
            positive = _profile(noise, size, np.abs(epsilons))
            mirrored = [-np.expm1(epsilons) + np.exp(epsilons) * part for part in positive]
            mirrored = [mirrored[0] * (1 - 1e-15), mirrored[1], mirrored[2] * (1 + 1e-15)]
            found = Bounds(*(np.where(epsilons < 0, m, part) for m, part in zip(mirrored, positive)))
    found = Bounds(np.maximum(found.lower, 0.0), found.estimate, np.minimum(found.upper, 1.0))
    return found if np.ndim(epsilon) else Bounds(*(float(part[0]) for part in found))


@singledispatch
def _profile(noise: Noise, shift: float, epsilons) -> Bounds:
    """For epsilon >= 0 and shift > 0; by monotone loss where there is one, else over every interval with L > eps."""
    sets = loss_sets(noise, shift)
    if sets.monotone:
        return _monotone(noise, shift, epsilons, sets.above(epsilons)[1][0])
    found = sets.integrate_above(epsilons, lambda epsilon, x: _integrand(noise, shift, epsilon, x))
    # Where the loss hardly exceeds epsilon, its rounding counts; more so if it is the difference of two log densities.
    size = 1 + abs(float(noise.logpdf(shift))) if type(noise).privacy_loss is Noise.privacy_loss else epsilons
    slack = 1e-12 * found.estimate + 1e-15 * size * np.exp(log_mass(noise, *sets.above(epsilons)))
    outside = float(noise.cdf(sets.x[0]) + noise.sf(sets.x[-1]))
    return Bounds(found.lower - slack, found.estimate, found.upper + slack + outside)


@_profile.register
def _(noise: Laplace, shift, epsilons):
    return closed_form(np.maximum(-np.expm1((epsilons - shift / noise.scale) / 2), 0.0), 1e-14)


@_profile.register
def _(noise: TruncatedLaplace, shift, epsilons):
    """The mass outside the other support, then two stretches on which the loss is theta or falls linearly."""
    theta, start = shift / noise.scale, min(shift - noise.bound, noise.bound)
    crossing = np.maximum(0.5 * (shift - noise.scale * epsilons), start)
    outside = noise.cdf(start)
    level = np.maximum(noise.cdf(min(0.0, shift)) - outside, 0) * np.maximum(-np.expm1(epsilons - theta), 0)
    edges = np.stack([np.full_like(crossing, max(start, 0.0)), np.maximum(crossing, max(start, 0.0))], axis=1)
    return closed_form(outside + level + _columns(noise, shift, epsilons, edges, 20), 1e-12)


@_profile.register
def _(noise: Gaussian, shift, epsilons):
    theta = shift / noise.scale
    low, high = epsilons / theta - theta / 2, epsilons / theta + theta / 2
    with np.errstate(over="ignore", invalid="ignore"):
        near = ndtr(-low) - np.exp(epsilons + log_ndtr(-high))
        far = np.exp(-0.5 * low * low) * (_mills_drop(epsilons / theta, theta) / np.sqrt(2 * np.pi))
    found = closed_form(np.where((low < 1) & (theta > 0.5), near, far), 1e-11)
    return found._replace(upper=found.upper + TINY)


def _mills_drop(middle, width):
    """m(low) - m(high) around `middle`, m(v) = e^(v^2/2) integral_v^inf e^(-u^2/2) du (Mills), without cancellation."""
    if width > 0.5:
        ends = ((middle - width / 2) / np.sqrt(2), (middle + width / 2) / np.sqrt(2))
        return np.sqrt(np.pi / 2) * (erfcx(ends[0]) - erfcx(ends[1]))
    x, weight = gauss_panels(np.array([-0.5, 0.5]), 20)
    return width * (_minus_mills_slope(middle[:, None] + width * x) * weight).sum(axis=1)


def _minus_mills_slope(v):
    """1 - v m(v); by its asymptotic series where that cancels."""
    direct = 1 - v * np.sqrt(np.pi / 2) * erfcx(v / np.sqrt(2))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        w = 1 / (v * v)
        series = w * (1 - w * (3 - w * (15 - w * (105 - w * (945 - w * 10395)))))
    return np.where(v > 30, series, direct)


def _monotone(noise, shift, epsilons, crossing):
    """The loss falls with x: L > eps to the left of the crossing."""
    tail = noise.cdf(crossing)
    edges = np.minimum(noise.ppf(np.maximum(tail[:, None] * 10.0 ** -_DECADES, 1e-310)), crossing[:, None])[:, ::-1]
    fine, coarse = (_columns(noise, shift, epsilons, edges, nodes) for nodes in (20, 10))
    error = np.abs(fine - coarse) + 1e-12 * fine
    low, high = fine - error, fine + error
    for i in np.flatnonzero(error > 1e-10 * fine):  # a kink or a jump: halve the panels around it
        kinks = [x for x in (0.0, shift) if edges[i, 0] < x < crossing[i]]
        row = np.concatenate([edges[i], kinks])
        low[i], fine[i], high[i] = integrate(lambda x: _integrand(noise, shift, epsilons[i], x), row)  # noqa: B023
    return Bounds(low, fine, high + noise.cdf(edges[:, 0]) + TINY)  # further out the integrand is at most P


def _columns(noise, shift, epsilons, edges, nodes):
    out = np.empty(len(epsilons))
    for i, (epsilon, row) in enumerate(zip(epsilons, edges)):
        x, weight = gauss_panels(row, nodes)
        out[i] = _integrand(noise, shift, epsilon, x) @ weight
    return out


def _integrand(noise, shift, epsilon, x):
    with np.errstate(all="ignore"):
        log_p = noise.logpdf(x)
        gain = np.exp(log_p) * np.maximum(-np.expm1(epsilon - noise.privacy_loss(x, shift)), 0.0)
        return np.where(log_p > -np.inf, gain, 0.0)  # where neither has density the loss is NaN
