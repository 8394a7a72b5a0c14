"""Section 5: randomised membership, whose privacy is exactly what the bounds say; and η, the chance of being drawn."""

from collections.abc import Iterable
from fractions import Fraction
from math import exp, expm1, log, log1p

from tcdp_sim.experiments.papers.couplings.finite_laws import as_side
from tcdp_sim.experiments.papers.couplings.schemes import (
    RATIOS,
    Setting,
    hybrid_setting,
    poisson_setting,
    with_replacement_setting,
    without_replacement_setting,
)
from tcdp_sim.experiments.papers.couplings.subsamples import Records, Sampling, membership, with_replacement
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import amplified_profile

SETTINGS = (poisson_setting(Fraction(1, 3)), without_replacement_setting(3, 2), with_replacement_setting(3, 2))
MORE_SETTINGS = (poisson_setting(Fraction(4, 5)), without_replacement_setting(4, 3), with_replacement_setting(3, 3))
KEEPS = (Fraction(3, 5), Fraction(9, 10))


@claim("S.T10 eq12 η")
def chance_of_being_drawn(budget: Budget) -> Points:
    """Yield η between 1 - e^(-m/n) and 1 - e^(-m/(n-1)): by counting for few records, and by log1p for many."""
    for n in (2, 3, 4, 5):
        for draws in budget.choose((1, 3), (1, 2, 3, 4)):
            eta = as_side(_distance(with_replacement(draws), tuple(range(n)), tuple(range(1, n + 1))))
            yield Point(f"counted, {draws} of {n}, from below", closed_form(-expm1(-draws / n), 1e-14), eta)
            yield Point(f"counted, {draws} of {n}, from above", eta, closed_form(-expm1(-draws / (n - 1)), 1e-14))
    for exponent in range(2, budget.choose(5, 8)):
        n = 10**exponent
        eta = closed_form(-expm1(0.1 * n * log1p(-1 / n)), 1e-14)
        yield Point(f"n = {n:g}, m = n/10, from below", closed_form(-expm1(-0.1), 1e-14), eta)
        yield Point(f"n = {n:g}, m = n/10, from above", eta, closed_form(-expm1(-0.1 * n / (n - 1)), 1e-14))


def _distance(sampling: Sampling, x: Records, y: Records) -> Fraction:
    """Return the total variation distance between the subsamples of two data sets."""
    one, other, zero = sampling(x), sampling(y), Fraction(0)
    return sum((abs(one.get(key, zero) - other.get(key, zero)) for key in {*one, *other}), zero) / 2


@claim("S.L12")
def largest_divergence(budget: Budget) -> Points:
    """Yield the largest divergence over all neighbours of small data sets; η is counted as a distance."""
    for setting in budget.choose(SETTINGS, SETTINGS + MORE_SETTINGS):
        eta = max(_distance(setting.sampling, x, y) for x, y in setting.pairs)
        for keep in KEEPS:
            for a in RATIOS:
                left = setting.attained(membership(setting.inputs, 0, keep), a)
                if right := eta * max(keep - a * (1 - keep), Fraction(0)):
                    yield Point(f"{setting.name}, p = {keep}, e^ε = {a}", as_side(left), as_side(right))


@claim("S.T13")
def attains_the_bounds(budget: Budget) -> Points:
    """Yield counts on small data sets, against Theorems 8 to 10 as the software has them."""
    return _attained(budget.choose(SETTINGS, SETTINGS + MORE_SETTINGS))


@claim("S.T11 eq13 attained")
def attains_the_hybrid_bound(budget: Budget) -> Points:
    """Yield the same for Theorem 11."""
    return _attained(hybrid_setting(*size) for size in budget.choose([(3, 2)], [(3, 2), (3, 3), (4, 2)]))


def _attained(settings: Iterable[Setting]) -> Points:
    for setting in settings:
        for keep in KEEPS:
            for a in RATIOS:
                if left := setting.attained(membership(setting.inputs, 0, keep), a):
                    right = closed_form(_promised(setting, float(keep), log(setting.outer(a))), 1e-12)
                    yield Point(f"{setting.name}, p = {keep}, e^ε = {a}", as_side(left), right)


def _promised(setting: Setting, keep: float, epsilon: float) -> float:
    """Return what the theorem says of randomised membership, whose profile is that of all groups."""

    def psi(epsilon: float) -> float:
        return max(keep - exp(epsilon) * (1 - keep), 0.0)

    records, draws = setting.size or (None, 0)
    fraction = draws / records if records else float(setting.chances[0])
    return amplified_profile(psi, fraction, setting.scheme, groups=lambda _, at: psi(at), records=records)(epsilon)
