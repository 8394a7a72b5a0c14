"""Section 5: randomised membership, whose privacy is exactly what the bounds say."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log

from tcdp_sim.experiments.papers.couplings.finite_laws import as_side
from tcdp_sim.experiments.papers.couplings.schemes import (
    RATIOS,
    Setting,
    hybrid_setting,
    poisson_setting,
    with_replacement_setting,
    without_replacement_setting,
)
from tcdp_sim.experiments.papers.couplings.subsamples import Records, Sampling, membership
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import amplified_profile

SETTINGS = (poisson_setting(Fraction(1, 3)), without_replacement_setting(3, 2), with_replacement_setting(3, 2))
MORE_SETTINGS = (poisson_setting(Fraction(4, 5)), without_replacement_setting(4, 3), with_replacement_setting(3, 3))
KEEPS = (Fraction(3, 5), Fraction(9, 10))


@claim("S.L12")
def largest_divergence(budget: Budget) -> Points:
    """Over all neighbours of small data sets; η is the largest distance between their subsamples, by counting."""
    for setting in budget.choose(SETTINGS, SETTINGS + MORE_SETTINGS):
        eta = max(_distance(setting.sampling, x, y) for x, y in setting.pairs)
        for keep in KEEPS:
            for a in RATIOS:
                left = setting.attained(membership(setting.inputs, 0, keep), a)
                if right := eta * max(keep - a * (1 - keep), Fraction(0)):
                    where = f"{setting.name}, p = {keep}, e^ε = {a}"
                    yield Point(where, as_side(left), as_side(right))


def _distance(sampling: Sampling, x: Records, y: Records) -> Fraction:
    one, other = sampling(x), sampling(y)
    zero = Fraction(0)
    return sum((abs(one.get(key, zero) - other.get(key, zero)) for key in {*one, *other}), zero) / 2


@claim("S.T13")
def attains_the_bounds(budget: Budget) -> Points:
    """Counted on small data sets, against Theorems 8 to 10 as the software has them."""
    points = []
    for setting in budget.choose(SETTINGS, SETTINGS + MORE_SETTINGS):
        points += _attained(setting)
    return _of_attained(points, "Theorems 8 to 10, all n, m or γ, and all ε ≥ 0")


@claim("S.T11 eq13 attained")
def attains_the_hybrid_bound(budget: Budget) -> Points:
    """The paper says so of Theorems 8 to 10 alone."""
    points = []
    for size in budget.choose([(3, 2)], [(3, 2), (3, 3), (4, 2)]):
        points += _attained(hybrid_setting(*size))
    return _of_attained(points, "Theorem 11, all n and m, and all ε ≥ 0")


def _attained(setting: Setting) -> list[Point]:
    points = []
    for keep in KEEPS:
        mechanism, bound = membership(setting.inputs, 0, keep), _promised(setting, keep)
        for a in RATIOS:
            if left := setting.attained(mechanism, a):
                right = closed_form(bound(log(setting.outer(a))), 1e-12)
                points.append(Point(f"{setting.name}, p = {keep}, e^ε = {a}", as_side(left), right))
    return points


def _promised(setting: Setting, keep: Fraction) -> Callable[[float], float]:
    """What the theorem says of randomised membership, whose profile is that of all groups."""
    p = float(keep)

    def psi(epsilon: float) -> float:
        return max(p - exp(epsilon) * (1 - p), 0.0)

    records, draws = setting.size or (None, None)
    fraction = float(setting.chances[0]) if records is None else float(Fraction(draws or 0, records))
    how = setting.scheme
    return amplified_profile(psi, fraction, how, groups=lambda _, epsilon: psi(epsilon), records=records)


def _of_attained(points: list[Point], universe: str) -> Points:
    return points
