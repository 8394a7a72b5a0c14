"""Identities between privacy loss, privacy profile and Renyi divergence.

The source is Balle-Barthe-Gaboardi 2018 [BBG18] (Theorems 5 and 6). Each quantity is computed here from
another one. So it checks `hockey_stick` and `renyi_divergence`, and serves mechanisms of which only a profile is known.
"""

from collections.abc import Callable

import numpy as np

from tcdp_sim.core.arrays import Floats, RealFunction
from tcdp_sim.core.errors import real, scalar
from tcdp_sim.core.numerics import ArrayBounds, Bounds, gauss_panels, integrate
from tcdp_sim.exact.losses.distribution import PrivacyLossDistribution
from tcdp_sim.noise import Noise

Profile = Callable[[Floats], ArrayBounds]
_ROUNDING = 4e-13  # relative error of a probability from the loss distribution
_LEVEL = 2e-15  # largest relative change of a loss by rounding
_NEGLIGIBLE = 45.0
_SMALLEST, _LARGEST = 1e-290, 650.0  # least delta and largest log of its weight that are known
_GRID = np.concatenate([[0.0], np.geomspace(1e-12, 1e4, 129)])


def profile_from_losses(noise: Noise, shift: float, epsilon: float) -> Bounds:
    """Return delta(epsilon) = P[L > epsilon] - e^epsilon Q[L' < -epsilon] from tail probabilities of the privacy loss.

    L = log(P / Q) under P and L' = log(Q / P) under Q, so that Q[L' < -epsilon] = Q[L > epsilon]. The result is the
    same number as the result of `hockey_stick`. The difference of the two terms cancels, so the bounds are wider.

    Source: Balle et al. (2018), Theorem 5 [BBG18].

    Parameters
    ----------
    noise : Noise
        The noise.
    shift : float
        The change of the answer, in counts, finite, of either sign.
    epsilon : float or array
        epsilon in nats, finite.

    Returns
    -------
    Bounds
        delta(epsilon), of the shape of `epsilon`.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(profile_from_losses(Gaussian(1.0), 1.0, 0.0).estimate, 6)
    0.382925
    """
    epsilons = np.asarray(real("epsilon", epsilon, -np.inf))
    losses = PrivacyLossDistribution(noise, shift)
    ours = losses.sf(epsilons)
    with np.errstate(over="ignore", invalid="ignore"):
        theirs = np.exp(np.minimum(epsilons + losses.logsf(epsilons, under="Q"), 0.0))  # at most P[L > epsilon]
    most = 2 * losses.sf(epsilons - _LEVEL * np.abs(epsilons))  # includes outputs whose loss is epsilon up to rounding
    delta, slack = ours - theirs, _ROUNDING * (1 + np.abs(epsilons)) * np.maximum(ours + theirs, most) + 1e-300
    bounds = Bounds(delta - slack, delta, delta + slack).clipped(0.0, 1.0)
    return Bounds(*(part if np.ndim(epsilon) else float(part) for part in bounds))


def renyi_from_profile(profile: Profile, order: float, reverse: Profile | None = None) -> Bounds:
    """Return the Renyi divergence of a pair (P, Q) from its privacy profiles.

    With s = order - 1 it is E e^(sL) = 1 + s (s+1) times the integral over eps >= 0 of
    e^(s eps) delta(eps) + e^(-(s+1) eps) delta'(eps). Order 1 is the limit (Kullback-Leibler).

    Source: Balle et al. (2018), Theorem 6 [BBG18].

    Parameters
    ----------
    profile : callable
        The map from an array of epsilons to Bounds of arrays with H_eps(P || Q).
    order : float
        The order, 1 <= order < inf.
    reverse : callable, optional
        The same for delta'(eps) = H_eps(Q || P). None means that both are equal.

    Returns
    -------
    Bounds
        The divergence in nats. The upper end is finite only if the profiles are zero from some epsilon on. The bounds
        are (lower, inf, inf) if e^(s eps) delta(eps) still counts where delta leaves the range of floats, or at epsilon
        = 10^4.

    Examples
    --------
    >>> from functools import partial
    >>> from tcdp_sim.exact import hockey_stick
    >>> from tcdp_sim.noise import Gaussian
    >>> round(renyi_from_profile(partial(hockey_stick, Gaussian(2.0), 1.0), 2.0).estimate, 6)
    0.25
    """
    s = scalar("order", order, 1, closed=True) - 1
    rising, falling = (lambda eps: s * eps), (lambda eps: -(s + 1) * eps)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if reverse is None:
            parts = [_weighted(profile, lambda eps: np.logaddexp(rising(eps), falling(eps)))]
        else:
            parts = [_weighted(profile, rising), _weighted(reverse, falling)]
        low, middle, high = (np.log1p(s * (s + 1) * total) / s if s else total for total in map(sum, zip(*parts)))
    return Bounds(float(low), float(middle), float(high))


def _weighted(profile: Profile, log_weight: RealFunction) -> Bounds:
    """Return the integral of e^log_weight(eps) delta(eps) over eps >= 0."""
    edges, goes_on, cut = _reach(profile, log_weight)

    def weighted(eps: Floats, delta: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.exp(log_weight(eps) + np.log(delta))

    middle = integrate(lambda eps: weighted(eps, profile(eps).estimate), edges, rounds=1 if cut else 60)
    eps, width = gauss_panels(edges, 5)
    low, estimate, high = profile(eps)
    lower = max(middle.lower - float(weighted(eps, estimate - low) @ width), 0.0)
    if cut:
        return Bounds(lower, np.inf, np.inf)
    upper = middle.upper + float(weighted(eps, high - estimate) @ width)
    return Bounds(lower, middle.estimate, np.inf if goes_on else upper)


def _reach(profile: Profile, log_weight: RealFunction) -> tuple[Floats, bool, bool]:
    """Return edges where the integrand matters, and two flags.

    The first is True if delta is positive beyond the last edge, the second if it may be so where floats end.
    """
    delta, weight = profile(_GRID), log_weight(_GRID)
    known = (delta.estimate > _SMALLEST) & (weight < _LARGEST)
    if not known.any():
        return _GRID[:2], bool(delta.upper[1] > 0), False
    with np.errstate(divide="ignore"):
        height = np.where(known, weight + np.log(delta.estimate), -np.inf)
    least = height.max() - _NEGLIGIBLE
    matters, last = int(np.flatnonzero(height >= least)[-1]), int(np.flatnonzero(known)[-1])
    end = min(matters + 1, len(_GRID) - 1)
    goes_on = bool(delta.upper[end] > 0)
    beyond = np.inf if last == len(_GRID) - 1 else weight[last + 1]
    cut = goes_on and matters == last and (beyond >= _LARGEST or beyond + np.log(_SMALLEST) >= least)
    edges = _GRID[: last + 1 if cut else end + 1]
    return edges[(edges == 0) | (edges > 1e-7 * edges[-1])], goes_on, cut
