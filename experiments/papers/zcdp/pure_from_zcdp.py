"""Sections 1.2 and 7: pure DP mechanisms from zCDP ones, and the lemmas behind them.

The papers' proofs are in a full version. Here every step is derived, and its error is written down in a ledger in units
of α. M is the zCDP mechanism on n records, with mean error α. T is a set of answers q(x) as in Lemma 33 at distance 4α.

- packing: by Markov's inequality M determines the point of T with probability 1/2. Therefore log|T| ≤ 2B + 2 log 2 by
  Lemma 35, with B = ρn² + ξn(1 + log n).
- net: every q(x), x of n records, has a point of T within 4α.
- sample: n records drawn from n' have E|q(x̂) - q(x)| ≤ 2α + r √((ρ + ξ)/2). M(x̂) is α from q(x̂). M outputs the
  direction in which M(x̂) is farthest from q(x). In that direction a record's answer, which varies by r, has the mean
  of a fresh one up to r √(D_1/2) (Pinsker).
- choice: Lemma 34 on T.
"""

from collections.abc import Iterator
from math import ceil, e, inf, log

import numpy as np
from scipy.special import gammaln, lambertw

from tcdp_sim import exact
from tcdp_sim.core.numerics import closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

TEN = constant(10.0)


def sample_error(alpha: float, rho: float, xi: float, width: float) -> float:
    """Return a bound on the error of the answer on n records drawn from n', in units of α, with width = r."""
    return float(2 + width * np.sqrt((rho + xi) / 2) / alpha)


def choice_error(budget: float, records: float, alpha: float, epsilon: float, sensitivity: float) -> float:
    """Return the exponential mechanism's mean excess, in units of α.

    `budget` is B, and `sensitivity` is n' times that of q.
    """
    return float(2 * sensitivity * (2 * budget + 2 * np.log(2)) / (epsilon * records * alpha))


@claim("Z.T11")
def quadratic_blowup(budget: Budget) -> Points:
    """Follow the proof of Theorem 32 for queries in [0, 1]. As printed it needs 8n² at α = 1/n."""
    for alpha in (1e-2, 1e-3, 1e-4):
        for product in (1.0, 2.0, 10.0, 1e3):
            n, rho = product / alpha, alpha**2
            choice = choice_error(rho * n**2, 5 * n**2, alpha, alpha, 1.0)
            total = 4 + sample_error(alpha, rho, 0.0, 1.0) + choice
            yield Point(f"α = {alpha:g}, αn = {product:g}", closed_form(total), TEN)


def ledgers() -> Iterator[tuple[str, float, float]]:
    """Yield the place, the mean error of Theorem 32, and 4/(εn'), both errors in units of α.

    The queries are in the unit ball of a norm: they vary by 2, and by 2/n' with one record. ε is 1, because any other
    value cancels.
    """
    for alpha in (0.1, 1e-3):
        for n in (1.0, 10.0, 1e4):
            for xi, rho in ((alpha**2, alpha**2), (0.0, alpha**2), (alpha**2, 0.0)):
                cost = rho * n**2 + xi * n * (1 + np.log(n))
                records = 4 * (cost + 1) / alpha
                total = 4 + sample_error(alpha, rho, xi, 2.0) + choice_error(cost, records, alpha, 1.0, 2.0)
                yield f"α = {alpha:g}, n = {n:g}, ξ = {xi:g}, ρ = {rho:g}", total, 4 / (records * alpha)


@claim("Z.T32")
def any_norm(budget: Budget) -> Points:
    """Add up the parts of the theorem's error."""
    return [Point(where, closed_form(total, 1e-13), TEN) for where, total, _ in ledgers()]


@claim("Z.T32 tail")
def any_norm_tail(budget: Budget) -> Points:
    """Replace log|T| in the choice by log(|T|/β), by the tail bound of Lemma 34. The rest of the ledger is fixed."""
    for where, total, each in ledgers():
        for beta in (0.05, 1e-6):
            spare = each * log(1 / beta)
            yield Point(f"{where}, β = {beta:g}", closed_form(total + spare, 1e-13), closed_form(10 + spare, 1e-13))


@claim("Z.32r")
def quadratic_records(budget: Budget) -> Points:
    """Let ρ, ε and α fall with n, so that log log n would show."""
    for exponent in range(1, 10):
        n = 10.0**exponent
        rho, epsilon, alpha = n**-1.5, n**-0.25, n**-0.5
        left = closed_form(4 * (rho * n**2 + 1) / (epsilon * alpha))
        yield Point(f"n = 1e{exponent}", left, closed_form(n**2 * rho / (epsilon * alpha)), at=exponent)


@claim("Z.32r samples")
def samples(budget: Budget) -> Points:
    """Draw n records of a fair bit: by the union bound some sample is good for all k queries."""
    for digits in (1, 2, 4, 10, 30, 100, 300, 10_000, 1_000_000):
        for alpha in (0.05, 0.01):
            n = constant(float(records_to_sample(digits, alpha)))
            form = closed_form(digits * np.log(10) / alpha**2)
            yield Point(f"k = 1e{digits}, α = {alpha:g}", n, form, at=digits)


def records_to_sample(digits: int, alpha: float) -> int:
    """Return the least multiple of 50 from which on P[|mean of n fair bits - 1/2| > 2α] < 10^-digits, for k queries."""
    low, high = 0, ceil((digits + 1) * np.log(10) / (8 * alpha**2) / 50)  # Hoeffding's inequality holds at the latter
    while high - low > 1:
        middle = (low + high) // 2
        enough = log_two_tails(50 * middle, alpha) < -digits * np.log(10)
        low, high = (low, middle) if enough else (middle, high)
    return 50 * high


def log_two_tails(n: int, alpha: float) -> float:
    """Return log P[|mean of n fair bits - 1/2| > 2α] for n a multiple of 50, so that n(1/2 + 2α) is whole."""
    k = round(n * (0.5 + 2 * alpha)) + 1 + np.arange(2000.0)  # later terms are below e^-80 of the first
    k = k[k <= n]
    terms = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * np.log(2)
    return float(np.log(2) + np.logaddexp.reduce(terms)) if len(k) else -inf


@claim("Z.L34")
def exponential_mechanism(budget: Budget) -> Points:
    """Try one best answer, and all others equally short of it, at the distance that is worst."""
    for count in budget.choose((2.0, 1e3, 1e12), (2.0, 10.0, 1e3, 1e6, 1e12, 1e100)):
        for beta in (0.05, 1e-6):
            short = exact.required_gap("exponential_mechanism", 1.0, count, beta)
            most = closed_form(2 * np.log(count / beta))
            yield Point(f"T = {count:g}, exceeded with probability β = {beta:g}", short, most)
        mean = closed_form(2 * float(lambertw((count - 1) / e).real))
        yield Point(f"T = {count:g}, mean", mean, closed_form(2 * np.log(count)))


@claim("Z.L34 privacy")
def exponential_privacy(budget: Budget) -> Points:
    """Let one answer's score fall by Δ while those of the others, which are far better, rise."""
    for count in (2.0, 10.0, 1e6):
        for lag in (0.0, 5.0, 50.0):
            weight = np.log(count - 1) + lag
            loss = np.logaddexp(0.0, weight + 1) - np.logaddexp(0.0, weight)
            yield Point(f"ε = 1, T = {count:g}, {lag:g} log units behind", closed_form(loss), constant(1.0))


@claim("Z.L33")
def nets_that_are_packings(budget: Budget) -> Points:
    """Choose points of a cube one by one, in three metrics."""
    places = np.mod(np.arange(1, 81)[:, None] * np.sqrt([2.0, 3.0, 5.0]), 1.0)
    apart = places[:, None] - places
    metrics = {"largest coordinate": np.abs(apart).max(axis=2), "sum": np.abs(apart).sum(axis=2)}
    metrics["discrete"] = 1.0 - np.eye(len(places))
    for name, distances in metrics.items():
        for alpha in (0.05, 0.3, 0.9):
            chosen = greedy(distances, alpha)
            among = distances[np.ix_(chosen, chosen)] + np.where(np.eye(len(chosen)), np.inf, 0.0)
            where, limit = f"80 points, {name}, α = {alpha:g}", constant(alpha)
            farthest = float(distances[:, chosen].min(axis=1).max())
            yield Point(f"net: farthest point, {where}", constant(farthest), limit)
            if len(chosen) > 1:
                yield Point(f"packing: closest pair, {where}", limit, constant(float(among.min())))


def greedy(distances: np.ndarray, alpha: float) -> list[int]:
    """Return the points, in order, that are farther than alpha from all chosen before; `distances` has shape (n, n)."""
    chosen: list[int] = []
    for point in range(len(distances)):
        if all(distances[point, other] > alpha for other in chosen):
            chosen.append(point)
    return chosen
