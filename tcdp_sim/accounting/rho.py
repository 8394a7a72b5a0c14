"""The least rho of zero-concentrated differential privacy of basic mechanisms."""

import numpy as np

from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.bounded_range import BoundedRange, PermuteAndFlip
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.randomised_response import RandomisedResponse
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.exact.renyi.divergence import renyi_divergence
from tcdp_sim.noise import Laplace
from tcdp_sim.noise.discrete_laplace import DiscreteLaplace
from tcdp_sim.privacy.definitions import TCDP, ZCDP, PureDP
from tcdp_sim.privacy.least_rho import bounded_range_rho, discrete_laplace_rho, laplace_rho, pure_rho, response_rho

_SECOND = 2  # D_a / a of noise on a lattice has its supremum there, if not before
_LIMIT = 1e-6
_ORDERS = 1 + np.geomspace(1e-3, 1e5, 60)


def tight_rho(release: Release, omega: float = np.inf) -> float:
    """Return the least rho with D_a <= rho a at every order 1 < a < omega.

    Source: Bun and Steinke (2016) [BS16]; Canonne et al. (2020), Proposition 5 [CKS20]; Harrison and Manurangsi (2025)
    [HM25], for bounded range at omega = inf.

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
    The formulas and their proofs are in `tcdp_sim.privacy.least_rho`.

    - Pure DP and permute-and-flip: epsilon tanh(epsilon / 2), which randomised response on two values attains.
    - Bounded range: log((e^epsilon - 1) / epsilon) - 1 + epsilon / (e^epsilon - 1).
    - k-ary response: the Kullback-Leibler divergence if k <= 2 + 2 e^(epsilon/2) r(epsilon/2), with r(s) = (sinh(2s) /
      2 - s) / (s cosh s - sinh s). For larger k an order above 1 decides, or omega if it is smaller.
    - Laplace and discrete Laplace noise: the Kullback-Leibler divergence. For Laplace noise it is e + exp(-e) - 1 with
      e = sensitivity / scale.
    - Gaussian and discrete Gaussian noise: sensitivity^2 / 2 sigma^2. Discrete noise attains it at whole orders, and
      no order exceeds it (Canonne, Kamath, Steinke 2020 [CKS20]). Below omega = 2 the search of the next line is used
      for it.
    - Rounded Gaussian noise without a finite omega: the value of Gaussian noise, the limit of high orders.
    - Other additive noise: the maximum over a grid of orders and around the best of them. That no other order is worse
      is verified numerically and not proved.

    A finite omega lowers the value for k-ary response on many values only, among those with a formula.

    Examples
    --------
    >>> from tcdp_sim.accounting import BoundedRange, RandomisedResponse
    >>> round(tight_rho(BoundedRange(1.0)), 6), round(tight_rho(RandomisedResponse(1.0)), 6)
    (0.123302, 0.462117)
    """
    if not omega > 1:
        raise ValueError(f"omega = {omega!r} is not valid; valid: omega > 1")
    match release:
        case PermuteAndFlip(epsilon=epsilon) | Claimed(guarantee=PureDP(epsilon=epsilon)):
            return pure_rho(epsilon)
        case RandomisedResponse(epsilon=epsilon, k=k):
            return response_rho(epsilon, k, omega)
        case BoundedRange(epsilon=epsilon):
            return bounded_range_rho(epsilon)
        case Claimed(guarantee=ZCDP(rho=rho) | TCDP(rho=rho)):
            guarantee = release.guarantee
            valid = getattr(guarantee, "omega", np.inf) >= omega and not getattr(guarantee, "xi", 0.0)
            return rho if valid else np.inf
        case Additive():
            return _additive(release, omega)
    raise ValueError(f"{release!r} is not a mechanism whose rho is known; valid: those that `tight_rho` lists")


def _additive(release: Additive, omega: float) -> float:
    noise, shift = release.noise, release.sensitivity
    if type(noise) is Laplace:
        return laplace_rho(shift / noise.scale)
    if type(noise) is DiscreteLaplace:
        return discrete_laplace_rho(shift / noise.scale, int(noise.need_steps("sensitivity", shift)))
    exact = noise.exact_rho(shift)
    if exact is not None and (omega >= _SECOND or not noise.is_discrete):
        return float(exact)
    return _largest(release, omega)


def _largest(release: Additive, omega: float) -> float:
    """Return the maximum of D_a / a over the orders below omega, from above up to the search over orders."""

    def height(order: float) -> float:
        return float(renyi_divergence(release.noise, release.sensitivity, order).upper) / order

    rounds = getattr(release.noise, "continuous", None)  # rounding is post-processing
    most = None if rounds is None else rounds.exact_rho(release.sensitivity)
    if most is not None and omega == np.inf and height(float(_ORDERS[-1])) >= float(most) * (1 - _LIMIT):
        return float(most)  # the limit of high orders
    orders = np.unique(np.concatenate([[1.0], _ORDERS[omega > _ORDERS], [omega] if np.isfinite(omega) else []]))
    heights = [height(float(order)) for order in orders]
    best = int(np.argmax(heights))
    if not np.isfinite(heights[best]) or best == 0:
        return float(heights[best])
    ends = np.log(orders[[max(best - 1, 0), min(best + 1, len(orders) - 1)]])
    from scipy.optimize import minimize_scalar  # imported late, as in `core.numerics.root`

    found = minimize_scalar(lambda x: -height(float(np.exp(x))), bounds=ends, method="bounded", options={"xatol": 1e-6})
    return float(max(-found.fun, heights[best]))
