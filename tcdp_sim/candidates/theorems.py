"""The published theorems on the best of a random number of private runs, for runs with Gaussian noise.

A run is a Gaussian release whose number moves by `shift` standard deviations at most between neighbours. It has D_a = a
shift^2 / 2 at every order a. We compared the constants of Papernot and Steinke with the code of Google's dp_accounting
0.6. We did not read the proofs.
"""

from collections.abc import Callable
from math import exp, expm1, log, log1p, sqrt

import numpy as np
from scipy.special import log_ndtr

from tcdp_sim.candidates.tries import NegativeBinomialTries, PoissonTries, Tries
from tcdp_sim.core.errors import scalar
from tcdp_sim.core.search import minimize_scalar

ORDERS = 1 + np.geomspace(0.1, 100, 31)
FARTHEST = 1e4  # times the order: the end of the search for a larger order with a smaller bound


def theorem_renyi(order: float, shift: float, tries: Tries) -> float:
    """Return the published bound on the Renyi divergence of the best of a random number of Gaussian runs.

    Theorem 2 is for truncated negative binomial numbers of runs, Theorem 6 for Poisson numbers. A bound at a larger
    order holds at this order too, so the least one is returned.

    Source: Papernot and Steinke (2022), Theorems 2 and 6 [PS22].

    Parameters
    ----------
    order : float
        The order a, above 1.
    shift : float
        The sensitivity over the standard deviation of the noise of a run, above 0.
    tries : Tries
        The law of the number of runs.

    Returns
    -------
    float
        The bound in nats.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> round(theorem_renyi(2.0, 0.1, tries_of("geometric", 10.0)), 3)
    0.639
    """
    order, shift = scalar("order", order, 1), scalar("shift", shift, 0)
    rho = 0.5 * shift**2
    match tries:
        case NegativeBinomialTries():
            # rho a + log(mean) / (a - 1) is least at this order
            best = max(order, 1 + sqrt(log(tries.mean) / rho))
            return rho * best + _constant(rho, tries) + log(tries.mean) / (best - 1)
        case PoissonTries():
            found = minimize_scalar(
                lambda x: _poisson(exp(x), shift, tries.mean),
                bounds=(log(order), log(order * FARTHEST)),
                method="bounded",
                options={"xatol": 1e-4},
            )
            return min(_poisson(order, shift, tries.mean), float(found.fun))
    raise ValueError(f"tries = {tries!r} is not valid; valid: PoissonTries or NegativeBinomialTries")


def theorem_of_curve(
    order: float, curve: Callable[[float], float], profile: Callable[[float], float], tries: Tries
) -> float:
    """Return the published bound of `theorem_renyi` at an order > 1 for any run.

    `curve`: its Renyi divergence at an order > 1. `profile`: its delta at an epsilon, which Theorem 6 needs.
    """
    least = curve(order) + max(log(tries.mean), 0.0) / (order - 1)
    match tries:
        case NegativeBinomialTries():
            return least + (1 + tries.shape) * _least_constant(curve, -log(tries.stop))
        case PoissonTries():
            return least + tries.mean * profile(log1p(1 / (order - 1)))
    raise ValueError(f"tries = {tries!r} is not valid; valid: PoissonTries or NegativeBinomialTries")


def _least_constant(curve: Callable[[float], float], far: float) -> float:
    """Return the least (1 - 1 / b) curve(b) + far / b over a grid of orders b > 1."""
    return min((1 - 1 / b) * curve(b) + far / b for b in ORDERS.tolist())


def _constant(rho: float, tries: NegativeBinomialTries) -> float:
    """Return (1 + shape) min over b >= 1 of (1 - 1 / b) rho b + log(1 / stop) / b."""
    far = -log(tries.stop)
    other = max(1.0, sqrt(far / rho))
    return (1 + tries.shape) * (rho * (other - 1) + far / other)


def _poisson(order: float, shift: float, mean: float) -> float:
    """Return the bound of Theorem 6, with the exact delta of Gaussian noise at e^epsilon = 1 + 1 / (a - 1)."""
    epsilon = log1p(1 / (order - 1))
    high, low = (float(log_ndtr(end * 0.5 * shift - epsilon / shift)) for end in (1, -1))
    delta = -exp(high) * expm1(min(epsilon + low - high, 0.0))
    return 0.5 * shift**2 * order + mean * delta + max(log(mean), 0.0) / (order - 1)
