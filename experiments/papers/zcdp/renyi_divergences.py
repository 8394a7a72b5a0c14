"""Sections 1.2, 2 and 5: properties of Renyi divergences, those of Gaussian noise, and their consequences for zCDP."""

from collections.abc import Iterator
from itertools import combinations
from math import inf

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.finite_laws import ORDERS, divergence, example, independent, randomised_response
from tcdp_sim.noise import Gaussian

OUTCOMES = 4
MAPPING = np.array([example(index, 3) for index in range(90, 90 + OUTCOMES)])  # outcome -> the law of its image
Joint = tuple[Floats, list[Floats]]  # the law of the first outcome, and those of the second given the first


def by_quadrature(scale: float, shift: float, order: float) -> Bounds[float]:
    """Return D_order, in nats, of Gaussian noise and itself shifted, without the closed form that the noise has."""
    noise = Gaussian(scale)
    return pair_divergences.renyi(*pair_divergences.moved(noise, shift), order)


@claim("Z.P6 L16 L17")
def gaussian_divergences(budget: Budget) -> Points:
    """Compare the quadrature with the closed form. The coordinates of a vector are independent, and add up."""
    for sigma, shift in budget.choose([(1.0, 1.0), (3.0, 0.5)], [(1.0, 1.0), (3.0, 0.5), (0.4, 1.0), (50.0, 2.0)]):
        for order in (1.0, 1.5, 2.0, 8.0, 32.0):
            right = closed_form(order * shift**2 / (2 * sigma**2))
            where = f"σ = {sigma:g}, |μ - ν| = {shift:g}, α = {order:g}"
            yield Point(where, by_quadrature(sigma, shift, order), right)
    for move in ((0.6, 0.8), (1 / 3, 2 / 3, 2 / 3)):
        for order in (1.0, 8.0):
            left = sum((by_quadrature(0.7, shift, order) for shift in move), constant(0.0))
            yield Point(
                f"d = {len(move)}, σ = 0.7, ‖μ - ν‖ = 1, α = {order:g}", left, closed_form(order / (2 * 0.7**2))
            )


@claim("Z.L7 L8")
def composition_and_postprocessing(budget: Budget) -> Points:
    """Try randomised response twice, and two Gaussians: their joint move by (0.6, 0.8) is, turned, one move by 1."""
    for epsilon in budget.choose((0.2, 1.0), (0.05, 0.2, 1.0, 3.0)):
        first, second = randomised_response(epsilon), randomised_response(2 * epsilon)
        both = [independent(first[i], second[i]) for i in (0, 1)]
        adaptive = [_joint((laws[0], [laws[1], second[i]])) for i, laws in enumerate((first, first[::-1]))]
        counted = [np.array([law[0], law[1] + law[2], law[3]]) for law in both]
        tried = {"independent": both, "the second chosen by the first": adaptive, "how many agree": counted}
        for (name, laws), order in ((case, order) for case in tried.items() for order in (1.5, 4.0)):
            most = closed_form(2.5 * epsilon**2 * order)
            yield Point(f"ε = {epsilon:g} and 2ε, {name}, α = {order:g}", divergence(laws[0], laws[1], order), most)
    for order in (1.5, 8.0):
        left = by_quadrature(1.0, 1.0, order)
        yield Point(f"Gaussians of ρ = 0.18 and 0.32, α = {order:g}", left, closed_form((0.18 + 0.32) * order))


@claim("Z.L15")
def properties(budget: Budget) -> Points:
    """Try all properties on laws of four outcomes, at orders from 1 to infinity."""
    for index in range(budget.choose(3, 20)):
        laws = [example(4 * index + i, OUTCOMES) for i in range(4)]
        for order in ORDERS:
            name = f"laws {4 * index + 1} to {4 * index + 4}, α = {order:g}"
            yield from _composition(name, laws, order)
            yield from _mixtures(name, laws, order)
            yield from _single(name, laws[0], laws[1], order)


def _composition(name: str, laws: list[Floats], order: float) -> Iterator[Point]:
    """Compose two outcomes. The first one has four values, and the second one's laws depend on it."""
    p, q = laws[:2]
    conditional = [[example(7 * i + j + 40, 3) for i in range(OUTCOMES)] for j in (0, 1)]
    whole = divergence(_joint((p, conditional[0])), _joint((q, conditional[1])), order)
    parts = [divergence(a, b, order) for a, b in zip(*conditional)]
    marginal = divergence(p, q, order)
    yield Point(f"composition from below, {name}", marginal + min(parts), whole)
    yield Point(f"composition from above, {name}", whole, marginal + max(parts))
    product = divergence(independent(p, laws[2]), independent(q, laws[3]), order)
    total = marginal + divergence(laws[2], laws[3], order)
    yield Point(f"product, {name}", product, total)
    yield Point(f"product, other way, {name}", total, product)


def _mixtures(name: str, laws: list[Floats], order: float) -> Iterator[Point]:
    p, q, r, s = laws
    mixed = divergence(0.3 * p + 0.7 * r, 0.3 * q + 0.7 * s, order)
    first, second = divergence(p, q, order), divergence(r, s, order)
    yield Point(f"quasi-convexity, {name}", mixed, max(first, second))
    if order == 1:
        yield Point(f"convexity, {name}", mixed, 0.3 * first + 0.7 * second)


def _single(name: str, p: Floats, q: Floats, order: float) -> Iterator[Point]:
    whole = divergence(p, q, order)
    yield Point(f"positive by Pinsker's inequality, {name}", closed_form(0.5 * float(np.abs(p - q).sum()) ** 2), whole)
    yield Point(f"randomised mapping, {name}", divergence(p @ MAPPING, q @ MAPPING, order), whole)
    for i, j in combinations(range(OUTCOMES), 2):
        merged = divergence(_merged(p, i, j), _merged(q, i, j), order)
        yield Point(f"outcomes {i + 1} and {j + 1} merged, {name}", merged, whole)
    if order < inf:
        yield Point(f"order doubled, {name}", whole, divergence(p, q, 2 * order))


def _merged(law: Floats, i: int, j: int) -> Floats:
    return np.append(np.delete(law, [i, j]), law[i] + law[j])


def _joint(laws: Joint) -> Floats:
    """Return the law of both outcomes."""
    return np.concatenate([chance * law for chance, law in zip(*laws)])


@claim("Z.L15 equality")
def none_from_itself(budget: Budget) -> Points:
    """Compare a law with itself. One nat is added to both sides, so that their distance is relative to it."""
    for index in range(4):
        law = example(index, OUTCOMES)
        for order in ORDERS:
            yield Point(f"law {index + 1}, α = {order:g}", 1 + divergence(law, law, order), constant(1.0))


@claim("Z.L26")
def triangle(budget: Budget) -> Points:
    """Try finite laws, and Gaussians in a row, which attain it at k = (a + b)/b for distances a and b."""
    pairs = [(1.1, 2.0), (2.0, 1.5), (8.0, 3.0)]
    for index in range(budget.choose(12, 400)):
        p, q, r = (example(3 * index + i, 5) for i in range(3))
        for order, k in pairs:
            far = k * order / (k * order - 1) * divergence(p, r, (k * order - 1) / (k - 1))
            where = f"laws {3 * index + 1} to {3 * index + 3}, α = {order:g}, k = {k:g}"
            yield Point(where, divergence(p, q, order), far + divergence(r, q, k * order))
    for a, b in ((1.0, 1.0), (1.0, 3.0)):
        for order, k in [*pairs, (2.0, (a + b) / b)]:
            right = k * order / (k - 1) * a * a / 2 + k * order * b * b / 2
            where = f"Gaussians {a:g} and {b:g} standard deviations apart, α = {order:g}, k = {k:.4g}"
            yield Point(where, closed_form(order * (a + b) ** 2 / 2), closed_form(right))
