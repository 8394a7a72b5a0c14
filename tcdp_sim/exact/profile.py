"""Privacy profiles: the hockey-stick divergence delta(epsilon) of a noise from its shifted self.

H_eps(P || Q) = E_P[(1 - e^(eps - L))_+] is an integral of non-negative terms over the set where the loss L exceeds eps.
So no digits are lost, however small it is. A noise that has a closed form (`Noise.closed_hockey_stick`) uses it. For
every other noise quadrature uses `logpdf`, `sf` and `privacy_loss`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import TINY, ArrayBounds, Bounds, closed_form, gauss_panels, integrate
from tcdp_sim.exact.folded_profile import FoldedProfile
from tcdp_sim.exact.losses.level_sets import log_mass, loss_sets
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.renyi.choice import Quantity, Way, way
from tcdp_sim.exact.renyi.kernels import share_above
from tcdp_sim.exact.renyi.lattice import LatticeLoss, dithered_profile, lattice_profile
from tcdp_sim.exact.renyi.mixture_divergences import hockey_stick_between
from tcdp_sim.exact.resolution import ROUNDING
from tcdp_sim.exact.work import MOST_POINTS, spend, within
from tcdp_sim.noise import Noise
from tcdp_sim.noise.discrete import DiscreteNoise

_ZERO = np.zeros(1)
# Decades of lower tails, relative to the one where the loss equals epsilon, at which panels end.
_DECADES = np.concatenate([[0.0, 0.03, 0.1, 0.2, 0.35], np.linspace(0.6, 3, 7), [4, 5.5, 7, 9, 12, 16, 21, 28]])


@within(MOST_POINTS, "valid: fewer epsilons, or a smaller shift")
def hockey_stick(noise: Noise, shift: float, epsilon: ArrayLike) -> Bounds[Any]:
    """Return delta(epsilon), the supremum over events of P - e^epsilon Q, with P = law of Z and Q = law of Z + shift.

    At epsilon = 0 this is the total variation distance.

    Source: Balle et al. (2018) [BBG18].

    Parameters
    ----------
    noise : Noise
        The noise Z.
    shift : float
        The change of the answer in counts, of either sign. Both directions are equal by symmetry.
    epsilon : float or array
        epsilon in nats, finite, of any sign.

    Returns
    -------
    Bounds
        delta(epsilon), of the shape of `epsilon`. The ends are about 1e-10 apart (relative), from 1 down to 1e-300.
        They are further apart where the loss hardly exceeds epsilon, and for a noise without its own `privacy_loss`.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(hockey_stick(Gaussian(1.0), 1.0, 0.0).estimate, 6)
    0.382925
    """
    epsilons = np.atleast_1d(np.asarray(real("epsilon", epsilon, -np.inf)))
    size = abs(real("shift", shift, -np.inf))
    if size == 0:
        bounds = closed_form(np.maximum(-np.expm1(epsilons), 0.0))
    else:
        # H_(-e)(P||Q) = 1 - e^-e + e^-e H_e(Q||P), and H(Q||P) = H(P||Q) for symmetric noise.
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = _profile(noise, size, np.abs(epsilons))
            if (epsilons < 0).any():
                mirrored = [-np.expm1(epsilons) + np.exp(epsilons) * part for part in bounds]
                mirrored = [mirrored[0] * (1 - 1e-15), mirrored[1], mirrored[2] * (1 + 1e-15)]
                bounds = Bounds(*(np.where(epsilons < 0, m, part) for m, part in zip(mirrored, bounds)))
    bounds = bounds.clipped(0.0, 1.0)
    return bounds if np.ndim(epsilon) else Bounds(*(float(part[0]) for part in bounds))


def profile_function(noise: Noise, shift: float) -> Callable[[float], Bounds]:
    """Return the function epsilon -> delta(epsilon) for epsilon >= 0 and shift > 0, with the common work done once."""
    if way(noise, shift, Quantity.PROFILE) is Way.FOLDED:
        folded = FoldedProfile(noise, shift)
        return lambda epsilon: folded(epsilon).delta
    closed = noise.closed_hockey_stick(shift, _ZERO) is not None
    if isinstance(noise, DiscreteNoise) and noise.steps_of(shift) is not None and not closed:
        loss = LatticeLoss(noise, shift)
        return lambda epsilon: Bounds(*(float(part[0]) for part in loss.profile(np.array([epsilon]))))
    return partial(hockey_stick, noise, shift)


def _profile(noise: Noise, shift: float, epsilons: Floats) -> ArrayBounds:
    """Return delta(epsilon) for epsilon >= 0 and shift > 0."""
    closed = noise.closed_hockey_stick(shift, epsilons)
    return WAYS[way(noise, shift, Quantity.PROFILE)](noise, shift, epsilons) if closed is None else closed


def _folded_profile(noise: Noise, shift: float, epsilons: Floats) -> ArrayBounds:
    return FoldedProfile(noise, shift).at(epsilons).delta


def _mixture_profile(noise: Noise, shift: float, epsilons: Floats) -> ArrayBounds:
    return hockey_stick_between(Mixture(noise), Mixture(noise, (shift,)), epsilons)


def _loss_profile(noise: Noise, shift: float, epsilons: Floats) -> ArrayBounds:
    """Return delta(epsilon) by the noise's own loss.

    If the loss is monotone its one crossing is enough. Otherwise the integral goes over every interval above epsilon.
    """
    sets = loss_sets(noise, shift)
    if sets.monotone:
        return _monotone(noise, shift, epsilons, sets.above(epsilons)[1][0])
    bounds = sets.integrate_above(epsilons, lambda epsilon, x: _integrand(noise, shift, epsilon, x))
    slack = 1e-12 * bounds.estimate + _rounding(epsilons, np.exp(log_mass(noise, *sets.above(epsilons))))
    outside = float(noise.cdf(sets.x[0]) + noise.sf(sets.x[-1]))
    return Bounds(bounds.lower - slack, bounds.estimate, bounds.upper + slack + outside)


WAYS: dict[Way, Callable[[Any, float, Floats], ArrayBounds]] = {
    Way.LATTICE: lattice_profile,
    Way.DITHERED: dithered_profile,
    Way.FOLDED: _folded_profile,
    Way.LOSS: _loss_profile,
    Way.MIXTURE: _mixture_profile,
}


def _rounding(epsilons: Floats, mass: Floats) -> Floats:
    """Return the effect of the loss's rounding where it hardly exceeds epsilon and 1 - e^(epsilon - L) cancels."""
    return ROUNDING * epsilons * mass


def _monotone(noise: Noise, shift: float, epsilons: Floats, crossing: Floats) -> ArrayBounds:
    """Return bounds for a loss that falls with x, so that L > eps to the left of the crossing."""
    tail = noise.cdf(crossing)
    edges = np.minimum(noise.ppf(np.maximum(tail[:, None] * 10.0**-_DECADES, 1e-310)), crossing[:, None])[:, ::-1]
    edges = _with_kinks(noise, shift, edges)
    fine, coarse = (_columns(noise, shift, epsilons, edges, nodes) for nodes in (20, 10))
    error = np.abs(fine - coarse) + 1e-12 * fine
    low, high = fine - error, fine + error
    for i in np.flatnonzero(error > 1e-10 * fine):  # at a kink or a jump `integrate` halves the panels around it
        low[i], fine[i], high[i] = integrate(lambda x: _integrand(noise, shift, epsilons[i], x), edges[i])  # noqa: B023
    lost = _rounding(epsilons, tail)
    beyond = noise.cdf(edges[:, 0])  # there the integrand is at most P
    return Bounds(low - lost, fine, high + lost + beyond + TINY)


def _with_kinks(noise: Noise, shift: float, edges: Floats) -> Floats:
    """Return the rows of edges with the kinks of both densities among them, cut to the ends of each row.

    Between a kink and its image, which is `shift` away, the whole loss may fall. Panels that are much longer than a
    small shift do not show that. Their nodes miss it, and two rules agree on a wrong value.
    """
    kinks = np.concatenate([noise.kinks, noise.kinks + shift])
    return np.sort(np.concatenate([edges, np.clip(kinks, edges[:, :1], edges[:, -1:])], axis=1), axis=1)


def _columns(noise: Noise, shift: float, epsilons: Floats, edges: Floats, nodes: int) -> Floats:
    out = np.empty(len(epsilons))
    for i, (epsilon, row) in enumerate(zip(epsilons, edges)):
        x, weight = gauss_panels(row, nodes)
        out[i] = _integrand(noise, shift, epsilon, x) @ weight
    return out


def _integrand(noise: Noise, shift: float, epsilon: float, x: Floats) -> Floats:
    spend(x.size * noise.density_cost)
    with np.errstate(all="ignore"):
        log_p = noise.logpdf(x)
        gain = np.exp(log_p) * share_above(epsilon, noise.privacy_loss(x, shift))
        return np.where(log_p > -np.inf, gain, 0.0)  # where neither has density the loss is NaN
