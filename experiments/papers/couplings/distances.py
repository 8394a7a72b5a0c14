"""Sections 3 and 4: couplings that keep distances, and the sampling that has none according to the paper."""

from fractions import Fraction
from math import inf

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.couplings.finite_laws import as_side, hockey_stick, laws, mixed, whole_numbers
from tcdp_sim.experiments.papers.couplings.subsamples import (
    Distance,
    Drawn,
    Records,
    add_remove,
    group_profile,
    membership,
    neighbours,
    poisson,
    sampled_profile,
    subsets,
    substitute,
    table,
)
from tcdp_sim.experiments.papers.couplings.transport import least_cost
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

RATIOS = (Fraction(1), Fraction(5, 4), Fraction(2))
RECORDS = subsets(3, range(4))  # the corners of a cube: their distance is by records added or removed
KEEP = Fraction(2, 3)
LESS_THAN_ALL = 0.99


@claim("S.T7 eq10 eq11 eq5")
def compatible_couplings(budget: Budget) -> Points:
    """Yield the best coupling by linear programming, with a certificate by its dual."""
    for i in range(budget.choose(8, 60)):
        near, far = _compatible(i)
        deltas = _rising(i)
        costs = [[deltas[int(add_remove(x, y))] for y in far] for x in near]
        right = sum((chance * deltas[_to_support(x, far)] for x, chance in near.items()), Fraction(0))
        left = least_cost(tuple(near.values()), tuple(far.values()), costs)
        yield Point(f"pair of laws {i + 1} on sets of three records", left, as_side(right))


@claim("S.T7 eq10 eq11 eq5 bound")
def coupling_bounds_divergence(budget: Budget) -> Points:
    """Yield the mechanism's own group profiles. Randomised membership attains the bound if the record reveals all."""
    for i in range(budget.choose(4, 30)):
        near, far = _compatible(i)
        for name, mechanism in (
            ("a table", table(RECORDS, 300 + i)),
            ("membership", membership(RECORDS, i % 3, RATIOS[2] / 3)),
        ):
            for a in RATIOS[:2]:
                p, q = (mixed(list(law.values()), [mechanism[y] for y in law]) for law in (near, far))
                left = hockey_stick(p, q, a)
                deltas = [Fraction(0), *(group_profile(mechanism, add_remove, k, a) for k in (1, 2, 3))]
                right = sum((chance * deltas[_to_support(x, far)] for x, chance in near.items()), Fraction(0))
                yield Point(f"pair of laws {i + 1}, {name}, e^ε = {a}", as_side(left), as_side(right))


def _compatible(i: int) -> tuple[Drawn, Drawn]:
    """Return laws ν and ν' on the cube's corners: each y of ν goes to the nearest corners that ν' has."""
    order = sorted(range(8), key=whole_numbers(8, 999, 20 + i).__getitem__)
    start, end = ([RECORDS[j] for j in part] for part in (order[:4], order[4 : 5 + i % 3]))
    near = dict(zip(start, laws(1, 4, 40 + i)[0]))
    far: dict[Records, Fraction] = {}
    shares = iter(whole_numbers(64, 9, 60 + i))
    for x, chance in near.items():
        closest = [y for y in end if add_remove(x, y) == min(add_remove(x, z) for z in end)]
        weights = [Fraction(1 + next(shares)) for _ in closest]
        for y, weight in zip(closest, weights):
            far[y] = far.get(y, Fraction(0)) + chance * weight / sum(weights)
    return {x: c for x, c in near.items() if c}, {y: c for y, c in far.items() if c}


def _to_support(x: Records, far: Drawn) -> int:
    return int(min(add_remove(x, y) for y in far))


def _rising(i: int) -> list[Fraction]:
    """Return δ_0 = 0 and δ_1 ≤ δ_2 ≤ δ_3 ≤ 1."""
    return [Fraction(0), *sorted(Fraction(1 + x, 100) for x in whole_numbers(3, 99, 80 + i))]


@claim("S.4a")
def no_compatible_couplings(budget: Budget) -> Points:
    """Yield the couplings for a base under add/remove. The method needs two pairs of laws: the worse one counts."""
    return _best_couplings(add_remove, budget)


@claim("S.4a under substitution")
def no_compatible_couplings_under_substitution(budget: Budget) -> Points:
    """Yield the couplings for a base under substitution, in the same way."""
    return _best_couplings(substitute, budget)


def _best_couplings(distance: Distance, budget: Budget) -> Points:
    third = Fraction(1, 3)
    for others, chance in budget.choose([(2, third)], [(1, third), (2, third), (3, Fraction(1, 2))]):
        drawn, none, other = _poisson_parts(others, chance)
        left = min(_at_nearest(drawn, far, distance) for far in (none, other))
        yield Point(f"n = {others + 1}, γ = {chance}", left, constant(LESS_THAN_ALL))


def _poisson_parts(others: int, chance: Fraction) -> tuple[Drawn, Drawn, Drawn]:
    """Return the laws of the subsample that has the record 0, that has neither, and that has 1 in its place."""
    rest = poisson(chance)(tuple(range(2, 2 + others)))
    return {(0, *y): c for y, c in rest.items()}, rest, {(1, *y): c for y, c in rest.items()}


def _at_nearest(near: Drawn, far: Drawn, distance: Distance) -> Bounds[float]:
    """Return the most that a coupling puts on pairs (y, y') with y' as near to y as any of the support."""
    costs = [[Fraction(not _nearest(x, y, far, distance)) for y in far] for x in near]
    return 1 - least_cost(tuple(near.values()), tuple(far.values()), costs)


def _nearest(x: Records, y: Records, far: Drawn, distance: Distance) -> bool:
    return distance(x, y) < inf and distance(x, y) == min(distance(x, z) for z in far)


@claim("S.4a bound")
def poisson_under_substitution(budget: Budget) -> Points:
    """Yield sets of two out of three records, with all their subsamples."""
    pairs = neighbours(subsets(3, [1, 2]), substitute)
    for chance in budget.choose((Fraction(1, 3),), (Fraction(1, 10), Fraction(1, 3), Fraction(4, 5))):
        tried = {f"mechanism {seed + 1}": table(RECORDS, 400 + seed) for seed in range(budget.choose(4, 100))}
        tried["randomised membership"] = membership(RECORDS, 0, KEEP)
        for name, mechanism in tried.items():
            for a in RATIOS[:2]:
                outer = 1 + chance * (a - 1)
                first, second = (group_profile(mechanism, add_remove, k, a) for k in (1, 2))
                left = sampled_profile(mechanism, poisson(chance), pairs, outer)
                right = chance * ((1 - outer / a) * first + outer / a * second)
                yield Point(f"γ = {chance}, {name}, e^ε = {a}", as_side(left), as_side(right))
