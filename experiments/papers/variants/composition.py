"""Table 1: the cost of many releases, by sequential and advanced composition and by the moments accountant."""

from collections.abc import Iterator
from fractions import Fraction
from math import exp, expm1, hypot, log, log1p, sqrt

import numpy as np
from scipy.special import gammaln

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
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
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ZCDP, compose_advanced, to_approx_dp


@claim("V.T1 seq")
def sequential(budget: Budget) -> Points:
    """Yield pairs of releases. The second one may be chosen by the answer of the first one."""
    yield from [*_sequential_deltas(budget), *_sequential_orders(budget)]
    noise = Gaussian(1.0)
    for first, second in ((0.1, 0.1), (0.5, 0.01)):
        both = hypot(sqrt(2 * first), sqrt(2 * second))  # two Gaussians are one of the plane, by its distance
        left = pair_divergences.renyi(*pair_divergences.moved(noise, both), 4.0)
        yield Point(f"zCDP, ρ₁ = {first:g}, ρ₂ = {second:g}, α = 4", left, closed_form(4 * (first + second)))


def _sequential_deltas(budget: Budget) -> Iterator[Point]:
    """Yield the exact δ of the worst (ε, δ) pairs of laws, which are fractions."""
    for a, b in budget.choose([(2, 3)], [(2, 3), (1, 4), (5, 5)]):
        for delta in (Fraction(1, 10), Fraction(1, 1000)):
            first, second = canonical(Fraction(a), delta), canonical(Fraction(b), delta)
            swapped = second[1], second[0]
            pairs = {"the same second release": [second] * 4, "another one": [second, swapped, second, swapped]}
            for name, seconds in pairs.items():
                left = hockey_stick(*follow(first, seconds), Fraction(a * b))
                where = f"(log {a}, {float(delta):g})-DP and (log {b}, {float(delta):g})-DP, {name}"
                yield Point(where, as_side(left), as_side(2 * delta))


def _sequential_orders(budget: Budget) -> Iterator[Point]:
    first, second = canonical(Fraction(2), Fraction(0)), canonical(Fraction(3), Fraction(0))
    for order in budget.choose((2, 8), (2, 3, 8, 32)):
        right = closed_form(_divergence(first, order) + _divergence(second, order))
        for name, other in (("the same", second), ("at most", first)):
            left = _divergence(follow(first, [second, other] * 2), order)
            yield Point(f"Rényi DP, α = {order}, {name} ε₂", closed_form(left), right)


def _divergence(pair: tuple[Law, Law], order: int) -> float:
    return log(renyi_moment(*pair, order)) / (order - 1)


@claim("V.T1 adv")
def advanced(budget: Budget) -> Points:
    """Yield points at the edge of the domain, where the promise is 8 log(1/δ'), at a quarter, and at 1 at most."""
    for k in budget.choose((3, 1000), (3, 10, 100, 1000, 10_000)):
        for slack in budget.choose((1e-9, 1e-5, 0.5), (1e-9, 1e-5, 0.1, 0.5, 0.9)):
            edge = 8 * log(1 / slack)
            for total in (edge, edge / 4, min(1.0, edge / 8)):
                yield _short_form(k, total / (2 * sqrt(2 * k * log(1 / slack))), slack)
            yield _short_form(k, edge / (2 * sqrt(2 * k * log(1 / slack))), slack, told=1e-8)


@claim("V.T1 adv outside")
def advanced_outside(budget: Budget) -> Points:
    """Yield randomised responses, the worst of all ε-DP mechanisms, where the promise is above 8 log(1/δ')."""
    yield from [_short_form(*case) for case in ((1000, 0.5, 1e-5), (5000, 0.3, 1e-6), (10_000, 0.1214, 1e-5))]


def _short_form(k: int, epsilon: float, slack: float, told: float = 0.0) -> Point:
    """Return a point: k releases, each of which reveals everything with probability `told` (its δ)."""
    total = 2 * epsilon * sqrt(2 * k * log(1 / slack))
    some = closed_form(-expm1(k * log1p(-told)))  # the chance that one release at least tells everything
    left = some + (1 - some) * responses_delta(k, epsilon, total)
    where = f"k = {k}, ε = {epsilon:.4g}, δ' = {slack:g}, promised ε' = {total:.4g}"
    return Point(where + (f", δ = {told:g}" if told else ""), left, constant(k * told + slack))


@claim("V.T1 adv repaired")
def advanced_in_full(budget: Budget) -> Points:
    """Yield the points at which the short form fails, and others."""
    cases = [(1000, 0.5, 1e-5), (5000, 0.3, 1e-6), (100, 0.01, 1e-5), (1000, 0.01, 0.5)]
    for k, epsilon, slack in budget.choose(cases, [*cases, (10, 0.1, 0.1), (3, 1.0, 1e-3), (10_000, 1e-3, 0.9)]):
        left = responses_delta(k, epsilon, compose_advanced(epsilon, 0.0, k, slack).epsilon)
        yield Point(f"k = {k}, ε = {epsilon:g}, δ' = {slack:g}", left, constant(slack))


def responses_delta(k: int, epsilon: float, total: float) -> Bounds[float]:
    """Return δ at `total` (nats) of k randomised responses, each exactly epsilon-DP, for k up to 10^4.

    The loss is (2J - k) epsilon with J binomial. The sum has positive terms and is good to the rounding of log
    factorials.
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
    """Yield points at the edge of the domain, at a tenth and at a hundredth. δ and the promise depend on ε√k alone."""
    k = 10**10  # keeps ε below one
    for delta in budget.choose((1e-9, 1e-5, 0.5), (1e-100, 1e-9, 1e-5, 0.1, 0.5)):
        edge = 4 * log(1.25 / delta) * (4 * sqrt(2 * log(1 / delta)) - 1)
        yield from [_accounted(k, edge * share / sqrt(k), delta) for share in (1.0, 0.1, 0.01)]


@claim("V.T1 mom outside")
def moments_accountant_outside(budget: Budget) -> Points:
    """Yield points at which the promise is in the thousands."""
    yield from [_accounted(*case) for case in ((10**6, 0.9, 1e-5), (10**8, 0.9, 1e-2))]


def _accounted(k: int, epsilon: float, delta: float) -> Point:
    total = 4 * epsilon * sqrt(2 * k * log(1 / delta))
    return _gaussians(k, epsilon, delta, total, f", promised ε' = {total:.5g}")


@claim("V.T1 mom repaired")
def moments_by_zcdp(budget: Budget) -> Points:
    """Yield few and many releases, and the point at which the row fails first."""
    for k in budget.choose((1, 10**4, 10**6), (1, 100, 10**4, 10**6)):
        for epsilon in (0.01, 0.1, 0.9):
            for delta in (1e-10, 1e-5, 0.5):
                total = ZCDP(k / (2 * classical_scale(epsilon, delta) ** 2))
                yield _gaussians(k, epsilon, delta, to_approx_dp(total, delta, "paper").epsilon)


def _gaussians(k: int, epsilon: float, delta: float, total: float, about: str = "") -> Point:
    """Return a point: k Gaussians are exactly one, at √k times the distance."""
    left = exact.hockey_stick(Gaussian(classical_scale(epsilon, delta)), sqrt(k), total)
    return Point(f"k = {k:g}, ε = {epsilon:.4g}, δ = {delta:g}{about}", left, constant(delta))
