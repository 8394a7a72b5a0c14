"""Sections 1.2 and 7: pure DP mechanisms from zCDP ones, and the lemmas behind them.

The papers' proofs are in a full version; here every step is derived, and its error written down in a ledger, in units
of α. M is the zCDP mechanism on n records, with mean error α; T a set of answers q(x) as in Lemma 33 at distance 4α.
packing: by Markov's inequality M tells the points of T with probability 1/2, so log|T| ≤ 2B + 2 log 2 by Lemma 35,
B = ρn² + ξn(1 + log n). net: every q(x), x of n records, has a point of T within 4α.
sample: n records drawn from n' have E|q(x̂) - q(x)| ≤ 2α + r √((ρ + ξ)/2): M(x̂) is α from q(x̂), and in the direction
in which M(x̂) is farthest from q(x), which M gives out, a record's answer, which varies by r, has the mean of a fresh
one up to r √(D_1/2) (Pinsker). choice: Lemma 34 on T.
"""

from math import e

import numpy as np
from scipy.special import lambertw
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.numerics import closed_form

TEN = constant(10.0)


def sample_error(alpha: float, rho: float, xi: float, width: float) -> float:
    """In units of α: how far the answer on n records drawn from n' may be from that on all of them; width: r."""
    return float(2 + width * np.sqrt((rho + xi) / 2) / alpha)


def choice_error(budget: float, records: float, alpha: float, epsilon: float, sensitivity: float) -> float:
    """In units of α: the mean excess of the exponential mechanism; budget: B, sensitivity: n' times that of q."""
    return float(2 * sensitivity * (2 * budget + 2 * np.log(2)) / (epsilon * records * alpha))


@claim("Z.T11")
def quadratic_blowup(budget: Budget) -> Points:
    """Not by Theorem 32 as printed, which takes 8n² at α = 1/n, but by its proof for queries in [0, 1]."""
    for alpha in (0.5, 0.05, 1e-3):
        for product in (1.0, 2.0, 10.0, 1e3):
            n, rho = product / alpha, alpha**2
            choice = choice_error(rho * n**2, 5 * n**2, alpha, alpha, 1.0)
            total = 4 + sample_error(alpha, rho, 0.0, 1.0) + choice
            yield Point(f"α = {alpha:g}, αn = {product:g}", closed_form(total), TEN)


@claim("Z.T32")
def any_norm(budget: Budget) -> Points:
    """Queries in the unit ball of a norm: they vary by 2, and by 2/n' with one record."""
    for alpha in (0.1, 1e-3):
        for n in (1.0, 10.0, 1e4):
            for xi, rho in ((alpha**2, alpha**2), (0.0, alpha**2), (alpha**2, 0.0)):
                cost = rho * n**2 + xi * n * (1 + np.log(n))
                records = 4 * (cost + 1) / alpha  # at ε = 1; any other one cancels
                total = 4 + sample_error(alpha, rho, xi, 2.0) + choice_error(cost, records, alpha, 1.0, 2.0)
                where = f"α = {alpha:g}, n = {n:g}, ξ = {xi:g}, ρ = {rho:g}"
                yield Point(where, closed_form(total, 1e-13), TEN)


@claim("Z.32r")
def quadratic_records(budget: Budget) -> Points:
    """n' of the theorem at constant ρ, ε and α; that any norm will do is in its ledger."""
    alpha, rho, epsilon = 0.1, 0.01, 1.0
    for exponent in range(1, 7):
        n = 10.0**exponent
        left = closed_form(4 * (rho * n**2 + 1) / (epsilon * alpha))
        yield Point(f"n = 1e{exponent}", left, closed_form(n**2), at=exponent)


@claim("Z.32r samples")
def samples(budget: Budget) -> Points:
    """n records drawn from n' are good for all k queries in [0, 1] if 2k exp(-2n(2α)²) < 1 (Hoeffding)."""
    for digits in (1, 2, 4, 10, 30, 100, 300):
        enough = closed_form((digits * np.log(10) + np.log(2)) / (8 * 0.05**2))
        yield Point(f"k = 1e{digits}", enough, closed_form(digits * np.log(10) / 0.05**2), at=digits)


@claim("Z.L34")
def exponential_mechanism(budget: Budget) -> Points:
    """One best answer and all others equally short of it, at the distance that is worst."""
    for count in budget.choose((2.0, 1e3, 1e12), (2.0, 10.0, 1e3, 1e6, 1e12, 1e100)):
        for beta in (0.05, 1e-6):
            short = exact.required_gap("exponential_mechanism", 1.0, count, beta)
            most = closed_form(2 * np.log(count / beta))
            yield Point(f"T = {count:g}, exceeded with probability β = {beta:g}", short, most)
        mean = closed_form(2 * float(lambertw((count - 1) / e).real))
        yield Point(f"T = {count:g}, mean", mean, closed_form(2 * np.log(count)))


@claim("Z.L34 privacy")
def exponential_privacy(budget: Budget) -> Points:
    """One answer's score falls by Δ while those of the others rise, all others being far better."""
    for count in (2.0, 10.0, 1e6):
        for lag in (0.0, 5.0, 50.0):
            weight = np.log(count - 1) + lag
            loss = np.logaddexp(0.0, weight + 1) - np.logaddexp(0.0, weight)
            yield Point(f"ε = 1, T = {count:g}, {lag:g} log units behind", closed_form(loss), constant(1.0))


@claim("Z.L33")
def nets_that_are_packings(budget: Budget) -> Points:
    """Points of a cube by three metrics, chosen one after the other."""
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
    """Points, in order, that are farther than alpha from all that were chosen before; distances: shape (n, n)."""
    chosen: list[int] = []
    for point in range(len(distances)):
        if all(distances[point, other] > alpha for other in chosen):
            chosen.append(point)
    return chosen
