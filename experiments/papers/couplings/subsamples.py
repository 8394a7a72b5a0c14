"""Small data sets, all of their subsamples with exact probabilities, and the outputs of mechanisms on them.

A data set or subsample is an ascending tuple of records 0, 1, ...; multisets repeat a record. A mechanism is a table
from subsamples to laws of its output.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import inf

from tcdp_sim.experiments.papers.couplings.finite_laws import Law, hockey_stick, laws, mixed

Records = tuple[int, ...]
Drawn = Mapping[Records, Fraction]  # subsample -> its chance
Sampling = Callable[[Records], Drawn]
Mechanism = Mapping[Records, Law]
Distance = Callable[[Records, Records], float]
Neighbours = Iterable[tuple[Records, Records]]  # ordered pairs, in both directions


def subsets(universe: int, sizes: Iterable[int]) -> list[Records]:
    """Return all sets of that many records out of `universe`."""
    return [each for size in sizes for each in combinations(range(universe), size)]


def multisets(universe: int, size: int) -> list[Records]:
    """Return all multisets of `size` records out of `universe`."""
    return list(combinations_with_replacement(range(universe), size))


def add_remove(x: Records, y: Records) -> float:
    """Return the number of records to add or remove to make one of the other."""
    return sum(abs(x.count(record) - y.count(record)) for record in {*x, *y})


def substitute(x: Records, y: Records) -> float:
    """Return the number of records to substitute, or inf for data sets of different size."""
    return add_remove(x, y) / 2 if len(x) == len(y) else inf


def neighbours(data: Iterable[Records], distance: Distance) -> list[tuple[Records, Records]]:
    """Return all ordered pairs at distance one."""
    return [(x, y) for x, y in product(list(data), repeat=2) if distance(x, y) == 1]


def poisson(chance: Fraction) -> Sampling:
    """Return the sampling that draws each record with the same chance."""

    def drawn(x: Records) -> Drawn:
        some = (y for size in range(len(x) + 1) for y in combinations(x, size))
        return {y: chance ** len(y) * (1 - chance) ** (len(x) - len(y)) for y in some}

    return drawn


def without_replacement(draws: int) -> Sampling:
    """Return the sampling that gives all subsets of `draws` records the same chance."""

    def drawn(x: Records) -> Drawn:
        some = list(combinations(x, draws))
        return {y: Fraction(1, len(some)) for y in some}

    return drawn


def with_replacement(draws: int) -> Sampling:
    """Return the sampling of `draws` independent draws of one record: a multiset."""

    def drawn(x: Records) -> Drawn:
        chances: dict[Records, Fraction] = {}
        for y in product(x, repeat=draws):
            key = tuple(sorted(y))
            chances[key] = chances.get(key, Fraction(0)) + Fraction(1, len(x) ** draws)
        return chances

    return drawn


def output(mechanism: Mechanism, drawn: Drawn) -> Law:
    """Return the law of the output of the mechanism on a subsample."""
    return mixed(list(drawn.values()), [mechanism[y] for y in drawn])


def table(inputs: Iterable[Records], seed: int, outputs: int = 3) -> Mechanism:
    """Return a mechanism with laws from the list."""
    inputs = list(inputs)
    return dict(zip(inputs, laws(len(inputs), outputs, seed)))


def membership(inputs: Iterable[Records], record: int, keep: Fraction) -> Mechanism:
    """Return randomised membership, which states whether the record is there, truly with probability `keep`."""
    return {y: (keep, 1 - keep) if record in y else (1 - keep, keep) for y in inputs}


def group_profile(mechanism: Mechanism, distance: Distance, size: int, a: Fraction) -> Fraction:
    """Return δ at ε = log a for inputs at distance 1 to `size`."""
    pairs = product(mechanism, repeat=2)
    return max(hockey_stick(mechanism[x], mechanism[y], a) for x, y in pairs if 1 <= distance(x, y) <= size)


def sampled_profile(mechanism: Mechanism, sampling: Sampling, pairs: Neighbours, a: Fraction) -> Fraction:
    """Return δ at ε = log a of the mechanism on a subsample, over these neighbours."""
    outputs = {x: output(mechanism, sampling(x)) for x in {each for pair in pairs for each in pair}}
    return max(hockey_stick(outputs[x], outputs[y], a) for x, y in pairs)
