"""The least rho of zero-concentrated differential privacy of basic mechanisms."""

from math import inf

from tcdp_sim.accounting.releases.release import Release


def tight_rho(release: Release, omega: float = inf) -> float:
    """Return the least rho with D_a <= rho a at every order 1 < a < omega.

    Source: Bun and Steinke (2016) [BS16]; Canonne et al. (2020), Proposition 5 [CKS20]; Harrison and Manurangsi (2025)
    [HM25], for bounded range at omega = inf.

    Parameters
    ----------
    release : Release
        RandomisedResponse, BoundedRange, PermuteAndFlip, Additive, Claimed with PureDP, ZCDP or TCDP, or a release of
        one's own with `least_rho`. For PermuteAndFlip the result is an upper bound.
    omega : float
        The end of the range of orders of (rho, omega)-tCDP, above 1. The default is zCDP.

    Returns
    -------
    float
        rho in nats, inf if there is none.

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
    found = release.least_rho(omega)
    if found is None:
        raise ValueError(f"{release!r} has no known rho; valid: releases whose rho is known, which `tight_rho` lists")
    return found
