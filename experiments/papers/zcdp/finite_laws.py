"""Laws on finitely many outcomes: their divergences in closed form, and a fixed list of examples."""

from math import inf

import numpy as np
from scipy.special import gammaln, logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds

ORDERS = (1.0, 1.5, 4.0, 32.0, inf)
_IRRATIONAL = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0])


def example(index: int, outcomes: int) -> Floats:
    """Return the index-th law of the list, at most 8 outcomes: spacings at the points of a Kronecker sequence."""
    return np.asarray(_weights(index, outcomes) / _weights(index, outcomes).sum())


def _weights(index: int, outcomes: int) -> Floats:
    return np.asarray(-np.log(0.02 + 0.96 * np.mod((index + 1) * _IRRATIONAL[:outcomes], 1.0)))


def divergence(p: Floats, q: Floats, order: float) -> Bounds:
    """Return D_order(P || Q) in nats of positive laws on the same outcomes, order >= 1 or inf, to about 1e-13."""
    loss = np.log(p / q)
    if order == inf:
        value = float(loss.max())
    elif order == 1:
        value = float((p * loss).sum())
    else:
        value = float(logsumexp((order - 1) * loss, b=p) / (order - 1))
    slack = 1e-13 * (1 + float(np.abs(loss).max())) * max(1.0, 1 / (order - 1) if order > 1 else 1.0)
    return Bounds(max(value - slack, 0.0), max(value, 0.0), value + slack)


def delta(p: Floats, q: Floats, epsilon: float) -> Bounds:
    """Return the supremum over events of P - e^epsilon Q, with epsilon in nats and of any sign."""
    share = p - np.exp(epsilon) * q
    value, mass = float(share[share > 0].sum()), float(p[share > 0].sum())
    return Bounds(max(value - 1e-11 * mass, 0.0), value, value + 1e-11 * mass)


def randomised_response(epsilon: float) -> tuple[Floats, Floats]:
    """Return the laws of one bit, kept with odds e^epsilon, given 1 and given 0: the worst pair under epsilon-DP."""
    p = np.array([1.0, np.exp(-epsilon)]) / (1 + np.exp(-epsilon))
    return p, p[::-1]


def repeated(epsilon: float, times: int) -> tuple[Floats, Floats]:
    """Return the laws of how many of `times` answers by randomised response are kept, under the values 1 and 0."""
    kept = np.arange(times + 1)
    ways = gammaln(times + 1) - gammaln(kept + 1) - gammaln(times - kept + 1) - times * np.log1p(np.exp(-epsilon))
    p = np.exp(ways - epsilon * (times - kept))
    return p, p[::-1]


def independent(p: Floats, q: Floats) -> Floats:
    """Return the law of two independent outcomes."""
    return np.outer(p, q).ravel()
