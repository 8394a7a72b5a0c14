"""Section 5.3: the generalised interior point problem, and the tree of the proof of Theorem 25."""

from itertools import product

import numpy as np

from tcdp_sim.core.arrays import Bools, Floats
from tcdp_sim.core.numerics import closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

SMALL, BIG = 2 / 5, 4 / 5


@claim("T.P24")
def counts(budget: Budget) -> Points:
    """Read to the letter, with f = q_j: over all data sets of n records in [4]."""
    return _right_answers(share=False)


@claim("T.P24 repaired")
def shares(budget: Budget) -> Points:
    """Return points with f = q_j/n, over the same data sets."""
    return _right_answers(share=True)


def _right_answers(share: bool) -> Points:
    for n in (2, 3, 4):
        judged = agreements(n, n if share else 1)
        yield Point(f"n = {n}", constant(float(judged.sum())), constant(float(judged.size)))


def agreements(n: int, divisor: int) -> Bools:
    """Return for which data sets of n records in [4] and j in [5] the answers with f = q_j/divisor are right.

    An answer to Problem 24 has 0 < f(x, j) and f(x, j - 1) < 1, with f(x, 0) = 0 and f(x, 5) = 1. It is right if j lies
    between the least and the largest record.
    """
    data = np.array(list(product(range(1, 5), repeat=n)))
    f = (data[:, None, :] <= np.arange(6)[:, None]).sum(axis=2) / divisor
    f[:, 5] = 1.0
    answers = (f[:, 1:] > 0) & (f[:, :-1] < 1)
    j = np.arange(1, 6)
    right = (data.min(axis=1)[:, None] <= j) & (j <= data.max(axis=1)[:, None])
    return np.asarray(answers == right)


@claim("T.5.3e")
def printed_values(budget: Budget) -> Points:
    """Yield functions that jump from 0 to 1 at one of eight leaves."""
    for jump in range(1, 9):
        f = (np.arange(9) >= jump).astype(float)
        yield Point(f"jump at leaf {jump}", closed_form(_largest_parent(f, 0)), constant(BIG))


@claim("T.5.3e repaired")
def corrected_values(budget: Budget) -> Points:
    """Return points of all nondecreasing functions on four leaves in steps of 1/10, and of jumps at one of eight."""
    rises = [rise for rise in product(range(11), repeat=4) if sum(rise) <= 10]
    fine = max(_largest_parent(np.concatenate([[0.0], np.cumsum(rise) / 10]), 1) for rise in rises)
    jumps = max(_largest_parent((np.arange(9) >= jump).astype(float), 1) for jump in range(1, 9))
    return [
        Point("four leaves, steps of 1/10", closed_form(fine), constant(BIG)),
        Point("jumps at one of eight leaves", closed_form(jumps), constant(BIG)),
    ]


@claim("T.5.3e endpoints")
def one_end_has_room(budget: Budget) -> Points:
    """Yield all values of f at both ends of a node, in steps of 1/40, as whole numbers."""
    pairs = [(a, b) for a, b in product(range(41), repeat=2) if 0 < b - a < 32]
    roomy = [(a, b) for a, b in pairs if 4 < a < 40 or 0 < b < 36]
    yield Point("all pairs of values", constant(float(len(roomy))), constant(float(len(pairs))))


@claim("T.5.3e levels")
def levels(budget: Budget) -> Points:
    """Yield the number of steps in which k + 1 = 2^bits becomes the bits + 1 levels of the tree.

    The tree is filled up to one less than a power of two.
    """
    for bits in (4, 16, 65536, 2**65536):
        name = str(bits) if bits < 1e6 else "2^65536"
        steps = closed_form(float(_steps(bits)))
        yield Point(f"k + 1 = 2^{name}", steps, closed_form(float(_iterated_log(bits))))


def _largest_parent(f: Floats, before: int) -> float:
    """Return the largest value f(j2) - f(j1 - before) of a node whose children are both below 2/5; f[0] is 0."""
    leaves = len(f) - 1
    largest, size = 0.0, 2
    while size <= leaves:
        for first in range(1, leaves + 1, size):
            middle, last = first + size // 2, first + size - 1
            children = f[middle - 1] - f[first - before], f[last] - f[middle - before]
            if max(children) < SMALL - 1e-12:
                largest = max(largest, float(f[last] - f[first - before]))
        size *= 2
    return largest


def _steps(bits: int) -> int:
    """Return how often the number of bits is replaced by that of bits + 1 levels until it is 3, which stays."""
    count = 0
    while bits > 3:
        bits, count = (bits + 1).bit_length(), count + 1
    return count


def _iterated_log(bits: int) -> int:
    """Return log* of 2^bits: logarithms to base 2 until 1 is reached; bits is a power of two or one."""
    count = 1
    while bits > 1:
        bits, count = bits.bit_length() - 1, count + 1
    return count
