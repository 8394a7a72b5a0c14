"""Section 4: what sampling makes of a privacy profile, tried on all subsamples of small data sets in exact fractions.

Mechanisms are tables from a list, and randomised membership, which attains the bounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, expm1, log1p

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

from tcdp_sim.numerics import closed_form

RATIOS = (Fraction(1), Fraction(5, 4), Fraction(2))
KEEP = Fraction(3, 4)
CONVEX = "advanced joint convexity, where the subsample with the record is coupled with another: "
ADDED = "the same one without it, at distance one"
REPLACED = "one that has a record not drawn, or the other one, in its place, at distance one"
ALL_REPLACED = "if it was drawn k times, one that has k other draws instead, at distance k"
MEASURES = "exact δ at ε' on a subsample, over all neighbours, against the bound from the mechanism's own profiles at ε"


@dataclass(frozen=True)
class Setting:
    """A sampling scheme on small data sets.

    scheme: its name in `privacy.SCHEMES`; size: (records, draws), or () under Poisson sampling; chances: of drawing one
    given record 1, 2, ... times; inputs: all subsamples; pairs: all neighbours; distance: between subsamples, of the
    relation that the profile of the mechanism is about.
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
        """For people."""
        how = f"{self.size[1]} of {self.size[0]} records" if self.size else f"γ = {self.chances[0]}"
        return f"{self.scheme.replace('_', ' ')}, {how}"

    def eta(self) -> Fraction:
        """The chance that a given record is drawn at all."""
        return sum(self.chances, Fraction(0))

    def outer(self, a: Fraction) -> Fraction:
        """e^ε' from a = e^ε."""
        return 1 + self.eta() * (a - 1)

    def attained(self, mechanism: Mechanism, a: Fraction) -> Fraction:
        """δ at ε' of the mechanism on a subsample."""
        return sampled_profile(mechanism, self.sampling, self.pairs, self.outer(a))

    def bound(self, mechanism: Mechanism, a: Fraction) -> Fraction:
        """The mean of the group profiles at ε over how often the record is drawn."""
        groups = (group_profile(mechanism, self.distance, k, a) for k in range(1, len(self.chances) + 1))
        return sum((chance * delta for chance, delta in zip(self.chances, groups)), Fraction(0))


def poisson_setting(chance: Fraction) -> Setting:
    """Theorem 8 on sets of up to three records."""
    data = subsets(3, range(4))
    pairs = neighbours(data, add_remove)
    return Setting("poisson", (), poisson(chance), (chance,), tuple(data), pairs, add_remove)


def without_replacement_setting(n: int, draws: int) -> Setting:
    """Theorem 9 on sets of n out of n + 1 records."""
    pairs, inputs = neighbours(subsets(n + 1, [n]), substitute), tuple(subsets(n + 1, [draws]))
    sampling, chances = without_replacement(draws), (Fraction(draws, n),)
    return Setting("without_replacement", (n, draws), sampling, chances, inputs, pairs, substitute)


def with_replacement_setting(n: int, draws: int) -> Setting:
    """Theorem 10 on sets of n out of n + 1 records."""
    pairs, inputs = neighbours(subsets(n + 1, [n]), substitute), tuple(multisets(n + 1, draws))
    sampling, chances = with_replacement(draws), _times_drawn(n, draws)
    return Setting("with_replacement", (n, draws), sampling, chances, inputs, pairs, substitute)


def hybrid_setting(n: int, draws: int) -> Setting:
    """Theorem 11 on sets of n and n - 1 out of n records."""
    pairs, inputs = neighbours(subsets(n, [n - 1, n]), add_remove), tuple(multisets(n, draws))
    sampling, chances = with_replacement(draws), _times_drawn(n, draws)
    return Setting("hybrid", (n, draws), sampling, chances, inputs, pairs, substitute)


def _times_drawn(n: int, draws: int) -> tuple[Fraction, ...]:
    once = Fraction(1, n)
    return tuple(comb(draws, k) * once**k * (1 - once) ** (draws - k) for k in range(1, draws + 1))


def _evidence(settings: list[Setting], budget: Budget, universe: str, why: str) -> Points:
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
    """All sets of up to three records."""
    chances = budget.choose((Fraction(1, 3),), (Fraction(1, 10), Fraction(1, 3), Fraction(4, 5)))
    return _evidence([poisson_setting(chance) for chance in chances], budget, "any mechanism, 0 < γ ≤ 1, ε ≥ 0", ADDED)


@claim("S.T9")
def theorem_9(budget: Budget) -> Points:
    """All sets of three or four records."""
    sizes = budget.choose([(3, 2)], [(3, 1), (3, 2), (4, 2), (4, 3)])
    return _evidence(
        [without_replacement_setting(*size) for size in sizes], budget, "any mechanism, m ≤ n, ε ≥ 0", REPLACED
    )


@claim("S.T10 eq12")
def theorem_10(budget: Budget) -> Points:
    """All sets of two or three records, and multisets of two or three draws."""
    sizes = budget.choose([(2, 2)], [(2, 2), (2, 3), (3, 2), (3, 3)])
    return _evidence(
        [with_replacement_setting(*size) for size in sizes], budget, "any mechanism, n, m ≥ 1, ε ≥ 0", ALL_REPLACED
    )


@claim("S.T10 eq12 η")
def chance_of_being_drawn(budget: Budget) -> Points:
    """At a tenth of the records drawn."""
    for exponent in range(1, budget.choose(5, 10)):
        left, right = closed_form(_drawn_at_all(10.0**exponent, 0.1)), closed_form(-expm1(-0.1))
        yield Point(f"n = 1e{exponent}, m = n/10", left, right, at=exponent)


def _drawn_at_all(n: float, share: float) -> float:
    return -expm1(share * n * log1p(-1 / n))


@claim("S.T11 eq13")
def theorem_11(budget: Budget) -> Points:
    """Sets of n records and of one record less, both ways."""
    sizes = budget.choose([(3, 2)], [(2, 2), (2, 3), (3, 2), (3, 3)])
    return _evidence(
        [hybrid_setting(*size) for size in sizes], budget, "any mechanism, n of the larger set, m ≥ 1", ALL_REPLACED
    )
