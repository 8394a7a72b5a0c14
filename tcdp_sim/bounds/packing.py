"""Packings: how many records it takes to tell k data sets apart, each of n records that differ from all others'.

Data sets x_1 .. x_k of n records, neighbours substitute one record; a mechanism whose output lies, on x_u, in the event
E_u with probability at least 1 - beta, the k events disjoint: n copies of a record u, and "u is told". Then on x_v the
other events have together at most beta, one of them, on average, q = beta / (k - 1); with p = 1 - beta the divergence
between two data sets of n records must reach that of coins with chances p and q. Since x^a y^(1-a) and x log(x / y) are
jointly convex, averaging over the pairs only helps the bound, at every order a (derived here; Fano's inequality is what
is left of order 1 if the mean over pairs is bounded by mutual information first).
"""

import numpy as np
from numpy.typing import ArrayLike

from tcdp_sim.bounds.information import harmonic_cost, informative, least_records, log_growth, smallest
from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.errors import real
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP
from tcdp_sim.privacy.definitions import simplest


def fano(k: ArrayLike, beta: float, printed: bool = False) -> Reals:
    """The nats that I(U; V) must have if V is U, uniform on k points, with probability at least 1 - beta.

    Exact Fano: log k - h(beta) - beta log(k - 1), h binary entropy; printed=True: (1 - beta) log k - log 2, which is
    less (Bun-Steinke 2016, Lemma 35; with beta = 1/2 the proof of Corollary 27 of Bun-Dwork-Rothblum-Steinke 2018).
    k: real, >= 1, up to 1e300; 0 < beta < 1. Zero where guessing is as good. Raises ValueError.
    """
    log_k = np.log(real("k", k, 1, closed=True))
    chance = real("beta", beta, 0, 1)
    if printed:
        return np.maximum((1 - chance) * log_k - np.log(2), 0.0)
    nats = log_k - entropy(chance) - chance * _log_others(log_k)
    return np.where(_guessed(log_k, chance), 0.0, np.maximum(nats, 0.0))[()]


def entropy(p: float) -> float:
    """The entropy of a coin with chance p, in nats; 0 < p < 1."""
    return float(-p * np.log(p) - (1 - p) * np.log1p(-p))


def told_apart(k: ArrayLike, beta: float) -> Reals:
    """The D_1 in nats that some pair of the k data sets must have: that of coins with chances p and q (module's head).

    At least `fano(k, beta)`, by about (1 - beta) log(1 / beta). Arguments as there.
    """
    return _kl(np.log(real("k", k, 1, closed=True)), real("beta", beta, 0, 1))[()]


def packing_records(guarantee: Guarantee, log_k: ArrayLike, beta: float) -> Reals:
    """The n below which no mechanism with the guarantee tells the k data sets apart with probability 1 - beta each.

    In records, real: whole records need the next whole number. log_k: >= 0, scalar or array, up to 1e300; 0 < beta
    < 1.
    With P = log(1/p), Q = log(1/q) (module's head) the largest of what these orders ask:
    PureDP, ApproxDP: log((p + s) / (q + s)) / epsilon, s = delta / (e^epsilon - 1), by group privacy of events.
    ZCDP: order 1, xi n H_n + rho n^2 >= kl(p, q); the best order, xi n H_n + (sqrt(P) + sqrt(rho) n)^2 >= Q.
    TCDP: order 1 (`information`); orders below omega / n, with (rho n^2, omega / n)-tCDP; the order of Proposition 9 of
    Bun-Dwork-Rothblum-Steinke 2018: n >= log((Q + C) / (P + C)) / log G, C = omega (omega - 1) rho.
    Zero where guessing is as good. Raises ValueError for other guarantees.
    """
    logs = np.asarray(real("log_k", log_k, 0, closed=True))
    chance = real("beta", beta, 0, 1)
    notion = simplest(guarantee)
    if isinstance(notion, ApproxDP):
        n = _by_events(notion.epsilon, notion.delta, logs, chance)
    else:
        with np.errstate(all="ignore"):
            n = _by_divergences(informative(guarantee), logs, chance)
    return np.where(_guessed(logs, chance), 0.0, np.maximum(n, 0.0))[()]


def _by_divergences(notion: PureDP | ZCDP | TCDP, log_k: Reals, beta: float) -> Reals:
    if isinstance(notion, PureDP):
        return _by_events(notion.epsilon, 0.0, log_k, beta)
    hit, miss = -np.log1p(-beta), _log_others(log_k) - np.log(beta)
    miss = np.maximum(miss, hit)
    first = least_records(notion, _kl(log_k, beta))
    other = _zcdp(notion, hit, miss) if isinstance(notion, ZCDP) else _tcdp(notion, hit, miss)
    return np.maximum(first, other)


def _zcdp(notion: ZCDP, hit: float, miss: Reals) -> Reals:
    """By the order a = 1 + t with the least P/t + rho n^2 t."""
    root = np.sqrt(notion.rho)
    most = (np.sqrt(miss) - np.sqrt(hit)) / root
    if notion.xi == 0:
        return most
    most = np.minimum(most, np.maximum(1.0, miss / notion.xi))  # as H_n >= 1
    return smallest(lambda n: (np.sqrt(hit) + root * n) ** 2 + notion.xi * harmonic_cost(n), miss, most)


def _tcdp(notion: TCDP, hit: float, miss: Reals) -> Reals:
    """By the best order below omega / n, for n below omega, and by that of Proposition 9.

    The best order of zCDP, if it may be used; else omega / n: rho n = Q / omega - P / (omega - n), a quadratic.
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


def _by_events(epsilon: float, delta: float, log_k: Reals, beta: float) -> Reals:
    """p <= e^(n epsilon) q + delta (e^(n epsilon) - 1) / (e^epsilon - 1), solved for n."""
    log_p, log_q = np.log1p(-beta), np.log(beta) - _log_others(log_k)
    with np.errstate(divide="ignore", over="ignore"):
        if epsilon == 0:
            return (np.exp(log_p) - np.exp(log_q)) / np.float64(delta)
        log_s = np.log(np.float64(delta)) - np.log(np.expm1(epsilon))
        return (np.logaddexp(log_p, log_s) - np.logaddexp(log_q, log_s)) / epsilon


def _kl(log_k: Reals, beta: float) -> Reals:
    """The KL divergence between coins with chances 1 - beta and beta / (k - 1); zero where the first is the less."""
    log_q = np.log(beta) - _log_others(log_k)
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = (1 - beta) * (np.log1p(-beta) - log_q) + beta * (np.log(beta) - np.log1p(-np.exp(log_q)))
    return np.where(_guessed(log_k, beta), 0.0, np.maximum(nats, 0.0))


def _guessed(log_k: Reals, beta: float) -> Reals:
    """Where 1 - beta <= 1 / k: a guess without any data is right often enough."""
    return np.log1p(-beta) <= -np.asarray(log_k)


def _log_others(log_k: Reals) -> Reals:
    """log(k - 1); -inf for k = 1."""
    with np.errstate(divide="ignore"):
        return log_k + np.log(-np.expm1(-np.asarray(log_k, dtype=np.float64)))
