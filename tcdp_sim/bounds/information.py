"""How much the output of a private mechanism can say about its n records, and how many records so much takes.

X: n records of any law, M(X): the output, I: mutual information in nats. Neighbours substitute one record. As KL
divergence is convex, I(X; M(X)) is at most the mean of D_1(M(x) || M(x')) over independent x, x', so at most the
largest D_1 that n substitutions can bring about: `information` bounds that, for every mechanism with a guarantee.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import choice, real, whole
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP
from tcdp_sim.privacy.definitions import simplest

METHODS = ("tight", "proposition_9", "paper")
HALVINGS = 80


def information(guarantee: Guarantee, n: ArrayLike, blocks: int = 1, method: str = "tight") -> Reals:
    """The most nats that the output of a mechanism with the guarantee can tell of its n records, whatever their law.

    n: records, whole numbers >= 0, scalar or array. blocks: the records are so many independent blocks of n / blocks
    records each (1: any law at all; n: independent records); the chain rule adds up the blocks (Bun-Steinke 2016,
    Theorem 30).
    PureDP: epsilon n tanh(epsilon n / 2), attained by randomised response (its KL divergence); "paper": epsilon n
    (McGregor et al. 2010). ZCDP: xi n H_n + rho n^2 with H_n = 1 + ... + 1/n (Bun-Steinke 2016, Propositions 27 and
    28); "paper" has 1 + log n for H_n.
    TCDP, G = omega / (omega - 1), m = the whole part of omega:
    - "tight" (derived here): rho n^2 up to n = m, beyond rho (G^(n-m) (m^2 + omega (omega-1)) - omega (omega-1)).
      Proof: by Donsker and Varadhan D_1(P || R) <= k/(k-1) D_1(P || Q) + D_k(Q || R) for k > 1, hence for c_n rho, the
      bound of n records, c_n = k/(k-1) c_(n-1) + k for any 1 < k <= omega, best at k = 1 + sqrt(c_(n-1)) = n, or at
      k = omega.
    - "proposition_9": rho n^2 below n = omega, from there on (G^n - 1) (omega - 1) omega rho
      (Bun-Dwork-Rothblum-Steinke 2018, Proposition 9, before it is simplified);
    - "paper": e^(n / (omega - 1)) omega^2 rho (their Theorem 26). Each is at least the one before.
    Infinite where it overflows. Raises ValueError for other guarantees: under (epsilon, delta)-DP there is no bound.
    """
    choice("method", method, METHODS)
    records = real("n", n, 0, closed=True)
    parts = whole("blocks", blocks, 1, 10**300)
    with np.errstate(all="ignore"):
        return parts * _bound(informative(guarantee), np.asarray(records) / parts, method)[()]


def least_records(guarantee: Guarantee, nats: ArrayLike, method: str = "tight") -> Reals:
    """The n below which `information` is less than `nats`: fewer records cannot tell so much. In records, real.

    nats: >= 0, scalar or array. The n of whole records is at least the next whole number. With
    nats = log(k / 4) / 2 this is the number of records that a histogram of k bins takes: by method "paper" Corollary 27
    of Bun-Dwork-Rothblum-Steinke 2018, by "proposition_9" its sharper form, which is never vacuous,
    max{log(1 + nats / (omega (omega-1) rho)) / log G, min(omega, sqrt(nats / rho))}.
    Guarantees, methods and errors as in `information`.
    """
    choice("method", method, METHODS)
    needed = np.asarray(real("nats", nats, 0, closed=True, finite=False))
    with np.errstate(all="ignore"):
        return _inverse(informative(guarantee), needed, method)[()]


def informative(guarantee: Guarantee) -> PureDP | ZCDP | TCDP:
    """The guarantee in its simplest notion, if that bounds mutual information; ValueError with the reason otherwise."""
    notion = simplest(guarantee)
    if isinstance(notion, ApproxDP):
        raise ValueError(
            f"no bound on mutual information is known for {notion}: with probability delta all records may be told; "
            "valid: PureDP, ZCDP, TCDP"
        )
    if not isinstance(notion, PureDP | ZCDP | TCDP):
        raise ValueError(f"no lower bound is known for {guarantee}; valid: PureDP, ZCDP, TCDP")
    return notion


def log_growth(omega: float) -> float:
    """log G, G = omega / (omega - 1): what one record more does to the bounds of tCDP beyond n = omega."""
    return float(-np.log1p(-1 / omega))


def harmonic_cost(n: Reals) -> Reals:
    """n H_n, H_n = 1 + 1/2 + ... + 1/n, continued to real n >= 0."""
    return n * (digamma(n + 1.0) + np.euler_gamma)


def smallest(f: Callable[[Reals], Reals], target: Reals, most: Reals) -> Reals:
    """The smallest n in [0, most] with f(n) >= target, for rising f, to 1e-16 of `most`, from below; vectorised."""
    low, high = np.zeros(np.shape(target)), np.broadcast_to(most, np.shape(target)).astype(float)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        enough = f(middle) >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return low


def _bound(notion: PureDP | ZCDP | TCDP, n: Reals, method: str) -> Reals:
    match notion:
        case PureDP(epsilon=epsilon):
            return epsilon * n * (1.0 if method == "paper" else np.tanh(0.5 * epsilon * n))
        case ZCDP(rho=rho, xi=xi):
            per_xi = n * (1 + np.log(np.maximum(n, 1))) if method == "paper" else harmonic_cost(n)
            return rho * n * n + (xi * per_xi if xi else 0.0)
        case TCDP(rho=rho, omega=omega):
            return rho * _per_rho(omega, n, method)


def _per_rho(omega: float, n: Reals, method: str) -> Reals:
    """Return what tCDP of rho = 1 allows n records, in nats; inf where that is no float."""
    omega = np.float64(omega)
    step, constant, m = log_growth(omega), omega * (omega - 1), np.floor(omega)
    if method == "paper":
        return np.exp(n / (omega - 1)) * omega**2
    if method == "proposition_9":
        return np.where(n < omega, n**2, constant * np.expm1(n * step))
    beyond = np.maximum(n - m, 0) * step
    return np.where(n <= m, n**2, m**2 * np.exp(beyond) + constant * np.expm1(beyond))


def _inverse(notion: PureDP | ZCDP | TCDP, nats: Reals, method: str) -> Reals:
    match notion:
        case PureDP(epsilon=0):
            return np.where(nats > 0, np.inf, 0.0)
        case PureDP(epsilon=epsilon):
            if method == "paper":
                return nats / epsilon
            most = 0.5 * (nats + np.sqrt(nats) * np.sqrt(nats + 8))  # as tanh(x) >= x / (1 + x)
            return smallest(lambda x: x * np.tanh(0.5 * x), nats, most) / epsilon
        case ZCDP(rho=rho, xi=0):
            return np.sqrt(nats) / np.sqrt(rho)
        case ZCDP(rho=rho, xi=xi):
            most = np.minimum(np.sqrt(nats) / np.sqrt(rho), np.maximum(1.0, nats / xi))  # as H_n >= 1
            return smallest(lambda n: _bound(notion, n, method), nats, most)
        case TCDP(rho=rho, omega=omega):
            return _least_for_tcdp(omega, np.sqrt(nats) / np.sqrt(rho), np.log(nats) - np.log(rho), method)


def _least_for_tcdp(omega: float, root: Reals, log_nats: Reals, method: str) -> Reals:
    """Return the inverse of `_per_rho` in n.

    root, log_nats: the square root and the log of the nats per rho, which itself may be no float.
    """
    step, log_omega, m = log_growth(omega), np.log(omega), np.floor(omega)
    if method == "paper":
        return (omega - 1) * np.maximum(log_nats - 2 * log_omega, 0)
    if method == "proposition_9":
        beyond = np.logaddexp(0, log_nats - log_omega - np.log(omega - 1)) / step
        return np.maximum(beyond, np.minimum(omega, root))
    log_scale = 2 * log_omega + np.log((m / omega) ** 2 + (omega - 1) / omega)  # of m^2 + omega (omega - 1)
    log_rest = log_nats + np.log1p(-np.exp(np.minimum(2 * np.log(m) - log_nats, 0))) - log_scale
    return np.where(root <= m, root, m + np.logaddexp(0, log_rest) / step)
