"""Sections 1.2, 2 and 5: properties of Renyi divergences, and what follows for zCDP."""

from itertools import combinations
from math import inf

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.finite_laws import ORDERS, divergence, example, independent, randomised_response
from tcdp_sim.experiments.papers.zcdp.sides import plus, scaled

from tcdp_sim.arrays import Floats
from tcdp_sim.numerics import closed_form

OUTCOMES = 4
Joint = tuple[Floats, list[Floats]]  # the law of the first outcome, and those of the second given the first


@claim("Z.L7 L8")
def composition_and_postprocessing(budget: Budget) -> Points:
    """Randomised response twice, the second time chosen by the first answer; and one of four outcomes merged."""
    for epsilon in budget.choose((0.2, 1.0), (0.05, 0.2, 1.0, 3.0)):
        first, second = randomised_response(epsilon), randomised_response(2 * epsilon)
        rho = 2.5 * epsilon**2
        for order in (1.5, 4.0):
            adaptive = [_joint((laws[0], [laws[1], second[i]])) for i, laws in enumerate((first, first[::-1]))]
            yield Point(
                f"ε = {epsilon:g} and 2ε, α = {order:g}", divergence(*adaptive, order), closed_form(rho * order)
            )
            both = [independent(first[i], second[i]) for i in (0, 1)]
            kept = [np.array([law[0], law[1] + law[2], law[3]]) for law in both]
            where = f"ε = {epsilon:g} and 2ε, how many agree, α = {order:g}"
            yield Point(where, divergence(kept[0], kept[1], order), closed_form(rho * order))


@claim("Z.L15")
def properties(budget: Budget) -> Points:
    """On laws of four outcomes, at orders from 1 to infinity."""
    for index in range(budget.choose(3, 20)):
        p, q, r, s = (example(4 * index + i, OUTCOMES) for i in range(4))
        for order in ORDERS:
            name = f"laws {4 * index + 1} to {4 * index + 4}, α = {order:g}"
            yield from [*_composition(name, [p, q, r, s], order), *_mixtures(name, [p, q, r, s], order)]
            yield from _single(name, p, q, order)


def _composition(name: str, laws: list[Floats], order: float) -> list[Point]:
    """The second outcome's laws depend on the first, which is one of four."""
    p, q = laws[:2]
    conditional = [[example(7 * i + j + 40, 3) for i in range(OUTCOMES)] for j in (0, 1)]
    whole = divergence(_joint((p, conditional[0])), _joint((q, conditional[1])), order)
    parts = [divergence(a, b, order) for a, b in zip(*conditional)]
    marginal = divergence(p, q, order)
    least, most = (pick(parts, key=lambda part: part.estimate) for pick in (min, max))
    points = [Point(f"composition from below, {name}", plus(marginal, least), whole)]
    points.append(Point(f"composition from above, {name}", whole, plus(marginal, most)))
    product = divergence(independent(p, laws[2]), independent(q, laws[3]), order)
    total = plus(marginal, divergence(laws[2], laws[3], order))
    return [*points, Point(f"product, {name}", product, total), Point(f"product, other way, {name}", total, product)]


def _mixtures(name: str, laws: list[Floats], order: float) -> list[Point]:
    p, q, r, s = laws
    mixed = divergence(0.3 * p + 0.7 * r, 0.3 * q + 0.7 * s, order)
    first, second = divergence(p, q, order), divergence(r, s, order)
    points = [Point(f"quasi-convexity, {name}", mixed, max(first, second))]
    if order == 1:
        points.append(Point(f"convexity, {name}", mixed, plus(scaled(first, 0.3), scaled(second, 0.7))))
    return points


def _single(name: str, p: Floats, q: Floats, order: float) -> list[Point]:
    """Not negative; merging any two outcomes; a higher order."""
    whole = divergence(p, q, order)
    points = [Point(f"not negative, {name}", constant(0.0), whole)]
    for i, j in combinations(range(OUTCOMES), 2):
        merged = divergence(_merged(p, i, j), _merged(q, i, j), order)
        points.append(Point(f"outcomes {i + 1} and {j + 1} merged, {name}", merged, whole))
    if order < inf:
        points.append(Point(f"order doubled, {name}", whole, divergence(p, q, 2 * order)))
    return points


def _merged(law: Floats, i: int, j: int) -> Floats:
    return np.append(np.delete(law, [i, j]), law[i] + law[j])


def _joint(laws: Joint) -> Floats:
    """The law of both outcomes."""
    return np.concatenate([chance * law for chance, law in zip(*laws)])


@claim("Z.L26")
def triangle(budget: Budget) -> Points:
    """Finite laws, and Gaussians in a row, which attain it at k = (a + b)/b for distances a and b."""
    pairs = [(1.1, 2.0), (2.0, 1.5), (8.0, 3.0)]
    for index in range(budget.choose(12, 400)):
        p, q, r = (example(3 * index + i, 5) for i in range(3))
        for order, k in pairs:
            right = plus(
                scaled(divergence(p, r, (k * order - 1) / (k - 1)), k * order / (k * order - 1)),
                divergence(r, q, k * order),
            )
            where = f"laws {3 * index + 1} to {3 * index + 3}, α = {order:g}, k = {k:g}"
            yield Point(where, divergence(p, q, order), right)
    for a, b in ((1.0, 1.0), (1.0, 3.0)):
        for order, k in [*pairs, (2.0, (a + b) / b)]:
            right = k * order / (k - 1) * a * a / 2 + k * order * b * b / 2
            where = f"Gaussians {a:g} and {b:g} standard deviations apart, α = {order:g}, k = {k:.4g}"
            yield Point(where, closed_form(order * (a + b) ** 2 / 2), closed_form(right))
