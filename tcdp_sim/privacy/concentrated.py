"""Conversions to zCDP, tCDP and approximate zCDP. All values are plain floats in nats."""

from math import inf

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.definitions import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxTCDP,
    ApproxZCDP,
    Guarantee,
    MeanConcentratedDP,
    Notion,
    PureDP,
    simplest,
)
from tcdp_sim.privacy.least_rho import pure_rho
from tcdp_sim.privacy.renyi import TINY

METHODS = ("paper", "tight")


def _rho_of_pure(epsilon: float, method: str) -> float:
    """Return the rho of epsilon-DP, rounded up if it underflows so that the guarantee stays true."""
    return max(0.5 * epsilon * epsilon if method == "paper" else pure_rho(epsilon), TINY)


def to_zcdp(guarantee: Guarantee, method: str = "paper") -> ZCDP:
    """Return the (xi, rho)-zCDP that a guarantee implies.

    The methods differ for two notions:

    - PureDP: "paper" gives rho = epsilon^2 / 2, and "tight" gives the least possible rho, epsilon tanh(epsilon / 2).
    - MeanConcentratedDP: "paper" gives xi = max(mu - tau^2/2, 0) and rho = tau^2/2. "tight" gives xi = 0 and the same
      rho. Proof: with l = -1 in the definition, 1 = E e^-Z <= e^(tau^2/2 - E Z), so E Z <= tau^2/2 for every mu.

    TCDP with omega = inf, RDP of order inf and ApproxZCDP with delta = 0 are accepted too, since they are zCDP or pure
    DP.

    Source: Bun and Steinke (2016), Proposition 4 and Lemma 24 [BS16]; Finley et al. (2024), Lemma 5.2 [Fin24].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee to convert.
    method : str
        "paper" or "tight".

    Returns
    -------
    ZCDP
        The implied guarantee.

    Raises
    ------
    ValueError
        If the guarantee implies no zCDP; the message gives the reason.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP, to_zcdp
    >>> to_zcdp(PureDP(1.0)).rho
    0.5
    >>> round(to_zcdp(PureDP(1.0), "tight").rho, 4)
    0.4621
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
    advice = "" if isinstance(guarantee, ApproxTCDP) else "; see to_approx_zcdp"
    raise ValueError(f"{guarantee} implies no zCDP: with probability delta anything may happen{advice}")


def to_tcdp(guarantee: Guarantee, method: str = "paper") -> TCDP:
    """Return the (rho, omega)-tCDP that a guarantee implies.

    - (xi, rho)-zCDP implies (xi + rho, inf)-tCDP, because xi <= xi a for every order a.
    - (order, epsilon)-RDP implies (epsilon, order)-tCDP, because Renyi divergences increase with the order.
    - Other guarantees that imply zCDP are converted by `to_zcdp` first.

    Source: Bun et al. (2018), Definition 1 [BDRS18].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee to convert.
    method : str
        "paper" or "tight", as in `to_zcdp`.

    Returns
    -------
    TCDP
        The implied guarantee.

    Raises
    ------
    ValueError
        If the guarantee is (epsilon, delta)-DP or approximate zCDP with delta > 0.

    Examples
    --------
    >>> from tcdp_sim.privacy import RDP, to_tcdp
    >>> to_tcdp(RDP(10.0, 0.5))
    TCDP(rho=0.5, omega=10.0)
    """
    choice("method", method, METHODS)
    match guarantee if isinstance(guarantee, TCDP) else simplest(guarantee):
        case TCDP() as same:
            return same
        case RDP(order=order, epsilon=epsilon):
            return TCDP(max(epsilon, TINY), order)
        case ApproxDP() | ApproxZCDP() | ApproxTCDP():
            raise ValueError(f"{guarantee} implies no tCDP: with probability delta anything may happen")
        case simple:
            concentrated = to_zcdp(simple, method)
            return TCDP(concentrated.rho + concentrated.xi, inf)


def to_approx_zcdp(guarantee: Guarantee, method: str = "paper") -> ApproxZCDP:
    """Return the delta-approximate (xi, rho)-zCDP that a guarantee implies.

    The methods differ for PureDP and ApproxDP; PureDP has delta = 0:

    - "paper" gives xi = 0 and rho = epsilon^2 / 2.
    - "tight" gives xi = 0 and rho = epsilon tanh(epsilon / 2), since epsilon-DP holds given the events.
    - "lossless" gives xi = epsilon and rho = 0, which is equivalent to the given guarantee.

    Other guarantees that imply zCDP are converted by `to_zcdp`, with "tight" if the method is "lossless".

    Source: Bun and Steinke (2016), Lemma 37 [BS16].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee to convert.
    method : str
        "paper", "tight" or "lossless".

    Returns
    -------
    ApproxZCDP
        The implied guarantee.

    Raises
    ------
    ValueError
        If the guarantee is tCDP or RDP of bounded orders.

    Examples
    --------
    >>> from tcdp_sim.privacy import ApproxDP, to_approx_zcdp
    >>> to_approx_zcdp(ApproxDP(1.0, 1e-6))
    ApproxZCDP(delta=1e-06, rho=0.5, xi=0.0)
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
    """Return the zCDP of a mechanism that is (xi + sqrt(rho log(1/delta)), delta)-DP for EVERY delta > 0.

    The guarantee is (xi - rho/4 + 5 rho^(1/4), rho/4)-zCDP. A single pair (epsilon, delta) is not enough: it says no
    more than (epsilon, delta)-DP.

    Source: Bun and Steinke (2016), Lemma 22 [BS16].

    Parameters
    ----------
    xi : float
        Intercept of the family's epsilon, in nats, in [0, 1].
    rho : float
        Factor of log(1/delta) in the family's epsilon, in [0, 1].

    Returns
    -------
    ZCDP
        The implied guarantee.

    Examples
    --------
    >>> from tcdp_sim.privacy import zcdp_from_family
    >>> round(zcdp_from_family(0.0, 0.0016).xi, 4)
    0.9996
    """
    xi = scalar("xi", xi, 0, 1, closed=True, finite=False)
    rho = scalar("rho", rho, 0, 1, closed=True, finite=False)
    return ZCDP(max(0.25 * rho, TINY), xi - 0.25 * rho + 5 * rho**0.25)
