"""Sections 1 and 8: approximate zCDP, and the composition of (epsilon, delta)-DP through it."""

from collections.abc import Iterator
from itertools import pairwise, product
from math import exp, inf, log, pi, sqrt

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.finite_laws import delta, divergence, example, independent, repeated
from tcdp_sim.experiments.papers.zcdp.relation_to_dp import least_epsilon, spent
from tcdp_sim.noise import Gaussian, Laplace, TruncatedLaplace
from tcdp_sim.privacy import ZCDP, ApproxDP, ApproxZCDP, PureDP, approx_zcdp_delta, compose_advanced, compose_approx

ORDERS = (1.5, 4.0, 64.0)
DELTA = 1e-6


def events(p: Floats, q: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Return the parts of two laws in events E and E', as large as the profile at epsilon allows, within e^(±epsilon).

    Where one law is more than e^epsilon times the other, it is cut to that. Then the heavier part is lowered towards
    e^-epsilon times the other until both have the same mass. The mass that is cut off is at most the larger
    delta(epsilon).
    """
    grown = np.exp(epsilon)
    first, second = np.minimum(p, grown * q), np.minimum(q, grown * p)
    if first.sum() < second.sum():
        return first, _lowered(second, first, grown)
    return _lowered(first, second, grown), second


def _lowered(heavy: Floats, light: Floats, grown: float) -> Floats:
    excess = heavy.sum() - light.sum()
    room = heavy - light / grown
    return heavy - (excess / room.sum() if excess > 0 else 0.0) * room


def _pairs(budget: Budget) -> Iterator[tuple[str, Floats, Floats, float]]:
    """Yield finite laws with an epsilon at which delta is positive."""
    for index in range(budget.choose(4, 40)):
        p, q = (example(2 * index + i, 6) for i in (0, 1))
        for share in (0.2, 0.6):
            epsilon = share * float(np.abs(np.log(p / q)).max())
            yield f"laws {2 * index + 1} and {2 * index + 2}, ε = {epsilon:.4g}", p, q, epsilon


@claim("Z.D12 D36 P13 L37")
def to_approximate(budget: Budget) -> Points:
    """Build the events for any two laws. Given the events, ε-DP holds, and therefore ε²/2-zCDP."""
    for name, p, q, epsilon in _pairs(budget):
        first, second = events(p, q, epsilon)
        left_out = closed_form(float(1 - first.sum()), 1e-9)
        yield Point(f"what the events leave out, {name}", left_out, _larger(p, q, epsilon))
        given = first / first.sum(), second / second.sum()
        for a, b, way in ((*given, "forth"), (*given[::-1], "back")):
            yield Point(f"D_∞ {way}, {name}", divergence(a, b, inf), closed_form(epsilon))
            for order in ORDERS:
                most = closed_form(epsilon**2 * order / 2)
                yield Point(f"D_α {way}, α = {order:g}, {name}", divergence(a, b, order), most)


def _larger(p: Floats, q: Floats, epsilon: float) -> Bounds[float]:
    return max(delta(p, q, epsilon), delta(q, p, epsilon))


@claim("Z.8a")
def approximate_composition(budget: Budget) -> Points:
    """Compose two mechanisms, and postprocess by merging the first two outcomes of the first one."""
    pairs = list(_pairs(budget))
    for (name, p, q, epsilon), (_, r, s, other) in pairwise(pairs):
        first, second = events(p, q, epsilon), events(r, s, other)
        masses = [float(independent(first[i], second[i]).sum()) for i in (0, 1)]
        both = [independent(first[i], second[i]) / masses[i] for i in (0, 1)]
        promised = closed_form(1 - float(first[0].sum() * second[0].sum()), 1e-9)
        yield Point(f"1 - P[both events], {name} and the next", closed_form(1 - masses[0], 1e-9), promised)
        for order in ORDERS:
            most = closed_form((epsilon**2 + other**2) / 2 * order)
            yield Point(f"both, α = {order:g}, {name} and the next", divergence(both[0], both[1], order), most)
            merged = [np.append(part[0] + part[1], part[2:]) / part.sum() for part in first]
            kept = closed_form(epsilon**2 * order / 2)
            yield Point(f"postprocessed, α = {order:g}, {name}", divergence(merged[0], merged[1], order), kept)


@claim("Z.8a groups")
def approximate_groups(budget: Budget) -> Points:
    """Shift truncated Laplace noise by more than the width of its support. The shift is then visible in all outputs."""
    for epsilon, left_out in ((0.5, 1e-6), (1.0, 1e-3)):
        bound = float(np.log1p(np.expm1(epsilon) / (2 * left_out)) / epsilon)
        size = int(np.ceil(2 * bound))
        rho = 0.5 * (epsilon * size) ** 2
        far = rho + 2 * np.sqrt(rho * log(1 / left_out))
        promised = closed_form(approx_zcdp_delta(ApproxZCDP(left_out, rho), float(far)))
        seen = exact.hockey_stick(TruncatedLaplace(1 / epsilon, bound), size, float(far))
        yield Point(f"ε = {epsilon:g}, δ = {left_out:g}, k = {size}, at ε' = {far:.4g}", promised, seen)


@claim("Z.L38")
def sharper_conversion(budget: Budget) -> Points:
    """Reveal everything with probability δ, else answer by randomised response of ξ and Gaussian noise of ρ."""
    some = [(0.0, 0.1, 1.0), (0.0, 0.1, 0.1), (0.5, 2.0, 3.0), (0.5, 0.1, 3.5), (0.0, 1e4, 1e4)]
    more = [(0.0, 1e-3, 0.2), (1.0, 1.0, 2.0), (0.0, 10.0, 12.0), (0.0, 10.0, 40.0)]
    for (xi, rho, epsilon), told in product(budget.choose(some, [*some, *more]), (0.0, 1e-3)):
        left = told + (1 - told) * spent(xi, rho, epsilon)
        for place, term in enumerate(terms(ZCDP(rho, xi), epsilon), 1):
            where = f"ξ = {xi:g}, ρ = {rho:g}, ε = {epsilon:g}, δ = {told:g}, term {place}"
            yield Point(where, left, closed_form(told + (1 - told) * term))
    for xi in (0.2, 1.0):
        left = 1e-3 + (1 - 1e-3) * exact.hockey_stick(Laplace(1 / xi), 1.0, xi)
        yield Point(f"Laplace, ξ = {xi:g}, ρ = 0, δ = 0.001", left, constant(1e-3))
    for epsilon in (0.5, 1.0, 2.0):
        cell = budget.runs["privacy_loss"].cell(noise="gaussian", rho=0.1, epsilon=epsilon)
        right = closed_form(min(terms(ZCDP(0.1), epsilon)))
        yield Point(f"simulated, ρ = 0.1, ε = {epsilon:g}, δ = 0", cell.mean("hockey_stick"), right)


def terms(promised: ZCDP, epsilon: float) -> list[float]:
    """Return δ' of Lemma 38 with each of its four terms in turn, as they are printed."""
    rho, excess = promised.rho, epsilon - promised.xi - promised.rho
    share = 1 + excess / (2 * rho)
    printed = 1.0, np.sqrt(np.pi * rho), 1 / share, 2 / (share + np.sqrt(share**2 + 4 / (np.pi * rho)))
    return [float(np.exp(-(excess**2) / (4 * rho)) * term) for term in printed]


@claim("Z.L38 equivalence")
def equivalence(budget: Budget) -> Points:
    """Yield the probability outside the event that is cut away, against the larger δ of both directions."""
    for name, p, q, epsilon in _pairs(budget):
        first, _ = events(p, q, epsilon)
        yield Point(name, closed_form(float(1 - first.sum()), 1e-9), _larger(p, q, epsilon))


@claim("Z.1b")
def advanced_composition(budget: Budget) -> Points:
    """Answer k queries with Gaussian(10) noise, as one with Gaussian(10/√k). δ is divided in the best of five ways."""
    for releases in budget.choose((10, 1000), (10, 100, 1000, 10_000)):
        exactly = least_epsilon(Gaussian(10 / sqrt(releases)), DELTA)
        ways = [_advanced(releases, share) for share in (0.01, 0.1, 0.5, 0.9, 0.99)]
        yield Point(f"k = {releases}", 2 * exactly, closed_form(min(ways)))


def _advanced(releases: int, share: float) -> float:
    """Return the epsilon if that share of δ is kept for the composition, and the rest for the releases."""
    each = (1 - share) * DELTA / releases
    return compose_advanced(least_epsilon(Gaussian(10.0), each).upper, each, releases, share * DELTA).epsilon


@claim("Z.C39")
def sharper_composition(budget: Budget) -> Points:
    """Compose randomised responses that reveal everything with probability δ_i exactly, for both printed forms."""
    some = [((0.1, 100), (0.3, 10)), ((0.5, 20), (0.5, 1)), ((0.01, 1000), (1.0, 1)), ((0.1, 1), (0.01, 1))]
    for first, second in budget.choose(some, [*some, ((1.0, 5), (2.0, 2)), ((0.05, 300), (0.2, 40))]):
        norm = sqrt(first[1] * first[0] ** 2 + second[1] * second[0] ** 2)
        p, q = (independent(*pair) for pair in zip(repeated(*first), repeated(*second)))
        releases, most = first[1] + second[1], sqrt(pi / 2) * norm
        forms = [(f"λ = {size:g}", 2**0.5 * size * norm, most * exp(-(size**2))) for size in (0.0, 1.0, 3.0, 6.0)]
        slacks = [slack for slack in (1e-9, 0.1, most) if slack <= min(most, 1.0)]
        forms += [(f"δ' = {slack:.4g}", norm * sqrt(2 * log(most / slack)), slack) for slack in slacks]
        for (name, room, slack), leak in product(forms, (0.0, 1e-8)):
            told = 1 - (1 - leak) ** releases
            left = told + (1 - told) * delta(p, q, norm**2 / 2 + room)
            where = f"{first[1]} of ε = {first[0]:g}, {second[1]} of {second[0]:g}, {name}, δ_i = {leak:g}"
            yield Point(where, left, closed_form(slack + leak * releases))


@claim("Z.8b")
def first_term(budget: Budget) -> Points:
    """Compare twice the new first term with the old one, for each of k releases."""
    for epsilon in (1e-4, 0.01, 0.1, 1.0, 3.0):
        new, old = closed_form(epsilon**2, 1e-13), closed_form(epsilon * float(np.expm1(epsilon)), 1e-13)
        yield Point(f"ε = {epsilon:g}, for each of k", new, old)


@claim("Z.8b whole")
def both_terms(budget: Budget) -> Points:
    """Compare at the same δ throughout, without slacks above √(π/2)‖ε‖."""
    sizes = {10: (0.03, 0.3), 15: (0.78,), 1: (0.79,), 100: (2.0, 10.0), 6000: (0.78,), 10_000: (100.0,)}  # k -> ‖ε‖
    for releases, norm in ((releases, norm) for releases, norms in sizes.items() for norm in norms):
        epsilon, most = norm / releases**0.5, sqrt(pi / 2) * norm
        for slack, each in product((0.5, 0.99 * min(most, 0.5), 1e-5), (0.0, 1e-9)):
            if slack <= most:
                one = ApproxDP(epsilon, each) if each else PureDP(epsilon)
                new = closed_form(compose_approx(*[one] * releases, slack=slack).epsilon)
                old = closed_form(compose_advanced(epsilon, each, releases, slack).epsilon)
                yield Point(f"k = {releases}, ‖ε‖ = {norm:g}, δ' = {slack:.3g}, δ = {each:g}", new, old)
