"""Bounds on the information that a private mechanism's output gives about its n records, and on the records it needs.

Let X be n records of any law, M(X) the output and I the mutual information in nats. Neighbours substitute one record.
The KL divergence is convex, so I(X; M(X)) is at most the mean of D_1(M(x) || M(x')) over independent x and x'. Hence it
is at most the largest D_1 that n substitutions can cause. `information` bounds that for every mechanism with a
guarantee.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import choice, real, whole
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee, PureDP
from tcdp_sim.privacy.definitions import simplest

METHODS = ("tight", "proposition_9", "paper")
HALVINGS = 80


def information(guarantee: Guarantee, n: ArrayLike, blocks: int = 1, method: str = "tight") -> Reals:
    """Return the most information that the output of a mechanism with a guarantee can give about its n records.

    The bound holds for every law of the records. For PureDP and ZCDP, with H_n = 1 + ... + 1/n:

    - PureDP, "tight": epsilon n tanh(epsilon n / 2), which randomised response attains (its KL divergence).
    - PureDP, "paper": epsilon n.
    - ZCDP, "tight": xi n H_n + rho n^2.
    - ZCDP, "paper": the same with 1 + log n for H_n.

    For TCDP, with G = omega / (omega - 1) and m the whole part of omega, each bound is at least the one before:

    - "tight" (derived here): rho n^2 up to n = m, and rho (G^(n-m) (m^2 + omega (omega-1)) - omega (omega-1)) beyond.
    - "proposition_9": rho n^2 below n = omega, and (G^n - 1) (omega - 1) omega rho from there on.
    - "paper": e^(n / (omega - 1)) omega^2 rho.

    Proof of "tight": by Donsker and Varadhan, D_1(P || R) <= k/(k-1) D_1(P || Q) + D_k(Q || R) for k > 1. Let c_n rho
    be the bound for n records. Then c_n = k/(k-1) c_(n-1) + k for any 1 < k <= omega. The best k is 1 + sqrt(c_(n-1)) =
    n, or omega.

    Source: Bun and Steinke (2016), Propositions 27 and 28 and Theorem 30 [BS16]; Bun et al. (2018), Proposition 9 and
    Theorem 26 [BDRS18]; McGregor et al. (2010) [MMPRTV10].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism: PureDP, ZCDP or TCDP.
    n : array_like
        Number of records, at least 0.
    blocks : int
        Number of independent blocks of n / blocks records each. 1 allows any law; n means independent records. The
        chain rule adds up the blocks.
    method : str
        "tight", "proposition_9" or "paper".

    Returns
    -------
    float or array
        The information, in nats. It is inf where it overflows.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the guarantee is another one. Under (epsilon, delta)-DP there is no
        bound.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> float(information(ZCDP(0.01), 5))
    0.25
    """
    choice("method", method, METHODS)
    records = real("n", n, 0, closed=True)
    parts = whole("blocks", blocks, 1, 10**300)
    with np.errstate(all="ignore"):
        return parts * _bound(informative(guarantee), np.asarray(records) / parts, method)[()]


def least_records(guarantee: Guarantee, nats: ArrayLike, method: str = "tight") -> Reals:
    """Return the number n of records below which `information` is less than `nats`.

    Fewer records cannot give that much information. With nats = log(k / 4) / 2 this is the number of records that a
    histogram of k bins needs. Then the method "paper" is Corollary 27 of Bun-Dwork-Rothblum-Steinke 2018 [BDRS18]. The
    method "proposition_9" is a sharper form, which is never vacuous: max{log(1 + nats / (omega (omega-1) rho)) / log G,
    min(omega, sqrt(nats / rho))}.

    Source: Bun et al. (2018), Proposition 9 and Corollary 27 [BDRS18].

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee of the mechanism: PureDP, ZCDP or TCDP.
    nats : array_like
        The information, in nats, at least 0.
    method : str
        "tight", "proposition_9" or "paper", as in `information`.

    Returns
    -------
    float or array
        The number of records as a real number. Whole records need at least the next whole number.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> round(float(least_records(ZCDP(0.01), 0.25)), 6)
    5.0
    """
    choice("method", method, METHODS)
    needed = np.asarray(real("nats", nats, 0, closed=True, finite=False))
    with np.errstate(all="ignore"):
        return _inverse(informative(guarantee), needed, method)[()]


def informative(guarantee: Guarantee) -> PureDP | ZCDP | TCDP:
    """Return the guarantee in its simplest notion.

    Raise ValueError with the reason if the guarantee does not bound mutual information.
    """
    notion = simplest(guarantee)
    if notion.is_approx:
        raise ValueError(
            f"no bound on mutual information is known for {notion}: with probability delta all records may leak; "
            "valid: PureDP, ZCDP, TCDP"
        )
    if not isinstance(notion, PureDP | ZCDP | TCDP):
        raise ValueError(f"no lower bound is known for {guarantee}; valid: PureDP, ZCDP, TCDP")
    return notion


def log_growth(omega: float) -> float:
    """Return log(omega / (omega - 1)), the growth of the bounds of tCDP per record beyond n = omega."""
    return float(-np.log1p(-1 / omega))


def harmonic_cost(n: Reals) -> Reals:
    """Return n H_n with H_n = 1 + 1/2 + ... + 1/n, continued to real n >= 0."""
    return n * (digamma(n + 1.0) + np.euler_gamma)


def smallest(f: Callable[[Reals], Reals], target: Reals, most: Reals) -> Reals:
    """Return the smallest n in [0, most] with f(n) >= target, for increasing f.

    The answer is accurate to 1e-16 of `most`, from below. Arrays are solved elementwise.
    """
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
    """Return the bound on information under tCDP with rho = 1 for n records, in nats; inf where it overflows."""
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
            most = 0.5 * (nats + np.sqrt(nats) * np.sqrt(nats + 8))  # since tanh(x) >= x / (1 + x)
            return smallest(lambda x: x * np.tanh(0.5 * x), nats, most) / epsilon
        case ZCDP(rho=rho, xi=0):
            return np.sqrt(nats) / np.sqrt(rho)
        case ZCDP(rho=rho, xi=xi):
            most = np.minimum(np.sqrt(nats) / np.sqrt(rho), np.maximum(1.0, nats / xi))  # since H_n >= 1
            return smallest(lambda n: _bound(notion, n, method), nats, most)
        case TCDP(rho=rho, omega=omega):
            return _least_for_tcdp(omega, np.sqrt(nats) / np.sqrt(rho), np.log(nats) - np.log(rho), method)


def _least_for_tcdp(omega: float, root: Reals, log_nats: Reals, method: str) -> Reals:
    """Return the inverse of `_per_rho` in n.

    The arguments are the square root and the log of the nats per rho, which may itself overflow.
    """
    step, log_omega, m = log_growth(omega), np.log(omega), np.floor(omega)
    if method == "paper":
        return (omega - 1) * np.maximum(log_nats - 2 * log_omega, 0)
    if method == "proposition_9":
        beyond = np.logaddexp(0, log_nats - log_omega - np.log(omega - 1)) / step
        return np.maximum(beyond, np.minimum(omega, root))
    # the log of m^2 + omega (omega - 1), which itself may overflow
    log_scale = 2 * log_omega + np.log((m / omega) ** 2 + (omega - 1) / omega)
    log_rest = log_nats + np.log1p(-np.exp(np.minimum(2 * np.log(m) - log_nats, 0))) - log_scale
    return np.where(root <= m, root, m + np.logaddexp(0, log_rest) / step)
