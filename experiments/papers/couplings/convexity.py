"""Sections 2 and 3: differential privacy as a divergence, couplings, and advanced joint convexity."""

from fractions import Fraction
from itertools import pairwise
from math import log

from tcdp_sim.experiments.papers.couplings.finite_laws import (
    Law,
    as_side,
    hockey_stick,
    hockey_stick_over_events,
    laws,
    mixed,
)
from tcdp_sim.experiments.papers.couplings.transport import least_cost
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian

RATIOS = (Fraction(1), Fraction(3, 2), Fraction(4))
OUTPUTS = 4
ALL_LAWS = "any two laws on a space of outputs, ε ≥ 0"


def _pairs(budget: Budget, seed: int) -> list[tuple[str, Law, Law]]:
    some = laws(2 * budget.choose(5, 40), OUTPUTS, seed)
    return [(f"pair {i + 1}", some[2 * i], some[2 * i + 1]) for i in range(len(some) // 2)]


def _total_variation(p: Law, q: Law) -> Fraction:
    return sum((abs(x - y) for x, y in zip(p, q)), Fraction(0)) / 2


@claim("S.T1 + (i)–(iii)")
def dp_is_a_divergence(budget: Budget) -> Points:
    """All events of small spaces are gone through, in exact fractions."""
    for name, p, q in _pairs(budget, 1):
        for a in RATIOS:
            left, right = hockey_stick_over_events(p, q, a), hockey_stick(p, q, a)
            yield Point(f"{name}, e^ε = {a}", as_side(left), as_side(right))


@claim("S.T1 + (i)–(iii) (i)")
def total_variation_at_zero(budget: Budget) -> Points:
    """In exact fractions."""
    for name, p, q in _pairs(budget, 2):
        yield Point(name, as_side(hockey_stick(p, q, Fraction(1))), as_side(_total_variation(p, q)))


@claim("S.T1 + (i)–(iii) (ii)")
def divergence_falls(budget: Budget) -> Points:
    """In exact fractions."""
    for name, p, q in _pairs(budget, 3):
        for a, b in pairwise(RATIOS):
            left, right = hockey_stick(p, q, b), hockey_stick(p, q, a)
            if right:
                yield Point(f"{name}, e^ε = {b} after {a}", as_side(left), as_side(right))


@claim("S.T1 + (i)–(iii) (iii)")
def jointly_convex(budget: Budget) -> Points:
    """In exact fractions."""
    points, pairs, weights = [], _pairs(budget, 4), (Fraction(1, 3), Fraction(2, 3))
    for (name, *one), (other, *two) in pairwise(pairs):
        for a in RATIOS[:2]:
            left = hockey_stick(mixed(weights, (one[0], two[0])), mixed(weights, (one[1], two[1])), a)
            right = sum((w * hockey_stick(*pair, a) for w, pair in zip(weights, (one, two))), Fraction(0))
            points.append(Point(f"a third of {name} and two of {other}, e^ε = {a}", as_side(left), as_side(right)))
    return points


@claim("S.3a")
def maximal_coupling(budget: Budget) -> Points:
    """By linear programming over all couplings, certified by its dual."""
    different = [[Fraction(i != j) for j in range(OUTPUTS)] for i in range(OUTPUTS)]
    for name, p, q in _pairs(budget, 5):
        yield Point(name, least_cost(p, q, different), as_side(_total_variation(p, q)))


@claim("S.3a remainders")
def disjoint_remainders(budget: Budget) -> Points:
    """Laws have disjoint supports if and only if their distance is one."""
    for name, p, q in _pairs(budget, 6):
        if eta := _total_variation(p, q):
            left = _total_variation(*(_remainder(law, p, q, eta) for law in (p, q)))
            yield Point(f"{name}, η = {eta}", as_side(left), as_side(Fraction(1)))


def _remainder(law: Law, p: Law, q: Law, eta: Fraction) -> Law:
    return tuple((own - min(x, y)) / eta for own, x, y in zip(law, p, q))


@claim("S.T2 eq4 eq6")
def advanced_joint_convexity(budget: Budget) -> Points:
    """Triples of laws in exact fractions, and Gaussians by quadrature."""
    for name, shared, one, other, eta, a in _triples(budget, 7):
        outer, towards = _amplified(eta, a)
        left = hockey_stick(mixed((1 - eta, eta), (shared, one)), mixed((1 - eta, eta), (shared, other)), outer)
        right = eta * hockey_stick(one, mixed((1 - towards, towards), (shared, other)), a)
        yield Point(name, as_side(left), as_side(right))
    yield from [
        _gaussian_triple(eta, a) for eta, a in budget.choose([(0.1, 1.5)], [(0.1, 1.5), (0.5, 1.1), (0.9, 2.0)])
    ]


@claim("S.T2 eq4 eq6 bound")
def advanced_bound(budget: Budget) -> Points:
    """The same triples."""
    for name, shared, one, other, eta, a in _triples(budget, 8):
        outer, towards = _amplified(eta, a)
        left = hockey_stick(mixed((1 - eta, eta), (shared, one)), mixed((1 - eta, eta), (shared, other)), outer)
        right = eta * ((1 - towards) * hockey_stick(one, shared, a) + towards * hockey_stick(one, other, a))
        if right:
            yield Point(name, as_side(left), as_side(right))


def _triples(budget: Budget, seed: int) -> list[tuple[str, Law, Law, Law, Fraction, Fraction]]:
    count, triples = budget.choose(8, 100), []
    some, etas = laws(3 * count, OUTPUTS, seed), (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
    for i in range(count):
        shared, one, other = some[3 * i : 3 * i + 3]
        eta, a = etas[i % 3], RATIOS[i % 2]
        triples.append((f"triple {i + 1}, η = {eta}, e^ε = {a}", shared, one, other, eta, a))
    return triples


def _amplified(eta: Fraction, a: Fraction) -> tuple[Fraction, Fraction]:
    """(e^ε', β)."""
    outer = 1 + eta * (a - 1)
    return outer, outer / a


def _gaussian_triple(eta: float, a: float) -> Point:
    noise, outer = Gaussian(1.0), 1 + eta * (a - 1)
    one, other = (exact.Mixture(noise, (0.0, shift), (1 - eta, eta)) for shift in (1.0, -1.0))
    left = exact.hockey_stick_between(one, other, log(outer))
    towards = exact.Mixture(noise, (0.0, -1.0), (1 - outer / a, outer / a))
    right = exact.hockey_stick_between(exact.Mixture(noise, (1.0,)), towards, log(a))
    where = f"N(0, 1), N(1, 1), N(-1, 1), η = {eta:g}, e^ε = {a:g}"
    return Point(where, left, exact.Bounds(*(eta * end for end in right)))
