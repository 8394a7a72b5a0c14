"""The orders from which on a noise without a known largest loss keeps zCDP, from one integral over its density.

For a log-concave density f = exp(-phi) that is symmetric about 0, the loss at -r is h(r) = phi(r + shift) - phi(r).
The loss at r is no larger, and h ascends. Let s = order - 1. For any rho' the inequality
s h <= rho' s^2 + h^2 / (4 rho') gives

    D_order <= rho' s + log(C) / s,    C = E[exp(h(|Z|)^2 / (4 rho'))],

for all orders and all smaller shifts. For rho' < rho this is at most rho order from some order on. C is finite if the
tail is not lighter than that of Gaussian noise whose variance is above shift^2 / (2 rho').
"""

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise import Noise
from tcdp_sim.noise.light_tails import FAR, has_light_tails

_SHARES = (0.5, 0.1, 0.03, 0.01, 3e-3, 1e-3)  # of rho that rho' leaves
_POINTS = 100_000  # of the upper sum, on a geometric grid


def least_order(noise: Noise, shift: float, rho: float) -> float:
    """Return an order from which on D_order <= rho order at all shifts up to `shift`, inf if none is found.

    The noise is log-concave. C is an upper sum up to FAR quartiles; from there on the tail goes on as before.
    """
    if has_light_tails(noise, shift):
        return np.inf
    log_mass, loss = _cells(noise, shift)
    orders = []
    for share in _SHARES:
        log_c = float(logsumexp(log_mass + np.square(loss) / (4 * (1 - share) * rho)))
        if np.isfinite(log_c) and _ends(log_mass, loss, (1 - share) * rho):
            orders.append(1 + (np.sqrt(rho**2 + 4 * share * rho * max(log_c, 0.0)) - rho) / (2 * share * rho))
    return float(min(orders, default=np.inf))


def _cells(noise: Noise, shift: float) -> tuple[Floats, Floats]:
    """Return for each cell of a grid of |Z| an upper end of the log of its probability, and its largest loss."""
    quartile = float(noise.isf(0.25))
    edges = quartile * np.concatenate([[0.0], np.geomspace(1e-6, FAR, _POINTS)])
    log_density = np.asarray(noise.logpdf(edges))
    with np.errstate(invalid="ignore"):
        loss = np.asarray(noise.privacy_loss(-edges, shift))
    return np.log(2 * np.diff(edges)) + log_density[:-1], loss[1:]


def _ends(log_mass: Floats, loss: Floats, rho: float) -> bool:
    """Return True if the last cells contribute nothing to the integral."""
    log_terms = log_mass + np.square(loss) / (4 * rho)
    return bool(log_terms[-1] < log_terms.max() - 50)
