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
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.claims import Evidence, Growth, Kind, Point, Proof, Verdict, constant
from tcdp_sim.numerics import closed_form

TEN = constant(10.0)


def sample_error(alpha: float, rho: float, xi: float, width: float) -> float:
    """In units of α: how far the answer on n records drawn from n' may be from that on all of them; width: r."""
    return float(2 + width * np.sqrt((rho + xi) / 2) / alpha)


def choice_error(budget: float, records: float, alpha: float, epsilon: float, sensitivity: float) -> float:
    """In units of α: the mean excess of the exponential mechanism; budget: B, sensitivity: n' times that of q."""
    return float(2 * sensitivity * (2 * budget + 2 * np.log(2)) / (epsilon * records * alpha))


@claim("Z.T11", kind=Kind.INEQUALITY, section="1.2", expected=Verdict.HOLDS, erratum="E2, E36")
def quadratic_blowup(budget: Budget) -> Evidence:
    """Not by Theorem 32 as printed, which takes 8n² at α = 1/n, but by its proof for queries in [0, 1]."""
    points = []
    for alpha in (0.5, 0.05, 1e-3):
        for product in (1.0, 2.0, 10.0, 1e3):
            n, rho = product / alpha, alpha**2
            choice = choice_error(rho * n**2, 5 * n**2, alpha, alpha, 1.0)
            total = 4 + sample_error(alpha, rho, 0.0, 1.0) + choice
            points.append(Point(f"α = {alpha:g}, αn = {product:g}", closed_form(total), TEN))
    return Evidence(
        points,
        measures="net 4 + sample 2 + √½ + choice 0.8 (1 + log 2/(αn)²), the error in units of α, against 10",
        universe="ρ = α²-zCDP, ε = α ≥ 1/n, n' = 5n²; from α = 1/20 on the constant 1/2 would do",
        proof=Proof.SYMBOLIC,
        why="the ledger depends on αn ≥ 1 only and falls with it: at most 8.07",
    )


@claim("Z.T32", kind=Kind.INEQUALITY, section="7", expected=Verdict.HOLDS)
def any_norm(budget: Budget) -> Evidence:
    """Queries in the unit ball of a norm: they vary by 2, and by 2/n' with one record."""
    points = []
    for alpha in (0.1, 1e-3):
        for n in (1.0, 10.0, 1e4):
            for xi, rho in ((alpha**2, alpha**2), (0.0, alpha**2), (alpha**2, 0.0)):
                cost = rho * n**2 + xi * n * (1 + np.log(n))
                records = 4 * (cost + 1) / alpha  # at ε = 1; any other one cancels
                total = 4 + sample_error(alpha, rho, xi, 2.0) + choice_error(cost, records, alpha, 1.0, 2.0)
                where = f"α = {alpha:g}, n = {n:g}, ξ = {xi:g}, ρ = {rho:g}"
                points.append(Point(where, closed_form(total, 1e-13), TEN))
    return Evidence(
        points,
        measures="net 4 + sample 2 + √(2(ρ + ξ))/α + choice 2(B + log 2)/(B + 1), the error in units of α, against 10",
        universe="ξ, ρ ≤ α², any norm, n' as in the theorem; its tail follows with log(|T|/β) for log|T| in the choice",
        proof=Proof.SYMBOLIC,
        why="the sample takes at most 4, as ξ + ρ ≤ 2α², and the choice less than 2, as log 2 < 1",
    )


@claim("Z.32r", kind=Kind.ASYMPTOTIC, section="7", expected=Verdict.CONSISTENT)
def quadratic_records(budget: Budget) -> Evidence:
    """n' of the theorem at constant ρ, ε and α; that any norm will do is in its ledger."""
    points = []
    alpha, rho, epsilon = 0.1, 0.01, 1.0
    for exponent in range(1, 7):
        n = 10.0**exponent
        left = closed_form(4 * (rho * n**2 + 1) / (epsilon * alpha))
        points.append(Point(f"n = 1e{exponent}", left, closed_form(n**2), at=exponent))
    return Evidence(
        points,
        measures="n' over n², at ρ = 0.01, ε = 1, α = 0.1, ξ = 0",
        universe="constant ρ, ε and α, n → ∞",
        growth=Growth.AT_MOST,
    )


@claim(
    "Z.32r",
    part="samples",
    title="Condition (6) is met from n of the order log(k)/α² on",
    kind=Kind.ASYMPTOTIC,
    section="7",
    expected=Verdict.CONSISTENT,
)
def samples(budget: Budget) -> Evidence:
    """n records drawn from n' are good for all k queries in [0, 1] if 2k exp(-2n(2α)²) < 1 (Hoeffding)."""
    points = []
    for digits in (1, 2, 4, 10, 30, 100, 300):
        enough = closed_form((digits * np.log(10) + np.log(2)) / (8 * 0.05**2))
        points.append(Point(f"k = 1e{digits}", enough, closed_form(digits * np.log(10) / 0.05**2), at=digits))
    return Evidence(
        points,
        measures="the n from which on (6) is sure, over log(k)/α², α = 0.05",
        universe="k queries in [0, 1], the largest error",
        growth=Growth.AT_MOST,
    )


@claim("Z.L34", kind=Kind.INEQUALITY, section="7", expected=Verdict.HOLDS)
def exponential_mechanism(budget: Budget) -> Evidence:
    """One best answer and all others equally short of it, at the distance that is worst."""
    points = []
    for count in budget.choose((2.0, 1e3, 1e12), (2.0, 10.0, 1e3, 1e6, 1e12, 1e100)):
        for beta in (0.05, 1e-6):
            short = exact.required_gap("exponential_mechanism", 1.0, count, beta)
            most = closed_form(2 * np.log(count / beta))
            points.append(Point(f"T = {count:g}, exceeded with probability β = {beta:g}", short, most))
        mean = closed_form(2 * float(lambertw((count - 1) / e).real))
        points.append(Point(f"T = {count:g}, mean", mean, closed_form(2 * np.log(count))))
    return Evidence(
        points,
        measures="how far the answer's score is from the best, against 2 log(T/β), in the mean 2 log T (Δ/ε)",
        universe="any scores of sensitivity Δ, T answers, ε > 0",
        proof=Proof.SYMBOLIC,
        why="T answers that are c or more short have e^(-εc/2Δ) each at most; the mean is largest where all T - 1 tie",
    )


@claim(
    "Z.L34",
    part="privacy",
    title="The exponential mechanism is ε-DP",
    kind=Kind.INEQUALITY,
    section="7",
    expected=Verdict.HOLDS,
)
def exponential_privacy(budget: Budget) -> Evidence:
    """One answer's score falls by Δ while those of the others rise, all others being far better."""
    points = []
    for count in (2.0, 10.0, 1e6):
        for lag in (0.0, 5.0, 50.0):
            weight = np.log(count - 1) + lag
            loss = np.logaddexp(0.0, weight + 1) - np.logaddexp(0.0, weight)
            points.append(Point(f"ε = 1, T = {count:g}, {lag:g} log units behind", closed_form(loss), constant(1.0)))
    return Evidence(
        points,
        measures="log of the ratio of probabilities of one answer, against ε = 1 (nats)",
        universe="any scores of sensitivity Δ, T answers, ε > 0",
        tolerance=1e-9,
        proof=Proof.SYMBOLIC,
        why="every weight changes by a factor within e^(±ε/2), and so does their sum",
    )


@claim("Z.L33", kind=Kind.INEQUALITY, section="7", expected=Verdict.HOLDS)
def nets_that_are_packings(budget: Budget) -> Evidence:
    """Points of a cube by three metrics, chosen one after the other."""
    points = []
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
            points.append(Point(f"net: farthest point, {where}", constant(farthest), limit))
            if len(chosen) > 1:
                points.append(Point(f"packing: closest pair, {where}", limit, constant(float(among.min()))))
    return Evidence(
        points,
        measures="net: the largest distance to T, against α; packing: α, against the least distance within T",
        universe="any metric space, α > 0",
        proof=Proof.SYMBOLIC,
        why="take points that are farther than α from all that were taken: it stops at a net, or T is infinite",
    )


def greedy(distances: np.ndarray, alpha: float) -> list[int]:
    """Points, in order, that are farther than alpha from all that were chosen before; distances: shape (n, n)."""
    chosen: list[int] = []
    for point in range(len(distances)):
        if all(distances[point, other] > alpha for other in chosen):
            chosen.append(point)
    return chosen
