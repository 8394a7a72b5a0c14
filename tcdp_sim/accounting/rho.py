"""The least rho of zero-concentrated differential privacy of basic mechanisms."""

from math import exp, sinh, tanh

import numpy as np

from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.bounded_range import BoundedRange, PermuteAndFlip
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.randomised_response import RandomisedResponse, response_loss, response_rho
from tcdp_sim.accounting.releases.range_law import range_rho
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.exact.losses.grid_law import LossLaw
from tcdp_sim.privacy.definitions import TCDP, ZCDP, PureDP

_ORDERS = 1 + np.geomspace(1e-3, 1e5, 60)


def tight_rho(release: Release, omega: float = np.inf) -> float:
    """Return the least rho with D_a <= rho a at every order 1 < a < omega.

    Parameters
    ----------
    release : Release
        RandomisedResponse, BoundedRange, PermuteAndFlip, Additive, or Claimed with PureDP, ZCDP or TCDP. For
        PermuteAndFlip the result is an upper bound.
    omega : float
        The end of the range of orders of (rho, omega)-tCDP, above 1. The default is zCDP.

    Returns
    -------
    float
        rho in nats, inf if there is none.

    Raises
    ------
    ValueError
        If the release is none of these, or omega is out of range.

    Notes
    -----
    - Pure DP: epsilon tanh(epsilon / 2). With x = (a - 1/2)^2, D_a a (a - 1) = log cosh((a - 1/2) epsilon) -
      log cosh(epsilon / 2) is concave in x, and a (a - 1) = x - 1/4. So D_a / a falls, and the limit at order 1 decides
      for every omega.
    - Bounded range: log((e^epsilon - 1) / epsilon) - 1 + epsilon / (e^epsilon - 1). D_a / a falls here too, so a finite
      omega does not help.
    - k-ary response: the Kullback-Leibler divergence if k <= 2 + 2 e^(epsilon/2) r(epsilon/2), with r(s) =
      sinh(s) / (coth(s) - 1/s) - cosh(s). For larger k an order above 1 decides, or omega if it is smaller.
    - Additive noise: the maximum over a grid of orders and around the best of them. For Laplace noise it is at order 1:
      rho = e + exp(-e) - 1 with e = sensitivity / scale. This is verified numerically and not proved.

    References
    ----------
    Bun, Steinke (2016), https://arxiv.org/abs/1605.02065
    Harrison, Manurangsi (2025), https://arxiv.org/abs/2510.25746, for bounded range at omega = inf

    Examples
    --------
    >>> from tcdp_sim.accounting import BoundedRange, RandomisedResponse
    >>> round(tight_rho(BoundedRange(1.0)), 6), round(tight_rho(RandomisedResponse(1.0)), 6)
    (0.123302, 0.462117)
    """
    if not omega > 1:
        raise ValueError(f"omega = {omega!r} is not valid; valid: omega > 1")
    if isinstance(release, PermuteAndFlip):
        return release.epsilon * tanh(release.epsilon / 2)
    if isinstance(release, RandomisedResponse):
        return _response(release.epsilon, release.k, omega)
    if isinstance(release, BoundedRange):
        return range_rho(release.epsilon)
    if isinstance(release, Claimed) and isinstance(release.guarantee, PureDP):
        return release.guarantee.epsilon * tanh(release.guarantee.epsilon / 2)
    if isinstance(release, Claimed) and isinstance(release.guarantee, ZCDP | TCDP):
        valid = getattr(release.guarantee, "omega", np.inf) >= omega and not getattr(release.guarantee, "xi", 0.0)
        return release.guarantee.rho if valid else np.inf
    if isinstance(release, Additive):
        return _largest(release.cases(None, 1)[0].forward[0][0], omega)
    raise ValueError(f"{release!r} is not a mechanism whose rho is known; valid: those that `tight_rho` lists")


def _response(epsilon: float, k: int, omega: float) -> float:
    if k == 2:
        return epsilon * tanh(epsilon / 2)
    s = epsilon / 2
    # (coth s - 1/s) / sinh s cancels for small s
    ratio = sinh(s) / (1 / tanh(s) - 1 / s) - np.cosh(s) if s > 1e-2 else 2 + 0.4 * s * s
    if k <= 2 + 2 * exp(s) * ratio:
        return response_rho(epsilon, k)
    return _largest(response_loss(epsilon, k), omega)


def _largest(law: LossLaw, omega: float) -> float:
    """Return the maximum of D_a / a over the orders below omega, from above up to the search over orders."""

    def height(order: float) -> float:
        return law.renyi(order).upper / order

    orders = np.unique(np.concatenate([[1.0], _ORDERS[omega > _ORDERS], [omega] if np.isfinite(omega) else []]))
    heights = [height(float(order)) for order in orders]
    best = int(np.argmax(heights))
    if not np.isfinite(heights[best]) or best == 0:
        return float(heights[best])
    ends = np.log(orders[[max(best - 1, 0), min(best + 1, len(orders) - 1)]])
    from scipy.optimize import minimize_scalar  # imported late, as in `core.numerics.root`

    found = minimize_scalar(lambda x: -height(float(np.exp(x))), bounds=ends, method="bounded", options={"xatol": 1e-9})
    return float(max(-found.fun, heights[best]))
