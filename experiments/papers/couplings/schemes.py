"""Sections 4 and 5: the profile of a sampled mechanism, from all subsamples of small data sets in exact fractions.

Mechanisms are tables from a list, and randomised membership, which attains the bounds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, expm1, log, log1p

from tcdp_sim.core.numerics import closed_form
from tcdp_sim.experiments.papers.couplings.finite_laws import as_side
from tcdp_sim.experiments.papers.couplings.subsamples import (
    Distance,
    Mechanism,
    Neighbours,
    Records,
    Sampling,
    add_remove,
    group_profile,
    membership,
    multisets,
    neighbours,
    poisson,
    sampled_profile,
    subsets,
    substitute,
    table,
    with_replacement,
    without_replacement,
)
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.privacy import amplified_profile

RATIOS = (Fraction(1), Fraction(5, 4), Fraction(2))
KEEP = Fraction(3, 4)


@dataclass(frozen=True)
class Setting:
    """A sampling scheme on small data sets.

    - `scheme`: name of the scheme in `privacy.SCHEMES`.
    - `size`: (records, draws), or () under Poisson sampling.
    - `sampling`: law of the subsample of a data set.
    - `chances`: probabilities of drawing one given record 1, 2, ... times.
    - `inputs`: all subsamples.
    - `pairs`: all pairs of neighbours.
    - `distance`: distance between subsamples, by the relation of the mechanism's profile.
    """

    scheme: str
    size: tuple[int, ...]
    sampling: Sampling
    chances: tuple[Fraction, ...]
    inputs: tuple[Records, ...]
    pairs: Neighbours
    distance: Distance

    @property
    def name(self) -> str:
        """Return the scheme and its sizes in words."""
        how = f"{self.size[1]} of {self.size[0]} records" if self.size else f"γ = {self.chances[0]}"
        return f"{self.scheme.replace('_', ' ')}, {how}"

    def eta(self) -> Fraction:
        """Return the chance that a given record is drawn at all."""
        return sum(self.chances, Fraction(0))

    def outer(self, a: Fraction) -> Fraction:
        """Return e^ε' for a = e^ε."""
        return 1 + self.eta() * (a - 1)

    def attained(self, mechanism: Mechanism, a: Fraction) -> Fraction:
        """Return δ at ε' of the mechanism on a subsample."""
        return sampled_profile(mechanism, self.sampling, self.pairs, self.outer(a))

    def bound(self, mechanism: Mechanism, a: Fraction) -> Fraction:
        """Return the mean of the group profiles at ε over the number of times that the record is drawn."""
        groups = (group_profile(mechanism, self.distance, k, a) for k in range(1, len(self.chances) + 1))
        return sum((chance * delta for chance, delta in zip(self.chances, groups)), Fraction(0))


def poisson_setting(chance: Fraction) -> Setting:
    """Return the setting of Theorem 8 on sets of up to three records."""
    data = subsets(3, range(4))
    pairs = neighbours(data, add_remove)
    return Setting("poisson", (), poisson(chance), (chance,), tuple(data), pairs, add_remove)


def without_replacement_setting(n: int, draws: int) -> Setting:
    """Return the setting of Theorem 9 on sets of n out of n + 1 records."""
    pairs, inputs = neighbours(subsets(n + 1, [n]), substitute), tuple(subsets(n + 1, [draws]))
    sampling, chances = without_replacement(draws), (Fraction(draws, n),)
    return Setting("without_replacement", (n, draws), sampling, chances, inputs, pairs, substitute)


def with_replacement_setting(n: int, draws: int) -> Setting:
    """Return the setting of Theorem 10 on sets of n out of n + 1 records."""
    pairs, inputs = neighbours(subsets(n + 1, [n]), substitute), tuple(multisets(n + 1, draws))
    sampling, chances = with_replacement(draws), _times_drawn(n, draws)
    return Setting("with_replacement", (n, draws), sampling, chances, inputs, pairs, substitute)


def hybrid_setting(n: int, draws: int) -> Setting:
    """Return the setting of Theorem 11 on sets of n and n - 1 out of n records."""
    pairs, inputs = neighbours(subsets(n, [n - 1, n]), add_remove), tuple(multisets(n, draws))
    sampling, chances = with_replacement(draws), _times_drawn(n, draws)
    return Setting("hybrid", (n, draws), sampling, chances, inputs, pairs, substitute)


def _times_drawn(n: int, draws: int) -> tuple[Fraction, ...]:
    once = Fraction(1, n)
    return tuple(comb(draws, k) * once**k * (1 - once) ** (draws - k) for k in range(1, draws + 1))


SETTINGS = (poisson_setting(Fraction(1, 3)), without_replacement_setting(3, 2), with_replacement_setting(3, 2))
MORE_SETTINGS = (poisson_setting(Fraction(4, 5)), without_replacement_setting(4, 3), with_replacement_setting(3, 3))
KEEPS = (Fraction(3, 5), Fraction(9, 10))


def _sampled(settings: list[Setting], budget: Budget) -> Points:
    for setting in settings:
        for name, mechanism in _mechanisms(setting, budget.choose(2, 20)):
            for a in RATIOS:
                left, right = setting.attained(mechanism, a), setting.bound(mechanism, a)
                if right:
                    yield Point(f"{setting.name}, {name}, e^ε = {a}", as_side(left), as_side(right))


def _mechanisms(setting: Setting, tables: int) -> Iterator[tuple[str, Mechanism]]:
    yield "randomised membership", membership(setting.inputs, 0, KEEP)
    for seed in range(tables):
        yield f"mechanism {seed + 1}", table(setting.inputs, 50 + seed)


@claim("S.T8")
def theorem_8(budget: Budget) -> Points:
    """Yield all sets of up to three records."""
    chances = budget.choose((Fraction(1, 3),), (Fraction(1, 10), Fraction(1, 3), Fraction(4, 5)))
    return _sampled([poisson_setting(chance) for chance in chances], budget)


@claim("S.T9")
def theorem_9(budget: Budget) -> Points:
    """Yield all sets of three or four records."""
    sizes = budget.choose([(3, 2)], [(3, 1), (3, 2), (4, 2), (4, 3)])
    return _sampled([without_replacement_setting(*size) for size in sizes], budget)


@claim("S.T10 eq12")
def theorem_10(budget: Budget) -> Points:
    """Yield all sets of two or three records, and multisets of two or three draws."""
    sizes = budget.choose([(2, 2)], [(2, 2), (2, 3), (3, 2), (3, 3)])
    return _sampled([with_replacement_setting(*size) for size in sizes], budget)


@claim("S.T11 eq13")
def theorem_11(budget: Budget) -> Points:
    """Yield sets of n records and of one record less, both ways."""
    sizes = budget.choose([(3, 2)], [(2, 2), (2, 3), (3, 2), (3, 3)])
    return _sampled([hybrid_setting(*size) for size in sizes], budget)


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
    """Yield the largest divergence over all neighbours of small data sets. η is counted as a distance."""
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
    """Yield counts on small data sets, against Theorem 11 as the software has it."""
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
