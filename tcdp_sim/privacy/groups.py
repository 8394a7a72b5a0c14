"""What a guarantee for one record promises to a group of records that change together. Nats, plain floats."""

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


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """The guarantee for any `size` >= 1 records changing together; a group of one keeps the guarantee as it is.

    PureDP: size epsilon. ApproxDP: (k e, delta (e^(k e) - 1)/(e^e - 1)), delta capped at 1 (Balle et al. 2018).
    ZCDP: (k H_k xi, k^2 rho) (Bun-Steinke 2016, Proposition 27); MeanConcentratedDP through `to_zcdp`, "tight".
    TCDP: (k^2 rho, omega / k) while omega / k > 1; beyond that RDP at the order of Proposition 9 of
    Bun-Dwork-Rothblum-Steinke 2018. RDP: the same proposition, whose proof uses the bound at one order only.
    Raises ValueError for ApproxZCDP with rho, delta > 0 (no group privacy is known) and where Proposition 9's order
    is 1 in double precision.
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
            return group(to_zcdp(mean, "tight"), size)
    raise ValueError(
        f"no group privacy is known for {guarantee} (Bun-Steinke 2016, Section 8); valid: convert it with to_approx_dp"
    )


def group_to_approx_dp(guarantee: TCDP, size: int, delta: float, method: str = "tight") -> ApproxDP:
    """(epsilon, delta)-DP for groups of `size` under (rho, omega)-tCDP, omega < inf; 0 < delta <= 1.

    method "paper": e^(k/(omega-1)) (omega^2 rho + log(1/delta)), Proposition 10 of Bun-Dwork-Rothblum-Steinke 2018;
    "tight", never larger: the same with what Proposition 9 says before it is simplified,
    (G^k - 1) ((omega - 1) omega rho + log(1/delta)) with G = omega / (omega - 1).
    From size = omega on `to_approx_dp(group(guarantee, size), delta)` is sharper still; below, either may be.
    Raises ValueError for other notions, omega = inf, values out of range, and where epsilon overflows.
    """
    choice("method", method, METHODS)
    if not isinstance(guarantee, TCDP) or guarantee.omega == inf:
        raise ValueError(f"Proposition 10 is not about guarantee = {guarantee!r}; valid: TCDP with omega < inf")
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
    """The answer in the notion that was asked about: simplest() may have renamed it."""
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
    """delta (1 + e^epsilon + ... + e^((size - 1) epsilon)), capped at 1."""
    if epsilon == 0:
        return min(size * delta, 1.0)
    log_ratio = (size - 1) * epsilon + log(-expm1(-size * epsilon)) - log(-expm1(-epsilon))
    return max(exp(min(log(delta) + log_ratio, 0.0)), TINY)


def _harmonic(size: int) -> float:
    """1 + 1/2 + ... + 1/size."""
    from scipy.special import digamma

    return float(digamma(float(size) + 1) - digamma(1.0))


def _growth(omega: float, size: int) -> float:
    """(omega / (omega - 1))^size - 1, inf where it overflows."""
    exponent = size * log1p(1 / (omega - 1))
    return expm1(exponent) if exponent < 709 else inf


def _exp(x: float) -> float:
    return exp(x) if x < 709 else inf


def _proposition_9(guarantee: Guarantee, order: float, epsilon: float, size: int) -> RDP:
    """D_a <= (G^k - 1)(order - 1) epsilon at a = 1 + 1/(G^k - 1), from D_order <= epsilon for one record."""
    growth = _growth(order, size)
    excess = (1 - 1e-13) / growth  # safely below: just above the order the divergence may be infinite
    reached = 1 + excess
    if reached - 1 > excess:
        reached = nextafter(reached, 1)
    if not reached > 1:
        raise ValueError(
            f"size = {size} is too large for {guarantee}: the order 1 + {1 / growth:.3g} of {_PROP_9} rounds to 1"
        )
    return RDP(reached, growth * (order - 1) * epsilon)
