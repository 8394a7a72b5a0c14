"""Sections 2 and 3: differential privacy as a divergence, maximal couplings, and plain and advanced joint convexity."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import expm1, log, log1p

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.couplings.finite_laws import (
    Law,
    as_side,
    hockey_stick,
    hockey_stick_over_events,
    laws,
    mixed,
    total_variation,
)
from tcdp_sim.experiments.papers.couplings.transport import least_cost
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Laplace

RATIOS = (Fraction(1), Fraction(3, 2), Fraction(4))
OUTPUTS = 4
BEYOND = Fraction(10**6)  # above every finite ratio of two of the laws below
Triple = tuple[str, Law, Law, Law, Fraction, Fraction]  # name, μ0, μ1, μ1', η, e^ε


def _pairs(budget: Budget, seed: int) -> list[tuple[str, Law, Law]]:
    some = laws(2 * budget.choose(5, 40), OUTPUTS, seed)
    return [(f"pair {i + 1}", some[2 * i], some[2 * i + 1]) for i in range(len(some) // 2)]


@claim("S.T1 + (i)–(iii)")
def dp_is_a_divergence(budget: Budget) -> Points:
    """Yield the largest excess over all events of small spaces, in exact fractions."""
    for name, p, q in _pairs(budget, 1):
        for a in RATIOS:
            left, right = hockey_stick_over_events(p, q, a), hockey_stick(p, q, a)
            yield Point(f"{name}, e^ε = {a}", as_side(left), as_side(right))


@claim("S.T1 + (i)–(iii) (i)")
def below_total_variation(budget: Budget) -> Points:
    """Yield the divergence against the distance, and at ε = 0 the distance against the divergence as well."""
    for name, p, q in _pairs(budget, 2):
        distance = as_side(total_variation(p, q))
        for a in RATIOS:
            yield Point(f"{name}, e^ε = {a}", as_side(hockey_stick_over_events(p, q, a)), distance)
        yield Point(f"{name}, ε = 0, turned round", distance, as_side(hockey_stick_over_events(p, q, RATIOS[0])))


@claim("S.T1 + (i)–(iii) (ii)")
def divergence_falls(budget: Budget) -> Points:
    """Yield successive ε, in exact fractions."""
    for name, p, q in _pairs(budget, 3):
        for a, b in pairwise(RATIOS):
            left, right = hockey_stick(p, q, b), hockey_stick(p, q, a)
            if right:
                yield Point(f"{name}, e^ε = {b} after {a}", as_side(left), as_side(right))


@claim("S.T1 + (i)–(iii) (iii)")
def jointly_convex(budget: Budget) -> Points:
    """Yield mixtures of two pairs, in exact fractions."""
    weights = (Fraction(1, 3), Fraction(2, 3))
    for (name, p, q), (other, r, s) in pairwise(_pairs(budget, 4)):
        for a in RATIOS[:2]:
            left = hockey_stick(mixed(weights, (p, r)), mixed(weights, (q, s)), a)
            right = weights[0] * hockey_stick(p, q, a) + weights[1] * hockey_stick(r, s, a)
            yield Point(f"a third of {name} and two of {other}, e^ε = {a}", as_side(left), as_side(right))


@claim("S.T1 + (i)–(iii) (iv)")
def limit_of_the_divergence(budget: Budget) -> Points:
    """Yield an ε above every finite loss: with equal supports nothing is left, and else what the second law misses."""
    for name, p, q in _pairs(budget, 12):
        missed = sum((x for x, y in zip(p, q) if not y), Fraction(0))
        yield Point(f"{name}, e^ε = {BEYOND}", as_side(hockey_stick_over_events(p, q, BEYOND)), as_side(missed))


@claim("S.3a")
def maximal_coupling(budget: Budget) -> Points:
    """Yield minima over all couplings, by linear programming with a certificate by its dual."""
    different = [[Fraction(i != j) for j in range(OUTPUTS)] for i in range(OUTPUTS)]
    for name, p, q in _pairs(budget, 5):
        yield Point(name, least_cost(p, q, different), as_side(total_variation(p, q)))


@claim("S.3a remainders")
def disjoint_remainders(budget: Budget) -> Points:
    """Yield the distance of the remainders: laws have disjoint supports if and only if it is one."""
    for name, p, q in _pairs(budget, 6):
        if eta := total_variation(p, q):
            rests = (tuple((own - min(x, y)) / eta for own, x, y in zip(law, p, q)) for law in (p, q))
            yield Point(f"{name}, η = {eta}", as_side(total_variation(*rests)), as_side(Fraction(1)))


@claim("S.T2 eq4 eq6")
def advanced_joint_convexity(budget: Budget) -> Points:
    """Yield triples of laws in exact fractions, and Gaussians by quadrature."""
    for name, shared, one, other, eta, a in _triples(budget, 7):
        towards = _outer(eta, a) / a
        right = eta * hockey_stick(one, mixed((1 - towards, towards), (shared, other)), a)
        yield Point(name, _mixture(shared, one, other, eta, a), as_side(right))
    for share, ratio in budget.choose([(0.1, 1.5)], [(0.1, 1.5), (0.5, 1.1), (0.9, 2.0)]):
        yield _gaussian_triple(share, ratio)


@claim("S.T2 eq4 eq6 bound")
def advanced_bound(budget: Budget) -> Points:
    """Yield other triples in exact fractions."""
    for name, shared, one, other, eta, a in _triples(budget, 8):
        towards = _outer(eta, a) / a
        right = eta * ((1 - towards) * hockey_stick(one, shared, a) + towards * hockey_stick(one, other, a))
        if right:
            yield Point(name, _mixture(shared, one, other, eta, a), as_side(right))


def _triples(budget: Budget, seed: int) -> Iterator[Triple]:
    count, etas = budget.choose(8, 100), (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
    some = laws(3 * count, OUTPUTS, seed)
    for i in range(count):
        eta, a = etas[i % 3], RATIOS[i % 2]
        shared, one, other = some[3 * i : 3 * i + 3]
        yield f"triple {i + 1}, η = {eta}, e^ε = {a}", shared, one, other, eta, a


def _outer(eta: Fraction, a: Fraction) -> Fraction:
    """Return e^ε'."""
    return 1 + eta * (a - 1)


def _mixture(shared: Law, one: Law, other: Law, eta: Fraction, a: Fraction) -> Bounds[float]:
    """Return the divergence at ε' of (1 - η) shared + η one from (1 - η) shared + η other."""
    p, q = (mixed((1 - eta, eta), (shared, law)) for law in (one, other))
    return as_side(hockey_stick(p, q, _outer(eta, a)))


def _gaussian_triple(eta: float, a: float) -> Point:
    noise, outer = Gaussian(1.0), 1 + eta * (a - 1)
    one, other = (exact.Mixture(noise, (0.0, shift), (1 - eta, eta)) for shift in (1.0, -1.0))
    left = pair_divergences.delta(one, other, log(outer))
    towards = exact.Mixture(noise, (0.0, -1.0), (1 - outer / a, outer / a))
    right = pair_divergences.delta(exact.Mixture(noise, (1.0,)), towards, log(a))
    return Point(f"N(0, 1), N(1, 1), N(-1, 1), η = {eta:g}, e^ε = {a:g}", left, eta * right)


@claim("S.3b")
def plain_convexity(budget: Budget) -> Points:
    """Yield both bounds for sampled noise: one takes the profile at ε, the other at the smaller ε'."""
    for noise in (Gaussian(1.0), Laplace(1.0)):
        for eta in budget.choose((0.1,), (1e-3, 0.1, 0.5, 0.9)):
            for epsilon in budget.choose((0.2, 0.9), (0.2, 0.5, 0.9, 1.5, 3.0)):
                outer = log1p(eta * expm1(epsilon))
                left, right = (eta * exact.hockey_stick(noise, 1.0, at) for at in (epsilon, outer))
                if right.estimate > 0:
                    yield Point(f"{noise!r}, η = {eta:g}, ε = {epsilon:g}", left, right)


@claim("S.3b no smaller ε")
def no_amplified_epsilon(budget: Budget) -> Points:
    """Yield ε' < ε for Laplace noise, at which the plain bound is above 0 and the truth is 0."""
    for eta in budget.choose((0.1,), (1e-3, 0.1, 0.5)):
        own = log1p(eta * expm1(1.0))  # ε of the sampled noise
        for epsilon in (0.2 * own + 0.8, 0.6 * own + 0.4):
            left = pair_divergences.delta(*pair_divergences.sampled(Laplace(1.0), eta), epsilon)
            yield Point(f"η = {eta:g}, ε' = {epsilon:.4g}", left, eta * exact.hockey_stick(Laplace(1.0), 1.0, epsilon))
