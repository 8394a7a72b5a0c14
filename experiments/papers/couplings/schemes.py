"""Section 4: the profile of a sampled mechanism, from all subsamples of small data sets in exact fractions.

Mechanisms are tables from a list, and randomised membership, which attains the bounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

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

RATIOS = (Fraction(1), Fraction(5, 4), Fraction(2))
KEEP = Fraction(3, 4)


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
