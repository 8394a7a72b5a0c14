"""Table 1: what many releases cost, by sequential and advanced composition and by the moments accountant."""

from fractions import Fraction
from math import exp, hypot, log, sqrt

import numpy as np
from scipy.special import gammaln
from tcdp_sim.experiments.papers.couplings.finite_laws import (
    Law,
    as_side,
    canonical,
    follow,
    hockey_stick,
    renyi_moment,
)
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.variants.gaussian_noise import classical_scale

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ZCDP, compose_advanced, to_approx_dp

SECTION = "Basic definitions"
RESPONSES = "exact δ of k randomised responses at the ε that is promised for all of them, against δ'"


@claim("V.T1 seq")
def sequential(budget: Budget) -> Points:
    """The second release is chosen by the answer of the first one; Gaussians show that zCDP's row is attained."""
    yield from _sequential_deltas(budget) + _sequential_orders(budget)
    for first, second in ((0.1, 0.1), (0.5, 0.01)):
        both = hypot(sqrt(2 * first), sqrt(2 * second))  # two Gaussians are one of the plane, by its distance
        noise = Gaussian(1.0)
        left = exact.renyi_divergence_between(exact.Mixture(noise), exact.Mixture(noise, (both,)), 4.0)
        yield Point(f"zCDP, ρ₁ = {first:g}, ρ₂ = {second:g}, α = 4", left, closed_form(4 * (first + second)))


def _sequential_deltas(budget: Budget) -> list[Point]:
    """The worst (ε, δ) laws, and laws of less ε with a smaller or larger δ, in exact fractions."""
    points = []
    ratios = budget.choose([(2, 3)], [(2, 3), (1, 4), (5, 5)])
    for a, b in ratios:
        for delta in (Fraction(1, 10), Fraction(1, 1000)):
            first, second = canonical(Fraction(a), delta), canonical(Fraction(b), delta)
            swapped = second[1], second[0]
            pairs = {"the same second release": [second] * 4, "another one": [second, swapped, second, swapped]}
            for name, seconds in pairs.items():
                both = follow(first, seconds)
                left = as_side(hockey_stick(*both, Fraction(a * b)))
                where = f"(log {a}, {float(delta):g})-DP and (log {b}, {float(delta):g})-DP, {name}"
                points.append(Point(where, left, as_side(2 * delta)))
    return points


def _sequential_orders(budget: Budget) -> list[Point]:
    first = canonical(Fraction(2), Fraction(0))
    others = [canonical(Fraction(3), Fraction(0)), canonical(Fraction(2), Fraction(0))]
    points = []
    for order in budget.choose((2, 8), (2, 3, 8, 32)):
        one, other = (_divergence(pair, order) for pair in (first, others[0]))
        for name, seconds in (("the same", [others[0]] * 2), ("at most", others)):
            left = _divergence(follow(first, [*seconds, *seconds]), order)
            where = f"Rényi DP, α = {order}, {name} ε₂"
            points.append(Point(where, closed_form(left), closed_form(one + other)))
    return points


def _divergence(pair: tuple[Law, Law], order: int) -> float:
    return log(renyi_moment(*pair, order)) / (order - 1)


@claim("V.T1 adv")
def advanced(budget: Budget) -> Points:
    """Randomised responses: the worst mechanism of all that are ε-DP."""
    cases = [(1000, 0.5, 1e-5), (5000, 0.3, 1e-6), (100, 0.01, 1e-5)]
    yield from [_short_form(*case) for case in budget.choose(cases, [*cases, (100, 2.0, 1e-6), (10, 0.1, 0.1)])]


@claim("V.T1 adv short")
def advanced_of_little_total(budget: Budget) -> Points:
    """At the largest total that is allowed, and at half of it."""
    for k in budget.choose((3, 1000), (1, 3, 10, 100, 1000, 10_000)):
        for slack in (1e-5, 0.1, 0.5):
            for total in (0.5, 1.0):
                yield _short_form(k, total / (2 * sqrt(2 * k * log(1 / slack))), slack)


@claim("V.T1 adv repaired")
def advanced_in_full(budget: Budget) -> Points:
    """Where the short form fails, and elsewhere."""
    cases = [(1000, 0.5, 1e-5), (5000, 0.3, 1e-6), (100, 0.01, 1e-5), (1000, 0.01, 0.5)]
    for k, epsilon, slack in budget.choose(cases, [*cases, (10, 0.1, 0.1), (3, 1.0, 1e-3), (10_000, 1e-3, 0.9)]):
        left = responses_delta(k, epsilon, compose_advanced(epsilon, 0.0, k, slack).epsilon)
        yield Point(f"k = {k}, ε = {epsilon:g}, δ' = {slack:g}", left, constant(slack))


def _short_form(k: int, epsilon: float, slack: float) -> Point:
    left = responses_delta(k, epsilon, 2 * epsilon * sqrt(2 * k * log(1 / slack)))
    return Point(f"k = {k}, ε = {epsilon:.4g}, δ' = {slack:g}", left, constant(slack))


def responses_delta(k: int, epsilon: float, total: float) -> Bounds[float]:
    """δ at `total` (nats) of k randomised responses, each exactly epsilon-DP; k up to 10^4.

    The loss is (2J - k) epsilon with J binomial: a sum of positive terms, good to the rounding of log factorials.
    """
    j = np.arange(k + 1.0)
    loss = (2 * j - k) * epsilon
    with np.errstate(under="ignore"):
        log_chance = (
            gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1) - (k - j) * epsilon - k * np.log1p(exp(-epsilon))
        )
        delta = float((np.exp(log_chance) * np.maximum(-np.expm1(np.minimum(total - loss, 0.0)), 0.0)).sum())
    return closed_form(delta, 1e-9)


@claim("V.T1 mom")
def moments_accountant(budget: Budget) -> Points:
    """Exactly: k Gaussians are one, at √k times the distance."""
    cases = [(10**6, 0.9, 1e-5), (100, 0.1, 1e-5), (10**4, 0.1, 1e-6)]
    points = []
    for k, epsilon, delta in budget.choose(cases, [*cases, (10**8, 0.9, 1e-2), (1, 0.9, 1e-5)]):
        points.append(_gaussians(k, epsilon, delta, 4 * epsilon * sqrt(2 * k * log(1 / delta))))
    return _of_moments(points)


@claim("V.T1 mom repaired")
def moments_by_zcdp(budget: Budget) -> Points:
    """Where the row fails, and elsewhere."""
    cases = [(10**6, 0.9, 1e-5), (100, 0.1, 1e-5)]
    points = []
    for k, epsilon, delta in budget.choose(cases, [*cases, (10**4, 0.1, 1e-6), (1, 0.9, 0.5)]):
        total = ZCDP(k / (2 * classical_scale(epsilon, delta) ** 2))
        points.append(_gaussians(k, epsilon, delta, to_approx_dp(total, delta, "paper").epsilon))
    return _of_moments(points)


def _gaussians(k: int, epsilon: float, delta: float, total: float) -> Point:
    left = exact.hockey_stick(Gaussian(classical_scale(epsilon, delta)), sqrt(k), total)
    return Point(f"k = {k:g}, ε = {epsilon:g}, δ = {delta:g}", left, constant(delta))


def _of_moments(points: list[Point]) -> Points:
    return points
