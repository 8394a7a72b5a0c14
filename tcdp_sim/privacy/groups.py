"""Group privacy: the guarantee for several records that change together. All values are plain floats in nats."""

from math import exp, expm1, inf, log, log1p, nextafter

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.privacy.concentrated import to_zcdp
from tcdp_sim.privacy.definitions import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Guarantee,
    MeanConcentratedDP,
    PureDP,
    known,
    simplest,
    whole,
)
from tcdp_sim.privacy.renyi import TINY

METHODS = ("tight", "paper")
_PROP_9 = "Proposition 9 of Bun-Dwork-Rothblum-Steinke 2018"


def group_privacy(guarantee: Guarantee, size: int) -> Guarantee:
    """Return the guarantee for any `size` records that change together.

    With k = size, the notions give:

    - PureDP: k epsilon.
    - ApproxDP: k epsilon, and delta (e^(k epsilon) - 1) / (e^epsilon - 1), capped at 1.
    - ZCDP: k^2 rho and k H_k xi, where H_k = 1 + 1/2 + ... + 1/k.
    - MeanConcentratedDP: as the ZCDP that `to_zcdp` gives with method "tight".
    - TCDP: (k^2 rho, omega / k) while omega / k > 1. Beyond that it gives RDP at the order of Proposition 9.
    - RDP: Proposition 9, whose proof uses the bound at one order only.

    Source: Balle et al. (2018), group-privacy profiles [BBG18]; Bun and Steinke (2016), Proposition 27 [BS16]; Bun et
    al. (2018), Proposition 9 [BDRS18].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee for one record.
    size : int
        Number of records in the group, at least 1.

    Returns
    -------
    Guarantee
        The guarantee for the group. A group of one keeps the guarantee unchanged.

    Raises
    ------
    ValueError
        If no group privacy is known, which is so for ApproxZCDP with rho, delta > 0. Also if the order of Proposition 9
        is 1 in double precision.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP, group_privacy
    >>> group_privacy(TCDP(0.25, 20.0), 4)
    TCDP(rho=4.0, omega=5.0)
    """
    known(guarantee)
    size = whole("size", size)
    if size == 1:
        return guarantee
    match simplest(guarantee):
        case PureDP(epsilon=epsilon):
            return _like(guarantee, PureDP(size * epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(size * epsilon, _group_delta(epsilon, delta, size), "group privacy (Balle et al. 2018)")
        case ZCDP(rho=rho, xi=xi):
            return _like(guarantee, ZCDP(rho * size * size, size * _harmonic(size) * xi if xi else 0.0))
        case TCDP(rho=rho, omega=omega) if omega / size > 1:
            return TCDP(rho * size * size, omega / size)
        case TCDP(rho=rho, omega=omega):
            return _proposition_9(guarantee, omega, rho * omega, size)
        case RDP(order=order, epsilon=epsilon):
            return _proposition_9(guarantee, order, epsilon, size)
        case MeanConcentratedDP() as mean:
            return group_privacy(to_zcdp(mean, "tight"), size)
    raise ValueError(
        f"no group privacy is known for {guarantee} (Bun-Steinke 2016, Section 8); valid: convert it with to_approx_dp"
    )


def group_to_approx_dp(guarantee: TCDP, size: int, delta: float, method: str = "tight") -> ApproxDP:
    """Return the (epsilon, delta)-DP for groups of `size` records under (rho, omega)-tCDP.

    With k = size and G = omega / (omega - 1), the methods give these values of epsilon:

    - "paper": e^(k/(omega-1)) (omega^2 rho + log(1/delta)), by Proposition 10.
    - "tight": (G^k - 1) ((omega - 1) omega rho + log(1/delta)), which uses Proposition 9 before it is simplified. It is
      never larger.

    For size >= omega, `to_approx_dp` of the result of `group_privacy` is sharper still. For smaller groups either may
    be sharper.

    Source: Bun et al. (2018), Propositions 9 and 10 [BDRS18].

    Parameters
    ----------
    guarantee : TCDP
        The guarantee for one record, with omega < inf.
    size : int
        Number of records in the group, at least 1.
    delta : float
        Probability in (0, 1].
    method : str
        "tight" or "paper".

    Returns
    -------
    ApproxDP
        The guarantee for the group.

    Raises
    ------
    ValueError
        If an argument is outside its range, or epsilon overflows.

    Examples
    --------
    >>> from tcdp_sim.privacy import TCDP, group_to_approx_dp
    >>> round(group_to_approx_dp(TCDP(0.1, 20.0), 5, 1e-6).epsilon, 3)
    15.149
    """
    choice("method", method, METHODS)
    if not isinstance(guarantee, TCDP) or guarantee.omega == inf:
        raise ValueError(f"Proposition 10 does not apply to guarantee = {guarantee!r}; valid: TCDP with omega < inf")
    rho, omega, cost = guarantee.rho, guarantee.omega, -log(scalar("delta", delta, 0, 1, finite=False))
    k = whole("size", size)
    if method == "paper":
        epsilon = _exp(k / (omega - 1)) * (omega * omega * rho + cost)
    else:
        epsilon = _growth(omega, k) * ((omega - 1) * omega * rho + cost)
    if not epsilon < inf:
        raise ValueError(f"size = {size} is too large for {guarantee}: its epsilon by Proposition 10 is over 1e308")
    return ApproxDP(epsilon, delta, f"{method}: Bun-Dwork-Rothblum-Steinke 2018, Proposition 10")


def _like(guarantee: Guarantee, answer: Guarantee) -> Guarantee:
    """Return the answer in the notion of the given guarantee, because `simplest` may have changed the notion."""
    match guarantee, answer:
        case RDP(), PureDP(epsilon=epsilon):
            return RDP(inf, epsilon)
        case TCDP(), ZCDP(rho=rho):
            return TCDP(rho, inf)
        case ApproxZCDP(), PureDP(epsilon=epsilon):
            return ApproxZCDP(0.0, 0.0, epsilon)
        case ApproxZCDP(), ZCDP(rho=rho, xi=xi):
            return ApproxZCDP(0.0, rho, xi)
    return answer


def _group_delta(epsilon: float, delta: float, size: int) -> float:
    """Return delta (1 + e^epsilon + ... + e^((size - 1) epsilon)), capped at 1."""
    if epsilon == 0:
        return min(size * delta, 1.0)
    log_ratio = (size - 1) * epsilon + log(-expm1(-size * epsilon)) - log(-expm1(-epsilon))
    return max(exp(min(log(delta) + log_ratio, 0.0)), TINY)


def _harmonic(size: int) -> float:
    """Return the harmonic number 1 + 1/2 + ... + 1/size."""
    from scipy.special import digamma

    return float(digamma(float(size) + 1) - digamma(1.0))


def _growth(omega: float, size: int) -> float:
    """Return (omega / (omega - 1))^size - 1, or inf where it overflows."""
    exponent = size * log1p(1 / (omega - 1))
    return expm1(exponent) if exponent < 709 else inf


def _exp(x: float) -> float:
    return exp(x) if x < 709 else inf


def _proposition_9(guarantee: Guarantee, order: float, epsilon: float, size: int) -> RDP:
    """Return the RDP of a group, given D_order <= epsilon for one record.

    With G = order / (order - 1), it is D_a <= (G^k - 1) (order - 1) epsilon at a = 1 + 1/(G^k - 1).
    """
    growth = _growth(order, size)
    excess = (1 - 1e-13) / growth  # a margin, because just above the order the divergence may be infinite
    reached = 1 + excess
    if reached - 1 > excess:
        reached = nextafter(reached, 1)
    if not reached > 1:
        raise ValueError(
            f"size = {size} is too large for {guarantee}: the order 1 + {1 / growth:.3g} of {_PROP_9} rounds to 1"
        )
    return RDP(reached, growth * (order - 1) * epsilon)
