"""Packings: the number of records with which a mechanism can tell k data sets apart.

Let x_1, ..., x_k be data sets of n records; neighbours substitute one record. On x_u, the output of the mechanism lies
in the event E_u with probability at least p = 1 - beta, and the k events are disjoint. For example, x_u is n copies of
the record u. On x_v the other events together have probability at most beta, hence q = beta / (k - 1) on average. The
divergence between two data sets of n records must reach the divergence of two coins with probabilities p and q. The
functions x^a y^(1-a) and x log(x / y) are jointly convex, so averaging over the pairs only helps the bound, at every
order a (derived here). Fano's inequality is weaker: it bounds the mean over pairs by mutual information first, at order
1.
"""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.bounds.information import harmonic_cost, least_records, log_growth, smallest
from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee
from tcdp_sim.privacy.definitions import simplest


def fano(k: ArrayLike, failure: float, printed: bool = False) -> Reals:
    """Return the mutual information I(U; V) that is needed if V = U with probability at least 1 - failure.

    U is uniform on k points. With beta = failure, Fano's inequality gives log k - h(beta) - beta log(k - 1), where h is
    the binary entropy. The printed form (1 - beta) log k - log 2 is smaller.

    Source: Bun and Steinke (2016), Lemma 35 [BS16]; Bun et al. (2018), Corollary 27, proof (beta = 1/2) [BDRS18].

    Parameters
    ----------
    k : array_like
        Number of points, from 1 to 1e300; it need not be whole.
    failure : float
        Probability of V != U, in (0, 1).
    printed : bool
        True for the printed form.

    Returns
    -------
    float or array
        The information, in nats. It is 0 where guessing is as good.

    Examples
    --------
    >>> round(float(fano(1000, 0.05)), 4)
    6.3639
    """
    log_k = np.log(real("k", k, 1, closed=True))
    failure = real("failure", failure, 0, 1)
    if printed:
        return np.maximum((1 - failure) * log_k - np.log(2), 0.0)
    nats = log_k - entropy(failure) - failure * _log_others(log_k)
    return np.where(_guessed(log_k, failure), 0.0, np.maximum(nats, 0.0))[()]


def entropy(p: float) -> float:
    """Return the entropy of a coin with probability p, in nats; 0 < p < 1."""
    return float(-p * np.log(p) - (1 - p) * np.log1p(-p))


def packing_divergence(k: ArrayLike, failure: float) -> Reals:
    """Return the KL divergence that some pair of k data sets must have if a mechanism tells all of them apart.

    With beta = failure, it is the divergence of two coins with probabilities 1 - beta and beta / (k - 1). It exceeds
    `fano` by about (1 - beta) log(1 / beta).

    Source: Bun and Steinke (2016), Lemma 35 [BS16].

    Parameters
    ----------
    k : array_like
        Number of data sets, from 1 to 1e300; it need not be whole.
    failure : float
        Probability of failure on each data set, in (0, 1).

    Returns
    -------
    float or array
        The divergence, in nats. It is 0 where guessing is as good.

    Examples
    --------
    >>> round(float(packing_divergence(1000, 0.05)), 4)
    9.2088
    """
    return _kl(np.log(real("k", k, 1, closed=True)), real("failure", failure, 0, 1))[()]


def packing_records(guarantee: Guarantee, log_k: ArrayLike, failure: float) -> Reals:
    """Return the number n of records below which no mechanism with the guarantee tells k data sets apart.

    The mechanism must succeed on each of them with probability 1 - failure. The n is a real number, and whole records
    need the next whole number. It is 0 where guessing is as good. `log_k` is at least 0 and at most 1e300, and failure
    is in (0, 1). With P = log(1/p) and Q = log(1/q) as in the module's docstring, it is the largest of these:

    - PureDP and ApproxDP: log((p + s) / (q + s)) / epsilon with s = delta / (e^epsilon - 1), by group privacy of
      events.
    - ZCDP, order 1: the n with xi n H_n + rho n^2 = kl(p, q).
    - ZCDP, best order: the n with xi n H_n + (sqrt(P) + sqrt(rho) n)^2 = Q.
    - TCDP: order 1 (`information`), the orders below omega / n by (rho n^2, omega / n)-tCDP, and the order of
      Proposition 9 of Bun-Dwork-Rothblum-Steinke 2018 [BDRS18]: log((Q + C) / (P + C)) / log G with C = omega (omega
      - 1) rho.

    Raise ValueError for other guarantees.
    """
    logs = np.asarray(real("log_k", log_k, 0, closed=True))
    failure = real("failure", failure, 0, 1)
    notion = simplest(guarantee)
    with np.errstate(all="ignore"):
        if notion.epsilon_delta is not None:
            n = _by_events(*notion.epsilon_delta, logs, failure)
        elif isinstance(notion, ZCDP | TCDP):
            n = _by_divergences(notion, logs, failure)
        else:
            raise ValueError(f"no lower bound is known for {guarantee}; valid: PureDP, ApproxDP, ZCDP, TCDP")
    return np.where(_guessed(logs, failure), 0.0, np.maximum(n, 0.0))[()]


def _by_divergences(notion: ZCDP | TCDP, log_k: Reals, failure: float) -> Reals:
    hit, miss = -np.log1p(-failure), _log_others(log_k) - np.log(failure)
    miss = np.maximum(miss, hit)
    first = least_records(notion, _kl(log_k, failure))
    other = _zcdp(notion, hit, miss) if isinstance(notion, ZCDP) else _tcdp(notion, hit, miss)
    return np.maximum(first, other)


def _zcdp(notion: ZCDP, hit: float, miss: Reals) -> Reals:
    """Return the n by the best order a = 1 + t, which minimises P/t + rho n^2 t."""
    root = np.sqrt(notion.rho)
    most = (np.sqrt(miss) - np.sqrt(hit)) / root
    if notion.xi == 0:
        return most
    most = np.minimum(most, np.maximum(1.0, miss / notion.xi))  # since H_n >= 1
    return smallest(lambda n: (np.sqrt(hit) + root * n) ** 2 + notion.xi * harmonic_cost(n), miss, most)


def _tcdp(notion: TCDP, hit: float, miss: Reals) -> Reals:
    """Return the n by the best order below omega / n, for n below omega, and by the order of Proposition 9.

    The former is the best order of zCDP where it is allowed. Otherwise it is omega / n, and n solves the quadratic
    rho n = Q / omega - P / (omega - n).
    """
    rho, omega = notion.rho, notion.omega
    best = _zcdp(ZCDP(rho), hit, miss)
    order = 1 / np.maximum(1 - np.sqrt(hit / miss), 1e-300)
    total = rho * omega + miss / omega
    apart = np.hypot(rho * omega - miss / omega, 2 * np.sqrt(rho * hit))
    at_the_end = 2 * (miss - hit) / (total + apart)
    below = np.where(best * order <= omega, best, at_the_end)
    constant = np.float64(omega) * (omega - 1) * rho
    return np.maximum(below, np.log1p((miss - hit) / (hit + constant)) / log_growth(omega))


def _by_events(epsilon: float, delta: float, log_k: Reals, failure: float) -> Reals:
    """Return the n that solves p = e^(n epsilon) q + delta (e^(n epsilon) - 1) / (e^epsilon - 1)."""
    log_p, log_q = np.log1p(-failure), np.log(failure) - _log_others(log_k)
    with np.errstate(divide="ignore", over="ignore"):
        if epsilon == 0:
            return (np.exp(log_p) - np.exp(log_q)) / np.float64(delta)
        log_s = np.log(np.float64(delta)) - np.log(np.expm1(epsilon))
        return (np.logaddexp(log_p, log_s) - np.logaddexp(log_q, log_s)) / epsilon


def _kl(log_k: Reals, failure: float) -> Reals:
    """Return the KL divergence between coins with probabilities 1 - failure and failure / (k - 1).

    It is 0 where the first probability is the smaller one.
    """
    log_q = np.log(failure) - _log_others(log_k)
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = (1 - failure) * (np.log1p(-failure) - log_q) + failure * (np.log(failure) - np.log1p(-np.exp(log_q)))
    return np.where(_guessed(log_k, failure), 0.0, np.maximum(nats, 0.0))


def _guessed(log_k: Reals, failure: float) -> Reals:
    """Return True where 1 - failure <= 1 / k: a guess without data is right often enough."""
    return np.log1p(-failure) <= -np.asarray(log_k)


def _log_others(log_k: Reals) -> Reals:
    """Return log(k - 1), which is -inf for k = 1."""
    with np.errstate(divide="ignore"):
        return log_k + np.log(-np.expm1(-np.asarray(log_k, dtype=np.float64)))
