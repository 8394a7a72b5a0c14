"""Between the notions: what implies zCDP, tCDP and approximate zCDP. Nats throughout, plain floats."""

from math import inf, tanh

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.definitions import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Guarantee,
    MeanConcentratedDP,
    Notion,
    PureDP,
    simplest,
)
from tcdp_sim.privacy.renyi import TINY

METHODS = ("paper", "tight")


def _rho_of_pure(epsilon: float, method: str) -> float:
    """The rho of epsilon-DP; a positive rho that underflows is rounded up, so that the guarantee stays true."""
    factor = 0.5 * epsilon if method == "paper" else tanh(0.5 * epsilon)
    return max(epsilon * factor, TINY)


def to_zcdp(guarantee: Guarantee, method: str = "paper") -> ZCDP:
    """The (xi, rho)-zCDP that a guarantee implies.

    PureDP: method "paper" is rho = epsilon^2 / 2 (Bun-Steinke 2016, Proposition 4), "tight" the least rho there is,
    epsilon tanh(epsilon / 2) (Finley et al. 2024, Lemma 5.2).
    MeanConcentratedDP: "paper" is (mu - tau^2/2, tau^2/2), xi cut at 0 (Bun-Steinke 2016, Lemma 24); "tight" is
    (0, tau^2/2): with l = -1 in the definition, 1 = E e^-Z <= e^(tau^2/2 - E Z), so that E Z <= tau^2/2 whatever mu.
    Notions that say the same as zCDP or pure DP at their ends (omega or order = inf, delta = 0) are taken too.
    Raises ValueError with the reason for those that imply no zCDP.
    """
    choice("method", method, METHODS)
    match simplest(guarantee):
        case ZCDP() as same:
            return same
        case PureDP(epsilon=epsilon):
            return ZCDP(_rho_of_pure(epsilon, method))
        case MeanConcentratedDP(mu=mu, tau=tau):
            rho = max(0.5 * tau * tau, TINY)
            return ZCDP(rho, max(mu - rho, 0.0) if method == "paper" else 0.0)
        case TCDP(omega=omega):
            raise ValueError(f"{guarantee} implies no zCDP: it bounds Renyi divergences below order {omega:g} only")
        case RDP(order=order):
            raise ValueError(f"{guarantee} implies no zCDP: it bounds Renyi divergences up to order {order:g} only")
    raise ValueError(f"{guarantee} implies no zCDP: with probability delta anything may happen; see to_approx_zcdp")


def to_tcdp(guarantee: Guarantee, method: str = "paper") -> TCDP:
    """The (rho, omega)-tCDP that a guarantee implies.

    (xi, rho)-zCDP gives (xi + rho, inf), since xi <= xi a; (order, epsilon)-RDP gives (epsilon, order), by
    monotonicity; what implies zCDP goes through `to_zcdp` with its `method`.
    Raises ValueError with the reason for (epsilon, delta)-DP and approximate zCDP with delta > 0.
    """
    choice("method", method, METHODS)
    match guarantee if isinstance(guarantee, TCDP) else simplest(guarantee):
        case TCDP() as same:
            return same
        case RDP(order=order, epsilon=epsilon):
            return TCDP(max(epsilon, TINY), order)
        case ApproxDP() | ApproxZCDP():
            raise ValueError(f"{guarantee} implies no tCDP: with probability delta anything may happen")
        case simple:
            concentrated = to_zcdp(simple, method)
            return TCDP(concentrated.rho + concentrated.xi, inf)


def to_approx_zcdp(guarantee: Guarantee, method: str = "paper") -> ApproxZCDP:
    """The delta-approximate (xi, rho)-zCDP that a guarantee implies.

    ApproxDP, by Bun-Steinke 2016, Lemma 37: method "lossless" is (epsilon, 0), which says the same; "paper" is
    (0, epsilon^2 / 2); "tight" is (0, epsilon tanh(epsilon / 2)), since given the events epsilon-DP holds.
    PureDP likewise with delta = 0; what implies zCDP goes through `to_zcdp` ("lossless": as "tight") with delta = 0.
    Raises ValueError for tCDP and RDP of bounded orders.
    """
    choice("method", method, (*METHODS, "lossless"))
    delta = 0.0
    inner: Notion
    match guarantee if isinstance(guarantee, ApproxZCDP) else simplest(guarantee):
        case ApproxZCDP() as same:
            return same
        case ApproxDP(epsilon=epsilon, delta=own):
            inner, delta = PureDP(epsilon), own
        case simple:
            inner = simple
    if method == "lossless" and isinstance(inner, PureDP):
        return ApproxZCDP(delta, 0.0, inner.epsilon)
    concentrated = to_zcdp(inner, "paper" if method == "paper" else "tight")
    return ApproxZCDP(delta, concentrated.rho, concentrated.xi)


def zcdp_from_family(xi: float, rho: float) -> ZCDP:
    """The zCDP of a mechanism that is (xi + sqrt(rho log(1/delta)), delta)-DP for EVERY delta > 0; 0 <= xi, rho <= 1.

    It is (xi - rho/4 + 5 rho^(1/4), rho/4)-zCDP. One pair (epsilon, delta) is not enough: that is (epsilon, delta)-DP.
    Source: Bun-Steinke 2016, Lemma 22. Raises ValueError for xi or rho outside [0, 1].
    """
    xi = scalar("xi", xi, 0, 1, closed=True, finite=False)
    rho = scalar("rho", rho, 0, 1, closed=True, finite=False)
    return ZCDP(max(0.25 * rho, TINY), xi - 0.25 * rho + 5 * rho**0.25)
