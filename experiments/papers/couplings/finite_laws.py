"""Laws on a few outputs in exact fractions, to test statements about all mechanisms without rounding.

Privacy levels are ratios a = e^ε, which are fractions too.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import inf, nextafter

from tcdp_sim.core.numerics import Bounds

Law = tuple[Fraction, ...]
_MULTIPLIER, _INCREMENT, _MODULUS = 6364136223846793005, 1442695040888963407, 2**64


def as_side(number: Fraction) -> Bounds[float]:
    """Return a fraction as a side of a claim: the two floats around it."""
    near = float(number)
    lower = nextafter(near, -inf) if near > number else near
    return Bounds(lower, near, nextafter(near, inf) if near < number else near)


def whole_numbers(count: int, most: int, seed: int) -> list[int]:
    """Return `count` numbers from 0 to `most` by a linear congruence of 64 bits: always the same ones."""
    numbers, state = [], (seed * _MULTIPLIER + _INCREMENT) % _MODULUS
    for _ in range(count):
        state = (state * _MULTIPLIER + _INCREMENT) % _MODULUS
        numbers.append((state >> 33) * (most + 1) >> 31)
    return numbers


def laws(count: int, outputs: int, seed: int) -> list[Law]:
    """Return `count` laws on `outputs` outputs, some of which have probability zero."""
    numbers = whole_numbers(count * outputs, 9, seed)
    rows = [numbers[i : i + outputs] for i in range(0, len(numbers), outputs)]
    rows = [row if any(row) else [1, *row[1:]] for row in rows]
    return [tuple(Fraction(number, sum(row)) for number in row) for row in rows]


def canonical(a: Fraction, delta: Fraction) -> tuple[Law, Law]:
    """Return the worst (log a, delta)-DP pair of laws: randomised response that reveals all with probability delta."""
    more, less = (1 - delta) * a / (1 + a), (1 - delta) / (1 + a)
    zero = Fraction(0)
    return (delta, more, less, zero), (zero, less, more, delta)


def mixed(weights: Sequence[Fraction], parts: Sequence[Law]) -> Law:
    """Return the law of a part that is drawn with these weights."""
    return tuple(sum((w * x for w, x in zip(weights, column)), Fraction(0)) for column in zip(*parts))


def follow(first: tuple[Law, Law], seconds: Sequence[tuple[Law, Law]]) -> tuple[Law, Law]:
    """Return both laws of two releases, the second pair chosen by the output of the first."""
    p, q = (tuple(x * y for x, second in zip(law, seconds) for y in second[i]) for i, law in enumerate(first))
    return p, q


def hockey_stick(p: Law, q: Law, a: Fraction) -> Fraction:
    """Return H at ε = log a: the sum of p - a q over the outputs at which it is positive."""
    return sum((max(x - a * y, Fraction(0)) for x, y in zip(p, q)), Fraction(0))


def hockey_stick_over_events(p: Law, q: Law, a: Fraction) -> Fraction:
    """Return the same by its definition: the largest P[E] - a Q[E] over all events E."""
    terms = [x - a * y for x, y in zip(p, q)]
    events = product((0, 1), repeat=len(p))
    return max(sum((t for t, inside in zip(terms, event) if inside), Fraction(0)) for event in events)


def total_variation(p: Law, q: Law) -> Fraction:
    """Return half the sum of |p - q|."""
    return sum((abs(x - y) for x, y in zip(p, q)), Fraction(0)) / 2


def renyi_moment(p: Law, q: Law, order: int) -> Fraction:
    """Return the sum of p^order q^(1 - order) for whole orders and p << q. The log of it is (order - 1) D_order."""
    return sum((x**order / y ** (order - 1) for x, y in zip(p, q) if y), Fraction(0))
