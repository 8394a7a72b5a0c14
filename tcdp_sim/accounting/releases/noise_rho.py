"""The least rho of additive noise."""

from math import inf

import numpy as np

from tcdp_sim.core.search import minimize_scalar
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.noise import Laplace, Noise
from tcdp_sim.noise.discrete_laplace import DiscreteLaplace
from tcdp_sim.privacy.least_rho import discrete_laplace_rho, laplace_rho

_SECOND = 2  # D_a / a of noise on a lattice has its supremum there, if not before
_LIMIT = 1e-6
_ORDERS = 1 + np.geomspace(1e-3, 1e5, 60)


def noise_rho(noise: Noise, shift: float, omega: float) -> float:
    """Return the least rho in nats with D_a <= rho a at every order 1 < a < omega, for a move by `shift`."""
    if type(noise) is Laplace:
        return laplace_rho(shift / noise.scale)
    if type(noise) is DiscreteLaplace:
        return discrete_laplace_rho(shift / noise.scale, int(noise.need_steps("sensitivity", shift)))
    exact = noise.exact_rho(shift)
    if exact is not None and (omega >= _SECOND or not noise.is_discrete):
        return float(exact)
    return _largest(noise, shift, omega)


def _largest(noise: Noise, shift: float, omega: float) -> float:
    """Return the maximum of D_a / a over the orders below omega, from above up to the search over orders."""

    def height(order: float) -> float:
        return float(renyi_divergence(noise, shift, order).upper) / order

    rounds = getattr(noise, "continuous", None)  # rounding is post-processing
    most = None if rounds is None else rounds.exact_rho(shift)
    if most is not None and omega == inf and height(float(_ORDERS[-1])) >= float(most) * (1 - _LIMIT):
        return float(most)  # the limit of high orders
    orders = np.unique(np.concatenate([[1.0], _ORDERS[omega > _ORDERS], [omega] if np.isfinite(omega) else []]))
    heights = [height(float(order)) for order in orders]
    best = int(np.argmax(heights))
    if not np.isfinite(heights[best]) or best == 0:
        return float(heights[best])
    ends = np.log(orders[[max(best - 1, 0), min(best + 1, len(orders) - 1)]])
    found = minimize_scalar(lambda x: -height(float(np.exp(x))), bounds=ends, method="bounded", options={"xatol": 1e-6})
    return float(max(-found.fun, heights[best]))
