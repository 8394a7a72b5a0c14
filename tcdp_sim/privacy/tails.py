"""What a guarantee says of the tail of the privacy loss: the envelopes of Bun-Dwork-Rothblum-Steinke 2018, Figure 1."""

from math import exp, expm1, inf

from tcdp_sim.core.errors import scalar
from tcdp_sim.privacy.definitions import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    Guarantee,
    MeanConcentratedDP,
    PureDP,
    simplest,
)


def loss_tail_bound(guarantee: Guarantee, threshold: float) -> float:
    """The most that P[L > threshold] can be, L the privacy loss between neighbours under the guarantee.

    threshold: nats, of any sign. Pure and approximate DP: sharp, attained by two outputs. Those whose loss is
    above t have mass p <= delta / (1 - e^(epsilon - t)), t > epsilon, under P, and at most p e^-t under Q, so that
    1 <= p e^-t + e^epsilon (1 - p) + delta. zCDP, tCDP, Renyi and mean-concentrated DP: Markov's inequality at the best
    order, which is e^(-(t - rho)^2 / (4 rho)) for rho-zCDP, and for (rho, omega)-tCDP too up to t = rho (2 omega - 1),
    from where on it falls exponentially (the paper's Section 1.3).
    Raises ValueError for NaN and for approximate zCDP with delta > 0 and rho > 0.
    """
    threshold = scalar("threshold", threshold, -inf)
    match simplest(guarantee):
        case PureDP(epsilon=epsilon):
            return _indistinguishable(epsilon, 0.0, threshold)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return _indistinguishable(epsilon, delta, threshold)
        case TCDP(rho=rho, omega=omega):
            return _chernoff(0.0, rho, omega - 1, threshold)
        case RDP(order=order, epsilon=epsilon):
            return _chernoff(epsilon, 0.0, order - 1, threshold)
        case ZCDP(rho=rho, xi=xi):
            return _chernoff(xi, rho, inf, threshold)
        case MeanConcentratedDP(mu=mu, tau=tau):
            slope = 0.5 * tau * tau
            return _chernoff(min(mu - slope, 0.0), slope, inf, threshold)  # as in `renyi_bound`
    raise ValueError(f"{guarantee} is not valid; valid: a guarantee other than approximate zCDP")


def _indistinguishable(epsilon: float, delta: float, t: float) -> float:
    """For (epsilon, delta)-DP; delta = 0 is pure."""
    beyond = -expm1(epsilon - t) if t > epsilon else 0.0
    from_above = delta / beyond if beyond > 0 else 1.0 if t < epsilon or delta > 0 else 0.0
    # (e^epsilon - 1 + delta) / (e^epsilon - e^-t), times e^-epsilon
    spare = -expm1(-t - epsilon) if t > -epsilon else 0.0
    from_below = (-expm1(-epsilon) + delta * exp(-epsilon)) / spare if spare > 0 else 1.0
    return min(1.0, from_above, from_below)


def _chernoff(intercept: float, slope: float, most: float, t: float) -> float:
    """min over 0 <= s <= most of e^(s (intercept + slope (s + 1) - t))."""
    gap = t - intercept - slope
    if gap <= 0:
        return 1.0
    s = min(most, gap / (2 * slope) if slope > 0 else inf)
    return exp(s * (slope * s - gap)) if s < inf else 0.0
