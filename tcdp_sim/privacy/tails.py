"""Bounds on the tail of the privacy loss: the envelopes of Bun-Dwork-Rothblum-Steinke 2018 [BDRS18], Figure 1."""

from math import exp, expm1, inf

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.definitions import (
    Guarantee,
    MeanConcentratedDP,
    simplest,
)


def loss_tail_bound(guarantee: Guarantee, threshold: float) -> float:
    """Return an upper bound on P[L > threshold], where L is the privacy loss between neighbours.

    For pure and approximate DP the bound is sharp: two outputs attain it. With t = threshold > epsilon, the outputs
    whose loss exceeds t have mass p <= delta / (1 - e^(epsilon - t)) under P and at most p e^-t under Q. Hence 1 <= p
    e^-t + e^epsilon (1 - p) + delta.

    For the other notions the bound is Markov's inequality at the best order. For rho-zCDP this is
    e^(-(t - rho)^2 / (4 rho)). For (rho, omega)-tCDP it is the same up to t = rho (2 omega - 1), and falls
    exponentially beyond.

    Source: Bun et al. (2018), Section 1.3 [BDRS18].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism.
    threshold : float
        Threshold of the privacy loss, in nats, of either sign.

    Returns
    -------
    float
        The bound, in [0, 1].

    Raises
    ------
    ValueError
        If the threshold is not finite, or the guarantee is approximate zCDP with delta > 0 and rho > 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP, loss_tail_bound
    >>> round(loss_tail_bound(ZCDP(0.1), 2.0), 6)
    0.00012
    """
    threshold = scalar("threshold", threshold, -inf)
    simple = simplest(guarantee)
    line = simple.renyi_line
    if simple.epsilon_delta is not None:
        return _indistinguishable(*simple.epsilon_delta, threshold)
    if line is not None and not line.delta:
        return _chernoff(line.xi, line.rho, line.omega - 1, threshold)
    if isinstance(simple, MeanConcentratedDP):
        slope = 0.5 * simple.tau * simple.tau
        return _chernoff(min(simple.mu - slope, 0.0), slope, inf, threshold)  # the same cut as in `renyi_bound`
    raise ValueError(f"{guarantee} is not valid; valid: a guarantee other than approximate zCDP")


def _indistinguishable(epsilon: float, delta: float, t: float) -> float:
    """Return the bound for (epsilon, delta)-DP; delta = 0 is pure DP."""
    beyond = -expm1(epsilon - t) if t > epsilon else 0.0
    from_above = delta / beyond if beyond > 0 else 1.0 if t < epsilon or delta > 0 else 0.0
    # The bound is (e^epsilon - 1 + delta) / (e^epsilon - e^-t). The factor e^-epsilon on both sides avoids overflow.
    spare = -expm1(-t - epsilon) if t > -epsilon else 0.0
    from_below = (-expm1(-epsilon) + delta * exp(-epsilon)) / spare if spare > 0 else 1.0
    return min(1.0, from_above, from_below)


def _chernoff(intercept: float, slope: float, most: float, t: float) -> float:
    """Return the minimum over 0 <= s <= most of e^(s (intercept + slope (s + 1) - t))."""
    gap = t - intercept - slope
    if gap <= 0:
        return 1.0
    s = min(most, gap / (2 * slope) if slope > 0 else inf)
    return exp(s * (slope * s - gap)) if s < inf else 0.0
